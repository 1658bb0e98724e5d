//! Controls of a page, made of a scenario's settings: a slider, a choice, or a field.

mod steps;

use std::collections::BTreeSet;

use ratewire_scenario::keys::KeyKind;
use ratewire_scenario::{Setting, Settings, whole_path};
use serde::Serialize;

use steps::{Range, steps};

/// Most controls that a page shows at once; further values are listed with the open keys.
const MOST: usize = 150;
/// Entries of each list that have controls and keys, beside those with set values.
pub(crate) const ENTRIES: usize = 20;
/// Most keys that can be searched for.
const MOST_OPEN: usize = 3_000;

/// What the scenario has, as controls, and the keys that can be added.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Controls {
    pub(crate) shown: Vec<Control>,
    pub(crate) open: Vec<OpenKey>,
    /// Entries of each list that are looked at: [`ENTRIES`].
    entries: usize,
    /// Further entries.
    left_out: usize,
}

/// A control for one value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Control {
    /// Path as `--set` takes it.
    pub(crate) path: String,
    /// Path by which the page has set the value, in its own spelling.
    pub(crate) set: Option<String>,
    /// Heading that the control stands under.
    pub(crate) section: String,
    /// Value as `--set` takes it.
    pub(crate) value: String,
    /// Texts to choose from: of a slider in their order along it. Empty for a field alone.
    pub(crate) steps: Vec<String>,
    pub(crate) form: Form,
    /// Meaning of the key, allowed values and default.
    pub(crate) about: String,
}

/// How a value is chosen. Every slider has a field beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    Slider,
    Choice,
    Field,
}

/// A key that can be added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct OpenKey {
    pub(crate) path: String,
    /// Value that the new control begins with.
    pub(crate) value: String,
    pub(crate) about: String,
}

impl Controls {
    /// Controls for the values that the scenario has. Every value in `set` has one, even if it
    /// stands for several values or for a table.
    pub(crate) fn of(settings: &Settings, set: &[(String, String)]) -> Controls {
        let whole: Vec<_> = set.iter().map(|(path, _)| whole_path(path)).collect();
        let mut without: BTreeSet<usize> = (0..set.len()).collect();
        // Laws have boxes.
        let given = settings.given.iter().filter(|setting| setting.path != "law");
        let mut shown = Vec::new();
        // Keys that the scenario leaves open come first: values without a control may be many.
        let mut open: Vec<OpenKey> = settings.open.iter().map(open_key).collect();
        for setting in given {
            let own = whole_path(&setting.path);
            let at = whole.iter().position(|path| *path == own);
            if shown.len() < MOST || at.is_some() {
                shown.push(Control { set: at.map(|at| set[at].0.clone()), ..control(setting) });
            } else {
                open.push(open_key(setting));
            }
            at.map(|at| without.remove(&at));
        }
        for at in without {
            // A table stands before its values.
            let is_within = |one: &Control| whole_path(&one.path).starts_with(&whole[at]);
            let place = shown.iter().position(is_within).unwrap_or(shown.len());
            shown.insert(place, field(&set[at]));
        }
        // The run first, with its name and description last, and expectations at the end. The rest
        // is in the order of the file.
        shown.sort_by_key(|control| match (control.section.as_str(), control.form) {
            (RUN, Form::Field) => 1,
            (RUN, _) => 0,
            (EXPECTATIONS, _) => 3,
            _ => 2,
        });
        open.truncate(MOST_OPEN);
        Controls { shown, open, entries: ENTRIES, left_out: settings.left_out }
    }
}

fn control(setting: &Setting) -> Control {
    let value = &setting.value;
    let along = |range| steps(value, range);
    let (form, steps) = match setting.kind {
        KeyKind::Switch => (Form::Choice, ["true", "false"].map(str::to_string).to_vec()),
        KeyKind::Word(words) => (Form::Choice, words.iter().map(ToString::to_string).collect()),
        KeyKind::Discipline => {
            let names = ratewire_net::queue::list().iter().map(|info| info.name.to_string());
            (Form::Choice, names.collect())
        }
        KeyKind::Count(min, max) => (Form::Slider, along(Range::whole(min, max))),
        KeyKind::Number(min, max) => (Form::Slider, along(Range { min, max, is_whole: false })),
        KeyKind::Time | KeyKind::Rate | KeyKind::Bytes | KeyKind::Size => {
            (Form::Slider, along(Range::POSITIVE))
        }
        KeyKind::Other(_) => (Form::Slider, along(Range::of_value(value))),
        KeyKind::Text | KeyKind::Table(_) | KeyKind::Tables(_) => (Form::Field, Vec::new()),
    };
    // A value that is no step, such as a discipline with options or a list, is written.
    let form = if steps.contains(value) { form } else { Form::Field };
    let steps = if form == Form::Field { Vec::new() } else { steps };
    Control {
        path: setting.path.clone(),
        set: None,
        section: section(&setting.path),
        value: value.clone(),
        steps,
        form,
        about: about(setting),
    }
}

/// A field for a value that is set by a path of its own: `flow.*.start`, or a table.
fn field((path, value): &(String, String)) -> Control {
    Control {
        path: path.clone(),
        set: Some(path.clone()),
        section: section(path),
        value: value.clone(),
        steps: Vec::new(),
        form: Form::Field,
        about: "Set by this path.".to_string(),
    }
}

fn open_key(setting: &Setting) -> OpenKey {
    let (path, value) = (setting.path.clone(), setting.value.clone());
    OpenKey { path, value, about: about(setting) }
}

fn about(setting: &Setting) -> String {
    let default = match setting.default.as_str() {
        "" => String::new(),
        default => format!(" Default: {}.", default.trim_matches(['(', ')'])),
    };
    format!("{} Allowed: {}.{default}", setting.doc, setting.kind).trim_start().to_string()
}

const RUN: &str = "Run";
const EXPECTATIONS: &str = "Expectations";

/// The heading for a path: its table, and the number or name of an entry.
fn section(path: &str) -> String {
    let parts = whole_path(path);
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    match texts[..] {
        [] | [_] => RUN.to_string(),
        ["topology", ..] => "Network".to_string(),
        ["expect", ..] => EXPECTATIONS.to_string(),
        [table, _] => heading(table),
        [table, entry, ..] => format!("{} {}", heading(table), entry.trim_start_matches('0')),
    }
}

fn heading(table: &str) -> String {
    let mut letters = table.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(kind: KeyKind, value: &str) -> Setting {
        Setting {
            path: "bottleneck.rate".into(),
            kind,
            value: value.into(),
            default: "(required)".into(),
            doc: "A key.".into(),
        }
    }

    fn form(kind: KeyKind, value: &str) -> (Form, Vec<String>) {
        let made = control(&setting(kind, value));
        assert!(made.steps.is_empty() == (made.form == Form::Field), "{made:?}");
        (made.form, made.steps)
    }

    #[test]
    fn every_kind_of_key_has_a_control() {
        for (kind, value) in [
            (KeyKind::Count(1, 100), "3"),
            (KeyKind::Number(0.0, 1.0), "0.5"),
            (KeyKind::Time, "20 ms"),
            (KeyKind::Rate, "100 Mbit/s"),
            (KeyKind::Bytes, "38 B"),
            (KeyKind::Size, "10 packets"),
            (KeyKind::Other("a size, a time, \"2 bdp\" or \"unlimited\""), "1 bdp"),
            (KeyKind::Other("a share such as \"10 %\""), "10 %"),
        ] {
            let (form, steps) = form(kind, value);
            assert_eq!(form, Form::Slider, "{kind:?}");
            assert!(steps.len() > 10 && steps.contains(&value.to_string()), "{steps:?}");
        }
        assert_eq!(form(KeyKind::Switch, "true").0, Form::Choice);
        let words = KeyKind::Word(&["full", "half"]);
        assert_eq!(form(words, "half"), (Form::Choice, vec!["full".into(), "half".into()]));
        assert!(form(KeyKind::Discipline, "codel").1.contains(&"pie".to_string()));
        for (kind, value) in [
            (KeyKind::Text, "s1"),
            (KeyKind::Discipline, "{ codel = { ecn = true } }"),
            (KeyKind::Other("a list of times"), "[\"5 ms\", \"90 ms\"]"),
            (KeyKind::Other("a size or \"unlimited\""), "unlimited"),
            (KeyKind::Tables("flow"), "[]"),
        ] {
            assert_eq!(form(kind, value), (Form::Field, Vec::new()), "{kind:?}");
        }
    }

    #[test]
    fn headings_follow_the_tables() {
        for (path, heading) in [
            ("duration", "Run"),
            ("bottleneck.rate", "Network"),
            ("flow.2.start", "Flow 2"),
            ("flow.02.start", "Flow 2"),
            ("transport.packet", "Transport"),
            ("options.xcp.alpha", "Options xcp"),
            ("expect.1.min", "Expectations"),
        ] {
            assert_eq!(section(path), heading);
        }
    }

    #[test]
    fn a_long_scenario_shows_what_was_set_and_lists_the_rest() {
        let at =
            |n: usize| Setting { path: format!("flow.{n}.start"), ..setting(KeyKind::Time, "1 s") };
        let mut given: Vec<Setting> = (1..=400).map(at).collect();
        given.push(Setting { path: "law".into(), ..setting(KeyKind::Other("laws"), "xcp") });
        let settings = Settings { given, open: vec![at(500)], left_out: 7 };
        let made = Controls::of(&settings, &[("flow.399.start".into(), "1 s".into())]);
        assert_eq!((made.shown.len(), made.open.len()), (MOST + 1, 400 - MOST - 1 + 1));
        assert_eq!(made.left_out, 7);
        assert_eq!(made.shown.last().map(|one| one.path.as_str()), Some("flow.399.start"));
    }

    #[test]
    fn every_set_value_has_a_control() {
        let path = "bottleneck.loss.random".to_string();
        let loss = Setting { path, ..setting(KeyKind::Other("a value"), "0.01") };
        let settings = Settings {
            given: vec![setting(KeyKind::Rate, "1 Mbit/s"), loss],
            ..Settings::default()
        };
        let set = [
            ("topology.bottleneck.rate", "1 Mbit/s"),
            ("flow.*.start", "1 s"),
            ("bottleneck.loss", "{ random = 0.01 }"),
        ];
        let set = set.map(|(path, value)| (path.to_string(), value.to_string()));
        let made = Controls::of(&settings, &set).shown;
        let shown: Vec<_> = made.iter().map(|one| (&*one.path, one.set.as_deref())).collect();
        assert_eq!(
            shown,
            [
                ("bottleneck.rate", Some("topology.bottleneck.rate")),
                ("bottleneck.loss", Some("bottleneck.loss")),
                ("bottleneck.loss.random", None),
                ("flow.*.start", Some("flow.*.start")),
            ]
        );
    }

    #[test]
    fn a_control_says_what_is_allowed() {
        let made = control(&setting(KeyKind::Time, "1 s"));
        assert_eq!(made.about, "A key. Allowed: a time such as \"50 ms\". Default: required.");
    }
}
