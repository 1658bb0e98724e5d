//! What expectations measure: links, flows, classes of traffic, overlays.

use super::choose::{Side, choose};
use super::{Named, ineffective, overlay};
use crate::expect::Measure;
use crate::expect::metrics::{MetricInfo, Subject};
use crate::section::Section;

/// Reads the target; gives it in words, or `None` after an error.
pub(super) fn read(
    section: &Section<'_>,
    named: &Named<'_>,
    info: &MetricInfo,
    measure: &mut Measure,
) -> Option<String> {
    match info.subject {
        Subject::Link if info.name == "throughput" && section.has("flow") => {
            flows_at_link(section, named, info, measure)
        }
        Subject::Link | Subject::LinkOrAll => link(section, named, info, measure),
        Subject::Run => Some("the run".to_string()),
        Subject::Flows | Subject::FlowsOrTraffic => flows(section, named, info, measure),
        Subject::Group | Subject::Connection | Subject::Overlay => {
            overlay::read(section, named, info, measure)
        }
    }
}

fn link(
    section: &Section<'_>,
    named: &Named<'_>,
    info: &MetricInfo,
    measure: &mut Measure,
) -> Option<String> {
    let Some(name) = section.text("link") else {
        if info.subject == Subject::Link && !section.has("link") {
            section.missing("link");
            return None;
        }
        return (!section.has("link")).then(|| "all links".to_string());
    };
    let id = named.net.expect_link(section.context, name)?;
    let link = &named.net.links[id];
    measure.link = Some(id);
    if info.name == "late_acks" {
        let late_by = section.time_or("late_by");
        measure.late = link.peer.map(|back| (back, late_by));
        if measure.late.is_none() {
            section
                .context
                .error(name.span, format!("no acknowledgements come back beside {:?}", link.name))
                .help("name a link of a cable");
        }
    }
    Some(link.name.clone())
}

/// Reads the flows and the link at which their packets are counted.
fn flows_at_link(
    section: &Section<'_>,
    named: &Named<'_>,
    info: &MetricInfo,
    measure: &mut Measure,
) -> Option<String> {
    let link = link(section, named, info, measure);
    let (chosen, flows) = choose(section, "flow", Side::All, named)?;
    measure.flows = chosen;
    Some(format!("{flows} at {}", link?))
}

fn flows(
    section: &Section<'_>,
    named: &Named<'_>,
    info: &MetricInfo,
    measure: &mut Measure,
) -> Option<String> {
    let context = section.context;
    if info.subject == Subject::FlowsOrTraffic
        && let Some(name) = section.text("traffic")
    {
        let id = named.traffic.iter().position(|class| class.name == name.value);
        if id.is_none() && !named.incomplete {
            let message = format!("no class of traffic is called {:?}", name.value);
            let known = named.traffic.iter().map(|class| class.name.as_str());
            context.unknown(name.span, message, name.value, known);
        }
        if let Some(entry) = section.get("flow") {
            context.error(entry.key_span, "`flow` and `traffic` exclude each other");
        }
        measure.traffic = id;
        return id.map(|_| name.value.to_string());
    }
    let side = Side::of(info.name);
    let (chosen, mut target) = choose(section, "flow", side, named)?;
    measure.flows = chosen;
    if info.name == "completion_time" {
        ineffective::completion(section, named, &measure.flows);
    }
    if matches!(info.name, "share" | "ratio") {
        let (of, text) = choose(section, "of", side, named)?;
        measure.of = of;
        if section.has("of") {
            target = format!("{target} to {text}");
        }
    }
    Some(target)
}
