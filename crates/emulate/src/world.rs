//! The network between the hosts, driven by the clock.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use ratewire_laws::Header;
use ratewire_net::spec::{LinkId, NodeId, Sockets};
use ratewire_net::{Address, Body, Ecn, Label, Network, Observation};
use ratewire_sim::outcome::{FlowOutcome, LinkOutcome, Outcome, PacketCounts};
use ratewire_sim::record::{FlowCompleted, FlowId, FlowSample, FlowStarted, LinkSample, Recorder};
use ratewire_sim::routes::{RouteInfo, RouteTable};
use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::agenda::Agenda;
use crate::bundle::{Bundle, Bundles, Entering, HEADERS_MOST, Leaving};
use crate::clock::Clock;
use crate::dialect::Dialect;
use crate::fidelity::Fidelity;
use crate::flow::{self, Flow};
use crate::host::Host;
use crate::packet::{self, Stream};
use crate::program::Program;
use crate::stage::FOR_EVER;
use crate::tun::MOST;
use crate::{Error, sys};

/// Bundles taken from a host before others have their turn.
const READS: usize = 8;
/// How often a shell is looked at, and progress told.
const GLANCE: Duration = Duration::from_millis(50);

/// A stream of packets between two hosts.
#[derive(Clone, Copy, Debug)]
struct Known {
    route: RouteInfo,
    /// The flow it carries the data of.
    flow: Option<u32>,
    to: usize,
    class: u8,
}

/// A host, from the network's side.
#[derive(Debug, Default)]
struct Side {
    /// Packets of the last bundle that its own queue has no room for yet.
    staged: VecDeque<(Entering, Address, Header)>,
    /// Its sockets wait while its queue is full, so that no more is read.
    waits: bool,
    /// What leaves the network for it, and when each packet was to.
    leaving: Option<Leaving>,
    due: Vec<Time>,
}

/// What is known of a flow from its samples.
#[derive(Clone, Copy, Debug, Default)]
struct Book {
    /// Payload that has left the network for the receiver.
    arrived: Bytes,
    sampled_arrived: Bytes,
    sampled_retransmitted: Bytes,
    started: bool,
    completed: bool,
    rtt_sum: f64,
    rtt_count: u64,
    rtt_max: Duration,
}

/// The network, its hosts, and what is recorded of them.
pub(crate) struct World<'a, R> {
    setup: &'a Setup,
    /// Classes of traffic that the last flows are of.
    classes: &'a [usize],
    hosts: &'a [Host],
    flows: &'a [Option<Flow>],
    recorder: &'a mut R,
    clock: Clock,
    end: Time,
    network: Network,
    routes: RouteTable,
    agenda: Agenda,
    bundles: Bundles,
    dialect: Option<Dialect>,
    by_address: BTreeMap<Ipv4Addr, usize>,
    numbers: BTreeMap<Stream, u32>,
    streams: Vec<Known>,
    sides: Vec<Side>,
    books: Vec<Book>,
    link_before: Vec<Observation>,
    last_sample: Time,
    /// Changes of links that are to come, the next one last.
    changes: Vec<usize>,
    packets: PacketCounts,
    data_packets: u64,
    events: u64,
    fidelity: Fidelity,
    /// For what is read, and its packets.
    room: Vec<u8>,
    entering: Vec<Entering>,
}

impl<'a, R: Recorder> World<'a, R> {
    /// For a setup without arriving traffic; `classes` are those of its last flows.
    pub(crate) fn new(
        setup: &'a Setup,
        classes: &'a [usize],
        hosts: &'a [Host],
        flows: &'a [Option<Flow>],
        dialect: Option<Dialect>,
        clock: Clock,
        recorder: &'a mut R,
    ) -> Result<World<'a, R>, Error> {
        let network = Network::new(&setup.network, &setup.laws, false, setup.seed);
        let wrong = |e: ratewire_sim::SetupError| Error::new(e.to_string(), "");
        let routes = RouteTable::new(&setup.network, &setup.paths).map_err(wrong)?;
        let mut changes: Vec<usize> = (0..setup.changes.len()).collect();
        changes.sort_by_key(|i| std::cmp::Reverse(setup.changes[*i].0));
        let fidelity = Fidelity {
            offloads: hosts.iter().all(|host| host.tun.offloads),
            ..Fidelity::default()
        };
        Ok(World {
            setup,
            classes,
            hosts,
            flows,
            recorder,
            clock,
            end: Time::ZERO + setup.duration,
            network,
            routes,
            agenda: Agenda::default(),
            bundles: Bundles::default(),
            dialect,
            by_address: hosts.iter().enumerate().map(|(i, h)| (h.spec.address, i)).collect(),
            numbers: BTreeMap::new(),
            streams: Vec::new(),
            sides: hosts.iter().map(|_| Side::default()).collect(),
            books: vec![Book::default(); setup.flows.len()],
            link_before: vec![Observation::default(); setup.network.links.len()],
            last_sample: Time::ZERO,
            changes,
            packets: PacketCounts::default(),
            data_packets: 0,
            events: 0,
            fidelity,
            room: vec![0; MOST],
            entering: Vec::new(),
        })
    }

    /// Runs to the end, or until the shell is left.
    pub(crate) fn run(&mut self, mut shell: Option<Program>) -> Result<(), Error> {
        if shell.is_some() {
            self.end = Time::ZERO + FOR_EVER;
        }
        self.fidelity.real_time = sys::be_real_time().is_ok();
        let ran = self.go_on(&mut shell);
        sys::be_ordinary();
        ran
    }

    fn go_on(&mut self, shell: &mut Option<Program>) -> Result<(), Error> {
        let mut glance = Time::ZERO + GLANCE;
        let mut looked = self.clock.now();
        loop {
            let now = self.clock.now().min(self.end);
            self.catch_up(now);
            self.hand_over();
            if now >= self.end {
                return Ok(());
            }
            self.fidelity.longest_absence = self.fidelity.longest_absence.max(now.since(looked));
            // What is read now was not sent before the last look: it must not enter the network in the past.
            let now = self.clock.now().min(self.end);
            self.catch_up(now);
            self.take_in(now)?;
            if now >= glance {
                if let Some(shell) = shell
                    && shell.ended().is_some()
                {
                    self.end = now;
                }
                self.recorder.progress(now);
                glance = now + GLANCE;
            }
            let next = self.next_due().min(glance).min(self.end);
            self.wait(next)?;
            looked = self.clock.now().max(now);
        }
    }

    fn next_due(&self) -> Time {
        let change = self.changes.last().map_or(Time::NEVER, |i| self.setup.changes[*i].0);
        self.agenda.next().min(self.next_sample()).min(change)
    }

    fn next_sample(&self) -> Time {
        match self.setup.sample_interval {
            Some(interval) if !interval.is_zero() => self.last_sample + interval,
            _ => Time::NEVER,
        }
    }

    /// Waits until something is due or a host has sent something.
    fn wait(&mut self, until: Time) -> Result<(), Error> {
        let open = self.sides.iter().zip(self.hosts).filter(|(side, _)| !side.waits);
        let mut fds: Vec<PollFd<'_>> =
            open.map(|(_, host)| PollFd::new(host.tun.as_fd(), PollFlags::POLLIN)).collect();
        let timeout = TimeSpec::from_duration(self.clock.until(until));
        match ppoll(&mut fds, Some(timeout), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(e) => Err(Error::new("cannot wait for the hosts", "").because(e)),
        }
    }

    /// Does what is due, each at its own time.
    fn catch_up(&mut self, now: Time) {
        loop {
            let due = self.next_due();
            if due > now {
                return;
            }
            if self.next_sample() == due {
                self.sample(due);
            } else if let Some(i) = self.changes.pop_if(|i| self.setup.changes[*i].0 == due) {
                let (_, link, change) = &self.setup.changes[i];
                self.network.change(due, *link, change, &mut self.agenda);
            } else if let Some((at, link)) = self.agenda.pop(now) {
                self.events += 1;
                if let Some(label) = self.network.on_event(at, link, &mut self.agenda) {
                    self.arrive(at, &label);
                }
            }
            self.forget_dropped();
        }
    }

    fn forget_dropped(&mut self) {
        // Whether there is room is asked before each packet.
        drop(self.network.take_roomy());
        for kept in self.network.take_dropped() {
            self.bundles.drop(kept);
        }
    }

    /// A packet has come to the host it is for.
    fn arrive(&mut self, at: Time, label: &Label) {
        self.packets.delivered += 1;
        let content = *self.network.content(label);
        self.network.remove(label);
        let Body::Kept(kept) = content.body else { return };
        let stream = self.streams[self.bundles.stream(kept) as usize];
        let payload = self.bundles.payload(kept);
        if let (Some(flow), true) = (stream.flow, payload > 0) {
            self.data_packets += 1;
            self.books[flow as usize].arrived += Bytes::new(payload);
        }
        let leaving = self.bundles.leave(kept, content.header, label.ecn == Ecn::Marked);
        let side = &mut self.sides[stream.to];
        let joined = side.leaving.as_mut().is_some_and(|last| last.joined(&leaving));
        if !joined {
            self.hand_over_to(stream.to);
            self.sides[stream.to].leaving = Some(leaving);
        }
        self.sides[stream.to].due.push(at);
    }

    fn hand_over(&mut self) {
        (0..self.hosts.len()).for_each(|host| self.hand_over_to(host));
    }

    /// Writes to a host's device what is to leave for it.
    fn hand_over_to(&mut self, host: usize) {
        let side = &mut self.sides[host];
        let Some(leaving) = side.leaving.take() else { return };
        let (tun, fidelity) = (&self.hosts[host].tun, &mut self.fidelity);
        self.bundles.hand_over(leaving, self.dialect.as_ref(), |parts| {
            if tun.write(parts).is_err() {
                fidelity.refused_by_hosts += 1;
            }
        });
        let now = self.clock.now();
        for due in side.due.drain(..) {
            fidelity.left(1, due, now);
        }
    }

    /// Takes what hosts have sent, each in its turn.
    fn take_in(&mut self, now: Time) -> Result<(), Error> {
        for host in 0..self.hosts.len() {
            self.admit_staged(now, host);
            for _ in 0..READS {
                if self.sides[host].waits {
                    break;
                }
                let read = self.hosts[host].tun.read(&mut self.room);
                let Some(len) = read.map_err(|e| {
                    let name = &self.hosts[host].spec.name;
                    Error::new(format!("cannot read from the device of {name}"), "").because(e)
                })?
                else {
                    break;
                };
                let room = std::mem::take(&mut self.room);
                self.enter(now, host, &room[..len]);
                self.room = room;
                self.admit_staged(now, host);
            }
        }
        self.forget_dropped();
        Ok(())
    }

    /// What a host has sent is cut into packets, which wait for room in its queue where its sockets do.
    fn enter(&mut self, now: Time, host: usize, read: &[u8]) {
        let bundle = Bundle::read(read);
        let known = bundle.and_then(|bundle| {
            let number = self.number(host, &bundle.shape.stream)?;
            Some((bundle, number))
        });
        let Some((bundle, number)) = known else {
            self.fidelity.stray += 1;
            return;
        };
        let known = self.streams[number as usize];
        let own = &self.setup.network.links[known.route.first.index()];
        let waits = own.driver.sockets != Sockets::Drop || own.pause.is_some();
        let generation = known.flow.unwrap_or(self.setup.flows.len() as u32 + number);
        let (is_capable, shape) = (packet::ecn(bundle.headers()) != 0, bundle.shape);
        let mut headers = [0; HEADERS_MOST];
        let headers = &mut headers[..shape.headers];
        headers.copy_from_slice(bundle.headers());
        let mut all = std::mem::take(&mut self.entering);
        self.bundles.take_in(bundle, number, &mut all);
        for entering in all.drain(..) {
            let address = Address {
                route: known.route.id,
                size: entering.size,
                flow: number,
                generation,
                ecn: is_capable,
                class: known.class,
            };
            let header = match &self.dialect {
                Some(dialect) if shape.is_tcp() => dialect.read(headers, shape.ip, entering.size),
                _ => Header::None,
            };
            if !waits {
                self.packets.sent += 1;
                self.network.carry(now, &address, header, entering.kept, &mut self.agenda);
            } else {
                self.sides[host].staged.push_back((entering, address, header));
            }
        }
        self.entering = all;
    }

    /// Lets a host's packets into its queue while there is room.
    fn admit_staged(&mut self, now: Time, host: usize) {
        while let Some((entering, address, header)) = self.sides[host].staged.front().copied() {
            let own = self.streams[address.flow as usize].route.first;
            if !self.network.admits(own, entering.size) {
                break;
            }
            self.sides[host].staged.pop_front();
            self.packets.sent += 1;
            self.network.carry(now, &address, header, entering.kept, &mut self.agenda);
        }
        let side = &mut self.sides[host];
        side.waits = !side.staged.is_empty();
    }

    /// The number of a stream from a host; `None` if it leads to no host.
    fn number(&mut self, from: usize, stream: &Stream) -> Option<u32> {
        if let Some(number) = self.numbers.get(stream) {
            return Some(*number);
        }
        let to = *self.by_address.get(&stream.to)?;
        let number = self.streams.len() as u32;
        let nodes = (self.hosts[from].spec.node, self.hosts[to].spec.node);
        let flow = self.flow_of(nodes, stream);
        let spread = flow.map_or(u64::from(number), u64::from);
        let route = self.routes.get(&mut self.network, nodes.0, nodes.1, spread).ok()?;
        let class = flow.map_or(0, |flow| self.setup.flows[flow as usize].transport.class);
        self.streams.push(Known { route, flow, to, class });
        self.numbers.insert(*stream, number);
        Some(number)
    }

    /// The flow whose data a stream carries: by its port, or a program's flow between the same hosts.
    fn flow_of(&self, (from, to): (NodeId, NodeId), stream: &Stream) -> Option<u32> {
        let mut flows = self.setup.flows.iter().enumerate();
        let between = |flow: &FlowSpec| flow.from == from && flow.to == to;
        let is_it = |(n, flow): &(usize, &FlowSpec)| {
            let own = self.flows[*n].is_some();
            between(flow) && (!own || flow::port(*n) == Some(stream.ports[1]))
        };
        flows.find(is_it).map(|(n, _)| n as u32)
    }

    fn sample(&mut self, at: Time) {
        let interval = at.since(self.last_sample);
        self.last_sample = at;
        if interval.is_zero() {
            return;
        }
        for n in 0..self.books.len() {
            self.tell_start_and_end(n, at);
            let sample = self.flow_sample(n, at, interval);
            if self.books[n].started && (n as u32) < self.setup.sampled_flows {
                self.recorder.flow_sample(&sample);
            }
        }
        for i in 0..self.setup.network.links.len() {
            let link = LinkId(i as u32);
            let seen = self.network.observe(at, link, &mut self.agenda);
            let sample = LinkSample::of(link, &self.link_before[i], &seen, at, interval);
            self.recorder.link_sample(&sample);
            self.link_before[i] = seen;
        }
    }

    /// The class of traffic that a flow is of.
    fn class(&self, n: usize) -> Option<usize> {
        let listed = self.setup.flows.len() - self.classes.len();
        n.checked_sub(listed).map(|arrived| self.classes[arrived])
    }

    fn started(&self, n: usize) -> Option<Time> {
        match &self.flows[n] {
            Some(flow) => flow.started(),
            None => (self.books[n].arrived > Bytes::ZERO).then(|| self.setup.flows[n].start),
        }
    }

    fn tell_start_and_end(&mut self, n: usize, at: Time) {
        let spec = &self.setup.flows[n];
        if at < spec.start || spec.stop.is_some_and(|stop| stop <= spec.start) {
            return;
        }
        let flow = FlowId(n as u32);
        if !self.books[n].started {
            self.books[n].started = true;
            self.recorder.flow_started(&FlowStarted {
                flow,
                name: &spec.name,
                from: spec.from,
                to: spec.to,
                law: spec.law,
                at: spec.start,
                traffic: self.class(n),
            });
        }
        let Some(own) = &self.flows[n] else { return };
        let (Some(started), Some(completed)) = (own.started(), own.completed()) else { return };
        if self.books[n].completed {
            return;
        }
        self.books[n].completed = true;
        let size = own.delivered();
        let route = self.routes.get(&mut self.network, spec.from, spec.to, n as u64);
        let headers = spec.transport.headers;
        let mss = spec.transport.packet.saturating_sub(headers);
        let info = own.info().unwrap_or_default();
        self.recorder.flow_completed(&FlowCompleted {
            flow,
            law: spec.law,
            traffic: self.class(n),
            size,
            start: started,
            took: completed.since(started),
            ideal: route
                .map_or(Duration::ZERO, |route| route.ideal(size, mss, headers) + route.delay * 2),
            retransmitted: Bytes::new(info.bytes_retrans),
        });
    }

    fn flow_sample(&mut self, n: usize, at: Time, interval: Duration) -> FlowSample {
        let info = self.flows[n].as_ref().and_then(Flow::info).unwrap_or_default();
        let book = &mut self.books[n];
        let retransmitted = Bytes::new(info.bytes_retrans);
        let srtt = Duration::from_micros(u64::from(info.rtt));
        if !srtt.is_zero() {
            book.rtt_sum += srtt.secs();
            book.rtt_count += 1;
            book.rtt_max = book.rtt_max.max(srtt);
        }
        let packets = |count: u32| Bytes::new(u64::from(count) * u64::from(info.snd_mss));
        let sample = FlowSample {
            at,
            interval,
            flow: FlowId(n as u32),
            delivered: book.arrived - book.sampled_arrived,
            retransmitted: retransmitted.saturating_sub(book.sampled_retransmitted),
            window: packets(info.snd_cwnd),
            in_flight: packets(info.unacked),
            receive_window: Bytes::new(u64::from(info.snd_wnd)),
            srtt,
            rtt: srtt,
            pacing: (info.pacing_rate != u64::MAX && info.pacing_rate > 0)
                .then(|| Throughput::new(info.pacing_rate as f64)),
        };
        book.sampled_arrived = book.arrived;
        book.sampled_retransmitted = book.sampled_retransmitted.max(retransmitted);
        sample
    }

    /// What the run has come to.
    pub(crate) fn finish(mut self) -> Result<(Outcome, Fidelity), Error> {
        let end = self.end;
        self.sample(end);
        self.network.look_for_deadlocks(end);
        for host in self.hosts {
            self.fidelity.refused_by_devices += host.device_drops()?;
        }
        let flows = (0..self.setup.flows.len()).map(|n| self.flow_outcome(n)).collect();
        let mut links = Vec::new();
        for i in 0..self.setup.network.links.len() as u32 {
            let seen = self.network.observe(end, LinkId(i), &mut self.agenda);
            links.push(LinkOutcome::of(LinkId(i), &seen, end));
        }
        self.packets.dropped = links.iter().map(|link| link.drops.total()).sum();
        self.packets.in_flight = self.network.in_flight();
        let p = self.packets;
        if p.sent != p.delivered + p.dropped + p.in_flight
            || self.network.unbalanced_link().is_some()
        {
            return Err(Error::new(
                format!("packets are not conserved: {p:?}"),
                "please report it",
            ));
        }
        let outcome = Outcome {
            flows,
            links,
            packets: p,
            events: self.events,
            data_packets_delivered: self.data_packets,
            ended: end,
            deadlock: self.network.deadlock().cloned(),
            overlay: None,
        };
        Ok((outcome, self.fidelity))
    }

    fn flow_outcome(&self, n: usize) -> FlowOutcome {
        let (spec, book) = (&self.setup.flows[n], &self.books[n]);
        let own = self.flows[n].as_ref();
        let info = own.and_then(Flow::info).unwrap_or_default();
        let known = book.rtt_count > 0;
        FlowOutcome {
            flow: FlowId(n as u32),
            name: spec.name.clone(),
            from: spec.from,
            to: spec.to,
            law: spec.law,
            traffic: self.class(n),
            started: self.started(n),
            completed: own.and_then(Flow::completed),
            delivered: own.map_or(book.arrived, Flow::delivered),
            retransmitted: Bytes::new(info.bytes_retrans),
            retransmitted_packets: u64::from(info.total_retrans),
            timeouts: 0,
            refused: 0,
            min_rtt: known.then(|| Duration::from_micros(u64::from(info.min_rtt))),
            max_rtt: known.then_some(book.rtt_max),
            mean_rtt: known.then(|| Duration::from_secs_f64(book.rtt_sum / book.rtt_count as f64)),
            clamps: self.network.clamps(n as u32),
        }
    }
}
