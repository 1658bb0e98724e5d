//! Reading `[[expect]]`.

mod bound;
mod choose;
mod emulated;
mod ineffective;
mod overlay;
mod target;

use std::sync::Arc;

use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::setup::{Ensembles, FlowSpec, TrafficSpec};
use ratewire_units::{Duration, Rate, Time};

use super::metrics::{MetricInfo, MetricUnit, metrics};
use super::statistics::Statistic;
use super::{Basis, Expectation, Measure, OverlayPart, Reference, reference};
use crate::document::{At, Item};
use crate::keys::OF_SEVERAL;
use crate::laws::LawBook;
use crate::network::Net;
use crate::section::Section;
use crate::window::{self, Edges, LeftOut};

/// The things that expectations can name.
pub(crate) struct Named<'a> {
    pub net: &'a Net,
    pub flows: &'a [FlowSpec],
    pub ensembles: &'a Ensembles,
    pub traffic: &'a [TrafficSpec],
    pub overlay: Option<&'a OverlaySpec>,
    pub laws: &'a LawBook,
    pub duration: Duration,
    /// Whether the command line set the duration, so that the expectations were written for another
    /// one.
    pub another_duration: bool,
    /// Whether errors kept flows or traffic from being made. An unknown name may then be one of
    /// them.
    pub incomplete: bool,
}

/// Reads all `[[expect]]` tables.
pub(crate) fn read(root: &Section<'_>, named: &Named<'_>) -> (Vec<Expectation>, Edges) {
    let mut list = Vec::new();
    let mut edges = Edges::new();
    for section in root.sections("expect", &["expect"]) {
        list.extend(one(&section, named, &mut edges));
        section.finish();
    }
    (list, edges)
}

fn one(section: &Section<'_>, named: &Named<'_>, edges: &mut Edges) -> Option<Expectation> {
    let context = section.context;
    let metric = section.word("metric");
    let laws: Vec<String> = section
        .names("laws")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|name| named.laws.check(context, name))
        .collect();
    let basis = basis_of(section.word_or("basis"));
    let source = section.text("source").map(|at| at.value.to_string());
    let note = section.text("note").map(|at| at.value.to_string());
    let Some(info) = metric.and_then(|m| metrics().iter().find(|info| info.name == m.value)) else {
        for key in ["min", "max", "equals", "tolerance", "emulated"] {
            let _ = section.get(key);
        }
        return None;
    };
    section.set_variety(info.name);
    let bound = bound::read(section, info);
    if let Some(bound) = &bound {
        ineffective::bound(section, info, bound);
    }
    let emulated = emulated::read(section, info);
    let whole_run = matches!(
        info.name,
        "completion_time" | "clamps" | "delivery_time" | "refused" | "overflows" | "deadlock"
    );
    let during = if whole_run { Ok(None) } else { during(section, named, edges) };
    // `details` reads the keys that only some metrics have.
    let mut measure = Measure {
        link: None,
        flows: Vec::new(),
        of: Vec::new(),
        traffic: None,
        statistic: Statistic::Max,
        within: 0.0,
        average: Duration::ZERO,
        reference: None,
        late: None,
        part: OverlayPart::default(),
    };
    let target = target::read(section, named, info, &mut measure);
    details(section, info, &mut measure, edges);
    ineffective::emulated(section, &measure);
    let (target, during) = (target?, during.ok()?);
    ineffective::known(section, named, info, &measure, during);
    Some(Expectation {
        metric: info.name,
        target,
        during,
        bound: bound?,
        laws,
        basis,
        source,
        note,
        emulated,
        line: context.line(section.span),
        measure,
    })
}

fn basis_of(word: &str) -> Basis {
    match word {
        "derived" => Basis::Derived,
        "fit" => Basis::Fit,
        "run" => Basis::Run,
        "differs" => Basis::Differs,
        _ => Basis::Claim,
    }
}

/// Reads the window; `None` for the whole run.
fn during(
    section: &Section<'_>,
    named: &Named<'_>,
    edges: &mut Edges,
) -> Result<Option<(Time, Time)>, LeftOut> {
    let context = section.context;
    let Some(text) = window::during(section, named.duration)? else { return Ok(None) };
    let (from, to) = text.value;
    if to > named.duration && named.another_duration {
        context
            .warning(text.span, format!("left out: at {to} the run has ended"))
            .of_end()
            .help(format!("`duration` was set to {}", named.duration));
        return Err(LeftOut);
    }
    if to > named.duration {
        context
            .error(text.span, format!("at {to} the run has ended"))
            .help(format!("its duration is {}", named.duration));
        return Err(LeftOut);
    }
    edges.push((text.map(|_| from), "`during`"));
    edges.push((text.map(|_| to), "`during`"));
    Ok(Some((Time::ZERO + from, Time::ZERO + to)))
}

/// Reads the keys that only single metrics have.
fn details(section: &Section<'_>, info: &MetricInfo, measure: &mut Measure, edges: &mut Edges) {
    let context = section.context;
    if OF_SEVERAL.contains(&info.name) {
        measure.statistic = match section.word_or("statistic") {
            "mean" => Statistic::Mean,
            "p50" => Statistic::Percentile(50),
            "p95" => Statistic::Percentile(95),
            "p99" => Statistic::Percentile(99),
            _ => Statistic::Max,
        };
        if let (Statistic::Percentile(_), "delivery_time", Some(entry)) =
            (measure.statistic, info.name, section.get("statistic"))
        {
            let error = context.error(entry.item.span, "no percentiles of delivery times are kept");
            error.help("allowed: \"mean\" or \"max\"");
        }
    }
    if matches!(info.name, "convergence_time" | "reference_error") {
        if let Some(average) = section.time("average") {
            if average.value.is_zero() {
                context.error(average.span, "`average` must be above 0");
            }
            measure.average = average.value;
            edges.push((average, "`average`"));
        } else if info.name == "reference_error" {
            measure.average = Duration::from_secs(1);
            edges.push((At { value: measure.average, span: section.span }, "`average` (1 s)"));
        }
    }
    if info.name == "convergence_time" {
        measure.within = section.or_default("within", |entry| within(section, &entry.item));
    }
    if info.name == "reference_error" {
        let file = section.text("file");
        let capacity = section.rate("capacity");
        let skip = section.time_or("skip");
        let headers = section.switch_or("headers");
        let (Some(file), Some(capacity)) = (file, capacity) else { return };
        if capacity.value == Rate::ZERO {
            context.error(capacity.span, "`capacity` must be above 0");
        }
        let columns = measure.flows.len();
        let parse = |name: &str, text: &str| reference::parse(name, text, columns);
        let series = context.read(file.value, file.span, parse);
        measure.reference = series.map(|series| Reference {
            series: Arc::new(series),
            capacity: capacity.value,
            skip,
            headers,
        });
    }
}

fn within(section: &Section<'_>, item: &Item) -> Option<f64> {
    match MetricUnit::read(&item.value, &[MetricUnit::Share]) {
        Some((share, _)) if share >= 0.0 => Some(share),
        _ => {
            section.refuse("within", item);
            None
        }
    }
}
