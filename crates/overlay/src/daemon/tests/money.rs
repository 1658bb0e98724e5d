//! What clients have, and when they buy.

use super::*;

#[test]
fn salaries_grow_while_nothing_is_dear() {
    let mut net = Net::line(1, 1 << 20);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.flood_for(0, sender, 7, Duration::from_secs(2));
    let rate = net.flood_for(0, sender, 7, Duration::from_millis(100)) * 10;
    assert!(rate > 100_000, "{rate} messages a second, though the clock ticks in milliseconds");
}

/// A salary of $10 buys ten messages at $1, forty of weight 4, and five of weight 1/2.
#[test]
fn a_message_costs_its_part_by_weight() {
    for (weight, bought) in [(1.0, 10), (4.0, 40), (0.5, 5)] {
        let mut net = Net::line(1, 1 << 20);
        net.client(0, &[7]);
        let sender = net.client(0, &[]);
        let offer = Offer { weight, ..offer(7, 1) };
        let now = net.now;
        let sent =
            (0..).take_while(|_| net.daemons[0].offer(now, sender, offer.clone()) == Offered::Sent);
        assert_eq!(sent.count(), bought, "{weight}");
    }
}

#[test]
fn a_client_has_the_salary_that_it_connects_with() {
    let mut net = Net::line(1, 1 << 20);
    net.client(0, &[7]);
    let sender = net.daemons[0].connect_paid(net.now, "poor".into(), Some(Dollars::new(4.0)));
    assert_eq!(net.flood(0, sender, 7, 1), 4);
    let purse = net.daemons[0].purse(net.now, sender).expect("it is connected");
    assert_eq!(purse.salary, Dollars::new(4.0));
    net.run(Duration::from_millis(1001));
    assert_eq!(net.daemons[0].poll_sent(), Some(sender), "paid again after a second");
    assert_eq!(net.flood(0, sender, 7, 1), 3);
}

#[test]
fn nothing_changes_when_the_clock_is_set_back() {
    let course = |by: Duration| {
        let mut net = Net::line(2, 1 << 20);
        let slow = net.client(1, &[7]);
        net.daemons[1].set_queue(net.now, slow, 20, false);
        let sender = net.client(0, &[]);
        net.flood_for(0, sender, 7, Duration::from_millis(1234));
        net.daemons.iter_mut().for_each(|daemon| daemon.set_back(by));
        net.now = net.now - by;
        let counts: Vec<usize> =
            (0..20).map(|_| net.flood_for(0, sender, 7, Duration::from_millis(100))).collect();
        let [purse] = net.daemons[0].purses(net.now).collect::<Vec<_>>()[..] else { panic!() };
        (counts, net.got, purse)
    };
    assert_eq!(course(Duration::from_millis(1000)), course(Duration::ZERO));
}

/// Two clients send to each other and do not read meanwhile: after 20 ms, one does not wait for the
/// other any more.
#[test]
fn clients_that_wait_when_the_clock_is_set_back_do_not_wait_for_it() {
    for by in [Duration::ZERO, Duration::from_millis(600)] {
        let mut net = Net::line(1, 1 << 20);
        let clients = [7, 8].map(|group| net.client(0, &[group]));
        clients.iter().for_each(|client| net.daemons[0].set_queue(net.now, *client, 62, false));
        net.run(Duration::from_millis(200));
        assert_eq!([net.flood(0, clients[0], 8, 1), net.flood(0, clients[1], 7, 1)], [0, 0]);
        net.daemons[0].set_back(by);
        net.now = net.now - by;
        net.run(Duration::from_millis(15));
        assert_eq!(net.daemons[0].poll_sent(), None);
        net.run(Duration::from_millis(10));
        assert!(net.daemons[0].poll_sent().is_some(), "set back by {by}");
    }
}

#[test]
fn a_client_at_exact_times_saves_up_to_the_cap_and_thinks_once() {
    let mut net = Net::line(1, 1 << 20);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.run(Duration::from_secs(5));
    let line = Some(Line { time: Duration::from_millis(1), until: net.now });
    let offer = Offer { line, ..offer(7, 1) };
    let sent =
        (0..).take_while(|_| net.daemons[0].offer(net.now, sender, offer.clone()) == Offered::Sent);
    assert_eq!(sent.count(), 20, "savings of $20 at $1");
    assert!(net.daemons[0].withdraw(sender).is_some() && net.daemons[0].withdraw(sender).is_none());
}

#[test]
fn a_message_that_its_line_carries_goes_when_it_has_come() {
    let mut net = Net::line(1, 1 << 20);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    let time = Duration::from_millis(3);
    let line = Some(Line { time, until: net.now + time });
    let offer = Offer { line, ..offer(7, 1) };
    assert_eq!(net.daemons[0].offer(net.now, sender, offer), Offered::Held);
    net.run(Duration::from_millis(2));
    assert_eq!(net.daemons[0].poll_sent(), None);
    net.run(Duration::from_millis(1));
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
}

/// At a price of $11, one of eleven salaries buys at once; waiting for a salary is no second
/// thought.
#[test]
fn chance_counts_from_when_there_is_money() {
    let mut net = Net::with(1, 1 << 20, Params::default());
    let slow = net.client(0, &[7]);
    net.daemons[0].set_queue(net.now, slow, 62, false);
    net.run(Duration::from_millis(200));
    let clients: Vec<ClientId> = (0..200).map(|_| net.client(0, &[])).collect();
    for client in &clients {
        assert_eq!(net.flood(0, *client, 7, 1), 0, "$10 do not pay for $11");
    }
    net.run(Duration::from_millis(1005));
    let bought = std::iter::from_fn(|| net.daemons[0].poll_sent()).count();
    assert!((5..40).contains(&bought), "{bought} of 200 bought with their first salary");
}

/// Bytes a second of a client that would send without end over an idle network, by layers.
fn layered_rate(fee: f64, memory: Duration) -> f64 {
    let (fee, benefit) = (Dollars::new(fee), Benefit::Layered(memory));
    let mut net =
        Net::with(1, 1 << 20, Params { fee, benefit, randomise: false, ..Params::default() });
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.flood_for(0, sender, 7, memory * 10);
    let sent = net.flood_for(0, sender, 7, memory * 10);
    sent as f64 * 1000.0 / (memory * 10).secs()
}

/// For $.50 a client buys in the last layer: .5/.0576 are $8.68. It sends again when 62,000 bytes
/// are left, ln(63,000/62,000) of the memory after the last message of 1,000. For $1.20 the last
/// layer costs $20.83, which is more than a client can hold, and 12,000 are left.
#[test]
fn layers_bound_a_rate() {
    for (fee, memory, top) in [(0.5, 1, 62e3), (1.2, 1, 12e3), (1.2, 4, 12e3)] {
        let found = layered_rate(fee, Duration::from_secs(memory));
        let left = top * memory as f64;
        let gap = memory as f64 * libm::log((left + 1000.0) / left);
        // The daemon's clock ticks in milliseconds: each message may be one tick late.
        let (least, most) = (1000.0 / (gap + 0.001), 1000.0 / gap);
        assert!((least * 0.995..most * 1.005).contains(&found), "${fee}: {found} of {most}");
    }
}

/// What costs nothing needs no benefit.
#[test]
fn free_messages_go_beyond_all_layers() {
    assert!(layered_rate(0.0, Duration::from_millis(50)) > 100e3);
}
