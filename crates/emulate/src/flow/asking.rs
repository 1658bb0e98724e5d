//! Asks the kernel about flows in a thread of its own: a question waits for whatever holds the
//! socket, and the network's thread must not wait.

use std::io;
use std::mem::{replace, take};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use ratewire_units::{Bytes, Duration, Time};

use super::{Flow, SenderInfo};
use crate::Error;
use crate::clock::Clock;

/// The kernel's answers at a sample.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// When the sample was due.
    at: Time,
    flows: Vec<Answer>,
}

/// The answer about one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// `None` before the flow has a connection.
    pub(crate) info: Option<SenderInfo>,
    /// Payload that has arrived, if the flow's ends know it and the network does not.
    pub(crate) arrived: Option<Bytes>,
    /// Whether the flow had completed when the kernel was asked.
    pub(crate) is_last: bool,
}

impl Answers {
    /// Answers now, at the end of a run.
    pub(crate) fn now(flows: &[Option<Flow>], at: Time) -> Answers {
        let ask = |flow: &Option<Flow>| {
            let mut answer = Answer::default();
            if let Some(flow) = flow {
                answer.ask(flow, true);
            }
            answer
        };
        Answers { at, flows: flows.iter().map(ask).collect() }
    }

    /// Whether the answers are of a sample due at this time or later.
    pub(crate) fn are_of(&self, at: Time) -> bool {
        self.at >= at
    }

    /// Answer about the n-th flow; empty if nobody has asked.
    pub(crate) fn of(&self, n: usize) -> Answer {
        self.flows.get(n).copied().unwrap_or_default()
    }
}

/// Place where answers are put and taken. The network's thread only tries to lock it: with a
/// channel it would spin, ahead of all other threads, until the writer goes on.
#[derive(Debug, Default)]
struct Tray {
    newest: Option<Answers>,
    /// Buffers to use again.
    used: Answers,
}

/// The thread that asks, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Asking {
    tray: Arc<Mutex<Tray>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Asking {
    /// Asks at each sample about the first `sampled` flows, and once about others when they have
    /// completed.
    pub(crate) fn start(
        flows: &[Option<Flow>],
        sampled: usize,
        interval: Duration,
        clock: Clock,
    ) -> Result<Asking, Error> {
        let tray = Arc::new(Mutex::new(Tray::default()));
        let over = Arc::new(AtomicBool::new(false));
        let flows: Vec<Option<Flow>> = flows.to_vec();
        let (own, own_tray) = (over.clone(), tray.clone());
        let asker = move || {
            let mut all = vec![Answer::default(); flows.len()];
            let mut room = Answers::default();
            let mut at = Time::ZERO;
            loop {
                // Missed samples are not made up for.
                at += interval * ((clock.now().since(at).ps() / interval.ps()).max(1));
                while clock.now() < at && !own.load(Relaxed) {
                    thread::park_timeout(clock.until(at));
                }
                if own.load(Relaxed) {
                    return;
                }
                for (n, (flow, answer)) in flows.iter().zip(&mut all).enumerate() {
                    if let Some(flow) = flow {
                        answer.ask(flow, n < sampled);
                    }
                }
                room.at = at;
                room.flows.clone_from(&all);
                let Ok(mut tray) = own_tray.lock() else { return };
                room = tray.newest.replace(room).unwrap_or_else(|| take(&mut tray.used));
            }
        };
        let thread = thread::Builder::new().name("samples".into()).spawn(asker);
        let cannot = |e: io::Error| Error::new("cannot start a thread", "").because(e);
        Ok(Asking { tray, over, thread: Some(thread.map_err(cannot)?) })
    }

    /// Replaces these answers by the newest, if there are any and the lock is free.
    pub(crate) fn look(&self, answers: &mut Answers) {
        if let Ok(mut tray) = self.tray.try_lock()
            && let Some(newest) = tray.newest.take()
        {
            tray.used = replace(answers, newest);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has reported so.
            let _ = thread.join();
        }
    }
}

impl Answer {
    /// Asks about a flow, unless it was asked after its completion.
    fn ask(&mut self, flow: &Flow, is_sampled: bool) {
        let has_completed = flow.completed().is_some();
        if self.is_last || !(is_sampled || has_completed) {
            return;
        }
        self.info = flow.info().or(self.info);
        self.arrived = flow.is_acp().then(|| flow.delivered());
        self.is_last = has_completed;
    }
}
