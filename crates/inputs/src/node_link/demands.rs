//! Demands: a matrix or a list.

use super::ends::Ends;
use super::pieces::{SOURCE, TARGET, need, objects};
use crate::InputError;
use crate::build::Builder;
use crate::json::Json;
use crate::sndlib;
use crate::vocabulary::{Meaning, Part, meaning};

/// Adds the demands that a piece of the file holds.
pub(super) fn add<'a>(
    builder: &mut Builder<'a>,
    ends: &Ends<'a>,
    json: Json<'a>,
) -> Result<(), InputError> {
    let mut list = Vec::new();
    if json.is_array() {
        let what = "a demand: an object with source, target and value";
        for demand in objects(json, what)? {
            let (json, mut demand) = demand?;
            let mut end = |names| ends.find(builder, need(json, &mut demand, names)?);
            let from = end(SOURCE)?;
            let to = end(TARGET)?;
            let values =
                ["value", "demand_value", "demandValue", "demand", "rate", "bandwidth", "traffic"];
            let value = need(json, &mut demand, &values)?.attribute("demand");
            let unit = demand.remove("routing_unit").map(|unit| unit.attribute("routing unit"));
            let rate = sndlib::demand(builder, &value, unit.as_ref())?;
            list.push(((from, to), json.at(), rate));
            // SNDlib says so of demands that may take any path.
            demand.retain(|_, other| !other.is_null() && other.raw != "\"UNLIMITED\"");
            for (name, other) in demand {
                if meaning(Part::Demand, &name) != Some(Meaning::Remark) {
                    builder.tally.unused(Part::Demand, &name, other.at());
                }
            }
        }
    } else {
        // TopoHub's unit, unless the file states another.
        builder.units.rate = builder.units.rate.or(Some(1e6));
        let allowed = "demands: an object {from: {to: Mbit/s}} of node ids";
        for (from, row) in json.object(allowed)? {
            let from = builder.find(row.at(), &from)?;
            for (to, value) in row.object(allowed)? {
                let to = builder.find(value.at(), &to)?;
                if value.is_null() {
                    continue;
                }
                list.push(((from, to), value.at(), builder.rate(&value.attribute("demand"))?));
            }
        }
    }
    // The map sorts ids as text (10 before 2); demands are sorted by the order of nodes.
    list.sort_by_key(|(ends, ..)| *ends);
    for (ends, at, rate) in list {
        builder.demand(at, ends, rate);
    }
    Ok(())
}
