//! Users that a scenario names for its programs.

use crate::context::NamedUser;
use crate::diagnostic::Diagnostic;

use super::Scenario;

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
