//! What only runs at hosts of this machine have: users, and a shell.

use super::Job;
use crate::emulated::{Shell, Users};
use crate::listen::Listener;
use crate::{Error, Run};

impl<'a> Job<'a> {
    /// Allows programs to run as `users`, if the scenario names them.
    pub fn with_users(self, users: &'a Users) -> Job<'a> {
        Job { users: Some(users), ..self }
    }

    /// Runs in real time with a shell at a host, until the shell ends.
    ///
    /// # Errors
    /// As [`Job::run`].
    pub fn run_with_shell(&self, shell: Shell, listener: &dyn Listener) -> Result<Run, Error> {
        self.carry_out(0, listener, Some(shell))
    }
}
