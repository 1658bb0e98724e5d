//! What keeps a switch from running.

use std::fmt;
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
#[derive(Debug)]
pub enum DaemonError {
    /// The asynchronous runtime cannot start.
    Runtime(io::Error),
    /// The kernel gives no random numbers, or no timer.
    Start(acp::Error),
    /// The address for peers cannot be used.
    Listen(SocketAddr, acp::Error),
    /// The address that packets to members come from cannot be used.
    From(SocketAddr, acp::Error),
    /// The address for registrations cannot be used.
    Register(SocketAddr, acp::Error),
    /// The address for the status cannot be used.
    Status(SocketAddr, io::Error),
    /// The socket for commands cannot be used.
    Control(PathBuf, io::Error),
    /// A key cannot be used.
    Key(KeyError),
    /// The token of members that register cannot be used.
    Token(TokenError),
    /// The routing module's file cannot be read.
    ModuleFile(PathBuf, io::Error),
    /// The routing module cannot be used.
    Module(PathBuf, LoadError),
    /// A socket has failed.
    Socket(io::Error),
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

/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`DaemonError::help`].
impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonError::Runtime(_) => f.write_str("cannot start the asynchronous runtime"),
            DaemonError::Start(_) => f.write_str("cannot start the switch"),
            DaemonError::Listen(address, _) => write!(f, "cannot serve peers at {address}"),
            DaemonError::From(address, _) => {
                write!(f, "cannot send to members from {address} (`from`)")
            }
            DaemonError::Register(address, _) => {
                write!(f, "cannot take registrations at {address}")
            }
            DaemonError::Status(address, _) => write!(f, "cannot serve the status at {address}"),
            DaemonError::Control(path, _) => {
                write!(f, "cannot take commands at {}", path.display())
            }
            DaemonError::Key(_) => f.write_str("cannot use a key"),
            DaemonError::Token(_) => f.write_str("cannot use the token"),
            DaemonError::ModuleFile(path, _) => write!(f, "cannot read {}", path.display()),
            DaemonError::Module(path, _) => write!(f, "cannot use {}", path.display()),
            DaemonError::Socket(_) => f.write_str("a socket has failed"),
        }
    }
}

impl std::error::Error for DaemonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DaemonError::Runtime(source)
            | DaemonError::Status(_, source)
            | DaemonError::Control(_, source)
            | DaemonError::ModuleFile(_, source)
            | DaemonError::Socket(source) => Some(source),
            DaemonError::Start(source)
            | DaemonError::Listen(_, source)
            | DaemonError::From(_, source)
            | DaemonError::Register(_, source) => Some(source),
            DaemonError::Key(source) => Some(source),
            DaemonError::Token(source) => Some(source),
            DaemonError::Module(_, source) => Some(source),
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
