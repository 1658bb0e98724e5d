//! Ports of flows: each flow has one of its own, at its receiver or at the far end of its
//! connection.

/// Maximum number of flows of a run: each has a port of its own, below those that kernels give to
/// programs.
pub(crate) const MOST_FLOWS: usize = 20_000;

/// Port of group daemons for each other.
pub(crate) const GROUP_DAEMONS: u16 = 4804;

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
