//! The sender's part.

use std::ptr;
use std::sync::Arc;

use ratewire_laws::{
    Acked, Congestion, FlowContext, MAX_UNPACED_WINDOW, Reason, Sending, Signal, Source, excess,
};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::abi::{self, HeaderBytes, Table};
use crate::fault::Fault;
use crate::part::Part;
use crate::reason;
use crate::shared::{self, LawInstance, PluginHeader};

/// One flow's sender.
#[derive(Debug)]
pub(crate) struct PluginSource {
    part: Part,
    table: &'static Table,
    mss: Bytes,
    /// What the law sends by, as it was after the last call: the transport asks many times between
    /// two calls.
    window: Bytes,
    /// The window as the law gave it. Most calls do not change it.
    given: Option<f64>,
    pace: Option<Throughput>,
    fault: Fault,
}

impl PluginSource {
    pub(crate) fn new(law: &Arc<LawInstance>, flow: &FlowContext) -> PluginSource {
        // SAFETY: the law's state is of the same table, and the flow lives during the call.
        let state =
            law.table.source.create.map_or(ptr::null_mut(), |create| unsafe {
                create(law.state, &shared::flow(flow))
            });
        let part = Part::new(law, state, law.table.source.destroy, "source");
        let mut source = PluginSource {
            part,
            table: law.table,
            mss: flow.mss,
            window: flow.mss,
            given: None,
            pace: None,
            fault: Fault::default(),
        };
        source.read();
        source
    }

    /// Reads what the law sends by.
    #[inline]
    fn read(&mut self) {
        // SAFETY: function and state are of one table.
        let window =
            self.part.call(self.table.source.window, |window, state| unsafe { window(state) });
        if window != self.given {
            self.given = window;
            self.window = self.whole(window);
        }
        let mut rate = f64::NAN;
        // SAFETY: function and state are of one table.
        let paces =
            self.part.call(self.table.source.pace, |pace, state| unsafe { pace(state, &mut rate) });
        self.pace = (paces == Some(true)).then(|| Throughput::new(self.fault.rate(rate)));
        if self.pace.is_none() && self.window > MAX_UNPACED_WINDOW {
            self.refuse_window();
        }
    }

    /// Notes a window that is too large without a pace, and sends a packet at a time.
    #[cold]
    fn refuse_window(&mut self) {
        let window = self.given.unwrap_or(f64::INFINITY);
        match excess("`source.window` gave", window, "pace") {
            Some(wrong) if window.is_infinite() => self.fault.note(wrong),
            Some(wrong) => self.fault.note_excess(wrong),
            None => {}
        }
        self.window = self.mss;
        // The same window is allowed once there is a pace.
        self.given = None;
    }

    /// The window in whole bytes, a packet at least.
    fn whole(&self, window: Option<f64>) -> Bytes {
        match window {
            Some(window) if window >= 0.0 => Bytes::new((window + 0.5) as u64).max(self.mss),
            Some(window) => {
                let wrong = format!("`source.window` gave {window} bytes: allowed is 0 or more");
                self.fault.note(wrong);
                self.mss
            }
            None => self.mss,
        }
    }
}

impl Source for PluginSource {
    type Header = PluginHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<PluginHeader> {
        let event = abi::Sending {
            now: sending.now.secs(),
            srtt: sending.srtt.secs(),
            rto: sending.rto.secs(),
            packet: sending.packet.get(),
            in_flight: sending.in_flight.get(),
            receive_window: sending.receive_window.get(),
            limited: sending.limited,
        };
        let mut header = PluginHeader(HeaderBytes::default());
        let wrote = self.part.call(self.table.source.on_send, |on_send, state| {
            // SAFETY: function and state are of one table; there is room for the longest header.
            unsafe { on_send(state, &event, header.0.as_mut_ptr()) }
        });
        if wrote.is_some() {
            self.read();
        }
        (wrote == Some(true) && self.table.header_length > 0).then_some(header)
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&PluginHeader>) {
        let event = abi::Ack {
            now: acked.now.secs(),
            rtt: acked.rtt.map_or(-1.0, Duration::secs),
            srtt: acked.srtt.secs(),
            bytes: acked.bytes.get(),
            in_flight: acked.in_flight.get(),
            was_in_flight: acked.was_in_flight.get(),
            cumulative: acked.cumulative,
            next: acked.next,
            receive_window: acked.receive_window.get(),
            lost: acked.lost.get(),
            limited: acked.limited,
            in_recovery: acked.in_recovery,
            marked: acked.marked,
        };
        self.part.call(self.table.source.on_ack, |on_ack, state| {
            // SAFETY: function and state are of one table; the header has the longest length.
            unsafe { on_ack(state, &event, shared::bytes(header)) }
        });
        self.read();
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let event = abi::Congestion {
            now: congestion.now.secs(),
            srtt: congestion.srtt.secs(),
            in_flight: congestion.in_flight.get(),
        };
        let table = &self.table.source;
        let handle = match congestion.signal {
            Signal::Loss => table.on_loss,
            Signal::Mark => table.on_mark.or(table.on_loss),
            Signal::Timeout => table.on_timeout,
        };
        // SAFETY: function and state are of one table.
        self.part.call(handle, |handle, state| unsafe { handle(state, &event) });
        self.read();
    }

    fn on_recovered(&mut self, now: Time) {
        // SAFETY: function and state are of one table.
        self.part.call(self.table.source.on_recovered, |handle, state| unsafe {
            handle(state, now.secs())
        });
        self.read();
    }

    fn on_spurious(&mut self, now: Time) {
        // SAFETY: function and state are of one table.
        self.part.call(self.table.source.on_spurious, |handle, state| unsafe {
            handle(state, now.secs())
        });
        self.read();
    }

    fn slow_start_threshold(&self) -> Option<Bytes> {
        // SAFETY: function and state are of one table.
        let bytes =
            self.part.call(self.table.source.slow_start_threshold, |threshold, state| unsafe {
                threshold(state)
            })?;
        Some(Bytes::new(self.fault.threshold(bytes)))
    }

    fn next_timer(&self) -> Time {
        // SAFETY: function and state are of one table.
        let next =
            self.part.call(self.table.source.next_timer, |next, state| unsafe { next(state) });
        next.map_or(Time::NEVER, |seconds| self.fault.timer(seconds, "source"))
    }

    fn on_timer(&mut self, now: Time) {
        // SAFETY: function and state are of one table.
        self.part
            .call(self.table.source.on_timer, |handle, state| unsafe { handle(state, now.secs()) });
        self.read();
    }

    #[inline]
    fn window(&self) -> Bytes {
        self.window
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.pace
    }

    fn reason(&self) -> Reason {
        reason::of_part(&self.part, self.table.source.reason)
    }

    fn fault(&self) -> Option<String> {
        self.fault.message().or_else(|| self.part.law.fault.message())
    }
}
