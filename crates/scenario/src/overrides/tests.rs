//! Tests of the entries that paths select.

use super::*;
use crate::document;

#[test]
fn names_that_are_nearly_right_are_reported() {
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
fn what_there_is_in_a_list_is_named() {
    let wrong = |text: &str| set(text, "flow.9.size", "1").unwrap_err();
    let named = "flow = [{ name = \"web\" }, { name = \"video\" }]";
    assert_eq!(wrong(named), "`flow` has no entry \"9\": there are 1 to 2; named are web, video");
    assert_eq!(wrong("flow = [{}]"), "`flow` has no entry \"9\": there is one, 1");
    assert_eq!(wrong("flow = []"), "`flow` has no entry \"9\": there are none");
}

#[test]
fn names_with_arrows_need_no_quotes() {
    let flows = "flow = [{ name = \"a->b\" }, { name = \"a-b->c\" }, { name = \"a->b-c\" }]";
    let arrow = "{flow=[{name=a->b size=1 KB} {name=a-b->c} {name=a->b-c}]}";
    for path in ["flow.a->b.size", "flow.a-b.size", "flow.a:b.size"] {
        assert_eq!(set(flows, path, "1 KB").unwrap(), arrow, "{path}");
    }
    let wrong = set(flows, "flow.a-b-c.size", "1 KB").unwrap_err();
    assert_eq!(wrong, "\"a-b-c\" may be \"a-b->c\" or \"a->b-c\"");
}

#[test]
fn paths_to_the_same_place_are_the_same() {
    let same = |a: &str, b: &str| whole_path(a) == whole_path(b);
    assert!(same("bottleneck.rate", "topology.bottleneck.rate"));
    assert!(same("link.\"a->b\".rate", " link.a->b.rate"));
    // `link` is a table of the scenario and a table of its `[topology]`.
    assert!(!same("link.rate", "topology.link.rate"));
    assert!(!same("link.a.b", "link.\"a.b\""));
    // The first flow, and the flow called `1`.
    assert!(!same("flow.1.size", "flow.\"1\".size"));
    assert!(same("flow.1.\"size\"", "flow.1.size"));
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
    assert_eq!(set("", "link.\"a.b\".delay", "5 ms").unwrap(), "{link=[{name=a.b delay=5 ms}]}");
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

fn set_all(text: &str, sets: &[(&str, &str)]) -> String {
    let mut sources = vec![Source { name: "a".into(), text: text.into() }];
    let mut root = document::parse(&sources[0]).unwrap();
    for (path, value) in sets {
        apply(&mut root, &mut sources, path, value).unwrap();
    }
    let Value::Table(root) = &root.value else { panic!("a document is a table") };
    root.get("link").map(|entry| show(&entry.item.value)).expect("links")
}

#[test]
fn all_links_are_changed_whether_they_are_listed_or_not() {
    assert_eq!(set("", "link.*.rate", "3M").unwrap(), "{link=[{name=* rate=3 Mbit/s}]}");
    let all = [("link.wan.queue", "5 ms"), ("link.*.queue", "5 ms"), ("link.*.delay", "5 ms")];
    assert_eq!(
        set_all("", &all),
        "[{name=wan queue=5 ms delay=5 ms} {name=* queue=5 ms delay=5 ms}]"
    );
    let listed = "[[link]]\nname = \"a->b\"\n[link.reverse]\ndelay = \"1 ms\"\n";
    assert_eq!(
        set_all(listed, &[("link.*.rate", "3M")]),
        "[{name=a->b reverse={delay=1 ms rate=3 Mbit/s} rate=3 Mbit/s} {name=* rate=3 Mbit/s}]"
    );
    // Keys of `reverse` change only listed entries, and in a custom topology all links are listed.
    assert_eq!(
        set_all(listed, &[("link.*.reverse.delay", "2 ms")]),
        "[{name=a->b reverse={delay=2 ms}}]"
    );
    let custom = "[topology]\nkind = \"custom\"\n[[link]]\nbetween = []\n";
    assert_eq!(set_all(custom, &[("link.*.queue", "9 KB")]), "[{between=[] queue=9 KB}]");
}

/// The later of two values counts.
#[test]
fn one_link_can_be_changed_after_all_or_after_several() {
    let listed = "[[link]]\nname = \"a\"\n[[link]]\nname = \"b\"\n";
    let all = ("link.*.queue", "1 KB");
    assert_eq!(
        set_all(listed, &[all, ("link.b.queue", "2 KB")]),
        "[{name=* queue=1 KB} {name=a queue=1 KB} {name=b queue=2 KB}]"
    );
    // Numbers count listed entries only.
    assert_eq!(
        set_all(listed, &[all, ("link.1.queue", "2 KB"), ("link.2.queue", "3 KB")]),
        "[{name=* queue=1 KB} {name=a queue=2 KB} {name=b queue=3 KB}]"
    );
    assert_eq!(
        set_all(listed, &[("link.c*.queue", "1 KB"), ("link.c.queue", "2 KB"), all]),
        "[{name=a queue=1 KB} {name=b queue=1 KB} {name=c* queue=1 KB} {name=c queue=1 KB} {name=* queue=1 KB}]"
    );
    // Names and numbers act alike, and so do patterns of the file and of a path.
    let both = "[[link]]\nname = \"ab\"\n[[link]]\nname = \"a*\"\nqueue = \"1 KB\"";
    for path in ["link.ab.queue", "link.1.queue"] {
        let changed = "[{name=ab queue=2 KB} {name=a* queue=1 KB} {name=ab queue=2 KB}]";
        let several = ("link.a*.queue", "1 KB");
        assert_eq!(set_all("[[link]]\nname = \"ab\"", &[several, (path, "2 KB")]), changed);
        assert_eq!(set_all(both, &[(path, "2 KB")]), changed);
    }
    // Keys that only entries have stay in the entry.
    assert_eq!(
        set_all(both, &[("link.1.queue", "2 KB"), ("link.1.reverse.delay", "1 ms")]),
        "[{name=ab queue=2 KB reverse={delay=1 ms}} {name=a* queue=1 KB} {name=ab queue=2 KB}]"
    );
    assert_eq!(
        set_all("[[link]]\nfrom = \"a\"\n", &[("link.a*.queue", "1 KB"), ("link.1.queue", "2 KB")]),
        "[{from=a queue=2 KB} {name=a* queue=1 KB}]"
    );
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

/// Quotes make every entry reachable, whatever its name.
#[test]
fn quotes_make_a_name_of_what_could_be_something_else() {
    let nodes = "node = [{ name = \"0\" }, { name = \"1\" }, { name = \"2\" }]";
    let host = |path: &str| set(nodes, &format!("{path}.host"), "false");
    let first = "{node=[{name=0 host=false} {name=1} {name=2}]}";
    let second = "{node=[{name=0} {name=1 host=false} {name=2}]}";
    assert_eq!(host("node.\"1\"").unwrap(), second);
    assert_eq!(host("node.\"0\"").unwrap(), first);
    assert_eq!(host("node.01").unwrap(), first);
    assert!(host("node.\"3\"").unwrap_err().contains("has no entry of the name \"3\": "));
    assert!(host("node.\"*\"").unwrap_err().contains("has no entry of the name \"*\": "));
    let mut sources = vec![Source { name: "a".into(), text: nodes.into() }];
    let mut root = document::parse(&sources[0]).unwrap();
    let refused = apply(&mut root, &mut sources, "node.1.host", "false").unwrap_err();
    let help = "`node.\"1\"...` takes the name, `node.01...` the number";
    assert_eq!(refused.help.as_deref(), Some(help));
    assert_eq!(
        set("", "link.\"7\".rate", "3M").unwrap(),
        "{link=[{name=7 rate=3 Mbit/s}]}",
        "any link has a name"
    );
    assert_eq!(
        set("[link]\nname = \"rate\"", "link.\"rate\".delay", "1 ms").unwrap(),
        "{link=[{name=rate delay=1 ms}]}"
    );
    // Where nothing has a name, quotes are as in TOML.
    assert_eq!(set("[flow]", "\"flow\".\"size\"", "1 KB").unwrap(), "{flow={size=1 KB}}");
    assert_eq!(
        set("", "bottleneck.\"rate\"", "3M").unwrap(),
        "{topology={bottleneck={rate=3 Mbit/s}}}"
    );
}

#[test]
fn an_error_of_a_path_that_begins_with_a_link_says_where_links_are() {
    let near = |text: &str, path: &str| {
        let mut sources = vec![Source { name: "a".into(), text: text.into() }];
        let mut root = document::parse(&sources[0]).unwrap();
        let refused = apply(&mut root, &mut sources, path, "1").err();
        refused.map(|refused| (refused.message.clone(), refused.nearest.unwrap_or_default()))
    };
    let name = |link: &str, path: &str| {
        Some((format!("`{link}` is the name of a link, not a key"), path.to_string()))
    };
    let custom = "[topology]\nkind = \"custom\"\n[[link]]\nname = \"bottleneck\"\n\
                  [[link]]\nname = \"wan.1\"\n";
    let found = name("bottleneck", "link.bottleneck.rate");
    assert_eq!(near(custom, "bottleneck.rate"), found);
    assert_eq!(near(custom, "topology.bottleneck.rate"), found);
    assert_eq!(near(custom, "\"wan.1\".rate"), name("wan.1", "link.\"wan.1\".rate"));
    assert_eq!(near(custom, "a->b.rate"), name("a->b", "link.a->b.rate"));
    let misspelt = ("nothing is called `botleneck`".into(), "link.bottleneck.rate".into());
    assert_eq!(near(custom, "botleneck.rate"), Some(misspelt));
    assert_eq!(near("link = { name = \"wan\" }", "wan.rate"), name("wan", "link.wan.rate"));
    let dumbbell = custom.replace("custom", "dumbbell");
    for path in ["bottleneck.rate", "topology.bottleneck.rate"] {
        assert_eq!(near(&dumbbell, path), None, "the topology has such a key: {path}");
    }
    assert_eq!(near(custom, "link.bottleneck.rate"), None);
}

#[test]
fn paths_that_lead_nowhere_are_errors() {
    assert!(set("flow = []", "flow.3.size", "1").unwrap_err().contains("no entry \"3\""));
    assert!(set("law = \"x\"", "law.alpha", "1").unwrap_err().contains("not a table"));
    assert!(set("", "botleneck.rate", "1").unwrap_err().contains("nothing is called"));
    assert!(set("", "link.*.reverse.delay", "1 ms").unwrap_err().contains("no entry \"*\""));
    assert!(set("", "a..b", "1").unwrap_err().contains("not a path"));
    assert!(set("", "", "1").unwrap_err().contains("not a path"));
}
