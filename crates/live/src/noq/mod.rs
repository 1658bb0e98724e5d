//! A port of a network of queues: it pauses its upstream when its queue is long, and holds its
//! queue when its downstream pauses it (Herbert and Primet, section IV).
//!
//! Both parts are of one egress. The first watches the backlog of the egress and pauses neighbours
//! at other interfaces. The second obeys pauses that arrive at the egress itself, for a card that
//! does not. A program runs for as long as the port does: a kernel's programs can drop a packet but
//! not hold one, and cannot send a frame of their own.

mod control;
mod hold;
mod neighbour;
mod qdisc;
mod status;

use std::io;
use std::os::fd::BorrowedFd;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use ratewire_backpressure::gate::Gate;
pub use ratewire_backpressure::messages::PORT;
use ratewire_backpressure::watch::{PauseSignal, Thresholds, Watch};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::{Error, pins, router};
use control::{Listeners, Request};
use hold::Holder;
pub use neighbour::Neighbour;
use neighbour::{Downstream, Upstream};
use qdisc::{Counters, TrafficControl};
pub use status::Status;

/// A port to run.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Name of the egress.
    pub iface: String,
    /// Neighbours to pause while the queue of the egress is long.
    pub upstream: Vec<Neighbour>,
    /// Neighbour whose pauses are obeyed; `None` if the card does it, or nobody pauses.
    pub downstream: Option<Neighbour>,
    /// Backlog above which neighbours are paused.
    pub xoff: Bytes,
    /// Backlog at which they resume; not above `xoff`.
    pub xon: Bytes,
    /// Most bytes that are held where the interface has no limit of its own.
    pub room: Bytes,
    /// Rate of links, in whose bit times frames count; `None` for the speed of each interface.
    pub rate: Option<Rate>,
}

/// Time from one look at the backlog to the next.
const PERIOD: Duration = Duration::from_micros(200);
/// Most pauses that are read before the queue is held: others may send without end.
const MOST_AT_ONCE: usize = 64;
/// Time without a departure after which a queue stands still.
const STANDSTILL: Duration = Duration::from_secs(1);

/// Runs a port until `enough` can be read or [`detach`] asks it to end. The interface is then as
/// before, and neighbours are let go. `started` is called once the port works.
///
/// # Errors
/// If a port runs there already, a neighbour cannot be reached in its way, the interface's own
/// queueing discipline cannot be held, or the kernel no longer answers.
pub fn run(spec: &Spec, enough: BorrowedFd<'_>, started: impl FnOnce()) -> Result<(), Error> {
    pins::check_rights()?;
    let ifindex = router::index(&spec.iface)?;
    let listeners = Listeners::open(ifindex).map_err(|e| taken(&spec.iface, &e))?;
    let mut port = Port::open(spec, ifindex)?;
    started();
    let ended = port.serve(&listeners, enough);
    // The connection that asked for the end closes only when everything is restored.
    let (asker, failed) = match ended {
        Ok(asker) => (asker, None),
        Err(e) => (None, Some(e)),
    };
    let restored = port.close();
    drop(asker);
    match failed {
        Some(e) => Err(stopped(&spec.iface).because(e)),
        None => restored.map_err(|e| stopped(&spec.iface).because(e)),
    }
}

fn taken(iface: &str, why: &io::Error) -> Error {
    match why.kind() {
        io::ErrorKind::AddrInUse => Error::new(
            format!("a port of noq at {iface} runs already"),
            format!("end it first: ratewire live detach --iface {iface}"),
        ),
        _ => Error::new(format!("a port at {iface} cannot be asked"), "").because(why),
    }
}

fn stopped(iface: &str) -> Error {
    let remedy = format!("`tc qdisc show dev {iface}` shows what is there; start it again");
    Error::new(format!("the port at {iface} has ended"), remedy)
}

/// A running port.
struct Port {
    control: TrafficControl,
    ifindex: u32,
    upstream: Vec<Upstream>,
    watch: Watch,
    hold: Option<Hold>,
    status: Status,
    /// Drops before the start.
    drops: u32,
    /// Bytes that had left at the last look, and when they changed.
    sent: u64,
    moved: Time,
    looked: Time,
    /// When the port started, in nanoseconds of the machine's monotonic clock.
    start: u64,
}

/// An egress that obeys pauses.
struct Hold {
    downstream: Downstream,
    holder: Holder,
    gate: Gate,
    is_closed: bool,
}

/// Nanoseconds of the monotonic clock. Picoseconds since the machine's start would not fit 64 bits
/// after 213 days.
fn monotonic() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok((now.tv_sec() * 1_000_000_000 + now.tv_nsec()).unsigned_abs())
}

/// Time from one reading of the clock to a later one.
fn passed(from: u64, to: u64) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}

impl Port {
    fn open(spec: &Spec, ifindex: u32) -> Result<Port, Error> {
        let no_kernel = |e: io::Error| {
            let remedy = "is the interface up? `tc qdisc` asks the same";
            Error::new(format!("the kernel tells of no queue at {}", spec.iface), remedy).because(e)
        };
        let mut control = TrafficControl::open().map_err(no_kernel)?;
        // What a killed program left would count as somebody's own.
        hold::remove_left(&mut control, ifindex).map_err(no_kernel)?;
        if spec.downstream.is_none() {
            router::check_queue(&spec.iface)?;
        }
        let upstream = spec.upstream.iter().map(|neighbour| Upstream::open(neighbour, spec.rate));
        let upstream = upstream.collect::<Result<Vec<_>, _>>()?;
        let downstream = spec.downstream.as_ref();
        let downstream = downstream.map(|of| Downstream::open(of, &spec.iface, spec.rate));
        let downstream = downstream.transpose()?;
        let limit = u32::try_from(spec.room.get()).unwrap_or(u32::MAX);
        let hold = downstream.map(|downstream| {
            let holder = Holder::attach(&mut control, ifindex, &spec.iface, limit)?;
            Ok(Hold { downstream, holder, gate: Gate::default(), is_closed: false })
        });
        let hold = hold.transpose()?;
        // Half of the shortest pause that a neighbour can be told.
        let shortest = upstream.iter().map(|one| one.longest).min().unwrap_or(Duration::MAX);
        let thresholds = Thresholds {
            xoff: spec.xoff,
            xon: spec.xon,
            refresh: Duration::from_ps(shortest.ps() / 2),
            room: spec.room,
        };
        let looked = control.root(ifindex).and_then(|root| Ok((root, monotonic()?)));
        let (Counters { drops, sent, .. }, start) = looked.map_err(|e| {
            // The first error is the one to report.
            let _ = hold.as_ref().map(|hold: &Hold| hold.holder.remove(&mut control));
            no_kernel(e)
        })?;
        Ok(Port {
            control,
            ifindex,
            upstream,
            watch: Watch::new(thresholds),
            hold,
            status: Status::default(),
            drops,
            sent,
            moved: Time::ZERO,
            looked: Time::ZERO,
            start,
        })
    }

    fn now(&self) -> io::Result<Time> {
        Ok(Time::ZERO + passed(self.start, monotonic()?))
    }

    /// Works until it is asked to end, and returns the connection of whoever asked by one.
    fn serve(
        &mut self,
        listeners: &Listeners,
        enough: BorrowedFd<'_>,
    ) -> io::Result<Option<std::os::unix::net::UnixStream>> {
        loop {
            self.obey()?;
            self.look()?;
            let status = || self.status.encode();
            listeners.answer(status);
            if let Some(asker) = listeners.asked_to_end() {
                return Ok(Some(asker));
            }
            if self.wait(listeners, enough)? {
                return Ok(None);
            }
        }
    }

    /// Obeys pauses that have arrived, and the end of one.
    fn obey(&mut self) -> io::Result<()> {
        let now = self.now()?;
        let Some(hold) = &mut self.hold else { return Ok(()) };
        let mut first = None;
        let before = monotonic()?;
        for _ in 0..MOST_AT_ONCE {
            let Some(arrived) = hold.downstream.receive(now)? else { break };
            match arrived {
                Some(arrived) => {
                    hold.gate.obey_for(now, arrived.pause);
                    self.status.obeyed += 1;
                    first = first.or(Some(arrived).filter(|arrived| !arrived.pause.is_zero()));
                }
                None => self.status.refused += 1,
            }
        }
        let is_closed = !hold.gate.is_open(now, 0);
        if is_closed != hold.is_closed {
            if !is_closed {
                let held = self.control.root(self.ifindex)?.packets_waiting;
                self.status.packets_held += u64::from(held);
            }
            hold.holder.set(&mut self.control, is_closed)?;
            hold.is_closed = is_closed;
            match first {
                Some(arrived) if is_closed => {
                    let lateness = arrived.since + passed(before, monotonic()?);
                    self.status.timed += 1;
                    self.status.late += lateness;
                    self.status.latest = self.status.latest.max(lateness);
                }
                _ => {}
            }
            // If it is lost, the next packet of others has the same effect.
            if !is_closed && hold.downstream.kick().is_err() {
                self.status.untold += 1;
            }
        }
        self.status.is_held = is_closed;
        self.status.pauses_obeyed = hold.gate.pauses();
        self.status.held = hold.gate.paused(now);
        Ok(())
    }

    /// Looks at the backlog, and tells neighbours.
    fn look(&mut self) -> io::Result<()> {
        let now = self.now()?;
        let counters = self.control.root(self.ifindex)?;
        self.looked = now;
        let (held, waiting) = (self.watch.held(), Bytes::new(counters.bytes_waiting.into()));
        let signal = match waiting > held {
            true => self.watch.add(now, waiting.saturating_sub(held)),
            false => self.watch.remove(held.saturating_sub(waiting)),
        };
        if let Some(signal) = signal.or_else(|| self.watch.refresh(now)) {
            self.tell(signal);
        }
        if counters.sent != self.sent || waiting == Bytes::ZERO {
            (self.sent, self.moved) = (counters.sent, now);
        }
        let still = now.since(self.moved);
        let is_ring = self.status.is_held && self.watch.has_stopped() && still >= STANDSTILL;
        self.status.standing = if is_ring { still } else { Duration::ZERO };
        self.status.waiting = waiting;
        self.status.drops = counters.drops.wrapping_sub(self.drops).into();
        self.status.is_pausing = self.watch.has_stopped();
        Ok(())
    }

    fn tell(&mut self, signal: PauseSignal) {
        let is_paused = signal == PauseSignal::Stop;
        self.status.pauses_sent += u64::from(is_paused && !self.status.is_pausing);
        for upstream in &mut self.upstream {
            // Neighbours come and go; a pause is told again.
            match upstream.tell(is_paused) {
                Ok(()) => self.status.told += 1,
                Err(_) => self.status.untold += 1,
            }
        }
    }

    /// Waits until there is something to do; returns whether to end.
    fn wait(&self, listeners: &Listeners, enough: BorrowedFd<'_>) -> io::Result<bool> {
        let mut due = match self.upstream.is_empty() {
            // The status is to be of now, and the port may cost less.
            true => self.looked + STANDSTILL,
            false => self.looked + PERIOD,
        };
        if let Some(hold) = self.hold.as_ref().filter(|hold| hold.is_closed) {
            due = due.min(hold.gate.next_opening(self.now()?));
        }
        let left = due.since(self.now()?.min(due)).to_std();
        let readable = |socket| PollFd::new(socket, PollFlags::POLLIN);
        let [status, end] = listeners.sockets();
        let mut wait = vec![readable(enough), readable(status), readable(end)];
        wait.extend(self.hold.as_ref().map(|hold| readable(hold.downstream.socket())));
        match ppoll(&mut wait, Some(TimeSpec::from_duration(left)), None) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(wait[0].any().unwrap_or(false))
    }

    /// Lets neighbours and the queue go, and takes away what was put there.
    fn close(mut self) -> io::Result<()> {
        if self.watch.has_stopped() {
            self.tell(PauseSignal::Go);
        }
        self.hold.map_or(Ok(()), |hold| hold.holder.remove(&mut self.control))
    }
}

/// Ports that run in this network namespace.
///
/// # Errors
/// If the interfaces cannot be listed.
pub fn status() -> Result<Vec<Status>, Error> {
    let one = |(ifindex, iface): (u32, String)| {
        let answer = control::ask(ifindex, Request::Status).ok()??;
        Status::decode(iface, &answer)
    };
    Ok(router::interfaces()?.into_iter().filter_map(one).collect())
}

/// Interfaces of this network namespace whose queue a killed program may still hold.
///
/// # Errors
/// If the interfaces or their queueing disciplines cannot be listed.
pub fn halfway() -> Result<Vec<String>, Error> {
    let mut control = TrafficControl::open().map_err(|e| cannot_detach().because(e))?;
    let mut left = Vec::new();
    for (ifindex, iface) in router::interfaces()? {
        let all = control.all(ifindex).map_err(|e| cannot_detach().because(e))?;
        if hold::left(&all).is_some() && matches!(control::ask(ifindex, Request::Status), Ok(None))
        {
            left.push(iface);
        }
    }
    Ok(left)
}

/// Lets the queue of an interface go whose port was killed while it held it; leaves that of a
/// running port.
///
/// # Errors
/// If there is no such interface, or the kernel refuses.
pub fn let_go(iface: &str) -> Result<(), Error> {
    let ifindex = router::index(iface)?;
    if matches!(control::ask(ifindex, Request::Status), Ok(Some(_))) {
        return Ok(());
    }
    let mut control = TrafficControl::open().map_err(|e| cannot_detach().because(e))?;
    let removed = hold::remove_left(&mut control, ifindex);
    removed.map(drop).map_err(|e| cannot_detach().because(e))
}

/// Ends the ports of this network namespace, or one, and takes away what a killed one left; returns
/// the interfaces.
///
/// # Errors
/// If a port does not end, or the kernel refuses.
pub fn detach(only: Option<&str>) -> Result<Vec<String>, Error> {
    let mut detached = Vec::new();
    let mut control = TrafficControl::open().map_err(|e| cannot_detach().because(e))?;
    for (ifindex, iface) in router::interfaces()? {
        if only.is_some_and(|only| only != iface) {
            continue;
        }
        let ended = control::ask(ifindex, Request::End).map_err(|e| cannot_detach().because(e))?;
        let removed = hold::remove_left(&mut control, ifindex);
        if removed.map_err(|e| cannot_detach().because(e))? || ended.is_some() {
            detached.push(iface);
        }
    }
    Ok(detached)
}

fn cannot_detach() -> Error {
    Error::new("a port of noq cannot be ended", "`tc qdisc` shows whose queue is held")
}
