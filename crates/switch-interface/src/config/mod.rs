//! Configuration of a switch: `switch.toml`.
//!
//! | part | reads |
//! |---|---|
//! | `member` | `[[member]]` |
//! | `peer` | `[peer]` |
//! | `routing` | `routing`, `when-down`, `[hash]`, `[wasm]` |
//! | `register` | `[register]` |
//! | `probe` | `[probe]` |
//! | `addresses` | whether addresses fit each other |
//! | `token` | tokens of members that register |
//! | [`fuzzing`] | properties of any text |
//!
//! All mistakes of a file are reported at once ([`ConfigError`]).

mod addresses;
pub mod fuzzing;
mod member;
mod peer;
mod probe;
mod register;
mod routing;
#[cfg(test)]
mod tests;
mod token;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

pub use crate::table::WhenDown;
use addresses::usual_from;
pub use member::MemberConfig;
pub use member::{is_name, is_weight};
pub use peer::PeerConfig;
pub use probe::ProbeConfig;
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_config::socket_path;
use ratewire_config::{self as config, Host, Section};
pub use ratewire_config::{ConfigError, Problem};
use ratewire_units::{Bytes, Duration};
pub use register::RegisterConfig;
pub use routing::RoutingConfig;
pub use token::{Token, TokenError, TokenSource};

/// Keys outside of tables, and the tables.
const KEYS: &[&str] = &[
    "control",
    "drain",
    "flow-control",
    "from",
    "hash",
    "key",
    "limits",
    "listen",
    "member",
    "member-key",
    "patience",
    "peer",
    "probe",
    "register",
    "routing",
    "silence",
    "status",
    "transforms",
    "wasm",
    "when-down",
];
const LIMITS_KEYS: &[&str] = &["connections", "longest-frame"];

/// Share of the members' traffic that moves between them in a round trip, as in scenarios.
const SHUFFLE: f64 = 0.1;

const SILENCE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_millis(500);
const DRAIN: Duration = Duration::from_secs(10);

/// Configuration of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where peers connect to.
    pub listen: SocketAddr,
    /// The address that packets to members come from.
    pub from: SocketAddr,
    /// File of the key that the switch shares with its peers.
    pub key: PathBuf,
    /// File of the key that it shares with its members.
    pub member_key: PathBuf,
    /// Where the switch tells its status by HTTP.
    pub status: Option<SocketAddr>,
    /// Path of the Unix socket at which the switch takes commands.
    pub control: Option<PathBuf>,
    /// How frames are spread.
    pub routing: RoutingConfig,
    /// What becomes of gateways' frames whose member is down, if the file says it.
    pub when_down: Option<WhenDown>,
    /// Treatment of receivers' windows.
    pub flow_control: FlowControl,
    /// How feedback in changes of rate is split and merged.
    pub transforms: Transforms,
    /// Time for which a member may leave packets unanswered.
    pub silence: Duration,
    /// Time for members to answer before a peer's connection begins without them.
    pub patience: Duration,
    /// Time for peers to end their connections when the switch is told to stop.
    pub drain: Duration,
    /// What the switch grants its peers.
    pub limits: Limits,
    /// A switch that this one connects to.
    pub peer: Option<PeerConfig>,
    /// The members.
    pub members: Vec<MemberConfig>,
    /// How members register themselves.
    pub register: Option<RegisterConfig>,
    /// Questions to members, which they must answer to be up.
    pub probe: Option<ProbeConfig>,
}

/// What a switch grants its peers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Connections at a time.
    pub connections: u32,
    /// Longest frame.
    pub longest_frame: Bytes,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 10_000, longest_frame: Bytes::new(16_000_000) }
    }
}

impl Config {
    /// A switch for programs of its own process: with members of this host, the usual settings, and
    /// ports that the kernel chooses. It has no files.
    pub fn local(members: Vec<MemberConfig>, routing: RoutingConfig) -> Config {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Config {
            listen: any,
            from: any,
            key: PathBuf::new(),
            member_key: PathBuf::new(),
            status: None,
            control: None,
            routing,
            when_down: None,
            flow_control: FlowControl::Strict,
            transforms: TRANSFORMS[0].1,
            silence: SILENCE,
            patience: PATIENCE,
            drain: DRAIN,
            limits: Limits::default(),
            peer: None,
            members,
            register: None,
            probe: None,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read or used.
    pub fn read(file: &Path) -> Result<Config, ConfigError> {
        let text = config::read(file)?;
        Config::parse(file, &text)
    }

    /// Reads the text of a file; paths in it are relative to the file.
    ///
    /// # Errors
    /// All mistakes in the text. A text that is not TOML is not checked further.
    pub fn parse(file: &Path, text: &str) -> Result<Config, ConfigError> {
        let folder = file.parent().unwrap_or(Path::new(""));
        config::parse(file, text, KEYS, |root| Config::of(root, folder))
    }

    fn of(root: &Section<'_>, folder: &Path) -> Config {
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let listen = address(root, "listen").unwrap_or(local(4816));
        let file = |key| root.text(key, "the name of a file").map(|name| folder.join(name.value));
        let key = file("key");
        if key.is_none() && !root.has("key") {
            root.missing("key", "make one with `ratewire-switch key FILE`");
        }
        let key = key.unwrap_or_default();
        let time = |key, usual| {
            root.quantity(key, usual, Duration::from_millis(10)..=Duration::from_secs(3600))
        };
        let members = member::read(root);
        let register = register::read(root, folder);
        let at = register.as_ref().map(|register| register.listen);
        let from = address(root, "from").unwrap_or_else(|| usual_from(&members, at));
        let peer = peer::read(root, listen);
        let routing = routing::read(root, folder, &members);
        let at = at.map(|at| ("listen of [register]", at));
        let own = [Some(("listen", listen)), at, Some(("from", from))];
        addresses::check(root, own, &members, peer.as_ref());
        Config {
            listen,
            from,
            member_key: file("member-key").unwrap_or_else(|| key.clone()),
            key,
            status: address(root, "status"),
            control: socket_path(root, "control", folder),
            when_down: routing::when_down(root, &routing),
            routing,
            flow_control: word(root, "flow-control", &FLOW_CONTROL).unwrap_or(FlowControl::Strict),
            transforms: word(root, "transforms", &TRANSFORMS).unwrap_or(TRANSFORMS[0].1),
            silence: time("silence", SILENCE),
            patience: time("patience", PATIENCE),
            drain: time("drain", DRAIN),
            limits: limits(root),
            peer: peer.map(|peer| peer.value),
            members: members.into_iter().map(|member| member.value).collect(),
            register,
            probe: probe::read(root),
        }
    }
}

const FLOW_CONTROL: [(&str, FlowControl); 2] =
    [("strict", FlowControl::Strict), ("soft", FlowControl::Soft)];
const TRANSFORMS: [(&str, Transforms); 2] =
    [("refusals", Transforms::Refusals { shuffle: SHUFFLE }), ("paper", Transforms::Paper)];

fn limits(root: &Section<'_>) -> Limits {
    let usual = Limits::default();
    let Some(table) = root.table("[limits]", LIMITS_KEYS) else { return usual };
    let frames = Bytes::new(1000)..=Bytes::new(16_000_000);
    Limits {
        connections: table.count("connections", usual.connections, 1..=100_000),
        longest_frame: table.quantity("longest-frame", usual.longest_frame, frames),
    }
}

fn address(section: &Section<'_>, key: &str) -> Option<SocketAddr> {
    section.parsed(key, "an address and a port, as in 127.0.0.1:4816").map(|found| found.value)
}

/// An address or a name, of a host that this one looks for.
fn host(section: &Section<'_>, key: &str) -> Option<Host> {
    let allowed = "an address or a host's name, and a port, as in 10.0.0.2:4816 or redis-1:4816";
    section.parsed(key, allowed).map(|found| found.value)
}

/// One of some words.
fn word<T: Copy>(section: &Section<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
    let names: Vec<String> = words.iter().map(|(name, _)| format!("{name:?}")).collect();
    let allowed = names.join(" or ");
    let text = section.text(key, &allowed)?;
    let found = words.iter().find(|(name, _)| *name == text.value);
    if found.is_none() {
        let message = format!("`{key}` cannot be {:?}", text.value);
        section.note(&text.span, message, format!("allowed: {allowed}"));
    }
    found.map(|(_, value)| *value)
}
