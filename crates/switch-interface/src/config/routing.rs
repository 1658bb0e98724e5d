//! `routing`: how frames are spread over the members.

use std::path::{Path, PathBuf};

use ratewire_anypoint::routing::{
    KeyHash, LeastOutstanding, PowerOfTwo, Prefix, RoundRobin, Routing, Weighted,
};
use ratewire_config::{At, Section};

use super::member::MemberConfig;
use super::word;
use crate::table::{Choice, WhenDown};

const HASH_KEYS: &[&str] = &["length", "offset"];
const WASM_KEYS: &[&str] = &["module"];
/// Bytes of a frame that the switch may look at: every first packet has as many, or the whole
/// frame.
const MOST_BYTES: u32 = 1000;

/// How frames are spread over the members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutingConfig {
    /// One member after the other.
    RoundRobin,
    /// By the members' weights.
    Weighted,
    /// To the member that owes the least.
    LeastOutstanding,
    /// To the better of two random members, by load and latency.
    PowerOfTwo,
    /// By a hash of a key in the frame.
    Hash {
        /// Offset of the key in bytes.
        offset: usize,
        /// Its length.
        length: usize,
    },
    /// By the first bytes of the frame.
    Prefix,
    /// By a module in WebAssembly.
    Wasm(PathBuf),
}

const WORDS: [(&str, Word); 7] = [
    ("round-robin", Word::RoundRobin),
    ("weighted", Word::Weighted),
    ("least-outstanding", Word::LeastOutstanding),
    ("power-of-two", Word::PowerOfTwo),
    ("hash", Word::Hash),
    ("prefix", Word::Prefix),
    ("wasm", Word::Wasm),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    RoundRobin,
    Weighted,
    LeastOutstanding,
    PowerOfTwo,
    Hash,
    Prefix,
    Wasm,
}

pub(super) fn read(
    root: &Section<'_>,
    folder: &Path,
    members: &[At<MemberConfig>],
) -> RoutingConfig {
    let word = word(root, "routing", &WORDS).unwrap_or(Word::RoundRobin);
    for (table, owner) in [("hash", Word::Hash), ("wasm", Word::Wasm)] {
        if root.has(table) && word != owner {
            let message = format!("[{table}] has no effect");
            let help = format!("write routing = {table:?}, or remove the table");
            root.note(&root.place(table), message, help);
        }
    }
    match word {
        Word::RoundRobin => RoutingConfig::RoundRobin,
        Word::Weighted => RoutingConfig::Weighted,
        Word::LeastOutstanding => RoutingConfig::LeastOutstanding,
        Word::PowerOfTwo => RoutingConfig::PowerOfTwo,
        Word::Hash => {
            // The gateways' frames begin with a hash of the request's key.
            let (mut offset, mut length) = (0, 8);
            if let Some(table) = root.table("[hash]", HASH_KEYS) {
                offset = table.count("offset", offset, 0..=MOST_BYTES);
                length = table.count("length", length, 1..=MOST_BYTES);
            }
            RoutingConfig::Hash { offset: offset as usize, length: length as usize }
        }
        Word::Prefix => {
            if members.iter().all(|member| member.value.prefixes.is_empty()) {
                let help = "give members `prefixes`, as in prefixes = [\"GET \"]";
                root.note(&root.place("routing"), "no member has prefixes", help);
            }
            RoutingConfig::Prefix
        }
        Word::Wasm => {
            let table = root.table("[wasm]", WASM_KEYS);
            let module = table.and_then(|table| table.text("module", "the name of a file"));
            if module.is_none() {
                let help = "add a table [wasm] with the key `module`";
                root.note(&root.place("routing"), "the module's file is not named", help);
            }
            let module = module.map(|module| folder.join(module.value));
            RoutingConfig::Wasm(module.unwrap_or_default())
        }
    }
}

const WHEN_DOWN: [(&str, WhenDown); 2] = [("fail", WhenDown::Fail), ("move", WhenDown::Move)];

/// `when-down`: what becomes of frames whose member is down.
pub(super) fn when_down(root: &Section<'_>, routing: &RoutingConfig) -> Option<WhenDown> {
    let belongs = matches!(routing, RoutingConfig::Hash { .. } | RoutingConfig::Prefix);
    if root.has("when-down") && !belongs {
        let help = "write routing = \"hash\" or \"prefix\", or remove the key";
        root.note(&root.place("when-down"), "`when-down` has no effect", help);
    }
    word(root, "when-down", &WHEN_DOWN)
}

impl RoutingConfig {
    /// What gateways are told of it.
    pub fn told(&self) -> Choice {
        match *self {
            RoutingConfig::RoundRobin => Choice::RoundRobin,
            RoutingConfig::Weighted => Choice::Weighted,
            RoutingConfig::LeastOutstanding => Choice::LeastOutstanding,
            RoutingConfig::PowerOfTwo => Choice::PowerOfTwo,
            RoutingConfig::Hash { offset, length } => Choice::Hash { offset, length },
            RoutingConfig::Prefix => Choice::Prefix,
            RoutingConfig::Wasm(_) => Choice::Switch,
        }
    }

    /// A routing module of the tree for these members; `seed` is for chance. `None` if the module
    /// is a file.
    pub fn build(&self, members: &[MemberConfig], seed: u64) -> Option<Box<dyn Routing>> {
        Some(match self {
            RoutingConfig::RoundRobin => Box::new(RoundRobin::default()),
            RoutingConfig::Weighted => {
                Box::new(Weighted::new(members.iter().map(|member| member.weight).collect()))
            }
            RoutingConfig::LeastOutstanding => Box::new(LeastOutstanding::default()),
            RoutingConfig::PowerOfTwo => Box::new(PowerOfTwo::new(seed)),
            RoutingConfig::Hash { offset, length } => {
                Box::new(KeyHash { offset: *offset, len: *length })
            }
            RoutingConfig::Prefix => {
                let of = |(k, member): (usize, &MemberConfig)| {
                    let prefixes = member.prefixes.iter();
                    prefixes.map(|prefix| (prefix.clone().into_bytes(), k)).collect::<Vec<_>>()
                };
                Box::new(Prefix::new(members.iter().enumerate().flat_map(of).collect()))
            }
            RoutingConfig::Wasm(_) => return None,
        })
    }
}
