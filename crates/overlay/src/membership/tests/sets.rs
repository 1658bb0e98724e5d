//! The sets of clients that come along with each other, as members of a group are told of them.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{Broken, holds};
use super::net::Group;
use crate::membership::{Client, GroupViewId, Label, ViewId};

/// What all members of a group are told alike of a view: its members, and if the network caused it,
/// the sets of those that came along with each other.
pub(super) type Told = (Vec<(Client, Label)>, Option<Vec<Vec<Client>>>);

/// The sets that a client is told of: each member is in one, and the client in its own.
pub(super) fn told(
    members: &[(Client, Label)],
    sets: &[Vec<Client>],
    own: usize,
    me: Client,
) -> Result<Vec<Vec<Client>>, String> {
    let mut clients = sets.concat();
    clients.sort_unstable();
    let is_whole = clients.iter().eq(members.iter().map(|(client, _)| client));
    holds(is_whole, || format!("sets {sets:?} of {members:?}"))?;
    let is_own = sets.get(own).is_some_and(|set| set.contains(&me));
    holds(is_own, || format!("{me:?} is not in set {own} of {sets:?}"))?;
    Ok(sets.to_vec())
}

/// The clients of a set come from one view, those of two from two, and sets are in the order of who
/// formed these and when.
pub(super) fn are_of_views(
    shown: &BTreeMap<(Group, GroupViewId), Told>,
    came_from: impl Fn(&Client, ViewId) -> Option<ViewId>,
) -> Broken {
    for ((group, id), (_, sets)) in shown {
        let mut last = None;
        for set in sets.iter().flatten() {
            let views: BTreeSet<ViewId> =
                set.iter().filter_map(|client| came_from(client, id.view)).collect();
            holds(views.len() <= 1, || format!("{id:?} of {group}: set {set:?} of {views:?}"))?;
            let Some(view) = views.first() else { continue };
            let rank = Some((view.coordinator, view.incarnation, view.number));
            holds(last < rank, || format!("{id:?} of {group}: order of the sets {sets:?}"))?;
            last = rank;
        }
    }
    Ok(())
}
