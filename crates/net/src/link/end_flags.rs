//! Properties of the two ends of a link.

bitflags::bitflags! {
    /// Whether the ends are hosts that lag behind the network (see [`crate::speed::lag`]), and
    /// whether the host at the start takes time to process packets (see
    /// [`Network::let_host_process`](crate::Network::let_host_process)).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct EndFlags: u8 {
        const LEAF_AT_START = 1;
        const LEAF_AT_END = 1 << 1;
        const PROCESSING = 1 << 2;
        /// The host may put packets on the link in advance.
        const IN_ADVANCE = 1 << 3;
        /// Packets may enter the link ahead of time.
        const ENTRY_AHEAD = 1 << 4;
        /// Packets are taken from the far end without an event.
        const EVENTLESS = 1 << 5;
    }
}

impl EndFlags {
    const LEAVES: EndFlags = EndFlags::LEAF_AT_START.union(EndFlags::LEAF_AT_END);

    /// The flags of hosts that lag, without all others.
    #[inline]
    pub(crate) fn leaves(self) -> EndFlags {
        self.intersection(EndFlags::LEAVES)
    }
    #[inline]
    pub(crate) fn has_processing(self) -> bool {
        self.contains(EndFlags::PROCESSING)
    }
    #[inline]
    pub(crate) fn start_at_leaf(self) -> bool {
        self.contains(EndFlags::LEAF_AT_START)
    }
    #[inline]
    pub(crate) fn end_at_leaf(self) -> bool {
        self.contains(EndFlags::LEAF_AT_END)
    }
    #[inline]
    pub(crate) fn have_events(self) -> bool {
        !self.contains(EndFlags::EVENTLESS)
    }
}
