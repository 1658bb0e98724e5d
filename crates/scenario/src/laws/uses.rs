//! Laws by index, before it is known which law the run has.

use ratewire_laws::{AnyLaw, OptionError};
use ratewire_sim::setup::ToldLaw;

use super::{LawBook, LawUse};

/// Distinct uses of laws, in the order in which they were read.
#[derive(Clone, Debug)]
pub(crate) struct Uses {
    list: Vec<LawUse>,
}

impl Default for Uses {
    /// Index 0 is the law of the run, without further options.
    fn default() -> Uses {
        Uses { list: vec![LawUse::default()] }
    }
}

/// A law that has been made.
pub(crate) struct Made {
    pub law: AnyLaw,
    /// Name that users know the law by.
    pub name: String,
    /// What other programs and kernels are told of it.
    pub told: ToldLaw,
    /// Options left out because this law has no option of that name.
    pub left_out: Vec<String>,
}

impl Uses {
    /// Index of `wanted`; added if new.
    pub fn index(&mut self, wanted: LawUse) -> usize {
        if let Some(at) = self.list.iter().position(|known| *known == wanted) {
            return at;
        }
        self.list.push(wanted);
        self.list.len() - 1
    }

    /// Name of the law and options at each use, in a run of `law`.
    pub(super) fn names<'a>(
        &'a self,
        law: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a [(String, String)])> {
        self.list.iter().map(move |one| (one.name.as_deref().unwrap_or(law), &one.options[..]))
    }

    /// Makes all laws for a run of `law`.
    pub fn make(&self, book: &LawBook, law: &str) -> Result<Vec<Made>, OptionError> {
        let one = |wanted: &LawUse| {
            let name = wanted.name.as_deref().unwrap_or(law);
            let knows = |option: &str| {
                book.info(name).is_some_and(|info| info.options.iter().any(|o| o.name == option))
            };
            let (known, others): (Vec<_>, Vec<_>) =
                wanted.options.iter().cloned().partition(|(option, _)| knows(option));
            let made = book.make(name, &known)?;
            let left_out = others.into_iter().map(|(option, _)| option).collect();
            Ok(Made { law: made, name: name.to_string(), told: book.told(name, &known), left_out })
        };
        self.list.iter().map(one).collect()
    }
}
