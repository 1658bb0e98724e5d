//! `[[flow]]`: listed flows.

use ratewire_laws::trust::Lie;
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::FlowSpec;
use ratewire_units::Time;

use super::{Senders, apps, programs};
use crate::section::Section;
use crate::traffic::starts::{RandomStart, Starts};
use crate::transport;

/// Most listed flows.
const MOST: usize = 100_000;

/// Reads all `[[flow]]` tables.
pub(crate) fn read(root: &Section<'_>, senders: &mut Senders<'_>) -> Vec<FlowSpec> {
    let mut flows = Vec::new();
    for section in root.sections("flow", &["flow"]) {
        one(&section, senders, &mut flows);
        section.finish();
    }
    flows
}

fn one(section: &Section<'_>, senders: &mut Senders<'_>, flows: &mut Vec<FlowSpec>) {
    let context = section.context;
    let (from, to) = (section.text("from"), section.text("to"));
    let name = section.name("a flow");
    let starts = Starts::read(section);
    let stop = section.time("stop");
    let count = section.count_or("count") as usize;
    programs::refuse_lone_keys(section);
    let law = senders.laws.read_use(section, senders.defaults);
    let config = section
        .section("transport")
        .map_or_else(|| senders.transport.clone(), |own| transport::read(&own, senders.transport));
    let app = apps::app(section, &config, senders.duration);
    let lie = lie(section);
    let (latest, is_random) = starts.latest();
    if let Some(stop) = stop
        && stop.value <= latest
    {
        let may = if is_random { "may start" } else { "starts" };
        let message = format!("a flow that {may} at {latest} cannot stop at {}", stop.value);
        context.error(stop.span, message).help("`stop` must be later than `start`");
    }
    let (Some(from), Some(to)) = (from, to) else { return };
    let pairs = senders.pairs(context, from, to);
    let pairs = senders.without_exceptions(section, pairs, |pair| *pair);
    if pairs.len().saturating_mul(count) + flows.len() > MOST {
        context
            .error(section.span, format!("more than {MOST} flows"))
            .help("a class of arriving flows, [[traffic]], may be as large as you like");
        return;
    }
    let many = pairs.len() * count > 1;
    warn_of_vain_stagger(section, senders, pairs.len() * count);
    if !pairs.is_empty() && !senders.net.is_guess {
        starts.check_count(section, pairs.len() * count);
    }
    let law = senders.uses.index(law);
    let mut number = 0;
    for (a, b) in pairs {
        if a == b {
            let node = &senders.net.nodes[a].name;
            context
                .error(from.span, format!("a flow from {node:?} to itself"))
                .help("name two different nodes");
            continue;
        }
        senders.check_route(context, (a, b), from.span);
        for _ in 0..count {
            let name = match name {
                Some(name) if many => format!("{}.{}", name.value, number + 1),
                Some(name) => name.value.to_string(),
                None => unused(senders, a, b),
            };
            senders.take_name(context, &name, section.span);
            let (first, last, later) = starts.of(number);
            let start = Time::ZERO + first;
            if last >= senders.duration {
                let never = first >= senders.duration;
                let never = if never { "never starts" } else { "may not start" };
                context
                    .warning(section.span, format!("the flow {name:?} {never}"))
                    .of_end()
                    .help(format!("the run ends at {}", senders.duration));
            }
            if first < last {
                senders
                    .starts
                    .push(RandomStart { flow: flows.len(), most: last.saturating_sub(first) });
            }
            let flow = FlowSpec {
                name,
                from: NodeId(a as u32),
                to: NodeId(b as u32),
                law,
                start,
                stop: stop.map(|stop| Time::ZERO + stop.value + later),
                app: app.clone(),
                transport: config.clone(),
                lie,
            };
            let program = programs::of_flow(section, &flow, flows.len(), many);
            senders.programs.extend(program);
            flows.push(flow);
            number += 1;
        }
    }
}

fn warn_of_vain_stagger(section: &Section<'_>, senders: &Senders<'_>, flows: usize) {
    if let Some(entry) = section.get("stagger")
        && !section.time_or("stagger").is_zero()
        && flows == 1
        && !senders.net.is_guess
    {
        section
            .context
            .warning(entry.key_span, "`stagger` means nothing here: there is a single flow")
            .help("it is between the flows of one table, made by `count` or `*`; see `start`");
    }
}

/// The next unused name among `a->b`, `a->b#2`, `a->b#3` ...
fn unused(senders: &mut Senders<'_>, a: usize, b: usize) -> String {
    let arrow = format!("{}->{}", senders.net.nodes[a].name, senders.net.nodes[b].name);
    loop {
        let count = senders.arrows.entry((a, b)).or_insert(0);
        *count += 1;
        let name = if *count == 1 { arrow.clone() } else { format!("{arrow}#{count}") };
        if !senders.names.contains_key(&name) {
            return name;
        }
    }
}

fn lie(section: &Section<'_>) -> Option<Lie> {
    let before = section.context.errors();
    let inner = section.section("lie")?;
    let lie = Lie {
        rtt: inner.number_or("rtt"),
        throughput: inner.number_or("throughput"),
        ignore_feedback: inner.switch_or("ignore_feedback"),
        inflate: inner.number_or("inflate"),
    };
    inner.finish();
    if lie == Lie::default() && inner.context.errors() == before {
        inner
            .context
            .warning(inner.span, "`lie` changes nothing: the hosts are honest")
            .help("for example { rtt = 0.1 }, or leave it out");
    }
    Some(lie)
}
