//! Configuration files: TOML, with all mistakes reported at once.
//!
//! A daemon states its keys and reads them off [`Section`]s. A wrong value is noted with its place
//! and a remedy, and reading goes on with the default. [`parse`] returns an error if anything was
//! noted.
//!
//! ```
//! use std::path::Path;
//!
//! use ratewire_config::{self as config, ConfigError};
//! use ratewire_units::Duration;
//!
//! struct Config {
//!     clients: u32,
//!     timeout: Duration,
//! }
//!
//! fn parse(file: &Path, text: &str) -> Result<Config, ConfigError> {
//!     config::parse(file, text, &["clients", "limits"], |root| {
//!         let usual = Duration::from_secs(5);
//!         let range = Duration::from_secs(1)..=Duration::from_secs(60);
//!         let limits = root.table("[limits]", &["timeout"]);
//!         Config {
//!             clients: root.count("clients", 10, 1..=1000),
//!             timeout: limits.map_or(usual, |limits| limits.quantity("timeout", usual, range)),
//!         }
//!     })
//! }
//!
//! let file = Path::new("a.toml");
//! let config = parse(file, "clients = 20\n[limits]\ntimeout = \"2 s\"").unwrap();
//! assert_eq!((config.clients, config.timeout), (20, Duration::from_secs(2)));
//! let error = parse(file, "clients = 0\n[limits]\ntimout = \"2 s\"").err().unwrap();
//! assert_eq!(
//!     error.to_string(),
//!     "a.toml:1:11: `clients` cannot be 0\n  help: allowed: 1 to 1000\n\
//!      a.toml:3:1: unknown key `timout` in [limits]\n  help: did you mean `timeout`?"
//! );
//! ```
//!
//! | part | is |
//! |---|---|
//! | `problem` | mistakes, and the error that lists them |
//! | `source` | the text, and the mistakes found so far |
//! | `section` | a table of the file |
//! | `value` | values of TOML |
//! | `listen` | where a daemon listens, and where servers do |
//! | `host` | hosts by address or by name |
//! | `nearest` | the word that was probably meant |
//! | [`fuzzing`] | properties of the errors of any text |

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod fuzzing;
mod host;
mod listen;
mod nearest;
mod problem;
mod section;
mod source;
#[cfg(test)]
mod tests;
mod value;

use std::path::Path;

use ratewire_files::{CONFIGURATION, read_text};
use toml::de::DeTable;

pub use host::Host;
pub use listen::{Listen, Server, socket_path};
pub use nearest::nearest;
pub use problem::{ConfigError, Problem, known_words};
pub use section::Section;
pub use value::At;

use source::Source;

/// Reads the text of a configuration file: a regular file of at most 16 MiB.
///
/// # Errors
/// If the file cannot be read.
pub fn read(file: &Path) -> Result<String, ConfigError> {
    read_text(file, CONFIGURATION).map_err(|source| ConfigError::unreadable(file, source))
}

/// Parses the text of `file`, whose keys outside of tables and whose tables are `keys`. `read`
/// makes the configuration of the whole file.
///
/// # Errors
/// All mistakes in the text. A text that is not TOML is not passed to `read`.
pub fn parse<T>(
    file: &Path,
    text: &str,
    keys: &[&str],
    read: impl FnOnce(&Section<'_>) -> T,
) -> Result<T, ConfigError> {
    let source = Source::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let message = format!("not TOML: {}", error.message());
        source.note(&error.span().unwrap_or(0..0), message, "see https://toml.io");
    }
    if !errors.is_empty() {
        return Err(ConfigError::new(Some(file), source.into_problems()));
    }
    let config = read(&Section::new(&source, "the file", keys, 0..0, table.get_ref()));
    match source.into_problems() {
        problems if problems.is_empty() => Ok(config),
        problems => Err(ConfigError::new(Some(file), problems)),
    }
}
