//! `ratewire check-law`: whether a law keeps the rules of every law, and its own promises.
//!
//! This process does not load the law, which may end whoever does. Each check has a process of its
//! own, and counts only if that process prints its result in time.

use std::process::{ExitStatus, Stdio};

use ratewire::laws::LawSet;
use ratewire::{LawCheck, load_law};
use ratewire_command_line::{Exit, print};
use ratewire_scenario::is_law_file;
use ratewire_units::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::output::fail;

/// Bytes that are kept of what a process prints: its last ones.
const KEPT: usize = 64 << 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The law: a file such as ./mylaw.so, or a law that `ratewire laws` lists
    law: String,
    /// Seed of the events that the law gets
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time after which a check has failed: a function of the law may never return
    #[arg(long, default_value = "10 min", conflicts_with = "only")]
    deadline: Duration,
    /// Do this check alone, in this process
    #[arg(long, value_name = "CHECK", value_parser = check)]
    only: Option<LawCheck>,
    /// Leave the check of `--only` out if the law does not promise what it checks
    #[arg(long, requires = "only")]
    if_promised: bool,
}

fn check(name: &str) -> Result<LawCheck, String> {
    let all = LawCheck::all();
    let names = || all.iter().map(|check| check.name).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|check| check.name == name);
    found.copied().ok_or_else(|| format!("the checks are {}", names()))
}

pub(crate) fn check_law(args: &Args) -> Exit {
    match &args.only {
        Some(check) => check_here(args, check),
        None => check_apart(args),
    }
}

/// Start of the line of a check that the law has passed, or that it does not promise.
fn passed(check: &LawCheck) -> String {
    format!("pass  {:13}  ", check.name)
}

fn left_out(check: &LawCheck) -> String {
    format!("  -   {:13}  not promised", check.name)
}

/// Does a check in this process.
fn check_here(args: &Args, check: &LawCheck) -> Exit {
    let laws = if is_law_file(&args.law) { load_law(&args.law) } else { Ok(LawSet::default()) };
    let due = laws.and_then(|laws| check.is_due(&laws, &args.law).map(|is_due| (laws, is_due)));
    let (laws, is_due) = match due {
        Ok(due) => due,
        Err(wrong) => return fail(&wrong),
    };
    if args.if_promised && !is_due {
        return print(&format!("{}\n", left_out(check)));
    }
    match check.check(&laws, &args.law, args.seed) {
        Ok(done) => print(&format!("{}{}: {done}\n", passed(check), check.about)),
        Err(wrong) => {
            print_stderr!("{wrong}");
            Exit::NotMet
        }
    }
}

/// Does each check in a process of its own.
fn check_apart(args: &Args) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            print_stderr!("ratewire: cannot start the asynchronous runtime: {error}");
            return Exit::Unable;
        }
    };
    let mut exit = Exit::Done;
    for check in LawCheck::all() {
        let line = match apart(args, check, &runtime) {
            Ok(line) => line + "\n",
            Err(NotPassed::Refused(code, said)) => {
                print_stderr!("{}", said.trim_end());
                return code;
            }
            Err(NotPassed::Failed(why)) => {
                exit = Exit::NotMet;
                format!("FAIL  {:13}  {}\n{why}\n", check.name, check.about)
            }
        };
        exit = exit.max(print(&line));
    }
    exit
}

/// A check that was not passed.
enum NotPassed {
    /// There is no such law, or it cannot be loaded: what was said.
    Refused(Exit, String),
    /// Why, in lines.
    Failed(String),
}

/// Does a check in a process of its own, which the law may crash or end. Returns the line that the
/// process has printed.
fn apart(args: &Args, check: &LawCheck, runtime: &Runtime) -> Result<String, NotPassed> {
    let seed = args.seed.to_string();
    let again =
        format!("      again: ratewire check-law {} --only {} --seed {seed}", args.law, check.name);
    let failed = |lines: &str| {
        let lines = lines.lines().filter(|line| !line.is_empty() && !line.starts_with("note: "));
        let lines: String = lines.map(|line| format!("      {line}\n")).collect();
        NotPassed::Failed(lines + &again)
    };
    let program = std::env::current_exe();
    let mut command = Command::new(program.map_err(|e| failed(&format!("no program: {e}")))?);
    command.args(["check-law", &args.law, "--only", check.name, "--if-promised", "--seed", &seed]);
    let waited = runtime.block_on(async { timeout(args.deadline.to_std(), ended(command)).await });
    let (status, out, said) = match waited {
        Ok(done) => done.map_err(|e| failed(&format!("cannot start a process: {e}")))?,
        Err(_) => {
            let late = format!(
                "not over after {}: a function of the law may never return; --deadline gives \
                 checks more time",
                args.deadline
            );
            return Err(failed(&late));
        }
    };
    let starts = [passed(check), left_out(check)];
    // The law may have printed the beginning of the line.
    let result = starts.iter().find_map(|start| out[out.find(start)?..].lines().next());
    let is_refusal = said.starts_with("ratewire: ");
    match (status.code(), result) {
        (Some(0), Some(line)) => Ok(line.to_string()),
        (Some(code), _) if code == Exit::Wrong as i32 && is_refusal => {
            Err(NotPassed::Refused(Exit::Wrong, said))
        }
        (Some(code), _) if code == Exit::File as i32 && is_refusal => {
            Err(NotPassed::Refused(Exit::File, said))
        }
        (Some(_), _) if !said.is_empty() && !status.success() => Err(failed(&said)),
        (Some(_), _) => Err(failed(&format!(
            "{said}\nthe process ended before the check was over ({status}): a law must not end it"
        ))),
        (None, _) => Err(failed(&format!("{said}\n{status}"))),
    }
}

/// Runs a command to its end: its status, and the last of what it printed on both streams. The
/// process ends with the future.
async fn ended(mut command: Command) -> std::io::Result<(ExitStatus, String, String)> {
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).kill_on_drop(true);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let streams = (last(child.stdout.take()), last(child.stderr.take()));
    let (status, out, said) = tokio::join!(child.wait(), streams.0, streams.1);
    Ok((status?, out, said))
}

/// The last bytes of a stream.
async fn last(stream: Option<impl AsyncRead + Unpin>) -> String {
    let (Some(mut stream), mut all) = (stream, Vec::new()) else { return String::new() };
    // A stream that fails has ended.
    while stream.read_buf(&mut all).await.is_ok_and(|read| read > 0) {
        if all.len() > 2 * KEPT {
            all.drain(..all.len() - KEPT);
        }
    }
    String::from_utf8_lossy(&all[all.len().saturating_sub(KEPT)..]).into_owned()
}
