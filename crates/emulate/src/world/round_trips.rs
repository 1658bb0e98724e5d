//! Round trips of flows, timed where packets enter and leave the network: what a host takes to
//! answer counts, what it takes to hear of the answer does not.

use ratewire_units::{Duration, Time};

/// Departures of packets whose answers are awaited.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// Of each packet on its way, by its number: the departure from which a round trip is counted.
    since: Vec<Option<Time>>,
    /// Of the newest packet of each stream that has arrived and was not answered.
    unanswered: Vec<Option<Time>>,
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
    /// Notes a packet with data, whose round trip counts from its departure, if at all.
    pub(super) fn depart(&mut self, since: Option<Time>, kept: u32) {
        *at(&mut self.since, kept) = since;
    }

    /// Notes a packet that departs to answer what has arrived of a stream, if anything.
    pub(super) fn answer(&mut self, stream: Option<u32>, kept: u32) {
        let answered = stream.and_then(|stream| at(&mut self.unanswered, stream).take());
        *at(&mut self.since, kept) = answered;
    }

    /// Notes a packet with data that arrives.
    pub(super) fn arrive(&mut self, stream: u32, kept: u32) {
        let since = at(&mut self.since, kept).take();
        *at(&mut self.unanswered, stream) = since;
    }

    /// Round trip that ends as a packet arrives at `now` that answers data.
    pub(super) fn answered(&mut self, now: Time, kept: u32) -> Option<Duration> {
        at(&mut self.since, kept).take().map(|since| now.since(since))
    }
}

fn at(times: &mut Vec<Option<Time>>, number: u32) -> &mut Option<Time> {
    let number = number as usize;
    if number >= times.len() {
        times.resize(number + 1, None);
    }
    &mut times[number]
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
        trips.depart(Some(MS(0)), 0);
        trips.depart(Some(MS(1)), 1);
        trips.arrive(7, 0);
        trips.arrive(7, 1);
        trips.answer(Some(7), 2);
        trips.answer(Some(7), 3);
        assert_eq!(trips.answered(MS(61), 2), Some(Duration::from_millis(60)));
        assert_eq!(trips.answered(MS(62), 3), None, "nothing more had come");
        trips.answer(None, 4);
        assert_eq!(trips.answered(MS(63), 4), None);
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
