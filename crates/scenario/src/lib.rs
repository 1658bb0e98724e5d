//! The scenario language: reads TOML and gives a run, or an error that lists all mistakes.
//!
//! ```
//! use ratewire_scenario::Scenario;
//!
//! let text = r#"
//!     duration = "10 s"
//!     law      = "xcp"
//!
//!     [topology]
//!     kind       = "dumbbell"
//!     bottleneck = { rate = "10 Mbit/s", delay = "20 ms" }
//!
//!     [[flow]]
//!     from = "s1"
//!     to   = "d1"
//! "#;
//! let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let scenario = Scenario::parse("hello.toml", text, &no_files).unwrap();
//! let setup = scenario.setup(None, None).unwrap();
//! assert_eq!(setup.flows[0].name, "s1->d1");
//! ```
//!
//! One table of keys ([`keys`]) drives the checks and [`reference()`], the text of `ratewire
//! scenario --reference`. A [`ScenarioError`] has all [`Diagnostic`]s of a wrong file, each with
//! its place, the allowed values, and the nearest valid word.

#![deny(clippy::print_stdout, clippy::print_stderr)]

// Modules in layers: a module uses those of the lines before its own, and on its own line those to
// its left. A test of `ratewire-cli` finds circles.
//
// 1. `keys`, `diagnostic`, `error`: the table of keys, and messages about a text.
// 2. `document`, `overrides`: the text as a tree, each value with its place, and values set in it.
// 3. `context`, `section`: what is noted while a scenario is read, and a table read key by key.
// 4. `laws`, `transport`, `network`, `topology`: names and options of laws, ends of flows, links.
// 5. `traffic`, `overlay`, `ensemble`: what is sent.
// 6. `expect`, `record`: what is measured.
// 7. `lower`: all of it as a run.
// 8. `scenario`: a scenario that was read, and the run that it becomes under a law.
// 9. `settings`, `builder`, `reference`, `fuzzing`: what is made of these.

mod builder;
mod context;
mod diagnostic;
mod document;
mod ensemble;
mod error;
pub mod expect;
#[doc(hidden)]
pub mod fuzzing;
pub mod keys;
mod laws;
mod lower;
mod network;
mod overlay;
mod overrides;
mod record;
mod reference;
mod scenario;
mod section;
mod settings;
#[cfg(test)]
mod tests;
mod topology;
mod traffic;
mod transport;
mod window;

pub use builder::{Builder, Expect, Flow, Link};
pub use diagnostic::{Diagnostic, Severity};
pub use error::ScenarioError;
pub use expect::{Basis, EmulatedBound, Evaluator, Expectation, Finding, MetricUnit};
pub use laws::files::{is_law_file, law_files};
pub use laws::{Change, WrongConstant};
pub use overrides::whole_path;
pub use ratewire_config::nearest;
pub use reference::reference;
pub use scenario::{Loader, Plan, Scenario};
pub use settings::{Setting, Settings};
pub use topology::{TopologyInfo, topologies};
pub use traffic::Load;
