//! Prices, and their effect on purchases.

use super::*;

/// Two nodes, one link each way that carries a message every 5 ms, and this many senders.
fn crowd(senders: u32, params: Params, seconds: u64) -> (Net, Vec<u64>) {
    let groups = vec![group(DeliveryOrder::Fifo, &[(1000, 1)])];
    let mut net = Net::new(2, &both(&[(0, 1)]), groups, params);
    for client in 0..senders {
        net.nodes[0].start_sender(Time::ZERO, &sender(client, 0));
    }
    let mut waiting = Vec::new();
    for step in 0..seconds * 1000 {
        net.advance(Time::ZERO + Duration::from_millis(step));
        if step % 5 == 0 {
            // Control messages take next to nothing of a link.
            while net.take(0) && !net.on_links[0].back().is_some_and(|m| m.body.is_data()) {}
            while net.arrive(0) {}
            waiting.push(net.nodes[0].queue(EdgeId(0)).waiting());
        }
        while net.take(1) || net.arrive(1) {}
    }
    net.check_books();
    (net, waiting)
}

#[test]
fn a_full_link_stays_full_and_its_queue_near_the_soft_limit() {
    for senders in [1, 2, 20, 100] {
        let (net, waiting) = crowd(senders, Params::default(), 60);
        let delivered = net.logs[1].len();
        assert!(delivered > 200 * 60 * 97 / 100, "{senders} senders: {delivered}");
        let settled = &waiting[waiting.len() / 2..];
        let most = settled.iter().max().unwrap();
        assert!(*most < 150, "{senders} senders: {most} waiting");
    }
}

#[test]
fn prices_reach_all_nodes_and_agree() {
    let groups = vec![group(DeliveryOrder::Fifo, &[(1000, 3)])];
    let mut net = Net::new(4, &both(&[(0, 1), (1, 2), (2, 3)]), groups, Params::default());
    for client in 0..20 {
        net.nodes[0].start_sender(Time::ZERO, &sender(client, 0));
    }
    for step in 0..100 {
        net.advance(Time::ZERO + Duration::from_millis(step));
    }
    net.settle();
    let cost = net.nodes[0].cost(EdgeId(0));
    assert!(cost > Dollars::ZERO);
    assert!(net.nodes.iter().all(|node| node.cost(EdgeId(0)) == cost));
}

#[test]
fn a_client_without_receivers_sends_when_one_joins() {
    let mut net =
        Net::new(2, &both(&[(0, 1)]), vec![group(DeliveryOrder::Fifo, &[])], Params::default());
    net.nodes[0].start_sender(Time::ZERO, &sender(0, 0));
    net.advance(Time::ZERO + Duration::from_millis(500));
    assert_eq!(net.nodes[0].counts().owed, 0);
    let now = net.now;
    net.nodes[1].join(now, GroupId(0), ClientId(1));
    net.settle();
    net.advance(now + Duration::from_millis(100));
    net.settle();
    assert!(net.logs[1].len() > 1, "{:?}", net.logs[1]);
}

#[test]
fn a_sender_with_little_to_send_pays_and_is_not_held_back() {
    let groups = vec![group(DeliveryOrder::Fifo, &[(1000, 1)])];
    let mut net = Net::new(2, &both(&[(0, 1)]), groups, Params::default());
    // 1000 bytes at 80 kbit/s: ten messages a second, which the first salary period pays for.
    let slow = SenderSpec { offered: Some(Rate::from_bps(80_000)), ..sender(0, 0) };
    net.nodes[0].start_sender(Time::ZERO, &slow);
    for step in 0..10_000 {
        net.advance(Time::ZERO + Duration::from_millis(step));
        while net.take(0) || net.arrive(0) {}
    }
    let sent = net.nodes[0].senders().next().unwrap().1.sent;
    assert!((99..=101).contains(&sent), "{sent}");
}
