//! A timer of microseconds for tokio's tasks. Tokio's own has milliseconds: too coarse for the pace
//! of a law, or for the salaries of a client that sends a hundred messages in one.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// A timer that is set anew for each wait.
#[derive(Debug)]
pub struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    /// A timer.
    ///
    /// # Errors
    /// When the process has no room for another open file.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O.
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe, and an OwnedFd is what it asks for"
        )]
        AsyncFd::new(timer).map(Timer)
    }

    /// Waits for this long; for ever without a time. If the wait is abandoned, the next one begins
    /// anew.
    pub async fn wait(&self, time: Option<Duration>) {
        if self.try_to_wait(time).await.is_err() {
            // The kernel has no reason to refuse; if it does, a coarse wait is better than none.
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => core::future::pending().await,
            }
        }
    }

    async fn try_to_wait(&self, time: Option<Duration>) -> io::Result<()> {
        // Zero would stop the timer.
        let time = time.map_or(Duration::ZERO, |time| time.max(Duration::from_nanos(1)));
        let spec = |time: Duration| Timespec {
            tv_sec: time.as_secs() as i64,
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        let once = Itimerspec { it_interval: spec(Duration::ZERO), it_value: spec(time) };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        loop {
            let mut ready = self.0.readable().await?;
            let read = ready.try_io(|fd| {
                let mut count = [0; 8];
                rustix::io::read(fd, &mut count).map_err(io::Error::from)
            });
            match read {
                Ok(done) => return done.map(|_| ()),
                // It fired for an earlier wait.
                Err(_not_yet) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_end_in_their_order() {
        let (short, long) = (Timer::new().unwrap(), Timer::new().unwrap());
        let us = Duration::from_micros;
        tokio::select! {
            () = short.wait(Some(us(200))) => {}
            _ = long.wait(Some(us(60_000_000))) => panic!("a minute is longer"),
            _ = long.wait(None) => panic!("there is no end"),
        }
        long.wait(Some(Duration::ZERO)).await;
        // An abandoned wait does not end the next one.
        tokio::time::timeout(Duration::ZERO, short.wait(Some(us(1)))).await.ok();
        let next = tokio::time::timeout(us(20_000), short.wait(None)).await;
        assert!(next.is_err(), "it was set anew, without an end");
    }
}
