//! What a link tells of what comes.

use ratewire_net::Ahead;
use ratewire_net::spec::LinkId;

use crate::bench::{Bench, link, ms};

#[test]
fn a_long_row_that_leads_to_hosts_tells_of_the_ends_of_flows() {
    let links = || Bench::new(vec![link(0, 1), link(1, 2)]);
    let ends_behind = |packets: u32, route: &[u32]| {
        let mut b = links();
        // Whatever other routes do behind the link.
        b.route(&[0]);
        let route = b.route(route);
        (0..packets).for_each(|_| b.send(ms(0), route, 1000));
        b.run(ms(0));
        b.network.ends_behind(LinkId(0))
    };
    let end = |flow| Ahead { flow, is_data: true };
    assert_eq!(ends_behind(65, &[0]), Some((end(1), end(2))), "each packet is a flow of its own");
    assert_eq!(ends_behind(64, &[0]), None, "few packets have their own events");
    assert_eq!(ends_behind(65, &[0, 1]), None, "they go on");
    assert_eq!(links().network.ends_behind(LinkId(9)), None, "no such link");
}
