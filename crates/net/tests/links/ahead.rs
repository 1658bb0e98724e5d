//! Tests of looking ahead: what a link shows of coming packets.

use ratewire_laws::Header;
use ratewire_net::spec::LinkId;
use ratewire_net::{Address, Ecn, FlowEnd, Scheduler};
use ratewire_transport::{Ack, ReceiveWindow, SackBlocks};
use ratewire_units::{Duration, Time};

use crate::bench::{Bench, link, ms};

/// A scheduler that ignores all events.
struct IgnoresEvents;

impl Scheduler for IgnoresEvents {
    fn schedule(&mut self, _: Time, _: LinkId) {}
    fn schedule_release(&mut self, _: Time, _: LinkId) {}
}

fn links() -> Bench {
    Bench::new(vec![link(0, 1), link(1, 2)])
}

#[test]
fn a_long_fifo_that_leads_to_hosts_shows_the_ends_of_flows() {
    let ends_behind = |packets: u32, route: &[u32]| {
        let mut b = links();
        let route = b.route(route);
        (0..packets).for_each(|_| b.send(ms(0), route, 1000));
        b.run(ms(0));
        b.network.look_ahead().ends_behind(LinkId(0))
    };
    let end = |flow| FlowEnd { flow, is_data: true };
    let ends = Some((end(1), end(2)));
    assert_eq!(ends_behind(65, &[0]), ends, "each packet is a flow of its own");
    assert_eq!(ends_behind(64, &[0]), None, "few packets have their own events");
    assert_eq!(ends_behind(65, &[0, 1]), None, "they go on");
    assert_eq!(links().network.look_ahead().ends_behind(LinkId(9)), None, "no such link");
}

#[test]
fn a_train_of_acknowledgements_at_its_sender_shows_the_flow() {
    let told = |packets: u32, route: &[u32]| {
        let mut network = links().network;
        let route: Vec<LinkId> = route.iter().copied().map(LinkId).collect();
        let route = network.add_route(&route);
        let address = Address {
            route,
            size: 40,
            flow: 7,
            generation: 7,
            ecn: Ecn::NotCapable,
            class: 0,
            processing: Duration::ZERO,
        };
        let (window, sack) = (ReceiveWindow::UNLIMITED, SackBlocks::default());
        let header = Header::None;
        let ack = Ack { sack, header, ..Ack::plain(1, window) };
        (0..packets).for_each(|_| network.acknowledge(ms(0), &address, &ack, &mut IgnoresEvents));
        network.look_ahead().foresee_next(LinkId(0))
    };
    assert_eq!(told(2, &[0]), Some(7));
    assert_eq!(told(1, &[0]), None, "what comes behind it is not here yet");
    assert_eq!(told(2, &[0, 1]), None, "they go on");
    let mut data = links();
    let route = data.route(&[0]);
    (0..2).for_each(|_| data.send(ms(0), route, 1000));
    data.run(ms(0));
    assert_eq!(
        data.network.look_ahead().foresee_next(LinkId(0)),
        None,
        "their receiver has sent nothing"
    );
}

#[test]
fn looking_behind_packets_of_which_some_arrive_and_some_go_on_changes_nothing() {
    let arrived = |looks: bool| {
        let mut b = links();
        let routes = [b.route(&[0]), b.route(&[0, 1])];
        (0..6000).for_each(|i| b.send(ms(0), routes[i % 2], 10));
        for at in 0..70 {
            b.run(ms(at));
            if looks {
                b.network.look_ahead().foresee_behind(LinkId(0));
            }
        }
        b.arrived
    };
    let seen = arrived(true);
    assert_eq!(seen.len(), 6000);
    assert_eq!(seen, arrived(false));
}
