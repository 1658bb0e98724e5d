//! What an overlay is set to.
//!
//! | parameter | default | simulations | CAIRN | from |
//! |---|---|---|---|---|
//! | salary | $10 | $10 | $10 | section 6 |
//! | cap S | $20 | $20 | $20 | section 6 |
//! | fee rho | $1 | $1 | $1 | section 4.2.3 |
//! | soft limit M | 100 messages | 100 | 100 | section 6 |
//! | update interval | 50 ms | 50 ms | 100 ms | sections 6, 7 |
//! | threshold | $15 | not given | not given | ours, from a sweep |
//! | first period | 1 s | not given | not given | ours |
//! | second thoughts | one message on the client's line | not given | not given | ours |

use ratewire_units::{Duration, Time};

use crate::benefit::Benefit;
use crate::price::{Dollars, Occupancy, Price};

/// What all nodes of an overlay are set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// What a client is paid at a time.
    pub salary: Dollars,
    /// The most a client may hold, and the price of a link at its soft limit (S).
    pub cap: Dollars,
    /// What each message costs beside its links (rho).
    pub fee: Dollars,
    /// How many messages a link's buffer is meant to hold (M); it is never enforced.
    pub soft_limit: Occupancy,
    /// Time between two cost updates of a node.
    pub interval: Duration,
    /// A client that was blocked speeds up if the dearest message it bought was cheaper than this.
    pub threshold: Dollars,
    /// A client's first salary period.
    pub first_period: Duration,
    /// How the cost of a link grows.
    pub price: Price,
    /// What a message is worth to its sender.
    pub benefit: Benefit,
    /// Whether an affordable message is only sent with probability one over its cost.
    pub randomise: bool,
    /// When a message that was not sent by chance is thought of again; `None` for as long as a
    /// message takes on the client's line, as if another had been there to be thought of.
    pub second_thought: Option<Duration>,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            salary: Dollars::new(10.0),
            cap: Dollars::new(20.0),
            fee: Dollars::new(1.0),
            soft_limit: Occupancy::new(100.0),
            interval: Duration::from_millis(50),
            threshold: Dollars::new(15.0),
            first_period: Duration::from_secs(1),
            price: Price::Exponential,
            benefit: Benefit::PerMessage,
            randomise: true,
            second_thought: None,
        }
    }
}

impl Params {
    /// What a message over a link costs.
    pub fn link_cost(&self, waiting: Occupancy) -> Dollars {
        self.price.of(waiting, self.soft_limit, self.cap)
    }

    /// When node number `node` of `nodes` sends its first update. Nodes were not started together.
    pub fn first_update(&self, node: usize, nodes: usize) -> Time {
        let apart = self.interval.ps() / (nodes as u64).max(1);
        Time::ZERO + Duration::from_ps(apart) * (node as u64 + 1)
    }
}
