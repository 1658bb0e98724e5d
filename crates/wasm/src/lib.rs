//! Routing modules of Anypoint switches in WebAssembly.
//!
//! A [`Module`] is loaded from a file that a user has built. [`WasmRouting`] asks it for the member
//! that each frame goes to. The interface is in `docs/reference/routing-abi.md`.
//!
//! A module is not trusted. It has no imports, so it sees no clock, file or network, and the same
//! frames always get the same members. Its memory and the fuel of a call are [limited](Limits).
//! Where it traps, uses up its fuel or answers nonsense, a default module decides and the fault is
//! [counted](Faults).
//!
//! ```
//! use ratewire_anypoint::routing::{Frame, Member, RoundRobin, Routing};
//! use ratewire_wasm::{Module, WasmRouting};
//!
//! # fn main() -> Result<(), ratewire_wasm::LoadError> {
//! let module = Module::load(include_bytes!("../examples/last.wat"))?;
//! let mut routing = WasmRouting::new(module, Box::new(RoundRobin::default()));
//! let members = [Member { is_up: true, ..Member::default() }; 3];
//! assert_eq!(routing.route(&Frame { number: 0, content: b"" }, &members), Some(2));
//! # Ok(())
//! # }
//! ```
//!
//! To replace a module or read its counters while a switch uses it, keep it in an
//! `Arc<Mutex<WasmRouting>>` and give a clone to the switch.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod abi;
mod error;
pub mod fuzzing;
mod instance;
mod limits;
mod module;
mod routing;

pub use abi::{MOST_CONTENT, RECORD, VERSION};
pub use error::LoadError;
pub use limits::Limits;
pub use module::Module;
pub use routing::{FRAMES_A_FAULT, Faults, MOST_FAULTS, WasmRouting};

/// Compiles the programs of the book.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/write-a-routing-module.md")]
struct Book;
