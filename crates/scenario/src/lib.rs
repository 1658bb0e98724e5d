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

mod builder;
mod context;
mod diagnostic;
mod document;
mod effective;
mod ensemble;
mod error;
pub mod expect;
#[doc(hidden)]
pub mod fuzzing;
mod ignored;
pub mod keys;
mod law_files;
mod laws;
mod loader;
mod lower;
mod missing_ports;
mod network;
mod overlay;
mod overrides;
mod pause;
mod phases;
mod readers;
mod record;
mod reference;
mod requirements;
mod scenario;
mod section;
mod settings;
mod syntax;
#[cfg(test)]
mod tests;
mod topology;
mod traffic;
mod transport;
mod trust;
mod users;
mod uses;

pub use builder::{Builder, Expect, Flow, Link};
pub use diagnostic::{Diagnostic, Severity};
pub use error::ScenarioError;
pub use expect::{Basis, Evaluator, Expectation, Finding, MetricUnit};
pub use law_files::{is_law_file, law_files};
pub use loader::Loader;
pub use overrides::whole_path;
pub use ratewire_config::nearest;
pub use reference::reference;
pub use scenario::{Plan, Scenario};
pub use settings::{Setting, Settings};
pub use topology::{TopologyInfo, topologies};
pub use traffic::Load;
