//! `[[node]]`, `[[link]]` and `[[path]]`: additions and changes to the topology.

use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::{At, Entry, Item, Value};
use crate::network::properties::{Cable, Reading};
use crate::network::{Among, Net};
use crate::section::Section;

/// Reads the three kinds of tables.
pub(crate) fn further(net: &mut Net, root: &Section<'_>, reading: &Reading<'_>) {
    for section in root.sections("node", &["node"]) {
        node(net, &section);
        section.finish();
    }
    for section in root.sections("link", &["link", "properties"]) {
        link(net, &section, reading);
        section.finish();
    }
    for section in root.sections("path", &["path"]) {
        path(net, &section);
        section.finish();
    }
}

fn node(net: &mut Net, section: &Section<'_>) {
    let name = section.text("name");
    let position = section.get("position").and_then(|entry| {
        let numbers = match &entry.item.value {
            Value::List(items) => items.iter().filter_map(number).collect(),
            _ => Vec::new(),
        };
        match numbers.as_slice() {
            [x, y] => Some((*x, *y)),
            _ => {
                section.refuse("position", &entry.item);
                None
            }
        }
    });
    let host = section.switch_or("host");
    let count = section.count("count");
    let Some(name) = name else { return };
    let Some(count) = count else {
        check_new_name(section, name, "a node");
        net.node(section.context, name.value.to_string(), host, position, name.span);
        return;
    };
    if !name.value.contains('*') {
        section
            .context
            .error(count.span, "`count` needs a `*` in `name`, which stands for the number")
            .help("for example name = \"s*\" and count = 3 for s1, s2 and s3");
        net.node(section.context, name.value.to_string(), host, position, name.span);
        return;
    }
    if let Some(entry) = section.get("position") {
        section
            .context
            .error(entry.key_span, "`position` and `count` exclude each other")
            .help("two nodes at one place would hide each other: write a [[node]] for each");
    }
    for number in 1..=count.value {
        let numbered = name.value.replacen('*', &number.to_string(), 1);
        check_new_name(section, At { value: &numbered, span: name.span }, "a node");
        net.node(section.context, numbered, host, position, name.span);
    }
}

/// Notes an error if a new node or link has an unusable name.
fn check_new_name(section: &Section<'_>, name: At<&str>, what: &str) {
    if !section.refuse_empty(name, what) && name.value.contains('*') {
        let remedy = match what {
            "a node" => "; `count` makes several nodes of one `*`",
            _ => "",
        };
        section
            .context
            .error(name.span, format!("{:?} is a pattern and no name", name.value))
            .help(format!(
                "where names are asked for, `*` stands for any text: leave it out{remedy}"
            ));
    }
}

fn number(item: &Item) -> Option<f64> {
    match item.value {
        Value::Integer(n) => Some(n as f64),
        Value::Float(n) => Some(n),
        _ => None,
    }
}

fn link(net: &mut Net, section: &Section<'_>, reading: &Reading<'_>) {
    let context = section.context;
    let name = section.text("name");
    let (properties, reverse) = reading.both(section);
    let is_new = ["between", "from", "to"].iter().any(|key| section.has(key));
    if let (Some(name), true) = (name, is_new) {
        check_new_name(section, name, "a link");
    }
    if section.has("between") {
        let ends = section.list("between");
        if section.has("from") || section.has("to") {
            context
                .error(
                    section.span,
                    format!("{}: `between` and `from`, `to` exclude each other", section.title),
                )
                .help("`between` makes a link each way, `from` and `to` one link");
            let _ = (section.get("from"), section.get("to"));
            return;
        }
        let Some(ends) = ends else { return };
        let [a, b] = ends.value else {
            context
                .error(ends.span, "`between` needs two nodes")
                .help("for example [\"a\", \"b\"]");
            return;
        };
        let end = |item| Some(At { value: section.text_of("between", item)?, span: item.span });
        let (Some(a), Some(b)) = (end(a), end(b)) else { return };
        let pairs = net.pairs(context, a, b, Among::Nodes);
        let cable = Cable { backward: reverse.over(&properties), forward: properties };
        for (name, (a, b)) in named(name, pairs) {
            if ends_differ(context, a, b, ends.span) {
                let span = name.as_ref().map_or(section.span, |name| name.span);
                let name = name.as_ref().map(|name| name.value.as_str());
                net.cable(context, name, (a, b), &cable, false, span);
            }
        }
        return;
    }
    if section.has("from") || section.has("to") {
        if !section.has("from") || !section.has("to") {
            section.missing(if section.has("from") { "to" } else { "from" });
        }
        let (from, to) = (section.text("from"), section.text("to"));
        // An empty `reverse` has no effect.
        let says =
            |item: &Item| !matches!(&item.value, Value::Table(table) if table.entries.is_empty());
        if let Some(entry) = section.get("reverse").filter(|entry| says(&entry.item)) {
            context
                .error(entry.key_span, "a link with `from` and `to` has no other direction")
                .help("use `between` for a link each way");
        }
        let (Some(from), Some(to)) = (from, to) else { return };
        let pairs = net.pairs(context, from, to, Among::Nodes);
        for (name, (from, to)) in named(name, pairs) {
            if ends_differ(context, from, to, section.span) {
                let plain = format!("{}->{}", net.nodes[from].name, net.nodes[to].name);
                let span = name.as_ref().map_or(section.span, |name| name.span);
                let link = super::Link {
                    name: name.map_or(plain, |name| name.value),
                    from,
                    to,
                    properties: properties.clone(),
                    access: false,
                    peer: None,
                    span,
                };
                net.link(context, link);
            }
        }
        return;
    }
    let Some(name) = name else {
        context
            .error(section.span, format!("{} names no link", section.title))
            .help("`between` or `from` and `to` make a new link, `name` changes one that is there");
        return;
    };
    let says = |entry: &Entry| match &entry.item.value {
        Value::Table(reverse) if entry.key == "reverse" => !reverse.entries.is_empty(),
        _ => entry.key != "name",
    };
    if !section.entries().iter().any(says) {
        context
            .error(section.span, format!("{} changes nothing of {:?}", section.title, name.value))
            .help("give it a property, for example delay = \"20 ms\"; or `between` for a new link");
        return;
    }
    let links = net.expect_links(context, name);
    if !reverse_has_one_direction(net, section, name, &links) {
        return;
    }
    for id in links {
        let link = &mut net.links[id];
        link.properties = properties.clone().over(&link.properties);
        if let Some(peer) = link.peer {
            let other = &mut net.links[peer];
            other.properties = reverse.clone().over(&other.properties);
            // Half duplex of one direction applies to both, unless `reverse` sets its own.
            let has_own = reverse.half_duplex.is_some() || reverse.medium.is_some();
            if properties.half_duplex.is_some() && properties.medium.is_none() && !has_own {
                other.properties.half_duplex = properties.half_duplex;
                other.properties.medium = None;
            }
        }
    }
}

/// The pairs of nodes, each with the name of its link: NAME, or NAME.1, NAME.2 ... of several.
fn named(
    name: Option<At<&str>>,
    pairs: Vec<(usize, usize)>,
) -> impl Iterator<Item = (Option<At<String>>, (usize, usize))> {
    let are_many = pairs.len() > 1;
    pairs.into_iter().enumerate().map(move |(i, pair)| {
        let number = |name: &str| format!("{name}.{}", i + 1);
        let one = |name: &str| if are_many { number(name) } else { name.to_string() };
        (name.map(|name| name.map(one)), pair)
    })
}

/// Checks that `reverse`, if given, refers to one direction; notes an error otherwise.
fn reverse_has_one_direction(
    net: &Net,
    section: &Section<'_>,
    name: At<&str>,
    links: &[usize],
) -> bool {
    let Some(entry) = section.get("reverse") else { return true };
    if matches!(&entry.item.value, Value::Table(table) if table.entries.is_empty()) {
        return true;
    }
    let (context, pattern) = (section.context, name.value);
    let peer = |id: &usize| net.links[*id].peer;
    if !links.is_empty() && links.iter().all(|id| peer(id).is_none()) {
        context
            .error(entry.key_span, format!("{pattern:?} has no other direction"))
            .help("a link that was made with `between` has one");
        return false;
    }
    let has_both = |id: &&usize| peer(id).is_some_and(|peer| links.contains(&peer));
    let Some(both) = links.iter().find(has_both) else { return true };
    let link = &net.links[*both].name;
    context.error(entry.key_span, format!("{pattern:?} matches both directions of {link:?}")).help(
        format!(
            "`reverse` is of the direction that `name` does not say: name one, for example {link:?}"
        ),
    );
    false
}

fn ends_differ(context: &Context<'_>, a: usize, b: usize, span: Span) -> bool {
    if a == b {
        context.error(span, "a link from a node to itself").help("name two different nodes");
    }
    a != b
}

/// The nodes that a list names; notes an error for an unknown one.
fn nodes(
    net: &Net,
    section: &Section<'_>,
    key: &'static str,
    items: &[Item],
) -> Option<Vec<usize>> {
    let found: Vec<Option<usize>> = items
        .iter()
        .map(|item| {
            let name = section.text_of(key, item)?;
            net.expect_node(section.context, At { value: name, span: item.span })
        })
        .collect();
    found.into_iter().collect()
}

fn path(net: &mut Net, section: &Section<'_>) {
    let context = section.context;
    let both = section.switch_or("both");
    let Some(list) = section.list("nodes") else { return };
    let Some(path) = nodes(net, section, "nodes", list.value) else { return };
    if path.len() < 2 {
        context.error(list.span, "a path needs two nodes or more");
        return;
    }
    let mut sorted = path.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < path.len() {
        context.error(list.span, "a path passes each node once");
        return;
    }
    let mut ways = vec![path.clone()];
    if both {
        ways.push(path.into_iter().rev().collect());
    }
    for way in ways {
        for hop in way.windows(2) {
            let leads = |link: &super::Link| link.from == hop[0] && link.to == hop[1];
            if !net.is_guess && !net.links.iter().any(leads) {
                let (a, b) = (&net.nodes[hop[0]].name, &net.nodes[hop[1]].name);
                context
                    .error(list.span, format!("no link leads from {a:?} to {b:?}"))
                    .help("name every node on the path; `both = false` leaves out the path back");
                return;
            }
        }
        let ends = (way[0], way[way.len() - 1]);
        if net.paths.insert(ends, way).is_some() {
            let (a, b) = (&net.nodes[ends.0].name, &net.nodes[ends.1].name);
            context.error(list.span, format!("a second path from {a:?} to {b:?}")).help(
                "each pair of nodes has one path each way; `both = false` leaves out the path back",
            );
        }
    }
}
