//! What ABC must conserve: an accelerating packet takes one token, and a receiver counts each
//! packet once.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use super::{Abc, AbcHeader};
use crate::law::invariants::{GRAIN, figure};
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Abc {
    type Header = AbcHeader;

    /// Equal shares are not exact, because chance decides which packets brake: after a minute 2 to
    /// 8 flows were up to 10 % from their mean.
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
    /// The header has no bytes of its own. It is two ECN bits, and counts of them in
    /// acknowledgements.
    fn tampered(&self, _: &AbcHeader, [accelerated, braked]: [u32; 2]) -> Option<AbcHeader> {
        Some(AbcHeader::Echo { accelerated, braked })
    }
    fn books(&self) -> Option<Box<dyn Books<Header = AbcHeader>>> {
        Some(Box::new(AbcBooks::default()))
    }
}

/// Each packet that accelerates takes one of the tokens that `f` has added. A receiver counts each
/// packet once.
#[derive(Default)]
struct AbcBooks {
    /// Tokens added and not yet taken.
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
