//! What keeps a switch from running.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use ratewire_acp as acp;
use ratewire_wasm::LoadError;

use crate::config::TokenError;
use crate::hub::Port;
use crate::key::KeyError;
use crate::registration::RegisterError;
use crate::running::OpenError;

/// What keeps a switch from running.
///
/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`DaemonError::help`].
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The asynchronous runtime cannot start.
    #[error("cannot start the asynchronous runtime")]
    Runtime(#[source] io::Error),
    /// The kernel gives no random numbers, or no timer.
    #[error("cannot start the switch")]
    Start(#[source] acp::Error),
    /// The address for peers cannot be used.
    #[error("cannot serve peers at {0}")]
    Listen(SocketAddr, #[source] acp::Error),
    /// The address that packets to members come from cannot be used.
    #[error("cannot send to members from {0} (`from`)")]
    From(SocketAddr, #[source] acp::Error),
    /// The address for registrations cannot be used.
    #[error("cannot take registrations at {0}")]
    Register(SocketAddr, #[source] acp::Error),
    /// The address for the status cannot be used.
    #[error("cannot serve the status at {0}")]
    Status(SocketAddr, #[source] io::Error),
    /// The socket for commands cannot be used.
    #[error("cannot take commands at {}", .0.display())]
    Control(PathBuf, #[source] io::Error),
    /// A key cannot be used.
    #[error("cannot use a key")]
    Key(#[source] KeyError),
    /// The token of members that register cannot be used.
    #[error("cannot use the token")]
    Token(#[source] TokenError),
    /// The routing module's file cannot be read.
    #[error("cannot read {}", .0.display())]
    ModuleFile(PathBuf, #[source] io::Error),
    /// The routing module cannot be used.
    #[error("cannot use {}", .0.display())]
    Module(PathBuf, #[source] LoadError),
    /// A socket has failed.
    #[error("a socket has failed")]
    Socket(#[source] io::Error),
}

impl DaemonError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            DaemonError::Runtime(_) => "raise the limit of open files".to_string(),
            DaemonError::Start(_) => "try again when the system has started".to_string(),
            DaemonError::Listen(..)
            | DaemonError::From(..)
            | DaemonError::Register(..)
            | DaemonError::Status(..) => {
                "end the program that has the address (perhaps another switch), or write another \
                 into the switch.toml"
                    .to_string()
            }
            DaemonError::Control(..) => {
                "end the switch that has the path, or name one in a folder that the switch may \
                 write to"
                    .to_string()
            }
            DaemonError::Key(error) => error.help().to_string(),
            DaemonError::Token(error) => error.help().to_string(),
            DaemonError::ModuleFile(..) => {
                "name the file of a module with `module` in [wasm]".to_string()
            }
            DaemonError::Module(..) => {
                "docs/reference/routing-abi.md says what a module exports".to_string()
            }
            DaemonError::Socket(_) => "start the switch again".to_string(),
        }
    }
}

impl From<OpenError> for DaemonError {
    fn from(error: OpenError) -> DaemonError {
        match error {
            OpenError::Bind(Port::Peers, address, error) => DaemonError::Listen(address, error),
            OpenError::Bind(Port::Members, address, error) => DaemonError::From(address, error),
            OpenError::Start(error) => DaemonError::Start(error),
        }
    }
}

impl From<RegisterError> for DaemonError {
    fn from(error: RegisterError) -> DaemonError {
        match error {
            RegisterError::Start(error) => DaemonError::Start(error),
            RegisterError::Listen(address, error) => DaemonError::Register(address, error),
        }
    }
}
