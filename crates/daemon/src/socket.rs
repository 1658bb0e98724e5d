//! Addresses of streams: TCP ports and Unix sockets.

use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tokio::net::{UnixListener, UnixStream};

/// Longest path of a Unix socket that the kernel takes.
pub const LONGEST_SOCKET: usize = 107;

/// Where a stream comes from or goes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listen {
    /// A TCP port.
    Tcp(SocketAddr),
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

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let Some(path) = text.strip_prefix("unix:") else {
            let address = text.parse().map_err(|_| "not an IP address and a port")?;
            return Ok(Listen::Tcp(address));
        };
        if !path.starts_with('/') || path.contains('\0') {
            return Err("the path of the socket is not absolute".to_string());
        }
        if path.len() > LONGEST_SOCKET {
            return Err(format!("the path of the socket has more than {LONGEST_SOCKET} bytes"));
        }
        Ok(Listen::Unix(path.into()))
    }
}

/// A Unix socket that listens. Its file goes with it.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

impl UnixSocket {
    /// Listens at a path, for any user of this host as at a TCP port. The file of a daemon that has
    /// died is replaced.
    ///
    /// # Errors
    /// If another process listens there, or the file cannot be made.
    pub async fn bind(path: &Path) -> io::Result<UnixSocket> {
        UnixSocket::bind_with(path, 0o666).await
    }

    /// Listens at a path, for this process's user and root. The file of a daemon that has died is
    /// replaced.
    ///
    /// # Errors
    /// If another process listens there, or the file cannot be made.
    pub async fn bind_private(path: &Path) -> io::Result<UnixSocket> {
        UnixSocket::bind_with(path, 0o600).await
    }

    async fn bind_with(path: &Path, mode: u32) -> io::Result<UnixSocket> {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        if is_socket {
            match UnixStream::connect(path).await {
                Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path)?;
                }
                // A daemon that is too busy to accept, or somebody else's.
                Err(_) => return Err(io::ErrorKind::AddrInUse.into()),
            }
        }
        let listener = UnixListener::bind(path)?;
        let socket = UnixSocket { listener, path: path.to_path_buf() };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        Ok(socket)
    }

    /// The next connection.
    ///
    /// # Errors
    /// If the system cannot hand it over.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}
