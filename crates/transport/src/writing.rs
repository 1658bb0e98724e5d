//! The sending application at work: how much of the stream it has written by now.

use ratewire_units::{Bytes, Duration, Time};

use crate::app::{PauseAfter, Writer};

/// State of the writing application.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    writer: Writer,
    /// Stream offset up to which data is written.
    written: u64,
    /// When it writes next; [`Time::NEVER`] while it waits for the transport or has ended.
    next: Time,
    /// Bursts or frames still to write.
    left: Option<u64>,
    frame: u64,
    interval: Duration,
}

impl Writing {
    pub(crate) fn new(writer: &Writer, frame: Bytes, start: Time) -> Writing {
        let frame = frame.get();
        let (written, next, left, interval) = match writer {
            Writer::Unlimited => (u64::MAX, Time::NEVER, None, Duration::ZERO),
            Writer::Sized(size) => (size.get(), Time::NEVER, None, Duration::ZERO),
            Writer::OnOff { pause, count, .. } => (0, start, *count, *pause),
            Writer::Constant { rate } => {
                let interval =
                    rate.serial_time().map_or(Duration::MAX, |s| s.of(Bytes::new(frame)));
                (0, if interval == Duration::MAX { Time::NEVER } else { start }, None, interval)
            }
        };
        Writing { writer: writer.clone(), written, next, left, frame, interval }
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }
    pub(crate) fn next(&self) -> Time {
        self.next
    }
    /// Stream length, if the writer will write no more.
    pub(crate) fn end(&self) -> Option<u64> {
        let ended = match self.writer {
            Writer::Unlimited => self.written != u64::MAX,
            Writer::Sized(_) => true,
            Writer::OnOff { .. } | Writer::Constant { .. } => self.left == Some(0),
        };
        ended.then_some(self.written)
    }

    /// Writes what is due by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        while self.next <= now && self.left != Some(0) {
            let due = self.next;
            if let Some(left) = &mut self.left {
                *left -= 1;
            }
            match self.writer {
                Writer::OnOff { burst, pause_after, .. } => {
                    self.written += burst.get();
                    self.next = match pause_after {
                        PauseAfter::Written => due + self.interval,
                        PauseAfter::Sent | PauseAfter::Acknowledged => Time::NEVER,
                    };
                }
                _ => {
                    self.written += self.frame;
                    self.next = due + self.interval.max(Duration::from_ps(1));
                }
            }
        }
        if self.left == Some(0) {
            self.next = Time::NEVER;
        }
    }

    /// The transport has sent up to `sent` and knows that all up to `acknowledged` has arrived.
    #[inline]
    pub(crate) fn progress(&mut self, now: Time, sent: u64, acknowledged: u64) {
        let Writer::OnOff { pause_after, .. } = self.writer else { return };
        if self.next != Time::NEVER || self.left == Some(0) {
            return;
        }
        let done = match pause_after {
            PauseAfter::Written => return,
            PauseAfter::Sent => sent >= self.written,
            PauseAfter::Acknowledged => acknowledged >= self.written,
        };
        if done {
            self.next = now + self.interval;
        }
    }

    /// Writes no more; what was written, or for an unlimited writer sent, is still delivered.
    pub(crate) fn stop(&mut self, sent: u64) {
        if self.written == u64::MAX {
            self.written = sent;
        }
        self.left = Some(0);
        self.next = Time::NEVER;
    }
}
