//! `ratewire groups daemon`: runs a daemon.

use std::io;
use std::path::PathBuf;

use ratewire_groups::config::Config;
use ratewire_groups::daemon::{self, DaemonError};
use tokio::signal::unix::{SignalKind, signal};

use super::{check, with_causes};
use crate::exit::Exit;

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
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false);
    if args.json {
        log.json().init();
    } else {
        log.with_ansi(false).init();
    }
    let config = args.config.as_deref().map_or_else(|| Ok(Config::single()), Config::read);
    let found = config.and_then(|config| {
        let me = config.me(args.name.as_deref())?;
        Ok((config, me))
    });
    let (config, me) = match found {
        Ok(found) => found,
        Err(error) => return check::fail(&error),
    };
    let ready = || {
        // Without systemd there is nobody to tell.
        sd_notify::notify(&[sd_notify::NotifyState::Ready]).ok();
    };
    match daemon::run(config, me, told_to_stop(), ready) {
        Ok(()) => Exit::Done,
        Err(error) => fail(&error),
    }
}

/// Waits for SIGTERM or Ctrl-C.
async fn told_to_stop() {
    let stopped = async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        io::Result::Ok(())
    };
    if let Err(error) = stopped.await {
        tell!("warning: signals cannot be caught, so the daemon ends without leaving: {error}");
        std::future::pending().await
    }
}

fn fail(error: &DaemonError) -> Exit {
    let help = match error {
        DaemonError::Runtime(_) => "raise the limit of open files".to_string(),
        DaemonError::Listen(..) | DaemonError::Links(..) | DaemonError::Status(..) => {
            "end the program that has the address (perhaps another daemon), or write another address \
             into a groups.toml and name the file with --config"
                .to_string()
        }
        DaemonError::Certificates(error) => error.help(),
    };
    tell!("ratewire: {}\n  help: {help}", with_causes(error));
    match error {
        DaemonError::Certificates(_) => Exit::File,
        _ => Exit::Unable,
    }
}
