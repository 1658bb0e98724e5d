//! Readiness of many descriptors, and waits with a precise end.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration as Span;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;

/// Descriptors, each with a number.
#[derive(Debug)]
pub(crate) struct Readiness {
    epoll: Epoll,
    room: Vec<EpollEvent>,
}

impl Readiness {
    /// An empty set; one wait reports at most `most` descriptors.
    pub(crate) fn new(most: usize) -> io::Result<Readiness> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Readiness { epoll, room: vec![EpollEvent::empty(); most.max(1)] })
    }

    /// Adds a descriptor, which leaves the set when it is closed.
    pub(crate) fn add(&self, fd: impl AsFd, number: u64, what: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.add(fd, EpollEvent::new(what, number))?)
    }

    /// Changes the events of a descriptor.
    pub(crate) fn change(&self, fd: impl AsFd, number: u64, what: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.modify(fd, &mut EpollEvent::new(what, number))?)
    }

    /// Waits until a descriptor is ready, or `most` is over; returns the numbers of ready
    /// descriptors.
    pub(crate) fn wait(&mut self, most: Span) -> io::Result<impl Iterator<Item = u64> + '_> {
        // `epoll_wait` counts in milliseconds.
        if !most.is_zero() {
            let mut own = [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)];
            match ppoll(&mut own, Some(TimeSpec::from_duration(most)), None) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        let ready = match self.epoll.wait(&mut self.room, EpollTimeout::ZERO) {
            Ok(ready) => ready,
            Err(Errno::EINTR) => 0,
            Err(e) => return Err(e.into()),
        };
        Ok(self.room[..ready].iter().map(EpollEvent::data))
    }
}
