//! Emulated runs, with their warnings and remedies.

use std::path::Path;
use std::process::ExitStatus;

use ratewire_emulate::{Emulated, EmulationOptions, Fidelity, MOST_HOSTS_LATE, MOST_LATE};
pub(crate) use ratewire_emulate::{Shell, Users};
use ratewire_report::{FidelitySummary, World};
use ratewire_scenario::Plan;
use ratewire_sim::record::Recorder;
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use crate::Error;
use crate::folder::at_last;
use crate::folder::ours::PROGRAMS;
use crate::listen::{Listener, Running, Warning};
use crate::observe::{Files, Labels, Watched, watch};

/// Allows emulated runs: this build has the feature `emulate`.
pub(crate) fn check_feature() -> Result<(), Error> {
    Ok(())
}

/// Checks that runs of a plan can be emulated, and that this machine's kernel can, if it may be
/// asked. The kernel may load modules for this.
///
/// # Errors
/// What the emulator, or this machine, lacks.
pub(crate) fn check(plan: &Plan, asks_kernel: bool) -> Result<(), String> {
    let able = ratewire_emulate::check(&plan.setup);
    let able = able.and_then(|()| match asks_kernel {
        true => ratewire_emulate::check_machine(&plan.setup, None),
        false => Ok(()),
    });
    able.map_err(|why| why.to_string())
}

/// Names laws that a kernel's own stand for as what they are in an emulated run.
pub(crate) fn renamed(mut plan: Plan) -> Plan {
    for law in 0..plan.law_names.len() {
        if let Some(stands) = ratewire_emulate::stand_in(&plan.setup, law) {
            // Two descriptions of one TCP stay apart.
            let is_taken = plan.law_names.contains(&stands);
            let own = &plan.law_names[law];
            plan.law_names[law] = if is_taken { format!("{stands}, {own}") } else { stands };
        }
    }
    plan
}

/// Whether a shell is alone: the run has no flows.
pub(crate) fn is_alone(shell: &Shell) -> bool {
    shell.is_alone
}

/// Runs a setup in real time; with a shell at a host, until the shell ends.
///
/// `described` is the setup that results describe. Outputs of programs go to the run's folder, if
/// there is one, and programs may run as these users. Returns the exit status of the shell, if
/// there was one.
pub(crate) fn run(
    setup: &Setup,
    described: &Setup,
    labels: &Labels,
    (running, listener): (Running<'_>, &dyn Listener),
    files: Option<Files>,
    (folder, users, shell): (Option<&Path>, Option<&Users>, Option<Shell>),
    also: &mut dyn Recorder,
) -> Result<(Watched, Option<ExitStatus>), Error> {
    let logs = folder.filter(|_| ratewire_emulate::has_processes(setup));
    let logs = logs.map(|folder| folder.join(PROGRAMS));
    let options = EmulationOptions { logs, shell, users: users.cloned().unwrap_or_default() };
    let (mut fidelity, mut left) = (None, None);
    let mut watched = watch(described, labels, (running, listener), files, also, |observer| {
        let emulated = ratewire_emulate::run(setup, &options, observer)
            .map_err(|source| Error::Unable { world: World::Emulate, source })?;
        for warning in warnings(&emulated) {
            listener.warning(&running, &warning);
        }
        fidelity = Some(summary(described, &emulated.fidelity));
        left = emulated.shell;
        Ok(emulated.outcome)
    })?;
    watched.run.summary.fidelity = fidelity;
    // With a shell the run lasts as long as the shell.
    let lasted = watched.outcome.ended.since(Time::ZERO);
    (watched.run.info.duration, watched.run.summary.duration_s) = (lasted, lasted.secs());
    Ok((watched, left))
}

/// Warnings about flows and programs that did not work as intended.
fn warnings(emulated: &Emulated) -> Vec<Warning> {
    let mut all = Vec::new();
    let mut warn = |message: String, help: Option<String>| all.push(Warning { message, help });
    for (flow, why) in &emulated.failed {
        warn(format!("the flow {flow:?} failed: {why}"), None);
    }
    for (host, has, wants) in &emulated.under_another {
        let message = format!(
            "programs at {host} send under {has} if they choose nothing else, and not under {wants}"
        );
        let help = format!(
            "choose it in the program, as with `iperf3 -C {wants}`; \
             net.ipv4.tcp_allowed_congestion_control says what programs that are not root's may choose"
        );
        warn(message, Some(help));
    }
    for program in emulated.programs.iter().filter(|program| program.well == Some(false)) {
        let log = program.log.as_deref().map(at_last);
        let log = log.map(|log| format!("{} has what it wrote; ", log.display()));
        let message = format!("{:?} at {} ended with an error", program.run, program.host);
        warn(message, Some(format!("{}it ran as {}", log.unwrap_or_default(), program.user)));
    }
    all
}

/// Remedies for each cause that makes a run unreliable; none for a reliable run.
pub fn remedies(fidelity: &FidelitySummary) -> Vec<&'static str> {
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
            fidelity.hosts_late_share > MOST_HOSTS_LATE,
            "hosts seldom got a processor: run it on a quieter machine, or with fewer hosts and lower rates",
        ),
        (
            lost > 0 || fidelity.late_share > MOST_LATE,
            "packets were late, or lost outside the network: run it on a quieter machine, and let many flows start one after \
             the other (`stagger`)",
        ),
    ];
    let causes = causes.into_iter().filter(|(is_one, _)| *is_one && !fidelity.holds);
    causes.map(|(_, remedy)| remedy).collect()
}

fn summary(setup: &Setup, fidelity: &Fidelity) -> FidelitySummary {
    FidelitySummary {
        differences: ratewire_emulate::differences(setup),
        holds: fidelity.holds(),
        times_hold: fidelity.times_hold(),
        packets: fidelity.packets.count,
        silent: fidelity.is_empty,
        late_share: fidelity.packets.late_share(),
        lateness_p99_s: fidelity.packets.quantile(0.99).secs(),
        lateness_max_s: fidelity.packets.worst.secs(),
        hosts_late_share: fidelity.hosts.late_share(),
        hosts_lateness_p99_s: fidelity.hosts.quantile(0.99).secs(),
        hosts_lateness_max_s: fidelity.hosts.worst.secs(),
        longest_absence_s: fidelity.longest_absence.secs(),
        dropped_by_devices: fidelity.refused_by_devices,
        refused_by_hosts: fidelity.refused_by_hosts,
        stray: fidelity.stray,
        expired: fidelity.expired,
        unread_headers: fidelity.unread,
        plain_connections: fidelity.plain,
        refused_connections: fidelity.refused,
        connections_that_chose_another: fidelity.chose_another,
        failed_flows: fidelity.failed_flows,
        offloads: fidelity.offloads,
        real_time: fidelity.real_time,
        date: time::OffsetDateTime::now_utc().date().to_string(),
        kernel: ratewire_emulate::kernel_release(),
        machine: ratewire_emulate::processors(),
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
        assert_eq!(first(FidelitySummary { hosts_late_share: 0.51, ..bad.clone() }), "hosts");
        let both = FidelitySummary { failed_flows: 1, late_share: 0.02, ..bad };
        assert_eq!(remedies(&both).len(), 2);
        let none = FidelitySummary { holds: true, late_share: 0.01, ..Default::default() };
        assert!(remedies(&none).is_empty());
    }
}
