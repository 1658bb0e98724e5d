//! Objects of the file, and what they must have.

use crate::InputError;
use crate::json::{Json, Object};

/// Objects, each with its place.
pub(super) type Objects<'a> = Vec<(Json<'a>, Object<'a>)>;

/// The objects of an array, each with its place.
pub(super) fn objects<'a>(array: Json<'a>, what: &str) -> Result<Objects<'a>, InputError> {
    array.array()?.map(|json| Ok((json, json.object(what)?))).collect()
}

/// The member of `object` (the piece `json`, parsed) under the first of `names` that is present.
pub(super) fn need<'a>(
    json: Json<'a>,
    object: &mut Object<'a>,
    names: &[&str],
) -> Result<Json<'a>, InputError> {
    names.iter().find_map(|name| object.remove(*name)).ok_or_else(|| lacks(json, names))
}

pub(super) fn lacks(json: Json<'_>, names: &[&str]) -> InputError {
    let names = names.join(" or ");
    json.at().error(
        format!("an object without {names}"),
        format!("an object with {names}"),
        "check that the file is node-link JSON (networkx: node_link_data(G))",
    )
}
