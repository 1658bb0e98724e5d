//! A scenario with a constant that is wrong on purpose.

use crate::document::Value;
use crate::keys;
use crate::laws::WrongConstant;
use crate::overrides::whole_path;

use super::Scenario;

impl Scenario {
    /// The scenario with a constant of a law set wrong. Only simulated runs have it.
    #[must_use]
    pub fn with_wrong(&self, wrong: &WrongConstant) -> Scenario {
        Scenario { book: self.book.with_wrong(wrong), ..self.clone() }
    }

    /// Those of [`Scenario::laws`] whose runs have a law that the wrong constant changes.
    pub fn laws_changed_by(&self, wrong: &WrongConstant) -> Vec<String> {
        let changed = |law: &String| self.uses.are_changed(&self.book, wrong, law);
        self.laws.iter().filter(|law| changed(law)).cloned().collect()
    }

    /// The value at the path of a key, as a user writes it, or the key's default. Entries of lists
    /// are chosen by number, or all by `*`: then the value is that of the first. `None` where the
    /// scenario lacks a table or an entry on the path, or where the value is a table or a list.
    pub fn value_at(&self, path: &str) -> Option<String> {
        let path = whole_path(path);
        let steps: Vec<&str> = path.iter().map(|step| step.text.as_str()).collect();
        value_below(&self.document.value, "", &steps)
    }
}

/// The value at the rest of a path, below `value`, which is the table called `name`.
fn value_below(value: &Value, name: &str, steps: &[&str]) -> Option<String> {
    let Some((step, rest)) = steps.split_first() else { return value.as_option() };
    match value {
        Value::Table(table) => match table.get(step) {
            Some(entry) => value_below(&entry.item.value, step, rest),
            None if rest.is_empty() => keys::find(name, step).map(|key| key.default.to_string()),
            None => None,
        },
        Value::List(items) if *step == "*" => {
            let all = items.iter().map(|item| value_below(&item.value, name, rest));
            all.collect::<Option<Vec<String>>>()?.into_iter().next()
        }
        Value::List(items) => {
            let at = step.parse::<usize>().ok()?.checked_sub(1)?;
            value_below(&items.get(at)?.value, name, rest)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration = '2 s'\nlaw = ['xcp', 'slow', 'newreno']\n[variant.slow]\n\
        law = 'xcp'\nalpha = 0.1\n[topology]\nkind = 'dumbbell'\n\
        bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";

    fn scenario(more: &str) -> Scenario {
        let text = format!("{TEXT}{more}");
        Scenario::parse("a.toml", &text, &|_| Ok(String::new())).expect("a scenario")
    }

    fn wrong(law: &str, option: &str, change: &str) -> WrongConstant {
        let Ok(change) = change.parse();
        WrongConstant { law: law.into(), option: option.into(), change }
    }

    #[test]
    fn a_wrong_constant_reaches_a_law_and_its_variants_and_no_other() {
        let own = scenario("");
        let laws = |wrong: &WrongConstant, law: &str| {
            let plan = own.with_wrong(wrong).plan(Some(law), None).expect("a plan");
            format!("{:?}", plan.setup.laws)
        };
        let half = wrong("xcp", "alpha", "0.5x");
        assert_eq!(own.laws_changed_by(&half), ["xcp", "slow"]);
        assert!(laws(&half, "xcp").contains("alpha: 0.2,"));
        assert!(laws(&half, "slow").contains("alpha: 0.05,"));
        assert_eq!(
            laws(&half, "newreno"),
            format!("{:?}", own.plan(Some("newreno"), None).unwrap().setup.laws)
        );
        // Below 0, which no scenario can say.
        assert!(laws(&wrong("xcp", "alpha", "-1x"), "slow").contains("alpha: -0.1,"));
        // What a variant has already is no change of it.
        assert_eq!(own.laws_changed_by(&wrong("xcp", "alpha", "0.1")), ["xcp"]);
        assert!(own.laws_changed_by(&wrong("xcp", "desired", "2x")).is_empty());
        assert!(own.laws_changed_by(&wrong("rcp", "alpha", "2x")).is_empty());
        let refused = own.with_wrong(&wrong("xcp", "pacing", "maybe")).plan(Some("xcp"), None);
        assert!(refused.unwrap_err().to_string().contains("true or false"));
    }

    #[test]
    fn a_value_is_the_scenarios_own_or_the_default_of_its_key() {
        let own = scenario("[transport]\nmin_rto = '1 s'\n");
        let at = |path: &str| own.value_at(path);
        assert_eq!(at("bottleneck.rate").as_deref(), Some("10 Mbit/s"));
        assert_eq!(at("transport.min_rto").as_deref(), Some("1 s"));
        assert_eq!(at("transport.packet").as_deref(), Some("1500 B"));
        assert_eq!(at("flow.1.to").as_deref(), Some("d1"));
        assert_eq!(at("flow.*.to").as_deref(), Some("d1"));
        // The scenario has neither; a table has no value.
        assert_eq!([at("overlay.cap"), at("flow.2.to"), at("bottleneck")], [None, None, None]);
    }
}
