//! Helpers of several tests.
#![allow(dead_code, missing_docs)]

use ratewire_scenario::{Diagnostic, Scenario, ScenarioError};
use ratewire_sim::setup::Setup;

/// A scenario of a dumbbell with one pair and further lines.
pub fn dumbbell(more: &str) -> String {
    format!(
        "duration = \"10 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"20 ms\" }}\n{more}\n"
    )
}

pub fn flow() -> &'static str {
    "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n"
}

/// Reads a scenario with the given files.
pub fn parse_with(text: &str, files: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let loader = |name: &str| {
        let file = files.iter().find(|(known, _)| *known == name);
        file.map(|(_, text)| text.to_string()).ok_or_else(|| std::io::Error::other("no such file"))
    };
    Scenario::parse("test.toml", text, &loader)
}

pub fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    parse_with(text, &[])
}

#[track_caller]
pub fn scenario(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|all| panic!("{all}"))
}

#[track_caller]
pub fn setup(text: &str) -> Setup {
    scenario(text).setup(None, None).unwrap_or_else(|all| panic!("{all}"))
}

/// All diagnostics of a wrong text, as one text.
#[track_caller]
pub fn refused(text: &str) -> String {
    parse(text).expect_err("it should be refused").to_string()
}

/// The warnings of a correct text.
#[track_caller]
pub fn warned(text: &str) -> String {
    shown(&scenario(text).warnings)
}

pub fn shown(diagnostics: &[Diagnostic]) -> String {
    let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    texts.join("\n")
}
