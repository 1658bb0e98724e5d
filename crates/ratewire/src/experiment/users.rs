//! Users of this machine that programs of emulated hosts run as.

use crate::emulated::Users;
use crate::{Error, Experiment, World};

impl Experiment {
    /// Users of this machine that the scenario's programs may run as, if the scenario names them.
    ///
    /// # Errors
    /// An error if this machine has no such user.
    pub fn allow_users(self, names: &[String]) -> Result<Experiment, Error> {
        let users = Users::allowing(names)
            .map_err(|source| Error::Unable { world: World::Emulate, source })?;
        Ok(Experiment { users, ..self })
    }

    /// The users that programs may run as.
    pub fn users(&self) -> &Users {
        &self.users
    }

    /// Checks that the scenario's programs may run as the users that it names.
    ///
    /// # Errors
    /// The refused users, with their places in the scenario.
    pub fn check_users(&self) -> Result<(), Error> {
        let refused = self.scenario.refused_users(|name| self.users.refuses(name));
        if refused.is_empty() { Ok(()) } else { Err(Error::Scenario(refused.into())) }
    }
}
