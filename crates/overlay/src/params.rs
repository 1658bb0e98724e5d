//! Settings of an overlay.
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
use crate::burst::BudgetRule;
use crate::price::{Dollars, Occupancy, Price};

/// Settings of all nodes of an overlay.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Money that a client gets at a time.
    pub salary: Dollars,
    /// Maximum that a client may hold, and the price of a link at its soft limit (S).
    pub cap: Dollars,
    /// Cost of a message beside its links (rho).
    pub fee: Dollars,
    /// Which messages cost the fee.
    pub budget: BudgetRule,
    /// Messages that a link's buffer should hold (M); the limit is never enforced.
    pub soft_limit: Occupancy,
    /// Time between two cost updates of a node.
    pub interval: Duration,
    /// A client that was blocked shortens its period if the dearest message that it bought was
    /// cheaper.
    pub threshold: Dollars,
    /// A client's first salary period.
    pub first_period: Duration,
    /// Growth of a link's cost.
    pub price: Price,
    /// Benefit of a message to its sender.
    pub benefit: Benefit,
    /// Whether an affordable message is sent only with a probability of one over its cost.
    pub randomise: bool,
    /// When a message that chance delayed is considered again. `None`: after the time of a message
    /// on the client's line, as if another message had come.
    pub second_thought: Option<Duration>,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            salary: Dollars::new(10.0),
            cap: Dollars::new(20.0),
            fee: Dollars::new(1.0),
            budget: BudgetRule::default(),
            soft_limit: Occupancy::new(100.0),
            interval: Duration::from_millis(50),
            threshold: Dollars::new(15.0),
            first_period: Duration::from_secs(1),
            price: Price::default(),
            benefit: Benefit::PerMessage,
            randomise: true,
            second_thought: None,
        }
    }
}

impl Params {
    /// Whether messages within a burst cost no fee.
    pub(crate) fn spares_bursts(&self) -> bool {
        self.budget == BudgetRule::Bursts && !matches!(self.benefit, Benefit::Layered(_))
    }

    /// Cost of a message over a link.
    pub fn link_cost(&self, waiting: Occupancy) -> Dollars {
        self.price.of(waiting, self.soft_limit, self.cap)
    }

    /// When node number `node` of `nodes` sends its first update. Nodes do not start together.
    pub fn first_update(&self, node: usize, nodes: usize) -> Time {
        let apart = self.interval.ps() / (nodes as u64).max(1);
        Time::ZERO + Duration::from_ps(apart) * (node as u64 + 1)
    }
}
