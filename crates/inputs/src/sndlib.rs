//! What SNDlib's two formats share: units, modules, demands.

use ratewire_units::Rate;

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::Builder;
use crate::location::{Location, finite, quoted};
use crate::tally::Departure;
use crate::vocabulary::rate_unit;

/// Sets the unit of capacities and demands: `MBITPERSEC`, or what the file says.
pub(crate) fn set_unit<'a>(
    builder: &mut Builder<'a>,
    unit: Option<(&str, Location<'a>)>,
    file: Location<'a>,
) -> Result<(), InputError> {
    builder.units.rate = Some(1e6);
    match unit {
        None => {
            builder.of_rates = Some(file.note(
                "no unit of capacities and demands: they are read in Mbit/s",
                "state the unit where the file describes itself: MBITPERSEC in meta",
            ));
        }
        Some((text, at)) => {
            let size = rate_unit(text).ok_or_else(|| {
                at.error(
                    format!("the unit {}", quoted(text)),
                    "BITPERSEC, KBITPERSEC, MBITPERSEC, GBITPERSEC or TBITPERSEC",
                    "convert capacities and demands to Mbit/s, and the unit with them",
                )
            })?;
            builder.units.rate = Some(size);
        }
    }
    Ok(())
}

/// The capacities of a link.
#[derive(Default)]
pub(crate) struct Modules<'a> {
    pub(crate) installed: Option<Attribute<'a>>,
    pub(crate) offers: Vec<Attribute<'a>>,
}

impl<'a> Modules<'a> {
    /// The capacity that the link gets: what is installed, else the smallest module on offer.
    pub(crate) fn choose(
        self,
        builder: &mut Builder<'a>,
        at: Location<'a>,
    ) -> Result<Vec<Attribute<'a>>, InputError> {
        if let Some(installed) = self.installed
            && builder.rate(&installed)?.is_some()
        {
            return Ok(vec![installed]);
        }
        let mut smallest: Option<(Rate, Attribute<'a>)> = None;
        let mut sizes = 0;
        for offer in self.offers {
            let Some(rate) = builder.rate(&offer)? else { continue };
            sizes += usize::from(smallest.as_ref().is_none_or(|(known, _)| *known != rate));
            if smallest.as_ref().is_none_or(|(known, _)| rate < *known) {
                smallest = Some((rate, offer));
            }
        }
        if sizes > 1 {
            builder.tally.departs(Departure::SmallestModule, at);
        }
        Ok(smallest.into_iter().map(|(_, offer)| offer).collect())
    }
}

/// The rate of a demand: its value in routing units.
pub(crate) fn demand<'a>(
    builder: &mut Builder<'a>,
    value: &Attribute<'a>,
    routing_unit: Option<&Attribute<'a>>,
) -> Result<Option<Rate>, InputError> {
    let Some(unit) = routing_unit.filter(|unit| !matches!(unit.value.trim(), "" | "1")) else {
        return builder.rate(value);
    };
    let number = |text: &str| finite(text).filter(|number| *number >= 0.0);
    let Some(units) = number(&unit.value) else {
        return Err(unit.at.error(
            format!("routing unit {}", quoted(&unit.value)),
            "a number, 0 or more",
            "correct the number, or leave it out",
        ));
    };
    match number(&value.value) {
        Some(number) => {
            let product = (number * units).to_string();
            builder.rate(&Attribute::new(value.name.clone(), product, value.at))
        }
        None => {
            let rate = builder.rate(value)?;
            Ok(rate.map(|rate| Rate::from_bps((rate.bps() as f64 * units + 0.5) as u64)))
        }
    }
}
