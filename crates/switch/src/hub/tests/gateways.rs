//! Peers that choose members themselves: they ask for the table, and connect for one member.

use ratewire_acp::Frame;
use ratewire_switch_interface::table::{MemberState, Table};

use super::*;

/// A peer's end, and the switch.
struct Pair {
    hub: Hub,
    peer: Connection,
}

impl Pair {
    /// A peer whose connection is for the member in a place.
    fn for_member(hub: Hub, place: usize) -> Pair {
        let target = Target::Member(hub.ensemble[place].id);
        Pair::new(hub, target)
    }

    fn new(mut hub: Hub, target: Target) -> Pair {
        let peer = connection(&mut hub, ms(0), ("", target));
        let mut pair = Pair { hub, peer };
        pair.exchange(ms(0));
        pair
    }

    /// Carries packets to and fro until there are none.
    fn exchange(&mut self, now: Duration) {
        let time = Time::from_ps(now.as_nanos() as u64 * 1000);
        self.hub.on_timer(now);
        self.peer.on_timer(time);
        for _ in 0..10 {
            let mut packet = Vec::new();
            while self.peer.poll_transmit(time, &mut packet).is_some() {
                self.hub.on_datagram(now, Port::Peers, from(at(1)), &mut packet, false);
                packet.clear();
            }
            for (_, mut packet) in sent(&mut self.hub, now, Port::Peers) {
                self.peer.on_datagram(time, at(9), &mut packet, false);
            }
        }
    }

    /// The members' states in the tables that have come.
    fn tables(&mut self, now: Duration) -> Vec<Vec<(String, MemberState)>> {
        self.exchange(now);
        let tables = core::iter::from_fn(|| self.peer.read());
        let tables = tables.map(|frame| Table::decode(&frame.data).expect("a table"));
        let states = |table: Table| table.members.into_iter().map(|m| (m.name, m.state)).collect();
        tables.map(states).collect()
    }
}

#[test]
fn who_asks_is_told_the_members_and_each_change() {
    let mut pair = Pair::new(with_spare(2, 1), Target::Table);
    let table = |states: &[(&str, MemberState)]| -> Vec<(String, MemberState)> {
        states.iter().map(|(name, state)| ((*name).to_string(), state.clone())).collect()
    };
    let (up, down) = (MemberState::Up, MemberState::Down("no".to_string()));
    let first = table(&[("m0", up.clone()), ("m1", up.clone())]);
    assert_eq!(pair.tables(ms(1)), std::slice::from_ref(&first));
    pair.hub.distrust(ms(2), 1, "no");
    assert_eq!(pair.tables(ms(2)), [table(&[("m0", up.clone()), ("m1", down)])]);
    pair.hub.trust(ms(3), 1);
    assert_eq!(pair.tables(ms(3)), [first]);
    pair.hub.drain(ms(4), 0);
    pair.hub.enlist(ms(4), 2, member(2));
    let leaving = MemberState::Leaving;
    let last = table(&[("m0", leaving), ("m1", up.clone()), ("m2", up)]);
    assert_eq!(pair.tables(ms(4)).last(), Some(&last));
    assert_eq!(pair.tables(ms(5)), [[]; 0], "only changes are told");
    // What it sends is dropped, and its end is the connection's.
    pair.peer.write(Frame::new(0, "anything")).expect("room");
    pair.peer.finish();
    pair.exchange(ms(6));
    assert!(pair.peer.closed().is_some());
    assert_eq!(pair.hub.sessions(), 1, "it still answers");
    pair.hub.on_timer(ms(2000));
    sent(&mut pair.hub, ms(2000), Port::Peers);
    assert_eq!(pair.hub.sessions(), 0);
}

#[test]
fn a_member_that_has_gone_without_a_word_stays_in_the_table_until_it_is_back() {
    let mut pair = Pair::new(with_spare(1, 1), Target::Table);
    pair.hub.enlist(ms(1), 1, member(1));
    pair.hub.distrust(ms(2), 1, "its registration has ended");
    let down = MemberState::Down("its registration has ended".to_string());
    let last = |pair: &mut Pair, now| pair.tables(ms(now)).pop().and_then(|mut table| table.pop());
    assert_eq!(last(&mut pair, 3), Some(("m1".to_string(), down)));
    pair.hub.enlist(ms(4), 1, member(1));
    assert_eq!(last(&mut pair, 5), Some(("m1".to_string(), MemberState::Up)));
}

#[test]
fn a_switch_that_has_begun_says_that_members_may_be_missing() {
    let mut hub = with_spare(1, 1);
    hub.gathers_until = Some(ms(20));
    let mut pair = Pair::new(hub, Target::Table);
    let last = |pair: &mut Pair, now| {
        pair.exchange(ms(now));
        let frame = core::iter::from_fn(|| pair.peer.read()).last();
        frame.and_then(|frame| Table::decode(&frame.data)).map(|table| table.gathers)
    };
    assert_eq!((last(&mut pair, 1), pair.hub.deadline()), (Some(true), Some(ms(20))));
    // With all places taken, none is missing.
    pair.hub.enlist(ms(2), 1, member(1));
    assert_eq!(last(&mut pair, 3), Some(false));
    pair.hub.dismiss(ms(4), 1);
    assert_eq!(last(&mut pair, 5), Some(true));
    assert_eq!(last(&mut pair, 20), Some(false));
    assert_eq!(last(&mut pair, 21), None);
}

#[test]
fn a_switch_that_ends_says_so_of_all_members_at_once() {
    let mut pair = Pair::new(hub(2), Target::Table);
    let next = |pair: &mut Pair, now| {
        pair.exchange(ms(now));
        let table = pair.peer.read().and_then(|frame| Table::decode(&frame.data));
        let table = table.expect("a table");
        (table.ends, table.members.into_iter().map(|member| member.state).collect::<Vec<_>>())
    };
    use MemberState::{Leaving, Up};
    assert_eq!(next(&mut pair, 1), (false, vec![Up, Up]));
    pair.hub.refuse_peers();
    pair.hub.drain_all(ms(2));
    assert_eq!(next(&mut pair, 3), (true, vec![Leaving, Leaving]));
}

/// A peer with a connection for the second of two members, which has answered.
fn for_second() -> Pair {
    let mut pair = Pair::for_member(hub(2), 1);
    pair.hub.on_timer(ms(1));
    let asked = sent(&mut pair.hub, ms(1), Port::Members);
    assert!(asked.iter().all(|(to, _)| *to == at(101)), "only this member is asked");
    answer(&mut pair.hub, ms(1), 1, &asked);
    assert_eq!(sessions(&pair.hub), [0, 1]);
    pair
}

#[test]
fn a_connection_for_one_member_ends_with_it() {
    let mut pair = for_second();
    pair.hub.distrust(ms(2), 0, "another one");
    pair.exchange(ms(2));
    assert_eq!(pair.peer.closed(), None, "it is not for that one");
    pair.hub.distrust(ms(3), 1, "no");
    pair.exchange(ms(3));
    let why = pair.peer.closed().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("member m1 is lost: no (code 7)"), "{why}");
}

#[test]
fn a_connection_for_a_member_that_does_not_answer_ends() {
    let mut pair = Pair::for_member(hub(2), 1);
    pair.hub.on_timer(ms(1));
    sent(&mut pair.hub, ms(1), Port::Members);
    pair.exchange(ms(1100));
    let why = pair.peer.closed().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("member m1 is lost: it has not answered"), "{why}");
    let other = Target::Member(hub(2).ensemble[1].id);
    let gone = Pair::new(hub(2), other).peer;
    let why = gone.closed().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("no such member any more (code 6)"), "{why}");
    let none = Pair::new(hub(0), Target::Member(0)).peer;
    assert!(none.closed().is_some());
}

#[test]
fn a_member_is_drained_once_peers_have_ended_their_connections_for_it() {
    let mut pair = for_second();
    pair.hub.drain(ms(2), 1);
    pair.exchange(ms(2));
    assert_eq!((pair.peer.closed(), pair.hub.duty(1)), (None, Duty::Draining));
    pair.peer.reset(0, "done");
    pair.exchange(ms(3));
    sent(&mut pair.hub, ms(3), Port::Members);
    pair.hub.on_timer(ms(2000));
    sent(&mut pair.hub, ms(2000), Port::Members);
    sent(&mut pair.hub, ms(2000), Port::Peers);
    assert_eq!(pair.hub.duty(1), Duty::Drained);
}
