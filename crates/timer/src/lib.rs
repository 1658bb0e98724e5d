//! A timer of microseconds for tokio's tasks. Tokio's own has milliseconds: too coarse for the pace
//! of a law, or for the salaries of a client that sends a hundred messages in one.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

/// No time of a timer.
const NEVER: u64 = u64::MAX;

/// A timer. Of waits that follow each other, those that end later than one before them cost no
/// system call: the earlier time passes first.
#[derive(Debug)]
pub struct Timer {
    file: AsyncFd<OwnedFd>,
    start: Instant,
    /// When the kernel's timer fires next, in nanoseconds since `start`.
    set: AtomicU64,
}

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
        let file = AsyncFd::new(timer)?;
        Ok(Timer { file, start: Instant::now(), set: AtomicU64::new(NEVER) })
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Waits for this long; for ever without a time. If the wait is abandoned, the next one begins
    /// anew.
    pub async fn wait(&self, time: Option<Duration>) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(NEVER);
        let end = time.map_or(NEVER, |time| self.now().saturating_add(nanos(time)));
        if self.wait_until(end).await.is_err() {
            // The kernel has no reason to refuse; if it does, a coarse wait is better than none.
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => core::future::pending().await,
            }
        }
    }

    async fn wait_until(&self, end: u64) -> io::Result<()> {
        loop {
            if end < self.set.load(Ordering::Relaxed) {
                self.set(end)?;
            }
            let mut ready = self.file.readable().await?;
            let read = ready.try_io(|fd| {
                let mut count = [0; 8];
                rustix::io::read(fd, &mut count).map_err(io::Error::from)
            });
            // It is readable once more if it fired and was set anew.
            let Ok(fired) = read else { continue };
            fired?;
            self.set.store(NEVER, Ordering::Relaxed);
            if end <= self.now() {
                return Ok(());
            }
        }
    }

    fn set(&self, end: u64) -> io::Result<()> {
        // Zero would stop the timer.
        let time = end.saturating_sub(self.now()).max(1);
        let spec = |time: u64| Timespec {
            tv_sec: (time / 1_000_000_000) as i64,
            tv_nsec: (time % 1_000_000_000) as i64,
        };
        let once = Itimerspec { it_interval: spec(0), it_value: spec(time) };
        timerfd_settime(self.file.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        self.set.store(end, Ordering::Relaxed);
        Ok(())
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

    #[tokio::test]
    async fn a_later_wait_does_not_end_with_an_earlier_one() {
        let (timer, ms) = (Timer::new().unwrap(), Duration::from_millis);
        tokio::time::timeout(Duration::ZERO, timer.wait(Some(ms(2)))).await.ok();
        let start = Instant::now();
        timer.wait(Some(ms(20))).await;
        assert!(start.elapsed() >= ms(20));
        // One that ends sooner is not kept waiting by the one before.
        tokio::time::timeout(Duration::ZERO, timer.wait(Some(ms(60_000)))).await.ok();
        timer.wait(Some(ms(1))).await;
    }
}
