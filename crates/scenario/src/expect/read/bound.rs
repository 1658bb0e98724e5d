//! Bounds: `min`, `max`, `equals` and `tolerance`.

use ratewire_units::quantity;

use crate::document::{At, Item, Value};
use crate::expect::AllowedRange;
use crate::expect::metrics::{MetricInfo, MetricUnit};
use crate::section::Section;

/// Reads the bound; `None` after an error.
pub(super) fn read(section: &Section<'_>, info: &MetricInfo) -> Option<AllowedRange> {
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
            None => section
                .default_of("tolerance", |entry| tolerance_of(section, &entry.item, value, unit)),
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
