//! Commands to a running daemon, over a Unix socket that only its user may use: one line each, and
//! one line back.
//!
//! A status is HTTP, which any page in a browser may ask for. No page can reach a Unix socket, and
//! the kernel says which user has connected.
//!
//! | part | is |
//! |---|---|
//! | `server` | [`ControlServer`], which gives commands to a [`Controlled`] daemon |
//! | `client` | [`command`], which sends one |

mod client;
mod server;
#[cfg(test)]
mod tests;

pub use client::{ControlError, command};
pub use server::{ControlServer, Controlled};

/// Longest line, in bytes.
const LONGEST: u64 = 4096;
/// Begin of an answer to a command that was carried out, and to one that was not.
const DONE: &str = "done ";
const REFUSED: &str = "refused ";

/// The text as one line.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>() + "\n"
}
