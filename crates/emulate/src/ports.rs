//! Ports of flows: each flow has one of its own, at its receiver or at the far end of its
//! connection.

/// The port of the first flow.
const FIRST_PORT: u16 = 10_000;

/// Port of the n-th flow; `None` if there are no more.
pub(crate) fn port(flow: usize) -> Option<u16> {
    u16::try_from(flow).ok()?.checked_add(FIRST_PORT)
}

/// The flow of a port.
pub(crate) fn at_port(port: u16) -> Option<usize> {
    port.checked_sub(FIRST_PORT).map(usize::from)
}
