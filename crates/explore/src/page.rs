//! The page: its HTML, with the style and script of all pages and its own.

use ratewire_report::Sweep;
use ratewire_report::html::{self, LivePage, SweepExtra};
use ratewire_scenario::whole_path;
use serde_json::{Value, json};

use crate::controls::ENTRIES;
use crate::subject::Explored;

const STYLE: &str = include_str!("../assets/explore.css");
const SCRIPT: &str =
    concat!(include_str!("../assets/controls.js"), "\n", include_str!("../assets/explore.js"),);
const BODY: &str = include_str!("../assets/explore.html");
const POINT: &str = include_str!("../assets/point.html");
const POINT_SCRIPT: &str = include_str!("../assets/point.js");

/// The page of a scenario.
pub(crate) fn of_scenario(explored: &Explored) -> String {
    let scenario = explored.experiment.scenario();
    let own = scenario.laws();
    let ticked = if explored.laws.is_empty() { &own } else { &explored.laws };
    // The scenario's laws come first.
    let mut names = own.clone();
    names.extend(explored.laws.iter().cloned());
    names.extend(scenario.law_names());
    let mut listed: Vec<&String> = Vec::new();
    names.iter().for_each(|name| {
        if !listed.contains(&name) {
            listed.push(name);
        }
    });
    let title =
        |name: &String| scenario.known_laws().find(name).map_or("a variant", |law| law.title);
    let laws: Vec<Value> =
        listed.iter().map(|name| json!({ "name": name, "title": title(name) })).collect();
    // A control knows one spelling of its path.
    let given = scenario.settings(ticked, ENTRIES).given;
    let spelt = |(path, value): (String, String)| {
        let whole = whole_path(&path);
        let own = given.iter().find(|setting| whole_path(&setting.path) == whole);
        (own.map_or(path, |setting| setting.path.clone()), value)
    };
    let values: Vec<(String, String)> = explored.values().into_iter().map(spelt).collect();
    let start = json!({
        "title": scenario.name,
        "file": explored.file,
        "about": scenario.description,
        "values": values,
        "laws": ticked,
        "known": laws,
    });
    html::render_live(&LivePage {
        title: &scenario.name,
        style: STYLE,
        body: &BODY.replace("{{start}}", &in_script(&start)),
        script: SCRIPT,
    })
}

/// The page of a sweep.
pub(crate) fn of_sweep(sweep: &Sweep) -> String {
    let extra = SweepExtra { style: STYLE, section: POINT, script: POINT_SCRIPT };
    html::render_sweep_with(sweep, &[], "", &extra)
}

/// JSON that may stand in a `<script>` element.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ratewire::Experiment;

    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        let evil = "</script><script>alert(1)</script>";
        let text = format!(
            "name = '{evil}'\ndescription = '{evil}'\nduration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
             bottleneck = {{ rate = '10 Mbit/s', delay = '10 ms' }}\n[[flow]]\nfrom = 's1'\nto = 'd1'\n"
        );
        let experiment = Experiment::parse("one.toml", &text).expect("a scenario");
        let html = of_scenario(&Explored {
            experiment: experiment.set("description", evil).expect("a value"),
            file: evil.into(),
            laws: vec!["cubic".into()],
            listener: Arc::new(()),
        });
        assert!(!html.contains("<script>alert"));
        let (_, start) = html.split_once("id=\"start\">").expect("the start");
        let start: Value =
            serde_json::from_str(start.split('<').next().expect("an end")).expect("JSON");
        assert_eq!((&start["title"], &start["laws"][0]), (&json!(evil), &json!("cubic")));
        assert_eq!(start["values"], json!([["description", evil]]));
        let known: Vec<&str> = start["known"]
            .as_array()
            .expect("laws")
            .iter()
            .filter_map(|l| l["name"].as_str())
            .collect();
        assert_eq!(known[..3], ["xcp", "cubic", "rcp"]);
        assert_eq!(known.iter().filter(|name| **name == "xcp").count(), 1);
    }

    #[test]
    fn values_are_spelt_as_their_controls() {
        let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
                    bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
        let explored = Explored {
            experiment: Experiment::parse("one.toml", text)
                .and_then(|one| one.set("topology.bottleneck.rate", "5 Mbit/s"))
                .expect("a scenario"),
            file: "one.toml".into(),
            laws: Vec::new(),
            listener: Arc::new(()),
        };
        assert!(of_scenario(&explored).contains(r#"[["bottleneck.rate","5 Mbit/s"]]"#));
    }
}
