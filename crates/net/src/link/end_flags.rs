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

    /// These flags, with hosts that lag at these ends.
    pub(crate) fn with_leaves(mut self, start: bool, end: bool) -> EndFlags {
        self.set(EndFlags::LEAF_AT_START, start || self.start_at_leaf());
        self.set(EndFlags::LEAF_AT_END, end || self.end_at_leaf());
        self
    }
    /// The flags of hosts that lag, without all others.
    #[inline]
    pub(crate) fn leaves(self) -> EndFlags {
        self.intersection(EndFlags::LEAVES)
    }
    /// These flags, without a host that lags at the far end.
    pub(crate) fn without_leaf_at_end(self) -> EndFlags {
        self.difference(EndFlags::LEAF_AT_END.union(EndFlags::EVENTLESS))
    }
    /// These flags, with packets that are taken from the far end without an event, or not.
    pub(crate) fn with_events(mut self, has: bool) -> EndFlags {
        self.set(EndFlags::EVENTLESS, !has);
        self
    }
    /// These flags, with a host at the start that takes time to process packets, and may put them
    /// on the link in advance.
    pub(crate) fn with_processing(self, in_advance: bool) -> EndFlags {
        let in_advance = if in_advance { EndFlags::IN_ADVANCE } else { EndFlags::empty() };
        self.union(EndFlags::PROCESSING).union(in_advance)
    }

    /// These flags, with packets that may enter the link ahead of time.
    pub(crate) fn with_entry_ahead(self) -> EndFlags {
        self.union(EndFlags::ENTRY_AHEAD)
    }

    #[inline]
    pub(crate) fn has_processing(self) -> bool {
        self.contains(EndFlags::PROCESSING)
    }
    #[inline]
    pub(crate) fn is_in_advance(self) -> bool {
        self.contains(EndFlags::IN_ADVANCE)
    }
    #[inline]
    pub(crate) fn start_at_leaf(self) -> bool {
        self.contains(EndFlags::LEAF_AT_START)
    }
    #[inline]
    pub(crate) fn end_at_leaf(self) -> bool {
        self.contains(EndFlags::LEAF_AT_END)
    }
    pub(crate) fn are_entered_ahead(self) -> bool {
        self.contains(EndFlags::ENTRY_AHEAD)
    }
    #[inline]
    pub(crate) fn have_events(self) -> bool {
        !self.contains(EndFlags::EVENTLESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_one_end_does_not_matter_at_the_other() {
        for (start, end) in [(false, false), (false, true), (true, false), (true, true)] {
            let leaves = EndFlags::default().with_leaves(start, end);
            let all = leaves.with_entry_ahead();
            assert_eq!((all.leaves(), leaves.leaves()), (leaves, leaves));
            assert_eq!((all.start_at_leaf(), all.end_at_leaf()), (start, end));
            let fewer = all.without_leaf_at_end();
            assert_eq!((fewer.start_at_leaf(), fewer.end_at_leaf()), (start, false));
            assert!(fewer.are_entered_ahead());
            for in_advance in [false, true] {
                let slow = all.with_processing(in_advance);
                assert!(slow.has_processing() && !all.has_processing());
                assert_eq!(slow.is_in_advance(), in_advance);
                assert_eq!((slow.leaves(), slow.are_entered_ahead()), (leaves, true));
            }
        }
    }
}
