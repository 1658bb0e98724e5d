//! `ratewire shell`: a shell at a host of an emulated network.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use ratewire_emulate::Shell;
use ratewire_net::spec::NodeId;
use ratewire_report::table;

use super::load::load;
use super::run::{can_emulate, fail, tell_ignored};
use super::users::{UserArgs, hold, warn_of_hidden_files};
use super::{complain, dry, print, table_options, unknown};
use crate::Exit;
use crate::job::{Job, World};
use crate::memory::MemoryArgs;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// The host, by its node's name
    host: String,
    /// Without the scenario's own flows and programs
    #[arg(long)]
    alone: bool,
    /// The law, in place of the scenario's own, of which the first is taken
    #[arg(long, short)]
    law: Option<String>,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    users: UserArgs,
    /// List what would run beside the shell, and as whom, and start nothing; needs no root
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

pub(crate) fn shell(args: &Args) -> ExitCode {
    args.memory.watch();
    match open(args) {
        Ok(Some(status)) => ExitCode::from(code(status)),
        Ok(None) => Exit::Done.into(),
        Err(exit) => exit.into(),
    }
}

/// As shells tell it of what they run.
fn code(status: ExitStatus) -> u8 {
    let of_signal = || status.signal().map(|signal| 128 + signal);
    let code = status.code().or_else(of_signal);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(Exit::Failed as u8)
}

/// Opens the shell; how it ended, once the tables are printed. `None` where it was only to be told
/// of.
fn open(args: &Args) -> Result<Option<ExitStatus>, Exit> {
    let taken = args.law.as_ref().map(|_| ("law", "--law"));
    let mut scenario = load(&args.scenario, &args.set, taken.as_slice())?;
    // Nobody sees what the expectations come to.
    scenario.expectations.clear();
    scenario.warnings.retain(|warning| !warning.is_of_end);
    complain(&scenario.warnings);
    if let [first, _, ..] = &scenario.laws()[..]
        && args.law.is_none()
    {
        tell!(
            "ratewire: of several laws a shell takes the first, {first:?}; --law chooses another"
        );
    }
    let plan = scenario.plan(args.law.as_deref(), None).map_err(|wrong| {
        complain(&wrong);
        Exit::Wrong
    })?;
    let nodes = &plan.setup.network.nodes;
    let Some(host) = nodes.iter().position(|node| node.name == args.host) else {
        let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        tell!("ratewire: {}", unknown("node", &args.host, &known));
        return Err(Exit::Wrong);
    };
    let shell = Shell { host: NodeId(host as u32), is_alone: args.alone };
    let users = args.users.users()?;
    let held = if args.alone { Ok(()) } else { hold(&scenario, &users) };
    if args.dry_run {
        let printed = dry::shell(&plan.setup, &args.host, args.alone, &users);
        return match Exit::of([printed, held.err().unwrap_or(Exit::Done)]) {
            Exit::Done => Ok(None),
            exit => Err(exit),
        };
    }
    held?;
    warn_of_hidden_files(&scenario);
    if !args.alone
        && let Err(why) = can_emulate(&plan, Some(shell))
    {
        tell!("ratewire: {why}");
        return Err(Exit::Unable);
    }
    tell_ignored(&scenario, &plan, &mut Vec::new());
    let (plan, world) = (plan.emulated(), World::Emulate);
    let job = Job { scenario: &scenario, plan, world, folder: None, users: Some(&users) };
    let done = job.run_shell(shell).map_err(|failure| fail(&failure))?;
    match print(&table::render(&[done.run], &table_options())) {
        Exit::Done => done.shell.map(Some).ok_or(Exit::Failed),
        exit => Err(exit),
    }
}
