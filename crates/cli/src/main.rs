//! The `ratewire` command.

// The standard print macros panic if the reader has closed the pipe. `print_stderr!` and `print` do
// not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate ratewire_command_line;

mod arguments;
mod commands;
mod interrupt;
mod memory;
mod output;
mod place;
mod progress;
mod terminal;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use ratewire_command_line::Common;

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
  1  an expectation does not hold (check, reproduce)
  2  the command line or a scenario is wrong
  3  a file cannot be read or written: it is missing, or a folder
  4  a run failed: a law of one's own broke its contract, which the message
     says, or Ratewire has a bug: please report it
  5  the kernel lacks something that live or the emulated world needs,
     for all laws or for some; or a program that a command runs is missing
  6  an emulated run is not reliable: packets were late or lost, hosts
     seldom got a processor, or flows failed; a message says which
  7  a run was ended because it used too much memory
  130  Ctrl-C ended the runs; results are partial

ratewire shell ends with the exit code of the shell; ratewire groups and
ratewire switch end with those of the programs that they run.";

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
    /// Group communication: run a daemon, chat in groups, load a daemon (runs ratewire-groups)
    #[command(disable_help_flag = true)]
    Groups(commands::programs::Args),
    /// Spread one connection of a client over many servers (runs ratewire-switch)
    #[command(disable_help_flag = true)]
    Switch(commands::programs::Args),
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
    #[command(flatten)]
    Common(Common),
}

fn main() -> ExitCode {
    let cli: Cli = ratewire_command_line::parse();
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
        Command::Groups(args) => commands::programs::run("ratewire-groups", &args),
        Command::Switch(args) => commands::programs::run("ratewire-switch", &args),
        #[cfg(feature = "live")]
        Command::Live(args) => commands::live::live(&args),
        Command::Doctor(args) => commands::doctor::examine(&args),
        #[cfg(not(feature = "live"))]
        Command::Live { .. } => {
            print_stderr!(
                "ratewire: this command was built without laws in the kernel\n  \
                 help: `make live` builds it with them; docs/how-to/kernel-laws.md says how they are used"
            );
            ratewire_command_line::Exit::Wrong
        }
        Command::Common(common) => common.run(Cli::command(), &commands::generate::pages()),
    };
    exit.into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;
    use ratewire_command_line::documented::commands_of;

    #[test]
    fn commands_in_the_documentation_are_commands() {
        let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let found = commands_of(&super::Cli::command(), repository);
        assert!(found.mistakes.is_empty(), "{}", found.mistakes.join("\n"));
        assert!(found.count > 50, "{} commands found", found.count);
    }
}
