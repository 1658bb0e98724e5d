//! Controls of a page, made of a scenario's settings: a slider, a choice, or a field.

mod steps;

use ratewire_scenario::keys::KeyKind;
use ratewire_scenario::{Setting, Settings, whole_path};
use serde::Serialize;

use steps::{Range, steps};

/// Most controls that a page shows at once; further values are listed with the open keys.
const MOST: usize = 150;
/// Most keys that can be searched for.
const MOST_OPEN: usize = 3_000;

/// What the scenario has, as controls, and the keys that can be added.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Controls {
    pub(crate) shown: Vec<Control>,
    pub(crate) open: Vec<OpenKey>,
}

/// A control for one value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Control {
    /// Path as `--set` takes it.
    pub(crate) path: String,
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
    /// Controls for the values that the scenario has. Values in `set` have one in any case.
    pub(crate) fn of(settings: &Settings, set: &[(String, String)]) -> Controls {
        let set: Vec<_> = set.iter().map(|(path, _)| whole_path(path)).collect();
        // Laws have boxes.
        let given = settings.given.iter().filter(|setting| setting.path != "law");
        let mut shown = Vec::new();
        // Keys that the scenario leaves open come first: values without a control may be many.
        let mut open: Vec<OpenKey> = settings.open.iter().map(open_key).collect();
        for setting in given {
            if shown.len() < MOST || set.contains(&whole_path(&setting.path)) {
                shown.push(control(setting));
            } else {
                open.push(open_key(setting));
            }
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
        Controls { shown, open }
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
        KeyKind::Time | KeyKind::Rate | KeyKind::Bytes | KeyKind::Size | KeyKind::Other(_) => {
            (Form::Slider, along(Range::POSITIVE))
        }
        KeyKind::Text | KeyKind::Table(_) | KeyKind::Tables(_) => (Form::Field, Vec::new()),
    };
    // A value that is no step, such as a discipline with options or a list, is written.
    let form = if steps.contains(value) { form } else { Form::Field };
    let steps = if form == Form::Field { Vec::new() } else { steps };
    Control {
        path: setting.path.clone(),
        section: section(&setting.path),
        value: value.clone(),
        steps,
        form,
        about: about(setting),
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
        let settings = Settings { given, open: vec![at(500)] };
        let made = Controls::of(&settings, &[("flow.399.start".into(), "1 s".into())]);
        assert_eq!((made.shown.len(), made.open.len()), (MOST + 1, 400 - MOST - 1 + 1));
        assert_eq!(made.shown.last().map(|one| one.path.as_str()), Some("flow.399.start"));
    }

    #[test]
    fn a_control_says_what_is_allowed() {
        let made = control(&setting(KeyKind::Time, "1 s"));
        assert_eq!(made.about, "A key. Allowed: a time such as \"50 ms\". Default: required.");
    }
}
