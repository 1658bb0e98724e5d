//! The members of a switch, as it tells them to those who choose members themselves.
//!
//! A gateway keeps a connection for each member, so that one that hangs holds up no other. It asks
//! the switch for this table by a connection of its own, and gets it anew whenever it changes, as
//! JSON in a frame.

use serde::{Deserialize, Serialize};

/// What a switch tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Table {
    /// A random number of the switch's process.
    pub switch: u64,
    /// How frames are spread.
    pub routing: Choice,
    /// What becomes of frames whose member is down; `None` if the operator has not said.
    pub when_down: Option<WhenDown>,
    /// Whether members may be missing that had registered before: the switch has just begun.
    pub gathers: bool,
    /// Whether the switch ends: that its members leave it says nothing of the next one's.
    pub ends: bool,
    /// The members.
    pub members: Vec<TableMember>,
}

/// How frames are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// One member after the other.
    RoundRobin,
    /// By the members' weights.
    Weighted,
    /// To the member that owes the least.
    LeastOutstanding,
    /// To the better of two random members, by load and latency.
    PowerOfTwo,
    /// By a hash of a key in the frame, and of the members' numbers.
    Hash {
        /// Offset of the key in bytes.
        offset: usize,
        /// Its length.
        length: usize,
    },
    /// By the first bytes of the frame.
    Prefix,
    /// By the switch alone, which has a module in WebAssembly.
    Switch,
}

/// What becomes of frames that belong to a member which is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenDown {
    /// They fail, as others have not what it has.
    Fail,
    /// They go to other members, as in a cache.
    Move,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TableMember {
    /// What people call it. No other member of the ensemble is called so.
    pub name: String,
    /// The number by which a connection for it is asked for. Another process of the same name that
    /// has registered has another one.
    pub id: u64,
    /// The number by which it is hashed.
    pub number: u64,
    /// Its share of the frames.
    pub weight: f64,
    /// First bytes of the frames that go to it.
    pub prefixes: Vec<String>,
    /// Whether it takes frames.
    pub state: MemberState,
}

/// Whether a member takes frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberState {
    /// It does.
    Up,
    /// It does not answer; why, in words.
    Down(String),
    /// It is drained: it finishes what it has.
    Leaving,
    /// It had registered with the switch's last process, and has not yet with this one. No switch
    /// tells this.
    Awaited,
}

impl Table {
    /// Adds the members of an earlier table that are missing, as ones that are awaited.
    pub fn keep_missing_of(&mut self, before: &Table) {
        let is_missing = |member: &&TableMember| {
            member.state != MemberState::Leaving
                && !self.members.iter().any(|known| known.name == member.name)
        };
        let missing: Vec<TableMember> = before.members.iter().filter(is_missing).cloned().collect();
        let state = || MemberState::Awaited;
        self.members
            .extend(missing.into_iter().map(|member| TableMember { state: state(), ..member }));
    }

    /// The table as a frame's content.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a frame's content; `None` if it is no table.
    pub fn decode(data: &[u8]) -> Option<Table> {
        serde_json::from_slice(data).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_table_has_this_form() {
        let member = TableMember {
            name: "redis-1".to_string(),
            id: u64::MAX,
            number: 3,
            weight: 1.5,
            prefixes: vec!["GET".to_string()],
            state: MemberState::Down("it has left packets unanswered".to_string()),
        };
        let table = Table {
            switch: 7,
            routing: Choice::Hash { offset: 0, length: 8 },
            when_down: Some(WhenDown::Fail),
            gathers: false,
            ends: true,
            members: vec![member],
        };
        let text = concat!(
            r#"{"switch":7,"routing":{"hash":{"offset":0,"length":8}},"when-down":"fail","#,
            r#""gathers":false,"ends":true,"members":[{"name":"redis-1","id":18446744073709551615,"#,
            r#""number":3,"weight":1.5,"prefixes":["GET"],"state":{"down":"it has left packets unanswered"}}]}"#,
        );
        assert_eq!(String::from_utf8(table.encode()).unwrap(), text);
        assert_eq!(Table::decode(text.as_bytes()), Some(table));
        assert_eq!(Table::decode(b"{}"), None);
    }

    #[test]
    fn members_that_had_not_left_are_kept() {
        let member = |name: &str, state| TableMember {
            name: name.to_string(),
            id: 1,
            number: 3,
            weight: 1.0,
            prefixes: Vec::new(),
            state,
        };
        let table = |members| Table {
            switch: 7,
            routing: Choice::Hash { offset: 0, length: 8 },
            when_down: None,
            gathers: true,
            ends: false,
            members,
        };
        let before = [("up", MemberState::Up), ("down", MemberState::Down("why".to_string()))];
        let before = before.into_iter().chain([("left", MemberState::Leaving)]);
        let before = before.map(|(name, state)| member(name, state)).collect();
        let mut now = table(vec![member("new", MemberState::Up), member("down", MemberState::Up)]);
        now.keep_missing_of(&table(before));
        let missing = MemberState::Awaited;
        let states = now.members.iter().map(|member| (member.name.as_str(), &member.state));
        let up = &MemberState::Up;
        assert!(states.eq([("new", up), ("down", up), ("up", &missing)]));
    }

    proptest! {
        #[test]
        fn anything_may_come(data: Vec<u8>) {
            _ = Table::decode(&data);
        }
    }
}
