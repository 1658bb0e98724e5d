//! Expectations of a scenario made in code.

use ratewire_units::Duration;
use toml::Table;

use super::{parsed, time};

/// A metric, its target, its window and the bound that must hold.
#[derive(Clone, Debug)]
pub struct Expect(Table);

impl Expect {
    /// An expectation about `metric`; `ratewire scenario --reference` lists all metrics.
    pub fn of(metric: &str) -> Expect {
        let mut table = Table::new();
        table.insert("metric".into(), metric.into());
        Expect(table)
    }

    /// Measures the link called `name`.
    pub fn link(self, name: &str) -> Expect {
        self.put("link", name.into())
    }

    /// Measures the flow called `name`; a `*` in it chooses several flows.
    pub fn flow(self, name: &str) -> Expect {
        self.put("flow", name.into())
    }

    /// Measures the part of the run from `from` to `to`.
    pub fn during(self, from: Duration, to: Duration) -> Expect {
        let text = |at| time(at).as_str().unwrap_or_default().to_string();
        let window = format!("{} .. {}", text(from), text(to));
        self.put("during", window.into())
    }

    /// Smallest value that passes, in the metric's unit.
    pub fn at_least(self, least: f64) -> Expect {
        self.put("min", least.into())
    }

    /// Largest value that passes, in the metric's unit.
    pub fn at_most(self, most: f64) -> Expect {
        self.put("max", most.into())
    }

    /// Sets any other key, with its value as in a file: `equals` and `"10 Mbit/s"`, or `min` and
    /// `"50 ms"`.
    ///
    /// A value that is not TOML is taken as text.
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
