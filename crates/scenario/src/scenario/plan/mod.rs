//! How a scenario becomes a run, and checks of that run under its laws.

mod junctions;
mod missing_ports;
mod phases;
mod readers;
mod requirements;
mod trust;

use ratewire_config::nearest;
use ratewire_sim::setup::Setup;
use ratewire_units::Bytes;

use crate::diagnostic::{Diagnostic, Severity};
use crate::error::ScenarioError;
use crate::expect::Evaluator;
use crate::network::outages;
use crate::traffic::starts;

use super::Scenario;

/// A run, and the names of its laws.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The run.
    pub setup: Setup,
    /// Name of the law or variant, by index into [`Setup::laws`].
    pub law_names: Vec<String>,
    /// The law of the run.
    pub law: String,
    /// Warnings about the run.
    pub warnings: Vec<Diagnostic>,
}

impl Scenario {
    /// Checks that `law` is a law or variant.
    ///
    /// # Errors
    /// An error without a place in the file if there is no such law or variant.
    pub fn check_law(&self, law: &str) -> Result<(), ScenarioError> {
        if self.book.info(law).is_some() {
            return Ok(());
        }
        let message = match law {
            "" => "a law's name is missing".to_string(),
            _ => format!("no law or variant is called {law:?}"),
        };
        let names = self.book.names();
        Err(ScenarioError::from(Diagnostic {
            help: Some(format!("known: {}", names.join(", "))),
            nearest: nearest(law, names.iter().copied()),
            ..Diagnostic::of_setting("law", message)
        }))
    }

    /// Setup of a run; `law` and `seed`, if given, replace the scenario's own.
    ///
    /// # Errors
    /// An error if there is no such law or variant, or if its options do not fit.
    pub fn setup(&self, law: Option<&str>, seed: Option<u64>) -> Result<Setup, ScenarioError> {
        self.plan(law, seed).map(|plan| plan.setup)
    }

    /// As [`Scenario::setup`], with the names of the laws and the warnings.
    ///
    /// # Errors
    /// As [`Scenario::setup`].
    pub fn plan(&self, law: Option<&str>, seed: Option<u64>) -> Result<Plan, ScenarioError> {
        let law = law.unwrap_or(&self.laws[0]);
        let refuse = |message: String, help: Option<String>| {
            ScenarioError::from(Diagnostic { help, ..Diagnostic::general(&self.file, message) })
        };
        self.check_law(law)?;
        let law = self.book.laws().find(law).map_or(law, |info| info.name);
        let made = self
            .uses
            .make(&self.book, law)
            .map_err(|e| refuse(format!("options of {law}: {e}"), None))?;
        let mut setup = self.template.clone();
        setup.seed = seed.unwrap_or(self.seed);
        starts::draw(&self.starts, &mut setup);
        outages::draw(&self.outages, &mut setup);
        if let Some((message, help)) = junctions::refuse(&setup, &made, self.book.laws()) {
            return Err(refuse(message, Some(help)));
        }
        let mut warnings = Vec::new();
        for one in &made {
            for option in &one.left_out {
                let message = format!("{} has no option `{option}`: it is left out", one.name);
                let mut warning = Diagnostic::general(&self.file, message);
                warning.severity = Severity::Warning;
                warnings.push(warning);
            }
        }
        let flows = setup.flows.iter().map(|flow| (&flow.name, flow.law, &flow.transport));
        let classes = setup.traffic.iter().map(|class| (&class.name, class.law, &class.transport));
        for (name, law, transport) in flows.chain(classes) {
            let header = made.get(law).map_or(Bytes::ZERO, |made| made.law.header_len());
            if transport.packet <= transport.headers + header {
                let message = format!(
                    "packets of {} leave {name:?} no payload: {} are headers, {header} the \
                     congestion header of {}",
                    transport.packet, transport.headers, made[law].name
                );
                return Err(refuse(message, Some("use larger packets".to_string())));
            }
        }
        trust::check(&self.file, &setup, &made, &mut warnings);
        missing_ports::check(&self.file, &setup, &made, &mut warnings);
        warnings.extend(requirements::unmarked(&self.file, &setup, &made));
        warnings.extend(requirements::unreached(&self.file, &setup, &made, &self.slowest));
        warnings.extend(requirements::unstamped(&self.file, &setup, &made));
        let law_names = made.iter().map(|made| made.name.clone()).collect();
        setup.told_laws = made.iter().map(|made| made.told.clone()).collect();
        setup.laws = made.into_iter().map(|made| made.law).collect();
        setup.weights =
            setup.flows.iter().map(|flow| setup.laws[flow.law].properties().weight).collect();
        Ok(Plan { setup, law_names, law: law.to_string(), warnings })
    }

    /// Warns of settings that do nothing, or harm, in a simulated run of `plan`.
    pub fn vain_when_simulated(&self, plan: &Plan) -> Vec<Diagnostic> {
        let (file, setup) = (&self.file, &plan.setup);
        let all = [
            missing_ports::silent(file, setup),
            readers::check(file, setup),
            requirements::unhindered(file, setup),
            phases::check(file, setup),
        ];
        all.into_iter().flatten().collect()
    }

    /// The evaluator that checks a run of `plan` against the expectations.
    pub fn evaluator(&self, plan: &Plan) -> Evaluator {
        Evaluator::new(&self.expectations, &plan.setup, &plan.law)
    }
}
