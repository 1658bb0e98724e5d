//! Properties of a law for any input bytes. The fuzz targets, the property tests and the test that
//! replays the targets' corpora share them, so that what a fuzzer found once stays found.
//!
//! - [`Laws::one`], [`Laws::each`]: under any events in any order, no law panics, has an unusable
//!   rate, writes NaN into a header or breaks its own [`Invariants`](crate::Invariants).
//! - [`Laws::headers`]: reading and writing headers agree.
//! - [`makes_a_difference`]: whether a part reads an option.

mod events;
mod flow;
mod headers;
mod options;

pub use events::{number, wild};
pub use options::makes_a_difference;

use alloc::vec;
use alloc::vec::Vec;

use crate::registry::{AnyLaw, LawSet};

/// Laws with their defaults, and with the options of [`Invariants::extremes`](crate::Invariants).
///
/// Parsing the options takes longer than a short input, so a fuzz target keeps one `Laws`.
pub struct Laws {
    laws: Vec<AnyLaw>,
    has_books: bool,
}

impl Default for Laws {
    /// Every law of this crate.
    fn default() -> Laws {
        Laws::of(&LawSet::in_tree(), crate::registry::list().iter().map(|info| info.name))
    }
}

impl From<AnyLaw> for Laws {
    /// One law as it is.
    fn from(law: AnyLaw) -> Laws {
        Laws { laws: vec![law], has_books: true }
    }
}

impl Laws {
    /// The laws of a set that have these names.
    ///
    /// # Panics
    /// When the set has no such law, or the law refuses its defaults or one of its extremes.
    pub fn of<'a>(set: &LawSet, names: impl IntoIterator<Item = &'a str>) -> Laws {
        let made = |name: &str, options: &[(&str, &str)]| match set.make(name, options) {
            Ok(law) => law,
            Err(e) => panic!("{name} with {options:?}: {e}"),
        };
        let mut laws: Vec<AnyLaw> = names.into_iter().map(|name| made(name, &[])).collect();
        let extremes = |law: &AnyLaw| {
            let name = law.info().name;
            law.extremes().iter().map(|options| made(name, options)).collect::<Vec<_>>()
        };
        laws.extend(laws.iter().flat_map(extremes).collect::<Vec<_>>());
        Laws { laws, has_books: true }
    }

    /// The laws, without a check of what they conserve.
    pub fn without_books(self) -> Laws {
        Laws { has_books: false, ..self }
    }

    /// Runs one law: the first byte of `data` chooses it, the others are the events of its flow.
    ///
    /// A coverage-guided fuzzer keeps an input for the edges that it adds. An input of one law
    /// reaches them some 60 times as fast as an input that runs every law.
    ///
    /// # Panics
    /// When the law breaks a promise.
    pub fn one(&self, data: &[u8]) {
        let Some((choice, events)) = data.split_first() else { return };
        self.run(&self.laws[usize::from(*choice) % self.laws.len()], &events::read(events));
    }

    /// Runs every law on the events of an input of [`Laws::one`].
    ///
    /// # Panics
    /// When a law breaks a promise.
    pub fn each(&self, data: &[u8]) {
        let Some((_, events)) = data.split_first() else { return };
        let events = events::read(events);
        for law in &self.laws {
            self.run(law, &events);
        }
    }

    fn run(&self, law: &AnyLaw, events: &[events::Event]) {
        let mut flow = flow::Flow::new(law, self.has_books);
        flow.check_start();
        for event in events {
            flow.happen(event);
            flow.check();
        }
    }

    /// Reads `data` as a header of every law, and as bits to flip in one that the law has written.
    ///
    /// # Panics
    /// When reading panics, or reading and writing disagree.
    pub fn headers(&self, data: &[u8]) {
        for law in &self.laws {
            headers::read(law, data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_can_choose_each_law() {
        assert!(Laws::default().laws.len() <= 1 + usize::from(u8::MAX));
    }
}
