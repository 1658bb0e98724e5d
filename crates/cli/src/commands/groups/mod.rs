//! `ratewire groups`: group communication.

mod certificates;
mod chat;
mod check;
mod daemon;
mod flood;
mod service;
mod status;
mod trouble;

use std::future::Future;

use clap::Subcommand;

use crate::exit::Exit;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a daemon, which programs written for Spread can use
    Daemon(daemon::Args),
    /// Show a daemon's view, links, clients and groups, with prices and budgets
    Status(status::Args),
    /// Check a groups.toml: list its mistakes, or say what each daemon would do
    Check(check::Args),
    /// Make certificates for daemons
    Certificates(certificates::Args),
    /// Join groups, show their messages, and send lines to them
    Chat(chat::Args),
    /// Load a daemon with messages, and measure throughput, latency, losses and order
    Flood(flood::Args),
}

pub(crate) fn groups(args: &Args) -> Exit {
    match &args.command {
        Command::Daemon(args) => daemon::daemon(args),
        Command::Status(args) => status::status(args),
        Command::Check(args) => check::check(args),
        Command::Certificates(args) => certificates::certificates(args),
        Command::Chat(args) => run(chat::chat(args)),
        Command::Flood(args) => run(flood::flood(args)),
    }
}

/// Text of an error, with its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

/// Runs a client to its end, in this thread.
fn run(client: impl Future<Output = Exit>) -> Exit {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tell!("ratewire: the kernel has no resources for a client: {error}");
            return Exit::Unable;
        }
    };
    let exit = tokio::task::LocalSet::new().block_on(&runtime, client);
    // A thread may still wait for a line of standard input.
    runtime.shutdown_background();
    exit
}
