//! The state of a program in front of a server (`ratewire-switch member`), as JSON has it.

mod table;

use serde::{Deserialize, Serialize};

use super::Latency;

/// State of a program in front of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberProgramStatus {
    /// What the program is: [`MemberProgramStatus::PROGRAM`].
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// When the member was started, in seconds since 1970.
    pub started_unix_s: f64,
    /// Time since then.
    pub uptime_s: f64,
    /// Address for switches.
    pub address: String,
    /// The server.
    pub server: String,
    /// What a request is.
    pub framing: String,
    /// Gateways that have said hello and are not forgotten.
    pub gateways: u64,
    /// Connections of switches.
    pub connections: u64,
    /// Connections that were refused: their gateways have another framing.
    pub refused: u64,
    /// First packets of switches that were not made with the key.
    pub wrong_keys: u64,
    /// The requests.
    pub requests: ServedCounts,
    /// Connections with the server that have requests.
    pub server_in_use: u64,
    /// Connections with the server that are kept for further requests.
    pub server_kept: u64,
    /// Bytes of requests that wait for a connection with the server, and of uploads that it has not
    /// taken.
    pub waiting_bytes: u64,
    /// Bytes of answers that wait to leave.
    pub reply_bytes: u64,
    /// Times from requests' coming to the ends of their answers.
    #[serde(flatten)]
    pub latency: Latency,
}

impl MemberProgramStatus {
    /// What `program` is in the state of a member.
    pub const PROGRAM: &str = "member";
}

/// Requests for a server so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedCounts {
    /// Requests that have come.
    pub asked: u64,
    /// Requests that have no answer yet.
    pub under_way: u64,
    /// Requests that the server has answered.
    pub answered: u64,
    /// Requests that nobody waits for any more: cancelled, or of a connection that has ended.
    pub abandoned: u64,
    /// Requests that have failed.
    pub failed: ServerFailureCounts,
}

/// Requests for a server that have failed, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFailureCounts {
    /// The server takes no connection.
    pub down: u64,
    /// The server has ended a connection, or broken the protocol.
    pub broken: u64,
    /// Too many requests wait.
    pub crowded: u64,
    /// What the gateway has sent cannot be done.
    pub gateway: u64,
}

impl ServerFailureCounts {
    /// The counts with the names of their causes.
    pub fn by_cause(&self) -> [(&'static str, u64); 4] {
        let ServerFailureCounts { down, broken, crowded, gateway } = *self;
        [("down", down), ("broken", broken), ("crowded", crowded), ("gateway", gateway)]
    }

    /// The sum of all.
    pub fn all(&self) -> u64 {
        self.by_cause().iter().map(|(_, count)| count).sum()
    }
}
