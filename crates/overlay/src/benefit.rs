//! Benefit of a message to its sender (section 4.2.2).
//!
//! The paper pays every client the same and charges the cost of a message. A higher benefit lowers
//! the charge: a client pays the message's cost divided by its benefit. With a benefit of one a
//! message, this is the paper's rule to the letter.
//!
//! Decisions that the paper leaves open about layers (section 4.1):
//! - Its kilobytes are 1,000 bytes a second, and its dollars are for a whole layer: $10 a second
//!   for the first 2 KB/s. A client's rate is its recent data, forgotten with a time constant,
//!   divided by that time constant.
//! - A message is worth what a full packet adds to the stream at the sender's rate, because prices
//!   are those of packets: $7.20 in the first layer, $0.72 in the second, $0.0576 in the third. By
//!   its own length, a message of a few bytes would never be worth the fee.
//! - Data beyond the last layer is worth nothing and waits, unless it costs nothing.

use core::ops::RangeInclusive;

use ratewire_units::{Bytes, Duration, Time};

/// Data of a message that counts as one in queues and prices: what fits in a packet.
pub const PACKET: Bytes = Bytes::new(1440);
/// Weights that the benefit of a message may have: messages cost their sender a part of one in so
/// many.
pub const WEIGHTS: RangeInclusive<f64> = 1e-3..=1e3;
/// Layers of a stream (section 4.1): bytes a second, and what all of them are worth in dollars a
/// second.
const LAYERS: [(f64, f64); 3] = [(2e3, 10.0), (10e3, 5.0), (50e3, 2.0)];

/// Benefit of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Benefit {
    /// One a message: maximises the number of messages. The paper's choice.
    #[default]
    PerMessage,
    /// `1 / (1 + n)`, where n counts the client's recent messages, forgotten with this time
    /// constant: no sender starves. The paper counts all messages of a connection. Without
    /// forgetting, every long-lived connection would become too poor to send.
    Concave(Duration),
    /// One for each node that receives it, so that large groups go first.
    PerReceiver,
    /// What a packet adds to the worth of the client's stream, which comes in layers: the first
    /// 2 KB/s are worth $10 a second, the next 10 KB/s $5 and the next 50 KB/s $2 (section 4.1).
    /// The client's rate is taken over this time.
    Layered(Duration),
}

/// What a client sent of late: messages of the concave benefit, and bytes of the layered one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    amount: f64,
    at: Time,
}

impl Recent {
    /// Sets the clock back.
    pub(crate) fn set_back(&mut self, by: Duration) {
        self.at = self.at - by;
    }

    fn as_of(&self, now: Time, memory: Duration) -> f64 {
        self.amount * libm::exp(-now.since(self.at).secs() / memory.secs())
    }
}

impl Benefit {
    /// Names of the benefits; the first is the default.
    pub const NAMES: &[&str] = &["per-message", "per-receiver", "concave", "layered"];

    /// The benefit with this name. `memory` is the time constant of the last two.
    pub fn named(name: &str, memory: Duration) -> Option<Benefit> {
        match name {
            "per-message" => Some(Benefit::PerMessage),
            "per-receiver" => Some(Benefit::PerReceiver),
            "concave" => Some(Benefit::Concave(memory)),
            "layered" => Some(Benefit::Layered(memory)),
            _ => None,
        }
    }

    /// The benefit's name.
    pub fn name(self) -> &'static str {
        match self {
            Benefit::PerMessage => "per-message",
            Benefit::PerReceiver => "per-receiver",
            Benefit::Concave(_) => "concave",
            Benefit::Layered(_) => "layered",
        }
    }

    /// The time constant with which the benefit forgets, if it does.
    pub fn memory(self) -> Option<Duration> {
        match self {
            Benefit::Concave(memory) | Benefit::Layered(memory) => Some(memory),
            Benefit::PerMessage | Benefit::PerReceiver => None,
        }
    }

    /// Benefit of a client's next message to `receivers` nodes.
    pub fn of(self, now: Time, recent: &Recent, receivers: usize) -> f64 {
        match self {
            Benefit::PerMessage => 1.0,
            Benefit::Concave(memory) => 1.0 / (1.0 + recent.as_of(now, memory)),
            Benefit::PerReceiver => (receivers as f64).max(1.0),
            Benefit::Layered(memory) => {
                let rate = recent.as_of(now, memory) / memory.secs();
                layers().find(|layer| rate < layer.top).map_or(0.0, |layer| layer.packet)
            }
        }
    }

    /// When the layered benefit, too small now, will be at least `least`, because the client's
    /// recent data is forgotten. `None` if it never will, and of other benefits.
    pub fn rises_to(self, least: f64, now: Time, recent: &Recent) -> Option<Time> {
        let Benefit::Layered(memory) = self else { return None };
        let rate = recent.as_of(now, memory) / memory.secs();
        let below = layers().take_while(|layer| layer.packet >= least).last()?.top;
        (rate >= below).then(|| now + memory.scale(libm::log(rate / below)))
    }

    /// Notes that a message with so much of the client's own data was sent.
    pub fn note(self, now: Time, recent: &mut Recent, data: Bytes) {
        let (memory, amount) = match self {
            Benefit::PerMessage | Benefit::PerReceiver => return,
            Benefit::Concave(memory) => (memory, 1.0),
            Benefit::Layered(memory) => (memory, data.as_f64()),
        };
        *recent = Recent { amount: recent.as_of(now, memory) + amount, at: now };
    }
}

/// A layer of a stream.
struct Layer {
    /// Rate at which the layer is full, in bytes a second.
    top: f64,
    /// What a packet adds to the stream below that rate, in dollars: the slope of f(r).
    packet: f64,
}

/// The layers, the most valuable first.
fn layers() -> impl Iterator<Item = Layer> {
    LAYERS.into_iter().scan(0.0, |top, (width, dollars)| {
        *top += width;
        Some(Layer { top: *top, packet: dollars / width * PACKET.as_f64() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const DATA: Bytes = Bytes::new(1000);

    /// A client that has just sent so many bytes.
    fn after(benefit: Benefit, bytes: u64) -> Recent {
        let mut recent = Recent::default();
        benefit.note(Time::ZERO, &mut recent, Bytes::new(bytes));
        recent
    }

    #[test]
    fn the_more_was_sent_of_late_the_less_the_next_is_worth() {
        let benefit = Benefit::Concave(SECOND);
        let mut recent = Recent::default();
        let worth: Vec<f64> = (0..4)
            .map(|_| {
                let worth = benefit.of(Time::ZERO, &recent, 1);
                benefit.note(Time::ZERO, &mut recent, DATA);
                worth
            })
            .collect();
        assert_eq!(worth, [1.0, 0.5, 1.0 / 3.0, 0.25]);
        let later = Time::ZERO + SECOND;
        let left = 4.0 * libm::exp(-1.0);
        assert!((benefit.of(later, &recent, 1) - 1.0 / (1.0 + left)).abs() < 1e-12);
    }

    #[test]
    fn receivers_count_where_they_are_to() {
        let recent = Recent::default();
        assert_eq!(Benefit::PerReceiver.of(Time::ZERO, &recent, 7), 7.0);
        assert_eq!(Benefit::PerMessage.of(Time::ZERO, &recent, 7), 1.0);
        assert_eq!(Benefit::Layered(SECOND).of(Time::ZERO, &recent, 7), 7.2);
    }

    /// $10 for 2 KB are $7.20 for 1,440 bytes, $5 for 10 KB are $.72, and $2 for 50 KB are $.0576.
    /// With a memory of ten seconds, ten times as much is the same rate.
    #[test]
    fn a_packet_is_worth_its_layer() {
        let table = [
            (0, 7.2),
            (1_999, 7.2),
            (2_000, 0.72),
            (11_999, 0.72),
            (12_000, 0.0576),
            (61_999, 0.0576),
            (62_000, 0.0),
            (1_000_000_000, 0.0),
        ];
        for (rate, worth) in table {
            for seconds in [1, 10] {
                let benefit = Benefit::Layered(SECOND * seconds);
                let recent = after(benefit, rate * seconds);
                let found = benefit.of(Time::ZERO, &recent, 1);
                assert!((found - worth).abs() < 1e-12, "{rate} B/s over {seconds} s: {found}");
            }
        }
    }

    /// The sums of section 4.1: $250 for 25 voices in 50 KB/s, $17 for a stream with all layers.
    #[test]
    fn layers_add_up_to_the_papers_sums() {
        let benefit = Benefit::Layered(SECOND);
        let sum = |rate: u64| {
            let byte = |sent| benefit.of(Time::ZERO, &after(benefit, sent), 1) / 1440.0;
            (0..rate).map(byte).sum::<f64>()
        };
        assert!((25.0 * sum(2_000) - 250.0).abs() < 1e-6);
        assert!((sum(62_000) - 17.0).abs() < 1e-6 && (sum(70_000) - 17.0).abs() < 1e-6);
    }

    /// Of 124,000 bytes, 62,000 are left after ln 2 of the memory, and 12,000 after ln(124/12).
    #[test]
    fn what_is_worth_nothing_is_worth_more_later() {
        let benefit = Benefit::Layered(SECOND * 2);
        let recent = after(benefit, 248_000);
        let rises = |least| benefit.rises_to(least, Time::ZERO, &recent);
        for (least, left) in [(0.05, 62.0), (0.06, 12.0), (0.72, 12.0), (0.73, 2.0)] {
            let at = rises(least).expect("it rises");
            let expected = 2.0 * libm::log(124.0 / left);
            assert!((at.since(Time::ZERO).secs() - expected).abs() < 1e-9, "{least}: {at:?}");
            let [before, later] = [at - SECOND / 1000, at + SECOND / 1000]
                .map(|time| benefit.of(time, &recent, 1) >= least);
            assert!(!before && later, "{least}");
        }
        assert_eq!(rises(7.3), None, "more than any packet is worth");
        assert_eq!(rises(f64::INFINITY), None);
        assert_eq!(benefit.rises_to(0.72, Time::ZERO, &after(benefit, 23_999)), None, "it is now");
        assert_eq!(Benefit::Concave(SECOND).rises_to(0.5, Time::ZERO, &recent), None);
    }

    #[test]
    fn names_lead_to_benefits_and_back() {
        let memory = Duration::from_secs(3);
        for name in Benefit::NAMES {
            let benefit = Benefit::named(name, memory).unwrap();
            assert_eq!(benefit.name(), *name);
            let forgets = matches!(benefit, Benefit::Concave(_) | Benefit::Layered(_));
            assert_eq!(benefit.memory(), forgets.then_some(memory));
        }
        assert_eq!(Benefit::named(Benefit::NAMES[0], memory), Some(Benefit::default()));
        assert_eq!(Benefit::named("convex", memory), None);
    }
}
