//! Stands in for `emulated.rs` in a build without the feature `emulate`, and refuses emulated runs.

use std::path::Path;
use std::process::ExitStatus;

use ratewire_report::World;
use ratewire_scenario::Plan;
use ratewire_sim::record::Recorder;
use ratewire_sim::setup::Setup;

use crate::Error;
use crate::listen::{Listener, Running};
use crate::observe::{Files, Labels, Watched};
use crate::results::error::lacking;

/// Stands in for the users of emulated hosts, of which there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users(());

/// Stands in for a shell at an emulated host, of which there is none.
#[derive(Clone, Debug)]
pub(crate) enum Shell {}

/// Refuses emulated runs.
pub(crate) fn check_feature() -> Result<(), Error> {
    let what = format!("this build has no world {}", World::Emulate);
    Err(lacking("world", &what, "emulate"))
}

pub(crate) fn check(_: &Plan, _: bool) -> Result<(), String> {
    check_feature().map_err(|why| why.to_string())
}

pub(crate) fn renamed(plan: Plan) -> Plan {
    plan
}

pub(crate) fn is_alone(shell: &Shell) -> bool {
    match *shell {}
}

pub(crate) fn run(
    _: &Setup,
    _: &Setup,
    _: &Labels,
    _: (Running<'_>, &dyn Listener),
    _: Option<Files>,
    _: (Option<&Path>, Option<&Users>, Option<Shell>),
    _: &mut dyn Recorder,
) -> Result<(Watched, Option<ExitStatus>), Error> {
    Err(check_feature().expect_err("there is no such world"))
}
