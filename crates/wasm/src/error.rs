//! Why a module cannot be loaded, and why a call of one ended early.

use std::error::Error;
use std::fmt;

use ratewire_units::Bytes;

use crate::abi::{MOST_CONTENT, VERSION};

/// An error from a library, as the source of one of ours.
type Source = Box<dyn Error + Send + Sync>;

/// Why a call into a module did not return what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The module trapped with this message.
    Trap(String),
    /// The module used up its fuel.
    Fuel,
    /// The buffer that it returned is not within its memory.
    Buffer { address: u32, length: usize, memory: usize },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Trap(what) => write!(f, "traps: {what}"),
            Stop::Fuel => write!(f, "uses up its fuel; do less in one call"),
            Stop::Buffer { address, length, memory } => write!(
                f,
                "returns address {address}, where {length} bytes do not fit into a memory of \
                 {memory}; return the address of a buffer of that size"
            ),
        }
    }
}

/// Why a module cannot be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is too large.
    TooLarge {
        /// Size of the file.
        size: Bytes,
        /// The largest that is allowed.
        limit: Bytes,
    },
    /// The file is neither binary nor text of WebAssembly.
    NotWasm,
    /// The text has an error.
    Text(Source),
    /// The binary is malformed, is not valid, or needs a feature that is switched off.
    Invalid(Source),
    /// The module imports something.
    Import {
        /// The module that the import names.
        module: String,
        /// The import's name in that module.
        name: String,
    },
    /// An export is missing, or is of another kind.
    Missing {
        /// The export, for a function with its signature.
        export: &'static str,
    },
    /// An exported function has another signature.
    Signature {
        /// The function with the signature that is required.
        required: &'static str,
    },
    /// The memory is larger at the start than it may become.
    Memory {
        /// Size of the memory at the start.
        size: Bytes,
        /// The largest that is allowed.
        limit: Bytes,
    },
    /// The module is written for another version of the interface.
    Version {
        /// What `ratewire_abi` returned.
        found: i32,
    },
    /// The module asks for a number of bytes that is not allowed.
    Wants {
        /// What `wants` returned.
        found: i32,
    },
    /// A first call fails, so every later one would.
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

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::TooLarge { size, limit } => write!(
                f,
                "the file has {} bytes, but at most {} are allowed; build with -O2 and strip \
                 debug information (-Wl,--strip-all)",
                size.get(),
                limit.get()
            ),
            LoadError::NotWasm => write!(
                f,
                "the file is not WebAssembly: it begins neither with \"\\0asm\" (binary) nor with \
                 \"(\" (text); build for the target wasm32"
            ),
            LoadError::Text(source) => write!(f, "the text is not WebAssembly: {source}"),
            LoadError::Invalid(source) => write!(
                f,
                "the module is not valid: {source}; build for plain wasm32, without threads, SIMD, \
                 exceptions and 64-bit memory"
            ),
            LoadError::Import { module, name } => write!(
                f,
                "the module imports `{module}.{name}`, but nothing can be imported; define it in \
                 the module, and link without --allow-undefined and --import-memory"
            ),
            LoadError::Missing { export } => write!(
                f,
                "the module does not export `{export}`; in C, put \
                 __attribute__((export_name(\"...\"))) before the function"
            ),
            LoadError::Signature { required } => {
                write!(
                    f,
                    "the module exports a function that must be `{required}` with other types; in \
                     C, i32 is int and i64 is long long"
                )
            }
            LoadError::Memory { size, limit } => write!(
                f,
                "the memory begins with {} bytes, but at most {} are allowed; link with a smaller \
                 stack (-Wl,-z,stack-size=16384) or with less data",
                size.get(),
                limit.get()
            ),
            LoadError::Version { found } => write!(
                f,
                "`ratewire_abi` returns {found}, but this switch has version {VERSION}; build the \
                 module for version {VERSION}"
            ),
            LoadError::Wants { found } => write!(
                f,
                "`wants` returns {found}, but 0 to {MOST_CONTENT} bytes of a frame can be seen; \
                 return a number in that range"
            ),
            LoadError::Fails { function, what } => {
                write!(f, "the first call of `{function}` {what}")
            }
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LoadError::Text(source) | LoadError::Invalid(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}
