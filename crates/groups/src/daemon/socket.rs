//! Clients' sockets: what the kernel may keep of what is written, and whether the client is there.

use std::io;
use std::time::Duration;

use ratewire_unsent::{Window, unanswered_of_tcp, unsent_of_tcp, unsent_of_unix, window_of_tcp};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::{TcpStream, UnixStream, tcp, unix};

/// Bytes that a TCP socket may keep unsent. The kernel's own bound is some megabytes, which a slow
/// client needs minutes to read. A client that reads 100 KB a second needs a sixth of a second for
/// these. The buffer itself has no bound of ours: it also holds what is sent and not acknowledged,
/// and long paths need that.
const UNSENT: u32 = 16 << 10;
/// Bytes that a Unix socket may keep unread, with the kernel's own. The kernel doubles the number.
const UNREAD: usize = 32 << 10;
/// Silence after which a client's host is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(10);
/// Time between such questions.
const ASKING: Duration = Duration::from_secs(5);
/// Time without an answer after which a host counts as dead.
const DEAD: Duration = Duration::from_secs(30);

/// Prepares a client's TCP connection.
///
/// # Errors
/// If the kernel refuses.
pub(super) fn prepare_tcp(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_notsent_lowat(UNSENT)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE).with_interval(ASKING))?;
    socket.set_tcp_user_timeout(Some(DEAD))
}

/// Prepares a client's Unix connection.
///
/// # Errors
/// If the kernel refuses.
pub(super) fn prepare_unix(stream: &UnixStream) -> io::Result<()> {
    SockRef::from(stream).set_send_buffer_size(UNREAD)
}

/// The half of a client's connection that the daemon reads.
pub(super) trait ReadHalf: AsyncRead + Unpin {
    /// Waits until the client has ended its half, though not all that it sent has been read.
    async fn ended(&self);
}

/// The half of a client's connection that the daemon writes.
pub(super) trait WriteHalf: AsyncWrite + Unpin {
    /// Bytes that wait in the kernel.
    fn unsent(&self) -> usize;

    /// Bytes that are on their way to the client's kernel.
    fn unanswered(&self) -> usize;

    /// Room that the client's kernel has told, if it tells.
    fn window(&self) -> Option<Window>;

    /// Sets how long a host may be silent. Nothing moves: a host that has answered all that it was
    /// sent is not dead, but the kernel would not tell it from a client that does not read.
    fn set_deadline(&self, is_moving: bool);
}

impl ReadHalf for tcp::OwnedReadHalf {
    async fn ended(&self) {
        // Of an end and urgent data, which no one listens for, this waits for the end.
        self.ready(Interest::PRIORITY).await.ok();
    }
}

impl ReadHalf for unix::OwnedReadHalf {
    async fn ended(&self) {
        self.ready(Interest::PRIORITY).await.ok();
    }
}

impl WriteHalf for tcp::OwnedWriteHalf {
    fn unsent(&self) -> usize {
        unsent_of_tcp(self.as_ref()).unwrap_or(0)
    }

    fn unanswered(&self) -> usize {
        unanswered_of_tcp(self.as_ref()).unwrap_or(0)
    }

    fn window(&self) -> Option<Window> {
        window_of_tcp(self.as_ref()).ok()
    }

    fn set_deadline(&self, is_moving: bool) {
        let stream: &TcpStream = self.as_ref();
        // A full kernel drops what it has no room for, and answers all the same.
        let is_answered = unanswered_of_tcp(stream).is_ok_and(|bytes| bytes == 0)
            || window_of_tcp(stream).is_ok_and(|window| window.age < SILENCE);
        let limit = (is_moving || !is_answered).then_some(DEAD);
        SockRef::from(stream).set_tcp_user_timeout(limit).ok();
    }
}

impl WriteHalf for unix::OwnedWriteHalf {
    fn unsent(&self) -> usize {
        unsent_of_unix(self.as_ref()).unwrap_or(0)
    }

    fn unanswered(&self) -> usize {
        0
    }

    /// What the reader of a Unix socket has not read is in the writer's kernel.
    fn window(&self) -> Option<Window> {
        None
    }

    /// The end of a process of this host is known at once.
    fn set_deadline(&self, _is_moving: bool) {}
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, UnixStream};

    use super::*;

    /// Writes until the socket takes no more, and its end has answered for what it has got.
    async fn fill(write: &tcp::OwnedWriteHalf) {
        let stream: &TcpStream = write.as_ref();
        loop {
            let is_full = stream.try_write(&[7; 4096]).is_err();
            if is_full && unanswered_of_tcp(stream).unwrap() == 0 && write.unsent() > 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn only_a_client_that_does_not_read_may_be_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (there, here) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (_there, here) = (there.unwrap(), here.unwrap().0);
        prepare_tcp(&here).unwrap();
        let (_read, write) = here.into_split();
        let stream: &TcpStream = write.as_ref();
        let deadline = || SockRef::from(stream).tcp_user_timeout().unwrap();
        assert!(SockRef::from(stream).keepalive().unwrap());
        assert_eq!(deadline(), Some(DEAD));
        fill(&write).await;
        assert!(write.unsent() < 8 * UNSENT as usize, "{} bytes wait", write.unsent());
        write.set_deadline(false);
        assert_eq!(deadline(), None, "its host has answered");
        write.set_deadline(true);
        assert_eq!(deadline(), Some(DEAD));
    }

    #[tokio::test]
    async fn the_end_of_a_client_is_seen_before_all_is_read() {
        let (here, there) = UnixStream::pair().unwrap();
        prepare_unix(&here).unwrap();
        there.try_write(b"not read yet").unwrap();
        let (read, write) = here.into_split();
        assert_eq!(write.unsent(), 0);
        read.readable().await.unwrap();
        drop(there);
        read.ended().await;
    }
}
