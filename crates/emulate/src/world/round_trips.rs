//! Round trips of flows, timed where packets enter and leave the network: what a host takes to
//! answer counts, what it takes to hear of the answer does not.

use ratewire_units::{Duration, Time};

/// Departures of packets whose answers are awaited.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// For each packet on its way, by its number.
    packets: Vec<Timed>,
    /// For each stream: departure of the packet with data that has arrived last and that nothing
    /// has answered.
    unanswered: Vec<Option<Time>>,
}

/// What a packet on its way ends and begins.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    /// Departure of the data that it answers.
    answered: Option<Time>,
    /// Its own departure, if it has data.
    departed: Time,
    /// Whether the round trip of its data counts.
    counts: bool,
}

/// Round trips of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTripFigures {
    count: u64,
    sum_s: f64,
    min: Duration,
    max: Duration,
}

impl RoundTrips {
    /// Notes a packet that departs, and with it an answer to what has arrived of a stream.
    pub(super) fn answer(&mut self, stream: Option<u32>, kept: u32) {
        let answered = stream.and_then(|stream| at(&mut self.unanswered, stream).take());
        *at(&mut self.packets, kept) = Timed { answered, ..Timed::default() };
    }

    /// Notes that a packet has data and departs now, and whether its round trip counts; after
    /// [`RoundTrips::answer`].
    pub(super) fn depart(&mut self, now: Time, counts: bool, kept: u32) {
        let packet = at(&mut self.packets, kept);
        (packet.departed, packet.counts) = (now, counts);
    }

    /// Notes that a packet with data of a stream arrives; returns how long it was on its way.
    pub(super) fn arrive(&mut self, now: Time, stream: u32, kept: u32) -> Duration {
        let Timed { departed, counts, .. } = *at(&mut self.packets, kept);
        *at(&mut self.unanswered, stream) = counts.then_some(departed);
        now.since(departed)
    }

    /// Round trip that a packet ends as it arrives at `now`.
    pub(super) fn answered(&mut self, now: Time, kept: u32) -> Option<Duration> {
        at(&mut self.packets, kept).answered.take().map(|since| now.since(since))
    }
}

fn at<T: Copy + Default>(all: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if number >= all.len() {
        all.resize(number + 1, T::default());
    }
    &mut all[number]
}

impl RoundTripFigures {
    pub(super) fn note(&mut self, rtt: Duration) {
        self.min = if self.count == 0 { rtt } else { self.min.min(rtt) };
        self.max = self.max.max(rtt);
        self.count += 1;
        self.sum_s += rtt.secs();
    }

    /// The shortest and the longest, if there was any.
    pub(super) fn range(&self) -> Option<(Duration, Duration)> {
        (self.count > 0).then_some((self.min, self.max))
    }

    pub(super) fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_secs_f64(self.sum_s / self.count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// Two packets, one answer: the newest counts, with the time that its host waited.
    #[test]
    fn an_answer_ends_the_round_trip_of_the_newest_packet() {
        let mut trips = RoundTrips::default();
        let data = |trips: &mut RoundTrips, ms, kept, counts| {
            trips.answer(None, kept);
            trips.depart(MS(ms - 30), counts, kept);
            assert_eq!(trips.answered(MS(ms), kept), None);
            assert_eq!(trips.arrive(MS(ms), 7, kept), Duration::from_millis(30));
        };
        data(&mut trips, 30, 0, true);
        data(&mut trips, 31, 1, true);
        trips.answer(Some(7), 2);
        trips.answer(Some(7), 3);
        assert_eq!(trips.answered(MS(61), 2), Some(Duration::from_millis(60)));
        assert_eq!(trips.answered(MS(62), 3), None, "nothing more had come");
        data(&mut trips, 90, 4, false);
        trips.answer(Some(7), 5);
        assert_eq!(trips.answered(MS(99), 5), None, "a copy counts for none");
    }

    /// Data in both directions: each packet answers those of the other end.
    #[test]
    fn a_packet_with_data_answers_too() {
        let mut trips = RoundTrips::default();
        for (stream, kept, ms) in [(0, 0, 0), (1, 1, 40), (0, 2, 80)] {
            trips.answer(Some(1 - stream), kept);
            trips.depart(MS(ms), true, kept);
            let ended = trips.answered(MS(ms + 30), kept);
            assert_eq!(ended, (kept > 0).then(|| Duration::from_millis(70)), "{kept}");
            trips.arrive(MS(ms + 30), stream, kept);
        }
    }

    #[test]
    fn figures_are_those_of_all_round_trips() {
        let mut figures = RoundTripFigures::default();
        assert_eq!((figures.mean(), figures.range()), (None, None));
        [30, 10, 50].into_iter().for_each(|ms| figures.note(Duration::from_millis(ms)));
        assert_eq!(figures.mean(), Some(Duration::from_millis(30)));
        assert_eq!(figures.range(), Some((Duration::from_millis(10), Duration::from_millis(50))));
    }
}
