//! The routing module of a switch that asks a module in WebAssembly.

use ratewire_anypoint::routing::{Frame, Member, Routing};
use ratewire_units::Bytes;

use crate::abi::DEFAULT_DECIDES;
use crate::error::Stop;
use crate::instance::Instance;
use crate::module::Module;

/// Faults that a module may have in a row before it is given up.
pub const MOST_FAULTS: u32 = 1000;

/// Frames routed without a fault that make up for one fault.
pub const FRAMES_A_FAULT: u32 = 1000;

/// Frames that the module did not route, by kind. The default module routed them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The module trapped.
    pub traps: u64,
    /// The module used up its fuel.
    pub overruns: u64,
    /// The module returned no member, a member that is down, or a buffer outside its memory.
    pub invalid: u64,
}

/// Asks a module in WebAssembly for the member of each frame, and a default module where the first
/// has no answer.
#[derive(Debug)]
pub struct WasmRouting {
    module: Module,
    /// `None` before the first frame, after a trap or an overrun, and when the module is given up.
    instance: Option<Instance>,
    default: Box<dyn Routing + Send>,
    faults: Faults,
    restarts: u64,
    /// Faults that are left before the module is given up, in frames routed without a fault.
    credit: u32,
}

impl WasmRouting {
    const CREDIT: u32 = MOST_FAULTS * FRAMES_A_FAULT;

    /// Routing by a module, and by a default module where the first has no answer.
    pub fn new(module: Module, default: Box<dyn Routing + Send>) -> WasmRouting {
        WasmRouting {
            module,
            instance: None,
            default,
            faults: Faults::default(),
            restarts: 0,
            credit: WasmRouting::CREDIT,
        }
    }

    /// Puts another module in the place of this one, from the next frame on. Its memory, its
    /// counters and its credit start anew; the default module goes on.
    pub fn replace(&mut self, module: Module) {
        self.module = module;
        self.instance = None;
        (self.faults, self.restarts, self.credit) = (Faults::default(), 0, WasmRouting::CREDIT);
    }

    /// Faults of the module since it was put in place.
    pub fn faults(&self) -> Faults {
        self.faults
    }

    /// Number of times that the module lost its memory in a trap or an overrun.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Present size of the module's memory; zero before the first frame, after a trap or an
    /// overrun, and when the module is given up.
    pub fn memory(&self) -> Bytes {
        self.instance.as_ref().map_or(Bytes::ZERO, Instance::memory)
    }

    /// Whether the module had too many faults: it is not asked any more, and the default module
    /// routes all frames until [`WasmRouting::replace`].
    pub fn is_given_up(&self) -> bool {
        self.credit == 0
    }

    /// The module's answer; `None` if the default module decides.
    fn ask(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        if self.is_given_up() {
            return None;
        }
        let answer = match &mut self.instance {
            Some(instance) => instance.route(frame, members),
            None => match self.module.instance() {
                Ok(new) => self.instance.insert(new).route(frame, members),
                Err(error) => Err(Stop::Trap(error.to_string())),
            },
        };
        let count = match answer {
            Ok(DEFAULT_DECIDES) => {
                self.earn();
                return None;
            }
            Ok(answer) => {
                let chosen = usize::try_from(answer).ok();
                let is_up = |k: &usize| members.get(*k).is_some_and(|member| member.is_up);
                if let Some(chosen) = chosen.filter(is_up) {
                    self.earn();
                    return Some(chosen);
                }
                &mut self.faults.invalid
            }
            Err(Stop::Buffer { .. }) => &mut self.faults.invalid,
            Err(Stop::Trap(_)) => self.restart(|faults| &mut faults.traps),
            Err(Stop::Fuel) => self.restart(|faults| &mut faults.overruns),
        };
        *count += 1;
        self.credit = self.credit.saturating_sub(FRAMES_A_FAULT);
        if self.is_given_up() {
            self.instance = None;
        }
        None
    }

    fn earn(&mut self) {
        self.credit = WasmRouting::CREDIT.min(self.credit + 1);
    }

    /// Drops the instance; returns the counter of the fault.
    fn restart(&mut self, counter: fn(&mut Faults) -> &mut u64) -> &mut u64 {
        self.instance = None;
        self.restarts += 1;
        counter(&mut self.faults)
    }
}

impl Routing for WasmRouting {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        if !members.iter().any(|member| member.is_up) {
            return None;
        }
        self.ask(frame, members).or_else(|| self.default.route(frame, members))
    }

    fn reads_content(&self) -> bool {
        self.module.wants() > 0 || self.default.reads_content()
    }
}
