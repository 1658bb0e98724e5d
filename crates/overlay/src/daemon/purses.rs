//! Purses by the numbers of their clients.

use std::collections::VecDeque;

use super::purse::Purse;
use crate::ids::ClientId;

/// Purses of a daemon's clients. Numbers of clients only grow, so places begin with the oldest.
#[derive(Debug)]
pub(super) struct Purses<G, P> {
    first: u32,
    purses: VecDeque<Option<Box<Purse<G, P>>>>,
}

impl<G, P> Purses<G, P> {
    pub(super) fn new() -> Purses<G, P> {
        Purses { first: 0, purses: VecDeque::new() }
    }

    fn place(&self, client: ClientId) -> Option<usize> {
        client.0.checked_sub(self.first).map(|place| place as usize)
    }

    pub(super) fn get(&self, client: ClientId) -> Option<&Purse<G, P>> {
        self.purses.get(self.place(client)?)?.as_deref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, client: ClientId) -> Option<&mut Purse<G, P>> {
        let place = self.place(client)?;
        self.purses.get_mut(place)?.as_deref_mut()
    }

    /// Prefetches a purse.
    pub(super) fn foresee(&self, client: ClientId) {
        if let Some(purse) = self.get(client) {
            purse.foresee();
        }
    }

    /// Adds the purse of a client, which is newer than all others.
    pub(super) fn insert(&mut self, client: ClientId, purse: Purse<G, P>) {
        if self.purses.is_empty() {
            self.first = client.0;
        }
        let places = (client.0 - self.first) as usize + 1;
        self.purses.resize_with(places, || None);
        self.purses[places - 1] = Some(Box::new(purse));
    }

    pub(super) fn remove(&mut self, client: ClientId) -> Option<Box<Purse<G, P>>> {
        let place = self.place(client)?;
        let removed = self.purses.get_mut(place)?.take();
        while let Some(None) = self.purses.front() {
            self.purses.pop_front();
            self.first += 1;
        }
        removed
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Purse<G, P>> {
        self.purses.iter_mut().flatten().map(|purse| &mut **purse)
    }

    /// All purses, in order of the clients.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientId, &Purse<G, P>)> {
        let all = (self.first..).zip(&self.purses);
        all.filter_map(|(id, purse)| Some((ClientId(id), purse.as_deref()?)))
    }
}
