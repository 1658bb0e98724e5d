//! The state of a gateway, as JSON has it.

mod table;

use serde::{Deserialize, Serialize};

use super::Latency;

/// State of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewayStatus {
    /// What the program is: [`GatewayStatus::PROGRAM`].
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// When the gateway was started, in seconds since 1970.
    pub started_unix_s: f64,
    /// Time since then.
    pub uptime_s: f64,
    /// Address for clients.
    pub address: String,
    /// What a request is.
    pub framing: String,
    /// The switch.
    pub switch: SwitchLink,
    /// The clients.
    pub clients: ClientCounts,
    /// The requests.
    pub requests: RequestCounts,
    /// Bytes that are held for clients: what they have sent and no member has, and answers that
    /// they have not taken.
    pub held_bytes: u64,
    /// Most bytes that may be held.
    pub held_limit_bytes: u64,
    /// The members, as the switch tells them.
    pub members: Vec<GatewayMember>,
}

impl GatewayStatus {
    /// What `program` is in the state of a gateway.
    pub const PROGRAM: &str = "gateway";
}

/// The connection by which a switch tells a gateway its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchLink {
    /// Address of the switch.
    pub address: String,
    /// Whether there is a connection.
    pub is_connected: bool,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Clients of a gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCounts {
    /// Clients that are served now.
    pub now: u64,
    /// Clients that wait for a place.
    pub waiting: u64,
    /// Clients that were served so far, those of now included.
    pub served: u64,
    /// Clients for whom there was no place.
    pub refused: u64,
    /// Clients that were ended because more was held for all than may be.
    pub ended_for_memory: u64,
    /// Clients that were ended because they did not take their answers.
    pub ended_not_reading: u64,
    /// Clients that were ended because their requests did not arrive in time.
    pub ended_slow: u64,
    /// Clients that were ended because what they sent is no request.
    pub violations: u64,
}

/// Requests of a gateway's clients so far. One that goes to several members counts once for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCounts {
    /// Requests for members.
    pub asked: u64,
    /// Requests that the gateway has answered itself.
    pub local: u64,
    /// Requests that members have answered.
    pub answered: u64,
    /// Requests whose clients have left before the answer.
    pub abandoned: u64,
    /// Requests that have failed.
    pub failed: FailureCounts,
}

/// Requests that have failed, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCounts {
    /// The member is down.
    pub down: u64,
    /// The connection with the member was lost, and the request may have been done.
    pub lost: u64,
    /// There was no answer in time.
    pub late: u64,
    /// The member has said that its server has failed.
    pub server: u64,
    /// The gateway could not send the request: it is too long, or no member is known.
    pub unsent: u64,
}

impl FailureCounts {
    /// The counts with the names of their causes.
    pub fn by_cause(&self) -> [(&'static str, u64); 5] {
        let FailureCounts { down, lost, late, server, unsent } = *self;
        [("down", down), ("lost", lost), ("late", late), ("server", server), ("unsent", unsent)]
    }

    /// The sum of all.
    pub fn all(&self) -> u64 {
        self.by_cause().iter().map(|(_, count)| count).sum()
    }
}

/// What a gateway knows of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewayMember {
    /// Its name; `all` stands for all members if the switch chooses among them.
    pub name: String,
    /// `up`, `down` or `leaving`, as the switch tells it.
    pub state: String,
    /// Whether the gateway has a connection with it.
    pub is_connected: bool,
    /// Why it is down, or why there is no connection.
    pub reason: Option<String>,
    /// Requests that wait to be sent.
    pub waiting: u64,
    /// Requests that the member has.
    pub under_way: u64,
    /// Bytes of these and of the answers that are expected.
    pub expected_bytes: u64,
    /// Answers so far.
    pub answered: u64,
    /// Times from requests' coming to the ends of their answers.
    #[serde(flatten)]
    pub latency: Latency,
    /// Requests that were sent again, to this member or another one, after a connection was lost.
    pub sent_again: u64,
}
