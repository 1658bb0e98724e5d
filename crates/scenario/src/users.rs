//! Users that the programs of a scenario are to run as.

use crate::diagnostic::Diagnostic;
use crate::scenario::Scenario;

/// A user that a scenario names, and where.
#[derive(Clone, Debug)]
pub(crate) struct NamedUser {
    pub name: String,
    /// An error that does not yet say what is wrong.
    pub at: Diagnostic,
}

impl Scenario {
    /// Errors about the users that programs are to run as: `refuse` gives what is wrong with a user
    /// of this name and what to do, or `None` where nothing is.
    pub fn refused_users(
        &self,
        refuse: impl Fn(&str) -> Option<(String, String)>,
    ) -> Vec<Diagnostic> {
        let refused = |user: &NamedUser| {
            let (message, help) = refuse(&user.name)?;
            Some(Diagnostic { message, help: Some(help), ..user.at.clone() })
        };
        self.users.iter().filter_map(refused).collect()
    }
}
