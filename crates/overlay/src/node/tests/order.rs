//! Delivery: every message once, in the order that the service promises, whatever the timing.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A step of a test.
#[derive(Clone, Debug)]
enum Step {
    /// Time passes: clients buy, nodes exchange messages.
    Pass(u64),
    Take(u8),
    Arrive(u8),
    Join(u8),
    Leave(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (1u64..60).prop_map(Step::Pass),
        8 => any::<u8>().prop_map(Step::Take),
        8 => any::<u8>().prop_map(Step::Arrive),
        1 => (0u8..6).prop_map(Step::Join),
        1 => (0u8..6).prop_map(Step::Leave),
    ];
    prop::collection::vec(step, 1..250)
}

/// Clients 0 to 3 send; 10 to 15 are members from time to time, each of node (client - 10) mod 4.
fn play(service: DeliveryOrder, steps: &[Step]) -> Net {
    let links = both(&[(0, 1), (1, 2), (1, 3), (2, 3)]);
    let start = group(service, &[(10, 0), (12, 2)]);
    let mut net = Net::new(4, &links, vec![start], Params::default());
    let mut inside = [true, false, true, false, false, false];
    for client in 0..4 {
        net.nodes[client].start_sender(net.now, &sender(client as u32, 0));
    }
    let home = |member: u8| usize::from(member % 4);
    for step in steps {
        match *step {
            Step::Pass(ms) => net.advance(net.now + Duration::from_millis(ms)),
            Step::Take(link) => {
                net.take(usize::from(link) % 8);
            }
            Step::Arrive(link) => {
                net.arrive(usize::from(link) % 8);
            }
            Step::Join(member) | Step::Leave(member) => {
                let joins = matches!(step, Step::Join(_));
                if core::mem::replace(&mut inside[usize::from(member)], joins) != joins {
                    let client = ClientId(10 + u32::from(member));
                    let (node, now) = (home(member), net.now);
                    if joins {
                        net.nodes[node].join(now, GroupId(0), client);
                    } else {
                        net.nodes[node].leave(now, GroupId(0), client);
                    }
                    net.collect(node);
                }
            }
        }
        net.check_books();
    }
    for client in 0..4 {
        net.nodes[client].stop_sender(ClientId(client as u32));
    }
    // Two intervals: the first marks confirm messages, the second confirm the marks.
    for _ in 0..8 {
        net.settle();
        net.advance(net.now + Duration::from_millis(50));
    }
    net.settle();
    net.check_books();
    net
}

/// Deliveries to each member, from the first view that has it to the first that does not.
fn by_member(net: &Net) -> BTreeMap<ClientId, Log> {
    let mut logs: BTreeMap<ClientId, Log> = BTreeMap::new();
    for log in &net.logs {
        for (delivery, members) in log {
            for member in members {
                logs.entry(*member).or_default().push(*delivery);
            }
        }
    }
    logs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Between two views that members share, all get the same deliveries in the same order.
    #[test]
    fn agreed_order_is_one_order(steps in steps()) {
        let net = play(DeliveryOrder::Agreed, &steps);
        // Deliveries after each view, until the next, at any node with members.
        let mut known: BTreeMap<u64, Log> = BTreeMap::new();
        for log in &net.logs {
            let mut here: BTreeMap<u64, Log> = BTreeMap::new();
            let mut number = 0;
            for (delivery, members) in log {
                if let Delivery::View { number: new, .. } = delivery {
                    number = *new;
                }
                if !members.is_empty() {
                    here.entry(number).or_default().push(*delivery);
                }
            }
            for (number, log) in here {
                let first = known.entry(number).or_insert_with(|| log.clone());
                prop_assert_eq!(&*first, &log, "after view {}", number);
            }
        }
    }

    /// A member gets each sender's messages in order, none missing, none twice.
    #[test]
    fn nothing_is_lost_or_comes_twice(steps in steps(), agreed in any::<bool>()) {
        let service = if agreed { DeliveryOrder::Agreed } else { DeliveryOrder::Fifo };
        let net = play(service, &steps);
        for (member, log) in by_member(&net) {
            let mut next: BTreeMap<ClientId, u64> = BTreeMap::new();
            for delivery in log {
                match delivery {
                    Delivery::Data { client, sequence, .. } => {
                        let expected = next.get(&client).copied().unwrap_or(sequence);
                        prop_assert_eq!(sequence, expected, "{:?} from {:?}", member, client);
                        next.insert(client, sequence + 1);
                    }
                    // A member that left and joined again misses the messages between.
                    Delivery::View { client, joined: true, .. } if client == member => next.clear(),
                    Delivery::View { .. } => {}
                }
            }
        }
    }

    /// At the end all nodes agree on the right members.
    #[test]
    fn views_end_the_same_everywhere(steps in steps(), agreed in any::<bool>()) {
        let service = if agreed { DeliveryOrder::Agreed } else { DeliveryOrder::Fifo };
        let net = play(service, &steps);
        let mut inside = vec![ClientId(10), ClientId(12)];
        for step in &steps {
            let client = |member: &u8| ClientId(10 + u32::from(*member));
            match step {
                Step::Join(m) if !inside.contains(&client(m)) => inside.push(client(m)),
                Step::Leave(m) => inside.retain(|known| *known != client(m)),
                _ => {}
            }
        }
        inside.sort_unstable();
        for node in &net.nodes {
            let members: Vec<ClientId> = node.members(GroupId(0)).iter().map(|m| m.0).collect();
            prop_assert_eq!(&members, &inside);
        }
    }
}

#[test]
fn messages_are_delivered_at_all() {
    let steps: Vec<Step> = (0..20)
        .flat_map(|_| {
            [Step::Pass(10)]
                .into_iter()
                .chain((0..8).map(Step::Take))
                .chain((0..8).map(Step::Arrive))
        })
        .collect();
    for service in [DeliveryOrder::Unordered, DeliveryOrder::Fifo, DeliveryOrder::Agreed] {
        let net = play(service, &steps);
        let data = |node: usize| {
            net.logs[node].iter().filter(|(d, _)| matches!(d, Delivery::Data { .. })).count()
        };
        assert!(data(0) > 20 && data(0) == data(2), "{service:?}: {} and {}", data(0), data(2));
        assert_eq!(data(1) + data(3), 0);
    }
}
