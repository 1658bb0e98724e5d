//! Benefit of a message to its sender (section 4.2.2).
//!
//! The paper pays every client the same and charges the cost of a message. A higher benefit lowers
//! the charge: a client pays the message's cost divided by its benefit. With a benefit of one a
//! message, this is the paper's rule to the letter.

use ratewire_units::{Duration, Time};

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
}

/// Recent messages of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    messages: f64,
    at: Time,
}

impl Recent {
    /// Sets the clock back.
    pub(crate) fn set_back(&mut self, by: Duration) {
        self.at = self.at - by;
    }

    fn as_of(&self, now: Time, memory: Duration) -> f64 {
        self.messages * libm::exp(-now.since(self.at).secs() / memory.secs())
    }
}

impl Benefit {
    /// Names of the benefits; the first is the default.
    pub const NAMES: &[&str] = &["per-message", "per-receiver", "concave"];

    /// The benefit with this name. `memory` is the time constant of the concave one.
    pub fn named(name: &str, memory: Duration) -> Option<Benefit> {
        match name {
            "per-message" => Some(Benefit::PerMessage),
            "per-receiver" => Some(Benefit::PerReceiver),
            "concave" => Some(Benefit::Concave(memory)),
            _ => None,
        }
    }

    /// The benefit's name.
    pub fn name(self) -> &'static str {
        match self {
            Benefit::PerMessage => "per-message",
            Benefit::PerReceiver => "per-receiver",
            Benefit::Concave(_) => "concave",
        }
    }

    /// The time constant of the concave benefit.
    pub fn memory(self) -> Option<Duration> {
        match self {
            Benefit::Concave(memory) => Some(memory),
            Benefit::PerMessage | Benefit::PerReceiver => None,
        }
    }

    /// Benefit of a client's next message to `receivers` nodes.
    pub fn of(self, now: Time, recent: &Recent, receivers: usize) -> f64 {
        match self {
            Benefit::PerMessage => 1.0,
            Benefit::Concave(memory) => 1.0 / (1.0 + recent.as_of(now, memory)),
            Benefit::PerReceiver => (receivers as f64).max(1.0),
        }
    }

    /// Notes that a message was sent.
    pub fn note(self, now: Time, recent: &mut Recent) {
        if let Benefit::Concave(memory) = self {
            *recent = Recent { messages: recent.as_of(now, memory) + 1.0, at: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_was_sent_of_late_the_less_the_next_is_worth() {
        let benefit = Benefit::Concave(Duration::from_secs(1));
        let mut recent = Recent::default();
        let worth: Vec<f64> = (0..4)
            .map(|_| {
                let worth = benefit.of(Time::ZERO, &recent, 1);
                benefit.note(Time::ZERO, &mut recent);
                worth
            })
            .collect();
        assert_eq!(worth, [1.0, 0.5, 1.0 / 3.0, 0.25]);
        let later = Time::ZERO + Duration::from_secs(1);
        let left = 4.0 * libm::exp(-1.0);
        assert!((benefit.of(later, &recent, 1) - 1.0 / (1.0 + left)).abs() < 1e-12);
    }

    #[test]
    fn receivers_count_where_they_are_to() {
        let recent = Recent::default();
        assert_eq!(Benefit::PerReceiver.of(Time::ZERO, &recent, 7), 7.0);
        assert_eq!(Benefit::PerMessage.of(Time::ZERO, &recent, 7), 1.0);
    }

    #[test]
    fn names_lead_to_benefits_and_back() {
        let memory = Duration::from_secs(3);
        for name in Benefit::NAMES {
            assert_eq!(Benefit::named(name, memory).unwrap().name(), *name);
        }
        assert_eq!(Benefit::named(Benefit::NAMES[0], memory), Some(Benefit::default()));
        assert_eq!(Benefit::named("convex", memory), None);
    }
}
