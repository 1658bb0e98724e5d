//! Another kind of topology: the keys that go with it, in place of those that only the old kind
//! reads.
//!
//! Values that both kinds read stay, and those of the dumbbell's bottleneck are those of other
//! kinds' links. What the new kind requires comes from its example. Ends of flows and what else
//! names nodes or links stay if the new network has them; otherwise flows get its hosts, and
//! expectations, changes and the like are left out.

use ratewire_scenario::keys::{KeyKind, REQUIRED};
use ratewire_scenario::{Scenario, Setting, TopologyInfo, topologies, whole_path};

use crate::request::LONGEST_TEXT;

/// Tables whose entries name nodes or links, beside flows.
const NAMING: [&str; 7] = ["expect", "change", "path", "link", "node", "fault", "record"];
/// More entries of a list than any that fits a request.
const ALL: usize = 10_000;

type Values = Vec<(String, String)>;

/// The values with all that goes with the kind of topology among them; `None` if they set none, or
/// the one that the scenario has.
pub(crate) fn switched(own: &Scenario, values: &Values) -> Option<Values> {
    let is_kind = |path: &str| names(path) == ["topology", "kind"];
    let (_, kind) = values.iter().find(|(path, _)| is_kind(path))?;
    let rest: Values = values.iter().filter(|(path, _)| !is_kind(path)).cloned().collect();
    if value_of(&given(own), &["topology", "kind"]) == Some(kind) {
        // The scenario's own network, with its own flows.
        let was_switched = rest.iter().any(|(path, _)| path == "topology");
        return was_switched.then(|| without(&rest, &["topology", "flow"], true));
    }
    let now = own.with_values(&rest).ok()?;
    let given = given(&now);
    let is_there = |table: &str| given.iter().any(|setting| names(&setting.path)[0] == table);
    let flows = given.iter().map(|setting| names(&setting.path));
    let mut flows: Vec<String> = flows
        .filter(|names| names[0] == "flow" && names.len() > 2)
        .map(|mut n| n.remove(1))
        .collect();
    flows.dedup();
    let info = topologies().iter().find(|info| info.kind == kind)?;
    let network = network(info, &given, flows.len())?;
    let rest = without(&rest, &["topology"], false);
    let with = |more: Values, replaced: &[&str]| {
        [without(&rest, replaced, false), vec![("topology".into(), network.clone())], more].concat()
    };
    let none = |table: &&str| (table.to_string(), "[]".to_string());
    let listed = || ("flow".to_string(), flows_in(kind, &given, &flows));
    let naming: Vec<&str> = NAMING.into_iter().filter(|table| is_there(table)).collect();
    let expect: Vec<&str> = naming.iter().copied().filter(|table| *table == "expect").collect();
    let mut all = vec![with(Vec::new(), &[])];
    for left_out in [expect, naming] {
        all.push(with(left_out.iter().map(none).collect(), &left_out));
        let replaced = [&left_out[..], &["flow"]].concat();
        all.push(with(left_out.iter().map(none).chain([listed()]).collect(), &replaced));
    }
    let fits = |values: &Values| values.iter().all(|(_, value)| value.len() <= LONGEST_TEXT);
    all.retain(fits);
    let works = all.iter().position(|values| own.with_values(values).is_ok());
    // What is left is reported by the names that the reader has chosen.
    works.map(|at| all.swap_remove(at))
}

/// All values of a scenario.
fn given(scenario: &Scenario) -> Vec<Setting> {
    scenario.settings(&[], ALL).given
}

fn names(path: &str) -> Vec<String> {
    whole_path(path).into_iter().map(|part| part.text).collect()
}

fn value_of<'a>(given: &'a [Setting], path: &[&str]) -> Option<&'a String> {
    given.iter().find(|setting| names(&setting.path) == path).map(|setting| &setting.value)
}

/// The values outside these tables; with `naming`, also without the tables that were left out.
fn without(values: &Values, tables: &[&str], naming: bool) -> Values {
    let is_left_out = |table: &str, value: &str| naming && NAMING.contains(&table) && value == "[]";
    let stays = |(path, value): &&(String, String)| {
        let names = names(path);
        !tables.contains(&names[0].as_str()) && !is_left_out(&names[0], value)
    };
    values.iter().filter(stays).cloned().collect()
}

/// The table of a network of this kind, for a number of flows.
fn network(info: &TopologyInfo, given: &[Setting], flows: usize) -> Option<String> {
    let mut table = vec![("kind".to_string(), format!("{:?}", info.kind))];
    for key in info.parameters() {
        let of =
            |name: &str| Some(inline(given, &["topology", name])).filter(|text| !text.is_empty());
        // A number of hosts that all flows need.
        let count = match (info.kind, key.name) {
            (_, "pairs") => Some(flows),
            (_, "hops") => Some(flows.saturating_sub(1)),
            (_, "hosts") => Some(flows + 1),
            _ => None,
        };
        let own = match key.name {
            "link" => of("link").or_else(|| of("bottleneck")),
            "bottleneck" => of("bottleneck").or_else(|| of("link")),
            name => of(name),
        };
        let own = match (own, count) {
            (Some(own), Some(least)) => {
                own.parse::<usize>().map_or(Some(own), |own| Some(own.max(least).to_string()))
            }
            (None, Some(least)) => Some(least.max(2).to_string()),
            (own, None) => own,
        };
        // Examples of required keys are whole values of the language.
        let required = || (key.default == REQUIRED).then(|| key.example.to_string());
        // A network from a file needs that file.
        if key.default == REQUIRED && matches!(key.kind, KeyKind::Text) && own.is_none() {
            return None;
        }
        table.extend(own.or_else(required).map(|value| (key.name.to_string(), value)));
    }
    Some(written(&table))
}

/// The flows with ends in a network of this kind.
fn flows_in(kind: &str, given: &[Setting], flows: &[String]) -> String {
    let flow = |(at, entry): (usize, &String)| {
        let (from, to) = ends(kind, at);
        let mut table =
            vec![("from".to_string(), format!("{from:?}")), ("to".to_string(), format!("{to:?}"))];
        table.extend(
            entries(given, &["flow", entry])
                .into_iter()
                .filter(|(key, _)| !["from", "to"].contains(&key.as_str())),
        );
        written(&table)
    };
    let all: Vec<String> = flows.iter().enumerate().map(flow).collect();
    format!("[{}]", all.join(", "))
}

/// Hosts between which the flow in this place runs, so that flows share a link.
fn ends(kind: &str, at: usize) -> (String, String) {
    match kind {
        "parking-lot" => (format!("s{at}"), format!("d{at}")),
        "star" => (format!("h{}", at + 2), "h1".into()),
        // As many as the smallest has.
        "tree" => ("s1".into(), format!("h{}", at % 2 + 1)),
        "fat-tree" => (format!("h{}", at % 3 + 2), "h1".into()),
        _ => (format!("s{}", at + 1), format!("d{}", at + 1)),
    }
}

/// The value at a path as TOML: a table of all values below it, or a single one; empty if there is
/// none.
fn inline(given: &[Setting], path: &[&str]) -> String {
    let is_own = |setting: &&Setting| names(&setting.path) == path;
    if let Some(own) = given.iter().find(is_own) {
        return toml(own);
    }
    let entries = entries(given, path);
    if entries.is_empty() { String::new() } else { written(&entries) }
}

/// The keys below a path with their values as TOML, in their order.
fn entries(given: &[Setting], path: &[&str]) -> Values {
    let mut keys: Vec<String> = Vec::new();
    for names in given.iter().map(|setting| names(&setting.path)) {
        let key = names.get(path.len()).filter(|_| names[..path.len().min(names.len())] == *path);
        keys.extend(key.filter(|key| !keys.contains(key)).cloned());
    }
    let value = |key: String| {
        let below = [path, &[key.as_str()]].concat();
        let value = inline(given, &below);
        (key, value)
    };
    keys.into_iter().map(value).collect()
}

fn written(table: &[(String, String)]) -> String {
    let is_bare = |key: &str| key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let entry = |(key, value): &(String, String)| match is_bare(key) {
        true => format!("{key} = {value}"),
        false => format!("{key:?} = {value}"),
    };
    format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
}

/// A value as TOML has it: texts have quotes.
fn toml(setting: &Setting) -> String {
    let value = setting.value.trim();
    let is_plain = value.starts_with(['[', '{', '"', '\''])
        || value.parse::<f64>().is_ok()
        || ["true", "false"].contains(&value);
    let is_text = matches!(setting.kind, KeyKind::Text) && !value.starts_with(['"', '\'']);
    if is_plain && !is_text { value.to_string() } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use ratewire::Experiment;

    use super::*;

    const DUMBBELL: &str = "name = 'one'\nduration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\npairs = 3\n\
        access = { rate = '70 Mbit/s' }\n\
        bottleneck = { rate = '7 Mbit/s', delay = '9 ms', queue = '2 bdp' }\n\
        [[flow]]\nfrom = 's1'\nto = 'd1'\n[[flow]]\nfrom = 's2'\nto = 'd2'\nstart = '1 s'\n\
        [[flow]]\nfrom = 's3'\nto = 'd3'\n\
        [[expect]]\nmetric = 'utilisation'\nlink = 'bottleneck'\nmin = 0.5\n";

    fn set(values: &[(&str, &str)]) -> Values {
        values.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect()
    }

    fn own() -> Experiment {
        Experiment::parse("one.toml", DUMBBELL).expect("a scenario")
    }

    fn text(scenario: &Scenario, path: &[&str]) -> Option<String> {
        value_of(&given(scenario), path).cloned()
    }

    #[test]
    fn every_kind_takes_its_keys_along() {
        let own = own();
        let kinds = topologies().iter().map(|info| info.kind);
        for kind in kinds.filter(|kind| !["dumbbell", "custom", "graph"].contains(kind)) {
            let values = set(&[("bottleneck.delay", "4 ms"), ("topology.kind", kind)]);
            assert!(own.scenario().with_values(&values).is_err(), "{kind} needs other keys");
            let values = switched(own.scenario(), &values).expect(kind);
            let scenario = own.scenario().with_values(&values).expect(kind);
            let of = |path: &[&str]| text(&scenario, path);
            assert_eq!(of(&["topology", "kind"]).as_deref(), Some(kind));
            assert_eq!(of(&["topology", "link", "rate"]).as_deref(), Some("7 Mbit/s"), "{kind}");
            assert_eq!(of(&["topology", "link", "delay"]).as_deref(), Some("4 ms"), "{kind}");
            assert_eq!(of(&["flow", "2", "start"]).as_deref(), Some("1 s"), "{kind}");
            let knows = |name: &str| {
                topologies()
                    .iter()
                    .any(|info| info.kind == kind && info.parameters().any(|key| key.name == name))
            };
            let kept = of(&["topology", "access", "rate"]);
            assert_eq!(kept.as_deref(), knows("access").then_some("70 Mbit/s"), "{kind}");
            // And back: nothing of the switch is left.
            let back = [values, set(&[("topology.kind", "dumbbell")])].concat();
            assert_eq!(switched(own.scenario(), &back), Some(Vec::new()), "{kind}");
        }
    }

    #[test]
    fn one_switch_follows_another() {
        let own = own();
        let first = switched(own.scenario(), &set(&[("topology.kind", "parking-lot")]));
        let mut values = first.expect("a parking lot");
        values.push(("topology.link.rate".into(), "3 Mbit/s".into()));
        values.push(("topology.kind".into(), "star".into()));
        let values = switched(own.scenario(), &values).expect("a star");
        let scenario = own.scenario().with_values(&values).expect("a scenario");
        assert_eq!(text(&scenario, &["topology", "link", "rate"]).as_deref(), Some("3 Mbit/s"));
        assert_eq!(text(&scenario, &["flow", "1", "to"]).as_deref(), Some("h1"));
    }

    #[test]
    fn a_kind_that_needs_a_file_or_nodes_is_left_to_its_errors() {
        let own = own();
        for kind in ["graph", "nothing"] {
            assert_eq!(switched(own.scenario(), &set(&[("topology.kind", kind)])), None, "{kind}");
        }
        assert_eq!(switched(own.scenario(), &set(&[("bottleneck.rate", "1M")])), None);
        assert_eq!(switched(own.scenario(), &set(&[("topology.kind", "dumbbell")])), None);
    }
}
