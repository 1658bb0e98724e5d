//! The network between the hosts, driven by the clock.

mod cuts;
mod round_trips;
mod samples;
mod streams;

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use nix::sys::epoll::EpollFlags;
use ratewire_laws::Header;
use ratewire_net::spec::{NodeId, Sockets};
use ratewire_net::{Address, Body, Ecn, Label, Network, Observation};
use ratewire_sim::delays::AllDelays;
use ratewire_sim::outcome::{Outcome, PacketCounts};
use ratewire_sim::record::Progress;
use ratewire_sim::routes::RouteTable;
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use crate::acp::{self, AtPort};
use crate::agenda::Agenda;
use crate::bundle::{Bundle, Bundles, Entering, HEADERS_MOST, Leaving};
use crate::clock::Clock;
use crate::dialect::Dialects;
use crate::fidelity::Fidelity;
use crate::flow::{Answers, Asking, Flow};
use crate::handoff::Reporter;
use crate::host::Host;
use crate::packet::{self, Stream};
use crate::program::Program;
use crate::readiness::Readiness;
use crate::tun::MOST;
use crate::{Error, sys};
use cuts::Cuts;
use round_trips::RoundTrips;
use samples::{FlowCounts, Reporting};
use streams::{Known, Passed};

/// Events closer together than this are handled together: a wake for each packet would take longer
/// than the packets, and from 1 Gbit/s on all the time there is.
const TOGETHER: Duration = Duration::from_micros(50);
/// Bundles read from a host before others have their turn.
const READS: usize = 8;
/// Time between checks of a shell and reports of progress.
const GLANCE: Duration = Duration::from_millis(50);

/// A host, from the network's side.
#[derive(Debug, Default)]
struct Side {
    /// Packets of the last bundle for which its own queue has no room yet.
    staged: VecDeque<(Entering, Address, Header)>,
    /// Whether its sockets block while its queue is full, so that no more is read.
    waits: bool,
    /// Packets that leave the network for it, and the times at which each was due.
    leaving: Option<Leaving>,
    due: Vec<Time>,
    /// Whether the host is in the world's list of hosts with leaving packets.
    is_listed: bool,
}

/// The network, its hosts, and what is recorded of them.
pub(crate) struct World<'a> {
    setup: &'a Setup,
    /// Classes of traffic of the last flows.
    classes: &'a [usize],
    hosts: &'a [Host],
    flows: &'a [Option<Flow>],
    reporter: Reporter<'a>,
    clock: Clock,
    end: Time,
    network: Network,
    routes: RouteTable,
    agenda: Agenda,
    bundles: Bundles,
    dialects: Dialects,
    by_address: BTreeMap<Ipv4Addr, usize>,
    numbers: BTreeMap<Stream, u32>,
    streams: Vec<Known>,
    passed: Vec<Passed>,
    round_trips: RoundTrips,
    delays: AllDelays,
    /// Flows of programs by the nodes of their ends; between the same two, the first in the
    /// scenario.
    of_programs: BTreeMap<(NodeId, NodeId), u32>,
    /// Connections of ACP by port.
    acp: BTreeMap<u16, AtPort>,
    sides: Vec<Side>,
    readiness: Readiness,
    /// Hosts with something to read at the last check.
    ready: Vec<usize>,
    /// Hosts whose sockets block.
    waiting: Vec<usize>,
    /// Hosts with leaving packets.
    taking: Vec<usize>,
    counts: Vec<FlowCounts>,
    /// Number of flows that are reported, from the first on.
    reported_flows: usize,
    link_before: Vec<Observation>,
    last_sample: Time,
    /// Asks kernels about flows while the network runs.
    asking: Option<Asking>,
    answers: Answers,
    /// The sample whose flows are still to be reported.
    reporting: Option<Reporting>,
    /// Future changes of links, the next one last.
    changes: Vec<usize>,
    cuts: Cuts,
    packets: PacketCounts,
    data_packets: u64,
    events: u64,
    fidelity: Fidelity,
    /// Buffer for what is read.
    room: Vec<u8>,
    entering: Vec<Entering>,
}

impl<'a> World<'a> {
    /// A world for a setup without arriving traffic; `classes` are those of its last flows.
    pub(crate) fn new(
        setup: &'a Setup,
        classes: &'a [usize],
        hosts: &'a [Host],
        flows: &'a [Option<Flow>],
        dialects: Dialects,
        clock: Clock,
        reporter: Reporter<'a>,
    ) -> Result<World<'a>, Error> {
        let network = Network::new(&setup.network, &setup.laws, false, setup.seed);
        let wrong = |e: ratewire_sim::SetupError| Error::new(e.to_string(), "");
        let routes = RouteTable::new(setup).map_err(wrong)?;
        let mut changes: Vec<usize> = (0..setup.changes.len()).collect();
        changes.sort_by_key(|i| std::cmp::Reverse(setup.changes[*i].0));
        let readiness = Readiness::new(hosts.len()).and_then(|readiness| {
            for (n, host) in hosts.iter().enumerate() {
                readiness.add(&host.tun, n as u64, EpollFlags::EPOLLIN)?;
            }
            Ok(readiness)
        });
        let readiness = readiness.map_err(cannot_wait)?;
        let fidelity = Fidelity {
            offloads: hosts.iter().all(|host| host.tun.offloads),
            ..Fidelity::default()
        };
        Ok(World {
            setup,
            classes,
            hosts,
            flows,
            reporter,
            clock,
            end: Time::ZERO + setup.duration,
            network,
            routes,
            agenda: Agenda::default(),
            bundles: Bundles::default(),
            dialects,
            by_address: hosts.iter().enumerate().map(|(i, h)| (h.spec.address, i)).collect(),
            numbers: BTreeMap::new(),
            streams: Vec::new(),
            passed: Vec::new(),
            round_trips: RoundTrips::default(),
            delays: AllDelays::new(setup.measured, setup.flows.len() - classes.len()),
            of_programs: streams::of_programs(setup, flows),
            acp: acp::by_port(setup),
            sides: hosts.iter().map(|_| Side::default()).collect(),
            readiness,
            ready: Vec::new(),
            waiting: Vec::new(),
            taking: Vec::new(),
            counts: vec![FlowCounts::default(); setup.flows.len()],
            reported_flows: setup.flows.len(),
            link_before: vec![Observation::default(); setup.network.links.len()],
            last_sample: Time::ZERO,
            asking: None,
            answers: Answers::default(),
            reporting: None,
            changes,
            cuts: Cuts::new(setup),
            packets: PacketCounts::default(),
            data_packets: 0,
            events: 0,
            fidelity,
            room: vec![0; MOST],
            entering: Vec::new(),
        })
    }

    /// Reports no flows: packets are only read and routed by the flows between their hosts.
    pub(crate) fn report_no_flows(&mut self) {
        self.reported_flows = 0;
        self.classes = &[];
    }

    /// Runs to the `end`, or until the shell is left or the recorder breaks; returns the result.
    pub(crate) fn run(
        mut self,
        shell: Option<&mut Program>,
        end: Time,
    ) -> Result<(Outcome, Fidelity), Error> {
        self.end = end;
        self.start_asking()?;
        self.fidelity.real_time = sys::be_real_time().is_ok();
        let ran = self.go_on(shell);
        sys::be_ordinary();
        ran?;
        self.finish()
    }

    fn go_on(&mut self, mut shell: Option<&mut Program>) -> Result<(), Error> {
        let mut glance = Time::ZERO + GLANCE;
        let mut looked = self.clock.now();
        loop {
            let now = self.clock.now().min(self.end);
            self.catch_up(now);
            self.hand_over();
            if now >= self.end {
                return Ok(());
            }
            // A packet read now was not sent before the last check: it must not enter the network
            // in the past.
            let now = self.clock.now().min(self.end);
            self.catch_up(now);
            self.take_in(now)?;
            self.hand_over();
            self.report_some();
            let absence = self.clock.now().since(looked);
            self.fidelity.longest_absence = self.fidelity.longest_absence.max(absence);
            if now >= glance {
                if shell.as_mut().is_some_and(|shell| shell.ended().is_some()) {
                    self.end = now;
                }
                let packets = self.network.in_flight();
                let flows = self.flows.len() as u64;
                if self.reporter.progress(Progress { now, packets, flows }).is_break() {
                    self.end = now;
                }
                glance = now + GLANCE;
            }
            std::thread::sleep(self.clock.until(now + TOGETHER));
            let next = self.next_due().min(glance).min(self.end);
            looked = self.wait(next)?;
        }
    }

    fn next_due(&self) -> Time {
        let change = self.changes.last().map_or(Time::NEVER, |i| self.setup.changes[*i].0);
        self.agenda.next().min(self.next_sample()).min(change).min(self.cuts.next())
    }

    fn next_sample(&self) -> Time {
        match self.setup.sample_interval {
            Some(interval) if !interval.is_zero() => self.last_sample + interval,
            _ => Time::NEVER,
        }
    }

    /// Waits until something is due or a host has sent something; returns the time of that, as well
    /// as it can be known.
    fn wait(&mut self, until: Time) -> Result<Time, Error> {
        let ready = self.readiness.wait(self.clock.until(until)).map_err(cannot_wait)?;
        self.ready.clear();
        self.ready.extend(ready.map(|host| host as usize));
        let now = self.clock.now();
        Ok(if self.ready.is_empty() { now.min(until) } else { now })
    }

    /// Handles everything due, each event at its own time.
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
            } else if self.cuts.next() == due {
                self.cuts.change();
            } else if let Some((at, link)) = self.agenda.pop(now) {
                self.events += 1;
                let arrived = self.network.on_event(at, link, &mut self.agenda);
                let copied = self.network.news().take_copied();
                copied.into_iter().for_each(|kept| self.bundles.copy(kept));
                if let Some(label) = arrived {
                    self.arrive(at, &label);
                }
            }
            self.forget_dropped(due);
        }
    }

    fn forget_dropped(&mut self, at: Time) {
        // The room is checked before each packet.
        drop(self.network.news().take_unblocked());
        for kept in self.network.news().take_dropped() {
            self.note_dropped(at, kept);
            self.bundles.drop(kept);
        }
    }

    /// Takes a packet that has reached its host.
    fn arrive(&mut self, at: Time, label: &Label) {
        self.packets.delivered += 1;
        let content = *self.network.content(label);
        self.network.remove(label);
        let Body::Kept(kept) = content.body else { return };
        let number = self.bundles.stream(kept);
        let stream = self.streams[number as usize];
        self.note_arrived(at, number, kept);
        let (marked, routers) = (label.ecn == Ecn::Marked, stream.route.routers);
        let leaving = self.bundles.leave(kept, content.header, marked, routers);
        let side = &mut self.sides[stream.to];
        let joined = side.leaving.as_mut().is_some_and(|last| last.joined(&leaving));
        if !joined {
            self.hand_over_to(stream.to);
            self.sides[stream.to].leaving = Some(leaving);
        }
        let side = &mut self.sides[stream.to];
        side.due.push(at);
        if !std::mem::replace(&mut side.is_listed, true) {
            self.taking.push(stream.to);
        }
    }

    fn hand_over(&mut self) {
        while let Some(host) = self.taking.pop() {
            self.sides[host].is_listed = false;
            self.hand_over_to(host);
        }
    }

    /// Writes a host's leaving packets to its device.
    fn hand_over_to(&mut self, host: usize) {
        let side = &mut self.sides[host];
        let Some(leaving) = side.leaving.take() else { return };
        let (tun, fidelity) = (&self.hosts[host].tun, &mut self.fidelity);
        self.bundles.hand_over(leaving, &self.dialects, |parts| {
            if tun.write(parts).is_err() {
                fidelity.refused_by_hosts += 1;
            }
        });
        let now = self.clock.now();
        for due in side.due.drain(..) {
            fidelity.packets.note(due, now);
        }
    }

    /// Reads what hosts have sent, each in turn.
    fn take_in(&mut self, now: Time) -> Result<(), Error> {
        for host in std::mem::take(&mut self.waiting) {
            self.admit_staged(now, host)?;
        }
        let ready = std::mem::take(&mut self.ready);
        for host in ready.iter().copied() {
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
                if !self.sides[host].staged.is_empty() {
                    self.admit_staged(now, host)?;
                }
            }
        }
        // Keeps the buffer.
        self.ready = ready;
        self.forget_dropped(now);
        Ok(())
    }

    /// Cuts what a host has sent into packets. If the host's sockets block, the packets wait for
    /// room in its queue.
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
        let ends = [host, known.to].map(|host| self.hosts[host].spec.node);
        if self.cuts.holds(ends, &bundle.shape.stream) {
            return;
        }
        if !packet::outlives(bundle.clear(), known.route.routers) {
            self.fidelity.expired += 1;
            return;
        }
        let own = &self.setup.network.links[known.route.first.index()];
        let waits = own.driver.sockets != Sockets::Drop || own.pause.is_some();
        let generation = known.flow.unwrap_or(self.setup.flows.len() as u32 + number);
        let (codepoint, shape) = (packet::ecn(bundle.clear()), bundle.shape);
        let ecn = match codepoint {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Scalable,
            _ => Ecn::Capable,
        };
        let mut headers = [0; HEADERS_MOST];
        let headers = &mut headers[..shape.clear];
        headers.copy_from_slice(bundle.clear());
        let mut all = std::mem::take(&mut self.entering);
        self.bundles.take_in(bundle, number, &mut all);
        for entering in all.drain(..) {
            self.note_sent(now, number, entering.kept);
            let address = Address {
                route: known.route.id,
                size: entering.size,
                flow: number,
                generation,
                ecn,
                class: known.class,
                processing: Duration::ZERO,
            };
            let header = self.dialects.read(known.dialect, headers, shape.ip, entering.size);
            self.fidelity.unread += u64::from(header.is_none());
            let header = header.unwrap_or_default();
            if !waits {
                self.packets.sent += 1;
                self.network.carry(now, &address, header, entering.kept, &mut self.agenda);
            } else {
                self.sides[host].staged.push_back((entering, address, header));
            }
        }
        self.entering = all;
    }

    /// Lets a host's packets into its queue while there is room. From a host with more, nothing is
    /// read meanwhile.
    fn admit_staged(&mut self, now: Time, host: usize) -> Result<(), Error> {
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
        let waits = !side.staged.is_empty();
        if waits {
            self.waiting.push(host);
        }
        if std::mem::replace(&mut side.waits, waits) != waits {
            let interest = if waits { EpollFlags::empty() } else { EpollFlags::EPOLLIN };
            let tun = &self.hosts[host].tun;
            self.readiness.change(tun, host as u64, interest).map_err(cannot_wait)?;
        }
        Ok(())
    }
}

fn cannot_wait(e: std::io::Error) -> Error {
    Error::new("cannot wait for the hosts", "").because(e)
}
