//! The `ratewire` command.

// The standard print macros panic if the reader has closed the pipe. `tell!` and `output::print` do
// not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// Writes a line to standard error.
///
/// A closed pipe, as after `head`, is no error: the work goes on and ends as usual. Control
/// characters in names are made visible.
macro_rules! tell {
    ($($line:tt)*) => {{
        use std::io::Write;
        let said = ratewire_units::text::legible_lines(&format!($($line)*));
        writeln!(std::io::stderr(), "{said}").ok()
    }};
}

mod arguments;
mod commands;
#[cfg(test)]
mod documented;
mod exit;
mod interrupt;
mod memory;
mod output;
mod place;
mod progress;
mod terminal;
mod watch;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use ratewire_scenario::nearest;

// Faster than the C library's: 10 % less time a packet with 10,000 flows.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Congestion control laws, simulated and compared.
#[derive(Parser)]
#[command(name = "ratewire", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

// Each line fits a narrow terminal, because clap does not wrap these lines.
const EXIT_CODES: &str = "\
Exit codes:
  0  done; all expectations hold
  1  an expectation does not hold (check, reproduce), or a daemon has not
     kept a promise about messages (groups flood)
  2  the command line or a scenario is wrong
  3  a file cannot be read or written: it is missing, or a folder
  4  a run failed: a law of one's own broke its contract, which the message
     says, or Ratewire has a bug: please report it
  5  the kernel lacks something that live or the emulated world needs,
     for all laws or for some; or no daemon of groups serves the client
  6  an emulated run is not reliable: packets were late or lost,
     or flows failed; a message says which
  7  a run was ended because it used too much memory
  130  Ctrl-C ended the runs; results are partial

ratewire shell ends with the exit code of the shell.";

#[derive(Subcommand)]
enum Command {
    /// Run a scenario, print the results of each law, and write the report
    Run(commands::run::Args),
    /// Open a shell at a host of a scenario's network, in real time (needs root)
    Shell(commands::shell::Args),
    /// Compare laws over several seeds: means, confidence intervals, and which differences are
    /// noise
    Compare(commands::compare::Args),
    /// Run a scenario over a grid of values: any key, laws and seeds; goes on after a stop
    Sweep(commands::sweep::Args),
    /// Open a page on which every value of a scenario can be changed, and is run and drawn at once
    Explore(commands::explore::Args),
    /// Draw a figure of results for a paper, or list the figures that there are
    Plot(commands::plot::Args),
    /// Run scenarios and check them against their expectations
    Check(commands::check::Args),
    /// Run the figures of papers, and check them against the papers' claims
    Reproduce(commands::reproduce::Args),
    /// List the laws
    Laws(commands::lists::LawsArgs),
    /// List the queue disciplines
    Disciplines(commands::lists::DisciplinesArgs),
    /// List the topologies
    Topologies,
    /// Explain a law or a queue discipline, with its equations, sources and options
    Explain(commands::lists::ExplainArgs),
    /// Write a folder with a law of your own to begin with, in C or in Rust
    NewLaw(commands::new_law::Args),
    /// Check that a law keeps the rules of every law, and its own promises
    CheckLaw(commands::check_law::Args),
    /// Show how scenarios are written
    Scenario(commands::lists::ScenarioArgs),
    /// Group communication: check its configuration, chat in groups, load a daemon
    Groups(commands::groups::Args),
    /// Spread one connection of a client over many servers, frame by frame
    Switch(commands::switch::Args),
    /// Run laws in this machine's kernel, as a host or a router
    #[cfg(feature = "live")]
    Live(commands::live::Args),
    /// Check whether this machine can emulate, and whether its kernel can run laws; show remedies
    Doctor(commands::doctor::Args),
    /// Not in this build
    #[cfg(not(feature = "live"))]
    #[command(hide = true)]
    Live {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _args: Vec<String>,
    },
    /// Print completions for a shell
    Completions {
        /// Name of the shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages, completions and pages of the book
    #[command(hide = true)]
    Generate(commands::generate::Args),
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|wrong| suggesting(wrong).exit());
    let exit = match cli.command {
        Command::Run(args) => commands::run::run(&args),
        Command::Shell(args) => return commands::shell::shell(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Sweep(args) => commands::sweep::sweep(&args),
        Command::Explore(args) => commands::explore::explore(&args),
        Command::Plot(args) => commands::plot::plot(&args),
        Command::Check(args) => commands::check::check(&args),
        Command::Reproduce(args) => commands::reproduce::reproduce(&args),
        Command::Laws(args) => commands::lists::laws(&args),
        Command::Disciplines(args) => commands::lists::disciplines(&args),
        Command::Topologies => commands::lists::topologies(),
        Command::Explain(args) => commands::lists::explain(&args),
        Command::NewLaw(args) => commands::new_law::new_law(&args),
        Command::CheckLaw(args) => commands::check_law::check_law(&args),
        Command::Scenario(args) => commands::lists::scenario(&args),
        Command::Groups(args) => commands::groups::groups(&args),
        Command::Switch(args) => commands::switch::switch(&args),
        #[cfg(feature = "live")]
        Command::Live(args) => commands::live::live(&args),
        Command::Doctor(args) => commands::doctor::examine(&args),
        #[cfg(not(feature = "live"))]
        Command::Live { .. } => {
            tell!(
                "ratewire: this command was built without laws in the kernel\n  \
                 help: `make live` builds it with them; docs/how-to/kernel-laws.md says how they are used"
            );
            exit::Exit::Wrong
        }
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "ratewire", &mut out);
            output::print(&String::from_utf8_lossy(&out))
        }
        Command::Generate(args) => commands::generate::generate(Cli::command(), &args),
    };
    exit.into()
}

/// Adds the command that was probably meant: clap finds no similarity between `rnu` and `run`.
fn suggesting(mut wrong: clap::Error) -> clap::Error {
    let known = Cli::command();
    let known = known.get_subcommands().filter(|known| !known.is_hide_set());
    if wrong.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(ContextValue::String(found)) = wrong.get(ContextKind::InvalidSubcommand)
        && let Some(near) = nearest(found, known.map(clap::Command::get_name))
    {
        wrong.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    wrong
}
