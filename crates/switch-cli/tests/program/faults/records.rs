//! What members have written down, and what must hold of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Frames of a client, by the upper half of a frame's number.
const CLIENT: u32 = 40;

/// The number of a client's frame.
pub(super) fn number(client: u64, index: u64) -> u64 {
    client << CLIENT | index
}

/// What a frame holds: the client and the size follow from its number.
pub(super) fn content(number: u64) -> Vec<u8> {
    // One in 16 frames takes several packets.
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let size = if mixed.is_multiple_of(16) { 2000 + mixed % 3000 } else { 64 + mixed % 200 };
    number.to_be_bytes().into_iter().cycle().take(size as usize).collect()
}

/// A connection of a switch with a member: which member, since which start, and which connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) member: u32,
    pub(super) life: u32,
    pub(super) connection: u32,
}

impl Place {
    pub(super) fn file(self) -> String {
        format!("{}-{}-{}.record", self.member, self.life, self.connection)
    }

    fn of_file(name: &str) -> Option<Place> {
        let mut numbers = name.strip_suffix(".record")?.split('-').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Place { member: next()?, life: next()?, connection: next()? })
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        [self.member, self.life, self.connection].iter().flat_map(|n| n.to_be_bytes()).collect()
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Place {
        let mut numbers = bytes.chunks(4).map(|n| u32::from_be_bytes(n.try_into().expect("four")));
        let mut next = || numbers.next().expect("three numbers");
        Place { member: next(), life: next(), connection: next() }
    }
}

/// Frames of a client that may have been on their way to a member when that died.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exposed {
    pub(super) client: u64,
    pub(super) from: u64,
    pub(super) until: u64,
}

/// What a run has left behind.
#[derive(Debug)]
pub(super) struct Records {
    /// Frames of a client, in order, by client and connection.
    frames: BTreeMap<(u64, Place), Vec<u64>>,
}

/// Numbers to print of a run.
#[derive(Debug, Default)]
#[expect(dead_code, reason = "they are printed")]
pub(super) struct Seen {
    pub(super) connections: usize,
    /// Connections that the switch gave up though the member lived.
    pub(super) given_up_alive: usize,
    /// Frames that a second member got.
    pub(super) twice: usize,
    /// Frames that a member got after later ones.
    pub(super) late: usize,
}

impl Records {
    pub(super) fn read(folder: &Path) -> Records {
        let mut frames = BTreeMap::new();
        for entry in std::fs::read_dir(folder).expect("the folder of the test") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let Some(place) = Place::of_file(&name) else { continue };
            let bytes = std::fs::read(&path).expect("a record");
            let (numbers, rest) = bytes.as_chunks();
            assert!(rest.is_empty(), "{name} ends within a number");
            let numbers: Vec<u64> = numbers.iter().map(|n| u64::from_le_bytes(*n)).collect();
            let Some(client) = numbers.first().map(|number| number >> CLIENT) else { continue };
            assert!(numbers.iter().all(|n| n >> CLIENT == client), "{name} mixes clients");
            let indices = numbers.iter().map(|n| n & ((1 << CLIENT) - 1)).collect();
            frames.insert((client, place), indices);
        }
        Records { frames }
    }

    /// Connections that the switch has given up: those of members that were killed, by their lives,
    /// and those that another of the same client has followed.
    fn given_up(&self, client: u64, place: Place, lives: &[u32]) -> bool {
        place.life < lives[place.member as usize] || self.has_successor(client, place)
    }

    fn has_successor(&self, client: u64, place: Place) -> bool {
        let later = Place { connection: u32::MAX, ..place };
        self.frames.keys().any(|(c, p)| *c == client && (place..later).contains(p) && *p != place)
    }

    /// Checks that each member got frames once and in order, and that all frames got to one;
    /// `lives` has the members' last lives, `written` the clients' numbers of frames.
    pub(super) fn check(&self, lives: &[u32], written: &[u64], exposed: &[Exposed]) -> Seen {
        let mut seen = Seen { connections: self.frames.len(), ..Seen::default() };
        let alive = |client, place: Place| {
            place.life == lives[place.member as usize] && self.has_successor(client, place)
        };
        seen.given_up_alive = self.frames.keys().filter(|(c, p)| alive(*c, *p)).count();
        let mut whole = vec![BTreeSet::new(); written.len()];
        let mut all = whole.clone();
        for ((client, place), frames) in &self.frames {
            let set: BTreeSet<u64> = frames.iter().copied().collect();
            assert_eq!(set.len(), frames.len(), "a frame came twice at {place:?}");
            if !self.given_up(*client, *place, lives) {
                for frame in &set {
                    let is_new = whole[*client as usize].insert(*frame);
                    assert!(is_new, "{client}/{frame} at {place:?} and another that lives");
                }
            }
            seen.late += self.check_order(*client, *place, frames, exposed, seen.given_up_alive);
            for frame in set {
                seen.twice += usize::from(!all[*client as usize].insert(frame));
            }
        }
        for (client, (all, written)) in all.iter().zip(written).enumerate() {
            let lost = (0..*written).find(|frame| !all.contains(frame));
            assert_eq!(lost, None, "a frame of client {client} was lost");
            assert_eq!(all.len() as u64, *written, "client {client} has not sent so many");
        }
        seen
    }

    /// Checks that frames are in order, except for those that a dead member did not get. Returns
    /// the number of these.
    fn check_order(
        &self,
        client: u64,
        place: Place,
        frames: &[u64],
        exposed: &[Exposed],
        given_up_alive: usize,
    ) -> usize {
        let (mut last, mut late) = (0, 0);
        for frame in frames {
            if *frame >= last {
                last = *frame;
                continue;
            }
            late += 1;
            let covers = |e: &Exposed| e.client == client && (e.from..e.until).contains(frame);
            // Of members that were given up alive, the time is not known.
            let is_explained = given_up_alive > 0 || exposed.iter().any(covers);
            assert!(is_explained, "{client}/{frame} came after {last} at {place:?}");
        }
        late
    }

    /// Checks that the answers of each connection, in the order in which they came, are the first
    /// ones that its member gave, and all of them if it was not given up.
    pub(super) fn check_answers(
        &self,
        client: u64,
        answers: &BTreeMap<Place, Vec<u64>>,
        lives: &[u32],
    ) {
        for ((of, place), frames) in &self.frames {
            if *of != client {
                continue;
            }
            let got = answers.get(place).map_or(&[][..], Vec::as_slice);
            assert!(frames.starts_with(got), "answers of {place:?} to client {client}");
            let is_whole = got.len() == frames.len();
            assert!(is_whole || self.given_up(client, *place, lives), "{place:?}: {}", got.len());
        }
    }
}
