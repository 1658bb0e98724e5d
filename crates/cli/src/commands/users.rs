//! Whom the programs of a scenario may run as, where they run in real time.

use ratewire::Experiment;
use ratewire_emulate::{Users, hides_working_directory};
use ratewire_scenario::Scenario;

use crate::arguments::listed;
use crate::exit::Exit;
use crate::say::complain;

/// What the command line says of users.
#[derive(clap::Args)]
pub(crate) struct UserArgs {
    /// Users of this machine that the scenario's programs may run as, where it says so: root,alice
    #[arg(long, value_name = "USER", value_delimiter = ',', value_parser = listed)]
    allow_user: Vec<String>,
}

impl UserArgs {
    /// The experiment, whose programs may run as these users.
    pub(crate) fn apply(&self, experiment: Experiment) -> Result<Experiment, Exit> {
        experiment.allow_users(&self.allow_user).map_err(|wrong| {
            tell!("ratewire: {wrong}");
            Exit::Wrong
        })
    }

    /// The users that programs may run as.
    pub(crate) fn users(&self) -> Result<Users, Exit> {
        Users::allowing(&self.allow_user).map_err(|wrong| {
            tell!("ratewire: {wrong}");
            Exit::Wrong
        })
    }
}

/// Refuses a scenario whose programs may not run as the users that it names.
pub(crate) fn hold(scenario: &Scenario, users: &Users) -> Result<(), Exit> {
    let refused = scenario.refused_users(|name| users.refuses(name));
    complain(&refused);
    if refused.is_empty() { Ok(()) } else { Err(Exit::Wrong) }
}

/// Warns where programs do not find the files of the working directory.
pub(crate) fn warn_of_hidden_files(scenario: &Scenario) {
    if scenario.has_programs() && hides_working_directory() {
        tell!(
            "warning: programs do not see the files of this directory: each host has a /tmp and a /var/tmp of its own\n  \
             help: start the command in another directory, such as one below this"
        );
    }
}
