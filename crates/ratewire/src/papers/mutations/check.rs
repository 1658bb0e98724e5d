//! Mistakes in the tables of mutations.

use std::collections::BTreeSet;
use std::ops::Range;

use ratewire_laws::options::OptionKind;
use ratewire_laws::{LawInfo, LawSet};
use ratewire_scenario::keys::keys;
use ratewire_scenario::{Change, Diagnostic, whole_path};

use super::{Constant, Mutation, change};
use crate::papers::{Name, PAPER, Paper};

impl Paper {
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
