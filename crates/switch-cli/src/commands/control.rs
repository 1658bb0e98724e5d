//! `ratewire-switch drain`, `undrain` and `reload`: commands to a running switch.

use std::path::{Path, PathBuf};

use ratewire_command_line::{Exit, print, refuse, with_causes};
use ratewire_switch::config::Config;
use ratewire_switch::daemon::{Command, send};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The path that `control` has in the switch's switch.toml, if not in that of this folder
    #[arg(long, value_name = "PATH")]
    at: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct MemberArgs {
    /// The member's name
    member: String,
    #[command(flatten)]
    at: Args,
}

pub(super) fn drain(args: &MemberArgs) -> Exit {
    tell_switch(&args.at, &Command::Drain(args.member.clone()))
}

pub(super) fn undrain(args: &MemberArgs) -> Exit {
    tell_switch(&args.at, &Command::Undrain(args.member.clone()))
}

pub(super) fn reload(args: &Args) -> Exit {
    tell_switch(args, &Command::Reload)
}

fn tell_switch(args: &Args, command: &Command) -> Exit {
    let path = match path(args) {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    match send(&path, command) {
        Ok(done) => print(&format!("{done}\n")),
        Err(error) => {
            print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
            Exit::Unable
        }
    }
}

/// The path of the socket.
fn path(args: &Args) -> Result<PathBuf, Exit> {
    if let Some(path) = &args.at {
        return Ok(path.clone());
    }
    let config = Config::read(Path::new("switch.toml")).map_err(|error| refuse(&error))?;
    config.control.ok_or_else(|| {
        let help = "add control = \"switch.sock\", and start the switch again";
        print_stderr!("ratewire: the switch.toml has no key `control`\n  help: {help}");
        Exit::Wrong
    })
}
