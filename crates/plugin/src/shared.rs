//! What a law and its parts share: the table with the state of the options, and headers.

use std::ptr;

use ratewire_laws::{FlowContext, HeaderError, PackedHeader};

use crate::abi::{self, HeaderBytes, State, Table};
use crate::fault::Fault;

/// What the parts of a law share: its table and the state that its options made.
#[derive(Debug)]
pub(crate) struct LawInstance {
    pub(crate) table: &'static Table,
    pub(crate) state: State,
    /// Fault that no part can report: the part could not be made.
    pub(crate) fault: Fault,
}

// SAFETY: the header file asks for functions that may be called from several threads, and the state
// of a law does not change once it is made.
unsafe impl Send for LawInstance {}
// SAFETY: as above.
unsafe impl Sync for LawInstance {}

impl Drop for LawInstance {
    fn drop(&mut self) {
        if let (Some(destroy), false) = (self.table.destroy, self.state.is_null()) {
            // SAFETY: `create` of this table made the state, and nothing uses it any more.
            unsafe { destroy(self.state) }
        }
    }
}

/// A congestion header; unused bytes are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PluginHeader(pub(crate) HeaderBytes);

impl PackedHeader for PluginHeader {
    const LEN: usize = size_of::<HeaderBytes>();

    #[inline]
    fn pack(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0);
    }
    #[inline]
    fn unpack(bytes: &[u8]) -> Result<PluginHeader, HeaderError> {
        HeaderBytes::unpack(bytes).map(PluginHeader)
    }
}

/// A flow as the table's functions see it.
pub(crate) fn flow(of: &FlowContext) -> abi::Flow {
    abi::Flow {
        line_rate: of.line_rate.throughput().get(),
        mss: of.mss.get(),
        packet: of.packet.get(),
        back_pressured: of.back_pressured,
    }
}

/// The bytes of a header, or null.
#[inline]
pub(crate) fn bytes(header: Option<&PluginHeader>) -> *const u8 {
    header.map_or(ptr::null(), |header| header.0.as_ptr())
}
