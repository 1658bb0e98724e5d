//! Parts of a law that read an option.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::options::{OptionKind, OptionSpec};
use crate::registry::AnyLaw;

/// Whether some value of `option` changes the result of `made` for its law's options.
///
/// The option is tried with the defaults, and with the options that switch on features that are
/// off. `made` returns `None` for options that the law refuses.
pub fn makes_a_difference<T: PartialEq>(
    law: &AnyLaw,
    option: &OptionSpec,
    made: impl Fn(&[(&str, &str)]) -> Option<T>,
) -> bool {
    let mut bases = law.extremes().iter().copied().chain([&[][..]]);
    bases.any(|base| {
        let plain = made(base);
        values(option.kind).iter().any(|value| {
            let with = made(&[base, &[(option.name, value)]].concat());
            with.is_some() && with != plain
        })
    })
}

/// Allowed values, one of which is not the default.
fn values(kind: OptionKind) -> Vec<String> {
    match kind {
        OptionKind::Switch => vec!["true".into(), "false".into()],
        OptionKind::Number(least, most) => {
            [0.3, 0.7].map(|share| (least + share * (most.min(100.0) - least)).to_string()).into()
        }
        OptionKind::Count(least, most) => [least, most].map(|n| n.to_string()).into(),
        OptionKind::Time => vec!["70 ms".into(), "30 ms".into()],
        OptionKind::Rate(_) => vec!["7 Mbit/s".into()],
        OptionKind::Size(_) => vec!["7 packets".into(), "9 packets".into()],
        OptionKind::Word(words) => words.iter().map(ToString::to_string).collect(),
    }
}
