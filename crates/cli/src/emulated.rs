//! Runs in real time, and what is told of them beside a run's figures.

use std::path::Path;
use std::process::ExitStatus;

use ratewire_emulate::{Emulated, Fidelity, Options, Shell};
use ratewire_report::{FidelitySummary, Run};
use ratewire_run::{Failure, Files, Labels, run_in};
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::Recorder;
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use crate::output::at_last;

/// A run that was done.
pub(crate) struct Ran {
    pub(crate) run: Run,
    pub(crate) outcome: Outcome,
    /// How the shell ended, if there was one.
    pub(crate) shell: Option<ExitStatus>,
}

/// Runs a setup in real time; with a shell at a host, for as long as that is open.
pub(crate) fn run(
    setup: &Setup,
    labels: &Labels,
    files: Option<Files>,
    folder: Option<&Path>,
    shell: Option<Shell>,
    also: &mut dyn Recorder,
) -> Result<Ran, Failure> {
    let logs = folder.filter(|_| !setup.programs.is_empty()).map(|f| f.join("programs"));
    let options = Options { logs, shell };
    let (mut fidelity, mut left) = (None, None);
    let alone = shell.filter(|shell| shell.is_alone).map(|_| without_flows(setup));
    let told = alone.as_ref().unwrap_or(setup);
    let (mut run, outcome) = run_in("emulate", told, labels, files, also, |observer| {
        let emulated = ratewire_emulate::run(setup, &options, observer)
            .map_err(|e| Failure::World(e.to_string()))?;
        complain(&emulated);
        fidelity = Some(summary(&emulated.fidelity));
        left = emulated.shell;
        Ok(emulated.outcome)
    })?;
    run.summary.fidelity = fidelity;
    // With a shell it lasted as long as that.
    let lasted = outcome.ended.since(Time::ZERO);
    (run.info.duration, run.summary.duration_s) = (lasted, lasted.secs());
    Ok(Ran { run, outcome, shell: left })
}

/// What is told of a shell that is alone.
fn without_flows(setup: &Setup) -> Setup {
    Setup { flows: Vec::new(), traffic: Vec::new(), programs: Vec::new(), ..setup.clone() }
}

/// Tells of flows and programs that did not do what they were to do.
fn complain(emulated: &Emulated) {
    for (flow, why) in &emulated.failed {
        tell!("warning: the flow {flow:?} failed: {why}");
    }
    for (host, has, wants) in &emulated.under_another {
        tell!(
            "warning: programs at {host} send under {has} if they choose nothing else, and not under {wants}"
        );
        tell!("  help: choose it in the program, as with `iperf3 -C {wants}`");
    }
    for program in emulated.programs.iter().filter(|program| program.well == Some(false)) {
        tell!("warning: {:?} at {} ended with an error", program.run, program.host);
        if let Some(log) = &program.log {
            tell!("  help: {} has what it wrote", at_last(log).display());
        }
    }
}

fn summary(fidelity: &Fidelity) -> FidelitySummary {
    FidelitySummary {
        holds: fidelity.holds(),
        packets: fidelity.packets,
        silent: fidelity.is_empty,
        late_share: fidelity.late_share(),
        lateness_p99_s: fidelity.quantile(0.99).secs(),
        lateness_max_s: fidelity.worst.secs(),
        longest_absence_s: fidelity.longest_absence.secs(),
        dropped_by_devices: fidelity.refused_by_devices,
        refused_by_hosts: fidelity.refused_by_hosts,
        stray: fidelity.stray,
        unread_headers: fidelity.unread,
        plain_connections: fidelity.plain,
        refused_connections: fidelity.refused,
        connections_that_chose_another: fidelity.chose_another,
        failed_flows: fidelity.failed_flows,
        offloads: fidelity.offloads,
        real_time: fidelity.real_time,
    }
}
