//! Departures that are known when a packet arrives.
//!
//! On a link without anything rare, whose port, if it has one, takes no part in departures, a
//! waiting packet leaves when those before it have been sent, and nothing changes that. Such a link
//! books the packet's transmission as the packet arrives, and puts the packet on its way at once.
//! Packets wait whose transmission is still to come.

use std::collections::VecDeque;

use ratewire_units::{Bytes, Duration, SerialTime, Time};

use super::Link;

/// Transmissions in order: those to come, and some that have started since they were looked at.
#[derive(Debug, Default)]
pub(super) struct Bookings(VecDeque<Booking>);

/// The transmission of a packet that has to wait.
#[derive(Clone, Copy, Debug)]
struct Booking {
    came: Time,
    starts: Time,
    size: u32,
    /// Size of the packet that is sent before it.
    before: u32,
}

impl Link {
    /// Lets the link book departures, if it can. Nothing of it may change then, and its port may
    /// not act on departures.
    pub(crate) fn begin_booking(&mut self) {
        self.books = !self.is_rare() && self.per_byte.is_some();
    }

    /// Books the transmission of a packet that has to wait; returns its arrival at the far end.
    #[inline]
    pub(crate) fn book(&mut self, now: Time, size: u32, per_byte: SerialTime) -> Time {
        let starts = self.busy_until;
        let wait = u128::from(starts.since(now).ps());
        self.area_packets += wait;
        self.area_bytes += wait * u128::from(size);
        self.waiting_bytes += u64::from(size);
        let Bookings(bookings) = &mut **self.bookings.get_or_insert_default();
        bookings.push_back(Booking { came: now, starts, size, before: self.last_size });
        let waiting = bookings.len() as u32;
        self.note_peak(waiting);
        let time = per_byte.of(self.on_wire(size));
        self.send(starts + time, time, Bytes::new(u64::from(size)))
    }

    /// Forgets transmissions that have started.
    #[inline]
    pub(crate) fn end_bookings(&mut self, now: Time) {
        let Some(Bookings(bookings)) = self.bookings.as_deref_mut() else { return };
        while let Some(first) = bookings.front().filter(|first| first.starts <= now) {
            self.waiting_bytes -= u64::from(first.size);
            bookings.pop_front();
        }
    }

    fn bookings(&self) -> impl Iterator<Item = &Booking> {
        self.bookings.as_deref().into_iter().flat_map(|bookings| &bookings.0)
    }

    /// Number of packets that wait for a transmission, if those that have started are forgotten.
    #[inline]
    pub(super) fn booked(&self) -> u32 {
        self.bookings.as_ref().map_or(0, |bookings| bookings.0.len() as u32)
    }

    /// Time that these packets still wait, summed over packets and over bytes. A host may have sent
    /// some in advance.
    pub(super) fn booked_areas(&self, now: Time) -> (u128, u128) {
        self.bookings().fold((0, 0), |(packets, bytes), booking| {
            let wait = u128::from(booking.starts.since(now.max(booking.came)).ps());
            (packets + wait, bytes + wait * u128::from(booking.size))
        })
    }

    /// Size of the packet in transmission, and the time that it still takes, if the link still
    /// sends for `unfinished`, and the packet sent last has `last_size`.
    pub(super) fn in_transmission(
        &self,
        now: Time,
        unfinished: Duration,
        last_size: u32,
    ) -> (u32, Duration) {
        match self.bookings().next() {
            Some(first) => (first.before, first.starts.since(now)),
            None => (last_size, unfinished),
        }
    }
}
