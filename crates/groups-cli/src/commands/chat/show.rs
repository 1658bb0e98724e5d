//! What a person is shown.

use std::collections::BTreeMap;

use ratewire_groups::client::{
    Change, GroupName, Membership, Message, PrivateName, Received, Request,
};
use ratewire_units::text::legible;

/// Members of the joined groups, as the last notices have them.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<GroupName, Vec<PrivateName>>);

impl Members {
    /// Takes note of what was received, and returns the line to be shown. `me` is the client.
    pub(super) fn note(&mut self, received: &Received, me: PrivateName) -> String {
        match received {
            Received::Message { sender, message } => self.message(*sender, message, me),
            Received::Membership(membership) => {
                let before = self.0.insert(membership.group, membership.members.clone());
                changed(membership, &before.unwrap_or_default())
            }
            Received::Transition { group, .. } => format!(
                "-- {group}: daemons have become unreachable; until the next change, not every \
                 member may get the messages\n"
            ),
            Received::Left(group) => {
                self.0.remove(group);
                format!("-- you have left {group}\n")
            }
            Received::Rejected { request, .. } => format!("-- refused: {}\n", refused(request)),
        }
    }

    /// The members of every group.
    pub(super) fn list(&self) -> String {
        match self.0.is_empty() {
            true => "-- you are a member of no group yet\n".to_string(),
            false => {
                self.0.iter().map(|(group, of)| format!("-- {group}: {}\n", names(of))).collect()
            }
        }
    }

    /// A message with its sender, and with the groups where these are not clear.
    fn message(&self, sender: PrivateName, message: &Message, me: PrivateName) -> String {
        let text = legible(&String::from_utf8_lossy(&message.data));
        let to = if message.groups.contains(&me.into()) {
            " to you".to_string()
        } else if self.0.len() > 1 || message.groups.iter().any(|g| !self.0.contains_key(g)) {
            let groups = message.groups.iter().map(GroupName::as_str).collect::<Vec<_>>();
            format!(" to {}", groups.join(", "))
        } else {
            String::new()
        };
        format!("{sender}{to}: {text}\n")
    }
}

/// A change of a group's members, who were `before`.
fn changed(membership: &Membership, before: &[PrivateName]) -> String {
    let Membership { group, members, change, .. } = membership;
    let count = match members.len() {
        1 => "1 member".to_string(),
        count => format!("{count} members"),
    };
    match change {
        Change::Join(client) => format!("-- {client} has joined {group} ({count})\n"),
        Change::Leave(client) => format!("-- {client} has left {group} ({count})\n"),
        Change::Disconnect(client) => {
            format!("-- {client} has disconnected from {group} ({count})\n")
        }
        Change::Network { sets, own } => {
            let along = sets.get(*own).map_or(&[][..], |set| &set[..]);
            let without = |all: &[PrivateName], those: &[PrivateName]| -> Vec<PrivateName> {
                all.iter().filter(|name| !those.contains(name)).copied().collect()
            };
            let (new, lost) = (without(members, along), without(before, members));
            let mut text = format!("-- {group}: the network has changed ({count})");
            for (what, who) in [("came along", along), ("new", &new), ("lost", &lost)] {
                if !who.is_empty() {
                    text += &format!("; {what}: {}", names(who));
                }
            }
            text + "\n"
        }
    }
}

fn refused(request: &Request) -> String {
    match request {
        Request::Multicast(message) => legible(&String::from_utf8_lossy(&message.data)),
        Request::Join(group) => format!("to join {group}"),
        Request::Leave(group) => format!("to leave {group}"),
        Request::Disconnect => "to disconnect".to_string(),
    }
}

fn names(of: &[PrivateName]) -> String {
    of.iter().map(PrivateName::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_groups::client::{MembershipId, Service};

    fn name(text: &str) -> PrivateName {
        text.parse().unwrap()
    }

    fn said(groups: &[&str], text: &'static str) -> Received {
        let groups: Vec<GroupName> = groups.iter().map(|group| group.parse().unwrap()).collect();
        let message = Message::new(Service::Agreed, &groups, 0, text.into());
        Received::Message { sender: name("#ann#paris"), message }
    }

    fn membership(group: &str, members: &[&str], change: Change) -> Received {
        Received::Membership(Membership {
            group: group.parse().unwrap(),
            id: MembershipId { daemon: 1, time: 2, index: 3 },
            members: members.iter().map(|member| name(member)).collect(),
            change,
        })
    }

    #[test]
    fn messages_have_their_senders_and_groups() {
        let (mut members, me) = (Members::default(), name("#bob#tokyo"));
        let both = ["#ann#paris", "#bob#tokyo"];
        let shown = members.note(&membership("chat", &both, Change::Join(me)), me);
        assert_eq!(shown, "-- #bob#tokyo has joined chat (2 members)\n");
        let mut note = |received: Received| members.note(&received, me);
        assert_eq!(note(said(&["chat"], "a\u{1b}[2J")), "#ann#paris: a\\u001b[2J\n");
        assert_eq!(note(said(&["#bob#tokyo"], "psst")), "#ann#paris to you: psst\n");
        assert_eq!(note(said(&["chat", "x"], "hi")), "#ann#paris to chat, x: hi\n");
        note(membership("x", &["#bob#tokyo"], Change::Join(me)));
        assert_eq!(note(said(&["chat"], "hi")), "#ann#paris to chat: hi\n");
        assert_eq!(members.list(), "-- chat: #ann#paris, #bob#tokyo\n-- x: #bob#tokyo\n");
        members.note(&Received::Left("x".parse().unwrap()), me);
        assert_eq!(members.list(), "-- chat: #ann#paris, #bob#tokyo\n");
    }

    #[test]
    fn changes_of_the_network_name_who_came_along() {
        let (mut members, me) = (Members::default(), name("#bob#tokyo"));
        members.note(&membership("chat", &["#ann#paris", "#bob#tokyo"], Change::Join(me)), me);
        let sets = vec![vec![name("#eve#rome")], vec![me]];
        let change = Change::Network { sets, own: 1 };
        let shown = members.note(&membership("chat", &["#bob#tokyo", "#eve#rome"], change), me);
        assert_eq!(
            shown,
            "-- chat: the network has changed (2 members); came along: #bob#tokyo; new: #eve#rome; \
             lost: #ann#paris\n"
        );
    }
}
