//! Expectations of a scenario made in code.

use ratewire_units::Duration;
use toml::Table;

use super::{parsed, time};

/// What must come out: a metric, of what, when, and its bound.
#[derive(Clone, Debug)]
pub struct Expect(Table);

impl Expect {
    /// An expectation about a metric; `ratewire scenario --reference` lists all.
    pub fn of(metric: &str) -> Expect {
        let mut table = Table::new();
        table.insert("metric".into(), metric.into());
        Expect(table)
    }

    /// The link that is measured.
    pub fn link(self, name: &str) -> Expect {
        self.put("link", name.into())
    }

    /// The flow that is measured, or, with a `*`, the flows.
    pub fn flow(self, name: &str) -> Expect {
        self.put("flow", name.into())
    }

    /// The part of the run that is measured.
    pub fn during(self, from: Duration, to: Duration) -> Expect {
        let text = |at| time(at).as_str().unwrap_or_default().to_string();
        let window = format!("{} .. {}", text(from), text(to));
        self.put("during", window.into())
    }

    /// The least that passes, in the metric's unit.
    pub fn at_least(self, least: f64) -> Expect {
        self.put("min", least.into())
    }

    /// The most that passes, in the metric's unit.
    pub fn at_most(self, most: f64) -> Expect {
        self.put("max", most.into())
    }

    /// Any other key, with its value as a file has it: `equals` and `"10 Mbit/s"`, or `min` and `"50 ms"`.
    /// What is no TOML is text.
    pub fn with(self, key: &str, value: &str) -> Expect {
        self.put(key, parsed(value))
    }

    fn put(mut self, key: &str, value: toml::Value) -> Expect {
        self.0.insert(key.into(), value);
        self
    }

    pub(super) fn into_table(self) -> Table {
        self.0
    }
}
