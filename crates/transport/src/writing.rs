//! The sending application at work: how much of the stream it has written.

use ratewire_units::{Bytes, Duration, Time};

use crate::app::{PauseAfter, Writer};

/// State of the writing application.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    /// Stream offset up to which data is written; `u64::MAX` for unlimited data.
    written: u64,
    /// When it writes next; [`Time::NEVER`] while it waits for the transport or has ended.
    next: Time,
    /// Bursts or frames still to write; `None` for no end.
    left: Option<u64>,
    /// Bytes of a write.
    burst: u64,
    /// Time between writes, or after the event that `pause_after` names.
    interval: Duration,
    pause_after: PauseAfter,
    /// Whether a writer of unlimited data is paused.
    held: bool,
}

impl Writing {
    pub(crate) fn new(writer: &Writer, frame: Bytes, start: Time) -> Writing {
        let all_at_once = |written: u64, left| Writing {
            written,
            next: Time::NEVER,
            left,
            burst: 0,
            interval: Duration::ZERO,
            pause_after: PauseAfter::Written,
            held: false,
        };
        match *writer {
            Writer::Unlimited => all_at_once(u64::MAX, None),
            Writer::Sized(size) => all_at_once(size.get(), Some(0)),
            Writer::Fed => all_at_once(0, None),
            Writer::OnOff { burst, pause, pause_after, count } => {
                let burst = burst.get().max(1);
                if pause.is_zero() && pause_after == PauseAfter::Written {
                    let written = count.map_or(u64::MAX, |n| burst.saturating_mul(n));
                    return all_at_once(written, count.and(Some(0)));
                }
                let next = if count == Some(0) { Time::NEVER } else { start };
                Writing {
                    written: 0,
                    next,
                    left: count,
                    burst,
                    interval: pause,
                    pause_after,
                    held: false,
                }
            }
            Writer::Constant { rate } => {
                let interval = rate.serial_time().map_or(Duration::MAX, |s| s.of(frame));
                let interval = interval.max(Duration::from_ps(1));
                let next = if interval == Duration::MAX { Time::NEVER } else { start };
                let pause_after = PauseAfter::Written;
                Writing {
                    written: 0,
                    next,
                    left: None,
                    burst: frame.get(),
                    interval,
                    pause_after,
                    held: false,
                }
            }
        }
    }

    #[inline]
    pub(crate) fn written(&self) -> u64 {
        self.written
    }
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }
    /// Stream length, if the writer will write no more.
    pub(crate) fn end(&self) -> Option<u64> {
        (self.left == Some(0)).then_some(self.written)
    }

    /// Writes this much more, unless the writer has stopped.
    pub(crate) fn write(&mut self, size: u64) {
        if self.left != Some(0) {
            self.written = self.written.saturating_add(size);
        }
    }

    /// Writes what is due by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        if self.next > now || self.next == Time::NEVER {
            return;
        }
        let due = match self.pause_after {
            PauseAfter::Written => now.since(self.next).ps() / self.interval.ps() + 1,
            PauseAfter::Sent | PauseAfter::Acknowledged => 1,
        };
        let due = due.min(self.left.unwrap_or(u64::MAX));
        self.written = self.written.saturating_add(self.burst.saturating_mul(due));
        if let Some(left) = &mut self.left {
            *left -= due;
        }
        self.next = if self.left != Some(0) && self.pause_after == PauseAfter::Written {
            self.next + self.interval * due
        } else {
            Time::NEVER
        };
    }

    /// Notes that the transport has sent up to `sent`, and that everything up to `acknowledged` has
    /// arrived.
    #[inline]
    pub(crate) fn progress(&mut self, now: Time, sent: u64, acknowledged: u64) {
        let done = match self.pause_after {
            PauseAfter::Written => return,
            PauseAfter::Sent => sent >= self.written,
            PauseAfter::Acknowledged => acknowledged >= self.written,
        };
        if done && self.next == Time::NEVER && self.left != Some(0) {
            self.next = now + self.interval;
        }
    }

    /// Pauses a writer of unlimited data at `sent`, until it resumes.
    pub(crate) fn hold(&mut self, sent: u64) {
        if self.written == u64::MAX {
            self.written = sent;
            self.held = true;
        }
    }
    pub(crate) fn resume(&mut self) {
        if core::mem::take(&mut self.held) && self.left.is_none() {
            self.written = u64::MAX;
        }
    }

    /// Stops writing. Data that was written, or sent by an unlimited writer, is still delivered.
    pub(crate) fn stop(&mut self, sent: u64) {
        if self.written == u64::MAX {
            self.written = sent;
        }
        self.left = Some(0);
        self.next = Time::NEVER;
    }
}
