//! Options that only the simulator reads.

use ratewire_laws::AnyLaw;

use crate::context::{GivenOption, Of};
use crate::diagnostic::Diagnostic;

use super::Scenario;
use super::plan::Plan;

impl Scenario {
    /// Warns of options that the laws of an emulated run do not read, according to `ignores`, which
    /// gets a law's number in the plan.
    pub fn ignored_options(
        &self,
        plan: &Plan,
        ignores: impl Fn(usize, &str) -> bool,
    ) -> Vec<Diagnostic> {
        let laws = || plan.setup.laws.iter().zip(&plan.law_names).zip(0..);
        let ignored = |given: &GivenOption| {
            let is_given = |(law, name): (&AnyLaw, &String)| match &given.of {
                Of::Law(base) => law.info().name == *base,
                Of::Named(own) => own == name,
                Of::Run => plan.law == *name,
            };
            let option = &given.option;
            let has = |law: &AnyLaw| law.info().options.iter().any(|o| o.name == option);
            let found =
                laws().find(|(law, n)| is_given(*law) && has(law.0) && ignores(*n, option))?;
            let (_, name) = found.0;
            let name = if let Of::Law(base) = given.of { base } else { name };
            Some(Diagnostic {
                message: format!("an emulated run does not read `{option}` of {name}"),
                help: Some(
                    "its senders are the kernel's; only options of ports have an effect".into(),
                ),
                ..given.at.clone()
            })
        };
        self.options.iter().filter_map(ignored).collect()
    }
}
