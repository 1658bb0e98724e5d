//! The sending application at work: how much of the stream it has written.

use ratewire_units::{Bytes, Duration, Time};

use crate::app::{App, PauseAfter, Phase, Writer};
use crate::varying::{Draws, Varying};

/// So many bursts have no end.
const ENDLESS: u64 = u64::MAX;

/// State of the writing application.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    /// Stream offset up to which data is written; `u64::MAX` for unlimited data.
    written: u64,
    /// When there is something to do: a write, or the end of a phase. [`Time::NEVER`] while it
    /// waits for the transport or has ended.
    next: Time,
    /// Bursts or frames still to write; [`ENDLESS`] for no end.
    left: u64,
    /// Bytes of a write.
    burst: u64,
    /// Time between writes, or after the event that `pause_after` names.
    interval: Duration,
    pause_after: PauseAfter,
    /// Whether a writer of unlimited data is paused.
    held: bool,
    /// What changes during the flow, if anything does.
    course: Option<Box<Course>>,
}

/// Random amounts and phases of an application.
#[derive(Clone, Debug)]
struct Course {
    draws: Draws,
    /// Amounts of the current writer, if it draws them.
    random: Option<(Varying<Bytes>, Varying<Duration>)>,
    /// Phases to come, the next one last.
    later: Vec<Phase>,
    /// When the current phase ends.
    until: Time,
    /// When the current writer writes next.
    due: Time,
    frame: Bytes,
}

impl Writing {
    pub(crate) fn new(app: &App, frame: Bytes, start: Time) -> Writing {
        let mut writing = Writing {
            written: 0,
            next: Time::NEVER,
            left: ENDLESS,
            burst: 0,
            interval: Duration::ZERO,
            pause_after: PauseAfter::Written,
            held: false,
            course: None,
        };
        let phases = match &app.writer {
            Writer::Phases(phases) => phases.iter().rev().cloned().collect(),
            _ => Vec::new(),
        };
        let has_phases = !phases.is_empty();
        if has_phases || app.writer.has_chance() {
            writing.course = Some(Box::new(Course {
                draws: Draws::new(app.seeds),
                random: None,
                later: phases,
                until: if has_phases { start } else { Time::NEVER },
                due: Time::NEVER,
                frame,
            }));
        }
        if has_phases {
            writing.next_phase(start, 0);
        } else {
            writing.begin(&app.writer, frame, start);
        }
        writing
    }

    /// Begins to write as `writer` does; what was written before stays written.
    fn begin(&mut self, writer: &Writer, frame: Bytes, start: Time) {
        let mut due = Time::NEVER;
        (self.left, self.pause_after, self.held) = (ENDLESS, PauseAfter::Written, false);
        if let Some(course) = &mut self.course {
            course.random = None;
        }
        match writer {
            Writer::Unlimited => self.written = u64::MAX,
            Writer::Sized(size) => {
                self.written = self.written.saturating_add(size.get());
                self.left = 0;
            }
            Writer::OnOff { burst, pause, pause_after, count } => {
                (self.left, self.pause_after) = (count.unwrap_or(ENDLESS), *pause_after);
                (self.burst, self.interval) = (burst.mean.get().max(1), pause.mean);
                if pause.mean.is_zero() && *pause_after == PauseAfter::Written {
                    let all = count.map_or(u64::MAX, |n| self.burst.saturating_mul(n));
                    self.written = self.written.saturating_add(all);
                    self.left = count.map_or(ENDLESS, |_| 0);
                } else {
                    if let Some(course) = self.course.as_mut().filter(|_| writer.has_chance()) {
                        course.random = Some((*burst, *pause));
                    }
                    due = if *count == Some(0) { Time::NEVER } else { start };
                }
            }
            Writer::Constant { rate } => {
                let interval = rate.serial_time().map_or(Duration::MAX, |s| s.of(frame));
                self.interval = interval.max(Duration::from_ps(1));
                self.burst = frame.get();
                if self.interval != Duration::MAX {
                    due = start;
                }
            }
            Writer::Fed | Writer::Phases(_) => {}
        }
        self.set_due(due);
    }

    fn set_due(&mut self, due: Time) {
        self.next = match &mut self.course {
            Some(course) => {
                course.due = due;
                due.min(course.until)
            }
            None => due,
        };
    }

    /// Begins the next phase, or ends the application after the last one; the transport has sent up
    /// to `sent`.
    fn next_phase(&mut self, now: Time, sent: u64) {
        if self.written == u64::MAX {
            self.written = sent;
        }
        let Some(course) = &mut self.course else { return };
        let Some(phase) = course.later.pop() else { return self.stop(sent) };
        course.until =
            if phase.lasts == Duration::MAX { Time::NEVER } else { course.until + phase.lasts };
        let frame = course.frame;
        self.begin(&phase.writer, frame, now);
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
        let is_last = || self.course.as_ref().is_none_or(|course| course.until == Time::NEVER);
        (self.left == 0 && is_last()).then_some(self.written)
    }

    /// Writes this much more, unless the writer has stopped.
    pub(crate) fn write(&mut self, size: u64) {
        if self.left != 0 {
            self.written = self.written.saturating_add(size);
        }
    }

    /// Writes what is due by `now`; the transport has sent up to `sent`.
    pub(crate) fn advance(&mut self, now: Time, sent: u64) {
        loop {
            let course = self.course.as_ref();
            let (due, until) = course.map_or((self.next, Time::NEVER), |c| (c.due, c.until));
            if until <= now && until <= due {
                self.next_phase(until, sent);
            } else if due <= now && due != Time::NEVER {
                self.write_due(due, now, until);
            } else {
                return;
            }
        }
    }

    /// Makes the write that is due, and those due after it up to `now` and before `until`.
    fn write_due(&mut self, due: Time, now: Time, until: Time) {
        let has_random = self.course.as_ref().is_some_and(|course| course.random.is_some());
        let by = if until <= now { until - Duration::from_ps(1) } else { now };
        let count = match self.pause_after {
            PauseAfter::Written if !has_random => by.since(due).ps() / self.interval.ps() + 1,
            _ => 1,
        };
        let count = count.min(self.left);
        self.draw_burst();
        self.written = self.written.saturating_add(self.burst.saturating_mul(count));
        if self.left != ENDLESS {
            self.left -= count;
        }
        let goes_on = self.left != 0 && self.pause_after == PauseAfter::Written;
        let next = if goes_on { due + self.pause() * count } else { Time::NEVER };
        self.set_due(next);
    }

    fn draw_burst(&mut self) {
        if let Some(course) = &mut self.course
            && let Some((burst, _)) = course.random
        {
            self.burst = course.draws.burst(burst).get();
        }
    }

    /// Time to the next write.
    fn pause(&mut self) -> Duration {
        match self.course.as_deref_mut() {
            Some(Course { draws, random: Some((_, pause)), .. }) => {
                draws.pause(*pause).max(Duration::from_ps(1))
            }
            _ => self.interval,
        }
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
        let due = self.course.as_ref().map_or(self.next, |course| course.due);
        if done && due == Time::NEVER && self.left != 0 {
            let pause = self.pause();
            self.set_due(now + pause);
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
        if core::mem::take(&mut self.held) && self.left == ENDLESS {
            self.written = u64::MAX;
        }
    }

    /// Stops writing. Data that was written, or sent by an unlimited writer, is still delivered.
    pub(crate) fn stop(&mut self, sent: u64) {
        if self.written == u64::MAX {
            self.written = sent;
        }
        self.left = 0;
        self.next = Time::NEVER;
        self.course = None;
    }
}
