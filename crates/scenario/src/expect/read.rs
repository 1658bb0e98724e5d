//! Reading `[[expect]]`.

use std::sync::Arc;

use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::setup::{Ensembles, FlowSpec, TrafficSpec};
use ratewire_units::{Duration, Rate, Time, quantity};

use super::choose::{Side, choose};
use super::{
    AllowedRange, Basis, Expectation, Measure, MetricInfo, MetricUnit, OF_SEVERAL, Reference,
    Statistic, Subject,
};
use super::{ineffective, metrics, overlay, reference};
use crate::document::{Item, Value};
use crate::laws::LawBook;
use crate::network::Net;
use crate::section::{At, Section};

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

/// Times that must be multiples of the sampling interval, each with its description.
pub(crate) type Edges = Vec<(At<Duration>, &'static str)>;

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
    let basis = match section.word_or("basis") {
        "derived" => Basis::Derived,
        "run" => Basis::Run,
        "differs" => Basis::Differs,
        _ => Basis::Claim,
    };
    let source = section.text("source").map(|at| at.value.to_string());
    let note = section.text("note").map(|at| at.value.to_string());
    let Some(info) = metric.and_then(|m| metrics().iter().find(|info| info.name == m.value)) else {
        for key in ["min", "max", "equals", "tolerance"] {
            let _ = section.get(key);
        }
        return None;
    };
    section.set_variety(info.name);
    let bound = bound(section, info);
    if let Some(bound) = &bound {
        ineffective::bound(section, info, bound);
    }
    let whole_run = matches!(
        info.name,
        "completion_time" | "clamps" | "delivery_time" | "refused" | "overflows" | "deadlock"
    );
    let during = if whole_run { Ok(None) } else { during(section, named, edges) };
    let mut measure = Measure {
        link: None,
        flows: Vec::new(),
        of: Vec::new(),
        traffic: None,
        statistic: Statistic::Max,
        within: 0.1,
        average: Duration::ZERO,
        reference: None,
        late: None,
        part: overlay::Part::default(),
    };
    let target = match info.subject {
        Subject::Link if info.name == "throughput" && section.has("flow") => {
            flows_at_link(section, named, info, &mut measure)
        }
        Subject::Link | Subject::LinkOrAll => link(section, named, info, &mut measure),
        Subject::Run => Some("the run".to_string()),
        Subject::Flows | Subject::FlowsOrTraffic => flows(section, named, info, &mut measure),
        Subject::Group | Subject::Connection | Subject::Overlay => {
            overlay::read(section, named, info, &mut measure)
        }
    };
    details(section, info, &mut measure, edges);
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
        line: context.line(section.span),
        measure,
    })
}

/// An expectation is left out after its diagnostic was noted.
struct LeftOut;

/// Reads the window; `None` for the whole run.
fn during(
    section: &Section<'_>,
    named: &Named<'_>,
    edges: &mut Edges,
) -> Result<Option<(Time, Time)>, LeftOut> {
    let context = section.context;
    let Some(text) = section.text("during") else { return Ok(None) };
    let times = text
        .value
        .split_once("..")
        .map(|(from, to)| (from.parse::<Duration>(), to.parse::<Duration>()));
    let (from, to) = match times {
        Some((Ok(from), Ok(to))) => (from, to),
        Some((Err(e), _) | (_, Err(e))) => {
            context.error(text.span, format!("`during`: {e}")).help("for example \"5 s .. 30 s\"");
            return Err(LeftOut);
        }
        None => {
            context
                .error(text.span, format!("`during` cannot be {:?}", text.value))
                .help("allowed: two times such as \"5 s .. 30 s\"");
            return Err(LeftOut);
        }
    };
    if from >= to {
        context
            .error(text.span, "`during` ends before it begins")
            .help("for example \"5 s .. 30 s\"");
        return Err(LeftOut);
    }
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
    if info.name == "convergence_time"
        && let Some(entry) = section.get("within")
    {
        match MetricUnit::read(&entry.item.value, &[MetricUnit::Share]) {
            Some((share, _)) if share >= 0.0 => measure.within = share,
            _ => section.refuse("within", &entry.item),
        }
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

fn bound(section: &Section<'_>, info: &MetricInfo) -> Option<AllowedRange> {
    let context = section.context;
    let before = context.errors();
    let min = quantity_of(section, "min", info);
    let max = quantity_of(section, "max", info);
    let equals = quantity_of(section, "equals", info);
    let tolerance = section.get("tolerance").map(|entry| &entry.item);
    if let (Some(tolerance), None) = (tolerance, equals) {
        if context.errors() == before {
            context.error(tolerance.span, "`tolerance` needs `equals`");
        }
        return None;
    }
    if let Some(equals) = equals {
        if min.is_some() || max.is_some() {
            context
                .error(equals.span, "`equals` excludes `min` and `max`")
                .help("use `min` and `max` for a range, `equals` and `tolerance` for a value");
            return None;
        }
        let (value, unit) = equals.value;
        let tolerance = match tolerance {
            Some(item) => tolerance_of(section, item, value, unit)?,
            None => 0.0,
        };
        return Some(AllowedRange {
            min: Some(value - tolerance),
            max: Some(value + tolerance),
            unit,
            equals: Some((value, tolerance)),
        });
    }
    let Some(unit) = min.or(max).map(|at| at.value.1) else {
        if context.errors() == before {
            context
                .error(section.span, format!("{} has no bound", section.title))
                .help(format!("give it `min`, `max` or `equals`: {}", examples(info)));
        }
        return None;
    };
    if let (Some(min), Some(max)) = (min, max) {
        if min.value.1 != max.value.1 {
            context.error(max.span, "`min` and `max` differ in their unit");
            return None;
        }
        if min.value.0 > max.value.0 {
            context.error(min.span, "`min` is above `max`: nothing can pass");
            return None;
        }
    }
    let number = |at: Option<At<(f64, MetricUnit)>>| at.map(|at| at.value.0);
    Some(AllowedRange { min: number(min), max: number(max), unit, equals: None })
}

fn quantity_of(
    section: &Section<'_>,
    key: &'static str,
    info: &MetricInfo,
) -> Option<At<(f64, MetricUnit)>> {
    let item = &section.get(key)?.item;
    match MetricUnit::read(&item.value, info.units) {
        Some(value) => Some(At { value, span: item.span }),
        None => {
            let found = item.value.describe();
            section
                .context
                .error(item.span, format!("`{key}` of {} cannot be {found}", info.name))
                .help(format!("allowed: {}", examples(info)));
            None
        }
    }
}

fn examples(info: &MetricInfo) -> String {
    let examples: Vec<&str> = info.units.iter().map(|unit| unit.example()).collect();
    format!("a quantity such as {}", examples.join(", "))
}

fn tolerance_of(section: &Section<'_>, item: &Item, value: f64, unit: MetricUnit) -> Option<f64> {
    if let Value::Text(text) = &item.value
        && let Ok((percent, "%")) = quantity::split(text)
    {
        return Some(value.abs() * percent / 100.0);
    }
    match MetricUnit::read(&item.value, &[unit]) {
        Some((tolerance, _)) if tolerance >= 0.0 => Some(tolerance),
        _ => {
            section.refuse("tolerance", item);
            None
        }
    }
}
