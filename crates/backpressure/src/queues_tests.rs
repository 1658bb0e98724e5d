use proptest::prelude::*;

use super::*;

fn place(input: u32, output: u32) -> QueueAddress {
    QueueAddress { input, output, lane: 0 }
}

fn order(switch: &mut SwitchQueues<u32>, output: u32) -> Vec<u32> {
    std::iter::from_fn(|| switch.pop(output, |_| true).map(|turn| turn.item)).collect()
}

#[test]
fn inputs_take_turns() {
    for arrangement in [Arrangement::Fifo, Arrangement::Virtual] {
        let mut switch = SwitchQueues::new(arrangement, 3, 1, 1);
        for item in 0..3 {
            switch.push(place(0, 0), item);
        }
        switch.push(place(1, 0), 10);
        switch.push(place(2, 0), 20);
        switch.push(place(1, 0), 11);
        assert_eq!(order(&mut switch, 0), [0, 10, 20, 1, 11, 2]);
    }
}

#[test]
fn a_head_blocks_its_input_but_not_with_virtual_output_queues() {
    for (arrangement, free) in [(Arrangement::Fifo, vec![]), (Arrangement::Virtual, vec![1])] {
        let mut switch = SwitchQueues::new(arrangement, 1, 2, 1);
        switch.push(place(0, 0), 0);
        switch.push(place(0, 1), 1);
        assert_eq!(order(&mut switch, 1), free);
        let stuck: Vec<u32> = switch.stuck(|output, _| output == 0).map(|(_, item)| item).collect();
        assert_eq!(stuck, if free.is_empty() { vec![0, 1] } else { vec![0] });
        let turn = switch.pop(0, |_| true).unwrap();
        assert_eq!((turn.item, turn.exposed), (0, free.is_empty().then_some(1)));
    }
}

#[test]
fn closed_lanes_are_passed_over() {
    let mut switch = SwitchQueues::new(Arrangement::Virtual, 1, 1, 2);
    switch.push(QueueAddress { lane: 1, ..place(0, 0) }, 1);
    switch.push(place(0, 0), 0);
    assert_eq!(switch.pop(0, |lane| lane == 0).map(|t| t.item), Some(0));
    assert!(!switch.has_turn(0, |lane| lane == 0) && switch.has_turn(0, |lane| lane == 1));
    assert_eq!(switch.pop(0, |lane| lane == 0), None);
}

#[test]
fn queues_by_flow_do_not_look_at_inputs() {
    let mut switch = SwitchQueues::new(Arrangement::ByFlow(4), 2, 2, 1);
    switch.push(QueueAddress { lane: 2, ..place(0, 1) }, 0);
    switch.push(QueueAddress { lane: 2, ..place(1, 1) }, 1);
    switch.push(QueueAddress { lane: 3, ..place(0, 1) }, 2);
    assert!(!switch.is_empty(1, 2) && switch.is_empty(1, 0) && switch.is_empty(0, 2));
    assert_eq!(switch.lanes_ready(1).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(order(&mut switch, 1), [0, 2, 1]);
}

#[test]
fn what_waits_for_an_output_can_be_taken_out() {
    let mut switch = SwitchQueues::new(Arrangement::Fifo, 1, 2, 1);
    switch.push(place(0, 0), 0);
    switch.push(place(0, 1), 1);
    switch.push(place(0, 0), 2);
    let drained: Vec<u32> = switch.drain(0).into_iter().map(|(_, item)| item).collect();
    assert_eq!(drained, [0, 2]);
    assert_eq!(order(&mut switch, 1), [1]);
}

proptest! {
    /// Every packet that enters leaves, each input's packets to one output in order. While all
    /// lanes are open, no output with a packet at a head is idle.
    #[test]
    fn nothing_is_lost_or_overtakes_its_own(
        arrangement in prop_oneof![
            Just(Arrangement::Fifo), Just(Arrangement::Virtual), Just(Arrangement::ByFlow(2)),
        ],
        steps in prop::collection::vec((0u32..3, 0u32..2, 0u32..2, any::<bool>()), 1..200),
    ) {
        let mut switch = SwitchQueues::new(arrangement, 3, 2, 2);
        let mut waiting: Vec<(QueueAddress, u32)> = Vec::new();
        for (item, (input, output, lane, arrives)) in steps.into_iter().enumerate() {
            let place = QueueAddress { input, output, lane };
            if arrives {
                switch.push(place, item as u32);
                waiting.push((place, item as u32));
            } else if let Some(turn) = switch.pop(output, |l| l == lane) {
                let same = |p: &QueueAddress| match arrangement {
                    Arrangement::Fifo => p.input == turn.place.input && p.lane == turn.place.lane,
                    Arrangement::Virtual => *p == turn.place,
                    Arrangement::ByFlow(_) => p.output == output && p.lane == turn.place.lane,
                };
                prop_assert_eq!((turn.place.output, turn.place.lane), (output, lane));
                let first = waiting.iter().position(|(p, _)| same(p)).unwrap();
                prop_assert_eq!(waiting.remove(first), (turn.place, turn.item));
            }
        }
        // Heads expose each other until the switch is empty.
        while [0, 1].iter().any(|o| switch.pop(*o, |_| true).map(|t| waiting.retain(|w| w.1 != t.item)).is_some()) {}
        prop_assert!(waiting.is_empty());
    }
}
