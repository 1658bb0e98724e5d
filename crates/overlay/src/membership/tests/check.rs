//! The promises, held against what all saw.

use std::collections::{BTreeMap, BTreeSet};

use super::net::{Entry, GROUPS, Group, Life, Net, Number, Sent};
use super::sets::{self, Told};
use crate::ids::{ClientId, NodeSet, OverlayNodeId};
use crate::membership::{Cause, Client, Delivery, Event, GroupViewId, Service, ViewId};

/// What one client saw: its messages and groups.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Messages that it got or sent, in order.
    log: Vec<Step>,
    /// Time from which on it is a member of each group, by the views it got.
    inside: BTreeMap<Group, u64>,
}

#[derive(Clone, Debug)]
struct Step {
    time: u64,
    /// View of the daemon, by its index among those of the daemon.
    view: usize,
    /// Groups that were told of a transition in this view.
    transitions: BTreeSet<Group>,
    /// Groups that it is a member of, and the view in which it became one.
    inside: BTreeMap<Group, usize>,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Sent(Number),
    Got(Number),
    View(Group, GroupViewId),
    Left(Group),
}

/// A daemon's views, and what its clients saw.
struct Story<'a> {
    life: &'a Life,
    views: Vec<(ViewId, NodeSet)>,
    clients: BTreeMap<ClientId, Seen>,
}

impl Story<'_> {
    /// Whether the daemon went straight from one view to another.
    fn goes(&self, from: ViewId, to: ViewId) -> bool {
        self.views.windows(2).any(|pair| (pair[0].0, pair[1].0) == (from, to))
    }
}

pub(super) type Broken = Result<(), String>;

pub(super) fn holds(promise: bool, broken: impl FnOnce() -> String) -> Broken {
    if promise { Ok(()) } else { Err(broken()) }
}

pub(super) fn check(net: &Net) -> Broken {
    starts_differ(net)?;
    let mut shown = BTreeMap::new();
    let mut stories = Vec::new();
    for life in &net.record {
        stories.push(story(life, &net.sent, &mut shown)?);
    }
    let came_from = |client: &Client, to: ViewId| {
        let of = stories.iter().filter(|story| story.life.node == client.node.index());
        let mut steps = of.flat_map(|story| story.views.windows(2));
        steps.find_map(|pair| (pair[1].0 == to).then_some(pair[0].0))
    };
    sets::are_of_views(&shown, came_from)?;
    for story in &stories {
        for (client, seen) in &story.clients {
            once_and_in_order(net, &stories, story, *client, seen)?;
        }
    }
    one_order(net, &stories)?;
    causes_first(net, &stories)?;
    same_in_same_views(net, &stories)?;
    same_for_those_who_come_along(net, &stories)?;
    safe_when_all_have_it(net, &stories)?;
    nothing_lost(net, &stories)?;
    at_rest(net)
}

/// No two starts of a daemon take the same number.
fn starts_differ(net: &Net) -> Broken {
    let mut taken = BTreeSet::new();
    for life in &net.record {
        for number in &life.incarnations {
            let is_new = taken.insert((life.node, number));
            holds(is_new, || format!("two starts of daemon {} took number {number}", life.node))?;
        }
    }
    Ok(())
}

/// Follows a daemon's record; views of a group must be the same for all, and grow.
fn story<'a>(
    life: &'a Life,
    sent: &[Sent],
    shown: &mut BTreeMap<(Group, GroupViewId), Told>,
) -> Result<Story<'a>, String> {
    let mut story = Story { life, views: Vec::new(), clients: BTreeMap::new() };
    let mut inside: BTreeMap<ClientId, BTreeMap<Group, (u64, usize)>> = BTreeMap::new();
    let mut told: BTreeMap<ClientId, BTreeSet<Group>> = BTreeMap::new();
    let mut last: BTreeMap<(ClientId, Group), GroupViewId> = BTreeMap::new();
    for (time, entry) in &life.entries {
        let (to, event) = match entry {
            Entry::Sent(client, number) => {
                let step = Step {
                    time: *time,
                    view: story.views.len() - 1,
                    transitions: BTreeSet::new(),
                    inside: groups(&inside, *client),
                    what: What::Sent(*number),
                };
                story.clients.entry(*client).or_default().log.push(step);
                continue;
            }
            Entry::Gone(client) => {
                let groups = inside.remove(client).unwrap_or_default();
                for group in groups.into_keys() {
                    let step = Step {
                        time: *time,
                        view: story.views.len() - 1,
                        transitions: BTreeSet::new(),
                        inside: BTreeMap::new(),
                        what: What::Left(group),
                    };
                    story.clients.entry(*client).or_default().log.push(step);
                }
                continue;
            }
            Entry::Got(Delivery { to, event }) => (to, event),
        };
        if let Event::Entered(id, nodes, _) = event {
            holds(story.views.last().is_none_or(|last| last.0 < *id), || "views go back".into())?;
            holds(nodes.contains(OverlayNodeId(life.node as u8)), || "a view of others".into())?;
            story.views.push((*id, *nodes));
            told.clear();
        }
        for client in to.iter() {
            let me = Client { node: OverlayNodeId(life.node as u8), id: *client };
            let view = story.views.len() - 1;
            let what = match event {
                Event::Message { sender, payload, service, .. } => {
                    let message = &sent[*payload];
                    holds((message.sender, message.service) == (*sender, *service), || {
                        format!("message {payload} is not as it was sent")
                    })?;
                    let groups = groups(&inside, *client);
                    let is_for = message.groups.iter().any(|group| groups.contains_key(group));
                    holds(is_for, || format!("{me:?} got {payload}, which is not for it"))?;
                    What::Got(*payload)
                }
                Event::View { group, id, members: list, cause } => {
                    holds(list.iter().any(|(client, _)| *client == me), || {
                        format!("{me:?} got a view of {group} without itself")
                    })?;
                    holds(id.view == story.views[view].0, || "a view of another view".into())?;
                    let before = last.insert((*client, *group), *id);
                    let is_later = before.is_none_or(|before| before < *id);
                    holds(is_later, || format!("{me:?}: view {id:?} after {before:?}"))?;
                    let sets = match cause {
                        Cause::Network { sets, own } => Some(sets::told(list, sets, *own, me)?),
                        _ => None,
                    };
                    let told = (list.clone(), sets);
                    let known = shown.entry((*group, *id)).or_insert_with(|| told.clone());
                    holds(*known == told, || format!("{id:?} of {group}: {known:?} and {told:?}"))?;
                    // The first change of a view of daemons is part of its beginning.
                    let since = if id.change == 0 { view } else { view + 1 };
                    let mine = inside.entry(*client).or_default();
                    mine.entry(*group).or_insert((*time, since));
                    What::View(*group, *id)
                }
                Event::Transition { group, id } => {
                    let known = last.get(&(*client, *group));
                    holds(known == Some(id), || {
                        format!("{me:?}: the view {id:?} ends, and {known:?} was the last")
                    })?;
                    told.entry(*client).or_default().insert(*group);
                    continue;
                }
                Event::Left { group } => {
                    inside.entry(*client).or_default().remove(group);
                    What::Left(*group)
                }
                Event::Entered(..) => continue,
            };
            let step = Step {
                time: *time,
                view,
                transitions: told.get(client).cloned().unwrap_or_default(),
                inside: groups(&inside, *client),
                what,
            };
            story.clients.entry(*client).or_default().log.push(step);
        }
    }
    for (client, seen) in &mut story.clients {
        let inside = inside.remove(client).unwrap_or_default();
        seen.inside = inside.into_iter().map(|(group, (time, _))| (group, time)).collect();
    }
    Ok(story)
}

fn groups(
    inside: &BTreeMap<ClientId, BTreeMap<Group, (u64, usize)>>,
    client: ClientId,
) -> BTreeMap<Group, usize> {
    let mine = inside.get(&client).into_iter().flatten();
    mine.map(|(group, (_, since))| (*group, *since)).collect()
}

impl Seen {
    fn got(&self) -> impl Iterator<Item = (usize, &Step, Number)> {
        self.log.iter().enumerate().filter_map(|(at, step)| match step.what {
            What::Got(number) => Some((at, step, number)),
            _ => None,
        })
    }

    fn has(&self, number: Number) -> bool {
        self.got().any(|(_, _, got)| got == number)
    }

    /// Whether it was a member of a group during the whole of a view of its daemon, and the
    /// messages to the group that it got in it.
    fn during(&self, view: usize, group: Group, sent: &[Sent]) -> Option<BTreeSet<Number>> {
        let mut inside = false;
        for step in self.log.iter().filter(|step| step.view <= view) {
            if step.view == view && step.what == What::Left(group) {
                return None;
            }
            inside = step.inside.get(&group).is_some_and(|since| *since <= view);
        }
        let reliable = |number: &Number| {
            sent[*number].service > Service::Unreliable && sent[*number].groups.contains(&group)
        };
        let got = self.got().filter(|(_, step, _)| step.view == view).map(|(_, _, number)| number);
        inside.then(|| got.filter(reliable).collect())
    }
}

/// Each message once; a sender's in order; and none missing in between.
fn once_and_in_order(
    net: &Net,
    stories: &[Story<'_>],
    story: &Story<'_>,
    client: ClientId,
    seen: &Seen,
) -> Broken {
    let name = format!("client {client:?} of daemon {} ({})", story.life.node, story.life.life);
    let mut known = BTreeSet::new();
    let mut last: BTreeMap<(Client, u64), Number> = BTreeMap::new();
    for (_, _, number) in seen.got() {
        holds(known.insert(number), || format!("{name} got {number} twice"))?;
        let message = &net.sent[number];
        let is_own = message.sender.id == client && message.life == story.life.life;
        holds(!(is_own && message.self_discard), || format!("{name} got its own {number}"))?;
        if message.service >= Service::Fifo {
            let before = last.insert((message.sender, message.life), number);
            let in_order = before.is_none_or(|before| before < number);
            holds(in_order, || format!("{name} got {number} after {before:?}"))?;
        }
    }
    // Two messages to one group in one view, and one in between.
    for (at, first, one) in seen.got() {
        let message = &net.sent[one];
        let [group] = message.groups[..] else { continue };
        if message.service < Service::Fifo {
            continue;
        }
        let of_it = |number: Number| {
            let other = &net.sent[number];
            (other.sender, other.life, &other.groups)
                == (message.sender, message.life, &message.groups)
                && other.service >= Service::Fifo
        };
        let next = seen.got().skip_while(|(other, ..)| *other <= at).find(|(.., n)| of_it(*n));
        let Some((end, step, two)) = next else { continue };
        let left = seen.log[at..end].iter().any(|step| step.what == What::Left(group));
        let comes_along = story.views.get(first.view + 1).is_none_or(|next| {
            let sender = stories.iter().find(|other| other.life.life == message.life);
            sender.is_some_and(|sender| sender.goes(story.views[first.view].0, next.0))
        });
        let is_own = message.sender.id == client && message.life == story.life.life;
        if step.view != first.view || left || !comes_along || is_own {
            continue;
        }
        let missing = (one + 1..two).find(|number| of_it(*number));
        holds(missing.is_none(), || format!("{name} got {one} and {two}, but not {missing:?}"))?;
    }
    Ok(())
}

/// Agreed and safe messages have one order.
fn one_order(net: &Net, stories: &[Story<'_>]) -> Broken {
    let mut after: BTreeMap<Number, BTreeSet<Number>> = BTreeMap::new();
    let mut before: BTreeMap<Number, usize> = BTreeMap::new();
    for seen in stories.iter().flat_map(|story| story.clients.values()) {
        let agreed = |number: &Number| net.sent[*number].service >= Service::Agreed;
        let order: Vec<Number> = seen.got().map(|(.., number)| number).filter(agreed).collect();
        order.iter().for_each(|number| {
            before.entry(*number).or_default();
        });
        for pair in order.windows(2) {
            if after.entry(pair[0]).or_default().insert(pair[1]) {
                *before.entry(pair[1]).or_default() += 1;
            }
        }
    }
    let mut open: Vec<Number> = before.iter().filter(|(_, n)| **n == 0).map(|(n, _)| *n).collect();
    let mut done = 0;
    while let Some(number) = open.pop() {
        done += 1;
        for next in after.get(&number).into_iter().flatten() {
            let Some(count) = before.get_mut(next) else { continue };
            *count -= 1;
            if *count == 0 {
                open.push(*next);
            }
        }
    }
    holds(done == before.len(), || "agreed messages came in different orders".into())
}

/// A causal message comes after those that its sender knew.
fn causes_first(net: &Net, stories: &[Story<'_>]) -> Broken {
    let causal = |number: Number| net.sent[number].service >= Service::Causal;
    let mut past: Vec<BTreeSet<Number>> = vec![BTreeSet::new(); net.sent.len()];
    let mut sends: Vec<(Number, &Seen, usize)> = Vec::new();
    for seen in stories.iter().flat_map(|story| story.clients.values()) {
        for (at, step) in seen.log.iter().enumerate() {
            if let What::Sent(number) = step.what {
                sends.push((number, seen, at));
            }
        }
    }
    sends.sort_by_key(|(number, ..)| *number);
    for (number, seen, at) in sends {
        let mut known = BTreeSet::new();
        for step in &seen.log[..at] {
            if let What::Got(cause) | What::Sent(cause) = step.what
                && causal(cause)
                && cause < number
            {
                known.insert(cause);
                known.extend(past[cause].iter().copied());
            }
        }
        past[number] = known;
    }
    for seen in stories.iter().flat_map(|story| story.clients.values()) {
        let mut later: BTreeSet<Number> = BTreeSet::new();
        let order: Vec<Number> =
            seen.got().map(|(.., number)| number).filter(|n| causal(*n)).collect();
        for number in order.iter().rev() {
            let late = past[*number].intersection(&later).next().copied();
            holds(late.is_none(), || format!("{number} came before its cause {late:?}"))?;
            later.insert(*number);
        }
    }
    Ok(())
}

/// Virtual synchrony.
fn same_in_same_views(net: &Net, stories: &[Story<'_>]) -> Broken {
    type Whole = (Group, BTreeSet<Number>, Client);
    let mut whole: BTreeMap<(ViewId, ViewId), Vec<Whole>> = BTreeMap::new();
    for story in stories {
        for (at, pair) in story.views.windows(2).enumerate() {
            for (id, seen) in &story.clients {
                for group in 0..GROUPS {
                    let Some(got) = seen.during(at, group, &net.sent) else { continue };
                    let client = Client { node: OverlayNodeId(story.life.node as u8), id: *id };
                    let list = whole.entry((pair[0].0, pair[1].0)).or_default();
                    list.push((group, got, client));
                }
            }
        }
    }
    for ((view, next), list) in whole {
        for (group, got, client) in &list {
            let Some((_, others, other)) = list.iter().find(|(g, ..)| g == group) else { continue };
            let differ = got.symmetric_difference(others).find(|number| {
                let message = &net.sent[**number];
                !message.self_discard || (message.sender != *client && message.sender != *other)
            });
            holds(differ.is_none(), || {
                format!(
                    "{view:?} to {next:?}, group {group}: {differ:?} came to one of {client:?}, {other:?}"
                )
            })?;
        }
    }
    Ok(())
}

/// What clients can see of virtual synchrony: those who are told that they come along with each
/// other got the same messages since the last view that they were shown.
fn same_for_those_who_come_along(net: &Net, stories: &[Story<'_>]) -> Broken {
    let mut known: BTreeMap<_, BTreeSet<Number>> = BTreeMap::new();
    for story in stories {
        let mut open: BTreeMap<(ClientId, Group), (GroupViewId, BTreeSet<Number>)> =
            BTreeMap::new();
        for (_, entry) in &story.life.entries {
            let Entry::Got(Delivery { to, event }) = entry else { continue };
            for client in to.iter() {
                match event {
                    Event::Message { payload, .. } => {
                        let message = &net.sent[*payload];
                        // Other messages have no order with views.
                        let is_ordered = message.service >= Service::Causal;
                        for group in message.groups.iter().filter(|_| is_ordered) {
                            if let Some((_, got)) = open.get_mut(&(*client, *group))
                                && !message.self_discard
                            {
                                got.insert(*payload);
                            }
                        }
                    }
                    Event::View { group, id, cause, .. } => {
                        let before = open.insert((*client, *group), (*id, BTreeSet::new()));
                        let (Some((last, got)), Cause::Network { sets, own }) = (before, cause)
                        else {
                            continue;
                        };
                        let along = &sets[*own];
                        let way = (*group, last, *id, along.clone());
                        let others = known.entry(way).or_insert_with(|| got.clone());
                        let differ = got.symmetric_difference(others).next();
                        holds(differ.is_none(), || {
                            format!("{last:?} to {id:?}: {differ:?} came to some of {along:?}")
                        })?;
                    }
                    Event::Left { group } => drop(open.remove(&(*client, *group))),
                    Event::Transition { .. } | Event::Entered(..) => {}
                }
            }
        }
    }
    Ok(())
}

/// A safe message is delivered only when all daemons of the view that need it have it.
fn safe_when_all_have_it(net: &Net, stories: &[Story<'_>]) -> Broken {
    for story in stories {
        for (_, step, number) in story.clients.values().flat_map(Seen::got) {
            let message = &net.sent[number];
            let [group] = message.groups[..] else { continue };
            if message.service < Service::Safe || step.transitions.contains(&group) {
                continue;
            }
            let (view, members) = &story.views[step.view];
            for node in members.iter() {
                let of = |other: &&Story<'_>| other.life.node == node.index();
                let entered = |other: &&Story<'_>| other.views.iter().any(|(id, _)| id == view);
                let there = stories.iter().filter(of).find(entered);
                // If it never came, and had members, they were told of a transition.
                let Some(there) = there else { continue };
                let at = there.views.iter().position(|(id, _)| id == view).unwrap_or(0);
                let has_crashed = !there.life.is_running && at + 1 == there.views.len();
                for (id, seen) in &there.clients {
                    let own = (message.sender.id, message.life) == (*id, there.life.life);
                    let is_for = seen.during(at, group, &net.sent).is_some()
                        && !(own && message.self_discard);
                    let fine = has_crashed || !is_for || seen.has(number);
                    holds(fine, || {
                        format!("{number} was safe, but {id:?} of {node:?} never got it")
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// A message in the last view of all comes to all that were members when it was sent.
fn nothing_lost(net: &Net, stories: &[Story<'_>]) -> Broken {
    for story in stories.iter().filter(|story| story.life.is_running) {
        let Some(last) = story.views.last() else { continue };
        for step in story.clients.values().flat_map(|seen| &seen.log) {
            let What::Sent(number) = step.what else { continue };
            let message = &net.sent[number];
            let is_last = step.view + 1 == story.views.len();
            for other in stories.iter().filter(|other| other.life.is_running) {
                let is_here = other.life.life == story.life.life;
                let entered = other.life.entries.iter().find_map(|(time, entry)| match entry {
                    Entry::Got(Delivery { event: Event::Entered(id, ..), .. }) if *id == last.0 => {
                        Some(*time)
                    }
                    _ => None,
                });
                let both_in_it = is_last && entered.is_some_and(|time| time < step.time);
                if !(is_here || both_in_it) || message.service == Service::Unreliable {
                    continue;
                }
                for (id, seen) in &other.clients {
                    let is_own = is_here && *id == message.sender.id;
                    let inside = |group: &Group| {
                        seen.inside.get(group).is_some_and(|since| *since < step.time)
                    };
                    if message.groups.iter().any(inside) && !(is_own && message.self_discard) {
                        holds(seen.has(number), || {
                            format!("{number} never came to {id:?} of daemon {}", other.life.node)
                        })?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Faults have stopped: those that reach each other are in one view, and know the same groups.
fn at_rest(net: &Net) -> Broken {
    let nodes = net.daemons.len();
    let parts: Vec<NodeSet> = (0..nodes).map(|node| part(net, node)).collect();
    for (node, daemon) in net.daemons.iter().enumerate() {
        let Some(daemon) = daemon else { continue };
        holds(!daemon.is_changing(), || format!("daemon {node} has not come to a view"))?;
        let left = daemon.left_over();
        holds(left == 0, || format!("daemon {node} has not done {left} things"))?;
        let (expected, (id, members)) = (&parts[node], daemon.view());
        holds(members == expected, || format!("daemon {node} sees {members:?}, not {expected:?}"))?;
        for other in expected.iter().map(OverlayNodeId::index) {
            let Some(theirs) = &net.daemons[other] else { continue };
            holds(theirs.view().0 == id, || format!("{node} and {other} are in different views"))?;
            for group in 0..GROUPS {
                let same = daemon.members(&group).eq(theirs.members(&group));
                holds(same, || format!("{node} and {other} know different members of {group}"))?;
            }
        }
    }
    Ok(())
}

/// The daemons that reach each other and this one, and know each other: of those among the first
/// ones, as many as possible.
fn part(net: &Net, node: usize) -> NodeSet {
    let me: NodeSet = [OverlayNodeId(node as u8)].into_iter().collect();
    let reached = |first: usize| {
        let mut reached = me;
        for _ in 0..first {
            for ((a, b), whole) in net.links() {
                let run = net.daemons[a].is_some() && net.daemons[b].is_some();
                let is_up = whole && run && net.know(a, b);
                let ends = [a, b].map(|end| OverlayNodeId(end as u8));
                if is_up && a.max(b) < first && ends.iter().any(|end| reached.contains(*end)) {
                    ends.into_iter().for_each(|end| reached.insert(end));
                }
            }
        }
        reached
    };
    let know = |first: usize| {
        move |reached: &NodeSet| reached.iter().all(|n| net.known[n.index()] >= first)
    };
    let mut parts = (node + 1..=net.known[node])
        .rev()
        .filter_map(|first| Some(reached(first)).filter(know(first)));
    parts.next().unwrap_or(me)
}
