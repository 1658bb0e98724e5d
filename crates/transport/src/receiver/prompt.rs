//! Packets in order that Linux acknowledges at once, although it delays acknowledgements
//! (`net/ipv4/tcp_input.c` and `tcp.c` of Linux 6.18, whose names stand in parentheses).

use ratewire_units::{Duration, Time};

/// Acknowledgements in a row that are not delayed (`TCP_MAX_QUICKACKS`).
const QUICK: u32 = 16;
/// Least pause after which the sender is taken to begin anew (`icsk_rto` of a receiver, which sends
/// nothing).
const LEAST_PAUSE: Duration = Duration::from_millis(200);
/// First window (`rcv_ssthresh`).
const FIRST_WINDOW: u64 = 64 << 10;
/// Room of the first buffer: 128 KiB (`tcp_rmem`), of which packets of 1,500 bytes have five
/// eighths for payload.
const FIRST_ROOM: u64 = 80 << 10;
/// Packets of a first round trip (`TCP_INIT_CWND`).
const FIRST_PACKETS: u64 = 10;

/// What a receiver of Linux notes to find them. Its window says here only which packets would open
/// it; what the sender may use is [`ReceiveWindow`](crate::ReceiveWindow).
#[derive(Debug)]
pub(super) struct Prompt {
    /// Acknowledgements that are not delayed, from now on (`icsk_ack.quick`).
    quick: u32,
    window: u64,
    /// Window for which the buffer has room (`window_clamp`).
    room: u64,
    /// Most payload that a round trip has brought (`rcvq_space.space`).
    most: u64,
    round: Round,
    /// Round trip as the receiver knows it; [`Duration::MAX`] at first.
    rtt: Duration,
    opening: Opening,
    /// When data began to arrive, and whether they have filled the first window.
    began: Time,
    has_filled_window: bool,
    /// When the last data arrived, if any has.
    last: Option<Time>,
}

/// The opening packet, whose answer and the data after it tell the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Unknown,
    AnsweredAt(Time),
    /// It came again, or data have come: no answer can be told from another (Karn).
    Over,
}

/// A round trip by the receiver's measure.
#[derive(Debug)]
struct Round {
    /// Stream offset up to which the application had read when it began.
    from: u64,
    began: Time,
}

impl Prompt {
    pub(super) fn new(mss: u64) -> Prompt {
        Prompt {
            quick: QUICK,
            window: FIRST_WINDOW,
            room: FIRST_ROOM,
            most: FIRST_PACKETS * mss,
            round: Round { from: 0, began: Time::ZERO },
            rtt: Duration::MAX,
            opening: Opening::Unknown,
            began: Time::ZERO,
            has_filled_window: false,
            last: None,
        }
    }

    pub(super) fn on_open(&mut self, now: Time) {
        self.opening = match self.opening {
            Opening::Unknown if self.last.is_none() => Opening::AnsweredAt(now),
            _ => Opening::Over,
        };
    }

    /// A packet has arrived, and the application has read everything below `read`.
    pub(super) fn on_data(&mut self, now: Time, mss: u64, read: u64) {
        if let Opening::AnsweredAt(answered) = core::mem::replace(&mut self.opening, Opening::Over)
        {
            self.rtt = now.since(answered);
        }
        match self.last.replace(now) {
            None => (self.began, self.round.began) = (now, now),
            Some(last) if self.is_long(now.since(last)) => self.begin(),
            Some(_) => {}
        }
        // `tcp_grow_window`, whose acknowledgement does not count.
        if self.window < self.room {
            self.window = (self.window + 2 * mss).min(self.room);
            self.quick |= 1;
        }
        // Data may have come late after the opening, or without one: a window takes at least a
        // round trip.
        if read >= FIRST_WINDOW && !core::mem::replace(&mut self.has_filled_window, true) {
            self.rtt = self.rtt.min(now.since(self.began));
        }
        if read > self.round.from && now.since(self.round.began) >= self.rtt {
            self.end_round(read - self.round.from);
            self.round = Round { from: read, began: now };
        }
    }

    /// Whether the sender is taken to begin anew after this pause (`icsk_rto`, of a first sample).
    fn is_long(&self, pause: Duration) -> bool {
        pause.saturating_sub(self.rtt) > LEAST_PAUSE.max(self.rtt * 2)
    }

    /// Sizes the buffer by what a round trip has brought (`tcp_rcvbuf_grow`): twice that, and more
    /// while it grows, as a sender in slow start doubles.
    fn end_round(&mut self, brought: u64) {
        if brought <= self.most {
            return;
        }
        let twice = u128::from(brought) * 2;
        let growth = twice * u128::from(brought - self.most) / u128::from(self.most);
        let room = u64::try_from(twice + 2 * growth).unwrap_or(u64::MAX);
        self.room = self.room.max(room);
        self.most = brought;
    }

    /// Delays none of the next acknowledgements: the sender begins anew, or may have lost some.
    pub(super) fn begin(&mut self) {
        self.quick = self.quick.max(QUICK);
    }

    pub(super) fn is_quick(&self) -> bool {
        self.quick > 0
    }

    pub(super) fn on_acknowledged(&mut self) {
        self.quick = self.quick.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    /// Packets of slow start over 143 ms at 12 Mbit/s that are acknowledged alone, by round trip,
    /// if every second of the others is acknowledged with the one before. In a capture of Linux
    /// 6.18 they are 10, 12, 32 and 46 of 10, 20, 40 and 80: two in three, which fall differently
    /// where its estimate of the round trip, by time stamps, is longer.
    #[test]
    fn in_slow_start_most_packets_are_acknowledged_alone() {
        let mut prompt = Prompt::new(MSS);
        prompt.on_open(Time::ZERO);
        let (mut next, mut waits) = (0, false);
        let alone = [1, 2, 3, 4].map(|round: u64| {
            let packets = 5 << round;
            let alone = (0..packets).filter(|n| {
                next += MSS;
                prompt.on_data(Time::from_millis(round * 143 + n), MSS, next);
                let (is_now, waited) = (prompt.is_quick() || waits, waits);
                waits = !is_now;
                if is_now {
                    prompt.on_acknowledged();
                }
                is_now && !waited
            });
            alone.count()
        });
        assert_eq!(alone, [10, 12, 24, 67]);
    }

    #[test]
    fn after_a_pause_sixteen_acknowledgements_are_not_delayed() {
        let mut prompt = Prompt::new(MSS);
        prompt.on_open(Time::ZERO);
        let at = |ms: u64, prompt: &mut Prompt| {
            prompt.on_data(Time::from_millis(ms), MSS, 0);
            prompt.on_acknowledged();
        };
        (10..100).for_each(|ms| at(ms, &mut prompt));
        assert!(!prompt.is_quick());
        at(309, &mut prompt);
        assert!(!prompt.is_quick(), "200 ms and a round trip of 10 ms are no long pause");
        (530..546).for_each(|ms| at(ms, &mut prompt));
        assert!(!prompt.is_quick(), "sixteen are over");
        at(770, &mut prompt);
        assert!(prompt.is_quick());
    }

    #[test]
    fn an_opening_that_came_twice_tells_no_round_trip() {
        let rtt = |openings: &[u64], data: u64| {
            let mut prompt = Prompt::new(MSS);
            openings.iter().for_each(|ms| prompt.on_open(Time::from_millis(*ms)));
            prompt.on_data(Time::from_millis(data), MSS, MSS);
            prompt.on_open(Time::from_millis(data + 1));
            prompt.on_data(Time::from_millis(data + 2), MSS, 2 * MSS);
            prompt.rtt
        };
        assert_eq!(rtt(&[600], 1800), Duration::from_millis(1200));
        assert_eq!(rtt(&[600, 1600], 1800), Duration::MAX);
        assert_eq!(rtt(&[], 1800), Duration::MAX);
    }

    /// A first write long after the opening is no long round trip.
    #[test]
    fn the_time_of_a_first_window_bounds_the_round_trip() {
        let mut prompt = Prompt::new(MSS);
        prompt.on_open(Time::ZERO);
        for n in 0..50 {
            prompt.on_data(Time::from_millis(10_000 + 2 * n), MSS, (n + 1) * MSS);
        }
        assert_eq!(prompt.rtt, Duration::from_millis(90));
    }
}
