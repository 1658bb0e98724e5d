//! `--set path=value`: values from the command line, put into the document before it is checked.

use crate::context::listing;
use crate::diagnostic::{Diagnostic, Severity, Source, Span, nearest};
use crate::document::{Entry, Item, Table, Value, parse_value};
use crate::keys::{self, Kind};

/// What diagnostics say in place of a file.
pub(crate) const SOURCE: &str = "--set";

/// Puts `value` at `path`. Its text becomes a source of its own, so that diagnostics can show it.
///
/// # Errors
/// When the path leads nowhere. Keys that do not exist are found later, like those of a file.
pub(crate) fn apply(
    root: &mut Item,
    sources: &mut Vec<Source>,
    path: &str,
    value: &str,
) -> Result<(), Box<Diagnostic>> {
    let index = sources.len();
    let text = format!("{path}={value}");
    let key_span = Span { source: index, start: 0, end: path.len() };
    sources.push(Source { name: SOURCE.to_string(), text });
    let source = &sources[index];
    let refuse = |message: String, help: &str, nearest: Option<String>| {
        let at = source.diagnostic(Severity::Error, key_span, message);
        Box::new(Diagnostic { help: Some(help.to_string()), nearest, ..at })
    };
    let mut segments = split(path);
    if segments.is_empty() || segments.iter().any(String::is_empty) {
        let help = "for example topology.bottleneck.rate, or flow.2.start for the second flow";
        return Err(refuse(format!("{path:?} is not a path"), help, None));
    }
    // `bottleneck.rate` is short for `topology.bottleneck.rate`.
    if keys::find("", &segments[0]).is_none() && keys::find("topology", &segments[0]).is_some() {
        segments.insert(0, "topology".to_string());
    }
    if keys::find("", &segments[0]).is_none() {
        let first = keys::keys().filter(|key| matches!(key.table, "" | "topology"));
        if let Some(near) = nearest(&segments[0], first.map(|key| key.name)) {
            let message = format!("nothing is called `{}`", segments[0]);
            let help = "a path begins with a table of the scenario, or a key of [topology]";
            return Err(refuse(message, help, Some(near)));
        }
    }
    let item = item(source, index, path.len() + 1, kind(&segments));
    let Value::Table(table) = &mut root.value else { return Ok(()) };
    make_list(table, &segments, key_span);
    put(table, &segments, &item, key_span).map_err(|Missed { why, nearest }| {
        let help = "entries of a list are chosen by number from 1, by `name`, or all by `*`";
        refuse(why, help, nearest)
    })
}

/// Splits at dots; text in double quotes stays whole.
fn split(path: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let mut quoted = false;
    for c in path.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => segments.push(String::new()),
            _ => segments.iter_mut().last().into_iter().for_each(|segment| segment.push(c)),
        }
    }
    segments
}

/// What the key at the end of the path may hold, as far as the table of keys tells.
fn kind(segments: &[String]) -> Option<Kind> {
    let mut table = "";
    let mut found = None;
    for segment in segments {
        let key = keys::find(table, segment)
            .or_else(|| if table == "link" { keys::find("properties", segment) } else { None });
        // The number or name of an entry of a list.
        let Some(key) = key else { continue };
        found = Some(key.kind);
        if let Kind::Table(inner) | Kind::Tables(inner) = key.kind {
            table = inner;
        }
    }
    found
}

/// The value, as TOML where it is that, else as text.
fn item(source: &Source, index: usize, from: usize, kind: Option<Kind>) -> Item {
    let text = source.text[from..].trim();
    let span = Span { source: index, start: from, end: source.text.len() };
    let plain = |text: String| Item { value: Value::Text(text), span };
    if kind == Some(Kind::Text) && !text.starts_with(['"', '\'']) {
        return plain(text.to_string());
    }
    // Sweeps are easier to type with `10M` than with "10 Mbit/s".
    let last = text.chars().next_back();
    if kind == Some(Kind::Rate)
        && let Some(letter @ ('k' | 'M' | 'G' | 'T')) = last
        && text[..text.len() - 1].trim().parse::<f64>().is_ok()
    {
        return plain(format!("{} {letter}bit/s", &text[..text.len() - 1]));
    }
    match parse_value(source, index, from) {
        Some(Item { value: Value::Other(_), .. }) | None => plain(text.to_string()),
        Some(item) => item,
    }
}

/// Why a path leads nowhere, and the name that was probably meant.
struct Missed {
    why: String,
    nearest: Option<String>,
}

fn put(table: &mut Table, segments: &[String], item: &Item, span: Span) -> Result<(), Missed> {
    let (segment, rest) = (&segments[0], &segments[1..]);
    if rest.is_empty() {
        let put = Entry { key: segment.clone(), key_span: span, item: item.clone() };
        match table.get_mut(segment) {
            Some(entry) => *entry = put,
            None => table.entries.push(put),
        }
        return Ok(());
    }
    if table.get(segment).is_none() {
        let empty = Item { value: Value::Table(Table::default()), span };
        table.entries.push(Entry { key: segment.clone(), key_span: span, item: empty });
    }
    let Some(entry) = table.get_mut(segment) else { return Ok(()) };
    match &mut entry.item.value {
        Value::Table(inner) => put(inner, rest, item, span),
        Value::List(items) => {
            for at in chosen(items, segment, &rest[0])? {
                match &mut items[at] {
                    one if rest.len() == 1 => *one = item.clone(),
                    Item { value: Value::Table(inner), .. } => put(inner, &rest[1..], item, span)?,
                    other => return Err(no_table(&format!("{segment}.{}", at + 1), &other.value)),
                }
            }
            Ok(())
        }
        other => Err(no_table(segment, other)),
    }
}

fn no_table(what: &str, value: &Value) -> Missed {
    Missed { why: format!("`{what}` is {}, not a table", value.describe()), nearest: None }
}

/// The places of the entries of the list `list` that are `wanted`.
fn chosen(items: &[Item], list: &str, wanted: &str) -> Result<Vec<usize>, Missed> {
    if wanted == "*" && !items.is_empty() {
        return Ok((0..items.len()).collect());
    }
    let named: Vec<usize> =
        (0..items.len()).filter(|at| name(&items[*at]) == Some(wanted)).collect();
    let number = wanted.parse().ok().filter(|number| (1..=items.len()).contains(number));
    match (number, named.first()) {
        (None, Some(_)) => Ok(named),
        (Some(number), None) => Ok(vec![number - 1]),
        (Some(number), Some(_)) if named == [number - 1] => Ok(named),
        (Some(number), Some(other)) => Err(Missed {
            why: format!(
                "`{list}.{wanted}` may be entry {number} or entry {}, whose name is {wanted:?}",
                other + 1
            ),
            nearest: None,
        }),
        (None, None) => Err(none_is(items, list, wanted)),
    }
}

/// That no entry is `wanted`, and which there are.
fn none_is(items: &[Item], list: &str, wanted: &str) -> Missed {
    let names: Vec<&str> = items.iter().filter_map(name).collect();
    let named = match names[..] {
        [] => String::new(),
        _ => format!("; named are {}", listing(&names)),
    };
    let there_are = match items.len() {
        0 => "there are none".to_string(),
        1 => "there is one, 1".to_string(),
        count => format!("there are 1 to {count}"),
    };
    Missed {
        why: format!("`{list}` has no entry {wanted:?}: {there_are}{named}"),
        nearest: nearest(wanted, names.iter().copied()),
    }
}

/// The `name` of an entry of a list.
fn name(item: &Item) -> Option<&str> {
    let Value::Table(table) = &item.value else { return None };
    match &table.get("name")?.item.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Makes a list of what a path takes an entry of: of a single `[flow]`, and of links that no
/// `[[link]]` of the file is of.
fn make_list(root: &mut Table, segments: &[String], span: Span) {
    let [list, wanted, rest @ ..] = segments else { return };
    let Some(Kind::Tables(of)) = keys::find("", list).map(|key| key.kind) else { return };
    let is_number = wanted.parse::<usize>().is_ok();
    let is_key = keys::find(of, wanted).is_some()
        || (of == "link" && keys::find("properties", wanted).is_some());
    let is_entry = wanted == "*" || is_number || (!rest.is_empty() && !is_key);
    match root.get_mut(list) {
        Some(Entry { item, .. })
            if matches!(item.value, Value::Table(_))
                && (is_entry || name(item) == Some(wanted)) =>
        {
            item.value = Value::List(vec![item.clone()]);
        }
        None if is_entry => {
            let item = Item { value: Value::List(Vec::new()), span };
            root.entries.push(Entry { key: list.clone(), key_span: span, item });
        }
        _ => {}
    }
    if of == "link"
        && let Some(Entry { item: Item { value: Value::List(links), .. }, .. }) = root.get_mut(list)
        && !is_number
        && (wanted != "*" || links.iter().all(|link| link.span.is_set()))
        && !links.iter().any(|link| name(link) == Some(wanted))
    {
        links.push(named_link(wanted, span));
    }
}

/// Links have names that no entry need give them, as `a->b`, or `*` for all: an entry of that name changes the link.
/// Whether there is one is known later.
fn named_link(name: &str, span: Span) -> Item {
    let item = Item { value: Value::Text(name.to_string()), span };
    let entries = vec![Entry { key: "name".to_string(), key_span: span, item }];
    Item { value: Value::Table(Table { entries }), span }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    #[test]
    fn names_that_are_nearly_right_are_told() {
        let near = |text: &str, path: &str| {
            let mut sources = vec![Source { name: "a".into(), text: text.into() }];
            let mut root = document::parse(&sources[0]).unwrap();
            apply(&mut root, &mut sources, path, "1").unwrap_err().nearest
        };
        let flows = "flow = [{ name = \"web\" }, { name = \"video\" }]";
        assert_eq!(near(flows, "flow.vidio.size").as_deref(), Some("video"));
        assert_eq!(near(flows, "flow.3.size"), None);
        assert_eq!(near("", "botleneck.rate").as_deref(), Some("bottleneck"));
        assert_eq!(near("", "trafic.web.load").as_deref(), Some("traffic"));
    }

    #[test]
    fn what_there_is_in_a_list_is_told() {
        let wrong = |text: &str| set(text, "flow.9.size", "1").unwrap_err();
        let named = "flow = [{ name = \"web\" }, { name = \"video\" }]";
        assert_eq!(
            wrong(named),
            "`flow` has no entry \"9\": there are 1 to 2; named are web, video"
        );
        assert_eq!(wrong("flow = [{}]"), "`flow` has no entry \"9\": there is one, 1");
        assert_eq!(wrong("flow = []"), "`flow` has no entry \"9\": there are none");
    }

    fn show(value: &Value) -> String {
        match value {
            Value::Table(table) => {
                let all = table.entries.iter();
                let all: Vec<String> =
                    all.map(|e| format!("{}={}", e.key, show(&e.item.value))).collect();
                format!("{{{}}}", all.join(" "))
            }
            Value::List(items) => {
                let all: Vec<String> = items.iter().map(|item| show(&item.value)).collect();
                format!("[{}]", all.join(" "))
            }
            Value::Text(text) => text.clone(),
            other => other.describe(),
        }
    }

    fn set(text: &str, path: &str, value: &str) -> Result<String, String> {
        let mut sources = vec![Source { name: "a".into(), text: text.into() }];
        let mut root = document::parse(&sources[0]).unwrap();
        apply(&mut root, &mut sources, path, value).map_err(|d| d.message)?;
        Ok(show(&root.value))
    }

    #[test]
    fn paths_reach_everything() {
        assert_eq!(
            set("", "bottleneck.rate", "10M").unwrap(),
            "{topology={bottleneck={rate=10 Mbit/s}}}"
        );
        assert_eq!(set("law = \"a\"", "law", "xcp").unwrap(), "{law=xcp}");
        assert_eq!(set("", "law", "[\"a\", \"b\"]").unwrap(), "{law=[a b]}");
        assert_eq!(
            set("", "options.xcp.alpha", "0.3").unwrap(),
            "{options={xcp={alpha=the number 0.3}}}"
        );
        let flows = "[[flow]]\nname = \"a\"\n[[flow]]\nsize = 1";
        assert_eq!(set(flows, "flow.2.size", "10 KB").unwrap(), "{flow=[{name=a} {size=10 KB}]}");
        assert_eq!(
            set(flows, "flow.a.size", "5 KB").unwrap(),
            "{flow=[{name=a size=5 KB} {size=the number 1}]}"
        );
        assert_eq!(
            set(flows, "flow.*.count", "2").unwrap(),
            "{flow=[{name=a count=the number 2} {size=the number 1 count=the number 2}]}"
        );
        assert_eq!(set("", "name", "5").unwrap(), "{name=5}");
        assert_eq!(
            set("", "link.\"a.b\".delay", "5 ms").unwrap(),
            "{link=[{name=a.b delay=5 ms}]}"
        );
        assert_eq!(
            set("[[link]]\nname = \"wan\"", "link.b->c.rate", "10M").unwrap(),
            "{link=[{name=wan} {name=b->c rate=10 Mbit/s}]}"
        );
        assert_eq!(
            set("[[link]]\nname = \"wan\"", "link.wan.rate", "10M").unwrap(),
            "{link=[{name=wan rate=10 Mbit/s}]}"
        );
    }

    #[test]
    fn a_single_table_is_a_list_of_one() {
        let flow = "[flow]\nname = \"a\"";
        for path in ["flow.1.size", "flow.a.size", "flow.*.size"] {
            assert_eq!(set(flow, path, "5 KB").unwrap(), "{flow=[{name=a size=5 KB}]}", "{path}");
        }
        assert_eq!(set(flow, "flow.size", "5 KB").unwrap(), "{flow={name=a size=5 KB}}");
        assert_eq!(set("", "flow.size", "5 KB").unwrap(), "{flow={size=5 KB}}");
        assert!(set(flow, "flow.b.size", "1").unwrap_err().contains("no entry \"b\""));
        assert!(set("", "flow.1.size", "1").unwrap_err().contains("there are none"));
        assert_eq!(
            set("[link]\nname = \"wan\"", "link.b->c.queue", "9 KB").unwrap(),
            "{link=[{name=wan} {name=b->c queue=9 KB}]}"
        );
        assert_eq!(
            set("[topology]\n", "topology.link.rate", "3M").unwrap(),
            "{topology={link={rate=3 Mbit/s}}}"
        );
    }

    #[test]
    fn all_links_are_changed_where_none_is_listed() {
        assert_eq!(set("", "link.*.rate", "3M").unwrap(), "{link=[{name=* rate=3 Mbit/s}]}");
        let mut sources = vec![Source { name: "a".into(), text: String::new() }];
        let mut root = document::parse(&sources[0]).unwrap();
        for path in ["link.wan.queue", "link.*.queue", "link.*.delay"] {
            apply(&mut root, &mut sources, path, "5 ms").unwrap();
        }
        let all = "{link=[{name=wan queue=5 ms delay=5 ms} {name=* queue=5 ms delay=5 ms}]}";
        assert_eq!(show(&root.value), all);
    }

    #[test]
    fn entries_of_any_list_are_chosen_by_number() {
        let laws = "law = [\"xcp\", \"cubic\"]";
        assert_eq!(set(laws, "law.1", "bbr").unwrap(), "{law=[bbr cubic]}");
        assert_eq!(set(laws, "law.*", "bbr").unwrap(), "{law=[bbr bbr]}");
        assert!(set(laws, "law.3", "bbr").unwrap_err().contains("there are 1 to 2"));
        assert!(set(laws, "law.1.alpha", "1").unwrap_err().contains("`law.1` is \"xcp\", not a"));
    }

    #[test]
    fn a_name_that_is_another_entrys_number_is_refused() {
        let flows = |first: &str, second: &str| {
            let text = format!("flow = [{{ name = \"{first}\" }}, {{ name = \"{second}\" }}]");
            set(&text, "flow.1.size", "5 KB")
        };
        let refused = flows("2", "1").unwrap_err();
        assert_eq!(refused, "`flow.1` may be entry 1 or entry 2, whose name is \"1\"");
        assert_eq!(flows("1", "2").unwrap(), "{flow=[{name=1 size=5 KB} {name=2}]}");
        assert_eq!(flows("a", "7").unwrap(), "{flow=[{name=a size=5 KB} {name=7}]}");
    }

    #[test]
    fn paths_that_lead_nowhere_are_errors() {
        assert!(set("flow = []", "flow.3.size", "1").unwrap_err().contains("no entry \"3\""));
        assert!(set("law = \"x\"", "law.alpha", "1").unwrap_err().contains("not a table"));
        assert!(set("", "botleneck.rate", "1").unwrap_err().contains("nothing is called"));
        assert!(set("", "a..b", "1").unwrap_err().contains("not a path"));
        assert!(set("", "", "1").unwrap_err().contains("not a path"));
    }
}
