//! What a link tells of what comes.

use ratewire_net::Ahead;
use ratewire_net::spec::LinkId;

use crate::bench::{Bench, link, ms};

fn links() -> Bench {
    Bench::new(vec![link(0, 1), link(1, 2)])
}

#[test]
fn a_long_row_that_leads_to_hosts_tells_of_the_ends_of_flows() {
    let ends_behind = |packets: u32, route: &[u32]| {
        let mut b = links();
        let route = b.route(route);
        (0..packets).for_each(|_| b.send(ms(0), route, 1000));
        b.run(ms(0));
        b.network.ends_behind(LinkId(0))
    };
    let end = |flow| Ahead { flow, is_data: true };
    let ends = Some((end(1), end(2)));
    assert_eq!(ends_behind(65, &[0]), ends, "each packet is a flow of its own");
    assert_eq!(ends_behind(64, &[0]), None, "few packets have their own events");
    assert_eq!(ends_behind(65, &[0, 1]), None, "they go on");
    assert_eq!(links().network.ends_behind(LinkId(9)), None, "no such link");
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
                b.network.foresee_behind(LinkId(0));
            }
        }
        b.arrived
    };
    let seen = arrived(true);
    assert_eq!(seen.len(), 6000);
    assert_eq!(seen, arrived(false));
}
