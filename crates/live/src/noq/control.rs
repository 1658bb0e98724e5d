//! Questions to a running program, and the request to end: two sockets whose names are known only
//! in its network namespace and go when it ends, however it ends.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

/// Most connections that are taken before the port's own work goes on.
const MOST_AT_ONCE: usize = 8;

/// How long to wait for a program's answer, and for its end.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a program is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Status,
    End,
}

fn address(ifindex: u32, request: Request) -> io::Result<SocketAddr> {
    let what = match request {
        Request::Status => "status",
        Request::End => "end",
    };
    SocketAddr::from_abstract_name(format!("ratewire-noq-{ifindex}-{what}"))
}

/// Whether the other end is root's. Any user may connect to such a name, or take it first.
fn is_roots(stream: &UnixStream) -> bool {
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == 0)
}

/// The sockets of a running program.
pub(super) struct Listeners {
    status: UnixListener,
    end: UnixListener,
}

impl Listeners {
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if a program runs at this interface.
    pub(super) fn open(ifindex: u32) -> io::Result<Listeners> {
        let open = |request| {
            let listener = UnixListener::bind_addr(&address(ifindex, request)?)?;
            listener.set_nonblocking(true)?;
            Ok::<_, io::Error>(listener)
        };
        Ok(Listeners { status: open(Request::Status)?, end: open(Request::End)? })
    }

    pub(super) fn sockets(&self) -> [BorrowedFd<'_>; 2] {
        [self.status.as_fd(), self.end.as_fd()]
    }

    /// Answers all questions for the status.
    pub(super) fn answer(&self, figures: impl Fn() -> Vec<u8>) {
        // Others may connect without end; the port's work goes on between.
        for _ in 0..MOST_AT_ONCE {
            let Ok((mut asker, _)) = self.status.accept() else { return };
            // A new socket's buffer has room for the answer.
            if is_roots(&asker) {
                let _ = asker.write_all(&figures());
            }
        }
    }

    /// The connection of somebody who may ask for the end, and did; it tells of the end by closing.
    pub(super) fn asked_to_end(&self) -> Option<UnixStream> {
        for _ in 0..MOST_AT_ONCE {
            let Ok((asker, _)) = self.end.accept() else { break };
            if is_roots(&asker) {
                return Some(asker);
            }
        }
        None
    }
}

/// The answer of the program at an interface; for [`Request::End`] nothing, once it has ended.
/// `None` if no program of root's runs there.
pub(super) fn ask(ifindex: u32, request: Request) -> io::Result<Option<Vec<u8>>> {
    let Ok(mut stream) = UnixStream::connect_addr(&address(ifindex, request)?) else {
        return Ok(None);
    };
    if !is_roots(&stream) {
        return Ok(None);
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(Some(answer))
}
