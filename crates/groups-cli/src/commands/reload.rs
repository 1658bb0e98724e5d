//! `ratewire-groups reload`: has a running daemon read its `groups.toml` again.

use std::path::PathBuf;

use ratewire_command_line::{Exit, print, refuse, with_causes};
use ratewire_groups::config::Config;
use ratewire_groups::daemon::{ControlError, reload as reload_at};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The groups.toml of the daemon
    #[arg(long, value_name = "FILE", default_value = "groups.toml")]
    config: PathBuf,
    /// Which of the daemons; without a name, the one with an address of this host, or with this
    /// host's name
    #[arg(long)]
    name: Option<String>,
}

pub(super) fn reload(args: &Args) -> Exit {
    let found = Config::read(&args.config).and_then(|config| {
        let me = config.me(args.name.as_deref())?;
        Ok(config.daemon(me).clone())
    });
    let daemon = match found {
        Ok(daemon) => daemon,
        Err(error) => return refuse(&error),
    };
    let Some(control) = daemon.control else {
        print_stderr!(
            "ratewire: daemon `{}` has no key `control` in {}\n  help: send the daemon SIGHUP, or \
             add control = \"groups.control\" and restart it",
            daemon.name,
            args.config.display()
        );
        return Exit::Wrong;
    };
    match reload_at(&control) {
        Ok(done) => print(&format!("{done}\n")),
        Err(error) => {
            print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
            match error {
                ControlError::Refused(_) => Exit::Wrong,
                _ => Exit::Unable,
            }
        }
    }
}
