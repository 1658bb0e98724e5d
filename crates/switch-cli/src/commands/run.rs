//! `ratewire-switch run`: runs a switch.

use std::path::PathBuf;

use ratewire_command_line::{Exit, refuse, with_causes};
use ratewire_daemon::process::{
    Hangups, notify_ready, raise_open_files, start_log, wait_for_stop_signal,
};
use ratewire_switch::config::Config;
use ratewire_switch::daemon::{self, DaemonError};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = "switch.toml")]
    config: PathBuf,
    /// Write the log as JSON, one event a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Exit {
    start_log(args.json);
    raise_open_files();
    let config = match Config::read(&args.config) {
        Ok(config) => config,
        Err(error) => return refuse(&error),
    };
    let stop = wait_for_stop_signal("the switch ends without waiting for its peers");
    let mut hangups = Hangups::default();
    match daemon::run(config, stop, async || hangups.next().await, notify_ready) {
        Ok(()) => Exit::Done,
        Err(error) => fail(&error),
    }
}

fn fail(error: &DaemonError) -> Exit {
    print_stderr!("ratewire: {}\n  help: {}", with_causes(error), error.help());
    match error {
        DaemonError::Key(_)
        | DaemonError::Token(_)
        | DaemonError::ModuleFile(..)
        | DaemonError::Module(..) => Exit::File,
        _ => Exit::Unable,
    }
}
