//! Users that a scenario's programs may run as in real time.

use ratewire::Experiment;
use ratewire_command_line::Exit;
use ratewire_emulate::{Users, hides_working_directory};
use ratewire_scenario::Scenario;

use crate::arguments::listed;
use crate::output::complain;

/// Options about users.
#[derive(clap::Args)]
pub(crate) struct UserArgs {
    /// Users of this machine that the scenario's programs may run as, if the scenario names them:
    /// root,alice
    #[arg(long, value_name = "USER", value_delimiter = ',', value_parser = listed)]
    allow_user: Vec<String>,
}

impl UserArgs {
    /// Allows the users in an experiment.
    pub(crate) fn apply(&self, experiment: Experiment) -> Result<Experiment, Exit> {
        experiment.allow_users(&self.allow_user).map_err(|wrong| {
            print_stderr!("ratewire: {wrong}");
            Exit::Wrong
        })
    }

    /// The users that programs may run as.
    pub(crate) fn users(&self) -> Result<Users, Exit> {
        Users::allowing(&self.allow_user).map_err(|wrong| {
            print_stderr!("ratewire: {wrong}");
            Exit::Wrong
        })
    }
}

/// Refuses a scenario whose programs name users that are not allowed.
pub(crate) fn hold(scenario: &Scenario, users: &Users) -> Result<(), Exit> {
    let refused = scenario.refused_users(|name| users.refuses(name));
    complain(&refused);
    if refused.is_empty() { Ok(()) } else { Err(Exit::Wrong) }
}

/// Warns if programs cannot see the files of the working directory.
pub(crate) fn warn_of_hidden_files(scenario: &Scenario) {
    if scenario.has_programs() && hides_working_directory() {
        print_stderr!(
            "warning: programs cannot see the files of this directory: each host has its own /tmp and /var/tmp\n  \
             help: start the command in another directory, such as one below this"
        );
    }
}
