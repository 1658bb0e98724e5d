//! Another configuration while the daemon runs.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use ratewire_daemon::control::{ControlError, Controlled, command};
use ratewire_groups_interface::status::PROGRAM;
use tracing::{info, warn};

use super::core::Shared;
use super::link::Links;

/// Has the daemon whose `control` this path is read its groups.toml again. Returns what it says.
///
/// # Errors
/// If no daemon takes commands at the path, or the file cannot be taken over.
pub fn reload(control: &Path) -> Result<String, ControlError> {
    command(&PROGRAM, control, &["reload"])
}

/// Reads the configuration again.
pub(super) struct Reloads {
    pub(super) shared: Rc<Shared>,
    pub(super) links: RefCell<Links>,
}

impl Reloads {
    /// Goes on with what the file now says. What has come of it is in the log, too.
    ///
    /// # Errors
    /// If the file has mistakes, or changes what a running daemon cannot: the daemon goes on as
    /// before.
    pub(super) fn reload(&self) -> Result<String, String> {
        let old = self.shared.config();
        let next = old.read_again().and_then(|next| {
            old.check_reload(&next, self.shared.me)?;
            Ok(next)
        });
        let next = next.map_err(|error| {
            // One line, for the log and the command.
            let reason = error.to_string().replace("\n  help: ", "; ");
            warn!(target: "ratewire_groups", reason, "groups.toml not reloaded");
            reason
        })?;
        let added = next.daemons.len() - old.daemons.len();
        self.shared.reload(next);
        self.links.borrow_mut().connect(&self.shared);
        info!(target: "ratewire_groups", added, "groups.toml reloaded");
        Ok(match added {
            0 => "the file has been read again".to_string(),
            1 => "the file has been read again: a daemon is new".to_string(),
            added => format!("the file has been read again: {added} daemons are new"),
        })
    }
}

impl Controlled for Reloads {
    async fn command(&self, words: &[&str]) -> Result<String, String> {
        match words {
            ["reload"] => self.reload(),
            _ => Err("the daemon knows the command reload".to_string()),
        }
    }
}
