//! The receiver's part.

use std::sync::Arc;

use ratewire_laws::{FlowContext, Sink};
use ratewire_units::Time;

use crate::abi::{self, HeaderBytes, SinkTable, State};
use crate::part::Part;
use crate::shared::{self, LawInstance, PluginHeader};

/// One flow's receiver.
#[derive(Debug)]
pub(crate) struct PluginSink(Part);

type Create = unsafe extern "C" fn(State, *const abi::Flow) -> State;

impl PluginSink {
    pub(crate) fn new(law: &Arc<LawInstance>, create: Create, flow: &FlowContext) -> PluginSink {
        // SAFETY: the law's state is of the same table, and the flow lives during the call.
        let state = unsafe { create(law.state, &shared::flow(flow)) };
        PluginSink(Part::new(law, state, law.table.sink.destroy, "sink"))
    }

    fn table(&self) -> &'static SinkTable {
        &self.0.law.table.sink
    }
}

impl Sink for PluginSink {
    type Header = PluginHeader;

    #[inline]
    fn on_data(&mut self, now: Time, header: &PluginHeader) {
        self.0.call(self.table().on_data, |handle, state| {
            // SAFETY: function and state are of one table; the header has the longest length.
            unsafe { handle(state, now.secs(), header.0.as_ptr()) }
        });
    }

    #[inline]
    fn on_ack(&mut self, now: Time) -> Option<PluginHeader> {
        let mut header = PluginHeader(HeaderBytes::default());
        let wrote = self.0.call(self.table().on_ack, |handle, state| {
            // SAFETY: function and state are of one table; there is room for the longest header.
            unsafe { handle(state, now.secs(), header.0.as_mut_ptr()) }
        });
        (wrote == Some(true)).then_some(header)
    }
}
