//! What messages cost, and whom that stops.

use super::*;

#[test]
fn messages_cost_the_fee_and_their_links() {
    let mut net = Net::line(2, 1 << 20);
    net.client(1, &[7]);
    let sender = net.client(0, &[]);
    assert_eq!(net.flood(0, sender, 7, 1), 10, "a salary of $10 at $1");
    net.exchange();
    assert_eq!(net.got, [0, 10]);
    net.stopped = Some(0);
    let before = net.daemons[0].links().map(|link| link.cost.get()).sum::<f64>();
    assert_eq!(before, 0.0);
    net.flood_for(0, sender, 7, Duration::from_secs(3));
    let link = net.daemons[0].links().next().expect("one link");
    // The soft limit of 100, and what was bought before its price was told.
    assert!((60..130).contains(&link.queue.waiting()), "{}", link.queue.waiting());
    assert!(link.cost.get() > 20.0, "{:?}", link.cost);
}

#[test]
fn a_full_queue_stops_its_senders_everywhere_and_no_others() {
    let mut net = Net::line(3, 1 << 20);
    let slow = net.client(2, &[7]);
    net.client(2, &[8]);
    let [near, far] = [2, 0].map(|node| net.client(node, &[]));
    net.daemons[2].set_queue(net.now, slow, 5000, true);
    net.exchange();
    for (node, client) in [(2, near), (0, far)] {
        assert_eq!(net.flood_for(node, client, 7, Duration::from_millis(500)), 0);
    }
    let others = net.client(0, &[]);
    assert!(net.flood_for(0, others, 8, Duration::from_millis(500)) >= 10);
    net.daemons[2].set_queue(net.now, slow, 0, false);
    net.run(Duration::from_millis(200));
    let gone = |daemon: &mut Daemon<u8, Data>| std::iter::from_fn(|| daemon.poll_sent()).count();
    assert_eq!((gone(&mut net.daemons[2]), gone(&mut net.daemons[0])), (1, 1));
}

#[test]
fn others_wait_for_a_client_with_a_long_queue() {
    let mut net = Net::line(1, 1 << 20);
    let slow = net.client(0, &[7]);
    let mut holds = |waiting, is_full| {
        net.daemons[0].set_queue(net.now, slow, waiting, is_full);
        net.run(Duration::from_millis(200));
        net.daemons[0].holds_others(slow)
    };
    assert!(!holds(3, false), "a short queue costs its senders less than they get at a time");
    assert!(holds(90, false));
    assert!(!holds(3, false));
    assert!(holds(3, true));
    assert!(!holds(0, false));
}

#[test]
fn a_slow_receiver_costs() {
    let mut net = Net::line(2, 1 << 20);
    let slow = net.client(1, &[7]);
    net.daemons[1].set_queue(net.now, slow, 50, false);
    net.run(Duration::from_millis(200));
    let sender = net.client(0, &[]);
    assert_eq!(net.flood(0, sender, 7, 1), 1, "$10 pay once for $1 and a queue of 50");
}

#[test]
fn who_may_ignore_receivers_pays_for_links_alone() {
    let mut net = Net::line(1, 1 << 20);
    let slow = net.client(0, &[7]);
    net.daemons[0].set_queue(net.now, slow, 5000, true);
    let sender = net.client(0, &[]);
    let now = net.now;
    let mut send = |ignores_receivers| {
        let mut offer = Offer { ignores_receivers, ..offer(7, 1) };
        offer.message.service = Service::Unreliable;
        net.daemons[0].offer(now, sender, offer)
    };
    assert_eq!((send(true), send(false)), (Offered::Sent, Offered::Held));
}

#[test]
fn prices_are_told_anew_in_a_view() {
    let mut net = Net::line(3, 1 << 20);
    let slow = net.client(0, &[7]);
    net.daemons[0].set_queue(net.now, slow, 5000, true);
    net.exchange();
    net.daemons[1].link_down(net.now, OverlayNodeId(2));
    net.daemons[2].link_down(net.now, OverlayNodeId(1));
    net.run(Duration::from_millis(200));
    for (node, peer) in [(1, 2), (2, 1)] {
        net.daemons[node].link_up(net.now, OverlayNodeId(peer), 2);
    }
    net.run(Duration::from_millis(200));
    let sender = net.client(2, &[]);
    assert_eq!(net.flood(2, sender, 7, 1), 0);
}

#[test]
fn prices_overtake() {
    let mut net = Net::line(2, 1 << 20);
    let (here, _) = (net.client(0, &[]), net.client(1, &[7]));
    net.stopped = Some(0);
    net.flood(0, here, 7, 1);
    net.daemons[0].set_queue(net.now, here, 9000, true);
    let taken = std::iter::from_fn(|| net.daemons[0].take(net.now, OverlayNodeId(1)));
    let is_message = |taken: &LinkMessage<_, _>| !matches!(taken, LinkMessage::EnterPrices(_));
    let first = taken.take(2).find(is_message);
    assert!(matches!(first, Some(LinkMessage::Prices(_))), "{first:?}");
}

/// Clients at two daemons, each with a queue of 300, that want to send to each other.
fn crossing() -> (Net, ClientId, ClientId) {
    let mut net = Net::line(2, 1 << 20);
    let (one, two) = (net.client(0, &[7]), net.client(1, &[8]));
    for (node, client) in [(0, one), (1, two)] {
        net.daemons[node].set_queue(net.now, client, 300, false);
    }
    net.run(Duration::from_millis(200));
    assert_eq!((net.flood(0, one, 8, 1), net.flood(1, two, 7, 1)), (0, 0));
    (net, one, two)
}

#[test]
fn programs_that_send_and_read_in_turn_do_not_wait_for_each_other() {
    let (mut net, one, two) = crossing();
    net.run(Duration::from_millis(50));
    for (node, client, group) in [(0, one, 8), (1, two, 7)] {
        assert_eq!(net.daemons[node].poll_sent(), Some(client));
        assert!(net.flood(node, client, group, 1) > 5);
    }
}

/// The socket's buffer may take messages late, which looks like reading.
#[test]
fn a_program_that_seemed_to_read_is_not_waited_for() {
    let (mut net, one, two) = crossing();
    net.run(Duration::from_millis(10));
    net.daemons[0].set_queue(net.now, one, 290, false);
    net.daemons[1].set_queue(net.now, two, 290, false);
    net.run(Duration::from_millis(50));
    assert!(net.daemons.iter_mut().any(|daemon| daemon.poll_sent().is_some()));
}

#[test]
fn a_client_that_reads_while_it_waits_costs() {
    let (mut net, one, two) = crossing();
    for waiting in (200..300).rev() {
        net.daemons[0].set_queue(net.now, one, waiting, false);
        net.daemons[1].set_queue(net.now, two, waiting, false);
        net.run(Duration::from_millis(10));
    }
    assert!(net.daemons.iter_mut().all(|daemon| daemon.poll_sent().is_none()));
}

#[test]
fn a_client_s_own_queue_costs_it_nothing_until_it_is_full() {
    let mut net = Net::line(1, 1 << 20);
    let client = net.client(0, &[7]);
    net.daemons[0].set_queue(net.now, client, 300, false);
    net.run(Duration::from_millis(200));
    assert_eq!(net.flood(0, client, 7, 1), 10);
    net.run(Duration::from_secs(2));
    assert_eq!(net.daemons[0].poll_sent(), Some(client));
    net.daemons[0].set_queue(net.now, client, 5000, true);
    assert_eq!(net.flood_for(0, client, 7, Duration::from_secs(2)), 0);
}

/// A client whom other daemons know from no group.
#[test]
fn a_private_message_to_a_full_queue_waits() {
    let mut net = Net::line(3, 1 << 20);
    let mute = net.daemons[2].connect(net.now, "mute".into());
    let senders = [2, 0].map(|node| (node, net.client(node, &[])));
    net.daemons[2].set_queue(net.now, mute, 5000, true);
    net.exchange();
    for (node, sender) in senders {
        let mut send = |name: &str| {
            let target = Target::Private(OverlayNodeId(2), name.into());
            let mut offer = offer(7, 1);
            offer.message.targets = vec![target].into();
            net.daemons[node].offer(net.now, sender, offer)
        };
        assert_eq!((send("another"), send("mute")), (Offered::Sent, Offered::Held));
    }
}
