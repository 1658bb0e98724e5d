//! How a node buys for its clients.

use std::cmp::Reverse;
use std::sync::Arc;

use rand_core::Rng;
use ratewire_units::Time;

use super::{Event, Node};
use crate::budget::Decision;
use crate::client::{Agent, SenderSpec};
use crate::ids::{ClientId, GroupId};
use crate::message::{Content, Message};
use crate::price::Dollars;

impl Node {
    /// A client begins to send.
    pub fn start_sender(&mut self, now: Time, spec: &SenderSpec) {
        let agent = Agent::new(now, spec, &self.overlay.params);
        self.agents.push(agent);
        self.sleep(self.agents.len() - 1);
    }

    /// A client sends no more; what it has paid for still goes.
    pub fn stop_sender(&mut self, client: ClientId) {
        let mine = |agent: &&mut Agent| agent.client == client;
        for agent in self.agents.iter_mut().filter(mine) {
            agent.stopped = true;
            agent.wake = Time::NEVER;
        }
    }

    /// Sets when an agent is woken.
    fn sleep(&mut self, index: usize) {
        let agent = &mut self.agents[index];
        let due = agent.due();
        if due != agent.wake {
            agent.wake = due;
            if due != Time::NEVER {
                self.wakes.push(Reverse((due, index as u32)));
            }
        }
    }

    pub(super) fn wake(&mut self, now: Time, at: Time, index: usize) {
        let agent = &mut self.agents[index];
        if agent.wake != at {
            return;
        }
        agent.wake = Time::NEVER;
        if agent.budget.payday() <= now {
            agent.budget.pay(&self.overlay.params);
        }
        self.buy(now, index);
        self.sleep(index);
    }

    /// Prices may have come down for clients that are blocked.
    pub(super) fn reconsider(&mut self, now: Time) {
        for index in 0..self.agents.len() {
            if self.agents[index].blocked && !self.agents[index].stopped {
                self.buy(now, index);
                self.sleep(index);
            }
        }
    }

    /// Buys the message that a client has, if it has one and can.
    fn buy(&mut self, now: Time, index: usize) {
        let (group, ready) = (self.agents[index].group, self.agents[index].ready);
        let receivers = self.groups[group.index()].to().len();
        if ready > now || receivers == 0 {
            // With nobody to send to, the next member may come at any time: it is looked at again
            // with each salary.
            self.agents[index].blocked = ready <= now;
            return;
        }
        let cost = self.message_cost(group);
        let params = &self.overlay.params;
        let agent = &mut self.agents[index];
        let cost = cost.times(1.0 / params.benefit.of(now, &agent.recent, receivers));
        let draw = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let decision = agent.budget.decide(cost, draw, params);
        agent.blocked = decision == Decision::Blocked;
        match decision {
            Decision::Blocked => agent.counts.blocks += 1,
            Decision::Wait => {
                agent.ready = now + params.second_thought.unwrap_or(agent.line);
                agent.counts.waits += 1;
            }
            Decision::Buy => {
                params.benefit.note(now, &mut agent.recent);
                let (client, sequence, size) = (agent.client, agent.counts.sent, agent.message);
                agent.sent(now);
                agent.counts.owed += receivers as u64;
                self.multicast(now, group, client, sequence, size);
            }
        }
    }

    /// What a message to a group costs: the fee and all links of its tree.
    fn message_cost(&mut self, id: GroupId) -> Dollars {
        let crossed = self.groups[id.index()].crossed(&self.overlay.trees);
        let links: Dollars = crossed.iter().map(|link| self.costs[link.index()]).sum();
        self.overlay.params.fee + links
    }

    fn multicast(
        &mut self,
        now: Time,
        group: GroupId,
        client: ClientId,
        sequence: u64,
        size: ratewire_units::Bytes,
    ) {
        let stamp = if self.is_agreed(group) { self.order.stamp() } else { 0 };
        let to = *self.groups[group.index()].to();
        self.counts.owed += to.len() as u64;
        let content = Content::Data { group, client, sequence, stamp, bought: now };
        self.send(now, &Arc::new(Message { origin: self.me, to, size, content }));
        if to.contains(self.me) {
            self.counts.came += 1;
            let event = Event::Data { group, client, sequence, bought: now };
            self.accept(self.me, group, stamp, event);
        }
    }
}
