//! What a client is told, as bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use ratewire_overlay::OverlayNodeId;
use ratewire_overlay::membership::{Cause, Client, GroupViewId, Label, Service, Target};
use tokio::time::Instant;

use super::body::{Body, counted};
use super::item::Item;
use crate::config::Config;
use crate::spread::{
    ByteOrder, Change, GroupName, Membership, MembershipId, Message, PrivateName, Received,
};

/// Data from this length on is written from where it lies, and not copied behind its header.
const LARGE: usize = 2 << 10;

/// Name of a client of daemon `node`, as others see it.
pub(super) fn private_name(
    config: &Config,
    node: OverlayNodeId,
    label: &str,
) -> Option<PrivateName> {
    // Another daemon may have told of one that this one does not know yet.
    let daemon = config.daemons.get(node.index())?;
    format!("#{label}#{}", daemon.name).parse().ok()
}

/// A notice for a client.
pub(super) fn item(notice: &Received) -> Item {
    let head = notice.encode(ByteOrder::NATIVE);
    Item {
        counted: counted(head.len()),
        head,
        data: Bytes::new(),
        is_notice: true,
        at: Instant::now(),
    }
}

/// A client's message for its receivers.
pub(super) fn message(
    config: &Config,
    sender: &PrivateName,
    service: Service,
    self_discard: bool,
    targets: &[Target<GroupName>],
    body: &Body,
) -> Item {
    let group = |target: &Target<GroupName>| match target {
        Target::Group(group) => Some(*group),
        Target::Private(node, label) => private_name(config, *node, label).map(GroupName::from),
    };
    let message = Message {
        service,
        self_discard,
        groups: targets.iter().filter_map(group).collect(),
        kind: body.kind(),
        order: body.order(),
        data: body.data().clone(),
    };
    let (counted, at) = (counted(message.data.len()), Instant::now());
    if message.data.len() < LARGE {
        let head = message.encode(sender, ByteOrder::NATIVE);
        return Item { head, data: Bytes::new(), counted, is_notice: false, at };
    }
    let head = message.head(sender, ByteOrder::NATIVE);
    Item { head, data: message.data, counted, is_notice: false, at }
}

/// Identifier of a view of a group: the same at all daemons.
pub(super) fn membership_id(id: &GroupViewId) -> MembershipId {
    let view = id.view;
    // Seconds of the coordinator's start, as Spread's identifiers have the time of the view.
    let time = (view.started() / 1_000_000) as i32;
    let daemon = (i32::from(view.coordinator.0) + 1) << 24 | (view.number & 0xff_ffff) as i32;
    MembershipId { daemon, time, index: id.change as i32 + 1 }
}

/// A group's new view.
pub(super) fn membership(
    config: &Config,
    group: GroupName,
    id: &GroupViewId,
    members: &[(Client, Label)],
    cause: &Cause,
) -> Option<Received> {
    // As Spread's daemon lists them: by daemon, and then by name.
    let listed = |mut clients: Vec<(OverlayNodeId, &Label)>| -> Vec<PrivateName> {
        clients.sort_unstable();
        clients.into_iter().filter_map(|(node, label)| private_name(config, node, label)).collect()
    };
    let changed = |client: &Client, label: &Label| private_name(config, client.node, label);
    let change = match cause {
        Cause::Join(client, label) => Change::Join(changed(client, label)?),
        Cause::Leave(client, label) => Change::Leave(changed(client, label)?),
        Cause::Disconnect(client, label) => Change::Disconnect(changed(client, label)?),
        Cause::Network { sets, own } => {
            let labels: BTreeMap<Client, &Label> =
                members.iter().map(|(client, label)| (*client, label)).collect();
            let named = |client: &Client| Some((client.node, *labels.get(client)?));
            let set = |set: &Vec<Client>| listed(set.iter().filter_map(named).collect());
            Change::Network { sets: sets.iter().map(set).collect(), own: *own }
        }
    };
    let members = listed(members.iter().map(|(client, label)| (client.node, label)).collect());
    Some(Received::Membership(Membership { group, id: membership_id(id), members, change }))
}
