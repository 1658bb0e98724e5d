//! Histories of clients, and the promises that they must keep.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_groups::client::{Change, Membership, MembershipId, PrivateName};

/// What a client saw in one connection.
#[derive(Clone, Debug)]
pub(crate) struct History {
    client: usize,
    life: usize,
    sent: usize,
    pub(crate) entries: Vec<Entry>,
    /// Whether the client ended the connection after all had happened.
    pub(crate) is_whole: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Message(String),
    View(Membership),
    Transition(MembershipId),
}

impl History {
    pub(crate) fn new(client: usize, life: usize) -> History {
        History { client, life, sent: 0, entries: Vec::new(), is_whole: false }
    }

    /// Text of the next message: the connection, a number, and whether it is the client's last.
    pub(crate) fn next_message(&mut self, is_last: bool) -> String {
        let text = self.text(self.sent);
        self.sent += 1;
        if is_last { format!("{text} last {}", self.client) } else { text }
    }

    /// Whether all messages of the connection have come back.
    pub(crate) fn has_own(&self) -> bool {
        let prefix = format!("{}.{} ", self.client, self.life);
        let is_own =
            |entry: &&Entry| matches!(entry, Entry::Message(text) if text.starts_with(&prefix));
        self.entries.iter().filter(is_own).count() == self.sent
    }

    fn text(&self, number: usize) -> String {
        format!("{}.{} {number}", self.client, self.life)
    }

    fn last_view(&self) -> Option<&Membership> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::View(view) => Some(view),
            _ => None,
        })
    }

    pub(crate) fn is_member(&self) -> bool {
        self.last_view().is_some()
    }
    pub(crate) fn members(&self) -> usize {
        self.last_view().map_or(0, |view| view.members.len())
    }
    pub(crate) fn messages(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::Message(_))).count()
    }
    pub(crate) fn views(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::View(_))).count()
    }

    /// Numbers of the clients that come along to the view after this transition, if it came.
    fn comes_along_after(&self, entry: usize) -> Option<BTreeSet<String>> {
        let next = self.entries[entry..].iter().find_map(|entry| match entry {
            Entry::View(view) => Some(along(view)),
            _ => None,
        });
        let number = |name: &PrivateName| name.client().trim_start_matches('c').to_string();
        Some(next??.iter().map(number).collect())
    }

    /// Each view with the messages in it, and the next view.
    fn segments(&self) -> Vec<(&Membership, Vec<&str>, Option<&Membership>)> {
        let mut segments: Vec<(&Membership, Vec<&str>, Option<&Membership>)> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::View(view) => {
                    if let Some(before) = segments.last_mut() {
                        before.2 = Some(view);
                    }
                    segments.push((view, Vec::new(), None));
                }
                Entry::Message(text) => {
                    if let Some((_, messages, _)) = segments.last_mut() {
                        messages.push(text);
                    }
                }
                Entry::Transition(_) => {}
            }
        }
        segments
    }
}

/// A connection, and the number of a message in it.
fn parts(text: &str) -> (&str, usize) {
    let mut words = text.split(' ');
    let connection = words.next().expect("a message names its connection");
    (connection, words.next().and_then(|number| number.parse().ok()).expect("and has a number"))
}

/// Number of the client that a connection is of.
fn client(connection: &str) -> &str {
    connection.split('.').next().unwrap_or(connection)
}

/// Holds all promises against all histories.
pub(crate) fn check(histories: &[History]) -> Result<(), String> {
    for history in histories {
        let whose = format!("connection {}.{}", history.client, history.life);
        alone(history).map_err(|broken| format!("{whose}: {broken}"))?;
    }
    same_members(histories)?;
    together(histories)?;
    in_one_order(histories)
}

/// Promises to a single client: no duplicate, no gap, its own messages, views that fit.
fn alone(history: &History) -> Result<(), String> {
    let (mut seen, mut next) = (BTreeSet::new(), BTreeMap::<&str, usize>::new());
    let mut view = None;
    for (at, entry) in history.entries.iter().enumerate() {
        match entry {
            Entry::View(new) => {
                if view == Some(new.id) {
                    return Err(format!("the view {:?} comes twice", new.id));
                }
                view = Some(new.id);
                if let Change::Network { .. } = new.change {
                    // Messages of daemons that were unreachable are not for this client.
                    next.clear();
                }
            }
            Entry::Transition(id) if view != Some(*id) => {
                return Err(format!("{id:?} ends, but the view is {view:?}"));
            }
            Entry::Transition(_) => {
                // Earlier messages of lost daemons may be lost with them: those that went to fewer
                // daemons, before another client had joined.
                if let Some(along) = history.comes_along_after(at) {
                    next.retain(|connection, _| along.contains(client(connection)));
                }
            }
            Entry::Message(text) => {
                if view.is_none() {
                    return Err(format!("{text:?} comes before the first view"));
                }
                if !seen.insert(text.as_str()) {
                    return Err(format!("{text:?} comes twice"));
                }
                let (connection, number) = parts(text);
                let expected = next.insert(connection, number + 1);
                if expected.is_some_and(|expected| expected != number) {
                    return Err(format!("{text:?} comes where {expected:?} is due"));
                }
            }
        }
    }
    let own = |number| {
        let text = history.text(number);
        seen.contains(text.as_str())
            || seen.iter().any(|seen| seen.starts_with(&(text.clone() + " ")))
    };
    match (0..history.sent).find(|number| history.is_whole && !own(*number)) {
        Some(lost) => Err(format!("its own message {lost} never came")),
        None => Ok(()),
    }
}

/// A view has the same members for all, who agree on who came along with whom: they are told the
/// same sets in the same order.
fn same_members(histories: &[History]) -> Result<(), String> {
    let facts = |view: &Membership| {
        let sets = match &view.change {
            Change::Network { sets, .. } => Some(sets.clone()),
            _ => None,
        };
        (view.members.clone(), sets)
    };
    let mut known = BTreeMap::new();
    for (view, ..) in histories.iter().flat_map(History::segments) {
        let first = known.entry(view.id).or_insert_with(|| facts(view));
        if *first != facts(view) {
            return Err(format!("{:?}: {first:?} and {:?}", view.id, facts(view)));
        }
    }
    Ok(())
}

/// Clients that come along with the one that is told of a view; `None`: all that were in the
/// earlier view. Others may have been in a view between, which had the same members and was not
/// shown.
fn along(view: &Membership) -> Option<BTreeSet<PrivateName>> {
    match &view.change {
        Change::Network { sets, own } => Some(sets[*own].iter().copied().collect()),
        _ => None,
    }
}

/// Clients that go from one view to the next together get the same messages in the same order.
fn together(histories: &[History]) -> Result<(), String> {
    let mut known: BTreeMap<_, (usize, Vec<&str>)> = BTreeMap::new();
    for history in histories {
        for (view, messages, next) in history.segments() {
            let Some(next) = next else { continue };
            let first = known
                .entry((view.id, next.id, along(next)))
                .or_insert((history.client, messages.clone()));
            if first.1 != messages {
                let place = first.1.iter().zip(&messages).position(|(a, b)| a != b);
                return Err(format!(
                    "clients {} and {} go from {:?} to {:?} with {} and {} messages, which differ at {place:?}",
                    first.0,
                    history.client,
                    view.id,
                    next.id,
                    first.1.len(),
                    messages.len()
                ));
            }
        }
    }
    Ok(())
}

/// Messages that two clients get in one view have the same order.
fn in_one_order(histories: &[History]) -> Result<(), String> {
    let mut known: BTreeMap<MembershipId, Vec<Vec<&str>>> = BTreeMap::new();
    for (view, messages, _) in histories.iter().flat_map(History::segments) {
        known.entry(view.id).or_default().push(messages);
    }
    for (view, lists) in known {
        for pair in lists.windows(2) {
            let places: BTreeMap<&str, usize> =
                pair[0].iter().enumerate().map(|(place, text)| (*text, place)).collect();
            let common: Vec<usize> =
                pair[1].iter().filter_map(|text| places.get(text).copied()).collect();
            if !common.is_sorted() {
                return Err(format!("two orders in {view:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn broken_promises_are_found() {
    let id = |index| MembershipId { daemon: 1, time: 2, index };
    let view = |index| {
        let me = "#c0#d0".parse().unwrap();
        let group = "all".parse().unwrap();
        Entry::View(Membership {
            group,
            id: id(index),
            members: vec![me],
            change: Change::Join(me),
        })
    };
    let text = |text: &str| Entry::Message(text.to_string());
    let history =
        |entries: Vec<Entry>| History { client: 0, life: 0, sent: 1, entries, is_whole: true };
    let good = || vec![view(1), text("0.0 0"), text("1.0 4"), text("1.0 5"), view(2)];
    assert_eq!(check(&[history(good()), history(good())]), Ok(()));
    let broken = |change: fn(&mut Vec<Entry>)| {
        let mut entries = good();
        change(&mut entries);
        check(&[history(good()), history(entries)]).unwrap_err()
    };
    assert!(broken(|entries| entries.swap(1, 2)).contains("differ at Some(0)"));
    assert!(broken(|entries| _ = entries.remove(2)).contains("differ"));
    assert!(broken(|entries| entries.swap(2, 3)).contains("is due"));
    assert!(broken(|entries| entries.push(entries[1].clone())).contains("twice"));
    assert!(broken(|entries| _ = entries.remove(1)).contains("never came"));
    assert!(broken(|entries| entries.swap(0, 1)).contains("before the first view"));
}

#[test]
fn only_who_is_lost_may_leave_a_gap_after_a_transition() {
    let names: [PrivateName; 2] = ["#c0#d0", "#c1#d1"].map(|name| name.parse().unwrap());
    let gap = |sender: usize| {
        let view = |index, change| {
            let id = MembershipId { daemon: 1, time: 2, index };
            let (group, members) = ("all".parse().unwrap(), names.to_vec());
            Entry::View(Membership { group, id, members, change })
        };
        let transition = Entry::Transition(MembershipId { daemon: 1, time: 2, index: 1 });
        let text = |number| Entry::Message(format!("{sender}.0 {number}"));
        let apart = Change::Network { sets: vec![vec![names[0]], vec![names[1]]], own: 0 };
        let first = view(1, Change::Join(names[1]));
        let entries = vec![first, text(4), transition, text(7), view(2, apart)];
        check(&[History { client: 0, life: 0, sent: 0, entries, is_whole: true }])
    };
    assert_eq!(gap(1), Ok(()));
    assert!(gap(0).unwrap_err().contains("is due"));
}

#[test]
fn clients_that_came_another_way_may_have_got_other_messages() {
    let names: [PrivateName; 2] = ["#c0#d0", "#c1#d1"].map(|name| name.parse().unwrap());
    let history = |client: usize, sets: &[&[PrivateName]], own| {
        let view = |index, change| {
            let id = MembershipId { daemon: 1, time: 2, index };
            Entry::View(Membership {
                group: "all".parse().unwrap(),
                id,
                members: names.to_vec(),
                change,
            })
        };
        let sets = sets.iter().map(|set| set.to_vec()).collect();
        let mut entries =
            vec![view(1, Change::Join(names[1])), view(2, Change::Network { sets, own })];
        if client == 0 {
            entries.insert(1, Entry::Message("2.0 7".to_string()));
        }
        History { client, life: 0, sent: 0, entries, is_whole: true }
    };
    let [one, other] = [&names[..1], &names[1..]];
    let (apart, together) = ([one, other], [&names[..]]);
    assert_eq!(check(&[history(0, &apart, 0), history(1, &apart, 1)]), Ok(()));
    let broken = check(&[history(0, &together, 0), history(1, &together, 0)]);
    assert!(broken.unwrap_err().contains("differ"));
    let broken = check(&[history(0, &apart, 0), history(1, &together, 0)]);
    assert!(broken.is_err(), "they do not agree on who came along");
    let broken = check(&[history(0, &apart, 0), history(1, &[other, one], 0)]);
    assert!(broken.is_err(), "they do not have the same order of sets");
}
