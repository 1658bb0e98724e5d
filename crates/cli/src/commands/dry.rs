//! `--dry-run`: lists what would run, where, and as which user. Starts and writes nothing.

use std::path::Path;

use ratewire::{Job, World};
use ratewire_command_line::{Exit, print};
use ratewire_emulate::Users;
use ratewire_sim::setup::Setup;
use ratewire_table::{Column, Grid, Heading, Style};
use ratewire_units::Time;
use ratewire_units::text::legible;

const NOTHING: &str = "This is a dry run: nothing is started and nothing is written.\n";

/// Prints the planned runs, and the programs of emulated ones.
pub(crate) fn runs(jobs: &[Job<'_>], out: Option<&Path>, users: &Users) -> Exit {
    let mut rows = vec![["world", "law", "seed", "lasts", "files"].map(String::from)];
    for job in jobs {
        let plan = job.plan();
        let folder = job.folder().map(|folder| folder.display().to_string());
        rows.push([
            job.world().to_string(),
            legible(&plan.law),
            plan.setup.seed.to_string(),
            plan.setup.duration.to_string(),
            folder.map_or_else(|| "none".to_string(), |folder| legible(&folder)),
        ]);
    }
    let mut text = format!("{NOTHING}\n{}", table(&rows));
    if let Some(out) = out {
        let report = out.join("report.html").display().to_string();
        text += &format!("\nReport: {}\n", legible(&report));
    }
    // The programs of a scenario are the same for every law and seed.
    if let Some(job) = jobs.iter().find(|job| job.world() == World::Emulate) {
        text += &format!("\n{}", programs(&job.plan().setup, users));
    } else if let Some(count) =
        jobs.first().map(|job| job.plan().setup.programs.len()).filter(|n| *n > 0)
    {
        let s = if count == 1 { "" } else { "s" };
        text += &format!(
            "\nThe scenario has {count} program{s}, which `--world emulate` would run: list them with \
             `--world emulate --dry-run`.\n"
        );
    }
    print(&text)
}

/// Prints the programs that would run beside a shell at a host.
pub(crate) fn shell(setup: &Setup, host: &str, is_alone: bool, users: &Users) -> Exit {
    let host = legible(host);
    let mut text = format!("{NOTHING}\nYour shell, as root, at {host}: `$SHELL`, or else `sh`.\n");
    if !is_alone {
        text += &format!("\n{}", programs(setup, users));
    }
    print(&text)
}

/// Lists each program of a setup on one line: host, user, start and command.
fn programs(setup: &Setup, users: &Users) -> String {
    let daemons = setup.overlay.as_ref().map(|overlay| {
        let (nodes, user) = (overlay.nodes.len(), users.name(None).unwrap_or_default());
        format!(
            "The overlay: {nodes} group daemons and their clients, `ratewire-groups`, as {user}.\n"
        )
    });
    let daemons = daemons.into_iter().chain(ends(setup, users)).collect::<Vec<_>>();
    let daemons = (!daemons.is_empty()).then(|| daemons.concat());
    if setup.programs.is_empty() {
        return daemons.unwrap_or_else(|| "The scenario runs no programs.\n".to_string());
    }
    let mut rows = vec![["host", "user", "starts", "command"].map(String::from)];
    for program in &setup.programs {
        let starts = match program.start {
            None => "before all flows".to_string(),
            Some(start) => format!("at {}", start.since(Time::ZERO)),
        };
        // A refused user has an error beside this list.
        let user = users.name(program.user.as_deref());
        rows.push([
            legible(&setup.network.nodes[program.host.index()].name),
            user.unwrap_or_else(|_| format!("{} (refused)", program.user.as_deref().unwrap_or(""))),
            starts,
            legible(&program.run),
        ]);
    }
    let files = "Each host has its own /tmp and /var/tmp, which are removed after the run. A program can read and change \
                 this machine's other files as its user can.";
    let daemons = daemons.unwrap_or_default();
    format!(
        "{daemons}Programs, each given to `sh` in the working directory:\n\n{}\n{files}\n",
        table(&rows)
    )
}

/// What connections of ACP would start.
fn ends(setup: &Setup, users: &Users) -> Option<String> {
    let (switches, ends) = ratewire_emulate::switches_and_ends(setup);
    let user = users.name(None).unwrap_or_default();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "es" });
    (ends > 0).then(|| {
        let (switches, s) = (count(switches, "switch"), if ends == 1 { "" } else { "s" });
        format!("Connections of ACP: {switches} and {ends} end{s}, `ratewire-switch`, as {user}.\n")
    })
}

/// Rows of cells, indented.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut grid = Grid::new(vec![Column::text(""); N]).longest(usize::MAX);
    rows.iter().for_each(|row| grid.row(row));
    let text = grid.render(&Style { heading: Heading::None, ..Style::default() });
    text.lines().map(|line| format!("  {line}\n")).collect()
}
