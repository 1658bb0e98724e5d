//! Capacities of SNDlib's links: installed, or to choose from.

use super::pieces::objects;
use crate::InputError;
use crate::attributes::Attribute;
use crate::build::Builder;
use crate::json::{Json, Object};
use crate::sndlib::{self, Modules};
use crate::vocabulary::Part;

/// Takes the capacities out of a link's members, and chooses one.
pub(super) fn choose<'a>(
    builder: &mut Builder<'a>,
    json: Json<'a>,
    link: &mut Object<'a>,
) -> Result<Vec<Attribute<'a>>, InputError> {
    let installed = link.remove("pre_installed_capacity").filter(|one| !one.is_null());
    let offers = link.remove("modules").filter(|offers| !offers.is_null());
    if installed.is_none() && offers.is_none() {
        return Ok(Vec::new());
    }
    if builder.units.rate.is_none() {
        sndlib::set_unit(builder, None, json.at())?;
    }
    let installed = installed.map(|one| one.attribute("capacity"));
    let mut modules = Modules { installed, offers: Vec::new() };
    if let Some(offers) = offers {
        for offer in objects(offers, "a module: an object with its capacity")? {
            let (_, mut offer) = offer?;
            let capacity = offer.remove("module_capacity").or_else(|| offer.remove("capacity"));
            modules.offers.extend(capacity.map(|capacity| capacity.attribute("capacity")));
            for (name, other) in offer {
                builder.tally.unused(Part::Link, &name, other.at());
            }
        }
    }
    modules.choose(builder, json.at())
}
