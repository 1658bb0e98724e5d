//! Unix sockets that daemons listen on.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

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
    /// The mode of a socket to which any user of this host may connect.
    pub const ALL: u32 = 0o666;

    /// Listens at a path, for any user of this host as at a TCP port. The file of a daemon that has
    /// died is replaced.
    ///
    /// # Errors
    /// If another process listens there, or the file cannot be made.
    pub async fn bind(path: &Path) -> io::Result<UnixSocket> {
        UnixSocket::bind_for(path, UnixSocket::ALL).await
    }

    /// Listens at a path, for this process's user and root. The file of a daemon that has died is
    /// replaced.
    ///
    /// # Errors
    /// If another process listens there, or the file cannot be made.
    pub async fn bind_private(path: &Path) -> io::Result<UnixSocket> {
        UnixSocket::bind_for(path, 0o600).await
    }

    /// Listens at a path, for those who may write to a file of this mode. The file of a daemon that
    /// has died is replaced.
    ///
    /// # Errors
    /// If another process listens there, or the file cannot be made.
    pub async fn bind_for(path: &Path, mode: u32) -> io::Result<UnixSocket> {
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
