//! What becomes of claims under a wrong law.

use ratewire_report::{Basis, CheckedExpectation};
use serde::Serialize;

use super::{Mutant, MutantScenario};

/// What became of a figure's claims under one mutant.
#[derive(Clone, Debug, Serialize)]
pub struct MutantResult {
    /// The constant: `alpha of xcp`, or `overlay.cap`.
    pub constant: String,
    /// What became of it: `2x`, or a value.
    pub change: String,
    /// Claims of the runs that it changes, without those that fail under the right law too.
    pub claims: Vec<MutantClaim>,
}

/// A claim that holds under the right law, and what a wrong one makes of it.
#[derive(Clone, Debug, Serialize)]
pub struct MutantClaim {
    /// File of the scenario.
    pub scenario: String,
    /// Value under the right law, in the claim's unit.
    pub right: Option<f64>,
    /// The claim under the wrong law; it notices if it is not passed.
    #[serde(flatten)]
    pub wrong: CheckedExpectation,
}

impl MutantClaim {
    /// Whether the claim notices that the law is wrong.
    pub fn notices(&self) -> bool {
        !self.wrong.passed
    }

    /// Whether the source states the bound, or it is derived from the source.
    pub fn is_of_source(&self) -> bool {
        matches!(self.wrong.basis, Basis::Claim | Basis::Derived)
    }
}

impl MutantResult {
    /// Compares the claims of a mutant's runs with those of the right law's: `right` has, for each
    /// scenario of the figure, the claims of all its runs; `wrong` those of each run of
    /// [`Mutant::jobs`], `None` for one that failed, which all its claims notice.
    pub fn of(
        mutant: &Mutant,
        right: &[Vec<CheckedExpectation>],
        wrong: &[Option<Vec<CheckedExpectation>>],
    ) -> MutantResult {
        let mut claims = Vec::new();
        let mut wrong = wrong.iter();
        for MutantScenario { at, scenario, plans } in &mutant.scenarios {
            for plan in plans {
                let run = wrong.next().and_then(Option::as_ref);
                let own = right[*at].iter().filter(|claim| claim.law == plan.law);
                for (place, claim) in own.enumerate().filter(|(_, claim)| claim.passed) {
                    let wrong = run.map_or_else(|| unmeasured(claim), |run| run[place].clone());
                    let (scenario, right) = (scenario.file.clone(), claim.value);
                    claims.push(MutantClaim { scenario, right, wrong });
                }
            }
        }
        let (constant, change) = (mutant.constant.clone(), mutant.change.clone());
        MutantResult { constant, change, claims }
    }

    /// The claims that notice.
    pub fn noticed(&self) -> impl Iterator<Item = &MutantClaim> {
        self.claims.iter().filter(|claim| claim.notices())
    }

    /// Whether a claim notices whose bound the source states, or that is derived from it.
    pub fn is_noticed_by_source(&self) -> bool {
        self.noticed().any(MutantClaim::is_of_source)
    }
}

/// A claim of a run that failed.
fn unmeasured(claim: &CheckedExpectation) -> CheckedExpectation {
    let measured = "not measured: the run failed".to_string();
    CheckedExpectation { passed: false, measured, value: None, ..claim.clone() }
}

#[cfg(test)]
mod tests {
    use ratewire_scenario::Scenario;

    use super::*;

    fn claim(law: &str, basis: Basis, value: f64) -> CheckedExpectation {
        let passed = value > 0.5;
        CheckedExpectation {
            law: law.into(),
            basis,
            value: Some(value),
            passed,
            ..CheckedExpectation::default()
        }
    }

    /// A mutant of a scenario with two laws, both of which it changes.
    fn mutant() -> Mutant {
        let text = "duration = '2 s'\nlaw = ['xcp', 'rcp']\n[topology]\nkind = 'dumbbell'\n\
            bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\n\
            to = 'd1'\n";
        let scenario = Scenario::parse("a.toml", text, &|_| Ok(String::new())).unwrap();
        let plans = ["xcp", "rcp"].map(|law| scenario.plan(Some(law), None).unwrap());
        let scenarios = vec![MutantScenario { at: 0, scenario, plans: plans.into() }];
        Mutant { constant: "alpha".into(), change: "2x".into(), scenarios }
    }

    #[test]
    fn claims_are_compared_law_by_law_and_a_run_that_fails_is_noticed_by_all() {
        let right = [vec![
            claim("xcp", Basis::Claim, 1.0),
            claim("xcp", Basis::Run, 0.9),
            // It fails anyhow, and can notice nothing.
            claim("xcp", Basis::Claim, 0.1),
            claim("rcp", Basis::Fit, 0.8),
        ]];
        let wrong = [1.0, 0.2, 0.0].map(|value| claim("xcp", Basis::Run, value));
        let result = MutantResult::of(&mutant(), &right, &[Some(wrong.into()), None]);
        let rights: Vec<_> = result.claims.iter().map(|claim| claim.right).collect();
        assert_eq!(rights, [Some(1.0), Some(0.9), Some(0.8)]);
        let noticed: Vec<_> = result.noticed().map(|claim| claim.wrong.value).collect();
        assert_eq!(noticed, [Some(0.2), None]);
        assert!(!result.is_noticed_by_source(), "a run's bound and a fitted one");
        let result = MutantResult::of(&mutant(), &right, &[None, None]);
        assert!(result.noticed().count() == 3 && result.is_noticed_by_source());
    }
}
