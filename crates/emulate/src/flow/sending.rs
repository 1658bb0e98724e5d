//! The sending application of a flow, in steps between which it waits for its socket or a time.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nix::sys::epoll::EpollFlags;
use ratewire_sim::setup::FlowSpec;
use ratewire_transport::{PauseAfter, Writer};
use ratewire_units::{Bytes, Duration, Time};
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
    writer: Writer,
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
    pub(super) fn new(
        status: Arc<FlowStatus>,
        socket: Socket,
        to: SocketAddrV4,
        spec: &FlowSpec,
        frame: Bytes,
    ) -> Sending {
        Sending {
            status,
            socket: Some(socket),
            to,
            start: spec.start,
            stop: spec.stop.unwrap_or(Time::NEVER),
            writer: spec.app.writer.clone(),
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
    pub(super) fn times(&self) -> [Time; 2] {
        [self.start, self.stop]
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
            Stage::Writing(left) => self.write(left, now, io_context),
            Stage::Draining => self.look_whether_gone(now, io_context),
            Stage::Pausing if now < self.next => Ok(self.sleep_until(self.next)),
            Stage::Pausing => self.write(self.burst(), now, io_context),
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
        match self.writer {
            Writer::OnOff { count, .. } => self.bursts = count.unwrap_or(u64::MAX),
            Writer::Constant { rate } if rate.serial_time().is_none() => return self.close(),
            // Overlays are not emulated.
            Writer::Fed => return self.close(),
            _ => {}
        }
        if now >= self.stop || self.bursts == 0 {
            return self.close();
        }
        self.next = now;
        self.write(self.burst(), now, io_context)
    }

    /// Bytes of a burst, or of a frame.
    fn burst(&self) -> u64 {
        match self.writer {
            Writer::Sized(size) => size.get(),
            Writer::OnOff { burst, .. } => burst.get(),
            Writer::Constant { .. } => self.frame.get(),
            Writer::Unlimited | Writer::Fed => u64::MAX,
        }
    }

    fn write(&mut self, left: u64, now: Time, io_context: &IoContext) -> io::Result<Then> {
        let Some(mut stream) = self.status.sender.get() else { return Ok(Then::Over) };
        let chunk = if self.stop == Time::NEVER { io_context.zeros.len() } else { SMALL_CHUNK };
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
                let every = rate.serial_time().map_or(Duration::ZERO, |time| time.of(self.frame));
                self.next += every;
                self.stage = Stage::Pausing;
                Ok(self.sleep_until(self.next))
            }
            Writer::Unlimited | Writer::Sized(_) | Writer::Fed => self.close(),
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
            return self.close();
        }
        self.stage = Stage::Pausing;
        self.next = now + pause;
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
        Then::At(at.min(self.stop))
    }
}
