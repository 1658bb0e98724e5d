//! Demands: a matrix or a list.

use super::ends::Ends;
use super::pieces::{need, objects};
use crate::InputError;
use crate::build::Builder;
use crate::json::Json;
use crate::vocabulary::{Meaning, Part, meaning};

/// Adds the demands that a piece of the file holds.
pub(super) fn add<'a>(
    builder: &mut Builder<'a>,
    ends: &Ends<'a>,
    json: Json<'a>,
) -> Result<(), InputError> {
    // SNDlib's unit, unless the file states another.
    builder.units.rate = builder.units.rate.or(Some(1e6));
    let mut list = Vec::new();
    if json.is_array() {
        let what = "a demand: an object with source, target and value";
        for (json, mut demand) in objects(json, what)? {
            let mut end = |names| ends.find(builder, need(json, &mut demand, names)?);
            let from = end(&["source", "src", "from", "origin"])?;
            let to = end(&["target", "dst", "to", "destination"])?;
            let values = ["value", "demandValue", "demand", "rate", "bandwidth", "traffic"];
            let value = need(json, &mut demand, &values)?.attribute("demand");
            list.push(((from, to), json.at(), builder.rate(&value)?));
            for (name, other) in demand {
                if meaning(Part::Demand, &name) != Some(Meaning::Remark) && !other.is_null() {
                    builder.tally.unused_name(Part::Demand, &name, other.at());
                }
            }
        }
    } else {
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
