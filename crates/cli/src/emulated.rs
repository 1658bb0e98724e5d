//! Runs in real time, and what is told of them beside a run's figures.

use std::process::ExitStatus;

use ratewire_emulate::{Emulated, Fidelity, MOST_LATE, Options};
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
    options: &Options,
    also: &mut dyn Recorder,
) -> Result<Ran, Failure> {
    let (mut fidelity, mut left) = (None, None);
    let alone = options.shell.filter(|shell| shell.is_alone).map(|_| without_flows(setup));
    let told = alone.as_ref().unwrap_or(setup);
    let (mut run, outcome) = run_in("emulate", told, labels, files, also, |observer| {
        let emulated = ratewire_emulate::run(setup, options, observer)
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
        tell!(
            "  help: choose it in the program, as with `iperf3 -C {wants}`; net.ipv4.tcp_allowed_congestion_control says what \
             programs that are not root's may choose"
        );
    }
    for program in emulated.programs.iter().filter(|program| program.well == Some(false)) {
        tell!("warning: {:?} at {} ended with an error", program.run, program.host);
        let log = program.log.as_deref().map(at_last);
        let log = log.map(|log| format!("{} has what it wrote; ", log.display()));
        tell!("  help: {}it ran as {}", log.unwrap_or_default(), program.user);
    }
}

/// What to do about a run that cannot be relied on, for each cause; nothing about one that can.
pub(crate) fn remedies(fidelity: &FidelitySummary) -> Vec<&'static str> {
    let FidelitySummary { failed_flows, refused_connections, silent, .. } = *fidelity;
    let lost = fidelity.dropped_by_devices + fidelity.refused_by_hosts;
    let causes = [
        (
            failed_flows > 0,
            "mend the flows and programs that failed: warnings tell why, and what has a program's output",
        ),
        (
            silent && failed_flows == 0,
            "find out why nothing was sent: the run's folder has what programs wrote, in `programs/`",
        ),
        (refused_connections > 0, "`ratewire doctor` says what the kernel lacks of the law"),
        (
            lost > 0 || fidelity.late_share > MOST_LATE,
            "packets were late, or lost outside the network: run it on a quieter machine, and let many flows start one after \
             the other (`stagger`)",
        ),
    ];
    let causes = causes.into_iter().filter(|(is_one, _)| *is_one && !fidelity.holds);
    causes.map(|(_, remedy)| remedy).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_its_own_remedy() {
        let bad = FidelitySummary::default();
        let first = |fidelity: FidelitySummary| match &remedies(&fidelity)[..] {
            [one] => one.split(' ').next().unwrap_or_default(),
            many => panic!("{many:?}"),
        };
        assert_eq!(first(FidelitySummary { failed_flows: 1, silent: true, ..bad.clone() }), "mend");
        assert_eq!(first(FidelitySummary { silent: true, ..bad.clone() }), "find");
        assert_eq!(first(FidelitySummary { refused_connections: 1, ..bad.clone() }), "`ratewire");
        assert_eq!(first(FidelitySummary { late_share: 0.02, ..bad.clone() }), "packets");
        assert_eq!(first(FidelitySummary { refused_by_hosts: 1, ..bad.clone() }), "packets");
        let both = FidelitySummary { failed_flows: 1, late_share: 0.02, ..bad };
        assert_eq!(remedies(&both).len(), 2);
        let none = FidelitySummary { holds: true, late_share: 0.01, ..Default::default() };
        assert!(remedies(&none).is_empty());
    }
}
