//! Which options of laws have an effect in an emulated run.

use ratewire_laws::AnyLaw;

use crate::control::control;

/// Whether an option of a law does nothing. The kernel's senders have no options, only ports do;
/// JetMax's ports are the kernel's and have none either.
pub fn ignores(law: &AnyLaw, option: &str) -> bool {
    let mut all = law.info().options.iter();
    let is_read = match law {
        AnyLaw::Jetmax(_) => false,
        _ => all.any(|spec| spec.name == option && spec.part.has_port()),
    };
    control(law).is_some() && !is_read
}

#[cfg(test)]
mod tests {
    use ratewire_laws::{Draw, LinkContext, fuzzing, list};
    use ratewire_units::{Duration, Rate};

    use super::*;
    use crate::dialect::adapt;

    /// The port of a law with these options, as in an emulated run.
    fn port(law: &str, options: &[(&str, &str)]) -> Option<String> {
        let mut laws = [AnyLaw::new(law, options).ok()?];
        adapt(&mut laws);
        let delay = Duration::from_millis(1);
        let context = LinkContext { rate: Rate::from_mbps(10), delay, id: 1, draw: Draw::new(0) };
        Some(format!("{:?}", laws[0].port(&context)))
    }

    #[test]
    fn an_option_is_ignored_that_changes_no_port() {
        for info in list() {
            let law = AnyLaw::new(info.name, &[]).unwrap();
            if control(&law).is_none() {
                assert!(info.options.iter().all(|option| !ignores(&law, option.name)));
                continue;
            }
            for option in info.options {
                let changes =
                    fuzzing::makes_a_difference(&law, option, |options| port(info.name, options));
                let what = (info.name, option.name);
                assert_eq!(ignores(&law, option.name), !changes, "{what:?}");
            }
        }
    }
}
