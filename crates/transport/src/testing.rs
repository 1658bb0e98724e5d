//! A test pipe: a sender and a receiver joined by a path of fixed delay and no rate. A script
//! decides the fate of single packets.

use std::collections::BTreeMap;

use ratewire_laws::{AnyLaw, Draw, FlowContext};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::{Ack, AckRules, App, Receiver, Reply, Segment, SegmentKind, Sender, TransportConfig};

/// Payload of a full packet.
pub(crate) const MSS: u64 = 1460;
/// Delay of the path, each way.
pub(crate) const DELAY: Duration = Duration::from_millis(50);
/// Round trip of the path.
pub(crate) const RTT: Duration = Duration::from_millis(100);
/// Maximum number of steps, above the need of any test: more mean an endless exchange.
const MOST_STEPS: usize = 100_000;

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Lost,
    /// Arrives this much later.
    Late(Duration),
    /// Arrives now and, again, this much later.
    Twice(Duration),
    Marked,
}

/// An event of a pipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    Sent(Segment),
    Arrived(Segment),
    Answered(Ack),
    Acknowledged(Ack),
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
enum Packet {
    There(Segment, bool),
    Back(Ack),
}

pub(crate) struct Pipe {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now: Time,
    /// Fate of the sender's packets, by number; packets that open the flow do not count.
    pub(crate) data: BTreeMap<usize, Fate>,
    /// Fate of the receiver's packets, by number; answers to those that open do not count.
    pub(crate) acks: BTreeMap<usize, Fate>,
    /// Number of packets that open the flow, and answers to them, that are lost.
    pub(crate) lose_opens: usize,
    pub(crate) lose_answers: usize,
    /// Lateness of the sender's timer.
    pub(crate) lateness: Duration,
    pub(crate) delay: Duration,
    /// Whether to check the sender's counters at each step.
    pub(crate) thorough: bool,
    pub(crate) log: Vec<(Time, Event)>,
    /// Begin and end of ranges that arrived beyond `prefix`.
    arrived: BTreeMap<u64, u64>,
    /// Every byte below has arrived.
    prefix: u64,
    sent: usize,
    answered: usize,
    on_the_way: BTreeMap<(Time, usize), Packet>,
    count: usize,
    steps: usize,
}

/// Without a handshake, otherwise the default.
pub(crate) fn config() -> TransportConfig {
    TransportConfig { handshake: false, ack_rules: AckRules::Rfc, ..TransportConfig::default() }
}

/// This many full packets.
pub(crate) fn packets(n: u64) -> Bytes {
    Bytes::new(n * MSS)
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// This long after the start.
pub(crate) fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// A law that keeps this many packets outstanding, whatever happens.
pub(crate) fn fixed(window: u64) -> AnyLaw {
    AnyLaw::new("fixed", &[("window", &format!("{window} packets"))]).unwrap()
}

/// A law that sends at this rate.
pub(crate) fn paced(rate: &str) -> AnyLaw {
    AnyLaw::new("fixed", &[("rate", rate)]).unwrap()
}

pub(crate) fn newreno() -> AnyLaw {
    AnyLaw::new("newreno", &[]).unwrap()
}

impl Pipe {
    pub(crate) fn new(law: &AnyLaw, config: &TransportConfig, app: &App) -> Pipe {
        let headers = config.headers + law.header_len();
        let mss = config.packet.saturating_sub(headers);
        let line_rate = Rate::from_mbps(10_000);
        let flow = FlowContext {
            mss,
            packet: config.packet,
            line_rate,
            back_pressured: false,
            draw: Draw::new(0),
        };
        Pipe {
            sender: Sender::new(Time::ZERO, law.source(&flow), config, headers, app),
            receiver: Receiver::new(law.sink(&flow), config, mss, app),
            now: Time::ZERO,
            data: BTreeMap::new(),
            acks: BTreeMap::new(),
            lose_opens: 0,
            lose_answers: 0,
            lateness: Duration::ZERO,
            delay: DELAY,
            thorough: false,
            log: Vec::new(),
            arrived: BTreeMap::new(),
            prefix: 0,
            sent: 0,
            answered: 0,
            on_the_way: BTreeMap::new(),
            count: 0,
            steps: 0,
        }
    }

    /// This many full packets under this law, nothing unusual.
    pub(crate) fn sized(law: &AnyLaw, n: u64) -> Pipe {
        Pipe::new(law, &config(), &App::sized(packets(n)))
    }

    /// Loses these packets of the sender's.
    pub(crate) fn losing(mut self, numbers: impl IntoIterator<Item = usize>) -> Pipe {
        self.data.extend(numbers.into_iter().map(|n| (n, Fate::Lost)));
        self
    }

    /// Loses everything on its way.
    pub(crate) fn lose_all(&mut self) {
        self.on_the_way.clear();
    }

    /// Runs until everything is acknowledged, then until nothing is on its way.
    pub(crate) fn run(&mut self) {
        self.run_while(|pipe| !pipe.sender.is_done());
        assert!(self.sender.is_done(), "stands still: {:?}", self.last_events());
        while !self.on_the_way.is_empty() {
            self.step();
        }
        assert_eq!(self.sender.in_flight(), Bytes::ZERO);
        assert_eq!(Some(self.receiver.delivered().get()), self.sender.stream_end());
    }

    /// Runs until the condition no longer holds or nothing more happens.
    pub(crate) fn run_while(&mut self, condition: impl Fn(&Pipe) -> bool) {
        self.pump();
        while condition(self) && self.step() {}
    }

    /// Runs up to this time.
    pub(crate) fn run_to(&mut self, end: Time) {
        self.pump();
        while self.next_time() <= end && self.step() {}
        self.now = end;
    }

    fn next_time(&self) -> Time {
        let arrival = self.on_the_way.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        arrival.min(self.sender.deadline() + self.lateness).min(self.receiver.deadline())
    }

    /// Lets the next event happen.
    pub(crate) fn step(&mut self) -> bool {
        let next = self.next_time();
        if next == Time::NEVER {
            return false;
        }
        self.steps += 1;
        assert!(self.steps < MOST_STEPS, "goes in circles: {:?}", self.last_events());
        assert!(next >= self.now, "wants to be called at {next}, at {}", self.now);
        self.now = next;
        match self.on_the_way.first_key_value() {
            Some(((at, _), _)) if *at == next => {
                let (_, packet) = self.on_the_way.pop_first().unwrap();
                self.arrive(packet);
            }
            _ if self.receiver.deadline() == next => {
                if self.receiver.on_timer(next) {
                    self.answer();
                }
                assert!(self.receiver.deadline() > next, "the receiver is not content");
            }
            _ => {
                if let Some(segment) = self.sender.on_timer(next) {
                    self.send(segment);
                }
                self.pump();
                let due = self.sender.deadline();
                assert!(due > next, "called at {next}, for {due}: {:?}", self.last_events());
            }
        }
        self.pump();
        if self.thorough {
            self.sender.check();
        }
        true
    }

    /// Sends what the sender may send.
    pub(crate) fn pump(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.send(segment);
        }
    }

    fn arrive(&mut self, packet: Packet) {
        match packet {
            Packet::There(segment, marked) => {
                self.log.push((self.now, Event::Arrived(segment)));
                let (offset, payload) = (segment.offset, segment.payload);
                if segment.kind == SegmentKind::Open {
                    let ack = self.receiver.open(self.now, &segment.header);
                    self.log.push((self.now, Event::Answered(ack)));
                    if self.lose_answers > 0 {
                        self.lose_answers -= 1;
                    } else {
                        self.put(self.delay, Packet::Back(ack));
                    }
                    return;
                }
                if self.receiver.answers_first(marked) {
                    self.answer();
                }
                let reply = self.receiver.on_data(
                    self.now,
                    offset,
                    payload,
                    &segment.header,
                    marked,
                    segment.stamp,
                );
                self.check_delivered(&segment);
                if reply == Reply::Now {
                    self.answer();
                }
            }
            Packet::Back(ack) => {
                self.log.push((self.now, Event::Acknowledged(ack)));
                self.sender.on_ack(self.now, &ack);
            }
        }
    }

    /// Checks that delivered data, and all before it, has arrived.
    fn check_delivered(&mut self, segment: &Segment) {
        let end = self.arrived.entry(segment.offset).or_default();
        *end = (*end).max(segment.offset + segment.payload.get());
        while let Some(first) = self.arrived.first_entry()
            && *first.key() <= self.prefix
        {
            self.prefix = self.prefix.max(first.remove());
        }
        assert!(self.receiver.delivered().get() <= self.prefix, "delivered what never arrived");
    }

    pub(crate) fn send(&mut self, segment: Segment) {
        self.log.push((self.now, Event::Sent(segment)));
        if segment.kind == SegmentKind::Open {
            if self.lose_opens > 0 {
                self.lose_opens -= 1;
            } else {
                self.put(self.delay, Packet::There(segment, false));
            }
            return;
        }
        let fate = self.data.get(&self.sent).copied();
        self.sent += 1;
        self.suffer(fate, Packet::There(segment, fate == Some(Fate::Marked)));
    }

    fn answer(&mut self) {
        let ack = self.receiver.acknowledge(self.now);
        self.log.push((self.now, Event::Answered(ack)));
        let fate = self.acks.get(&self.answered).copied();
        self.answered += 1;
        self.suffer(fate, Packet::Back(ack));
    }

    fn suffer(&mut self, fate: Option<Fate>, packet: Packet) {
        match fate {
            Some(Fate::Lost) => {}
            Some(Fate::Late(by)) => self.put(self.delay + by, packet),
            Some(Fate::Twice(by)) => {
                self.put(self.delay, packet);
                self.put(self.delay + by, packet);
            }
            Some(Fate::Marked) | None => self.put(self.delay, packet),
        }
    }

    fn put(&mut self, delay: Duration, packet: Packet) {
        self.count += 1;
        self.on_the_way.insert((self.now + delay, self.count), packet);
    }

    fn last_events(&self) -> &[(Time, Event)] {
        &self.log[self.log.len().saturating_sub(8)..]
    }

    /// Time, packet and whether it is a retransmission, of all data (or window probes) sent.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (Time, Segment, bool)> + '_ {
        self.log.iter().filter_map(|(at, event)| match event {
            Event::Sent(s) => match s.kind {
                SegmentKind::Data { again } => Some((*at, *s, again)),
                SegmentKind::Open => None,
            },
            _ => None,
        })
    }
    /// Time and number (of full packets) of retransmissions.
    pub(crate) fn resent(&self) -> Vec<(Time, u64)> {
        self.sent().filter(|sent| sent.2).map(|(at, s, _)| (at, s.offset / MSS)).collect()
    }
    /// Script numbers of retransmissions.
    pub(crate) fn numbers_resent(&self) -> Vec<usize> {
        self.sent().enumerate().filter(|(_, sent)| sent.2).map(|(number, _)| number).collect()
    }
    /// Time and content of the receiver's answers.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (Time, Ack)> + '_ {
        self.log.iter().filter_map(|(at, event)| match event {
            Event::Answered(ack) => Some((*at, *ack)),
            _ => None,
        })
    }
    /// Times of the packets that open the flow.
    pub(crate) fn opens(&self) -> Vec<Time> {
        let open = |e: &Event| matches!(e, Event::Sent(s) if s.kind == SegmentKind::Open);
        self.log.iter().filter(|(_, event)| open(event)).map(|(at, _)| *at).collect()
    }
    /// Arrival time of the last data.
    pub(crate) fn last_arrival(&self) -> Time {
        let arrived = |e: &Event| matches!(e, Event::Arrived(_));
        self.log.iter().rev().find(|(_, event)| arrived(event)).unwrap().0
    }
    /// The law's window, in packets.
    pub(crate) fn window(&self) -> f64 {
        self.sender.source().window().as_f64() / MSS as f64
    }
}
