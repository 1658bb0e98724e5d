//! Figures run again with one constant of a law wrong, to learn which of their claims notice.

use std::collections::BTreeSet;
use std::ops::Range;

use ratewire_laws::options::OptionKind;
use ratewire_laws::{LawInfo, LawSet};
use ratewire_report::{Basis, CheckedExpectation, World};
use ratewire_scenario::keys::keys;
use ratewire_scenario::{
    Change, Diagnostic, Plan, Scenario, ScenarioError, WrongConstant, whole_path,
};
use serde::{Deserialize, Serialize};

use super::{Name, PAPER, Paper, PaperFigure};
use crate::Job;

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

impl Paper {
    /// A figure's mutations: its own, or else those of the paper.
    fn mutations_of<'a>(&'a self, figure: &'a PaperFigure) -> &'a [Mutation] {
        if figure.mutations.is_empty() { &self.mutations } else { &figure.mutations }
    }

    /// Mistakes in the tables of mutations, each with its place. `laws` are those that scenarios
    /// may name.
    pub fn wrong_mutations(&self, laws: &LawSet) -> Vec<Diagnostic> {
        let own = self.figures.iter().flat_map(|figure| &figure.mutations);
        self.mutations.iter().chain(own).flat_map(|one| self.wrong_in(one, laws)).collect()
    }

    fn wrong_in(&self, mutation: &Mutation, laws: &LawSet) -> Vec<Diagnostic> {
        let file = self.folder.join(PAPER).display().to_string();
        let about = |span, message: String| Diagnostic::about(&file, &self.text, span, message);
        let first = [&mutation.law, &mutation.option, &mutation.key].into_iter().flatten().next();
        let place = first.map_or_else(|| mutation.place(), toml::Spanned::span);
        let needs = |message: &str, help: &str| {
            vec![Diagnostic {
                help: Some(help.to_string()),
                ..about(place.clone(), message.to_string())
            }]
        };
        if mutation.to.is_empty() {
            return needs("a mutation without wrong values", "for example to = [\"0.5x\", \"2x\"]");
        }
        let (law, option) = match mutation.constant() {
            Some(Constant::Option(law, option)) => (law, option),
            Some(Constant::Key(key)) => return self.unknown_key(key, &about).into_iter().collect(),
            None => {
                return needs(
                    "a mutation needs the constant that it breaks",
                    "either `law` and `option`, or the `key` of a scenario",
                );
            }
        };
        let Some(info) = laws.find(law.get_ref()) else {
            let known: Vec<&str> = laws.list().map(|info| info.name).collect();
            let message = format!("no law is called {:?}", law.get_ref());
            return vec![about(law.span(), message).knowing(law.get_ref(), &known)];
        };
        let Some(spec) = info.options.iter().find(|spec| spec.name == option.get_ref()) else {
            let known: Vec<&str> = info.options.iter().map(|spec| spec.name).collect();
            let message = format!("{} has no option {:?}", info.name, option.get_ref());
            return vec![about(option.span(), message).knowing(option.get_ref(), &known)];
        };
        let wrong = mutation.to.iter().filter_map(|value| {
            let why = refused(laws, info, spec.name, spec.kind, &change(value.get_ref()))?;
            let message = format!("{} of {} cannot be so: {why}", spec.name, info.name);
            let help = Some(format!("allowed: a factor such as \"2x\", or {}", spec.kind));
            Some(Diagnostic { help, ..about(value.span(), message) })
        });
        wrong.collect()
    }
}

impl Paper {
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

    /// An error if no table of scenarios has a key of this name. Whether it fits its table is
    /// checked when it is set.
    fn unknown_key(
        &self,
        key: &Name,
        about: &dyn Fn(Range<usize>, String) -> Diagnostic,
    ) -> Option<Diagnostic> {
        let path = whole_path(key.get_ref());
        let last = path.last().map_or("", |last| &last.text);
        let known: BTreeSet<&str> = keys().map(|key| key.name).collect();
        if known.contains(last) {
            return None;
        }
        let known: Vec<&str> = known.into_iter().collect();
        Some(about(key.span(), format!("scenarios have no key {last:?}")).knowing(last, &known))
    }
}

impl Mutation {
    /// The place of its values, where it names nothing.
    fn place(&self) -> Range<usize> {
        self.to.first().map_or(0..0, toml::Spanned::span)
    }
}

/// Why a law cannot have an option changed so. A factor of a word depends on what the scenario has
/// in its place.
fn refused(
    laws: &LawSet,
    info: &LawInfo,
    option: &str,
    kind: OptionKind,
    change: &Change,
) -> Option<String> {
    let value = match (change, kind) {
        (Change::Times(_), OptionKind::Switch | OptionKind::Word(_)) => {
            return Some("a word cannot be multiplied".to_string());
        }
        (Change::Times(factor), kind) if *factor < 0.0 => {
            let OptionKind::Number(..) = kind else {
                return Some("only a number can be below 0".to_string());
            };
            return None;
        }
        (Change::Times(_), _) => return None,
        (Change::Value(value), _) => value,
    };
    laws.make_wrong(info.name, &[], (option, value)).err().map(|wrong| wrong.message)
}
