//! The daemon's state, as JSON has it.

use ratewire_overlay::Params;
use ratewire_units::Duration;
use serde::{Deserialize, Serialize};

use super::counts::{Totals, Traffic};
use crate::config::Policy;

/// State of a running daemon. A program reads it with [`fetch_status`](super::fetch_status), or as
/// JSON at `/status.json` of the daemon's `status` address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Name of the daemon.
    pub daemon: String,
    /// Version of the program.
    pub version: String,
    /// Start of the daemon, in seconds since 1970.
    pub started_unix_s: f64,
    /// Time since the start, in seconds.
    pub uptime_s: f64,
    /// The daemons that this one forms a view with.
    pub view: ViewStatus,
    /// Links of this daemon, in the order of the file.
    pub links: Vec<LinkStatus>,
    /// Clients of this daemon, in the order in which they connected.
    pub clients: Vec<ClientStatus>,
    /// Groups by name, at most 1000.
    pub groups: Vec<GroupStatus>,
    /// Number of groups at all daemons of the view.
    pub group_count: u64,
    /// Limits, and their use.
    pub limits: LimitStatus,
    /// Rules by which clients buy, the same at all daemons; `None` of releases that tell none.
    pub flow_control: Option<FlowControlStatus>,
    /// Counters since the start.
    pub totals: Totals,
    /// The client that was cut off last, and why; `None` if none was, or the release tells none.
    pub last_cut_off: Option<String>,
}

/// The view that a daemon is in: the daemons that have agreed to order messages together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewStatus {
    /// Number of the view, larger than that of any view before it.
    pub number: u64,
    /// The daemon that proposed the view.
    pub coordinator: String,
    /// Start of the coordinator, in microseconds since 1970. Number, coordinator and start together
    /// name the view.
    pub coordinator_started_unix_us: u64,
    /// Daemons in the view.
    pub members: Vec<String>,
    /// Daemons of the configuration that are not in the view.
    pub absent: Vec<String>,
    /// Daemons that can be reached and have read another file: some are out of the view for that.
    #[serde(default)]
    pub with_another_file: Vec<String>,
    /// Whether the daemon is changing to another view. Clients' requests wait meanwhile.
    pub is_changing: bool,
    /// Number of views that the daemon has entered since its start.
    pub entered: u64,
}

/// A link to another daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkStatus {
    /// The daemon at the other end.
    pub peer: String,
    /// Whether there is a connection.
    pub is_up: bool,
    /// Price of a message over the link, in dollars. A price without bound is the largest number.
    pub price_dollars: f64,
    /// Clients' messages in the queue in front of the link, as they count: by packets.
    pub waiting_messages: u64,
    /// Mean number of waiting messages in the last interval between cost updates.
    pub mean_queue_messages: f64,
    /// Waiting messages times seconds since the daemon's start. Its growth over a time, divided by
    /// the time, is the mean of `waiting_messages` in it.
    pub queue_message_seconds: f64,
    /// Maximum of `waiting_messages` since the daemon's start.
    pub longest_queue_messages: u64,
    /// Traffic to the other daemon, over all connections.
    pub sent: Traffic,
    /// Traffic from the other daemon, over all connections.
    pub received: Traffic,
    /// Connections after the first one.
    pub reconnects: u64,
    /// Why the last connection ended, or why there is none.
    pub last_error: Option<String>,
}

/// A client of the daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The client's private name, `#client#daemon`.
    pub name: String,
    /// Where the client connects from: an address, or a process of this host.
    pub from: String,
    /// Groups that the client has joined or is about to join, at most 20.
    pub groups: Vec<String>,
    /// Number of these groups.
    pub group_count: u64,
    /// Bytes in the queue to the client, with those that its socket has not sent.
    pub queue_bytes: u64,
    /// Messages and notices in the queue to the client, with those that its socket has not sent.
    pub queue_messages: u64,
    /// Whether the queue was beyond its limit and is not half empty yet. It stops all senders.
    pub is_full: bool,
    /// Money that the client gets at a time, in dollars; `None` of releases that do not tell.
    pub salary_dollars: Option<f64>,
    /// Weight of the client's messages; `None` of releases that do not tell.
    pub weight: Option<f64>,
    /// Money of the client, in dollars.
    pub money_dollars: f64,
    /// Time between the client's salaries, in seconds.
    pub salary_period_s: f64,
    /// Messages of the client that were sent.
    pub sent: u64,
    /// Deliveries that these messages owe: one for each daemon with receivers.
    pub owed_deliveries: u64,
    /// Messages and notices that were written to the client.
    pub delivered: u64,
    /// Unreliable messages that found the queue full.
    pub dropped: u64,
    /// Whether a message of the client waits for money or for a queue.
    pub is_blocked: bool,
    /// Time for which messages of the client waited, in seconds, with the present wait.
    pub blocked_s: f64,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupStatus {
    /// Name of the group.
    pub name: String,
    /// What happens to messages for a slow member: `"block"`, `"drop"`, `{"lag": messages}`
    /// or `{"lag_s": seconds}`.
    #[serde(with = "PolicyForm")]
    pub policy: Policy,
    /// Weight of messages to the group; `None` of releases that do not tell.
    pub weight: Option<f64>,
    /// Members that are clients of this daemon.
    pub local_members: u64,
    /// Members at all daemons of the view.
    pub members: u64,
    /// How long its messages took to this daemon; `None` without any message that told.
    pub latency: Option<LatencyStatus>,
}

/// Times from the purchase of messages at their daemon to the delivery at this one, of the messages
/// of daemons that [measure](crate::config::Config::measures_latency).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyStatus {
    /// Number of messages.
    pub messages: u64,
    /// Sum of their times, in seconds.
    pub sum_s: f64,
    /// Longest of their times, in seconds.
    pub longest_s: f64,
}

/// Limits of a daemon, and their use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitStatus {
    /// Maximum number of clients.
    pub clients: u64,
    /// Maximum number of groups of a client.
    pub groups_per_client: u64,
    /// Maximum length of the queue to a client, in bytes.
    pub queue_per_client_bytes: u64,
    /// Maximum of this daemon's messages that not all daemons have yet, in bytes.
    pub window_bytes: u64,
    /// This daemon's messages that not all daemons have yet, in bytes.
    pub window_used_bytes: u64,
}

/// Rules by which clients buy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowControlStatus {
    /// Name of the [rule](ratewire_overlay::BudgetRule) by which messages cost the fee.
    pub budget: String,
    /// Name of the [price](ratewire_overlay::Price) of a queue.
    pub price: String,
    /// Base of an exponential price; `None` of others.
    pub price_base: Option<f64>,
    /// Name of the [benefit](ratewire_overlay::Benefit) of a message.
    pub benefit: String,
    /// Time constant of a concave or layered benefit, in seconds; `None` of others.
    pub memory_s: Option<f64>,
    /// Whether chance delays messages that a client can pay for.
    pub randomise: bool,
    /// Time until a message that chance delayed is considered again, in seconds; `None` if the
    /// client's income decides.
    pub second_thought_s: Option<f64>,
}

impl From<&Params> for FlowControlStatus {
    fn from(params: &Params) -> FlowControlStatus {
        let Params { budget, price, benefit, randomise, second_thought, .. } = *params;
        FlowControlStatus {
            budget: budget.name().to_string(),
            price: price.name().to_string(),
            price_base: price.base(),
            benefit: benefit.name().to_string(),
            memory_s: benefit.memory().map(Duration::secs),
            randomise,
            second_thought_s: second_thought.map(Duration::secs),
        }
    }
}

/// [`Policy`] in JSON, in the words of the configuration.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Policy", rename_all = "lowercase")]
enum PolicyForm {
    Block,
    Drop,
    Lag(u32),
    #[serde(rename = "lag_s", with = "seconds")]
    LagTime(Duration),
}

/// A time in JSON: seconds.
mod seconds {
    use ratewire_units::Duration;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(time.secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        f64::deserialize(from).map(Duration::from_secs_f64)
    }
}
