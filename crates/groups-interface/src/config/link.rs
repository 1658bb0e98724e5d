//! Links between daemons.

use std::collections::BTreeMap;

use ratewire_config::{At, Section, known_words};
use ratewire_overlay::OverlayNodeId;
use ratewire_units::Duration;

use super::daemon::Daemon;

/// Title of the tables.
pub(super) const TITLE: &str = "[[link]]";
/// Keys of the tables.
pub(super) const KEYS: &[&str] = &["between", "delay"];

/// Length of a link that states none.
const USUAL_DELAY: Duration = Duration::from_millis(1);

/// A link between two daemons, which carries messages both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its two ends, in the order of the daemons.
    pub ends: [OverlayNodeId; 2],
    /// Length of the link for shortest paths.
    pub delay: Duration,
}

/// Reads the links, each pair of daemons at most once.
pub(super) fn read(root: &Section<'_>, daemons: &[At<Daemon>]) -> Vec<Link> {
    let is_mesh = is_mesh(root);
    let sections = root.tables(TITLE, KEYS);
    match sections.first() {
        None => return mesh(daemons.len()),
        Some(link) if is_mesh => {
            let message = "`links` = \"mesh\" and [[link]] exclude each other";
            root.note(&link.span(), message, "take `links` or all [[link]] away");
        }
        Some(_) => {}
    }
    // By the later end first: a file that names more daemons at its end has further links at the
    // end of all.
    let mut links: BTreeMap<(OverlayNodeId, OverlayNodeId), Link> = BTreeMap::new();
    let mut is_whole = true;
    for section in sections {
        let range = Duration::from_micros(1)..=Duration::from_secs(60);
        let delay = section.quantity("delay", USUAL_DELAY, range);
        let Some(ends) = ends(&section, daemons) else {
            is_whole = false;
            continue;
        };
        if links.insert((ends[1], ends[0]), Link { ends, delay }).is_some() {
            let [a, b] = ends.map(|end| &daemons[end.index()].value.name);
            let message = format!("`{a}` and `{b}` are linked twice");
            root.note(&section.span(), message, "take one of the links away");
        }
    }
    let links: Vec<Link> = links.into_values().collect();
    let is_retired: Vec<bool> = daemons.iter().map(|daemon| daemon.value.is_retired).collect();
    if is_whole && let Some((first, apart)) = unreached(&is_retired, &links) {
        let (first, apart) = (&daemons[first].value.name, &daemons[apart]);
        let message = format!("no links lead from `{first}` to `{}`", apart.value.name);
        let help = "add [[link]] until every daemon is reached, or write links = \"mesh\"";
        root.note(&apart.span, message, help);
    }
    links
}

/// Whether the file says that every daemon is linked to every other.
fn is_mesh(root: &Section<'_>) -> bool {
    let allowed = "\"mesh\"; leave `links` out to list [[link]]";
    let Some(At { value, span }) = root.text("links", allowed) else { return false };
    if value != "mesh" {
        let message = format!("`links` cannot be {value:?}");
        root.note(&span, message, format!("allowed: {allowed}"));
    }
    value == "mesh"
}

/// A link between any two daemons.
fn mesh(daemons: usize) -> Vec<Link> {
    let nodes = || (0..daemons).map(|node| OverlayNodeId(node as u8));
    let pairs = nodes().flat_map(|b| nodes().take(b.index()).map(move |a| [a, b]));
    pairs.map(|ends| Link { ends, delay: USUAL_DELAY }).collect()
}

fn ends(section: &Section<'_>, daemons: &[At<Daemon>]) -> Option<[OverlayNodeId; 2]> {
    let allowed = "the names of two daemons, for example [\"a\", \"b\"]";
    if !section.has("between") {
        section.missing("between", &format!("write {allowed}"));
    }
    let names = section.texts("between", allowed)?;
    let [a, b] = &names[..] else {
        let message = format!("`between` has {} names", names.len());
        section.note(&section.place("between"), message, format!("write {allowed}"));
        return None;
    };
    let [a, b] = [a, b].map(|name| {
        let place = daemons.iter().position(|daemon| daemon.value.name == name.value);
        if place.is_none() {
            let known: Vec<&str> = daemons.iter().map(|at| at.value.name.as_str()).collect();
            let message = format!("no daemon is called {:?}", name.value);
            section.note(&name.span, message, known_words(name.value, &known));
        }
        place.map(|place| OverlayNodeId(place as u8))
    });
    let (a, b) = (a?, b?);
    if a == b {
        let message = "the link leads from a daemon to itself";
        section.note(&section.place("between"), message, "name two different daemons");
        return None;
    }
    Some([a.min(b), a.max(b)])
}

/// The first daemon, and one that no links join to it, not over those that are retired.
fn unreached(is_retired: &[bool], links: &[Link]) -> Option<(usize, usize)> {
    let first = is_retired.iter().position(|is_retired| !is_retired)?;
    // A retired daemon need not be reached, and passes nothing on.
    let mut is_done = is_retired.to_vec();
    let mut open = vec![first];
    while let Some(daemon) = open.pop() {
        if !std::mem::replace(&mut is_done[daemon], true) {
            let ends = links.iter().map(|link| link.ends.map(OverlayNodeId::index));
            let others = ends.filter_map(|[a, b]| match daemon {
                daemon if daemon == a => Some(b),
                daemon if daemon == b => Some(a),
                _ => None,
            });
            open.extend(others);
        }
    }
    is_done.iter().position(|is_done| !is_done).map(|apart| (first, apart))
}
