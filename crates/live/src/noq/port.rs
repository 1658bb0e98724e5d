//! A running port: what it does from its start to its end.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use ratewire_backpressure::gate::Gate;
use ratewire_units::{Bytes, Duration, Time};

use super::control::Listeners;
use super::hold::{self, Holder};
use super::line::Line;
use super::neighbour::Downstream;
use super::qdisc::{Counters, TrafficControl, root};
use super::status::Status;
use super::{Event, Spec};
use crate::clock::monotonic;
use crate::{Error, router};

/// Most pauses that are read before the queue is held: others may send without end.
const MOST_AT_ONCE: usize = 64;
/// Time without a departure after which a queue that is held stands still: a queue that drains
/// lets its upstream go after as long as its bytes take, which is milliseconds.
const STANDSTILL: Duration = Duration::from_secs(1);

/// A running port.
pub(super) struct Port {
    control: TrafficControl,
    ifindex: u32,
    lines: Vec<Line>,
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

/// Time from one reading of the clock to a later one.
fn passed(from: u64, to: u64) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}

impl Port {
    pub(super) fn open(spec: &Spec, ifindex: u32) -> Result<Port, Error> {
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
        let lines = Line::all(spec)?;
        let all = control.all(ifindex).map_err(no_kernel)?;
        let room = spec.downstream.is_some().then_some(spec.room);
        lines.iter().try_for_each(|line| line.check(&spec.iface, &all, room))?;
        let downstream = spec.downstream.as_ref();
        let downstream = downstream.map(|of| Downstream::open(of, &spec.iface, spec.rate));
        let downstream = downstream.transpose()?;
        let limit = u32::try_from(spec.room.get()).unwrap_or(u32::MAX);
        let hold = downstream.map(|downstream| {
            let holder = Holder::attach(&mut control, ifindex, &spec.iface, limit)?;
            Ok(Hold { downstream, holder, gate: Gate::default(), is_closed: false })
        });
        let hold = hold.transpose()?;
        let looked = control.root(ifindex).and_then(|root| Ok((root, monotonic()?)));
        let (Counters { drops, sent, .. }, start) = looked.map_err(|e| {
            // The first error is the one to report.
            let _ = hold.as_ref().map(|hold: &Hold| hold.holder.remove(&mut control));
            no_kernel(e)
        })?;
        let upstream = lines.iter().flat_map(Line::names).collect();
        let iface = spec.iface.clone();
        let status = Status { iface, upstream, obeys: hold.is_some(), ..Status::default() };
        Ok(Port {
            control,
            ifindex,
            lines,
            hold,
            status,
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
    pub(super) fn serve(
        &mut self,
        listeners: &Listeners,
        enough: BorrowedFd<'_>,
        tell: &mut impl FnMut(Event<'_>),
    ) -> io::Result<Option<UnixStream>> {
        let mut was_stuck = false;
        loop {
            self.obey()?;
            self.look()?;
            let is_stuck = !self.status.standing.is_zero();
            if is_stuck != was_stuck {
                tell(if is_stuck { Event::Stuck(&self.status) } else { Event::Freed });
                was_stuck = is_stuck;
            }
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
            self.status.held_by = hold.downstream.name().filter(|_| is_closed);
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

    /// Looks at the queues, and tells neighbours.
    fn look(&mut self) -> io::Result<()> {
        let now = self.now()?;
        let all = self.control.all(self.ifindex)?;
        let counters = root(&all).ok_or(io::ErrorKind::NotFound)?.counters;
        self.looked = now;
        for line in &mut self.lines {
            let told = line.look(now, &all);
            self.status.pauses_sent += u64::from(told.has_paused);
            self.status.told += told.sent;
            self.status.untold += told.failed;
        }
        let waiting = Bytes::new(counters.bytes_waiting.into());
        if counters.sent != self.sent || waiting == Bytes::ZERO {
            (self.sent, self.moved) = (counters.sent, now);
        }
        let still = now.since(self.moved);
        let is_stuck = self.status.is_held && still >= STANDSTILL;
        self.status.standing = if is_stuck { still } else { Duration::ZERO };
        self.status.waiting = waiting;
        self.status.drops = counters.drops.wrapping_sub(self.drops).into();
        self.status.is_pausing = self.lines.iter().any(Line::has_paused);
        Ok(())
    }

    /// Waits until there is something to do; returns whether to end.
    fn wait(&self, listeners: &Listeners, enough: BorrowedFd<'_>) -> io::Result<bool> {
        // Without neighbours to pause, the looks are for the status alone.
        let respite = self.lines.iter().map(Line::respite).min().unwrap_or(STANDSTILL);
        let mut due = self.looked + respite;
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
    pub(super) fn close(mut self) -> io::Result<()> {
        self.lines.iter_mut().for_each(Line::close);
        self.hold.map_or(Ok(()), |hold| hold.holder.remove(&mut self.control))
    }
}
