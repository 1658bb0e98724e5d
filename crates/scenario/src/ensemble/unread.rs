//! Keys of ensembles that have no effect, and nodes that are two ends at once.

use ratewire_units::{Duration, Time};

use super::Ways;
use super::ends::{End, EndKind};
use crate::context::Context;
use crate::section::Section;

/// Notes errors for keys without effect, warnings for times after the run's end.
pub(super) fn check(
    section: &Section<'_>,
    ways: Ways,
    peer: Option<&End>,
    members: &[End],
    duration: Duration,
) {
    let context = section.context;
    let refuse = |key: &'static str, help: &str| {
        if let Some(entry) = section.get(key) {
            context.error(entry.key_span, format!("`{key}` means nothing here")).help(help);
        }
    };
    if !ways.inbound {
        refuse("routing", NOT_ROUTED);
        refuse("keys", NOT_ROUTED);
    }
    if !ways.outbound {
        refuse(
            "shuffle",
            "it moves what members send, and with direction = \"inbound\" they send nothing",
        );
    } else if section.word_or("transforms") == "paper" {
        refuse("shuffle", "the paper's transforms move nothing between members");
    }
    let check = Check { context, duration };
    let (sends, receives) = (ways.inbound, ways.outbound);
    peer.iter().for_each(|end| check.end(end, sends, receives));
    members.iter().for_each(|end| check.end(end, receives, sends));
    if let (Some(entry), true) = (section.get("start"), section.time_or("start") >= duration) {
        context
            .warning(entry.item.span, "this ensemble never starts")
            .help(format!("the run ends at {duration}"));
    }
    let mut hosts = Vec::new();
    peer.iter().for_each(|end| collect(end, &mut hosts));
    let mut others = Vec::new();
    members.iter().for_each(|end| collect(end, &mut others));
    for end in others {
        if hosts.iter().any(|host| host.node == end.node) {
            context
                .error(end.span, format!("{:?} is on the peer's side and a member", end.name))
                .help(
                    "a connection is between different hosts: leave it out of the one or the other",
                );
        }
    }
}

const NOT_ROUTED: &str = "routing is for hosts that receive frames, and here no host does";

struct Check<'a, 'c> {
    context: &'a Context<'c>,
    duration: Duration,
}

impl Check<'_, '_> {
    /// Checks an end whose hosts send, receive, or both.
    fn end(&self, end: &End, sends: bool, receives: bool) {
        match &end.kind {
            EndKind::Switch { members, given_keys, .. } => {
                for (key, span) in given_keys.iter().filter(|_| !receives) {
                    self.context
                        .error(*span, format!("`{key}` means nothing here"))
                        .help(NOT_ROUTED);
                }
                members.iter().for_each(|member| self.end(member, sends, receives));
            }
            EndKind::Host(host) => {
                for (key, span) in &host.given_keys {
                    let (read, help) = match *key {
                        "idle" => (sends, "only hosts that send data use it"),
                        _ => (receives, "only hosts that receive data use it"),
                    };
                    if !read {
                        let message = format!("`{key}` of {:?} means nothing here", end.name);
                        self.context.error(*span, message).help(help);
                    }
                }
                let end_of_run = Time::ZERO + self.duration;
                for (key, times) in [("fails", &host.fails), ("idle", &host.idle)] {
                    if let Some((from, _)) = times.iter().find(|(from, _)| *from >= end_of_run) {
                        let message =
                            format!("`{key}` of {:?} has no effect from {from} on", end.name);
                        self.context
                            .warning(end.span, message)
                            .help(format!("the run ends at {}", self.duration));
                    }
                }
            }
        }
    }
}

/// Collects all nodes of an end.
fn collect<'e>(end: &'e End, nodes: &mut Vec<&'e End>) {
    nodes.push(end);
    if let EndKind::Switch { members, .. } = &end.kind {
        members.iter().for_each(|member| collect(member, nodes));
    }
}
