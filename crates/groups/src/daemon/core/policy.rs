//! What a group's policy means for a message.

use std::time::Duration;

use ratewire_overlay::membership::{Service, Target};

use crate::config::{Config, Policy};
use crate::spread::{GroupName, Message};

/// What becomes of a message for a client that is behind.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    Keep,
    Drop,
    Lag(usize),
    LagTime(Duration),
}

pub(super) fn rule(config: &Config, service: Service, targets: &[Target<GroupName>]) -> Rule {
    let policy = |target: &Target<GroupName>| match target {
        Target::Group(group) => config.policies.of(group.as_str().as_bytes()),
        Target::Private(..) => Policy::Block,
    };
    let mut rule = Rule::Keep;
    for target in targets {
        match policy(target) {
            Policy::Drop if service == Service::Unreliable => rule = Rule::Drop,
            Policy::Lag(most) => rule = Rule::Lag(most as usize),
            Policy::LagTime(most) => rule = Rule::LagTime(most.to_std()),
            Policy::Block | Policy::Drop => return Rule::Keep,
        }
    }
    rule
}

/// Whether a message's sender does not pay for the queues to its receivers.
pub(super) fn ignores_receivers(config: &Config, message: &Message) -> bool {
    // A client's own name is no group, though a pattern may fit it.
    let ignores = |group: &GroupName| match config.policies.of(group.as_str().as_bytes()) {
        _ if group.as_private().is_some() => false,
        Policy::Block => false,
        Policy::Drop => message.service == Service::Unreliable,
        Policy::Lag(_) | Policy::LagTime(_) => true,
    };
    message.groups.iter().all(ignores)
}

/// Weight of a message: the greatest of its groups.
pub(super) fn weight(config: &Config, message: &Message) -> f64 {
    let weight = |group: &GroupName| config.policies.weight(group.as_str().as_bytes());
    message.groups.iter().map(weight).reduce(f64::max).unwrap_or(1.0)
}
