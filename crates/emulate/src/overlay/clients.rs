//! Which clients run where and when: those of a node that do the same run as one process.

use std::collections::BTreeMap;

use ratewire_overlay::{ClientId, DeliveryOrder, GroupId, OverlayNodeId};
use ratewire_sim::overlay::spec::{OverlaySender, OverlaySpec};
use ratewire_units::{Rate, Time};

/// Clients of a node that start, do and end the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// Number of the run: part of its clients' names.
    pub(super) number: usize,
    /// Node of the clients.
    pub(super) node: usize,
    pub(super) group: GroupId,
    pub(super) role: Role,
    /// `None` for members from the start.
    pub(super) start: Option<Time>,
    pub(super) stop: Option<Time>,
}

/// What clients do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// So many clients receive.
    Receive(usize),
    /// These senders of the setup send, so many messages a second together.
    Send { senders: Vec<usize>, rate: Option<f64> },
}

impl Run {
    fn clients(&self) -> usize {
        match &self.role {
            Role::Receive(clients) => *clients,
            Role::Send { senders, .. } => senders.len(),
        }
    }

    /// Start of the names of the clients at their daemon, or the name of a single client.
    pub(super) fn name(&self) -> String {
        format!("c{}-", self.number)
    }

    /// Name at the daemon of each sender of the setup.
    pub(super) fn senders(&self) -> impl Iterator<Item = (String, usize)> {
        let senders = match &self.role {
            Role::Receive(_) => &[][..],
            Role::Send { senders, .. } => senders,
        };
        let name = |place| match senders.len() {
            1 => self.name(),
            _ => format!("{}{}", self.name(), place + 1),
        };
        senders.iter().enumerate().map(move |(place, sender)| (name(place), *sender))
    }

    /// Arguments of `ratewire-groups` for the clients. None has a character that a shell would
    /// change, except for the group.
    pub(super) fn arguments(&self, spec: &OverlaySpec) -> Vec<String> {
        let group = &spec.groups[self.group.index()];
        let (name, clients) = (self.name(), self.clients().to_string());
        let role = match &self.role {
            Role::Receive(_) => "receive",
            Role::Send { .. } => "send",
        };
        let mut all =
            vec![role, &group.name, "--reconnect", "--name", &name, "--clients", &clients];
        let (size, per_second);
        match &self.role {
            Role::Receive(_) => all.push("--quiet"),
            Role::Send { rate, .. } => {
                let service = match group.service {
                    DeliveryOrder::Unordered => "reliable",
                    DeliveryOrder::Fifo => "fifo",
                    DeliveryOrder::Agreed => "agreed",
                };
                size = format!("{}B", spec.payload.get());
                all.extend(["--service", service, "--size", &size]);
                if let Some(rate) = rate {
                    per_second = rate.to_string();
                    all.extend(["--rate", &per_second]);
                }
            }
        }
        all.into_iter().map(String::from).collect()
    }
}

/// A sender's work: its node, group, start and end, and the bits of its rate.
type Work = (OverlayNodeId, GroupId, Time, Option<Time>, u64);

/// All runs of an overlay, in any order of time.
pub(super) fn runs(spec: &OverlaySpec) -> Vec<Run> {
    let mut runs = receivers(spec);
    let mut alike: BTreeMap<Work, Vec<usize>> = BTreeMap::new();
    for (n, sender) in spec.senders.iter().enumerate() {
        let rate = messages_per_second(sender).to_bits();
        let key = (sender.at, sender.spec.group, sender.start, sender.stop, rate);
        alike.entry(key).or_default().push(n);
    }
    for ((at, group, start, stop, rate), senders) in alike {
        let rate = Some(f64::from_bits(rate)).filter(|rate| rate.is_finite());
        let rate = rate.map(|rate| rate * senders.len() as f64);
        runs.push(Run {
            number: runs.len(),
            node: at.index(),
            group,
            role: Role::Send { senders, rate },
            start: Some(start),
            stop,
        });
    }
    runs
}

/// Messages a second that a sender's source and line allow; infinite without a bound.
fn messages_per_second(sender: &OverlaySender) -> f64 {
    let of = |rate: Rate| rate.bps() as f64 / 8.0 / sender.spec.message.get().max(1) as f64;
    let line = match sender.spec.line {
        Rate::ZERO => f64::INFINITY,
        line => of(line),
    };
    sender.spec.offered.map_or(line, |offered| of(offered).min(line))
}

/// A receiver's membership: its node, group, start and end.
type Membership = (OverlayNodeId, GroupId, Option<Time>, Option<Time>);

fn receivers(spec: &OverlaySpec) -> Vec<Run> {
    let mut present: BTreeMap<(GroupId, ClientId, OverlayNodeId), Option<Time>> = BTreeMap::new();
    for (group, members) in spec.groups.iter().enumerate() {
        let group = GroupId(group as u32);
        present
            .extend(members.members.iter().map(|(client, node)| ((group, *client, *node), None)));
    }
    let mut alike: BTreeMap<Membership, usize> = BTreeMap::new();
    let mut changes: Vec<_> = spec.changes.iter().collect();
    changes.sort_by_key(|change| change.at);
    for change in changes {
        let key = (change.group, change.client, change.node);
        if change.joins {
            present.entry(key).or_insert(Some(change.at));
        } else if let Some(start) = present.remove(&key) {
            *alike.entry((change.node, change.group, start, Some(change.at))).or_default() += 1;
        }
    }
    for ((group, _, node), start) in present {
        *alike.entry((node, group, start, None)).or_default() += 1;
    }
    let run = |(number, ((node, group, start, stop), clients)): (usize, (Membership, usize))| Run {
        number,
        node: node.index(),
        group,
        role: Role::Receive(clients),
        start,
        stop,
    };
    alike.into_iter().enumerate().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn clients_that_do_the_same_are_one_process() {
        let spec = spec();
        let runs = runs(&spec);
        let facts = |run: &Run| (run.node, run.group.0, run.clients(), run.start, run.stop);
        let (zero, two, five) =
            (Some(Time::ZERO), Some(Time::from_secs(2)), Some(Time::from_secs(5)));
        let expected = [
            // A member from the start, two that join, of whom one leaves again.
            (1, 0, 1, None, None),
            (1, 0, 1, two, None),
            (1, 0, 1, two, five),
            // Two senders without a rate, and one with one.
            (0, 0, 2, zero, None),
            (0, 1, 1, zero, five),
        ];
        assert_eq!(runs.iter().map(facts).collect::<Vec<_>>(), expected);
        let names = |run: &Run| run.senders().collect::<Vec<_>>();
        assert_eq!(names(&runs[3]), [("c3-1".to_string(), 0), ("c3-2".to_string(), 1)]);
        assert_eq!(names(&runs[4]), [("c4-".to_string(), 2)]);
        let line = |run: &Run| run.arguments(&spec).join(" ");
        assert_eq!(line(&runs[0]), "receive g0 --reconnect --name c0- --clients 1 --quiet");
        // A line of 8 Mbit/s carries 1000 messages of 1000 bytes a second.
        assert_eq!(
            line(&runs[3]),
            "send g0 --reconnect --name c3- --clients 2 --service fifo --size 900B --rate 2000"
        );
        assert!(line(&runs[4]).ends_with(" --service agreed --size 900B --rate 10"));
    }
}
