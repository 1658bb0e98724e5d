//! `ratewire groups` and `ratewire switch`: programs of their own, which these commands run.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use ratewire_command_line::Exit;
use ratewire_emulate::find_program;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments of the program; --help lists its commands
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs a program in the place of this one. Returns only if it cannot.
pub(crate) fn run(name: &str, args: &Args) -> Exit {
    let Some(program) = find_program(name) else {
        let target = name.trim_start_matches("ratewire-");
        let own = env::current_exe().unwrap_or_default();
        let folder = own.parent().unwrap_or(&own).display();
        print_stderr!(
            "ratewire: this command runs the program {name}, which is neither in {folder} nor in PATH\n  \
             help: in Ratewire's repository, `make {target}` builds it, and `make install` installs it"
        );
        return Exit::Unable;
    };
    let error = Command::new(&program).args(&args.arguments).exec();
    print_stderr!(
        "ratewire: cannot run {}: {error}\n  help: build or install it again",
        program.display()
    );
    Exit::Unable
}
