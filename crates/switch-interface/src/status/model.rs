//! The state, as JSON has it.

use serde::{Deserialize, Serialize};

/// State of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// When the switch was started, in seconds since 1970.
    pub started_unix_s: f64,
    /// Time since then.
    pub uptime_s: f64,
    /// Address for peers.
    pub address: String,
    /// Peers with a connection.
    pub peers: u64,
    /// The peer that the switch connects to, if there is one.
    pub peer: Option<PeerStatus>,
    /// First packets that were not made with the key, of peers and of members that register.
    pub wrong_keys: u64,
    /// What has passed since the start.
    pub totals: Totals,
    /// The members.
    pub members: Vec<MemberStatus>,
    /// Members that register themselves, if they may.
    pub registration: Option<RegistrationStatus>,
    /// The routing module in WebAssembly, if there is one.
    pub module: Option<ModuleStatus>,
}

/// State of the peer that the switch connects to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerStatus {
    /// Its address.
    pub address: String,
    /// Whether it has answered.
    pub is_connected: bool,
}

/// What has passed since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// First packets of frames from peers to members, repeated ones included.
    pub frames_in: u64,
    /// First packets of frames from members to peers, repeated ones included.
    pub frames_out: u64,
}

/// State of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// `up`, `down`, `unknown` before it was asked for anything, or `draining` and then `drained`
    /// if it gets no new frames.
    pub health: String,
    /// Whether it has registered itself.
    pub is_registered: bool,
    /// Why it is down, or why it is not in the connection of a peer with another framing.
    pub reason: Option<String>,
    /// Peers' connections that it takes part in.
    pub peers: u64,
    /// Payload on its way to it.
    pub outstanding_bytes: u64,
    /// Times that it went down.
    pub failures: u64,
}

/// State of members that register themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationStatus {
    /// Where they register.
    pub address: String,
    /// Members that are registered.
    pub members: u64,
    /// Places for them.
    pub places: u64,
    /// Registrations that were refused.
    pub refused: u64,
    /// The member that was refused last, and why.
    pub last_refusal: Option<String>,
}

/// State of a routing module in WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleStatus {
    /// Calls that ended in a trap.
    pub traps: u64,
    /// Calls that took more than their fuel.
    pub overruns: u64,
    /// Answers that name no member that is up.
    pub invalid: u64,
    /// Times that it was started anew.
    pub restarts: u64,
    /// Whether it is not asked any more.
    pub is_given_up: bool,
    /// Times that its file was read again.
    pub reloads: u64,
    /// Times that its file could not be used, and the module before went on.
    pub refused_reloads: u64,
}
