//! A queue discipline outside the workspace's crates, by its name in scenarios.

use std::io;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, Options};
use ratewire_net::queue::{
    Arrival, Discipline, DisciplineInfo, DisciplineSet, NamedDiscipline, Treatment, option,
};
use ratewire_scenario::{Loader, Scenario, ScenarioError};
use ratewire_sim::record::NoRecorder;
use ratewire_units::Bytes;

use crate::common::{dumbbell, flow};

/// Drops packets that find `most` or more waiting.
#[derive(Clone, Debug)]
struct Short {
    most: u32,
}

impl NamedDiscipline for Short {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "short",
        title: "Short",
        summary: "Drops packets that find too many waiting",
        explanation: "Known limits: it is a toy.",
        example: "discipline = { short = { most = 5 } }",
        options: &[option("most", OptionKind::Count(1, 100), "5", "Packets that may wait.")],
    };

    fn from_options(options: &Options, _: Bytes) -> Result<Short, OptionError> {
        Ok(Short { most: options.count("most") as u32 })
    }
}

impl Discipline for Short {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn FnMut() -> f64) -> Treatment {
        if arrival.backlog.packets < self.most { Treatment::Pass } else { Treatment::Drop }
    }
}

fn parse(discipline: &str) -> Result<Scenario, ScenarioError> {
    let mut disciplines = DisciplineSet::default();
    disciplines.register::<Short>().expect("a name of its own");
    let delay = "delay = \"20 ms\"";
    let text = dumbbell(flow()).replace(delay, &format!("{delay}, discipline = {discipline}"));
    let no_files = |_: &str| Err(io::ErrorKind::NotFound.into());
    Loader::from(&disciplines).parse("own.toml", &text.replace("\"xcp\"", "\"cubic\""), &no_files)
}

/// Most packets that waited at the bottleneck.
fn peak(scenario: &Scenario) -> u32 {
    let setup = scenario.setup(None, None).unwrap_or_else(|all| panic!("{all}"));
    let bottleneck = scenario.bottleneck.expect("a bottleneck");
    let outcome = ratewire_sim::run(&setup, &mut NoRecorder).expect("a run");
    outcome.links[bottleneck.index()].queue_packets_max
}

#[test]
fn a_queue_is_as_short_as_its_option_says() {
    let scenario = |text| parse(text).unwrap_or_else(|all| panic!("{all}"));
    assert_eq!(peak(&scenario("\"short\"")), 5);
    let longer = scenario("{ short = { most = 9 } }");
    assert_eq!(peak(&longer), 9);
    // A scenario that is read again knows the discipline still.
    let value = |path: &str, value: &str| [(path.to_string(), value.to_string())];
    let set = longer.with_overrides(&value("bottleneck.discipline.short.most", "7"));
    assert_eq!(peak(&set.unwrap_or_else(|all| panic!("{all}"))), 7);
    let other = longer.with_overrides(&value("bottleneck.discipline", "drop-tail"));
    assert!(peak(&other.unwrap_or_else(|all| panic!("{all}"))) > 9);
}

#[test]
fn mistakes_are_reported_as_of_other_disciplines() {
    let known: Vec<&str> = ratewire_net::queue::list().iter().map(|info| info.name).collect();
    let known = format!("known: {}, short", known.join(", "));
    for (discipline, message) in [
        ("\"shrot\"", "did you mean `short`?"),
        ("\"unheard-of\"", &known),
        ("{ short = { mots = 3 } }", "did you mean `most`?"),
        ("{ short = { most = 0 } }", "allowed: a whole number from 1 to 100"),
        ("{ short = { most = \"few\" } }", "`most` cannot be \"few\""),
        ("{ short = 3 }", "`discipline` cannot be the number 3"),
    ] {
        let said = parse(discipline).expect_err(discipline).to_string();
        assert!(said.contains(message), "{discipline}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{discipline}: {said}");
    }
    let unknown = dumbbell(flow()).replace("20 ms\"", "20 ms\", discipline = \"short\"");
    let unknown = Scenario::parse("a.toml", &unknown, &|_| Err(io::ErrorKind::NotFound.into()));
    let said = unknown.expect_err("no such discipline").to_string();
    assert!(said.contains("`discipline` cannot be \"short\""), "{said}");
}
