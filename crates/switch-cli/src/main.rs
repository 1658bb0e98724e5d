//! The Anypoint switch's program, `ratewire-switch`. The command `ratewire switch` runs it.

// The standard print macros panic if the reader has closed the pipe. `print_stderr!` and `print` do
// not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate ratewire_command_line;

mod commands;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

// Faster than the C library's where many small buffers come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Spread one connection of a client over many servers, frame by frame.
#[derive(Parser)]
#[command(name = "ratewire-switch", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

// Each line fits a narrow terminal, because clap does not wrap these lines.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  the command line or a switch.toml is wrong
  3  a file cannot be read or written: it is missing, or a folder
  5  the switch cannot be reached, or the system lacks what it needs";

fn main() -> ExitCode {
    let cli: Cli = ratewire_command_line::parse();
    commands::run(&cli.command, Cli::command()).into()
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
        assert!(found.count > 10, "{} commands found", found.count);
    }
}
