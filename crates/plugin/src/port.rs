//! The router's part.

use std::ptr;
use std::sync::Arc;

use ratewire_laws::{LinkContext, Port, PortQueue, Reason};
use ratewire_units::{Bytes, Rate, Time};

use crate::abi::{self, PortTable, State};
use crate::fault::Fault;
use crate::part::Part;
use crate::reason;
use crate::shared::{LawInstance, PluginHeader};

/// One link's port.
#[derive(Debug)]
pub(crate) struct PluginPort {
    part: Part,
    fault: Fault,
}

type Create = unsafe extern "C" fn(State, *const abi::PortLink) -> State;
type OnPacket = unsafe extern "C" fn(State, f64, u64, *mut u8, *const abi::Queue);

impl PluginPort {
    pub(crate) fn new(
        law: &Arc<LawInstance>,
        create: Create,
        link: &LinkContext<'_>,
    ) -> PluginPort {
        let of_port = abi::PortLink {
            rate: link.rate.throughput().get(),
            delay: link.delay.secs(),
            id: link.id,
        };
        // SAFETY: the law's state is of the same table, and the link lives during the call.
        let state = unsafe { create(law.state, &of_port) };
        let part = Part::new(law, state, law.table.port.destroy, "port");
        PluginPort { part, fault: Fault::default() }
    }

    fn table(&self) -> &'static PortTable {
        &self.part.law.table.port
    }

    #[inline]
    fn on_packet(
        &mut self,
        handle: Option<OnPacket>,
        (now, size): (Time, Bytes),
        header: Option<&mut PluginHeader>,
        waiting: PortQueue,
    ) {
        let header = header.map_or(ptr::null_mut(), |header| header.0.as_mut_ptr());
        self.part.call(handle, |handle, state| {
            // SAFETY: function and state are of one table; the header has the longest length.
            unsafe { handle(state, now.secs(), size.get(), header, &queue(waiting)) }
        });
    }
}

fn queue(of: PortQueue) -> abi::Queue {
    abi::Queue { bytes: of.bytes.get(), packets: of.packets }
}

impl Port for PluginPort {
    type Header = PluginHeader;

    #[inline]
    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut PluginHeader>,
        queue: PortQueue,
    ) {
        self.on_packet(self.table().on_arrival, (now, size), header, queue);
    }

    #[inline]
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut PluginHeader>,
        queue: PortQueue,
    ) {
        self.on_packet(self.table().on_departure, (now, size), header, queue);
    }

    fn next_timer(&self) -> Time {
        // SAFETY: function and state are of one table.
        let next = self.part.call(self.table().next_timer, |next, state| unsafe { next(state) });
        next.map_or(Time::NEVER, |seconds| self.fault.timer(seconds, "port"))
    }

    fn on_timer(&mut self, now: Time, waiting: PortQueue) {
        self.part.call(self.table().on_timer, |handle, state| {
            // SAFETY: function and state are of one table.
            unsafe { handle(state, now.secs(), &queue(waiting)) }
        });
    }

    fn on_rate_change(&mut self, now: Time, rate: Rate) {
        self.part.call(self.table().on_rate_change, |handle, state| {
            // SAFETY: function and state are of one table.
            unsafe { handle(state, now.secs(), rate.throughput().get()) }
        });
    }

    fn reason(&self) -> Reason {
        reason::of_part(&self.part, self.table().reason)
    }

    fn fault(&self) -> Option<String> {
        self.fault.message().or_else(|| self.part.law.fault.message())
    }
}
