//! Which connections get the files that a program may open.

use ratewire_daemon::process::raise_open_files;
use ratewire_framing::Framing;
use ratewire_gateway::gateway::MOST_QUEUED;
use tracing::warn;

/// Files beside connections: the log, those of the runtime and of the status, names that are being
/// resolved, sockets of connections with switches.
const RESERVE: usize = 64;
/// Files of a member beside its connections with the server; connections that requests share.
const PER_MEMBER: usize = 4;
/// Connections with a server that are enough for any.
const ENOUGH: usize = 10_000;
/// Connections with a server from which on nobody is warned.
const FEW: usize = 1000;

/// Connections of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Clients at a time.
    pub(super) clients: usize,
    /// Connections with each server.
    pub(super) connections: usize,
}

impl Shares {
    /// Raises the limit of open files, and shares it out between so many clients and connections
    /// with servers. Warns if it is small.
    pub(super) fn raise(framing: Framing, clients: usize, members: usize) -> Shares {
        let limit = raise_open_files();
        let shares = Shares::of(limit, framing, clients, members);
        let remedy = "raise its hard limit: ulimit -Hn, or LimitNOFILE of systemd";
        if shares.clients < clients {
            let clients = shares.clients;
            warn!(target: "ratewire_switch", limit, clients,
                  "the limit of open files allows fewer clients than --clients: {remedy}");
        }
        if framing.streams() && members > 0 && shares.connections < FEW {
            let connections = shares.connections;
            warn!(target: "ratewire_switch", limit, connections,
                  "the limit of open files allows few connections with a server: {remedy}");
        }
        shares
    }

    /// Clients, with those that wait for a place, get no more than they need, and half of the files
    /// at most if servers need many.
    fn of(limit: u64, framing: Framing, clients: usize, members: usize) -> Shares {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let spare = limit.saturating_sub(RESERVE + PER_MEMBER * members);
        let servers_need_many = framing.streams() && members > 0;
        let share = if servers_need_many { spare / 2 } else { spare };
        let queued = if clients > 0 { MOST_QUEUED.min(share / 2) } else { 0 };
        let clients = clients.min((share - queued).max(1));
        let left = spare.saturating_sub(clients + queued);
        Shares { clients, connections: (left / members.max(1)).clamp(1, ENOUGH) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(limit: u64, framing: &str, clients: usize, members: usize) -> (usize, usize) {
        let framing = Framing::named(framing).expect("a framing");
        let Shares { clients, connections } = Shares::of(limit, framing, clients, members);
        (clients, connections)
    }

    #[test]
    fn all_connections_fit_into_the_limit() {
        // A gateway, a member, and proxies.
        assert_eq!(shares(1 << 19, "http1", 10_000, 0).0, 10_000);
        assert_eq!(shares(1024, "resp", 10_000, 0).0, 480);
        assert_eq!(shares(1 << 19, "http1", 0, 1).1, ENOUGH);
        assert_eq!(shares(1024, "http1", 0, 1).1, 956);
        assert_eq!(shares(1 << 19, "http1", 10_000, 4), (10_000, ENOUGH));
        assert_eq!(shares(20_000, "http1", 10_000, 2), (8940, 4982));
        assert_eq!(shares(20_000, "resp", 10_000, 2).0, 10_000);
        assert_eq!(shares(u64::MAX, "http1", 10_000, 256), (10_000, ENOUGH));
        // What is too little for any.
        assert_eq!(shares(0, "http1", 10_000, 3), (1, 1));
        for limit in [200, 1024, 4096, 20_000] {
            for members in [0, 1, 10] {
                let (clients, connections) = shares(limit, "http1", 10_000, members);
                let queued = MOST_QUEUED.min(clients);
                let all = clients + queued + members * (connections + PER_MEMBER) + RESERVE;
                assert!(all as u64 <= limit, "{all} of {limit}");
            }
        }
    }
}
