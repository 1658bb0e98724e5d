//! Expectations that no run is checked against.

use crate::diagnostic::Diagnostic;
use crate::expect::Expectation;

use super::Scenario;

impl Scenario {
    /// Warns of expectations whose laws the scenario does not list: no run is checked against them.
    pub fn unheld(&self) -> Vec<Diagnostic> {
        let is_listed = |law: &String| self.laws.contains(law);
        let never = |e: &&Expectation| !e.laws.is_empty() && !e.laws.iter().any(is_listed);
        let warning = |e: &Expectation| {
            let message = format!(
                "no run is checked against the expectation of {} on line {}: it is for {}",
                e.metric,
                e.line,
                e.laws.join(", ")
            );
            Diagnostic::warning(
                &self.file,
                message,
                format!("`law` lists {}", self.laws.join(", ")),
            )
        };
        self.expectations.iter().filter(never).map(warning).collect()
    }

    /// Warns of expectations and samples that an emulated run under `law` cannot measure.
    pub fn unmeasured_when_emulated(&self, law: &str) -> Vec<Diagnostic> {
        let left_out =
            self.expectations.iter().filter(|e| e.is_of(law) && !e.measure.is_emulated());
        let warning = |e: &Expectation| {
            Diagnostic::warning(
                &self.file,
                format!(
                    "an emulated run leaves out the expectation of {} on line {}",
                    e.metric, e.line
                ),
                "it needs single packets, which only the simulator sees",
            )
        };
        let rates_at = self.rates_at.map(|_| {
            Diagnostic::warning(
                &self.file,
                "an emulated run samples no rates at a link".to_string(),
                "`rates_at` of [record] needs single packets, which only the simulator sees",
            )
        });
        left_out.map(warning).chain(rates_at).collect()
    }
}
