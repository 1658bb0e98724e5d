//! The scenario that a run takes, as text.

use crate::document::{Item, Value, write};

use super::Scenario;

/// Keys of an expectation that say what its value must be, and nothing of what is measured.
const BOUND_KEYS: [&str; 8] =
    ["min", "max", "equals", "tolerance", "basis", "source", "note", "emulated"];

impl Scenario {
    /// The scenario that a run takes, as TOML: with values set, and one law and seed.
    ///
    /// Read from the scenario's folder, the text gives an equal [`Setup`]. Comments are not kept.
    ///
    /// [`Setup`]: ratewire_sim::setup::Setup
    pub fn effective(&self, law: &str, seed: u64) -> String {
        self.text_with(self.written(law), seed)
    }

    /// As [`Scenario::effective`], with the law's name wherever its file is, so that equal runs
    /// have equal texts.
    pub fn effective_by_name(&self, law: &str, seed: u64) -> String {
        self.text_with(law, seed)
    }

    /// As [`Scenario::effective_by_name`], with expectations that say what they measure and nothing
    /// of its bounds: runs with equal texts measure the same.
    pub fn measured_by_name(&self, law: &str, seed: u64) -> String {
        let mut root = Item::clone(&self.document);
        write::strip(&mut root, "expect", &BOUND_KEYS);
        Scenario::text_of(root, law, seed)
    }

    fn text_with(&self, law: &str, seed: u64) -> String {
        Scenario::text_of(Item::clone(&self.document), law, seed)
    }

    fn text_of(mut root: Item, law: &str, seed: u64) -> String {
        write::put(&mut root, "seed", Value::Integer(seed.into()));
        write::put(&mut root, "law", Value::Text(law.to_string()));
        write::text(&root)
    }

    /// The scenario with values set and these laws, as TOML: the file that a run of these laws
    /// needs no further values for.
    ///
    /// The text is to be read from the scenario's folder. Comments are not kept.
    pub fn effective_for(&self, laws: &[String]) -> String {
        let mut root = Item::clone(&self.document);
        let text = |law: &String| Value::Text(self.written(law).to_string());
        let law = |law: &String| Item { value: text(law), span: root.span };
        let all = match laws {
            [one] => text(one),
            several => Value::List(several.iter().map(law).collect()),
        };
        write::put(&mut root, "law", all);
        write::text(&root)
    }
}
