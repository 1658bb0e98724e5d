//! `ratewire-switch`: one connection of a client, spread over many servers.

mod check;
mod control;
mod endpoint;
mod files;
mod gateway;
mod key;
mod member;
mod programs;
mod proxy;
mod register;
mod run;
mod status;

use clap::Subcommand;
use ratewire_command_line::{Common, Exit};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Spread the requests of unmodified clients over unmodified servers, in one process: gateway,
    /// switch and members
    Proxy(Box<proxy::Args>),
    /// Run a switch between peers and the members of an ensemble
    Run(run::Args),
    /// Show the state of a switch, a gateway or a member
    Status(status::Args),
    /// Give a member of a running switch no new frames; its sessions close when it has finished
    Drain(control::MemberArgs),
    /// Give a member that was drained new frames again
    Undrain(control::MemberArgs),
    /// Have a running switch read its routing module's file again, as on SIGHUP
    Reload(control::Args),
    /// Check a switch.toml: list its mistakes, or say what the switch would do
    Check(check::Args),
    /// Stand in front of unmodified clients: each request becomes a frame to a switch
    Gateway(Box<gateway::Args>),
    /// Stand in front of an unmodified server: frames from switches become requests to it
    Member(Box<member::Args>),
    /// Be a peer or a member for measurements: write frames without meaning, and read at a speed
    Endpoint(Box<endpoint::Args>),
    /// Make a key that the two ends of a connection share
    Key(key::Args),
    #[command(flatten)]
    Common(Common),
}

/// Carries out a command of the program that `root` defines.
pub(crate) fn run(command: &Command, root: clap::Command) -> Exit {
    match command {
        Command::Proxy(args) => proxy::proxy(args),
        Command::Run(args) => run::run(args),
        Command::Status(args) => status::status(args),
        Command::Drain(args) => control::drain(args),
        Command::Undrain(args) => control::undrain(args),
        Command::Reload(args) => control::reload(args),
        Command::Check(args) => check::check(args),
        Command::Gateway(args) => gateway::gateway(args),
        Command::Member(args) => member::member(args),
        Command::Endpoint(args) => endpoint::endpoint(args),
        Command::Key(args) => key::key(args),
        Command::Common(common) => common.run(root, &[]),
    }
}
