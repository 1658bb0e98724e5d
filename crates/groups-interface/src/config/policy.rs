//! What happens to a group's messages for a member that reads too slowly.

use std::collections::BTreeMap;

use ratewire_config::{At, Section};

/// Title of the tables.
pub(super) const TITLE: &str = "[[group]]";
/// Keys of the tables.
pub(super) const KEYS: &[&str] = &["name", "policy", "lag"];

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
}

/// The policies of all groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// By name, or by prefix with a `*` at the end.
    by_name: BTreeMap<String, Policy>,
}

impl Policies {
    /// The policy of a group: the one of its name, else that of the longest prefix, else
    /// [`Policy::Block`].
    pub fn of(&self, group: &[u8]) -> Policy {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(prefix) => group.starts_with(prefix.as_bytes()),
            None => group == name.as_bytes(),
        };
        let fitting = self.by_name.iter().filter(|(name, _)| fits(name));
        let best = fitting.max_by_key(|(name, _)| (!name.ends_with('*'), name.len()));
        best.map_or(Policy::Block, |(_, policy)| *policy)
    }

    /// Names and prefixes with their policies, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Policy)> {
        self.by_name.iter().map(|(name, policy)| (name.as_str(), *policy))
    }
}

/// Reads the policies.
pub(super) fn read(root: &Section<'_>) -> Policies {
    let mut by_name = BTreeMap::new();
    for section in root.tables(TITLE, KEYS) {
        let (name, policy) = (name(&section), policy(&section));
        let Some(At { value, span }) = name else { continue };
        if by_name.insert(value.to_string(), policy).is_some() {
            let message = format!("two [[group]] are called {value:?}");
            root.note(&span, message, "take one of them away");
        }
    }
    Policies { by_name }
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
    let lag = section.has("lag").then(|| section.count("lag", 1, 1..=MOST_LAG));
    let word = section.text("policy", allowed);
    match (word, lag) {
        (None, Some(lag)) if !section.has("policy") => Policy::Lag(lag),
        (Some(At { span, .. }), Some(_)) => {
            let message = "`policy` and `lag` exclude each other";
            section.note(&span, message, "take one of them away");
            Policy::Block
        }
        (Some(At { value: "block", .. }), None) => Policy::Block,
        (Some(At { value: "drop", .. }), None) => Policy::Drop,
        (Some(At { value, span }), None) => {
            let message = format!("`policy` cannot be {value:?}");
            section.note(&span, message, format!("allowed: {allowed}"));
            Policy::Block
        }
        (None, _) => {
            if !section.has("policy") {
                section.missing("policy", &format!("write {allowed}"));
            }
            Policy::Block
        }
    }
}
