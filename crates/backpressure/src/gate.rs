//! A transmitter that obeys pauses: which classes it may not send, and until when.

use ratewire_units::{Duration, Rate, Time};

use crate::flows::LaneSet;
use crate::frames::{CLASSES, Control, Quanta};

/// State of one transmitter. A pause does not interrupt a packet that is being sent.
#[derive(Clone, Debug)]
pub struct Gate {
    until: [Time; CLASSES],
    /// Queues that the last map of paused queues names; they stay paused until the next map.
    lanes: LaneSet,
    pauses: u64,
    paused: Duration,
    /// Time up to which `paused` is summed.
    summed: Time,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate {
            until: [Time::ZERO; CLASSES],
            lanes: LaneSet::default(),
            pauses: 0,
            paused: Duration::ZERO,
            summed: Time::ZERO,
        }
    }
}

impl Gate {
    /// Obeys a frame that has arrived at a transmitter of this rate. Its times replace those of the
    /// frame before.
    pub fn obey(&mut self, now: Time, control: &Control, rate: Rate) {
        let time = |quanta: &Quanta| quanta.time(rate);
        self.close(
            now,
            match control {
                Control::Pause(quanta) => [Some(time(quanta)); CLASSES],
                Control::Priority(times) => times.map(|quanta| quanta.as_ref().map(time)),
            },
        );
    }

    /// Obeys a pause of all classes that has arrived, of a length that is not in quanta. Its time
    /// replaces those before; zero resumes.
    pub fn obey_for(&mut self, now: Time, pause: Duration) {
        self.close(now, [Some(pause); CLASSES]);
    }

    fn close(&mut self, now: Time, times: [Option<Duration>; CLASSES]) {
        let was_open = self.is_fully_open(now);
        self.sum(now);
        for (until, time) in self.until.iter_mut().zip(times) {
            if let Some(time) = time {
                *until = now + time;
            }
        }
        self.pauses += u64::from(was_open && !self.is_fully_open(now));
    }

    /// Obeys a map of paused queues that has arrived.
    pub fn obey_map(&mut self, now: Time, lanes: LaneSet) {
        let was_open = self.is_fully_open(now);
        self.sum(now);
        self.lanes = lanes;
        self.pauses += u64::from(was_open && !self.is_fully_open(now));
    }

    /// Whether a packet of this class may be sent.
    #[inline]
    pub fn is_open(&self, now: Time, class: u32) -> bool {
        self.until.get(class as usize).is_none_or(|until| *until <= now)
    }
    /// Whether the queue `lane`, of queues by flow, may send.
    #[inline]
    pub fn is_lane_open(&self, now: Time, lane: u32) -> bool {
        self.is_open(now, 0) && !self.lanes.contains(lane)
    }
    /// The queues that a map has paused.
    pub fn lanes(&self) -> LaneSet {
        self.lanes
    }
    /// When the next class opens without a frame; [`Time::NEVER`] if none is closed.
    pub fn next_opening(&self, now: Time) -> Time {
        let closed = self.until.iter().copied().filter(|until| *until > now);
        closed.min().unwrap_or(Time::NEVER)
    }
    /// How often a class or queue closed while all were open.
    pub fn pauses(&self) -> u64 {
        self.pauses
    }
    /// How long, up to `now`, some class or queue was closed.
    pub fn paused(&mut self, now: Time) -> Duration {
        self.sum(now);
        self.paused
    }

    fn is_fully_open(&self, now: Time) -> bool {
        self.lanes == LaneSet::default() && self.latest() <= now
    }

    fn latest(&self) -> Time {
        self.until.iter().copied().fold(Time::ZERO, Time::max)
    }

    fn sum(&mut self, now: Time) {
        let end = if self.lanes == LaneSet::default() { self.latest().min(now) } else { now };
        self.paused += end.since(self.summed.min(end));
        self.summed = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_mbps(512);

    /// A quantum is a microsecond.
    fn us(n: u64) -> Time {
        Time::ZERO + Duration::from_micros(n)
    }

    fn pause(quanta: u16) -> Control {
        Control::Pause(Quanta(quanta))
    }

    #[test]
    fn a_new_time_replaces_the_old_and_zero_resumes() {
        let mut gate = Gate::default();
        assert!(gate.is_open(us(0), 0));
        gate.obey(us(10), &pause(100), RATE);
        assert!(!gate.is_open(us(109), 7) && gate.is_open(us(110), 7));
        gate.obey(us(50), &pause(20), RATE);
        assert_eq!(gate.next_opening(us(50)), us(70), "shorter than before");
        gate.obey(us(60), &pause(100), RATE);
        assert!(!gate.is_open(us(159), 0));
        gate.obey(us(65), &pause(0), RATE);
        assert!(gate.is_open(us(65), 0));
        assert_eq!(gate.next_opening(us(65)), Time::NEVER);
        assert_eq!((gate.pauses(), gate.paused(us(200))), (1, Duration::from_micros(55)));
    }

    #[test]
    fn a_pause_need_not_be_in_quanta() {
        let mut gate = Gate::default();
        gate.obey_for(us(10), Duration::from_micros(100));
        assert!(!gate.is_open(us(109), 7) && gate.is_open(us(110), 7));
        gate.obey_for(us(50), Duration::ZERO);
        assert!(gate.is_open(us(50), 0));
        assert_eq!((gate.pauses(), gate.paused(us(200))), (1, Duration::from_micros(40)));
    }

    #[test]
    fn time_paused_ends_when_a_pause_expires() {
        let mut gate = Gate::default();
        gate.obey(us(10), &pause(5), RATE);
        assert_eq!(gate.paused(us(12)), Duration::from_micros(2));
        assert_eq!(gate.paused(us(100)), Duration::from_micros(5));
        gate.obey(us(200), &pause(7), RATE);
        assert_eq!((gate.pauses(), gate.paused(us(300))), (2, Duration::from_micros(12)));
    }

    #[test]
    fn classes_are_paused_one_by_one() {
        let mut gate = Gate::default();
        let mut times = [None; CLASSES];
        times[3] = Some(Quanta(10));
        gate.obey(us(0), &Control::Priority(times), RATE);
        assert!(!gate.is_open(us(5), 3) && gate.is_open(us(5), 2));
        let mut other = [None; CLASSES];
        other[2] = Some(Quanta(4));
        gate.obey(us(5), &Control::Priority(other), RATE);
        assert!(!gate.is_open(us(6), 3) && !gate.is_open(us(6), 2), "3 is not mentioned");
        assert_eq!(gate.next_opening(us(6)), us(9));
        assert_eq!((gate.pauses(), gate.paused(us(20))), (1, Duration::from_micros(10)));
    }

    #[test]
    fn queues_are_paused_until_a_map_says_otherwise() {
        let mut gate = Gate::default();
        gate.obey_map(us(10), LaneSet(0b100));
        assert!(!gate.is_lane_open(us(1000), 2) && gate.is_lane_open(us(1000), 1));
        gate.obey_map(us(20), LaneSet(0b110));
        gate.obey_map(us(30), LaneSet(0));
        assert!(gate.is_lane_open(us(30), 2));
        gate.obey(us(40), &pause(5), RATE);
        assert!(!gate.is_lane_open(us(41), 1), "the whole link");
        assert_eq!((gate.pauses(), gate.paused(us(100))), (2, Duration::from_micros(25)));
    }
}
