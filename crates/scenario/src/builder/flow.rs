//! Flows of a scenario made in code.

use ratewire_units::{Bytes, Duration};
use toml::Table;

use super::{parsed, time};

/// A flow, or several alike: unlimited data from the start of the run, where nothing else is said.
#[derive(Clone, Debug)]
pub struct Flow(Table);

impl Flow {
    /// A flow from one node to another. A `*` in a name stands for any text, and makes a flow of each pair.
    pub fn new(from: &str, to: &str) -> Flow {
        let mut flow = Table::new();
        flow.insert("from".into(), from.into());
        flow.insert("to".into(), to.into());
        Flow(flow)
    }

    /// Its name; `from->to` where nothing is said.
    pub fn named(self, name: &str) -> Flow {
        self.put("name", name.into())
    }

    /// When it starts.
    pub fn start(self, at: Duration) -> Flow {
        self.put("start", time(at))
    }

    /// When its application stops writing; what is written is still delivered.
    pub fn stop(self, at: Duration) -> Flow {
        self.put("stop", time(at))
    }

    /// Payload to send; then the flow is over.
    pub fn size(self, size: Bytes) -> Flow {
        self.put("size", format!("{} B", size.get()).into())
    }

    /// Its law, in place of the scenario's.
    pub fn law(self, law: &str) -> Flow {
        self.put("law", law.into())
    }

    /// Any other key, with its value as a file has it: `transport` and `{ ecn = true }`. What is no TOML is
    /// text.
    pub fn with(self, key: &str, value: &str) -> Flow {
        self.put(key, parsed(value))
    }

    fn put(mut self, key: &str, value: toml::Value) -> Flow {
        self.0.insert(key.into(), value);
        self
    }

    pub(super) fn into_table(self) -> Table {
        self.0
    }
}
