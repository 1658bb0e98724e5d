//! `ratewire shell`: a shell at a host of an emulated network.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use ratewire::{Job, World, unknown};
use ratewire_command_line::{Exit, print};
use ratewire_emulate::Shell;
use ratewire_net::spec::NodeId;
use ratewire_report::table;

use super::dry;
use super::load::load;
use super::users::{UserArgs, hold, warn_of_hidden_files};
use crate::memory::MemoryArgs;
use crate::output::{complain, fail};
use crate::terminal::table_options;
use crate::watch;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// The host, by its node's name
    host: String,
    /// Leave out the scenario's own flows and programs
    #[arg(long)]
    alone: bool,
    /// Law, in place of the scenario's own; by default the first of these
    #[arg(long, short)]
    law: Option<String>,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    users: UserArgs,
    /// List the programs that would run beside the shell and their users, but start nothing; needs
    /// no root
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

/// Exit code of the shell, as shells report it.
fn code(status: ExitStatus) -> u8 {
    let of_signal = || status.signal().map(|signal| 128 + signal);
    let code = status.code().or_else(of_signal);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(Exit::Failed as u8)
}

/// Opens the shell, and returns its exit status after the tables are printed; `None` for a dry run.
fn open(args: &Args) -> Result<Option<ExitStatus>, Exit> {
    let taken = args.law.as_ref().map(|_| ("law", "--law"));
    let mut scenario = load(&args.scenario, &args.set, taken.as_slice())?.scenario().clone();
    // Results of expectations would not be shown.
    scenario.expectations.clear();
    scenario.warnings.retain(|warning| !warning.is_of_end);
    complain(&scenario.warnings);
    if let [first, _, ..] = &scenario.laws()[..]
        && args.law.is_none()
    {
        print_stderr!(
            "ratewire: a shell uses the first of several laws, {first:?}; --law chooses another"
        );
    }
    let plan = scenario.plan(args.law.as_deref(), None).map_err(|wrong| {
        complain(&wrong.diagnostics);
        Exit::Wrong
    })?;
    let nodes = &plan.setup.network.nodes;
    let Some(host) = nodes.iter().position(|node| node.name == args.host) else {
        let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        print_stderr!("ratewire: {}", unknown("node", &args.host, &known));
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
        && let Err(why) = ratewire_emulate::check(&plan.setup)
            .and_then(|()| ratewire_emulate::check_machine(&plan.setup, Some(shell)))
    {
        print_stderr!("ratewire: {why}");
        return Err(Exit::Unable);
    }
    complain(&scenario.unmeasured_when_emulated(&plan.law));
    let jobs = [Job::new(&scenario, plan, World::Emulate).with_users(&users)];
    let run = watch::over(&jobs, false, |listener| jobs[0].run_with_shell(shell, listener));
    let run = run.map_err(|error| fail(&error))?;
    let left = run.shell();
    match print(&table::render(&[run.into_report()], &table_options())) {
        Exit::Done => left.map(Some).ok_or(Exit::Failed),
        exit => Err(exit),
    }
}
