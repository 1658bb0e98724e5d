//! Targets of expectations about an overlay.

use ratewire_sim::overlay::spec::OverlaySpec;

use super::Named;
use crate::document::At;
use crate::expect::metrics::{MetricInfo, Subject};
use crate::expect::{Measure, OverlayPart};
use crate::network::matches;
use crate::section::Section;

/// Reads the target of an expectation about an overlay.
pub(super) fn read(
    section: &Section<'_>,
    named: &Named<'_>,
    info: &MetricInfo,
    measure: &mut Measure,
) -> Option<String> {
    let context = section.context;
    let Some(overlay) = named.overlay else {
        if !named.incomplete {
            context
                .error(
                    section.span,
                    format!("{} is of an overlay, and there is none", section.title),
                )
                .help("add an [overlay] table");
        }
        read_on(section, info);
        return None;
    };
    match info.subject {
        Subject::Group => {
            let target = groups(section, overlay, &mut measure.part)?;
            if info.name != "received" {
                return Some(target);
            }
            let Some(node) = section.text("node") else { return Some(target) };
            measure.part.node = Some(node_of(named, overlay, section, node)?);
            Some(format!("{target} at {}", node.value))
        }
        Subject::Connection => {
            let Some(name) = section.text("connection") else {
                section.missing("connection");
                return None;
            };
            let called = |flow: usize| named.flows[flow].name.as_str();
            let link = overlay.links.iter().position(|link| called(link.flow) == name.value);
            if link.is_none() && !named.net.is_guess {
                let message = format!("no connection of the overlay is called {:?}", name.value);
                let known = overlay.links.iter().map(|link| called(link.flow));
                context.unknown(name.span, message, name.value, known);
            }
            measure.part.link = Some(link?);
            Some(name.value.to_string())
        }
        _ => Some("the overlay".to_string()),
    }
}

/// Marks the keys as read, because the error is about the overlay.
fn read_on(section: &Section<'_>, info: &MetricInfo) {
    let keys: &[&str] = match info.subject {
        Subject::Group if info.name == "received" => &["group", "node"],
        Subject::Group => &["group"],
        Subject::Connection => &["connection"],
        _ => &[],
    };
    for key in keys {
        section.get(key);
    }
}

fn groups(section: &Section<'_>, overlay: &OverlaySpec, part: &mut OverlayPart) -> Option<String> {
    let Some(names) = section.names("group") else {
        part.groups = (0..overlay.groups.len()).collect();
        return Some("all groups".to_string());
    };
    for name in &names {
        let found: Vec<usize> = (0..overlay.groups.len())
            .filter(|id| matches(name.value, &overlay.groups[*id].name).is_some())
            .collect();
        if found.is_empty() {
            let message = format!("no group is called {:?}", name.value);
            let known = overlay.groups.iter().map(|group| group.name.as_str());
            section.context.unknown(name.span, message, name.value, known);
        }
        part.groups
            .extend(found.into_iter().filter(|id| !part.groups.contains(id)).collect::<Vec<_>>());
    }
    let text: Vec<&str> = names.iter().map(|name| name.value).collect();
    (!part.groups.is_empty()).then(|| text.join(", "))
}

fn node_of(
    named: &Named<'_>,
    overlay: &OverlaySpec,
    section: &Section<'_>,
    name: At<&str>,
) -> Option<usize> {
    let called = |place: &usize| named.net.nodes[overlay.nodes[*place].index()].name.as_str();
    let found = (0..overlay.nodes.len()).find(|place| called(place) == name.value);
    if found.is_none() && !named.net.is_guess {
        let message = format!("no node of the overlay is called {:?}", name.value);
        let names: Vec<usize> = (0..overlay.nodes.len()).collect();
        section.context.unknown(name.span, message, name.value, names.iter().map(called));
    }
    found
}
