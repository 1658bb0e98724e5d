//! Arguments that several commands take.

use std::convert::Infallible;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ratewire::{Experiment, World, expand_values};
use ratewire_command_line::{Exit, whole_number};
use ratewire_report::compare::FigureName;
use ratewire_units::{Duration, Time};

use crate::output::fail;

/// Parser of the worlds' names.
pub(crate) fn worlds() -> impl TypedValueParser<Value = World> {
    let about = |world| match world {
        World::Emulate => {
            "In real time: kernels and programs in network namespaces, over a modelled network"
        }
        _ => "In virtual time, with a model of hosts and network",
    };
    let values = World::ALL.map(|world| PossibleValue::new(world.name()).help(about(world)));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<World>())
}

/// What is measured.
#[derive(clap::Args)]
pub(crate) struct MeasureArgs {
    /// Figures in place of the usual ones: queue/hop2,goodput/s1-d1,jain
    #[arg(long, value_name = "FIGURE", value_parser = FigureName::list)]
    figure: Vec<Listed<FigureName>>,
    /// The part of each run that figures are about, in place of the scenario's own: 5s..30s, or
    /// 5s.. to its end. Of flows that complete, those that start in it count
    #[arg(long, value_name = "FROM..TO")]
    during: Option<String>,
}

/// The values of an option that takes several at once.
type Listed<T> = Vec<T>;

impl MeasureArgs {
    /// The experiment with these figures of this part, or prints what is wrong.
    pub(crate) fn apply(&self, experiment: Experiment) -> Result<Experiment, Exit> {
        let experiment = experiment.figures(self.figure.iter().flatten().cloned());
        match &self.during {
            Some(during) => experiment.during(during).map_err(|wrong| fail(&wrong)),
            None => Ok(experiment),
        }
    }
}

/// The words of the command line, as `run.json` notes them.
pub(crate) fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Parses one name of a list; spaces after commas are allowed.
pub(crate) fn listed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_string())
}

/// Parses a part of a run: two times, as `during` of a scenario has them. An end may be left out.
pub(crate) fn times(text: &str) -> Result<(Time, Time), String> {
    let allowed = "allowed: two times such as \"5 s .. 30 s\"";
    let (from, to) = text.split_once("..").ok_or(allowed)?;
    let time = |text: &str| -> Result<Time, String> {
        let since: Duration = text.trim().parse().map_err(|e| format!("{e}; {allowed}"))?;
        Ok(Time::ZERO + since)
    };
    let from = if from.trim().is_empty() { Time::ZERO } else { time(from)? };
    let to = if to.trim().is_empty() { Time::NEVER } else { time(to)? };
    if from < to { Ok((from, to)) } else { Err(format!("the earlier time comes first; {allowed}")) }
}

/// Seeds, in order: `1..5` or `1,2,3`.
#[derive(Clone, Debug)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

/// Parses seeds.
pub(crate) fn seeds(text: &str) -> Result<Seeds, String> {
    let all = expand_values(text)?;
    let seed = |text: &String| whole_number(text, 0..=u64::MAX);
    all.iter().map(seed).collect::<Result<_, _>>().map(Seeds)
}

/// Warning about several seeds for runs in which nothing is random.
pub(crate) const VAIN_SEEDS: &str = "warning: nothing is random in these simulated runs: every seed gives the same results\n  \
     help: `jitter` in [transport], a range as `start`, or arriving traffic makes seeds differ";
