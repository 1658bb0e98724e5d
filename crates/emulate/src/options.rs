//! Which options of laws have an effect in an emulated run.

use ratewire_laws::AnyLaw;

use ratewire_sim::setup::Setup;

use crate::acp;
use crate::control::control;

/// Whether an option of a setup's law of this number does nothing. Ends of ACP have all options.
pub fn ignores(setup: &Setup, law: usize, option: &str) -> bool {
    let of_acp = acp::flows(setup).any(|flow| setup.flows[flow].law == law);
    !of_acp && kernels_ignore(&setup.laws[law], option)
}

/// Whether an option of a law does nothing under kernels. Their senders have no options, only ports
/// do; JetMax's ports are the kernel's and have none either.
fn kernels_ignore(law: &AnyLaw, option: &str) -> bool {
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
                assert!(info.options.iter().all(|option| !kernels_ignore(&law, option.name)));
                continue;
            }
            for option in info.options {
                let changes =
                    fuzzing::makes_a_difference(&law, option, |options| port(info.name, options));
                let what = (info.name, option.name);
                assert_eq!(kernels_ignore(&law, option.name), !changes, "{what:?}");
            }
        }
    }
}
