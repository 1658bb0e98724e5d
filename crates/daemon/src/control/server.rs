//! The daemon's end.

use std::future::Future;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::{DONE, LONGEST, REFUSED, line};
use crate::socket::UnixSocket;

/// Time for a command to come, and for its answer to be taken.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause after a connection that the system cannot accept: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// A daemon that takes commands.
pub trait Controlled {
    /// Carries out a command.
    ///
    /// # Errors
    /// Why it was not carried out, and what to do.
    fn command(&self, words: &[&str]) -> impl Future<Output = Result<String, String>>;
}

/// The open socket for a daemon's commands.
#[derive(Debug)]
pub struct ControlServer {
    socket: UnixSocket,
    owner: u32,
}

impl ControlServer {
    /// Opens a socket at a path, with mode 0600. The file of a daemon that has died is replaced.
    ///
    /// # Errors
    /// If another process listens there, or the file cannot be made.
    pub async fn bind(path: &Path) -> io::Result<ControlServer> {
        let socket = UnixSocket::bind_private(path).await?;
        let owner = std::fs::metadata(path)?.uid();
        Ok(ControlServer { socket, owner })
    }

    /// Carries out commands, one after the other, until the future is dropped.
    pub async fn serve<C: Controlled>(self, daemon: Rc<C>) {
        loop {
            match self.socket.accept().await {
                Ok(stream) if self.may_command(&stream) => answer(&*daemon, stream).await,
                Ok(_) => {}
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Whether the other end is the daemon's user, or root: the mode of the file is set only after
    /// the file is made.
    fn may_command(&self, stream: &UnixStream) -> bool {
        stream.peer_cred().is_ok_and(|who| who.uid() == self.owner || who.uid() == 0)
    }
}

async fn answer<C: Controlled>(daemon: &C, stream: UnixStream) {
    let (read, mut write) = stream.into_split();
    let mut text = String::new();
    let mut read = BufReader::new(read.take(LONGEST));
    if !matches!(timeout(PATIENCE, read.read_line(&mut text)).await, Ok(Ok(1..))) {
        return;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let answer = match daemon.command(&words).await {
        Ok(done) => line(&format!("{DONE}{done}")),
        Err(why) => line(&format!("{REFUSED}{why}")),
    };
    // A client that goes away does not get the answer to its command.
    timeout(PATIENCE, write.write_all(answer.as_bytes())).await.ok();
}
