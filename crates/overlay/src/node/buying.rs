//! Purchases of a node for its clients.

use std::cmp::Reverse;
use std::rc::Rc;
use std::slice::from_ref;

use prefetch_index::prefetch_index;
use rand_core::Rng;
use ratewire_units::{Bytes, Time};

use super::{Event, OverlayNode};
use crate::budget::Decision;
use crate::client::{Agent, SenderSpec};
use crate::ids::{ClientId, EdgeId, GroupId};
use crate::message::{Message, MessageBody};
use crate::price::Dollars;

impl OverlayNode {
    /// Starts a sending client.
    pub fn start_sender(&mut self, now: Time, spec: &SenderSpec) {
        let agent = Agent::new(now, spec, &self.overlay.params);
        self.agents.push(agent);
        let places = self.agents.len() * self.overlay.trees.most_crossed();
        self.ways.resize(places, EdgeId(0));
        self.aim(spec.group, self.agents.len() - 1);
        self.sleep(self.agents.len() - 1);
    }

    /// Notes the destinations of a group's messages, for the agents from number `first` on that buy
    /// them.
    pub(super) fn aim(&mut self, group: GroupId, first: usize) {
        let trees = &self.overlay.trees;
        let to = self.groups[group.index()].to();
        let mut crossed = None;
        for (index, agent) in self.agents.iter_mut().enumerate().skip(first) {
            if agent.group == group {
                let crossed = crossed.get_or_insert_with(|| trees.crossed(self.me, to));
                (agent.receivers, agent.crossed) = (to.len() as u8, crossed.len() as u8);
                self.ways[index * trees.most_crossed()..][..crossed.len()].copy_from_slice(crossed);
            }
        }
    }

    /// Stops a sending client; messages that are paid for still go.
    pub fn stop_sender(&mut self, client: ClientId) {
        let mine = |agent: &&mut Agent| agent.client == client;
        for agent in self.agents.iter_mut().filter(mine) {
            agent.stopped = true;
            agent.wake = Time::NEVER;
        }
    }

    /// Sets when an agent wakes.
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

    /// Prefetches the data of the next agent to wake.
    pub(super) fn foresee_wake(&self) {
        let Some(Reverse((_, next))) = self.wakes.peek() else { return };
        let agent = &self.agents[*next as usize];
        prefetch_index(from_ref(&agent.wake), 0);
        prefetch_index(from_ref(&agent.group), 0);
        prefetch_index(&self.ways, *next as usize * self.overlay.trees.most_crossed());
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

    /// Lets blocked clients read the prices, which may have fallen.
    pub(super) fn reconsider(&mut self, now: Time) {
        for index in 0..self.agents.len() {
            if self.agents[index].blocked && !self.agents[index].stopped {
                self.buy(now, index);
                self.sleep(index);
            }
        }
    }

    /// Buys a client's message if there is one and the client can pay.
    fn buy(&mut self, now: Time, index: usize) {
        let start = index * self.overlay.trees.most_crossed();
        let agent = &mut self.agents[index];
        if agent.ready > now || agent.receivers == 0 {
            // Without a destination, the next member may come at any time: each salary checks
            // again.
            agent.blocked = agent.ready <= now;
            return;
        }
        let params = &self.overlay.params;
        let crossed = &self.ways[start..][..usize::from(agent.crossed)];
        let links: Dollars = crossed.iter().map(|link| self.costs[link.index()]).sum();
        let worth = params.benefit.of(now, &agent.recent, usize::from(agent.receivers));
        let cost = (params.fee + links).times(1.0 / worth);
        let draw = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let decision = agent.budget.decide(cost, 1, draw, params);
        agent.blocked = decision == Decision::Blocked;
        match decision {
            Decision::Blocked => agent.counts.blocks += 1,
            Decision::Wait => {
                agent.ready = now + params.second_thought.unwrap_or(agent.line);
                agent.counts.waits += 1;
            }
            Decision::Buy => {
                params.benefit.note(now, &mut agent.recent);
                let (group, client) = (agent.group, agent.client);
                let (sequence, size) = (agent.counts.sent, agent.message);
                agent.sent(now);
                agent.counts.owed += u64::from(agent.receivers);
                self.multicast(now, group, client, sequence, size);
            }
        }
    }

    fn multicast(
        &mut self,
        now: Time,
        group: GroupId,
        client: ClientId,
        sequence: u64,
        size: Bytes,
    ) {
        let stamp = if self.is_agreed(group) { self.order.stamp() } else { 0 };
        let to = *self.groups[group.index()].to();
        self.counts.owed += to.len() as u64;
        let body = MessageBody::Data { group, client, sequence, stamp, bought: now };
        self.send(now, &Rc::new(Message { origin: self.me, to, size, body }));
        if to.contains(self.me) {
            self.counts.came += 1;
            let event = Event::Data { group, client, sequence, bought: now };
            self.accept(self.me, group, stamp, event);
        }
    }
}
