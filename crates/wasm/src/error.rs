//! Why a module cannot be loaded, and why a call of one ended early.

use ratewire_units::Bytes;

use crate::abi::{MOST_CONTENT, VERSION};

/// An error from a library, as the source of one of ours.
type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a call into a module did not return what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    /// The module trapped with this message.
    #[error("traps: {0}")]
    Trap(String),
    /// The module used up its fuel.
    #[error("uses up its fuel; do less in one call")]
    Fuel,
    /// The buffer that it returned is not within its memory.
    #[error(
        "returns address {address}, where {length} bytes do not fit into a memory of {memory}; \
         return the address of a buffer of that size"
    )]
    Buffer { address: u32, length: usize, memory: usize },
}

/// Why a module cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is too large.
    #[error(
        "the file has {} bytes, but at most {} are allowed; build with -O2 and strip debug \
         information (-Wl,--strip-all)",
        size.get(),
        limit.get()
    )]
    TooLarge {
        /// Size of the file.
        size: Bytes,
        /// The largest that is allowed.
        limit: Bytes,
    },
    /// The file is neither binary nor text of WebAssembly.
    #[error(
        "the file is not WebAssembly: it begins neither with \"\\0asm\" (binary) nor with \"(\" \
         (text); build for the target wasm32"
    )]
    NotWasm,
    /// The text has an error.
    #[error("the text is not WebAssembly: {0}")]
    Text(#[source] Source),
    /// The binary is malformed, is not valid, or needs a feature that is switched off.
    #[error(
        "the module is not valid: {0}; build for plain wasm32, without threads, SIMD, exceptions \
         and 64-bit memory"
    )]
    Invalid(#[source] Source),
    /// The module imports something.
    #[error(
        "the module imports `{module}.{name}`, but nothing can be imported; define it in the \
         module, and link without --allow-undefined and --import-memory"
    )]
    Import {
        /// The module that the import names.
        module: String,
        /// The import's name in that module.
        name: String,
    },
    /// An export is missing, or is of another kind.
    #[error(
        "the module does not export `{export}`; in C, put __attribute__((export_name(\"...\"))) \
         before the function"
    )]
    Missing {
        /// The export, for a function with its signature.
        export: &'static str,
    },
    /// An exported function has another signature.
    #[error(
        "the module exports a function that must be `{required}` with other types; in C, i32 is \
         int and i64 is long long"
    )]
    Signature {
        /// The function with the signature that is required.
        required: &'static str,
    },
    /// The memory is larger at the start than it may become.
    #[error(
        "the memory begins with {} bytes, but at most {} are allowed; link with a smaller stack \
         (-Wl,-z,stack-size=16384) or with less data",
        size.get(),
        limit.get()
    )]
    Memory {
        /// Size of the memory at the start.
        size: Bytes,
        /// The largest that is allowed.
        limit: Bytes,
    },
    /// The module is written for another version of the interface.
    #[error(
        "`ratewire_abi` returns {found}, but this switch has version {VERSION}; build the module \
         for version {VERSION}"
    )]
    Version {
        /// What `ratewire_abi` returned.
        found: i32,
    },
    /// The module asks for a number of bytes that is not allowed.
    #[error(
        "`wants` returns {found}, but 0 to {MOST_CONTENT} bytes of a frame can be seen; return a \
         number in that range"
    )]
    Wants {
        /// What `wants` returned.
        found: i32,
    },
    /// A first call fails, so every later one would.
    #[error("the first call of `{function}` {what}")]
    Fails {
        /// The function, or `start` for all that happens before the first call.
        function: &'static str,
        /// What it does.
        what: String,
    },
}

impl LoadError {
    pub(crate) fn fails(function: &'static str, stop: &Stop) -> LoadError {
        LoadError::Fails { function, what: stop.to_string() }
    }
}
