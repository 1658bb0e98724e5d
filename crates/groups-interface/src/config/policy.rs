//! What happens to a group's messages for a member that reads too slowly, and what they are worth.

use ratewire_config::{At, Section};
use ratewire_overlay::WEIGHTS;
use ratewire_units::Duration;

use super::by_name::ByName;

/// Title of the tables.
pub(super) const TITLE: &str = "[[group]]";
/// Keys of the tables.
pub(super) const KEYS: &[&str] = &["name", "policy", "lag", "lag-time", "weight"];

/// Longest name of a group, in bytes: clients of Spread keep 32, with a zero at the end.
const LONGEST_GROUP: usize = 31;
/// Most messages that a member may be behind.
const MOST_LAG: u32 = 1_000_000;

/// What happens to messages for a slow member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Messages become dear for the senders, who wait. No message is lost.
    #[default]
    Block,
    /// A message that finds the member's queue full is dropped.
    Drop,
    /// A member that is more than this many messages behind is told that it has left its groups,
    /// and its connection ends.
    Lag(u32),
    /// The same of a member whose oldest waiting message is older than this.
    LagTime(Duration),
}

/// What `[[group]]` says about a group.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rules {
    policy: Policy,
    weight: f64,
}

/// The policies and weights of all groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies {
    rules: ByName<Rules>,
}

impl Policies {
    /// The policy of a group: the one of its name, else that of the longest prefix, else
    /// [`Policy::Block`].
    pub fn of(&self, group: &[u8]) -> Policy {
        self.rules.of(group).map_or(Policy::Block, |rules| rules.policy)
    }

    /// The weight of the benefit of messages to a group, found as its policy is, else 1.
    pub fn weight(&self, group: &[u8]) -> f64 {
        self.rules.of(group).map_or(1.0, |rules| rules.weight)
    }

    /// Names and prefixes with their policies, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Policy)> {
        self.rules.iter().map(|(name, rules)| (name, rules.policy))
    }

    /// Names and prefixes with weights other than 1, in order.
    pub(super) fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        let all = self.rules.iter().map(|(name, rules)| (name, rules.weight));
        all.filter(|(_, weight)| *weight != 1.0)
    }
}

/// Reads the policies.
pub(super) fn read(root: &Section<'_>) -> Policies {
    let mut rules = ByName::default();
    for section in root.tables(TITLE, KEYS) {
        let (name, policy) = (name(&section), policy(&section));
        let weight = section.number("weight", 1.0, WEIGHTS);
        let Some(At { value, span }) = name else { continue };
        if !rules.insert(value, Rules { policy, weight }) {
            let message = format!("two [[group]] are called {value:?}");
            root.note(&span, message, "take one of them away");
        }
    }
    Policies { rules }
}

fn name<'a>(section: &Section<'a>) -> Option<At<&'a str>> {
    let allowed = format!(
        "1 to {LONGEST_GROUP} of the characters from `$` to `~`; a `*` at the end stands for any rest"
    );
    if !section.has("name") {
        section.missing("name", &format!("write a group's name: {allowed}"));
    }
    let name = section.text("name", &allowed)?;
    let is_allowed = name.value.bytes().all(|byte| (b'$'..=b'~').contains(&byte));
    if name.value.is_empty() || name.value.len() > LONGEST_GROUP || !is_allowed {
        let message = format!("no group can be called {:?}", name.value);
        section.note(&name.span, message, format!("allowed: {allowed}"));
        return None;
    }
    Some(name)
}

fn policy(section: &Section<'_>) -> Policy {
    let allowed = "\"block\" or \"drop\"; `lag` = 100 in its place keeps the newest 100 messages";
    let ages = Duration::from_millis(100)..=Duration::from_secs(3600);
    let lag = section.has("lag").then(|| Policy::Lag(section.count("lag", 1, 1..=MOST_LAG)));
    let lag_time = section
        .has("lag-time")
        .then(|| Policy::LagTime(section.quantity("lag-time", *ages.start(), ages)));
    let word = section.text("policy", allowed).map(|At { value, span }| match value {
        "block" => Policy::Block,
        "drop" => Policy::Drop,
        _ => {
            let message = format!("`policy` cannot be {value:?}");
            section.note(&span, message, format!("allowed: {allowed}"));
            Policy::Block
        }
    });
    let mut given = [word, lag, lag_time].into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        let message = "`policy`, `lag` and `lag-time` exclude each other";
        section.note(&section.span(), message, "leave one of them");
    }
    if first.is_none() && !section.has("policy") && !section.has("weight") {
        section.missing("policy", &format!("write {allowed}"));
    }
    first.unwrap_or_default()
}
