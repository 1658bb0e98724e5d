//! Promises about messages, as an option.

use clap::ValueEnum;
use ratewire_groups::client;
use serde::Serialize;

/// Promise about messages. Each keeps those of the services before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Service {
    /// A message may be lost
    Unreliable,
    /// Every member gets a message
    Reliable,
    /// A sender's messages come in the order of sending
    Fifo,
    /// A message comes after those that its sender had got before
    Causal,
    /// All members get messages in the same order
    Agreed,
    /// A member gets a message only when all daemons have it
    Safe,
}

impl Service {
    /// The service's name as an option.
    pub(super) fn name(self) -> &'static str {
        match self {
            Service::Unreliable => "unreliable",
            Service::Reliable => "reliable",
            Service::Fifo => "fifo",
            Service::Causal => "causal",
            Service::Agreed => "agreed",
            Service::Safe => "safe",
        }
    }
}

impl From<Service> for client::Service {
    fn from(service: Service) -> client::Service {
        match service {
            Service::Unreliable => client::Service::Unreliable,
            Service::Reliable => client::Service::Reliable,
            Service::Fifo => client::Service::Fifo,
            Service::Causal => client::Service::Causal,
            Service::Agreed => client::Service::Agreed,
            Service::Safe => client::Service::Safe,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_option() {
        for service in Service::value_variants() {
            let value = service.to_possible_value().expect("none is hidden");
            assert_eq!(value.get_name(), service.name());
        }
    }
}
