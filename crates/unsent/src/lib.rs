//! Bytes that were written to a socket and wait in the kernel, here or at its peer.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Bytes that were written to a TCP socket and that the kernel has not sent. Bytes that are sent
/// and not acknowledged do not count: a long path is never without some.
///
/// # Errors
/// If this is no TCP socket.
pub fn unsent_of_tcp(socket: impl AsFd) -> io::Result<usize> {
    ask(&socket, libc::SIOCOUTQNSD)
}

/// Bytes that were sent over a TCP socket and not acknowledged.
///
/// # Errors
/// If this is no TCP socket.
pub fn unanswered_of_tcp(socket: impl AsFd) -> io::Result<usize> {
    let unsent = ask(&socket, libc::SIOCOUTQNSD)?;
    Ok(ask(&socket, libc::TIOCOUTQ)?.saturating_sub(unsent))
}

/// Memory of what was written to a Unix socket and not read at its other end, in bytes. The kernel
/// adds some hundred bytes to each write, and keeps a write until all of it is read.
///
/// # Errors
/// If this is no socket.
pub fn unsent_of_unix(socket: impl AsFd) -> io::Result<usize> {
    ask(&socket, libc::TIOCOUTQ)
}

/// Room that a TCP socket's peer has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Bytes for which its kernel had room, beyond what it has acknowledged.
    pub bytes: usize,
    /// Time since it said so.
    pub age: Duration,
    /// Shortest time in which it has answered.
    pub round_trip: Duration,
}

/// The room that a TCP socket's peer has told last: its receive window.
///
/// # Errors
/// If this is no TCP socket, or the kernel does not tell (before Linux 5.4).
pub fn window_of_tcp(socket: impl AsFd) -> io::Result<Window> {
    // SAFETY: all zeros are a value of this structure of numbers.
    let mut info: libc::tcp_info = unsafe { zeroed() };
    let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes into the structure, which is as large.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if (size as usize) < offset_of!(libc::tcp_info, tcpi_snd_wnd) + size_of::<u32>() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let age = Duration::from_millis(info.tcpi_last_ack_recv.into());
    let round_trip = Duration::from_micros(info.tcpi_min_rtt.into());
    Ok(Window { bytes: info.tcpi_snd_wnd as usize, age, round_trip })
}

fn ask(socket: &impl AsFd, question: libc::Ioctl) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one number, which lives as long as the call.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), question, &raw mut bytes) };
    if result == 0 { Ok(bytes.max(0) as usize) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Writes until the socket takes no more.
    fn fill(mut socket: impl Write) -> usize {
        let mut all = 0;
        loop {
            match socket.write(&[7; 4096]) {
                Ok(written) => all += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return all,
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_unix_socket_tells_what_its_peer_has_not_read() {
        let (here, mut there) = UnixStream::pair().unwrap();
        here.set_nonblocking(true).unwrap();
        assert_eq!(unsent_of_unix(&here).unwrap(), 0);
        let written = fill(&here);
        assert!(unsent_of_unix(&here).unwrap() >= written);
        there.read_exact(&mut vec![0; written]).unwrap();
        assert_eq!(unsent_of_unix(&here).unwrap(), 0);
    }

    #[test]
    fn a_tcp_socket_tells_what_its_peer_has_no_room_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let here = listener.accept().unwrap().0;
        here.set_nonblocking(true).unwrap();
        assert_eq!(unsent_of_tcp(&here).unwrap(), 0);
        let written = fill(&here);
        let unsent = unsent_of_tcp(&here).unwrap();
        assert!(0 < unsent && unsent < written, "{unsent} of {written}: the rest has come");
        // The peer's host acknowledges what it has room for.
        while unanswered_of_tcp(&here).unwrap() > 0 {}
        there.read_exact(&mut vec![0; written]).unwrap();
        assert_eq!(unsent_of_tcp(&here).unwrap(), 0);
    }

    #[test]
    fn a_tcp_socket_tells_the_room_of_its_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let here = listener.accept().unwrap().0;
        here.set_nonblocking(true).unwrap();
        let window = || window_of_tcp(&here).unwrap();
        let room = window().bytes;
        let written = fill(&here);
        while unanswered_of_tcp(&here).unwrap() > 0 {}
        let left = window();
        assert!(left.bytes < room, "{} of {room}", left.bytes);
        assert!(left.age < Duration::from_secs(60) && left.round_trip < Duration::from_secs(60));
        there.read_exact(&mut vec![0; written]).unwrap();
        while unanswered_of_tcp(&here).unwrap() > 0 {}
        assert!(window().bytes > left.bytes);
    }

    #[test]
    fn a_file_has_no_answer() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(unsent_of_tcp(&file).is_err());
        assert!(unanswered_of_tcp(&file).is_err());
        assert!(window_of_tcp(&file).is_err());
        assert!(unsent_of_unix(&file).is_err());
    }
}
