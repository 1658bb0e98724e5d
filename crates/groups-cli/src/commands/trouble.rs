//! Errors of clients: texts, remedies and exit codes.

use ratewire_command_line::{Exit, with_causes};
use ratewire_groups::client::{Error, Refusal};

/// Remedy for an address where no daemon talks to clients.
pub(super) const LISTEN: &str =
    "give --at an address that `listen` has in a daemon's groups.toml, not `status` or `address`";

/// Why a client ends early.
pub(super) enum End {
    /// The connection has failed.
    Client(Error),
    /// Standard output takes no more.
    Output(Exit),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Client(error)
    }
}

impl End {
    /// Prints the error, and returns the exit code.
    pub(super) fn exit(self) -> Exit {
        match self {
            End::Client(error) => fail(&error),
            End::Output(exit) => exit,
        }
    }
}

/// Prints an error with its causes and a remedy, and returns the exit code.
pub(super) fn fail(error: &Error) -> Exit {
    let mut text = with_causes(error);
    if let Some(help) = remedy(error) {
        text += &format!("\n  help: {help}");
    }
    print_stderr!("ratewire: {text}");
    match error {
        Error::Address(_) | Error::Name(_) | Error::Request(_) => Exit::Wrong,
        Error::Unreachable(..)
        | Error::OtherServer(_)
        | Error::Refused(_)
        | Error::Connection(_)
        | Error::Closed => Exit::Unable,
        Error::Daemon(_) => Exit::Failed,
    }
}

fn remedy(error: &Error) -> Option<&'static str> {
    match error {
        Error::Unreachable(..) => Some("start a daemon there, or name another address with --at"),
        Error::OtherServer(_) => Some(LISTEN),
        Error::Refused(Refusal::NotUnique | Refusal::IllegalName) => {
            Some("choose another name with --name, or none: the daemon then gives one")
        }
        Error::Refused(Refusal::Quota) => {
            Some("end other clients, or raise `clients` in [limits] of the daemon's groups.toml")
        }
        Error::Closed | Error::Connection(_) => Some(
            "the daemon's log says why, unless it was killed or the address is another program's",
        ),
        _ => None,
    }
}
