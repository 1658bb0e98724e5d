//! Which parts of a law an option is read by.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::variants::VARIANTS;
use crate::law::LawInfo;
use crate::options::{Kind, OptionSpec};

/// Whether a value of `option` makes a difference to what `made` makes of its law's options, beside those that switch on
/// what is off too; `None` of options that the law refuses.
pub fn makes_a_difference<T: PartialEq>(
    law: &LawInfo,
    option: &OptionSpec,
    made: impl Fn(&[(&str, &str)]) -> Option<T>,
) -> bool {
    let variants = VARIANTS.iter().filter(|(of, _)| *of == law.name).map(|(_, options)| *options);
    let mut bases = variants.chain([&[][..]]);
    bases.any(|base| {
        let plain = made(base);
        values(option.kind).iter().any(|value| {
            let with = made(&[base, &[(option.name, value)]].concat());
            with.is_some() && with != plain
        })
    })
}

/// Values that are allowed, one of which is not the default.
fn values(kind: Kind) -> Vec<String> {
    match kind {
        Kind::Switch => vec!["true".into(), "false".into()],
        Kind::Number(least, most) => {
            [0.3, 0.7].map(|share| (least + share * (most.min(100.0) - least)).to_string()).into()
        }
        Kind::Count(least, most) => [least, most].map(|n| n.to_string()).into(),
        Kind::Time => vec!["70 ms".into(), "30 ms".into()],
        Kind::Rate(_) => vec!["7 Mbit/s".into()],
        Kind::Size(_) => vec!["7 packets".into(), "9 packets".into()],
        Kind::Word(words) => words.iter().map(ToString::to_string).collect(),
    }
}
