//! Notices of who is a member of a group.

use std::borrow::Cow;

use bytes::{BufMut, Bytes, BytesMut};

use super::header::{Body, ByteOrder, HEADER_SIZE, Header, Hint, kind};
use super::name::{GroupName, NAME_SIZE, PrivateName};
use super::violation::Violation;

const NUMBER: usize = 4;

/// Members that got the same messages in the previous membership.
type Set = Vec<PrivateName>;

/// Identifier of a group's membership. Members that get the same sequence of memberships get the
/// same identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MembershipId {
    /// In Spread, IPv4 address of the daemon that formed the daemons' membership.
    pub daemon: i32,
    /// In Spread, Unix time in seconds at which the daemons' membership was formed.
    pub time: i32,
    /// Number of the group's membership within that of the daemons.
    pub index: i32,
}

/// The members of a group after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group.
    pub group: GroupName,
    /// Identifier of this membership.
    pub id: MembershipId,
    /// All members, in the same order at each.
    pub members: Vec<PrivateName>,
    /// What has changed.
    pub change: Change,
}

/// Why the members of a group have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// This client has joined.
    Join(PrivateName),
    /// This client has left.
    Leave(PrivateName),
    /// The connection of this client has ended.
    Disconnect(PrivateName),
    /// Daemons have lost or found each other.
    Network {
        /// All members. Those in a set got the same messages in the previous membership. All
        /// receivers have the same sets in the same order.
        sets: Vec<Vec<PrivateName>>,
        /// Index in `sets` of the receiver's.
        own: usize,
    },
}

impl MembershipId {
    pub(super) const SIZE: usize = 3 * NUMBER;

    pub(super) fn read(order: ByteOrder, bytes: &mut Bytes) -> Result<MembershipId, Violation> {
        if bytes.len() < MembershipId::SIZE {
            return Err(Violation::Notice("the identifier of the membership is cut off"));
        }
        let mut number = || order.get(bytes) as i32;
        Ok(MembershipId { daemon: number(), time: number(), index: number() })
    }

    pub(super) fn put(&self, order: ByteOrder, bytes: &mut BytesMut) {
        for number in [self.daemon, self.time, self.index] {
            order.put(number as u32, bytes);
        }
    }
}

impl Membership {
    pub(super) fn read(header: &Header, mut body: Body) -> Result<Membership, Violation> {
        let order = header.order;
        let id = MembershipId::read(order, &mut body.data)?;
        let (sets, own) = read_sets(order, body.data)?;
        let missing = Violation::Notice("the client that has joined or left is missing");
        let client = sets.iter().flatten().next().copied().ok_or(missing);
        let change = match header.kind & kind::CAUSES {
            kind::CAUSED_BY_JOIN => Change::Join(client?),
            kind::CAUSED_BY_LEAVE => Change::Leave(client?),
            kind::CAUSED_BY_DISCONNECT => Change::Disconnect(client?),
            kind::CAUSED_BY_NETWORK => Change::Network { sets, own },
            _ => return Err(Violation::Kind(header.kind)),
        };
        let group = GroupName::from_padded(&header.name)?;
        Ok(Membership { group, id, members: read_names(&body.names)?, change })
    }

    pub(super) fn encode(&self, order: ByteOrder) -> Bytes {
        let (sets, own) = self.change.sets();
        let data = MembershipId::SIZE + 2 * NUMBER + size(&sets);
        let kind = kind::REGULAR_MEMBERSHIP | self.change.cause();
        let mut bytes = put_notice(order, kind, &self.group, &self.members, data);
        self.id.put(order, &mut bytes);
        order.put(sets.len() as u32, &mut bytes);
        order.put(size(&sets[..own]) as u32, &mut bytes);
        for set in sets.iter() {
            order.put(set.len() as u32, &mut bytes);
            put_names(set, &mut bytes);
        }
        bytes.freeze()
    }
}

impl Change {
    fn cause(&self) -> u32 {
        match self {
            Change::Join(_) => kind::CAUSED_BY_JOIN,
            Change::Leave(_) => kind::CAUSED_BY_LEAVE,
            Change::Disconnect(_) => kind::CAUSED_BY_DISCONNECT,
            Change::Network { .. } => kind::CAUSED_BY_NETWORK,
        }
    }

    /// The sets in the notice, and the index of the receiver's. If one client has changed, it alone
    /// is in the only set.
    fn sets(&self) -> (Cow<'_, [Set]>, usize) {
        match self {
            Change::Join(client) | Change::Leave(client) | Change::Disconnect(client) => {
                (Cow::Owned(vec![vec![*client]]), 0)
            }
            Change::Network { sets, own } => (Cow::Borrowed(sets), *own),
        }
    }
}

/// Writes the header and the names of a notice about a group; `data` bytes are to follow.
pub(super) fn put_notice(
    order: ByteOrder,
    kind: u32,
    group: &GroupName,
    members: &[PrivateName],
    data: usize,
) -> BytesMut {
    let mut bytes = BytesMut::with_capacity(HEADER_SIZE + members.len() * NAME_SIZE + data);
    let (name, hint) = (*group.padded(), Hint { order, kind: 0 });
    Header { order, kind, name, names: members.len(), hint, data }.put(&mut bytes);
    put_names(members, &mut bytes);
    bytes
}

fn put_names(names: &[PrivateName], bytes: &mut BytesMut) {
    names.iter().for_each(|name| bytes.put_slice(GroupName::from(*name).padded()));
}

fn read_names(names: &[u8]) -> Result<Vec<PrivateName>, Violation> {
    let names = names.chunks_exact(NAME_SIZE).map(PrivateName::from_padded);
    Ok(names.collect::<Result<_, _>>()?)
}

/// Bytes of sets in a notice.
fn size(sets: &[Set]) -> usize {
    sets.iter().map(|set| NUMBER + set.len() * NAME_SIZE).sum()
}

/// Reads the number of sets, the place of the receiver's in bytes from the first, and the sets.
fn read_sets(order: ByteOrder, mut bytes: Bytes) -> Result<(Vec<Set>, usize), Violation> {
    const CUT_OFF: Violation = Violation::Notice("the sets of members are cut off");
    if bytes.len() < 2 * NUMBER {
        return Err(CUT_OFF);
    }
    let (count, place) = (order.get(&mut bytes), order.get(&mut bytes) as usize);
    let length = bytes.len();
    let (mut sets, mut own) = (Vec::new(), None);
    for index in 0..count as usize {
        if length - bytes.len() == place {
            own = Some(index);
        }
        if bytes.len() < NUMBER {
            return Err(CUT_OFF);
        }
        let members = order.get(&mut bytes) as usize;
        if members > bytes.len() / NAME_SIZE {
            return Err(CUT_OFF);
        }
        sets.push(read_names(&bytes.split_to(members * NAME_SIZE))?);
    }
    let own = own.ok_or(Violation::Notice("no set is at the place of the receiver's"))?;
    Ok((sets, own))
}
