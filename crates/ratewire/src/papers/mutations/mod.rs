//! Figures run again with one constant of a law wrong, to learn which of their claims notice.

mod check;
mod result;

use std::ops::Range;

use ratewire_report::World;
use ratewire_scenario::{Change, Diagnostic, Plan, Scenario, ScenarioError, WrongConstant};
use serde::Deserialize;

use super::{Name, PAPER, Paper, PaperFigure};
use crate::Job;

pub use result::{MutantClaim, MutantResult};

/// A constant that is broken, and the wrong values that it has in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// The law whose `option` is the constant.
    pub law: Option<Name>,
    /// The option of `law`, in the runs of the law and of its variants.
    pub option: Option<Name>,
    /// Path of a key of the scenario that is the constant, where no law has it: `overlay.cap`.
    pub key: Option<Name>,
    /// Factors (`"2x"`) or values.
    pub to: Vec<toml::Spanned<toml::Value>>,
}

/// What is broken.
enum Constant<'a> {
    Option(&'a Name, &'a Name),
    Key(&'a Name),
}

impl Mutation {
    /// What is broken; `None` if the table does not say, or says too much.
    fn constant(&self) -> Option<Constant<'_>> {
        match (&self.law, &self.option, &self.key) {
            (Some(law), Some(option), None) => Some(Constant::Option(law, option)),
            (None, None, Some(key)) => Some(Constant::Key(key)),
            _ => None,
        }
    }

    /// The constant: `alpha of xcp`, or `overlay.cap`.
    pub fn name(&self) -> String {
        match self.constant() {
            Some(Constant::Option(law, option)) => {
                format!("{} of {}", option.get_ref(), law.get_ref())
            }
            Some(Constant::Key(key)) => key.get_ref().clone(),
            None => String::new(),
        }
    }

    /// The scenario with the constant changed, and the laws whose runs that changes; `None` where
    /// it changes none.
    fn applied(
        &self,
        scenario: &Scenario,
        change: Change,
    ) -> Result<Option<(Scenario, Vec<String>)>, ScenarioError> {
        let done = match self.constant() {
            Some(Constant::Option(law, option)) => {
                let (law, option) = (law.get_ref().clone(), option.get_ref().clone());
                let wrong = WrongConstant { law, option, change };
                let laws = scenario.laws_changed_by(&wrong);
                (!laws.is_empty()).then(|| (scenario.with_wrong(&wrong), laws))
            }
            Some(Constant::Key(key)) => {
                let path = key.get_ref();
                let own = scenario.value_at(path);
                let changed = own.as_ref().and_then(|own| change.of(own));
                match changed.filter(|changed| own.as_ref() != Some(changed)) {
                    Some(value) => {
                        let wrong = scenario.with_overrides(&[(path.clone(), value)])?;
                        let laws = wrong.laws();
                        Some((wrong, laws))
                    }
                    None => None,
                }
            }
            None => None,
        };
        Ok(done)
    }
}

fn change(value: &toml::Value) -> Change {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let Ok(change) = text.parse();
    change
}

/// One wrong value of a constant in a figure, with the runs that it changes.
pub struct Mutant {
    /// The constant: `alpha of xcp`, or `overlay.cap`.
    pub constant: String,
    /// What became of it: `2x`, or a value.
    pub change: String,
    /// Scenarios of the figure that it changes.
    scenarios: Vec<MutantScenario>,
}

/// A scenario with a wrong value.
struct MutantScenario {
    /// Index of the scenario in the figure.
    at: usize,
    scenario: Scenario,
    /// Runs of the laws that the value changes.
    plans: Vec<Plan>,
}

impl PaperFigure {
    /// The figure's mutants, those that change a run. `loaded` are its scenarios.
    ///
    /// # Errors
    /// An error for a wrong value that a scenario cannot have, with the value's place.
    pub fn mutants(
        &self,
        paper: &Paper,
        loaded: &[Scenario],
    ) -> Result<Vec<Mutant>, ScenarioError> {
        let mut all = Vec::new();
        for mutation in paper.mutations_of(self) {
            for value in &mutation.to {
                let change = change(value.get_ref());
                let mut scenarios = Vec::new();
                for (at, scenario) in loaded.iter().enumerate() {
                    let applied = mutation.planned(at, scenario, change.clone());
                    let place = |wrong| paper.at_value(mutation, value.span(), wrong);
                    scenarios.extend(applied.map_err(place)?);
                }
                if !scenarios.is_empty() {
                    let (constant, change) = (mutation.name(), change.to_string());
                    all.push(Mutant { constant, change, scenarios });
                }
            }
        }
        Ok(all)
    }
}

impl Mutation {
    /// The scenario with the constant changed, and its runs; `None` where nothing is changed.
    fn planned(
        &self,
        at: usize,
        scenario: &Scenario,
        change: Change,
    ) -> Result<Option<MutantScenario>, ScenarioError> {
        let Some((scenario, laws)) = self.applied(scenario, change)? else { return Ok(None) };
        let plans = laws.iter().map(|law| scenario.plan(Some(law), None));
        let plans = plans.collect::<Result<_, _>>()?;
        Ok(Some(MutantScenario { at, scenario, plans }))
    }
}

impl Mutant {
    /// The mutant's runs, in the order of its scenarios and their laws.
    pub fn jobs(&self) -> impl Iterator<Item = Job<'_>> {
        self.scenarios.iter().flat_map(|one| {
            let job = |plan: &Plan| Job::new(&one.scenario, plan.clone(), World::Simulate);
            one.plans.iter().map(job)
        })
    }
}

impl Paper {
    /// A figure's mutations: its own, or else those of the paper.
    fn mutations_of<'a>(&'a self, figure: &'a PaperFigure) -> &'a [Mutation] {
        if figure.mutations.is_empty() { &self.mutations } else { &figure.mutations }
    }

    /// An error about a wrong value that a scenario cannot have, at the value's place.
    fn at_value(
        &self,
        mutation: &Mutation,
        span: Range<usize>,
        wrong: ScenarioError,
    ) -> ScenarioError {
        let file = self.folder.join(PAPER).display().to_string();
        let Some(first) = wrong.diagnostics.into_iter().next() else { return Vec::new().into() };
        let message = format!("{} cannot be so: {}", mutation.name(), first.message);
        let at = Diagnostic::about(&file, &self.text, span, message);
        ScenarioError::from(Diagnostic { help: first.help, nearest: first.nearest, ..at })
    }
}
