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
    by_client: BTreeMap<Client, ConnectionId>,
}

impl HalfOpens {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn insert(&mut self, id: ConnectionId, client: Client, answer: Vec<u8>) {
        self.by_id.insert(id, (client, answer));
        self.by_client.insert(client, id);
    }

    /// Returns whether it was one.
    pub(super) fn remove(&mut self, id: ConnectionId) -> bool {
        let removed = self.by_id.remove(&id);
        if let Some((client, _)) = &removed {
            self.by_client.remove(client);
        }
        removed.is_some()
    }

    /// What a client was answered.
    pub(super) fn answer(&self, from: SocketAddr, client: ConnectionId) -> Option<&[u8]> {
        let id = self.by_client.get(&(from, client))?;
        self.by_id.get(id).map(|(_, answer)| &answer[..])
    }
}
