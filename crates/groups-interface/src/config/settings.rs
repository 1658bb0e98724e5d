//! Prices and limits.

use std::ops::RangeInclusive;

use ratewire_config::Section;
use ratewire_overlay::{Benefit, BudgetRule, Dollars, Occupancy, Params, Price};
use ratewire_units::{Bytes, Duration};

/// Title of the table of prices.
pub(super) const FLOW_CONTROL: &str = "[flow-control]";
/// Keys of the table of prices.
pub(super) const FLOW_CONTROL_KEYS: &[&str] = &[
    "salary",
    "cap",
    "fee",
    "budget",
    "soft-limit",
    "interval",
    "threshold",
    "first-period",
    "price",
    "price-base",
    "benefit",
    "memory",
    "randomise",
    "second-thought",
];
/// Title of the table of limits.
pub(super) const LIMITS: &str = "[limits]";
/// Keys of the table of limits.
pub(super) const LIMITS_KEYS: &[&str] = &[
    "clients",
    "groups-per-client",
    "queue-per-client",
    "window",
    "handshake-timeout",
    "connections-per-second",
];

/// Dollars that a salary may have.
pub(super) const SALARIES: RangeInclusive<f64> = 1e-6..=1e9;
/// Most clients of one daemon.
pub const MOST_CLIENTS: u32 = 10_000;
/// Most groups of one client.
pub const MOST_GROUPS_PER_CLIENT: u32 = 1_000;

/// What a daemon grants its clients and the other daemons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Clients that are connected at a time.
    pub clients: u32,
    /// Groups that a client may be a member of.
    pub groups_per_client: u32,
    /// Bytes that wait for a client which does not read.
    pub queue_per_client: Bytes,
    /// Bytes sent to another daemon that it has not acknowledged.
    pub window: Bytes,
    /// Time for a client or daemon to introduce itself.
    pub handshake_timeout: Duration,
    /// Connections of clients that are accepted in a second.
    pub connections_per_second: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            clients: 1_000,
            groups_per_client: 100,
            queue_per_client: Bytes::new(16_000_000),
            window: Bytes::new(16_000_000),
            handshake_timeout: Duration::from_secs(5),
            connections_per_second: 100,
        }
    }
}

/// Prices of a daemon without a file: those of the paper's simulations, but for two times and the
/// fee. The interval is the one of the paper's measurements on the CAIRN network (section 7).
/// Programs do not expect to wait after their first ten messages, nor for a salary after each ten
/// packets: salaries begin as short as an interval, and bursts cost no fee.
pub(super) fn usual_params() -> Params {
    let interval = Duration::from_millis(100);
    let budget = BudgetRule::Bursts;
    Params { budget, interval, first_period: interval, ..Params::default() }
}

/// Reads `[flow-control]`.
pub(super) fn read_params(root: &Section<'_>) -> Params {
    let usual = usual_params();
    let Some(table) = root.table(FLOW_CONTROL, FLOW_CONTROL_KEYS) else { return usual };
    let dollars =
        |key, usual: Dollars, least| Dollars::new(table.number(key, usual.get(), least..=1e9));
    let time =
        |key, usual, longest| table.quantity(key, usual, Duration::from_millis(10)..=longest);
    let params = Params {
        salary: Dollars::new(table.number("salary", usual.salary.get(), SALARIES)),
        cap: dollars("cap", usual.cap, 1e-6),
        fee: dollars("fee", usual.fee, 0.0),
        budget: read_budget(&table, usual.budget),
        soft_limit: Occupancy::new(table.number(
            "soft-limit",
            usual.soft_limit.get(),
            0.1..=1000.0,
        )),
        interval: time("interval", usual.interval, Duration::from_secs(10)),
        threshold: dollars("threshold", usual.threshold, 0.0),
        first_period: time("first-period", usual.first_period, Duration::from_secs(60)),
        price: read_price(&table),
        benefit: read_benefit(&table),
        randomise: table.switch("randomise", usual.randomise),
        second_thought: read_second_thought(&table),
    };
    if params.second_thought.is_some() && !params.randomise {
        let message = "`second-thought` means nothing with `randomise = false`";
        table.note(&table.place("second-thought"), message, "take one of them away");
    }
    if params.fee > params.cap {
        let message = "`fee` is more than `cap`: no client could pay for a message";
        table.note(&table.place("fee"), message, "lower `fee` or raise `cap`");
    }
    params
}

fn read_budget(table: &Section<'_>, usual: BudgetRule) -> BudgetRule {
    let word = table.word("budget", BudgetRule::NAMES);
    word.and_then(BudgetRule::named).unwrap_or(usual)
}

fn read_price(table: &Section<'_>) -> Price {
    let base = table.number("price-base", std::f64::consts::E, Price::BASES);
    let word = table.word("price", Price::NAMES);
    let price = word.and_then(|word| Price::named(word, base));
    if table.has("price-base") && price.is_some_and(|price| price.base().is_none()) {
        let message = "only the exponential price has a base";
        table.note(&table.place("price-base"), message, "take `price-base` away");
    }
    price.unwrap_or(Price::Exponential { base })
}

fn read_benefit(table: &Section<'_>) -> Benefit {
    let bounds = Duration::from_millis(10)..=Duration::from_secs(3600);
    let memory = table.quantity("memory", Duration::from_secs(1), bounds);
    let word = table.word("benefit", Benefit::NAMES);
    let benefit = word.and_then(|word| Benefit::named(word, memory)).unwrap_or_default();
    let is_known = word.is_some() || !table.has("benefit");
    if table.has("memory") && is_known && benefit.memory().is_none() {
        let message = "only the concave and the layered benefit have a memory";
        table.note(&table.place("memory"), message, "take `memory` away, or set `benefit`");
    }
    benefit
}

fn read_second_thought(table: &Section<'_>) -> Option<Duration> {
    let bounds = Duration::from_millis(1)..=Duration::from_secs(60);
    let key = "second-thought";
    table.has(key).then(|| table.quantity(key, Duration::from_millis(20), bounds))
}

/// Reads `[limits]`.
pub(super) fn read_limits(root: &Section<'_>) -> Limits {
    let usual = Limits::default();
    let Some(table) = root.table(LIMITS, LIMITS_KEYS) else { return usual };
    // A message of the largest size fits.
    let buffer = Bytes::new(256_000)..=Bytes::new(1_000_000_000);
    let timeout = Duration::from_millis(100)..=Duration::from_secs(300);
    Limits {
        clients: table.count("clients", usual.clients, 1..=MOST_CLIENTS),
        groups_per_client: table.count(
            "groups-per-client",
            usual.groups_per_client,
            1..=MOST_GROUPS_PER_CLIENT,
        ),
        queue_per_client: table.quantity(
            "queue-per-client",
            usual.queue_per_client,
            buffer.clone(),
        ),
        window: table.quantity("window", usual.window, buffer),
        handshake_timeout: table.quantity("handshake-timeout", usual.handshake_timeout, timeout),
        connections_per_second: table.count(
            "connections-per-second",
            usual.connections_per_second,
            1..=100_000,
        ),
    }
}
