//! Which nodes links name: by id, by name or by place.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::pieces::{LINK, NODE, SOURCE, TARGET, lacks};
use crate::InputError;
use crate::build::Builder;
use crate::json::{Json, Object};

/// How links name nodes.
pub(super) struct Ends<'a> {
    /// The ids of nodes, as demands name them.
    pub(super) ids: Vec<Cow<'a, str>>,
    /// Whether ends are places in the list of nodes.
    pub(super) are_places: bool,
}

impl<'a> Ends<'a> {
    /// `keys` are the ids of nodes that are members of an object.
    pub(super) fn of(
        nodes: &[Json<'a>],
        keys: &[String],
        links: &[Json<'a>],
        is_networkx_1: bool,
    ) -> Result<Ends<'a>, InputError> {
        if !keys.is_empty() {
            let ids = keys.iter().map(|key| Cow::Owned(key.clone())).collect();
            return Ok(Ends { ids, are_places: false });
        }
        let (exact, ids) = ids(nodes)?;
        let (mut are_ids, mut are_places) = (true, !links.is_empty());
        for json in links {
            let link = json.object(LINK)?;
            for names in [SOURCE, TARGET] {
                let Some(end) = names.iter().find_map(|name| link.get(*name)) else { continue };
                are_ids &= exact.contains(&(end.number().is_none(), end.id()));
                are_places &= end.raw.parse::<usize>().is_ok_and(|place| place < nodes.len());
            }
        }
        Ok(Ends { ids, are_places: are_places && (is_networkx_1 || !are_ids) })
    }

    pub(super) fn find(&self, builder: &Builder<'a>, end: Json<'a>) -> Result<usize, InputError> {
        match end.raw.parse() {
            Ok(place) if self.are_places && place < self.ids.len() => Ok(place),
            _ => builder.find(end.at(), &end.id()),
        }
    }
}

/// An id and whether it is a string: 0 and "0" are not the same.
type Exact<'a> = (bool, Cow<'a, str>);

/// The ids of nodes that have one of their own, and those of all nodes: `id`, else the name of the
/// first node of that name, else the place.
fn ids<'a>(nodes: &[Json<'a>]) -> Result<(BTreeSet<Exact<'a>>, Vec<Cow<'a, str>>), InputError> {
    let mut has_ids = false;
    let mut own = Vec::new();
    for json in nodes {
        let node = json.object(NODE)?;
        has_ids |= node.contains_key("id");
        own.push((node.get("id").copied(), name(&node).copied()));
    }
    let (mut exact, mut ids) = (BTreeSet::new(), Vec::new());
    for (place, (id, name)) in own.into_iter().enumerate() {
        match if has_ids { id } else { name }.filter(|id| !id.is_null()) {
            Some(id) => {
                let is_new = exact.insert((id.number().is_none(), id.id()));
                ids.push(if has_ids || is_new { id.id() } else { nameless(place) });
            }
            None if has_ids => return Err(lacks(nodes[place], &["id"])),
            None => ids.push(nameless(place)),
        }
    }
    Ok((exact, ids))
}

/// What a node without `id` is called.
fn name<'o, 'a>(node: &'o Object<'a>) -> Option<&'o Json<'a>> {
    node.get("name").or_else(|| node.get("label"))
}

fn nameless<'a>(place: usize) -> Cow<'a, str> {
    Cow::Owned(format!("node {place}"))
}
