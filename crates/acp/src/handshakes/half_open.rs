//! Connections whose clients have not shown that they have the keys.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::wire::ConnectionId;

type Client = (SocketAddr, ConnectionId);

/// Such connections, and what their clients were answered: a repeated first packet gets the same
/// answer.
#[derive(Debug, Default)]
pub(super) struct HalfOpens {
    by_id: BTreeMap<ConnectionId, (Client, Vec<u8>)>,
    /// By the client's number for its connection, which only its own first packet has.
    by_client: BTreeMap<ConnectionId, BTreeMap<SocketAddr, ConnectionId>>,
}

impl HalfOpens {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }
    /// Number of addresses that one first packet has come from.
    pub(super) fn addresses(&self, client: ConnectionId) -> usize {
        self.by_client.get(&client).map_or(0, BTreeMap::len)
    }

    pub(super) fn insert(&mut self, id: ConnectionId, client: Client, answer: Vec<u8>) {
        let (from, number) = client;
        self.by_id.insert(id, (client, answer));
        self.by_client.entry(number).or_default().insert(from, id);
    }

    /// Returns its client's address if it was one.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<SocketAddr> {
        let ((from, number), _) = self.by_id.remove(&id)?;
        if let Some(addresses) = self.by_client.get_mut(&number) {
            addresses.remove(&from);
            if addresses.is_empty() {
                self.by_client.remove(&number);
            }
        }
        Some(from)
    }

    /// What a client was answered.
    pub(super) fn answer(&self, from: SocketAddr, client: ConnectionId) -> Option<&[u8]> {
        let id = self.by_client.get(&client)?.get(&from)?;
        self.by_id.get(id).map(|(_, answer)| &answer[..])
    }
}
