//! `[[program]]`, and flows whose data a program sends.

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{FlowSpec, ProgramSpec};
use ratewire_units::Time;

use super::Senders;
use crate::section::{At, Section};

/// Reads all `[[program]]` tables.
pub(crate) fn read(root: &Section<'_>, senders: &Senders<'_>) -> Vec<ProgramSpec> {
    let sections = root.sections("program", &["program"]);
    let mut programs = Vec::new();
    for section in sections {
        programs.extend(one(&section, senders));
        section.finish();
    }
    programs
}

fn one(section: &Section<'_>, senders: &Senders<'_>) -> Option<ProgramSpec> {
    let context = section.context;
    let (host, run, start) = (section.text("host"), section.text("run"), section.time("start"));
    let (host, run) = (host?, run?);
    let node = senders.net.expect_node(context, host)?;
    check_text(section, &run);
    if let Some(start) = start.filter(|start| start.value >= senders.duration) {
        context
            .warning(start.span, "this program never starts")
            .of_end()
            .help(format!("the run ends at {}", senders.duration));
    }
    let start = start.map(|start| Time::ZERO + start.value);
    Some(ProgramSpec { host: NodeId(node as u32), run: run.value.into(), start, flow: None })
}

/// Notes an error where a flow says at which end its program runs, and names none.
pub(super) fn refuse_lone_place(section: &Section<'_>) {
    if let (Some(entry), None) = (section.get("run_at"), section.get("run")) {
        section
            .context
            .error(entry.key_span, "`run_at` needs `run`")
            .help("`run` names the program that sends, `run_at` the end at which it is started");
    }
}

/// The program that sends a flow's data, where `[[flow]]` names one; `index` is the flow's.
pub(super) fn of_flow(
    section: &Section<'_>,
    flow: &FlowSpec,
    index: usize,
    is_one_of_many: bool,
) -> Option<ProgramSpec> {
    let run = section.text("run")?;
    check_text(section, &run);
    if is_one_of_many {
        section
            .context
            .error(run.span, "one program cannot be the sender of several flows")
            .help("write a [[flow]] for each, without `*` and `count`");
        return None;
    }
    let host = if section.word_or("run_at") == "to" { flow.to } else { flow.from };
    Some(ProgramSpec { host, run: run.value.into(), start: Some(flow.start), flow: Some(index) })
}

/// Bytes of the longest argument of a program on Linux, `MAX_ARG_STRLEN` without the NUL at its end.
const LONGEST: usize = 131_071;

fn check_text(section: &Section<'_>, run: &At<&str>) {
    let context = section.context;
    if run.value.trim().is_empty() {
        context.error(section.span, "`run` names no program").help("for example \"iperf3 -s\"");
    } else if run.value.contains('\0') {
        context
            .error(
                run.span,
                "`run` has a NUL character, where the system ends a program's arguments",
            )
            .help("leave `\\u0000` out");
    } else if run.value.len() > LONGEST {
        let len = run.value.len();
        context
            .error(run.span, format!("`run` has {len} bytes; the system takes at most {LONGEST}"))
            .help("write the commands to a file and run that: \"sh FILE\"");
    }
}
