//! `ratewire-groups`: group communication.

mod certificates;
mod chat;
mod check;
mod clock;
mod daemon;
mod flood;
mod many;
mod pace;
mod receive;
mod reload;
mod send;
mod service;
mod status;
mod trouble;

use std::future::Future;

use clap::Subcommand;
use ratewire_command_line::{Common, Exit, whole_number};
use ratewire_units::Duration;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a daemon, which programs written for Spread can use
    Daemon(daemon::Args),
    /// Have a running daemon read its groups.toml again
    Reload(reload::Args),
    /// Show a daemon's view, links, clients and groups, with prices and budgets
    Status(status::Args),
    /// Check a groups.toml: list its mistakes, or say what each daemon would do
    Check(check::Args),
    /// Make certificates for daemons
    Certificates(certificates::Args),
    /// Join groups, show their messages, and send lines to them
    Chat(chat::Args),
    /// Send lines or messages of a size to a group
    Send(send::Args),
    /// Join groups, and print their messages
    Receive(receive::Args),
    /// Load a daemon with messages, and measure throughput, latency, losses and order
    Flood(flood::Args),
    #[command(flatten)]
    Common(Common),
}

/// Carries out a command of the program that `root` defines.
pub(crate) fn run(command: &Command, root: clap::Command) -> Exit {
    match command {
        Command::Daemon(args) => daemon::daemon(args),
        Command::Reload(args) => reload::reload(args),
        Command::Status(args) => status::status(args),
        Command::Check(args) => check::check(args),
        Command::Certificates(args) => certificates::certificates(args),
        Command::Chat(args) => block_on(chat::chat(args)),
        Command::Send(args) => block_on(send::send(args)),
        Command::Receive(args) => block_on(receive::receive(args)),
        Command::Flood(args) => block_on(flood::flood(args)),
        Command::Common(common) => common.run(root, &[]),
    }
}

/// Parses a number of messages.
fn count(text: &str) -> Result<u64, String> {
    whole_number(text, 1..=1_000_000_000_000)
}

/// Parses messages a second.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.001..=1e9).contains(rate));
    rate.ok_or_else(|| "allowed: 0.001 to 1000000000 messages a second".to_string())
}

/// Parses the length of a run.
fn time(text: &str) -> Result<Duration, String> {
    match any_time(text)? {
        time if time < Duration::from_millis(10) => Err("allowed: 10 ms to 24 h".to_string()),
        time => Ok(time),
    }
}

/// Parses a time of up to a day.
fn any_time(text: &str) -> Result<Duration, String> {
    let time: Duration = text.parse().map_err(|error| format!("{error}"))?;
    match time {
        time if time > Duration::from_secs(86_400) => Err("allowed: at most 24 h".to_string()),
        time => Ok(time),
    }
}

/// A number of messages in words.
fn messages(number: u64) -> String {
    let noun = if number == 1 { "message" } else { "messages" };
    format!("{number} {noun}")
}

/// Runs a client to its end, in this thread.
fn block_on(client: impl Future<Output = Exit>) -> Exit {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            print_stderr!("ratewire: the kernel has no resources for a client: {error}");
            return Exit::Unable;
        }
    };
    let exit = tokio::task::LocalSet::new().block_on(&runtime, client);
    // A thread may still wait for a line of standard input.
    runtime.shutdown_background();
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_bounds() {
        assert!(rate("0").is_err() && rate("nan").is_err() && rate("1e5").is_ok());
        assert!(time("1 ms").is_err() && any_time("0 s").is_ok() && any_time("25 h").is_err());
        assert!(count("0").is_err() && count("1").is_ok());
    }
}
