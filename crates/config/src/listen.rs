//! Where a daemon listens, and where servers do: TCP ports and Unix sockets.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::{Host, Section};

/// Longest path of a Unix socket that the kernel takes, in bytes.
const LONGEST_SOCKET: usize = 107;

/// Where streams come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listen {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A Unix socket, by its absolute path.
    Unix(PathBuf),
}

/// Where streams go to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Server {
    /// A TCP port of a host.
    Tcp(Host),
    /// A Unix socket, by its absolute path.
    Unix(PathBuf),
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => address.fmt(f),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Server::Tcp(host) => host.fmt(f),
            Server::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let Some(path) = text.strip_prefix("unix:") else {
            let address = text.parse().map_err(|_| "not an IP address and a port")?;
            return Ok(Listen::Tcp(address));
        };
        absolute(path).map(Listen::Unix)
    }
}

impl FromStr for Server {
    type Err = String;

    fn from_str(text: &str) -> Result<Server, String> {
        match text.strip_prefix("unix:") {
            Some(path) => absolute(path).map(Server::Unix),
            None => text.parse().map(Server::Tcp),
        }
    }
}

/// The path of a Unix socket.
fn absolute(path: &str) -> Result<PathBuf, String> {
    if !path.starts_with('/') || path.contains('\0') {
        return Err("the path of the socket is not absolute".to_string());
    }
    if path.len() > LONGEST_SOCKET {
        return Err(format!("the path of the socket has more than {LONGEST_SOCKET} bytes"));
    }
    Ok(path.into())
}

/// The path of a Unix socket for a daemon's commands, relative to the folder of the file.
pub fn socket_path(section: &Section<'_>, key: &'static str, folder: &Path) -> Option<PathBuf> {
    let found = section.text(key, "the path of a Unix socket")?;
    let path = folder.join(found.value);
    if path.as_os_str().len() > LONGEST_SOCKET {
        let message = format!("the path of the socket has more than {LONGEST_SOCKET} bytes");
        section.note(&found.span, message, "name a shorter one, as in /run/ratewire/control");
    }
    Some(path)
}
