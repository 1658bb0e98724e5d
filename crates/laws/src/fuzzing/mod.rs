//! What must hold for any bytes at all, of every law in the registry. Shared by the fuzz targets, the
//! property tests and the test that replays the targets' corpora, so that what was found once stays
//! found.
//!
//! - [`laws`]: whatever happens, in whatever order, no law panics, sends at no usable rate, writes a
//!   header that is not a number or breaks its [`books`].
//! - [`headers`]: reading and writing headers agree.
//! - [`makes_a_difference`]: what reads an option.

mod books;
mod events;
mod flow;
mod headers;
mod options;
mod variants;

pub use events::{number, wild};
pub use headers::headers;
pub use options::makes_a_difference;

use alloc::vec::Vec;

use crate::registry::AnyLaw;

/// Reads `data` as things that happen ([`events`]), and has them happen to a flow of every law.
///
/// # Panics
/// When a law loses its head.
pub fn laws(data: &[u8]) {
    let events = events::read(data);
    for law in every_law() {
        let mut flow = flow::Flow::new(&law);
        for event in &events {
            flow.happen(event);
            flow.check();
        }
    }
}

/// Every law of the registry as it is by itself, and with options that switch on what is off.
fn every_law() -> Vec<AnyLaw> {
    let plain = crate::registry::list().iter().map(|info| (info.name, &[][..]));
    let law = |(name, options)| AnyLaw::new(name, options).expect("the variants are valid");
    plain.chain(variants::VARIANTS.iter().copied()).map(law).collect()
}
