//! What clients may send for no fee.

use super::*;

fn bursts(nodes: usize) -> Net {
    with_window(nodes, 16 << 20)
}

fn with_window(nodes: usize, window: u64) -> Net {
    let budget = BudgetRule::Bursts;
    Net::with(nodes, window, Params { budget, randomise: false, ..Params::default() })
}

/// Milliseconds until a burst of a client of the first daemon has come to a receiver at each. Links
/// carry `pace` packets a millisecond, receivers read as many, and the sender writes twice as many.
fn time_of(net: &mut Net, (messages, counted): (usize, u32), pace: u64) -> u64 {
    let nodes = net.daemons.len();
    let receivers: Vec<ClientId> = (0..nodes).map(|node| net.client(node, &[7])).collect();
    let sender = net.client(0, &[]);
    net.run(Duration::from_secs(1));
    net.pace = pace;
    let (begin, before, mut sent) = (net.now, net.got.clone(), 0);
    let mut read = vec![0u64; nodes];
    while (0..nodes).any(|node| net.got[node] - before[node] < messages) {
        sent += usize::from(net.daemons[0].poll_sent().is_some());
        let mut written = 0;
        while sent < messages
            && written < pace.saturating_mul(2)
            && net.daemons[0].purse(net.now, sender).is_some_and(|purse| !purse.is_blocked)
        {
            written += u64::from(counted);
            let offered = net.daemons[0].offer(net.now, sender, offer(7, counted));
            sent += usize::from(offered == Offered::Sent);
        }
        net.run(Duration::from_millis(1));
        for node in 0..nodes {
            let came = (net.got[node] - before[node]) as u64 * u64::from(counted);
            read[node] = came.min(read[node].saturating_add(pace));
            net.daemons[node].set_queue(net.now, receivers[node], came - read[node], false);
        }
    }
    net.now.since(begin).ps() / 1_000_000_000
}

/// By the paper's rule ten messages of 100 packets owe $1,000, and a salary is $10.
#[test]
fn an_idle_network_takes_a_burst_at_once() {
    for nodes in [1, 3] {
        for burst in [(100, 1), (10, 100)] {
            let time = time_of(&mut bursts(nodes), burst, u64::MAX);
            assert_eq!(time, 1, "{burst:?}, {nodes} daemons");
        }
        let time = time_of(&mut bursts(nodes), (100, 100), u64::MAX);
        assert!((10..=40).contains(&time), "{time} ms for looks after each MB, {nodes} daemons");
    }
    assert!(time_of(&mut Net::line(1, 16 << 20), (10, 100), u64::MAX) > 1000);
}

/// A burst has a price while it waits, at each link and receiver. Whoever sends next must not pay
/// for what has gone.
#[test]
fn a_burst_is_not_held_back_by_its_own_price() {
    for nodes in [1, 2, 3] {
        for burst in [(300, 1), (100, 7), (10, 70), (30, 70)] {
            for pace in [50, 70, 100, 200] {
                let params = Params { budget: BudgetRule::Bursts, ..Params::default() };
                let time = time_of(&mut Net::with(nodes, 16 << 20, params), burst, pace);
                let least = burst.0 as u64 * u64::from(burst.1) / pace;
                assert!(time <= 2 * least + 10, "{time} ms, {burst:?}, {pace}, {nodes} daemons");
            }
        }
    }
}

/// At any time since the last interval ended.
#[test]
fn a_price_ends_with_its_queue() {
    for since in (5..50).step_by(9) {
        let mut net = bursts(2);
        let reader = net.client(1, &[7]);
        let sender = net.client(0, &[]);
        net.daemons[1].set_queue(net.now, reader, 50, false);
        net.run(Duration::from_millis(100 + since));
        assert_eq!(net.flood(0, sender, 7, 1), 1, "$10 pay once for a queue of 50");
        net.daemons[1].set_queue(net.now, reader, 0, false);
        net.run(Duration::from_millis(5));
        assert_eq!(net.daemons[0].poll_sent(), Some(sender), "{since} ms");
        assert!(net.flood(0, sender, 7, 1) >= 98);
    }
}

#[test]
fn a_price_of_what_has_left_is_looked_at_again_soon() {
    let mut net = bursts(1);
    let readers: Vec<ClientId> = (0..12).map(|_| net.client(0, &[7])).collect();
    let sender = net.client(0, &[]);
    let set = |net: &mut Net, waiting| {
        let now = net.now;
        readers.iter().for_each(|reader| net.daemons[0].set_queue(now, *reader, waiting, false));
    };
    set(&mut net, 150);
    net.run(Duration::from_millis(5));
    assert_eq!(net.flood(0, sender, 7, 1), 0);
    set(&mut net, 0);
    net.run(Duration::from_millis(2));
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
}

/// Without traffic, two early updates an interval.
#[test]
fn prices_that_come_and_go_are_told_seldom() {
    let mut net = bursts(2);
    let reader = net.client(1, &[7]);
    net.run(Duration::from_secs(1));
    net.updates = 0;
    for ms in 0..1000 {
        net.daemons[1].set_queue(net.now, reader, if ms % 8 < 4 { 50 } else { 0 }, false);
        net.run(Duration::from_millis(1));
    }
    assert!((20..=60).contains(&net.updates), "{} updates in 20 intervals", net.updates);
}

#[test]
fn a_small_window_leaves_little_room() {
    let mut net = with_window(2, 64 << 10);
    net.client(1, &[7]);
    let sender = net.client(0, &[]);
    assert_eq!(
        net.flood(0, sender, 7, 1),
        5 + 10,
        "4 KiB end in the fifth message of 1000 bytes; and $10"
    );
}

/// Nobody's queue fills.
#[test]
fn what_nobody_gets_costs_nothing() {
    let mut net = bursts(1);
    let sender = net.client(0, &[]);
    assert_eq!((0..5).map(|_| net.flood(0, sender, 7, 1)).sum::<usize>(), 5 * LINE);
}

/// Most messages that wait for a reader of 100 a second, one of four, while a client floods.
fn most_waiting(mut net: Net) -> u64 {
    let last = net.daemons.len() - 1;
    let slow = net.client(last, &[7]);
    (0..3).for_each(|_| _ = net.client(last, &[7]));
    let sender = net.client(0, &[]);
    net.run(Duration::from_secs(1));
    let (mut waiting, mut most) = (0, 0);
    let already = net.got[last];
    for ms in 0..3000 {
        net.flood_for(0, sender, 7, Duration::from_millis(1));
        let came = (net.got[last] - already) as u64 / 4;
        waiting = came.saturating_sub(ms / 10);
        most = most.max(waiting);
        net.daemons[last].set_queue(net.now, slow, waiting, false);
    }
    assert!(waiting > 0, "it is behind");
    most
}

#[test]
fn a_slow_reader_gets_no_more_than_its_price_can_tell() {
    for nodes in [1, 2] {
        let most = most_waiting(bursts(nodes));
        assert!(most <= 600, "{most} messages wait, {nodes} daemons");
    }
    let free = Params { fee: Dollars::ZERO, randomise: false, ..Params::default() };
    let most = most_waiting(Net::with(2, 16 << 20, free));
    assert!(most > 3000, "{most} messages wait if nothing costs anything");
}

/// A reader of 100 a second, one of four, whose kernel holds 400 messages and takes eight when the
/// reader has read as many. Others get as many as it reads, without long gaps.
#[test]
fn a_group_goes_on_evenly_beside_a_slow_reader() {
    let (budget, interval) = (BudgetRule::Bursts, Duration::from_millis(100));
    for nodes in [1, 2, 3] {
        let params = Params { budget, interval, first_period: interval, ..Params::default() };
        let mut net = Net::with(nodes, 16 << 20, params);
        let last = nodes - 1;
        let slow = net.client(last, &[7]);
        (0..3).for_each(|_| _ = net.client(last, &[7]));
        let sender = net.client(0, &[]);
        let (mut taken, mut room, mut came) = (0, 400, 0);
        let (mut gap, mut longest) = (0, 0);
        for ms in 1..=20_000 {
            net.flood_for(0, sender, 7, Duration::from_millis(1));
            let before = core::mem::replace(&mut came, net.got[last] as u64 / 4);
            gap = if came > before { 0 } else { gap + 1 };
            longest = longest.max(gap);
            room += if ms % 80 == 0 { 8 } else { 0 };
            let takes = room.min(came - taken);
            (taken, room) = (taken + takes, room - takes);
            net.daemons[last].set_queue(net.now, slow, came - taken, false);
        }
        assert!(longest <= 300, "{longest} ms without a message, {nodes} daemons");
        let rate = (came - 400) / 20;
        assert!((95..=110).contains(&rate), "{rate} a second, {nodes} daemons");
    }
}

#[test]
fn all_clients_of_a_daemon_share_four_bursts() {
    let mut net = bursts(1);
    net.client(0, &[7]);
    let clients: Vec<ClientId> = (0..30).map(|_| net.client(0, &[])).collect();
    net.run(Duration::from_secs(1));
    let sent: Vec<usize> = clients.iter().map(|client| net.flood(0, *client, 7, 1)).collect();
    assert_eq!(sent[..4], [100 + 20; 4], "a burst, and what $20 buy");
    assert_eq!(sent[4..], [20; 26], "what $20 buy");
}

/// Its worth bounds a client's rate by the cost, so a message must cost something.
#[test]
fn layers_have_no_bursts() {
    let (budget, benefit) = (BudgetRule::Bursts, Benefit::Layered(Duration::from_secs(1)));
    let params = Params { budget, benefit, randomise: false, ..Params::default() };
    let mut net = Net::with(1, 1 << 20, params);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    assert!(net.flood(0, sender, 7, 1) < 30);
}

/// Stamps begin anew with a view: what counted in the old one must not count for ever.
#[test]
fn bursts_end_with_their_view() {
    let mut net = bursts(3);
    net.client(1, &[7]);
    let sender = net.client(0, &[]);
    net.run(Duration::from_secs(1));
    let sent = net.flood(0, sender, 7, 100);
    assert!((10..=11).contains(&sent), "a burst, and perhaps one for money: {sent}");
    net.daemons[1].link_down(net.now, OverlayNodeId(2));
    net.daemons[2].link_down(net.now, OverlayNodeId(1));
    net.run(Duration::from_millis(20));
    assert_eq!(net.daemons[0].member().view().1.len(), 2);
    assert_eq!(net.daemons[0].poll_sent(), Some(sender), "the message that waited has gone");
    assert!(net.flood(0, sender, 7, 100) > 0);
}

/// Receivers' prices, which such messages do not pay, are what bounds those who go on.
#[test]
fn who_ignores_receivers_has_no_bursts() {
    let mut net = bursts(1);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.run(Duration::from_secs(1));
    let offer = Offer { ignores_receivers: true, ..offer(7, 1) };
    let now = net.now;
    let sent =
        (0..100).take_while(|_| net.daemons[0].offer(now, sender, offer.clone()) == Offered::Sent);
    assert_eq!(sent.count(), 20, "what $20 buy");
}

#[test]
fn those_beyond_the_limit_of_all_take_turns() {
    let mut net = with_window(2, 64 << 10);
    net.client(1, &[7]);
    let clients: Vec<ClientId> = (0..8).map(|_| net.client(0, &[])).collect();
    let mut sent = vec![0; clients.len()];
    for _ in 0..2000 {
        while let Some(gone) = net.daemons[0].poll_sent() {
            sent[clients.iter().position(|client| *client == gone).unwrap()] += 1;
            net.held.remove(&(0, gone));
        }
        for (place, client) in clients.iter().enumerate() {
            if !net.held.contains(&(0, *client)) {
                sent[place] += net.flood(0, *client, 7, 40);
            }
        }
        net.run(Duration::from_millis(1));
    }
    let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
    assert!(*least * 2 > *most, "{sent:?}");
}
