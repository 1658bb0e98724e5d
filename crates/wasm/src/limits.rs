//! What a module may use.

use ratewire_units::Bytes;

/// Largest file of a module, as text or binary.
pub(crate) const FILE: Bytes = Bytes::new(256 * 1024);
/// Most elements of a module's table.
pub(crate) const TABLE: usize = 4096;
/// Largest stack of calls and local values, outside the module's memory.
pub(crate) const STACK: Bytes = Bytes::new(64 * 1024);
/// Most nested calls.
pub(crate) const DEPTH: usize = 500;

/// Fuel of a call from a function to another, which clears the local values of the other: up to
/// the whole stack.
pub(crate) const CALL: u8 = 20;

/// Limits of one instance of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest memory of the module: its data, its stack in the memory, and what it grows by.
    pub memory: Bytes,
    /// Fuel of one call into the module. A simple instruction takes one unit, a call within the
    /// module 20.
    pub fuel: u64,
}

impl Default for Limits {
    /// 1 MiB of memory and 100,000 units of fuel.
    fn default() -> Limits {
        Limits { memory: Bytes::new(1024 * 1024), fuel: 100_000 }
    }
}
