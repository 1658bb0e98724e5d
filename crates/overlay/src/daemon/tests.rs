use std::collections::BTreeSet;
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Time};

use super::{Daemon, Line, Offer, Offered, Payload, Settings};
use crate::benefit::Benefit;
use crate::ids::{ClientId, OverlayNodeId};
use crate::membership::{Event, Founding, LinkMessage, Outgoing, Service, Target};
use crate::params::Params;
use crate::price::Dollars;
use crate::tree::EdgeSpec;

/// Messages that a client's line carries in a step.
const LINE: usize = 200;

#[derive(Clone, Debug, PartialEq)]
struct Data(u32);

impl Payload for Data {
    fn counted(&self) -> u32 {
        self.0
    }
    fn size(&self) -> Bytes {
        Bytes::new(1000 * u64::from(self.0))
    }
}

/// Daemons on a line, whose links take no time and have no limit unless a test keeps messages back.
struct Net {
    now: Time,
    daemons: Vec<Daemon<u8, Data>>,
    /// Links from one daemon to the next that carry nothing but prices.
    stopped: Option<usize>,
    got: Vec<usize>,
    /// Clients with a message that waits.
    held: BTreeSet<(usize, ClientId)>,
}

impl Net {
    fn line(nodes: usize, window: u64) -> Net {
        Net::with(nodes, window, Params { randomise: false, ..Params::default() })
    }

    fn with(nodes: usize, window: u64, params: Params) -> Net {
        let edge = |from: usize, to: usize| EdgeSpec {
            from: OverlayNodeId(from as u8),
            to: OverlayNodeId(to as u8),
            delay: Duration::from_millis(1),
        };
        let edges = (1..nodes).flat_map(|i| [edge(i - 1, i), edge(i, i - 1)]).collect();
        let window = Bytes::new(window);
        let least_interval = params.interval;
        let settings = Arc::new(Settings { params, nodes, edges, least_interval, window });
        let daemon = |i: usize| {
            let random = Xoshiro256PlusPlus::seed_from_u64(i as u64);
            Daemon::new(OverlayNodeId(i as u8), 1, Arc::clone(&settings), random)
        };
        let mut net = Net {
            now: Time::ZERO,
            daemons: (0..nodes).map(daemon).collect(),
            stopped: None,
            got: vec![0; nodes],
            held: BTreeSet::new(),
        };
        for i in 1..nodes {
            net.daemons[i].link_up(net.now, OverlayNodeId(i as u8 - 1), 1);
            net.daemons[i - 1].link_up(net.now, OverlayNodeId(i as u8), 1);
        }
        net.run(Duration::from_millis(500));
        assert_eq!(net.daemons[0].member().view().1.len(), nodes);
        net
    }

    fn exchange(&mut self) {
        loop {
            let mut is_busy = false;
            for node in 0..self.daemons.len() {
                self.daemons[node].hurry(self.now);
                while self.daemons[node].poll_link().is_some() {}
                let peers: Vec<_> = self.daemons[node].links().map(|link| link.peer).collect();
                for peer in peers {
                    if self.stopped == Some(node) && peer.index() > node {
                        continue;
                    }
                    while let Some(message) = self.daemons[node].take(self.now, peer) {
                        is_busy = true;
                        let from = OverlayNodeId(node as u8);
                        self.daemons[peer.index()].receive(self.now, from, message);
                    }
                }
                while let Some(delivery) = self.daemons[node].poll_delivery() {
                    if let Event::Message { .. } = delivery.event {
                        self.got[node] += delivery.to.len();
                    }
                }
            }
            if !is_busy {
                return;
            }
        }
    }

    /// Lets time pass in steps of a millisecond.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(1);
            let now = self.now;
            self.daemons.iter_mut().for_each(|daemon| daemon.advance(now));
            self.exchange();
        }
    }

    fn client(&mut self, node: usize, groups: &[u8]) -> ClientId {
        let name = format!("c{}", self.got.iter().sum::<usize>());
        let client = self.daemons[node].connect(self.now, name.as_str().into());
        for group in groups {
            self.daemons[node].join(self.now, client, *group);
        }
        self.exchange();
        client
    }

    /// Offers messages to a group until one is held, or the client's line has carried what it can
    /// in a step; returns how many were sent.
    fn flood(&mut self, node: usize, client: ClientId, group: u8, counted: u32) -> usize {
        let offer = offer(group, counted);
        for sent in 0..LINE {
            if self.daemons[node].offer(self.now, client, offer.clone()) == Offered::Held {
                self.held.insert((node, client));
                return sent;
            }
        }
        LINE
    }

    /// Floods for a time, and again whenever a message that was held has gone.
    fn flood_for(&mut self, node: usize, client: ClientId, group: u8, time: Duration) -> usize {
        let mut sent = 0;
        let end = self.now + time;
        while self.now < end {
            self.run(Duration::from_millis(1));
            while let Some(gone) = self.daemons[node].poll_sent() {
                sent += usize::from(gone == client);
                self.held.remove(&(node, gone));
            }
            if !self.held.contains(&(node, client)) {
                sent += self.flood(node, client, group, 1);
            }
        }
        sent
    }
}

/// A message to a group, of a client without a line.
fn offer(group: u8, counted: u32) -> Offer<u8, Data> {
    Offer {
        message: Outgoing {
            service: Service::Fifo,
            self_discard: false,
            targets: [Target::Group(group)].into(),
            payload: Data(counted),
        },
        ignores_receivers: false,
        needs_receiver: false,
        line: None,
        data: Bytes::new(1000),
        weight: 1.0,
    }
}

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
fn salaries_grow_while_nothing_is_dear() {
    let mut net = Net::line(1, 1 << 20);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.flood_for(0, sender, 7, Duration::from_secs(2));
    let rate = net.flood_for(0, sender, 7, Duration::from_millis(100)) * 10;
    assert!(rate > 100_000, "{rate} messages a second, though the clock ticks in milliseconds");
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
fn the_window_bounds_what_others_lack() {
    let mut net = Net::line(2, 5_000);
    net.client(1, &[7]);
    let sender = net.client(0, &[]);
    net.stopped = Some(0);
    assert_eq!(net.flood(0, sender, 7, 1), 5);
    assert_eq!(net.daemons[0].in_window(), Bytes::new(5000));
    net.stopped = None;
    net.exchange();
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
    assert_eq!(net.daemons[0].in_window(), Bytes::ZERO, "without time passing, even for FIFO");
    assert_eq!(net.got, [0, 6]);
}

#[test]
fn a_message_beyond_the_window_goes_alone() {
    let mut net = Net::line(2, 5_000);
    net.client(1, &[7]);
    let [one, two] = [0, 0].map(|node| net.client(node, &[]));
    net.stopped = Some(0);
    assert_eq!(net.flood(0, one, 7, 50), 1);
    assert_eq!(net.flood(0, two, 7, 1), 0);
}

#[test]
fn messages_wait_while_views_change() {
    let mut net = Net::line(3, 1 << 20);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.daemons[1].link_down(net.now, OverlayNodeId(2));
    net.daemons[2].link_down(net.now, OverlayNodeId(1));
    while let Some(message) = net.daemons[1].take(net.now, OverlayNodeId(0)) {
        net.daemons[0].receive(net.now, OverlayNodeId(1), message);
    }
    assert!(net.daemons[0].member().is_changing());
    assert_eq!(net.flood(0, sender, 7, 1), 0);
    net.exchange();
    assert_eq!(net.daemons[0].member().view().1.len(), 2);
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
    assert_eq!(net.got[0], 1);
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

/// Three daemons that begin in one view.
fn founded(founding: &Founding<u8>, settings: &Arc<Settings>) -> Vec<Daemon<u8, Data>> {
    let daemon = |i: u8| {
        let random = Xoshiro256PlusPlus::seed_from_u64(u64::from(i));
        Daemon::founded(OverlayNodeId(i), founding, Arc::clone(settings), random)
    };
    (0..3).map(daemon).collect()
}

#[test]
fn founded_daemons_begin_in_one_view_and_may_leave_it() {
    let mut net = Net::line(3, 1 << 20);
    let settings = Arc::clone(&net.daemons[0].settings);
    let clients = vec![vec![], vec![], vec![("there".into(), vec![7])]];
    let founding = Founding::new(Arc::clone(&settings.edges), clients).expect("a line is whole");
    net.daemons = founded(&founding, &settings);
    let sender = net.client(0, &[]);
    assert_eq!(net.flood(0, sender, 7, 1), 10);
    net.exchange();
    assert_eq!(net.got, [0, 0, 10]);
    for (node, peer) in [(1, 2), (2, 1)] {
        net.daemons[node].link_down(net.now, OverlayNodeId(peer));
    }
    net.exchange();
    let member = net.daemons[0].member();
    assert_eq!((member.view().1.len(), member.members(&7).count()), (2, 0));
    for (node, peer) in [(1, 2), (2, 1)] {
        net.daemons[node].link_up(net.now, OverlayNodeId(peer), 2);
    }
    net.run(Duration::from_millis(200));
    let member = net.daemons[0].member();
    assert_eq!((member.view().1.len(), member.members(&7).count()), (3, 1));
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
fn a_message_that_needs_a_receiver_goes_when_there_is_one() {
    let mut net = Net::line(2, 1 << 20);
    let sender = net.client(0, &[]);
    let offer = Offer { needs_receiver: true, ..offer(7, 1) };
    assert_eq!(net.daemons[0].offer(net.now, sender, offer), Offered::Held);
    net.run(Duration::from_millis(500));
    assert_eq!(net.daemons[0].poll_sent(), None);
    net.client(1, &[7]);
    net.run(Duration::from_millis(100));
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
    assert_eq!(net.got, [0, 1]);
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

/// Daemons that found a lasting view tell each other nothing about messages that wait for nobody.
#[test]
fn a_lasting_view_has_no_copies_to_forget() {
    let edges = Arc::clone(&Net::line(3, 1 << 20).daemons[0].settings.edges);
    let told = |is_lasting: bool| {
        let mut net = Net::line(3, 1 << 20);
        let clients = vec![vec![], vec![], vec![("there".into(), vec![7])]];
        let founding = Founding::new(Arc::clone(&edges), clients).expect("a line is whole");
        let founding = if is_lasting { founding.lasting() } else { founding };
        let settings =
            Arc::new(Settings { window: Bytes::MAX, ..Settings::clone(&net.daemons[0].settings) });
        net.daemons = founded(&founding, &settings);
        let sender = net.client(0, &[]);
        assert_eq!(net.flood(0, sender, 7, 1), 10);
        net.exchange();
        assert_eq!(net.got, [0, 0, 10]);
        net.now += Duration::from_secs(1);
        let now = net.now;
        net.daemons.iter_mut().for_each(|daemon| daemon.advance(now));
        let taken = std::iter::from_fn(|| net.daemons[0].take(now, OverlayNodeId(1)));
        taken.filter(|message| matches!(message, LinkMessage::Progress(_))).count()
    };
    assert_eq!((told(true), told(false)), (0, 1));
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

#[test]
fn a_client_that_joins_and_sends_gets_its_message() {
    let mut net = Net::line(3, 1 << 20);
    let client = net.daemons[0].connect(net.now, "c".into());
    net.daemons[0].join(net.now, client, 7);
    assert_eq!(net.flood(0, client, 7, 1), 0, "it waits for the join");
    net.exchange();
    assert_eq!(net.daemons[0].poll_sent(), Some(client), "without time passing");
    assert_eq!(net.got, [1, 0, 0]);
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
