//! `[[group]]`: members, senders, and changes of membership.

use ratewire_overlay::{ClientId, DeliveryOrder, Dollars, GroupId, OverlayNodeId, SenderSpec};
use ratewire_sim::overlay::spec::{MemberChange, OverlayGroup, OverlaySender};
use ratewire_units::{Duration, Rate, Time};

use super::{OverlayReader, two_texts};
use crate::context::Context;
use crate::document::{At, Item, Value};
use crate::network::matches;
use crate::section::Section;

/// Most clients that a key may list.
const MOST_CLIENTS: u64 = 1_000_000;

impl OverlayReader<'_, '_> {
    pub(super) fn group(&mut self, section: &Section<'_>) {
        let context = section.context;
        let name = section.name("a group");
        let service = match section.word_or("service") {
            "unordered" => DeliveryOrder::Unordered,
            "agreed" => DeliveryOrder::Agreed,
            _ => DeliveryOrder::Fifo,
        };
        let before = context.errors();
        let receivers = self.clients(section, "receivers", section.list_or("receivers"));
        let are_known = context.errors() == before;
        let list = section.list("senders");
        let senders = list.map_or(&[][..], |list| list.value);
        let senders = self.clients(section, "senders", senders);
        if let Some(list) = list.filter(|list| list.value.is_empty()) {
            context
                .error(list.span, "nobody sends to this group")
                .help("name nodes whose clients do, for example [[\"a\", 20]]");
        }
        let salary = section.number("salary").map(|salary| Dollars::new(salary.value));
        let weight = section.number_or("weight");
        let offered = section.rate("rate");
        let start = section.time_or("start");
        let stop = section.time("stop");
        let group = GroupId(self.spec.groups.len() as u32);
        let members: Vec<(ClientId, OverlayNodeId)> =
            receivers.into_iter().map(|node| (self.client(), node)).collect();
        self.changes(section, group, &members);
        if let Some(stop) = stop
            && stop.value <= start
        {
            context
                .error(
                    stop.span,
                    format!("senders that begin at {start} cannot stop at {}", stop.value),
                )
                .help("`stop` must be later than `start`");
        }
        if let Some(rate) = offered
            && rate.value == Rate::ZERO
        {
            context.error(rate.span, "a rate of 0 sends nothing").help("allowed: above 0");
        }
        if start >= self.senders.duration {
            context
                .warning(section.span, "the senders of this group never begin")
                .help(format!("the run ends at {}", self.senders.duration));
        }
        let joins = self.spec.changes.iter().any(|change| change.group == group && change.joins);
        if members.is_empty() && are_known && !joins && !self.is_guess {
            context
                .error(section.span, "nobody receives what is sent to this group")
                .help("name its `receivers`, or who `joins` when");
        }
        for at in senders {
            let spec = SenderSpec {
                client: self.client(),
                group,
                message: self.message,
                line: self.access,
                offered: offered.map(|rate| rate.value),
            };
            self.spec.senders.push(OverlaySender {
                at,
                spec,
                start: Time::ZERO + start,
                stop: stop.map(|stop| Time::ZERO + stop.value),
            });
        }
        let Some(name) = name else { return };
        if self.spec.groups.iter().any(|group| group.name == name.value) {
            context
                .error(name.span, format!("two groups are called {:?}", name.value))
                .help("give one of them another `name`");
        }
        self.spec.groups.push(OverlayGroup {
            name: name.value.to_string(),
            service,
            members,
            salary,
            weight,
        });
    }

    fn client(&mut self) -> ClientId {
        self.clients += 1;
        ClientId(self.clients - 1)
    }

    /// Nodes of the clients that a key lists, one entry for each client.
    fn clients(
        &self,
        section: &Section<'_>,
        key: &'static str,
        list: &[Item],
    ) -> Vec<OverlayNodeId> {
        let mut clients = Vec::new();
        for item in list {
            let Some((name, count)) = name_and_count(item) else {
                section.refuse(key, item);
                continue;
            };
            if count == 0 {
                section
                    .context
                    .error(item.span, format!("`{key}`: no clients at {:?}", name.value))
                    .help("allowed: from 1 on; leave out who has none");
            }
            if clients.len() as u64 + count > MOST_CLIENTS {
                section
                    .context
                    .error(item.span, format!("more than {MOST_CLIENTS} clients"))
                    .help(format!("allowed: up to {MOST_CLIENTS} in all that a key lists"));
                return clients;
            }
            for node in self.nodes(section.context, name) {
                clients.extend(std::iter::repeat_n(node, count as usize));
            }
        }
        clients
    }

    /// The overlay's nodes whose names match; notes an error if there are none.
    fn nodes(&self, context: &Context<'_>, pattern: At<&str>) -> Vec<OverlayNodeId> {
        let hosts = self.spec.nodes.iter().map(|host| &self.senders.net.nodes[host.index()].name);
        let names: Vec<&String> = hosts.collect();
        let found: Vec<OverlayNodeId> = (0..names.len())
            .filter(|place| matches(pattern.value, names[*place]).is_some())
            .map(|place| OverlayNodeId(place as u8))
            .collect();
        if found.is_empty() && !self.is_guess {
            let message = format!("no node of the overlay is called {:?}", pattern.value);
            let known = names.iter().map(|name| name.as_str());
            context.unknown(pattern.span, message, pattern.value, known);
        }
        found
    }

    /// Reads the times at which clients join and leave.
    fn changes(
        &mut self,
        section: &Section<'_>,
        group: GroupId,
        members: &[(ClientId, OverlayNodeId)],
    ) {
        let mut timed = self.timed(section, "joins", true);
        timed.extend(self.timed(section, "leaves", false));
        // Joins come before leaves of the same time, so that the new member can leave.
        timed.sort_by_key(|(at, _, joins)| (at.value, !joins));
        let mut inside = members.to_vec();
        for (at, node, joins) in timed {
            let client = if joins {
                let client = self.client();
                inside.push((client, node));
                client
            } else if let Some(place) = inside.iter().position(|(_, home)| *home == node) {
                inside.remove(place).0
            } else {
                section
                    .context
                    .error(at.span, format!("at {} the group has no member there", at.value))
                    .help("only members can leave");
                continue;
            };
            let at = Time::ZERO + at.value;
            self.spec.changes.push(MemberChange { at, group, client, node, joins });
        }
    }

    fn timed(
        &self,
        section: &Section<'_>,
        key: &'static str,
        joins: bool,
    ) -> Vec<(At<Duration>, OverlayNodeId, bool)> {
        let context = section.context;
        let mut timed = Vec::new();
        for item in section.list_or(key) {
            let Some([time, node]) = two_texts(item) else {
                section.refuse(key, item);
                continue;
            };
            match time.value.parse::<Duration>() {
                Ok(at) => {
                    let nodes = self.nodes(context, node);
                    let at = time.map(|_| at);
                    timed.extend(nodes.into_iter().map(|node| (at, node, joins)));
                }
                Err(e) => {
                    context
                        .error(time.span, format!("`{key}`: {e}"))
                        .help("for example [[\"10 s\", \"d\"]]");
                }
            }
        }
        timed
    }
}

/// A node's name, or its name and a number of clients.
fn name_and_count(item: &Item) -> Option<(At<&str>, u64)> {
    let Value::List(items) = &item.value else {
        let Value::Text(name) = &item.value else { return None };
        return Some((At { value: name, span: item.span }, 1));
    };
    match items.as_slice() {
        [Item { value: Value::Text(name), span }, Item { value: Value::Integer(count), .. }] => {
            Some((At { value: name, span: *span }, u64::try_from(*count).ok()?))
        }
        _ => None,
    }
}
