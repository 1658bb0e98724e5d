//! Commands to a running switch.

use std::path::Path;
use std::rc::Rc;

use ratewire_daemon::control::{ControlError, Controlled, command};
use tracing::info;

use super::routing::Modules;
use crate::hub::Hub;
use crate::running::Running;
use ratewire_switch_interface::status::PROGRAM;

/// A command to a running switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Give a member no new frames.
    Drain(String),
    /// Give a member new frames again.
    Undrain(String),
    /// Read the routing module's file again.
    Reload,
}

/// Has the switch whose `control` this path is carry out a command. Returns what it says.
///
/// # Errors
/// If no switch takes commands at the path, or it refuses this one.
pub fn send(path: &Path, what: &Command) -> Result<String, ControlError> {
    match what {
        Command::Drain(member) => command(&PROGRAM, path, &["drain", member]),
        Command::Undrain(member) => command(&PROGRAM, path, &["undrain", member]),
        Command::Reload => command(&PROGRAM, path, &["reload"]),
    }
}

/// Carries out commands.
pub(super) struct Commands {
    pub(super) running: Rc<Running>,
    pub(super) modules: Rc<Modules>,
}

impl Controlled for Commands {
    async fn command(&self, words: &[&str]) -> Result<String, String> {
        match words {
            ["drain", member] => self.running.change(|hub, now| {
                let place = place(hub, member)?;
                Ok(match hub.drain(now, place) {
                    true => {
                        info!(target: "ratewire_switch", member, "member drains");
                        format!("{member} gets no new frames")
                    }
                    false => format!("{member} got no new frames before"),
                })
            }),
            ["undrain", member] => self.running.change(|hub, now| {
                let place = place(hub, member)?;
                Ok(match hub.undrain(now, place) {
                    true => {
                        info!(target: "ratewire_switch", member, "member drains no more");
                        format!("{member} gets new frames again")
                    }
                    false => format!("{member} got new frames before"),
                })
            }),
            ["reload"] => self.modules.reload().await,
            _ => Err("the switch knows the commands drain, undrain and reload".to_string()),
        }
    }
}

fn place(hub: &Hub, member: &str) -> Result<usize, String> {
    hub.place(member).ok_or_else(|| {
        let known: Vec<&str> = hub.members().map(|known| known.member.name.as_str()).collect();
        match known.is_empty() {
            true => format!("no member is called {member}: there are none"),
            false => format!("no member is called {member}: there are {}", known.join(", ")),
        }
    })
}
