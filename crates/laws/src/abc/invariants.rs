//! What ABC must not make out of nothing: an accelerating packet takes a token, and is counted
//! once.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use super::{Abc, AbcHeader};
use crate::law::invariants::{GRAIN, figure};
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Abc {
    type Header = AbcHeader;

    /// A packet is added each RTT, and which packets brake is chance: after a minute 2 to 8 flows
    /// were up to 10 % from their mean.
    fn promises(&self) -> Promises {
        Promises { equal_shares: false, any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("fallback", "none"), ("additive", "100"), ("eta", "0"), ("queue_delay", "0 s")],
            &[("capacity", "0 bit/s"), ("delta", "1 us"), ("window", "1 us"), ("additive", "0")],
        ]
    }
    fn returns(&self, header: &AbcHeader) -> bool {
        matches!(header, AbcHeader::Echo { .. })
    }
    /// A header has no bytes of its own: its two ECN bits, and what acknowledgements count of them.
    fn tampered(&self, _: &AbcHeader, [accelerated, braked]: [u32; 2]) -> Option<AbcHeader> {
        Some(AbcHeader::Echo { accelerated, braked })
    }
    fn books(&self) -> Option<Box<dyn Books<Header = AbcHeader>>> {
        Some(Box::new(AbcBooks::default()))
    }
}

/// Each packet that accelerates takes a token of those that `f` has brought; a receiver counts each
/// packet once.
#[derive(Default)]
struct AbcBooks {
    /// Brought so far and not taken.
    tokens: f64,
    accelerated: u32,
    braked: u32,
}

impl Books for AbcBooks {
    type Header = AbcHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&AbcHeader, &Reason),
        (is, after): (&AbcHeader, &Reason),
    ) {
        let (AbcHeader::Data { accelerate: was }, AbcHeader::Data { accelerate: is }) = (was, is)
        else {
            return assert_eq!(is, was, "a header of another kind");
        };
        assert!(*was || !is, "a brake was lifted");
        self.tokens += figure(after, "f") - f64::from(u8::from(*is));
        assert!(self.tokens > -GRAIN, "accelerated without a token: {}", self.tokens);
    }

    fn received(&mut self, header: &AbcHeader) {
        match header {
            AbcHeader::Data { accelerate: true } => self.accelerated += 1,
            AbcHeader::Data { accelerate: false } => self.braked += 1,
            AbcHeader::Echo { .. } => {}
        }
    }

    fn answered(&mut self, header: &AbcHeader) {
        let accelerated = core::mem::take(&mut self.accelerated);
        let braked = core::mem::take(&mut self.braked);
        assert_eq!(*header, AbcHeader::Echo { accelerated, braked });
    }
}
