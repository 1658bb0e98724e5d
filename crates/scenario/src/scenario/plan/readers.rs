//! Slow readers that do not slow their senders down.

use ratewire_laws::{AnyLaw, Draw, FlowContext};
use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_transport::{Reader, ReceiveWindow};
use ratewire_units::Rate;

use crate::diagnostic::{Diagnostic, and_more};

/// Warns of slow readers with an unlimited receive buffer.
///
/// A simulated sender learns of its reader by the free buffer. In an emulated run the kernel's
/// buffer is always limited.
pub(super) fn check(file: &str, setup: &Setup) -> Option<Diagnostic> {
    let vain = |(id, flow): &(usize, &FlowSpec)| {
        is_slow(flow.app.reader)
            && flow.transport.receive_window.buffer() >= ReceiveWindow::UNLIMITED
            // A packet that reaches a switch goes on to a host, whose reader is checked there.
            && !setup.ensembles.ends_at_switch(*id)
            && !watches_its_buffer(flow, &setup.laws[flow.law])
    };
    let vain: Vec<&str> =
        setup.flows.iter().enumerate().filter(vain).map(|(_, flow)| flow.name.as_str()).collect();
    let [first, more @ ..] = vain.as_slice() else { return None };
    let flows = and_more(first, more.len());
    let message = format!(
        "in a simulated run the reader of {flows} slows no sender down: its receive window is unlimited"
    );
    let help = "give its `transport` a buffer, for example receive_window = \"64 KB\"";
    Some(Diagnostic::warning(file, message, help))
}

fn is_slow(reader: Reader) -> bool {
    match reader {
        Reader::Immediate | Reader::Asked => false,
        Reader::Slow(per_frame) => !per_frame.is_zero(),
        Reader::Alternating { per_frame, .. } => per_frame.iter().any(|time| !time.is_zero()),
    }
}

/// Whether the law's receivers slow senders down by the unread data, and not by the free buffer.
fn watches_its_buffer(flow: &FlowSpec, law: &AnyLaw) -> bool {
    let transport = &flow.transport;
    let context = FlowContext {
        mss: transport.packet.saturating_sub(transport.headers + law.header_len()),
        packet: transport.packet,
        line_rate: Rate::ZERO,
        back_pressured: false,
        draw: Draw::new(0),
    };
    law.sink(&context).is_some_and(|sink| sink.watches_buffer())
}
