//! Files of laws that a scenario names in place of laws.

use std::collections::BTreeSet;

use crate::diagnostic::Source;
use crate::document::{self, Item, Value};
use crate::overrides;

/// Ends of the names of shared objects.
const ENDS: [&str; 2] = [".so", ".dylib"];

/// Whether a law's name is that of a file.
pub fn is_law_file(name: &str) -> bool {
    ENDS.iter().any(|end| name.ends_with(end))
}

/// Files that a scenario with these values names as laws: under any key `law`.
///
/// Empty for a text that is no scenario; reading it reports why.
pub fn law_files(text: &str, values: &[(String, String)]) -> BTreeSet<String> {
    let mut sources = vec![Source { name: String::new(), text: text.to_string() }];
    let mut found = BTreeSet::new();
    if let Ok(mut root) = document::parse(&sources[0]) {
        for (path, value) in values {
            // A value that cannot be set is refused as the scenario is read.
            let _ = overrides::apply(&mut root, &mut sources, path, value);
        }
        collect(&root, &mut found);
    }
    found
}

fn collect(item: &Item, found: &mut BTreeSet<String>) {
    match &item.value {
        Value::List(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Table(table) => {
            for entry in &table.entries {
                match &entry.item.value {
                    value if entry.key == "law" => note(value, found),
                    _ => collect(&entry.item, found),
                }
            }
        }
        _ => {}
    }
}

fn note(law: &Value, found: &mut BTreeSet<String>) {
    match law {
        Value::Text(name) if is_law_file(name) => {
            found.insert(name.clone());
        }
        Value::List(laws) => laws.iter().for_each(|law| note(&law.value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_wherever_a_law_may_stand() {
        let text = "law = [\"xcp\", \"./a.so\"]\n[topology]\nbottleneck = { law = \"b.so\" }\n\
                    [variant.v]\nlaw = \"/c/c.dylib\"\n[[flow]]\nlaw = \"./a.so\"\nfrom = \"d.so\"\n\
                    [[flow]]\nlaw = \"cubic\"\n";
        let set = |key: &str, value: &str| (key.to_string(), value.to_string());
        let found = law_files(text, &[set("flow.2.law", "../e.so")]);
        assert_eq!(Vec::from_iter(found), ["../e.so", "./a.so", "/c/c.dylib", "b.so"]);
        assert!(law_files("law = ", &[]).is_empty());
    }
}
