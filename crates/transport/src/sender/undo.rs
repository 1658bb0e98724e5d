//! Repairs that were not needed: packets had been late, and counted as lost.

/// What a sender knows of its present repair, and whether it may be undone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// Copies of the repair whose data has not been reported as arrived before; `None` once the
    /// repair was needed, or was undone.
    copies: Option<u32>,
    /// Whether any copy has left.
    has_copied: bool,
    /// Once data beyond this offset has arrived, so has all that could show that the repair was not
    /// needed; [`u64::MAX`] while the repair is under way.
    until: u64,
    pub(super) frto: Frto,
}

/// F-RTO (RFC 5682, section 3; names of steps are its).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    /// The timer has not expired, or its loss was real.
    Off,
    /// The first packet was sent again (step 1).
    SentAgain,
    /// Data beyond the first has been acknowledged: this many new packets may leave before any
    /// other is sent again (step 2b).
    MaySendNew(u8),
}

impl Undo {
    pub(super) const NONE: Undo =
        Undo { copies: None, has_copied: false, until: u64::MAX, frto: Frto::Off };

    /// A repair begins while so many copies of the one before are out. One after a timeout with no
    /// repair under way may be found needless by F-RTO.
    pub(super) fn begin(&mut self, by_timer_alone: bool, copies: u32) {
        let frto = if by_timer_alone { Frto::SentAgain } else { Frto::Off };
        *self = Undo { copies: Some(copies), frto, ..Undo::NONE };
    }

    /// The repair is over. It may be undone until what was sent by now has arrived.
    pub(super) fn end_repair(&mut self, next: u64) {
        self.frto = Frto::Off;
        self.until = next;
    }

    /// Whether nothing more can show that the repair was not needed.
    pub(super) fn is_settled(&self, cumulative: u64) -> bool {
        cumulative > self.until
    }

    pub(super) fn on_copy(&mut self) {
        self.has_copied = true;
        self.copies = self.copies.map(|copies| copies.saturating_add(1));
    }

    /// DSACK (RFC 3708): the data of a copy had arrived before. Returns whether that holds of all
    /// copies.
    pub(super) fn on_duplicate(&mut self) -> bool {
        self.copies = self.copies.map(|copies| copies.saturating_sub(1));
        self.has_copied && self.copies == Some(0)
    }

    /// Eifel (RFC 3522): whether an acknowledgement that advances, and was caused by a packet that
    /// left before the repair, shows that no copy was needed for it.
    pub(super) fn is_unneeded(&self) -> bool {
        self.copies.is_some() && self.has_copied
    }
}
