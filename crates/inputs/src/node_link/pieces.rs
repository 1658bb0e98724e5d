//! Objects of the file, and what they must have.

use crate::InputError;
use crate::json::{Json, Object};

/// Names of the node at which a link or a demand begins.
pub(super) const SOURCE: &[&str] = &["source", "src", "from", "origin"];
/// Names of the node at which a link or a demand ends.
pub(super) const TARGET: &[&str] = &["target", "dst", "dest", "to", "destination"];

/// What a node is.
pub(super) const NODE: &str = "a node: an object with an id";
/// What a link is.
pub(super) const LINK: &str = "an edge: an object with source and target";

/// The objects of an array, each with its place.
pub(super) fn objects<'a>(
    array: Json<'a>,
    what: &'static str,
) -> Result<impl Iterator<Item = Result<(Json<'a>, Object<'a>), InputError>>, InputError> {
    Ok(array.array()?.map(move |json| Ok((json, json.object(what)?))))
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

/// Other JSON that describes graphs, by a member that it has, and what to do with it.
const FOREIGN: &[(&str, &str)] = &[
    ("adjacency", "convert it: node_link_data(adjacency_graph(DATA)) of networkx"),
    ("elements", "convert it: node_link_data(cytoscape_graph(DATA)) of networkx"),
    ("children", "convert it: node_link_data(tree_graph(DATA)) of networkx"),
    ("switches", "of a MiniEdit file: write hosts and switches as nodes, and their links with ids"),
    ("devices", "of an ONOS network: write its devices as nodes, and their links with ids"),
];

/// Refuses a file that is a graph of another kind.
pub(super) fn refuse_foreign(file: Json<'_>, top: &Object<'_>) -> Result<(), InputError> {
    let is_complete =
        top.contains_key("nodes") && ["edges", "links"].iter().any(|k| top.contains_key(*k));
    match FOREIGN.iter().find(|(member, _)| !is_complete && top.contains_key(*member)) {
        None => Ok(()),
        Some((member, remedy)) => Err(file.at().error(
            format!("a graph of another kind, with {member:?}"),
            "an object with nodes and edges or links",
            *remedy,
        )),
    }
}
