//! Listeners, which observe runs while they last.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratewire_report::{FlowRow, LinkRow, RunInfo, World};

pub use ratewire_sim::record::Progress;

/// Why a listener ends a run.
pub type StopReason = Box<dyn std::error::Error + Send + Sync>;

/// A run in progress.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    /// Index among the runs that run together, from 0.
    pub index: usize,
    /// Description of the run: law, seed, world, duration, and the names of flows and links by
    /// index.
    pub info: &'a RunInfo,
}

impl Running<'_> {
    /// Name among the runs of the scenario: `xcp, seed 1`.
    pub fn name(&self) -> String {
        name_of_run(&self.info.laws_name(), self.info.world, self.info.seed)
    }
}

/// Name of a run among the runs of its scenario.
pub(crate) fn name_of_run(law: &str, world: World, seed: u64) -> String {
    let emulated = if world == World::Emulate { " (emulated)" } else { "" };
    format!("{law}{emulated}, seed {seed}")
}

/// A problem that did not end the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The problem.
    pub message: String,
    /// The remedy, if there is one.
    pub help: Option<String>,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

/// Observes runs while they last: progress, samples, warnings. A listener can end a run.
///
/// Several runs last at the same time on several threads, so each method takes `&self` and the run
/// that it is about. Calls about one run come in the order of its time. `()` is a listener that
/// does nothing, and a pair of listeners is a listener:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use ratewire::{Cancel, Experiment, Listener, Running};
/// use ratewire::report::FlowRow;
///
/// #[derive(Default)]
/// struct Samples(AtomicU64);
/// impl Listener for Samples {
///     fn flow_sample(&self, _run: &Running<'_>, _sample: &FlowRow) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
/// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
/// let (samples, cancel) = (Samples::default(), Cancel::default());
/// Experiment::parse("hello.toml", text)?.run_with(&(&samples, &cancel))?;
/// assert!(samples.0.into_inner() > 0);
/// # Ok::<(), ratewire::Error>(())
/// ```
pub trait Listener: Sync {
    /// A run begins.
    fn begins(&self, _run: &Running<'_>) {}
    /// A run has reached `progress`; a break ends the run with
    /// [`Error::Stopped`](crate::Error::Stopped).
    ///
    /// A break for the reason [`Interrupted`] ends a simulated run at its next sample, or soon if
    /// that is far away, and an emulated one at once. It keeps the results so far:
    /// [`Run::is_partial`](crate::Run::is_partial).
    ///
    /// Called at the start of a run, at each sampling instant of a simulated run, and about every
    /// 16,384 events.
    fn reached(&self, _run: &Running<'_>, _progress: &Progress) -> ControlFlow<StopReason> {
        ControlFlow::Continue(())
    }
    /// A flow's sample, at the end of each sampling interval.
    fn flow_sample(&self, _run: &Running<'_>, _sample: &FlowRow) {}
    /// A link's sample, at the end of each sampling interval.
    fn link_sample(&self, _run: &Running<'_>, _sample: &LinkRow) {}
    /// A run has a problem, but continues.
    fn warning(&self, _run: &Running<'_>, _warning: &Warning) {}
    /// A run has ended, at the end of its time or before.
    fn ends(&self, _run: &Running<'_>) {}
}

impl Listener for () {}

impl<L: Listener + ?Sized> Listener for &L {
    fn begins(&self, run: &Running<'_>) {
        (**self).begins(run);
    }
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        (**self).reached(run, progress)
    }
    fn flow_sample(&self, run: &Running<'_>, sample: &FlowRow) {
        (**self).flow_sample(run, sample);
    }
    fn link_sample(&self, run: &Running<'_>, sample: &LinkRow) {
        (**self).link_sample(run, sample);
    }
    fn warning(&self, run: &Running<'_>, warning: &Warning) {
        (**self).warning(run, warning);
    }
    fn ends(&self, run: &Running<'_>) {
        (**self).ends(run);
    }
}

impl<A: Listener, B: Listener> Listener for (A, B) {
    fn begins(&self, run: &Running<'_>) {
        self.0.begins(run);
        self.1.begins(run);
    }
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        // Both listeners are called, even if the first ends the run.
        let (first, second) = (self.0.reached(run, progress), self.1.reached(run, progress));
        first?;
        second
    }
    fn flow_sample(&self, run: &Running<'_>, sample: &FlowRow) {
        self.0.flow_sample(run, sample);
        self.1.flow_sample(run, sample);
    }
    fn link_sample(&self, run: &Running<'_>, sample: &LinkRow) {
        self.0.link_sample(run, sample);
        self.1.link_sample(run, sample);
    }
    fn warning(&self, run: &Running<'_>, warning: &Warning) {
        self.0.warning(run, warning);
        self.1.warning(run, warning);
    }
    fn ends(&self, run: &Running<'_>) {
        self.0.ends(run);
        self.1.ends(run);
    }
}

/// Ends runs from outside: a listener whose clones share one switch.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Reason of a run that a [`Cancel`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was cancelled")]
pub struct Cancelled;

impl Cancel {
    /// Ends all current runs, and keeps others from starting; callable from any thread.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Listener for Cancel {
    fn reached(&self, _run: &Running<'_>, _progress: &Progress) -> ControlFlow<StopReason> {
        if self.is_cancelled() {
            ControlFlow::Break(Box::new(Cancelled))
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Interrupts runs from outside, and keeps what they have measured: a listener whose clones share
/// one switch.
///
/// A simulated run ends at its next sample, or soon if that is far away, an emulated one at once.
/// Its results are partial. A run that has not begun has no results.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// Reason of a run that an [`Interrupt`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was interrupted")]
pub struct Interrupted;

impl Interrupt {
    /// Interrupts all current runs, and keeps others from starting; callable from any thread.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Interrupt::interrupt`] was called.
    pub fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Listener for Interrupt {
    fn reached(&self, _run: &Running<'_>, _progress: &Progress) -> ControlFlow<StopReason> {
        match self.is_interrupted() {
            true => ControlFlow::Break(Box::new(Interrupted)),
            false => ControlFlow::Continue(()),
        }
    }
}
