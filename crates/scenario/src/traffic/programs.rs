//! `[[program]]`, and flows whose data a program sends.

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{FlowSpec, ProgramSpec};
use ratewire_units::Time;

use super::Senders;
use crate::document::At;
use crate::section::Section;

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
    let user = user(section);
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
    Some(ProgramSpec { host: NodeId(node as u32), run: run.value.into(), start, flow: None, user })
}

/// Notes an error for each key about a flow's program, if the flow has no program.
pub(super) fn refuse_lone_keys(section: &Section<'_>) {
    for (key, help) in [
        ("run_at", "`run` names the program that sends, `run_at` the end at which it is started"),
        ("user", "`run` names the program that sends, `user` the user it runs as"),
        ("root", "`run` names the program that sends, `root` whether it runs as root"),
    ] {
        if let (Some(entry), None) = (section.get(key), section.get("run")) {
            section.context.error(entry.key_span, format!("`{key}` needs `run`")).help(help);
        }
    }
}

/// User that a program is to run as, if its table has `user` or `root`.
fn user(section: &Section<'_>) -> Option<String> {
    let context = section.context;
    let (user, is_root) = (section.text("user"), section.switch_or("root"));
    if let (Some(entry), Some(_), true) = (section.get("root"), user, is_root) {
        context
            .error(entry.key_span, "`root` and `user` exclude each other")
            .help("`root = true` is short for `user = \"root\"`: leave one of them out");
        return None;
    }
    let at = match user {
        Some(user) if user.value.is_empty() => {
            context
                .error(user.span, "`user` names nobody")
                .help("the name of a user of this machine; without `user`, who called sudo");
            return None;
        }
        Some(user) => user,
        None => At { value: "root", span: section.get("root").filter(|_| is_root)?.item.span },
    };
    context.user(at);
    Some(at.value.to_string())
}

/// The program that sends a flow's data, if `[[flow]]` has one; `index` is the flow's.
pub(super) fn of_flow(
    section: &Section<'_>,
    flow: &FlowSpec,
    index: usize,
    is_one_of_many: bool,
) -> Option<ProgramSpec> {
    let run = section.text("run")?;
    check_text(section, &run);
    let user = user(section);
    if is_one_of_many {
        section
            .context
            .error(run.span, "one program cannot be the sender of several flows")
            .help("write a [[flow]] for each, without `*` and `count`");
        return None;
    }
    let host = if section.word_or("run_at") == "to" { flow.to } else { flow.from };
    let (start, flow) = (Some(flow.start), Some(index));
    Some(ProgramSpec { host, run: run.value.into(), start, flow, user })
}

/// Longest argument of a program on Linux, in bytes: `MAX_ARG_STRLEN` without the final NUL.
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
