//! The log, readiness and the end of a daemon's process.

use std::future::{Future, poll_fn};
use std::io;
use std::task::Poll;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::interval;
use tracing::warn;

use crate::log::reason;

/// Writes events to standard error from now on: as text, or as JSON with one event a line. Events
/// that cannot be written are lost: the daemon goes on with a full disk, or without a reader.
pub fn start_log(json: bool) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false);
    // To report the failure, the subscriber would print to standard error and panic.
    let log = log.log_internal_errors(false);
    if json {
        log.json().init();
    } else {
        log.with_ansi(false).init();
    }
}

/// Raises the limit of open files to the most that the process may have; returns the limit. The
/// usual one is for programs that use `select`, which knows only 1,024 files.
pub fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let limit = if is_raised { maximum } else { current };
    // `None` stands for no limit.
    limit.unwrap_or(u64::MAX)
}

/// Notifies systemd that the daemon serves its clients.
pub fn notify_ready() {
    // Without systemd there is nobody to notify.
    sd_notify::notify(&[sd_notify::NotifyState::Ready]).ok();
}

/// Waits for SIGTERM or Ctrl-C, and notifies systemd's watchdog meanwhile that the daemon goes on.
/// If signals cannot be caught, `consequence` ends the warning.
pub async fn wait_for_stop_signal(consequence: &str) {
    let caught = async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        io::Result::Ok(())
    };
    let stopped = async {
        if let Err(error) = caught.await {
            let reason = reason(&error);
            warn!(target: "ratewire_daemon", reason, "signals cannot be caught, so {consequence}");
            std::future::pending().await
        }
    };
    tokio::select! {
        () = stopped => {}
        () = notify_watchdog() => {}
    }
}

/// Notifies systemd twice in each time of its watchdog, if there is one.
async fn notify_watchdog() {
    let Some(longest) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    let mut due = interval((longest / 2).max(Duration::from_millis(1)));
    loop {
        due.tick().await;
        sd_notify::notify(&[sd_notify::NotifyState::Watchdog]).ok();
    }
}

/// Begins to wait: what the future waits for is awaited from now on, though nobody polls it yet.
/// Returns the rest of it.
pub async fn begun(future: impl Future<Output = ()>) -> impl Future<Output = ()> {
    let mut waiting = Box::pin(future);
    let is_done = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready())).await;
    async move {
        if !is_done {
            waiting.await;
        }
    }
}

/// SIGHUP, again and again.
#[derive(Debug, Default)]
pub struct Hangups(Option<Signal>);

impl Hangups {
    /// Waits for the next SIGHUP.
    pub async fn next(&mut self) {
        if self.0.is_none() {
            match signal(SignalKind::hangup()) {
                Ok(signal) => self.0 = Some(signal),
                Err(error) => {
                    let reason = reason(&error);
                    warn!(target: "ratewire_daemon", reason, "SIGHUP cannot be caught");
                }
            }
        }
        match &mut self.0 {
            Some(signal) => _ = signal.recv().await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn what_happens_before_the_rest_is_polled_is_not_missed() {
        let event = Notify::new();
        let rest = begun(event.notified()).await;
        // Of those who wait already.
        event.notify_waiters();
        rest.await;
        begun(async {}).await.await;
    }
}
