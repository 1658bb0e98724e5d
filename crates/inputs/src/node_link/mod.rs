//! Node-link JSON, as networkx, TopoHub and D3 write it.
//!
//! The reader takes `nodes`, `edges` or `links` (`source` and `target`, also `from` and `to`) and
//! `graph`, and attributes in `properties`, `data`, `opts` or `attributes` (NetJSON, Cytoscape).
//! [`crate::topology`] says what attributes mean. A node's `pos` (or `coordinates`) is longitude
//! and latitude. A `pos` outside the range of degrees, or a layout within 1 of the origin, is a
//! drawing's and not the globe's. `null` is no value.
//!
//! Links name nodes by `id`. networkx 1 and D3 name them by their place in the list, from 0: so are
//! numbers read if they are not all ids. Nodes without `id` are named by `name`, else `label`.
//!
//! Demands are `demands` of `graph` or of the file: a matrix `{from: {to: Mbit/s}}` of ids, or a
//! list of objects with `source`, `target` and `value` or `demand`. They are sorted by sender, then
//! receiver. TopoHub's demands are SNDlib's numbers, in Mbit/s where SNDlib states a unit. The
//! demands of undirected problems (germany50) are listed once per pair of nodes and read as one
//! direction each.
//!
//! SNDlib's networks are published as JSON, too (`meta` with the `unit`, `pre_installed_capacity`
//! and `modules` of links): [`crate::sndlib_xml`] says what a link gets of those.
//!
//! Source of the format: `networkx.readwrite.json_graph.node_link_data`; Jurkiewicz, "TopoHub: A
//! repository of reference Gabriel graph and real-world topologies for networking research",
//! SoftwareX 24, 2023.

mod demands;
mod ends;
mod modules;
mod pieces;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use ends::Ends;
use pieces::{LINK, NODE, SOURCE, TARGET, need, refuse_foreign};

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::json::{Json, Object};
use crate::location::quoted;
use crate::tally::Departure;
use crate::topology::Topology;

/// Most defaults of nodes or edges: each may hold for every one of them.
const MOST_DEFAULTS: usize = 512;

/// Reads a topology with its demands.
///
/// # Errors
/// When the text is not JSON, `nodes` or `edges` are missing, an id repeats, an edge or demand
/// refers to a node that is not there, or a number is none or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let document = Json::of_file(file, text);
    let mut top = document.object("an object with nodes and edges")?;
    top.retain(|_, value| !value.is_null());
    let wrapped = match top.get("graph").filter(|graph| graph.is_object()) {
        Some(graph) if !top.contains_key("nodes") => graph.object("an object with nodes")?,
        _ => Object::new(),
    };
    if wrapped.contains_key("nodes") {
        top.remove("graph");
        top.extend(wrapped);
        top.retain(|_, value| !value.is_null());
    }
    refuse_foreign(document, &top)?;
    let is_one_way = top.get("directed").is_some_and(|flag| ["true", "1"].contains(&flag.raw));
    let (nodes, keys) = nodes(need(document, &mut top, &["nodes"])?)?;
    let links: Vec<Json<'_>> = need(document, &mut top, &["edges", "links"])?.array()?.collect();
    let mut builder = Builder::default();
    let (mut graph, is_networkx_1) = match top.remove("graph") {
        Some(graph) => about(graph)?,
        None => (Object::new(), false),
    };
    // SNDlib's networks as JSON have the unit and the file's history apart.
    if let Some(meta) = top.get("meta").copied().filter(|meta| meta.is_object()) {
        top.remove("meta");
        graph.extend(meta.object("an object with the unit")?);
    }
    let demands = [graph.remove("demands"), top.remove("demands")];
    let node_defaults = defaults(&mut graph, "node_default")?;
    let edge_defaults = defaults(&mut graph, "edge_default")?;
    builder
        .graph(graph.into_iter().chain(top).map(|(name, json)| json.attribute(name)).collect())?;

    let ends = Ends::of(&nodes, &keys, &links, is_networkx_1)?;
    // Each object is parsed again, so that there is one at a time: parsed, it is far larger.
    for (json, id) in nodes.into_iter().zip(&ends.ids) {
        add_node(&mut builder, json, id.clone(), &node_defaults)?;
    }
    for json in links {
        add_link(&mut builder, json, &ends, is_one_way, &edge_defaults)?;
    }
    for given in demands.into_iter().flatten().filter(|given| !given.is_null()) {
        demands::add(&mut builder, &ends, given)?;
    }
    builder.finish(file)
}

/// The nodes, and their ids if they are members of an object: `{id: {attribute: value}}`.
fn nodes(json: Json<'_>) -> Result<(Vec<Json<'_>>, Vec<String>), InputError> {
    if json.is_object() {
        let (keys, nodes) = json.object(NODE)?.into_iter().unzip();
        return Ok((nodes, keys));
    }
    Ok((json.array()?.collect(), Vec::new()))
}

/// What is said of the graph, and whether it is said as networkx 1 does: in a list of pairs.
fn about(graph: Json<'_>) -> Result<(Object<'_>, bool), InputError> {
    if !graph.is_array() {
        return Ok((graph.object("an object with name and demands")?, false));
    }
    let mut object = Object::new();
    for pair in graph.array()? {
        let pair: Vec<Json<'_>> = pair.array()?.collect();
        let [name, value] = pair.as_slice() else {
            return Err(graph.at().error(
                "a graph that is no list of pairs",
                "an object, or [[name, value], ...]",
                "save the graph anew (networkx: node_link_data(G))",
            ));
        };
        object.insert(name.id().into_owned(), *value);
    }
    Ok((object, true))
}

/// Attributes that all nodes or links have unless they say otherwise: networkx keeps those of a
/// GraphML file so.
fn defaults<'a>(graph: &mut Object<'a>, name: &str) -> Result<Object<'a>, InputError> {
    match graph.remove(name).filter(|defaults| !defaults.is_null()) {
        Some(json) => {
            let defaults = json.object("an object with attributes")?;
            if defaults.len() > MOST_DEFAULTS {
                return Err(json.at().error(
                    format!("{} defaults", defaults.len()),
                    format!("up to {MOST_DEFAULTS}"),
                    "leave out defaults that no node or edge needs",
                ));
            }
            Ok(defaults)
        }
        None => Ok(Object::new()),
    }
}

fn add_node<'a>(
    builder: &mut Builder<'a>,
    json: Json<'a>,
    id: Cow<'a, str>,
    defaults: &Object<'a>,
) -> Result<(), InputError> {
    let mut node = json.object(NODE)?;
    node.remove("id");
    flatten(&mut node)?;
    let mut drawn = None;
    for name in ["pos", "coordinates"] {
        if let Some(place) = node.remove(name).filter(|place| !place.is_null()) {
            drawn = Some(position(place)?);
        }
    }
    let attributes = attributes(node, defaults);
    builder.node(RawNode { at: json.at(), id, drawn, attributes })
}

/// The attributes that an object states, and the defaults of others.
fn attributes<'a>(object: Object<'a>, defaults: &Object<'a>) -> Vec<Attribute<'a>> {
    let others: Vec<_> = defaults
        .iter()
        .filter(|(name, _)| !object.contains_key(*name))
        .map(|(name, json)| json.attribute(name.clone()))
        .collect();
    let own = object.into_iter().map(|(name, json)| json.attribute(name));
    own.chain(others).collect()
}

/// Lifts attributes that an object keeps in another one, as NetJSON and Cytoscape do.
fn flatten<'a>(object: &mut Object<'a>) -> Result<(), InputError> {
    for name in ["properties", "data", "opts", "attributes"] {
        if let Some(json) = object.get(name).copied().filter(|json| json.is_object()) {
            object.remove(name);
            for (name, value) in json.object("attributes")? {
                object.entry(name).or_insert(value);
            }
        }
    }
    Ok(())
}

/// Longitude and latitude: a pair, or an object with `x` and `y`.
fn position(json: Json<'_>) -> Result<(f64, f64), InputError> {
    let numbers: Option<Vec<f64>> = if json.is_object() {
        let mut object = json.object("longitude and latitude")?;
        let mut take = |names: &[&str]| names.iter().find_map(|name| object.remove(*name));
        let pair = [take(&["x", "lon", "lng", "longitude"]), take(&["y", "lat", "latitude"])];
        pair.into_iter().map(|number| number?.number()).collect()
    } else {
        json.array()?.map(Json::number).collect()
    };
    match numbers.as_deref() {
        Some(&[longitude, latitude]) => Ok((longitude, latitude)),
        _ => Err(json.at().error(
            format!("pos {}", quoted(json.raw)),
            "two numbers, [longitude, latitude], in degrees",
            "correct the position, or leave it out",
        )),
    }
}

fn add_link<'a>(
    builder: &mut Builder<'a>,
    json: Json<'a>,
    ends: &Ends<'a>,
    is_one_way: bool,
    defaults: &Object<'a>,
) -> Result<(), InputError> {
    let mut link = json.object(LINK)?;
    let source = need(json, &mut link, SOURCE)?;
    let target = need(json, &mut link, TARGET)?;
    let pair = (ends.find(builder, source)?, ends.find(builder, target)?);
    if ends.are_places {
        builder.tally.departs(Departure::ByPlace, json.at());
    }
    flatten(&mut link)?;
    let chosen = modules::choose(builder, json, &mut link)?;
    let mut attributes = attributes(link, defaults);
    attributes.extend(chosen);
    builder.link(RawLink { at: json.at(), ends: pair, is_one_way, attributes })
}
