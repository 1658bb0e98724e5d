//! `ratewire shell`: a shell at a host of an emulated network.

use std::path::PathBuf;

use ratewire_net::spec::NodeId;
use ratewire_report::table;

use super::run::{fail, load};
use super::{complain, print, table_options, unknown};
use crate::Exit;
use crate::job::{Job, World};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// The host, by its node's name
    host: String,
    /// The law, in place of the scenario's own
    #[arg(long, short)]
    law: Option<String>,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(crate) fn shell(args: &Args) -> Exit {
    let scenario = match load(&args.scenario, &args.set) {
        Ok(scenario) => scenario,
        Err(exit) => return exit,
    };
    complain(&scenario.warnings);
    let plan = match scenario.plan(args.law.as_deref(), None) {
        Ok(plan) => plan,
        Err(wrong) => {
            complain(&wrong);
            return Exit::Wrong;
        }
    };
    complain(&scenario.ignored_options(&plan, ratewire_emulate::ignores));
    let nodes = &plan.setup.network.nodes;
    let Some(host) = nodes.iter().position(|node| node.name == args.host) else {
        let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        tell!("ratewire: {}", unknown("node", &args.host, &known));
        return Exit::Wrong;
    };
    let job = Job { scenario: &scenario, plan, world: World::Emulate, folder: None };
    match job.run_shell(NodeId(host as u32)) {
        Ok(done) => {
            let is_true = done.run.summary.fidelity.as_ref().is_none_or(|fidelity| fidelity.holds);
            match print(&table::render(&[done.run], &table_options())) {
                Exit::Done if !is_true => Exit::Late,
                exit => exit,
            }
        }
        Err(failure) => fail(&failure),
    }
}
