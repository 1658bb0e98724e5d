//! Topologies in a row: dumbbell, parking lot, chain.

use ratewire_units::Duration;

use super::Builder;
use crate::document::{At, Item, Value};
use crate::network::properties::{Cable, Properties};

/// Pairs of hosts on both sides of one link.
pub(super) fn dumbbell(b: &mut Builder<'_, '_>) {
    let section = b.section;
    let bottleneck = b.properties("bottleneck");
    let access = b.properties("access");
    let delays = section.get("delays").map(|e| times(b, "delays", &e.item, false));
    let rtts = section.get("rtt").map(|e| times(b, "rtt", &e.item, true));
    if let (Some(entry), true) = (section.get("delays"), section.has("rtt")) {
        section
            .context
            .error(entry.key_span, "`delays` and `rtt` exclude each other")
            .help("`delays` is of the access links, `rtt` of the whole path");
    }
    let pairs = pairs(b, delays.as_deref().or(rtts.as_deref()));
    let middle = (pairs as f64 - 1.0) / 2.0;
    // The drawing is at least as wide as high, so that the bottleneck of many pairs is no stub.
    let step = middle.max(1.0);
    let r1 = b.router("r1".into(), step, -middle);
    let r2 = b.router("r2".into(), 2.0 * step, -middle);
    b.named("bottleneck", r1, r2, &bottleneck);
    for i in 0..pairs {
        let mut own = access.clone();
        let given = |list: &Option<Vec<At<Duration>>>| {
            list.as_ref()
                .and_then(|list| if list.len() == 1 { list.first() } else { list.get(i) })
                .copied()
        };
        if let Some(rtt) = given(&rtts) {
            let of = |way: &Properties| way.delay.map_or(Duration::ZERO, |at| at.value);
            let between = of(&bottleneck.value.forward) + of(&bottleneck.value.backward);
            if rtt.value < between {
                section
                    .context
                    .error(rtt.span, format!("a round trip of {} is too short", rtt.value))
                    .help(format!("the bottleneck alone takes {between} there and back"));
            }
            // A round trip crosses access links four times.
            let each = rtt.value.saturating_sub(between) / 4;
            set_delay(&mut own, At { value: each, span: rtt.span });
        } else if let Some(delay) = given(&delays) {
            set_delay(&mut own, delay);
        }
        let s = b.host(format!("s{}", i + 1), 0.0, -(i as f64));
        let d = b.host(format!("d{}", i + 1), 3.0 * step, -(i as f64));
        b.access(s, r1, &own);
        b.access(r2, d, &own);
        b.net.pairs.push((s, d));
    }
}

fn set_delay(cable: &mut At<Cable>, delay: At<Duration>) {
    for properties in [&mut cable.value.forward, &mut cable.value.backward] {
        (properties.delay, properties.delay_trace) = (Some(delay), None);
    }
}

/// Reads the list of times `name`; with `single`, one time stands for all pairs.
fn times(b: &Builder<'_, '_>, name: &'static str, item: &Item, single: bool) -> Vec<At<Duration>> {
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        Value::Text(_) if single => std::slice::from_ref(item),
        _ => {
            b.section.refuse(name, item);
            return Vec::new();
        }
    };
    let mut times = Vec::new();
    for item in items {
        match &item.value {
            Value::Text(text) => match text.parse::<Duration>() {
                Ok(value) => times.push(At { value, span: item.span }),
                Err(e) => {
                    b.section.complain(name, item, &e.to_string());
                }
            },
            _ => b.section.refuse(name, item),
        }
    }
    times
}

/// Number of pairs: `pairs`, or the length of `list`.
fn pairs(b: &mut Builder<'_, '_>, list: Option<&[At<Duration>]>) -> usize {
    let given = b.section.get("pairs").is_some();
    let count = b.count("pairs") as usize;
    match list {
        Some(list) if !given && !list.is_empty() => list.len().min(10_000),
        Some(list) if given && !b.net.is_guess && list.len() > 1 && list.len() != count => {
            if let Some(entry) = b.section.get("pairs") {
                b.section
                    .context
                    .error(
                        entry.item.span,
                        format!("{count} pairs, but the list of times has {}", list.len()),
                    )
                    .help("leave out `pairs`, or give one time a pair");
            }
            count
        }
        _ => count,
    }
}

/// Links in a row; one pair of hosts crosses all of them, and one pair crosses each.
pub(super) fn parking_lot(b: &mut Builder<'_, '_>) {
    let hops = b.count("hops") as usize;
    let link = b.properties("link");
    let access = b.properties("access");
    let routers: Vec<usize> =
        (0..=hops).map(|i| b.router(format!("r{}", i + 1), i as f64 + 1.0, 0.0)).collect();
    for i in 0..hops {
        b.named(&format!("hop{}", i + 1), routers[i], routers[i + 1], &link);
    }
    let s0 = b.host("s0".into(), 0.0, 0.0);
    let d0 = b.host("d0".into(), hops as f64 + 2.0, 0.0);
    b.access(s0, routers[0], &access);
    b.access(routers[hops], d0, &access);
    b.net.pairs.push((s0, d0));
    for i in 0..hops {
        let s = b.host(format!("s{}", i + 1), i as f64 + 0.8, -1.0);
        let d = b.host(format!("d{}", i + 1), i as f64 + 2.2, 1.0);
        b.access(s, routers[i], &access);
        b.access(routers[i + 1], d, &access);
        b.net.pairs.push((s, d));
    }
}

/// Routers in a row, with hosts at both ends.
pub(super) fn chain(b: &mut Builder<'_, '_>) {
    let count = b.count("routers") as usize;
    let pairs = pairs(b, None);
    let link = b.properties("link");
    let access = b.properties("access");
    let middle = (pairs as f64 - 1.0) / 2.0;
    let routers: Vec<usize> =
        (0..count).map(|i| b.router(format!("r{}", i + 1), i as f64 + 1.0, -middle)).collect();
    for hop in routers.windows(2) {
        b.cable(hop[0], hop[1], &link);
    }
    for i in 0..pairs {
        let s = b.host(format!("s{}", i + 1), 0.0, -(i as f64));
        let d = b.host(format!("d{}", i + 1), count as f64 + 1.0, -(i as f64));
        b.access(s, routers[0], &access);
        b.access(routers[count - 1], d, &access);
        b.net.pairs.push((s, d));
    }
}
