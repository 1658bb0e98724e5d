//! What clients want of a member, in fair shares of bytes.
//!
//! Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996). What an item costs is known only
//! when its answer has come, so a flow pays an estimate first and the difference later.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Items of a flow that may be under way before the cost of one is known, and afterwards. What is
/// under way stands before the items of others, whatever it costs.
const FIRST: usize = 32;
const MOST: usize = 128;

/// Items that wait, by flow.
#[derive(Debug)]
pub(super) struct Fair<T> {
    flows: BTreeMap<u64, Flow<T>>,
    /// Flows whose next item may leave, by its start tag.
    ready: BTreeSet<(u64, u64)>,
    /// Start tag of the last item that has left in its turn.
    now: u64,
}

#[derive(Debug)]
struct Flow<T> {
    waiting: VecDeque<(u64, T)>,
    /// Start tag of the next item.
    tag: u64,
    under_way: usize,
    most: usize,
    /// Whether the flow takes no answers at present.
    is_held: bool,
}

impl<T> Flow<T> {
    fn is_ready(&self) -> bool {
        !self.waiting.is_empty() && !self.is_held && self.under_way < self.most
    }
}

impl<T> Default for Fair<T> {
    fn default() -> Fair<T> {
        Fair { flows: BTreeMap::new(), ready: BTreeSet::new(), now: 0 }
    }
}

impl<T> Fair<T> {
    /// Adds an item of a flow, with the cost that is paid when it leaves.
    pub(super) fn push(&mut self, flow: u64, cost: u64, item: T) {
        let now = self.now;
        self.change(flow, |known| {
            known.tag = known.tag.max(now);
            known.waiting.push_back((cost, item));
        });
    }

    /// Items that wait.
    pub(super) fn waiting(&self) -> usize {
        self.flows.values().map(|flow| flow.waiting.len()).sum()
    }

    /// Flows of which something is kept.
    #[cfg(test)]
    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The next item that may leave.
    pub(super) fn peek(&self) -> Option<&T> {
        let (_, flow) = self.ready.first()?;
        self.flows.get(flow)?.waiting.front().map(|(_, item)| item)
    }

    /// Takes the next item that may leave.
    pub(super) fn pop(&mut self) -> Option<T> {
        let (tag, flow) = *self.ready.first()?;
        self.now = tag;
        let mut next = None;
        self.change(flow, |known| {
            next = known.waiting.pop_front().map(|(cost, item)| {
                known.tag += cost;
                known.under_way += 1;
                item
            });
        });
        next
    }

    /// Notes that an item of a flow is done which has cost `more` than was paid.
    pub(super) fn done(&mut self, flow: u64, more: u64) {
        if !self.flows.contains_key(&flow) {
            return;
        }
        let (now, mut is_over) = (self.now, false);
        self.change(flow, |known| {
            known.tag += more;
            known.under_way = known.under_way.saturating_sub(1);
            known.most = MOST;
            // What it has paid too little counts for as long as others wait.
            let owes = known.tag > now;
            is_over = known.waiting.is_empty() && known.under_way == 0 && !owes && !known.is_held;
        });
        if is_over {
            self.flows.remove(&flow);
        }
    }

    /// Holds a flow's items back, or no longer.
    pub(super) fn hold(&mut self, flow: u64, is_held: bool) {
        if self.flows.contains_key(&flow) {
            self.change(flow, |known| known.is_held = is_held);
        }
    }

    /// Forgets a flow. Returns what it has waiting.
    pub(super) fn forget(&mut self, flow: u64) -> Vec<T> {
        let Some(known) = self.flows.remove(&flow) else { return Vec::new() };
        self.ready.remove(&(known.tag, flow));
        known.waiting.into_iter().map(|(_, item)| item).collect()
    }

    /// Removes items from the front of each flow for as long as `is_over` says so.
    pub(super) fn remove(&mut self, mut is_over: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        let all: Vec<u64> = self.flows.keys().copied().collect();
        for flow in all {
            self.change(flow, |known| {
                while let Some((_, item)) = known.waiting.pop_front_if(|(_, item)| is_over(item)) {
                    removed.push(item);
                }
            });
        }
        removed
    }

    /// Changes a flow, and puts it in its place among those that are ready.
    fn change(&mut self, flow: u64, change: impl FnOnce(&mut Flow<T>)) {
        let known = self.flows.entry(flow).or_insert_with(|| Flow {
            waiting: VecDeque::new(),
            tag: 0,
            under_way: 0,
            most: FIRST,
            is_held: false,
        });
        if known.is_ready() {
            self.ready.remove(&(known.tag, flow));
        }
        change(known);
        if known.is_ready() {
            self.ready.insert((known.tag, flow));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows of the next items, each of which is done at once and costs nothing more.
    fn served(fair: &mut Fair<u64>, count: usize) -> Vec<u64> {
        let mut next = || {
            let flow = fair.pop()?;
            fair.done(flow, 0);
            Some(flow)
        };
        (0..count).map_while(|_| next()).collect()
    }

    #[test]
    fn flows_get_equal_shares_of_bytes() {
        let mut fair = Fair::default();
        (0..100).for_each(|_| fair.push(1, 100, 1));
        (0..100).for_each(|_| fair.push(2, 300, 2));
        let first = served(&mut fair, 80);
        assert_eq!(first.iter().filter(|flow| **flow == 1).count(), 60);
        // Who comes later has no claim to what others had before.
        (0..21).for_each(|_| fair.push(3, 100, 3));
        let next = served(&mut fair, 7 * 5);
        let of = |flow| next.iter().filter(|served| **served == flow).count();
        assert!(of(3) <= 16 && of(1) >= 14 && of(2) >= 4, "{next:?}");
    }

    #[test]
    fn answers_that_cost_more_than_was_paid_are_paid_for_later() {
        let mut fair = Fair::default();
        for _ in 0..20 {
            fair.push(1, 100, 1);
            fair.push(2, 100, 2);
        }
        assert_eq!([fair.pop(), fair.pop()], [Some(1), Some(2)]);
        fair.done(1, 10_000);
        fair.done(2, 0);
        assert_eq!(served(&mut fair, 19), [2; 19]);
        assert_eq!(served(&mut fair, 20), [1; 19]);
    }

    #[test]
    fn a_flow_has_few_items_under_way_until_one_is_answered_and_never_many() {
        let mut fair = Fair::default();
        (0..500).for_each(|_| fair.push(1, 1, 1));
        let take = |fair: &mut Fair<u64>| core::iter::from_fn(|| fair.pop()).count();
        assert_eq!(take(&mut fair), FIRST);
        fair.done(1, 0);
        assert_eq!(take(&mut fair), MOST - FIRST + 1);
        fair.push(2, 1, 2);
        assert_eq!(fair.pop(), Some(2), "others go on");
    }

    #[test]
    fn flows_that_are_held_or_gone_send_nothing() {
        let mut fair = Fair::default();
        (0..3).for_each(|_| fair.push(1, 1, 1));
        fair.hold(1, true);
        fair.hold(2, true);
        assert_eq!((fair.pop(), fair.peek()), (None, None));
        fair.hold(1, false);
        assert_eq!((fair.peek().copied(), fair.pop()), (Some(1), Some(1)));
        assert_eq!(fair.remove(|_| true).len(), 2);
        assert!(fair.forget(1).is_empty());
        assert!(fair.flows.is_empty() && fair.pop().is_none());
        fair.done(1, 0);
        assert!(fair.flows.is_empty());
    }
}
