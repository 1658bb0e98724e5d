//! Flows of a scenario made in code.

use ratewire_units::{Bytes, Duration};
use toml::Table;

use super::{parsed, time};

/// A flow, or several alike. By default it has unlimited data from the start of the run.
#[derive(Clone, Debug)]
pub struct Flow(Table);

impl Flow {
    /// A flow from one node to another. A `*` in a name matches any text and makes a flow of each
    /// pair.
    pub fn new(from: &str, to: &str) -> Flow {
        let mut flow = Table::new();
        flow.insert("from".into(), from.into());
        flow.insert("to".into(), to.into());
        Flow(flow)
    }

    /// Names the flow; the default is `from->to`.
    pub fn named(self, name: &str) -> Flow {
        self.put("name", name.into())
    }

    /// Time at which the flow starts.
    pub fn start(self, at: Duration) -> Flow {
        self.put("start", time(at))
    }

    /// Time at which the application stops writing; data written before are still delivered.
    pub fn stop(self, at: Duration) -> Flow {
        self.put("stop", time(at))
    }

    /// Payload after which the flow ends.
    pub fn size(self, size: Bytes) -> Flow {
        self.put("size", format!("{} B", size.get()).into())
    }

    /// Law of the flow, in place of the scenario's.
    pub fn law(self, law: &str) -> Flow {
        self.put("law", law.into())
    }

    /// Sets any other key, with its value as in a file: `transport` and `{ ecn = true }`.
    ///
    /// A value that is not TOML is taken as text.
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
