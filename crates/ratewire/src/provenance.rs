//! What made a run: its scenario with all values set, its files, its law, seed and world.

use ratewire_report::World;
use ratewire_scenario::Scenario;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What made a run.
///
/// Runs with equal digests are runs of equal experiments. Laws of a program
/// ([`Experiment::register`](crate::Experiment::register)) count by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// SHA-256 of all that determines the run, in hexadecimal digits. The version of Ratewire does
    /// not count.
    pub digest: String,
    /// The scenario's name.
    pub scenario: String,
    /// Law of the run.
    pub law: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// World of the run.
    pub world: World,
    /// Values set in place of the scenario's own.
    pub set: Vec<SetValue>,
    /// Files that the scenario names.
    pub files: Vec<FileDigest>,
    /// The scenario with all values set, as TOML.
    #[serde(skip)]
    pub effective: String,
}

/// A value set in place of the scenario's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetValue {
    /// Path of the key: `bottleneck.rate`.
    pub key: String,
    /// The value, as it was given.
    pub value: String,
}

/// A file that a scenario names, and its content's digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileDigest {
    /// The file's name, as the scenario has it.
    pub name: String,
    /// SHA-256 of the content, in hexadecimal digits, as `sha256sum` prints it.
    pub sha256: String,
}

/// What made all runs of an experiment, as in `summary.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExperimentRecord {
    /// [`Experiment::digest`](crate::Experiment::digest).
    pub digest: String,
    /// Values set in place of the scenario's own.
    pub set: Vec<SetValue>,
    /// Files that the scenario names.
    pub files: Vec<FileDigest>,
}

/// `run.json`.
#[derive(Serialize)]
struct RunFile<'a> {
    #[serde(flatten)]
    made: &'a Provenance,
    /// The scenario's file.
    file: &'a str,
    /// The command line; empty if a program ran the experiment.
    command: &'a [String],
}

/// What made a run, as the files in its folder say it.
#[derive(Clone, Debug)]
pub(crate) struct OriginFiles {
    /// Name of the run's folder: `xcp-seed-1`.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only folders of results have it")
    )]
    pub(crate) folder: String,
    /// Text of `run.json`.
    pub(crate) run: String,
    /// Text of `scenario.toml`.
    pub(crate) scenario: String,
}

/// The experiment in the metadata of a Parquet file.
#[derive(Serialize)]
struct Metadata<'a> {
    #[serde(flatten)]
    made: &'a Provenance,
    effective: &'a str,
}

/// First line of `scenario.toml`.
pub(crate) const EFFECTIVE_HEAD: &str = "# The scenario of one run, written by Ratewire ";

impl Provenance {
    pub(crate) fn of(scenario: &Scenario, law: &str, seed: u64, world: World) -> Provenance {
        let (effective, files) = (scenario.effective(law, seed), files(scenario));
        Provenance {
            digest: digest(&scenario.effective_by_name(law, seed), &files, world),
            scenario: scenario.name.clone(),
            law: law.to_string(),
            seed,
            world,
            set: set(scenario),
            files,
            effective,
        }
    }

    /// The text of `run.json`.
    pub(crate) fn run_file(&self, file: &str, command: &[String]) -> String {
        ratewire_report::json(&RunFile { made: self, file, command })
    }

    /// The text of `scenario.toml`.
    pub(crate) fn scenario_file(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let set: String = self.set.iter().map(|set| format!("# Set: {}\n", set.line())).collect();
        format!(
            "{EFFECTIVE_HEAD}{version}.\n# Files that it names are relative to the folder of the \
             scenario's file, which run.json names.\n{set}\n{}",
            self.effective
        )
    }

    /// The experiment for the metadata of Parquet files.
    pub(crate) fn metadata(&self) -> String {
        ratewire_report::json(&Metadata { made: self, effective: &self.effective })
    }
}

impl SetValue {
    /// The value as a command line has it, on one line.
    fn line(&self) -> String {
        ratewire_units::text::legible(&format!("{}={}", self.key, self.value))
    }
}

impl ExperimentRecord {
    /// The record of an experiment whose runs have these digests.
    pub(crate) fn of<'a>(
        scenario: &Scenario,
        runs: impl Iterator<Item = &'a str>,
    ) -> ExperimentRecord {
        let mut hash = Sha256::new();
        runs.for_each(|digest| hash.update(digest));
        ExperimentRecord {
            digest: format!("{:x}", hash.finalize()),
            set: set(scenario),
            files: files(scenario),
        }
    }
}

/// [`Provenance::digest`] of a run of a scenario with these files.
pub(crate) fn digest(effective: &str, files: &[FileDigest], world: World) -> String {
    let files: Vec<_> = files.iter().map(|file| (&file.name, &file.sha256)).collect();
    sha256(&serde_json::to_vec(&(effective, files, world)).unwrap_or_default())
}

fn set(scenario: &Scenario) -> Vec<SetValue> {
    scenario.values().into_iter().map(|(key, value)| SetValue { key, value }).collect()
}

/// Digests of the files that a scenario names.
pub(crate) fn files(scenario: &Scenario) -> Vec<FileDigest> {
    let digest = |(name, text): (&str, &str)| FileDigest {
        name: name.to_string(),
        sha256: sha256(text.as_bytes()),
    };
    // Where the file of a law is makes no difference to a run.
    let laws = scenario
        .law_files()
        .map(|file| FileDigest { name: file.law.to_string(), sha256: file.sha256.clone() });
    scenario.files().map(digest).chain(laws).collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
                        bottleneck = { trace = 'm', delay = '10 ms' }\n\
                        [[flow]]\nfrom = 's1'\nto = 'd1'\n";

    fn scenario(trace: &str, text: &str) -> Scenario {
        Scenario::parse("a.toml", text, &|_| Ok(trace.to_string())).expect("a scenario")
    }

    #[test]
    fn the_digest_is_of_all_that_determines_a_run_and_of_no_more() {
        let own = scenario("1\n", TEXT);
        let made = Provenance::of(&own, "xcp", 1, World::Simulate);
        // As `printf '1\n' | sha256sum` prints it.
        let sha256 = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865";
        assert_eq!(made.files, [FileDigest { name: "m".into(), sha256: sha256.into() }]);
        let digest = |scenario: &Scenario, law, seed, world| {
            Provenance::of(scenario, law, seed, world).digest
        };
        let set = |key: &str, value: &str| {
            own.with_overrides(&[(key.to_string(), value.to_string())]).expect("a scenario")
        };
        let commented = scenario("1\n", &format!("# A remark.\n{TEXT}"));
        for same in [&own, &commented, &set("seed", "9"), &set("law", "cubic")] {
            assert_eq!(digest(same, "xcp", 1, World::Simulate), made.digest);
        }
        for other in [
            digest(&own, "cubic", 1, World::Simulate),
            digest(&own, "xcp", 2, World::Simulate),
            digest(&own, "xcp", 1, World::Emulate),
            digest(&set("bottleneck.delay", "11 ms"), "xcp", 1, World::Simulate),
            digest(&scenario("2\n", TEXT), "xcp", 1, World::Simulate),
        ] {
            assert_ne!(other, made.digest);
        }
    }

    #[test]
    fn the_file_of_a_run_has_what_made_it_and_how() {
        let own = scenario("1\n", TEXT);
        let own = own.with_overrides(&[("bottleneck.delay".into(), "11 ms".into())]).expect("set");
        let made = Provenance::of(&own, "xcp", 1, World::Simulate);
        let text = made.run_file("a.toml", &["ratewire".into(), "run".into()]);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let set = serde_json::json!([{ "key": "bottleneck.delay", "value": "11 ms" }]);
        assert_eq!(
            (&json["set"], &json["seed"], &json["world"]),
            (&set, &1.into(), &"simulate".into())
        );
        assert_eq!(json["command"], serde_json::json!(["ratewire", "run"]));
        assert!(text.starts_with(ratewire_report::JSON_HEAD) && !text.contains("effective"));
        let scenario = made.scenario_file();
        assert!(scenario.starts_with(EFFECTIVE_HEAD), "{scenario}");
        assert!(scenario.contains("\n# Set: bottleneck.delay=11 ms\n"), "{scenario}");
        assert!(
            scenario.ends_with(&made.effective) && made.effective.contains("delay = \"11 ms\"")
        );
    }
}
