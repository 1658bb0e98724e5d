//! The sending application of a flow, in steps between which it waits for its socket or a time.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nix::sys::epoll::EpollFlags;
use ratewire_sim::setup::FlowSpec;
use ratewire_transport::{Draws, PauseAfter, Phase, Writer};
use ratewire_units::{Bytes, Time};
use socket2::{SockAddr, Socket};

use super::io_context::IoContext;
use super::{FlowStatus, SMALL_CHUNK, Then};
use crate::sys;

/// The sending application of one flow.
#[derive(Debug)]
pub(super) struct Sending {
    status: Arc<FlowStatus>,
    /// The socket before the flow starts.
    socket: Option<Socket>,
    to: SocketAddrV4,
    start: Time,
    stop: Time,
    /// What is written now: in a phase, as that one says.
    writer: Writer,
    /// Phases to come, the next one last.
    later: Vec<Phase>,
    /// When the current phase ends.
    until: Time,
    /// Bytes of earlier phases that the socket has not taken yet.
    carried: u64,
    draws: Draws,
    frame: Bytes,
    stage: Stage,
    /// Bursts still to be written, the current one included.
    bursts: u64,
    /// Time of the next burst or frame.
    next: Time,
}

/// State of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The flow has not started.
    Waiting,
    /// The connection is being opened.
    Connecting,
    /// This many bytes of the current burst or frame are still to be written.
    Writing(u64),
    /// The burst is written, and its pause has not begun.
    Draining,
    /// The next burst or frame is not due.
    Pausing,
    /// The application has closed its end.
    Over,
}

impl Sending {
    /// The application of a flow, in a run with this seed.
    pub(super) fn new(
        status: Arc<FlowStatus>,
        socket: Socket,
        to: SocketAddrV4,
        spec: &FlowSpec,
        (frame, seed): (Bytes, u64),
    ) -> Sending {
        let app = spec.app(seed).into_owned();
        let (later, until) = match &app.writer {
            Writer::Phases(phases) => (phases.iter().rev().cloned().collect(), spec.start),
            _ => (Vec::new(), Time::NEVER),
        };
        Sending {
            status,
            socket: Some(socket),
            to,
            start: spec.start,
            stop: spec.stop.unwrap_or(Time::NEVER),
            writer: app.writer,
            later,
            until,
            carried: 0,
            draws: Draws::new(app.seeds),
            frame,
            stage: Stage::Waiting,
            bursts: 1,
            next: Time::ZERO,
        }
    }

    pub(super) fn status(&self) -> &FlowStatus {
        &self.status
    }

    /// Times at which to check the application, whatever its socket does.
    pub(super) fn times(&self) -> Vec<Time> {
        let mut times = vec![self.start, self.stop];
        let mut end = self.start;
        for phase in self.later.iter().rev() {
            end += phase.lasts;
            times.push(end);
        }
        times
    }

    /// Whether a burst's way is followed, of which the kernel gives no notice.
    pub(super) fn is_draining(&self) -> bool {
        self.stage == Stage::Draining
    }

    /// Does what can be done at once, at most a chunk.
    pub(super) fn step(&mut self, number: u64, io_context: &IoContext) -> io::Result<Then> {
        let now = io_context.clock.now();
        match self.stage {
            Stage::Waiting if now < self.start => Ok(Then::At(self.start)),
            Stage::Waiting => self.connect(now, number, io_context),
            Stage::Connecting => self.look_whether_connected(now, io_context),
            Stage::Over => Ok(Then::Over),
            _ if now >= self.stop => self.close(),
            _ if now >= self.until => self.next_phase(now, io_context),
            Stage::Writing(left) => self.write(left, now, io_context),
            Stage::Draining => self.look_whether_gone(now, io_context),
            Stage::Pausing if now < self.next => Ok(self.sleep_until(self.next)),
            Stage::Pausing => {
                let burst = self.burst();
                self.write(burst, now, io_context)
            }
        }
    }

    fn connect(&mut self, now: Time, number: u64, io_context: &IoContext) -> io::Result<Then> {
        let Some(socket) = self.socket.take() else { return Ok(Then::Over) };
        self.status.started.store(now.ps().max(1), Relaxed);
        socket.set_nonblocking(true)?;
        let begun = socket.connect(&SockAddr::from(self.to));
        let stream = self.status.sender.get_or_init(|| socket.into());
        match begun {
            Err(e) if e.raw_os_error() != Some(libc::EINPROGRESS) => return Err(e),
            _ => self.stage = Stage::Connecting,
        }
        io_context.readiness.add(stream, number, EpollFlags::EPOLLOUT | EpollFlags::EPOLLET)?;
        Ok(Then::Ready)
    }

    fn look_whether_connected(&mut self, now: Time, io_context: &IoContext) -> io::Result<Then> {
        let Some(stream) = self.status.sender.get() else { return Ok(Then::Over) };
        if let Some(e) = stream.take_error()? {
            return Err(e);
        }
        if stream.peer_addr().is_err() {
            return Ok(Then::Ready);
        }
        if now >= self.stop {
            return self.close();
        }
        if matches!(self.writer, Writer::Phases(_)) {
            return self.next_phase(now, io_context);
        }
        self.begin(now, io_context)
    }

    /// Begins to write as the writer does.
    fn begin(&mut self, now: Time, io_context: &IoContext) -> io::Result<Then> {
        self.bursts = match self.writer {
            Writer::OnOff { count, .. } => count.unwrap_or(u64::MAX),
            _ => 1,
        };
        let is_silent = match self.writer {
            Writer::Constant { rate } => rate.serial_time().is_none(),
            // Overlays are not emulated.
            Writer::Fed => true,
            _ => self.bursts == 0,
        };
        self.next = now;
        let carried = core::mem::take(&mut self.carried);
        match (is_silent, carried) {
            (true, 0) => self.finish(),
            (true, _) => self.write(carried, now, io_context),
            (false, _) => {
                let burst = self.burst();
                self.write(burst.saturating_add(carried), now, io_context)
            }
        }
    }

    /// Begins the next phase, or closes the connection after the last one. A burst that the socket
    /// has not taken whole is written first.
    fn next_phase(&mut self, now: Time, io_context: &IoContext) -> io::Result<Then> {
        if let Stage::Writing(left) = self.stage
            && self.writer != Writer::Unlimited
        {
            self.carried = left;
        }
        match self.later.pop() {
            Some(phase) => {
                self.until += phase.lasts;
                self.writer = phase.writer;
            }
            None => {
                self.until = Time::NEVER;
                self.writer = Writer::Sized(Bytes::ZERO);
            }
        }
        self.begin(now, io_context)
    }

    /// Ends the writer: the phase, if there is another or this one has an end, else the connection.
    fn finish(&mut self) -> io::Result<Then> {
        if self.until == Time::NEVER {
            return self.close();
        }
        (self.stage, self.next) = (Stage::Pausing, Time::NEVER);
        Ok(self.sleep_until(Time::NEVER))
    }

    /// Bytes of the next burst, or of a frame.
    fn burst(&mut self) -> u64 {
        match self.writer {
            Writer::Sized(size) => size.get(),
            Writer::OnOff { burst, .. } => self.draws.burst(burst).get(),
            Writer::Constant { .. } => self.frame.get(),
            Writer::Unlimited | Writer::Fed | Writer::Phases(_) => u64::MAX,
        }
    }

    fn write(&mut self, left: u64, now: Time, io_context: &IoContext) -> io::Result<Then> {
        let Some(mut stream) = self.status.sender.get() else { return Ok(Then::Over) };
        let has_end = self.stop != Time::NEVER || self.until != Time::NEVER;
        let chunk = if has_end { SMALL_CHUNK } else { io_context.zeros.len() };
        let some = left.min(chunk as u64) as usize;
        self.stage = Stage::Writing(left);
        let written = match some {
            0 => 0,
            _ => match stream.write(&io_context.zeros[..some]) {
                Ok(written) => written as u64,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Then::Ready),
                Err(e) if e.kind() == ErrorKind::Interrupted => 0,
                Err(e) => return Err(e),
            },
        };
        match left - written {
            0 => self.burst_written(now, io_context),
            left => {
                self.stage = Stage::Writing(left);
                Ok(Then::Again)
            }
        }
    }

    fn burst_written(&mut self, now: Time, io_context: &IoContext) -> io::Result<Then> {
        match self.writer {
            Writer::OnOff { .. } => self.look_whether_gone(now, io_context),
            Writer::Constant { rate } => {
                let Some(time) = rate.serial_time() else { return self.finish() };
                self.next += time.of(self.frame);
                self.stage = Stage::Pausing;
                Ok(self.sleep_until(self.next))
            }
            Writer::Unlimited | Writer::Sized(_) | Writer::Fed | Writer::Phases(_) => self.finish(),
        }
    }

    /// Begins the pause if the burst has arrived where the pause is counted from.
    fn look_whether_gone(&mut self, now: Time, io_context: &IoContext) -> io::Result<Then> {
        let Writer::OnOff { pause, pause_after, .. } = self.writer else { return self.close() };
        let Some(stream) = self.status.sender.get() else { return Ok(Then::Over) };
        let is_gone = match pause_after {
            PauseAfter::Written => true,
            PauseAfter::Sent => sys::tcp_info(stream)?.notsent_bytes == 0,
            PauseAfter::Acknowledged => {
                let info = sys::tcp_info(stream)?;
                info.notsent_bytes == 0 && info.unacked == 0
            }
        };
        if !is_gone {
            self.stage = Stage::Draining;
            return Ok(self.sleep_until(now + io_context.look()));
        }
        self.bursts = self.bursts.saturating_sub(1);
        if self.bursts == 0 {
            return self.finish();
        }
        self.stage = Stage::Pausing;
        self.next = now + self.draws.pause(pause);
        Ok(self.sleep_until(self.next))
    }

    fn close(&mut self) -> io::Result<Then> {
        self.stage = Stage::Over;
        if let Some(stream) = self.status.sender.get() {
            stream.shutdown(Shutdown::Write)?;
        }
        Ok(Then::Over)
    }

    fn sleep_until(&self, at: Time) -> Then {
        Then::At(at.min(self.stop).min(self.until))
    }
}
