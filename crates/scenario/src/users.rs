//! Users that a scenario names for its programs.

use crate::diagnostic::Diagnostic;
use crate::scenario::Scenario;

/// A user that a scenario names, and the place.
#[derive(Clone, Debug)]
pub(crate) struct NamedUser {
    pub name: String,
    /// An error at the place, without a message yet.
    pub at: Diagnostic,
}

impl Scenario {
    /// Errors about the users of programs.
    ///
    /// `refuse` gives message and help for a user that may not be used, and `None` for others.
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
