//! `ratewire check-law`: whether a law keeps the rules of every law, and its own promises.

use std::process::{Command, Stdio};

use ratewire::laws::LawSet;
use ratewire::{LawCheck, load_law};
use ratewire_command_line::{Exit, print};
use ratewire_scenario::is_law_file;

use crate::output::fail;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The law: a file such as ./mylaw.so, or a law that `ratewire laws` lists
    law: String,
    /// Seed of the events that the law gets
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Do this check alone, in this process
    #[arg(long, value_name = "CHECK", value_parser = check)]
    only: Option<LawCheck>,
}

fn check(name: &str) -> Result<LawCheck, String> {
    let all = LawCheck::all();
    let names = || all.iter().map(|check| check.name).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|check| check.name == name);
    found.copied().ok_or_else(|| format!("the checks are {}", names()))
}

pub(crate) fn check_law(args: &Args) -> Exit {
    let laws = if is_law_file(&args.law) { load_law(&args.law) } else { Ok(LawSet::default()) };
    let laws = match laws {
        Ok(laws) => laws,
        Err(wrong) => return fail(&wrong),
    };
    let due = |check: &LawCheck| check.is_due(&laws, &args.law);
    if let Some(check) = &args.only {
        return match check.check(&laws, &args.law, args.seed) {
            Ok(done) => print(&format!("{done}\n")),
            Err(wrong) => {
                print_stderr!("{wrong}");
                Exit::NotMet
            }
        };
    }
    let mut exit = Exit::Done;
    for check in LawCheck::all() {
        let line = match due(check) {
            Err(wrong) => return fail(&wrong),
            Ok(false) => format!("  -   {:13}  not promised\n", check.name),
            Ok(true) => match apart(args, check) {
                Ok(done) => format!("pass  {:13}  {}: {done}\n", check.name, check.about),
                Err(wrong) => {
                    exit = Exit::NotMet;
                    format!("FAIL  {:13}  {}\n{wrong}\n", check.name, check.about)
                }
            },
        };
        exit = exit.max(print(&line));
    }
    exit
}

/// Does a check in a process of its own, which the law may crash.
fn apart(args: &Args, check: &LawCheck) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot start a process: {e}"))?;
    let seed = args.seed.to_string();
    let done = Command::new(program)
        .args(["check-law", &args.law, "--only", check.name, "--seed", &seed])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start a process: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).trim().to_string());
    }
    let lines = String::from_utf8_lossy(&done.stderr);
    let lines = lines
        .lines()
        .filter(|line| !line.starts_with("note: "))
        .map(|line| format!("      {line}\n"));
    let again =
        format!("      again: ratewire check-law {} --only {} --seed {seed}", args.law, check.name);
    let crash = match done.status.code() {
        Some(_) => String::new(),
        None => format!("      {}\n", done.status),
    };
    Err(lines.collect::<String>() + &crash + &again)
}
