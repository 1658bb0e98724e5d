//! `ratewire-groups daemon`: runs a daemon.

use std::path::PathBuf;

use ratewire_command_line::{Exit, refuse, with_causes};
use ratewire_daemon::process::{
    Hangups, notify_ready, raise_open_files, start_log, wait_for_stop_signal,
};
use ratewire_groups::config::Config;
use ratewire_groups::daemon::{self, DaemonError};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The groups.toml of all daemons; without one, a single daemon serves the clients of this host
    /// at 127.0.0.1:4803 and /tmp/4803
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which of the daemons runs here; without a name, the one with an address of this host, or
    /// with this host's name
    #[arg(long)]
    name: Option<String>,
    /// Write the log as JSON, one event a line
    #[arg(long)]
    json: bool,
}

pub(super) fn daemon(args: &Args) -> Exit {
    start_log(args.json);
    raise_open_files();
    let config = args.config.as_deref().map_or_else(|| Ok(Config::single()), Config::read);
    let found = config.and_then(|config| {
        let me = config.me(args.name.as_deref())?;
        Ok((config, me))
    });
    let (config, me) = match found {
        Ok(found) => found,
        Err(error) => return refuse(&error),
    };
    let stop = wait_for_stop_signal("the daemon ends without leaving");
    let mut hangups = Hangups::default();
    match daemon::run(config, me, stop, async || hangups.next().await, notify_ready) {
        Ok(()) => Exit::Done,
        Err(error) => fail(&error),
    }
}

fn fail(error: &DaemonError) -> Exit {
    let help = match error {
        DaemonError::Runtime(_) => "raise the limit of open files".to_string(),
        DaemonError::Listen(..)
        | DaemonError::Links(..)
        | DaemonError::Status(..) => {
            "end the program that has the address (perhaps another daemon), or write another address \
             into a groups.toml and name the file with --config"
                .to_string()
        }
        DaemonError::Control(..) => {
            "name a path in a folder that the daemon's user may write, as in /run/ratewire/control"
                .to_string()
        }
        DaemonError::Certificates(error) => error.help(),
    };
    print_stderr!("ratewire: {}\n  help: {help}", with_causes(error));
    match error {
        DaemonError::Certificates(_) => Exit::File,
        _ => Exit::Unable,
    }
}
