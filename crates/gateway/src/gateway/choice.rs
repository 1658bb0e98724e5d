//! Which member a request goes to: as the switch would choose.

use std::rc::Rc;

use ratewire_anypoint::routing::{
    Frame, KeyHash, LeastOutstanding, Member, PowerOfTwo, Prefix, RoundRobin, Routing, Weighted,
};
use ratewire_switch_interface::table::{Choice as Rule, Table, WhenDown};
use ratewire_units::{Bytes, Duration};

use super::ask::Ask;
use super::upstream::{State, Upstream};

/// How members are chosen.
enum By {
    /// By a hash of a key in the frame, and of the members' numbers.
    Hash(KeyHash, Vec<u64>),
    /// By a module.
    Module(Box<dyn Routing>),
}

/// What is chosen for a request.
pub(super) enum Chosen {
    /// This member.
    Member(Rc<Upstream>),
    /// The member that has its key is down; why, in words.
    Down(String),
    /// There is no member for it at present.
    Nobody,
}

/// The members among which requests are spread.
pub(super) struct Choice {
    by: By,
    /// Whether requests belong to members that are down.
    keeps: bool,
    members: Vec<Rc<Upstream>>,
    /// The members as routing modules see them.
    seen: Vec<Member>,
    number: u64,
}

/// Whether requests belong to members of a table, also to one that is down; `is_store` says whether
/// servers keep what others have not.
pub(super) fn keeps(table: &Table, is_store: bool) -> bool {
    let usual = if is_store { WhenDown::Fail } else { WhenDown::Move };
    matches!(table.routing, Rule::Hash { .. } | Rule::Prefix)
        && table.when_down.unwrap_or(usual) == WhenDown::Fail
}

impl Choice {
    /// The choice among the members of a table, which `members` are in its order; `is_store` as in
    /// [`keeps`]. `None` if the switch alone chooses.
    pub(super) fn of(table: &Table, members: Vec<Rc<Upstream>>, is_store: bool) -> Option<Choice> {
        let keeps = keeps(table, is_store);
        let rows = table.members.iter();
        let module: Box<dyn Routing> = match table.routing {
            Rule::Switch => return None,
            Rule::Hash { offset, length } => {
                let numbers = rows.map(|member| member.number).collect();
                let by = By::Hash(KeyHash { offset, len: length }, numbers);
                return Some(Choice { by, keeps, members, seen: Vec::new(), number: 0 });
            }
            Rule::RoundRobin => Box::new(RoundRobin::default()),
            Rule::Weighted => Box::new(Weighted::new(rows.map(|member| member.weight).collect())),
            Rule::LeastOutstanding => Box::new(LeastOutstanding::default()),
            Rule::PowerOfTwo => Box::new(PowerOfTwo::new(table.switch)),
            Rule::Prefix => Box::new(Prefix::new(
                rows.enumerate()
                    .flat_map(|(k, member)| {
                        member.prefixes.iter().map(move |prefix| (prefix.clone().into_bytes(), k))
                    })
                    .collect(),
            )),
        };
        Some(Choice { by: By::Module(module), keeps, members, seen: Vec::new(), number: 0 })
    }

    /// The members that have a part of the keys.
    pub(super) fn all(&self) -> Vec<Rc<Upstream>> {
        let has_keys = |member: &&Rc<Upstream>| match member.state() {
            State::Up => true,
            State::Down(_) | State::Awaited => self.keeps,
            State::Leaving | State::Gone => false,
        };
        self.members.iter().filter(has_keys).cloned().collect()
    }

    /// Chooses the member of a request.
    pub(super) fn choose(&mut self, ask: &Ask) -> Chosen {
        let keeps = self.keeps && !ask.is_for_any;
        self.seen.clear();
        self.seen.extend(self.members.iter().map(|member| {
            let (owed, latency) = member.load();
            Member {
                is_up: match member.state() {
                    State::Up => true,
                    State::Down(_) | State::Awaited => keeps,
                    State::Leaving | State::Gone => false,
                },
                outstanding: Bytes::new(owed),
                latency: Duration::from_nanos(latency.as_nanos() as u64),
            }
        }));
        let frame = Frame { number: self.number, content: &ask.content };
        self.number += 1;
        let chosen = match &mut self.by {
            By::Hash(hash, numbers) => hash.choose(&frame, &self.seen, |k| numbers[k]),
            By::Module(module) => module.route(&frame, &self.seen),
        };
        let Some(member) = chosen.map(|k| &self.members[k]) else { return Chosen::Nobody };
        match member.state() {
            State::Down(why) => Chosen::Down(format!("member {} is down: {why}", member.name())),
            State::Awaited => Chosen::Nobody,
            State::Up | State::Leaving | State::Gone => Chosen::Member(Rc::clone(member)),
        }
    }
}
