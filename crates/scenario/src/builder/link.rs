//! Links of a scenario made in code.

use ratewire_units::{Duration, Rate};
use toml::Table;

use super::{parsed, rate, time};

/// Properties of a link. By default its queue holds one bandwidth-delay product.
#[derive(Clone, Debug)]
pub struct Link {
    name: Option<String>,
    properties: Table,
}

/// 100 Mbit/s and 1 ms: a link that connects and is no bottleneck.
impl Default for Link {
    fn default() -> Link {
        Link::new(Rate::from_mbps(100), Duration::from_millis(1))
    }
}

impl Link {
    /// A link that sends at `bandwidth`; each packet arrives `delay` after it was sent.
    pub fn new(bandwidth: Rate, delay: Duration) -> Link {
        let mut properties = Table::new();
        properties.insert("rate".into(), rate(bandwidth));
        properties.insert("delay".into(), time(delay));
        Link { name: None, properties }
    }

    /// Names the link. Figures and verdicts are about the link called `bottleneck`, if there is
    /// one.
    pub fn named(self, name: &str) -> Link {
        Link { name: Some(name.to_string()), ..self }
    }

    /// Capacity of the queue: `100 packets`, `64 KB`, `50 ms`, `2 bdp` or `unlimited`.
    pub fn queue(self, room: &str) -> Link {
        self.with("queue", room)
    }

    /// Sets any other property, with its value as in a file: `discipline` and `{ codel = { ecn =
    /// true } }`, or `loss` and `{ random = 0.01 }`.
    ///
    /// A value that is not TOML is taken as text.
    pub fn with(mut self, key: &str, value: &str) -> Link {
        self.properties.insert(key.into(), parsed(value));
        self
    }

    pub(super) fn name(&self) -> Option<String> {
        self.name.clone()
    }

    pub(super) fn properties(self) -> Table {
        self.properties
    }
}
