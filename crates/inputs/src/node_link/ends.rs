//! Which nodes links name: by id, by name or by place.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::pieces::{Objects, SOURCE, TARGET, lacks};
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
        nodes: &Objects<'a>,
        keys: &[String],
        links: &Objects<'a>,
        is_networkx_1: bool,
    ) -> Result<Ends<'a>, InputError> {
        if !keys.is_empty() {
            let ids = keys.iter().map(|key| Cow::Owned(key.clone())).collect();
            return Ok(Ends { ids, are_places: false });
        }
        let has_ids = nodes.iter().any(|(_, node)| node.contains_key("id"));
        // An id and whether it is a string: 0 and "0" are not the same.
        let mut exact = BTreeSet::new();
        let mut ids = Vec::new();
        for (place, (json, node)) in nodes.iter().enumerate() {
            let id = if has_ids { node.get("id") } else { name(node) };
            match id.filter(|id| !id.is_null()) {
                Some(id) => {
                    let is_new = exact.insert((id.number().is_none(), id.id()));
                    let id = if has_ids || is_new { id.id() } else { nameless(place) };
                    ids.push(id);
                }
                None if has_ids => return Err(lacks(*json, &["id"])),
                None => ids.push(nameless(place)),
            }
        }
        let (mut are_ids, mut are_places) = (true, !links.is_empty());
        let end = |link: &Object<'a>, names: &[&str]| {
            names.iter().find_map(|name| link.get(*name)).copied()
        };
        for end in links.iter().flat_map(|(_, link)| [end(link, SOURCE), end(link, TARGET)]) {
            let Some(end) = end else { continue };
            are_ids &= exact.contains(&(end.number().is_none(), end.id()));
            are_places &= end.raw.parse::<usize>().is_ok_and(|place| place < nodes.len());
        }
        Ok(Ends { ids, are_places: are_places && (is_networkx_1 || !are_ids) })
    }

    pub(super) fn find(&self, builder: &Builder<'a>, end: Json<'a>) -> Result<usize, InputError> {
        match end.raw.parse() {
            Ok(place) if self.are_places => Ok(place),
            _ => builder.find(end.at(), &end.id()),
        }
    }
}

/// What a node without `id` is called.
fn name<'o, 'a>(node: &'o Object<'a>) -> Option<&'o Json<'a>> {
    node.get("name").or_else(|| node.get("label"))
}

fn nameless<'a>(place: usize) -> Cow<'a, str> {
    Cow::Owned(format!("node {place}"))
}
