//! The receiving application of a flow, in steps between which it waits for its socket or a time.

use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, recv};
use ratewire_sim::setup::FlowSpec;
use ratewire_transport::{App, Reader, Spread, Writer};
use ratewire_units::{Bytes, Duration, Time};

use super::io_context::IoContext;
use super::{CHUNK, FlowStatus, Then};

/// The receiving application of one flow.
#[derive(Debug)]
pub(super) struct Receiving {
    status: Arc<FlowStatus>,
    /// The listening socket, until the sender has connected.
    listener: Option<TcpListener>,
    reader: Reader,
    frame: Bytes,
    /// Number of bytes that the sender writes, if it ends by itself.
    end: Option<u64>,
    pace: Pace,
}

/// When a reader that takes its time is done with each frame.
///
/// A frame that waits while another is read begins when that one ends, however late this process
/// is called: the reader's speed does not depend on the machine's.
#[derive(Debug)]
struct Pace {
    /// End of the frame that is being read.
    next: Time,
    /// Whether nothing waited when the reader last looked.
    is_idle: bool,
}

impl Pace {
    /// When the frame began that is taken up now.
    fn begins(&mut self, now: Time) -> Time {
        if core::mem::take(&mut self.is_idle) { self.next.max(now) } else { self.next }
    }
}

impl Receiving {
    pub(super) fn new(
        status: Arc<FlowStatus>,
        listener: TcpListener,
        spec: &FlowSpec,
        frame: Bytes,
    ) -> Receiving {
        let (reader, end) = (spec.app.reader, end_of(&spec.app));
        let pace = Pace { next: Time::ZERO, is_idle: true };
        Receiving { status, listener: Some(listener), reader, frame, end, pace }
    }

    pub(super) fn status(&self) -> &FlowStatus {
        &self.status
    }

    /// Lets the reactor report when the sender connects.
    pub(super) fn listen(&self, number: u64, io_context: &IoContext) -> io::Result<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        listener.set_nonblocking(true)?;
        io_context.readiness.add(listener, number, EpollFlags::EPOLLIN | EpollFlags::EPOLLET)
    }

    /// Does what can be done at once, at most a chunk.
    pub(super) fn step(&mut self, number: u64, io_context: &mut IoContext) -> io::Result<Then> {
        match self.listener.take() {
            Some(listener) => self.accept(listener, number, io_context),
            None => self.read(io_context),
        }
    }

    fn accept(
        &mut self,
        listener: TcpListener,
        number: u64,
        io_context: &IoContext,
    ) -> io::Result<Then> {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) => {
                self.listener = Some(listener);
                return match e.kind() {
                    ErrorKind::WouldBlock => Ok(Then::Ready),
                    // A connection that is gone again is for the sender to report (accept(2)).
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => Ok(Then::Again),
                    _ => Err(e),
                };
            }
        };
        stream.set_nonblocking(true)?;
        let stream = self.status.receiver.get_or_init(|| stream);
        io_context.readiness.add(stream, number, EpollFlags::EPOLLIN | EpollFlags::EPOLLET)?;
        Ok(Then::Ready)
    }

    fn read(&mut self, io_context: &mut IoContext) -> io::Result<Then> {
        let Some(stream) = self.status.receiver.get() else { return Ok(Then::Over) };
        let most = match self.reader {
            Reader::Immediate | Reader::Asked => CHUNK,
            _ => (self.frame.get() as usize).clamp(1, CHUNK),
        };
        // The kernel discards the bytes read, because nobody looks at them (tcp(7)).
        let got = match recv(stream.as_raw_fd(), &mut io_context.room[..most], MsgFlags::MSG_TRUNC)
        {
            Ok(got) => got,
            Err(Errno::EAGAIN) => {
                self.pace.is_idle = true;
                return Ok(Then::Ready);
            }
            Err(Errno::EINTR) => return Ok(Then::Again),
            Err(e) => return Err(e.into()),
        };
        let now = io_context.clock.now();
        let read = self.status.read.fetch_add(got as u64, Relaxed) + got as u64;
        if got == 0 || self.end == Some(read) {
            // The end of the stream may come later than its last byte.
            let _ = self.status.completed.compare_exchange(0, now.ps().max(1), Relaxed, Relaxed);
        }
        if got == 0 {
            return Ok(Then::Over);
        }
        let begins = self.pace.begins(now);
        let Some(per_frame) = self.per_frame(begins) else { return Ok(Then::Again) };
        let share = got as f64 / self.frame.as_f64().max(1.0);
        self.pace.next = begins + per_frame.scale(share);
        Ok(Then::At(self.pace.next))
    }

    /// Reading time of a frame that begins then; `None` of a reader that takes none.
    fn per_frame(&self, begins: Time) -> Option<Duration> {
        match self.reader {
            Reader::Immediate | Reader::Asked => None,
            Reader::Slow(per_frame) => Some(per_frame),
            Reader::Alternating { per_frame, every } => {
                let turn = begins.ps() / every.ps().max(1);
                Some(per_frame[(turn % 2) as usize])
            }
        }
    }
}

fn end_of(app: &App) -> Option<u64> {
    match app.writer {
        Writer::Sized(size) => Some(size.get()),
        Writer::OnOff { burst, count: Some(count), .. } if burst.spread == Spread::None => {
            Some(burst.mean.get().saturating_mul(count))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_is_called_late_makes_up_for_it_while_frames_wait() {
        let ms = Time::from_millis;
        let mut pace = Pace { next: Time::ZERO, is_idle: true };
        let mut take_up = |now, is_idle| {
            pace.is_idle |= is_idle;
            pace.next = pace.begins(ms(now)) + Duration::from_millis(1);
            pace.next
        };
        assert_eq!(take_up(10, true), ms(11), "begins as it comes");
        assert_eq!(take_up(13, false), ms(12), "waited since 11 ms");
        assert_eq!(take_up(13, false), ms(13));
        assert_eq!(take_up(20, true), ms(21), "nothing waited from 13 ms on");
        assert_eq!(take_up(20, true), ms(22), "came while another was read");
    }
}
