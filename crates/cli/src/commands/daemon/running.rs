//! The log, readiness and the end of a daemon.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Writes events to standard error from now on: as text, or as JSON with one event a line.
pub(crate) fn start_log(json: bool) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false);
    if json {
        log.json().init();
    } else {
        log.with_ansi(false).init();
    }
}

/// Tells systemd that the daemon serves its clients.
pub(crate) fn tell_ready() {
    // Without systemd there is nobody to tell.
    sd_notify::notify(&[sd_notify::NotifyState::Ready]).ok();
}

/// Waits for SIGTERM or Ctrl-C. If signals cannot be caught, `consequence` ends the warning.
pub(crate) async fn told_to_stop(consequence: &str) {
    let stopped = async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        io::Result::Ok(())
    };
    if let Err(error) = stopped.await {
        tell!("warning: signals cannot be caught, so {consequence}: {error}");
        std::future::pending().await
    }
}

/// SIGHUP, again and again.
#[derive(Default)]
pub(crate) struct Hangups(Option<Signal>);

impl Hangups {
    /// Waits for the next SIGHUP.
    pub(crate) async fn next(&mut self) {
        if self.0.is_none() {
            match signal(SignalKind::hangup()) {
                Ok(signal) => self.0 = Some(signal),
                Err(error) => _ = tell!("warning: SIGHUP cannot be caught: {error}"),
            }
        }
        match &mut self.0 {
            Some(signal) => _ = signal.recv().await,
            None => std::future::pending().await,
        }
    }
}
