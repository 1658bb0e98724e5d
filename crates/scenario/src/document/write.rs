//! Writes a document as TOML: the scenario that a run took, with the values set in it.

use toml_writer::{ToTomlKey, ToTomlValue};

use super::{Entry, Item, Table, Value};

/// Sets a key of the document's top table, as its first entry: one text, wherever it stood.
pub(crate) fn put(root: &mut Item, key: &str, value: Value) {
    let Value::Table(table) = &mut root.value else { return };
    table.entries.retain(|entry| entry.key != key);
    let item = Item { value, span: root.span };
    table.entries.insert(0, Entry { key: key.to_string(), key_span: root.span, item });
}

/// Removes keys from each table of a list of the document's top table.
pub(crate) fn strip(root: &mut Item, list: &str, keys: &[&str]) {
    let Value::Table(table) = &mut root.value else { return };
    let Some(Value::List(items)) = table.get_mut(list).map(|entry| &mut entry.item.value) else {
        return;
    };
    for item in items {
        if let Value::Table(table) = &mut item.value {
            table.entries.retain(|entry| !keys.contains(&entry.key.as_str()));
        }
    }
}

/// The document as text. Comments, and the author's choice between tables and inline tables, are
/// not kept.
pub(crate) fn text(root: &Item) -> String {
    let mut out = String::new();
    if let Value::Table(table) = &root.value {
        write_table(&mut out, "", table);
    }
    out
}

/// Writes a table's entries: plain values first, because a table's heading ends the table before.
fn write_table(out: &mut String, path: &str, table: &Table) {
    for entry in table.entries.iter().filter(|entry| !has_heading(&entry.item.value)) {
        *out += &format!("{} = {}\n", entry.key.to_toml_key(), inline(&entry.item.value));
    }
    for entry in table.entries.iter().filter(|entry| has_heading(&entry.item.value)) {
        let key = entry.key.to_toml_key();
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        let (tables, heading) = match &entry.item.value {
            Value::List(items) => (items.as_slice(), format!("[[{path}]]\n")),
            _ => (std::slice::from_ref(&entry.item), format!("[{path}]\n")),
        };
        for item in tables {
            if !out.is_empty() {
                out.push('\n');
            }
            *out += &heading;
            if let Value::Table(inner) = &item.value {
                write_table(out, &path, inner);
            }
        }
    }
}

fn has_heading(value: &Value) -> bool {
    match value {
        Value::Table(_) => true,
        Value::List(items) => {
            !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::Table(_)))
        }
        _ => false,
    }
}

pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Other(text) => text.to_toml_value(),
        Value::Integer(n) => n.to_toml_value(),
        Value::Float(n) => n.to_toml_value(),
        Value::Switch(v) => v.to_toml_value(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let entry = |e: &Entry| format!("{} = {}", e.key.to_toml_key(), inline(&e.item.value));
            let entries: Vec<String> = table.entries.iter().map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::document::parse;

    fn read(text: &str) -> Item {
        parse(&Source { name: "a.toml".into(), text: text.into() }).expect("a document")
    }

    #[test]
    fn a_document_is_written_with_plain_values_before_tables() {
        let mut root = read(
            "seed = 18446744073709551615\nb = { c = { d = [1, { e = 0.5 }] }, f = true }\n\
             [[g]]\nh = 1\n[g.i]\nj = \"1 s\"\n[[g]]\n[k]\n\"l m\" = []\n",
        );
        put(&mut root, "law", Value::Text("a \"b\"".into()));
        let written = text(&root);
        let expected = "law = 'a \"b\"'\nseed = 18446744073709551615\n\n[b]\nf = true\n\n[b.c]\n\
                        d = [1, { e = 0.5 }]\n\n[[g]]\nh = 1\n\n[g.i]\nj = \"1 s\"\n\n[[g]]\n\n[k]\n\
                        \"l m\" = []\n";
        assert_eq!(written, expected);
        assert_eq!(text(&read(&written)), written);
    }

    #[test]
    fn a_key_that_is_put_comes_first_wherever_it_was() {
        for given in ["a = 1\nlaw = [\"xcp\", \"cubic\"]\n", "law = \"xcp\"\na = 1\n", "a = 1\n"] {
            let mut root = read(given);
            put(&mut root, "law", Value::Text("rcp".into()));
            assert_eq!(text(&root), "law = \"rcp\"\na = 1\n");
        }
    }
}
