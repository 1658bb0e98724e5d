//! Daemons, and where they listen.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

pub use ratewire_config::Listen;
use ratewire_config::{At, Problem, Section, socket_path};
use ratewire_overlay::MOST_NODES;

/// Title of the tables.
pub(super) const TITLE: &str = "[[daemon]]";
/// Keys of the tables.
pub(super) const KEYS: &[&str] = &["name", "address", "listen", "status", "control", "retired"];

/// Longest name of a daemon, in bytes: clients of Spread keep 32 bytes for `#client#daemon`.
pub const LONGEST_NAME: usize = 19;
/// Port on which clients of Spread look for a daemon.
const PORT: u16 = 4803;
/// Port of the status of a daemon without a file.
const STATUS_PORT: u16 = 4809;

/// One daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// The second half of the names of its clients: `#client#daemon`.
    pub name: String,
    /// Where the other daemons reach this one; `None` only of a daemon without others.
    pub address: Option<SocketAddr>,
    /// Where clients reach the daemon.
    pub listen: Vec<Listen>,
    /// Where the daemon serves its metrics and its state.
    pub status: Option<SocketAddr>,
    /// The Unix socket at which the daemon takes commands of its user.
    pub control: Option<PathBuf>,
    /// Whether the daemon is no more. Its place stays: later daemons have the numbers of theirs.
    pub is_retired: bool,
}

impl Daemon {
    /// A daemon that listens where clients of Spread look for one, serves its status on port 4809
    /// of this host, and knows no others.
    pub fn local(name: &str) -> Daemon {
        let status = Some(SocketAddr::from(([127, 0, 0, 1], STATUS_PORT)));
        let (control, is_retired) = (None, false);
        Daemon {
            name: name.to_string(),
            address: None,
            listen: usual(),
            status,
            control,
            is_retired,
        }
    }

    /// Whether another entry of the daemon has the addresses and sockets of this one.
    pub(super) fn has_addresses_of(&self, other: &Daemon) -> bool {
        let all = |daemon: &Daemon| {
            (daemon.address, daemon.listen.clone(), daemon.status, daemon.control.clone())
        };
        all(self) == all(other)
    }
}

/// Port 4803 of this host, and the socket that clients of Spread prefer to it.
fn usual() -> Vec<Listen> {
    let port = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], PORT)));
    vec![port, Listen::Unix(format!("/tmp/{PORT}").into())]
}

/// Names that daemons may have, in words.
const NAMES: &str =
    "1 to 19 letters, digits, `-` and `_`, a letter or digit first and last, not `ca`";

/// Checks a daemon's name.
///
/// # Errors
/// If no daemon can have this name: why, and what is allowed.
pub fn check_name(name: &str) -> Result<(), Problem> {
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    let is_allowed = name.chars().all(|c| is_plain(c) || c == '-' || c == '_');
    let why = if name.is_empty() || name.len() > LONGEST_NAME {
        format!("has {} characters", name.chars().count())
    } else if !is_allowed || !name.starts_with(is_plain) || !name.ends_with(is_plain) {
        "has a character that is not allowed".to_string()
    } else if name.eq_ignore_ascii_case("ca") {
        // Its certificate would have the authority's file name.
        "is the name of the certificates' authority".to_string()
    } else {
        return Ok(());
    };
    let message = format!("the daemon's name {name:?} {why}");
    Err(Problem { place: None, message, help: format!("allowed: {NAMES}") })
}

/// Reads the daemons. One with a mistake is left out.
pub(super) fn read(root: &Section<'_>, folder: &Path) -> Vec<At<Daemon>> {
    let sections = root.tables(TITLE, KEYS);
    if let Some(first_too_many) = sections.get(MOST_NODES) {
        let message = format!("{} daemons are too many", sections.len());
        let help = format!("allowed: 1 to {MOST_NODES}; let several hosts' clients share a daemon");
        root.note(&first_too_many.span(), message, help);
    }
    if sections.is_empty() {
        let message = "the file names no daemon";
        root.note(&(0..0), message, "add [[daemon]] with a `name` for each daemon");
    }
    let is_alone = sections.len() < 2;
    let sections = sections.into_iter().take(MOST_NODES);
    let read = sections.filter_map(|section| Some((daemon(&section, folder, is_alone)?, section)));
    let daemons: Vec<(Daemon, Section<'_>)> = read.collect();
    check_distinct(&daemons);
    daemons.into_iter().map(|(value, section)| At { value, span: section.span() }).collect()
}

fn daemon(section: &Section<'_>, folder: &Path, is_alone: bool) -> Option<Daemon> {
    let (name, is_retired) = (name(section), section.flag("retired"));
    let reached = "an IP address and a port, for example \"10.0.0.1:4804\"";
    let address = section.parsed::<SocketAddr>("address", reached);
    if let Some(At { value, span }) = &address
        && (value.ip().is_unspecified() || value.port() == 0)
    {
        let message = format!("other daemons cannot reach `address` {value}");
        section.note(span, message, format!("write {reached}"));
    }
    if !is_alone && !is_retired && !section.has("address") {
        section.missing("address", &format!("write where other daemons reach this one: {reached}"));
    }
    let shown = "an IP address and a port, for example \"127.0.0.1:4809\"";
    let status = section.parsed::<SocketAddr>("status", shown).map(|at| at.value);
    let address = address.map(|at| at.value);
    let (listen, control) = (listen(section), socket_path(section, "control", folder));
    let daemon = Daemon { name: name?, address, listen, status, control, is_retired };
    let taken: Vec<Taken> = taken(&daemon).collect();
    let clash = taken.iter().enumerate().find_map(|(n, last)| clash(&taken[..n], last));
    if let Some((_, what)) = clash {
        let message = format!("daemon `{}` listens twice on {what}", daemon.name);
        section.note(&section.span(), message, "give each of its listeners its own port");
    }
    Some(daemon)
}

fn name(section: &Section<'_>) -> Option<String> {
    if !section.has("name") {
        section.missing("name", &format!("write a name: {NAMES}"));
    }
    let At { value, span } = section.text("name", NAMES)?;
    if let Err(problem) = check_name(value) {
        section.note(&span, problem.message, problem.help);
        return None;
    }
    Some(value.to_string())
}

fn listen(section: &Section<'_>) -> Vec<Listen> {
    let allowed = "a list of addresses, for example [\"127.0.0.1:4803\", \"unix:/tmp/4803\"]";
    let Some(texts) = section.texts("listen", allowed) else { return usual() };
    if texts.is_empty() {
        let message = "`listen` is empty: no client could connect";
        section.note(&section.place("listen"), message, format!("allowed: {allowed}"));
    }
    let mut found: Vec<Listen> = Vec::new();
    for At { value, span } in texts {
        match value.parse() {
            Ok(listen) if found.contains(&listen) => {
                let message = format!("`listen` has {value:?} twice");
                section.note(&span, message, "take one of them away");
            }
            Ok(listen) => found.push(listen),
            Err(why) => {
                let message = format!("`listen` cannot have {value:?}: {why}");
                section.note(&span, message, format!("allowed: {allowed}"));
            }
        }
    }
    found
}

/// What a daemon listens on, with the key that says so.
type Taken = (&'static str, Listen);

fn taken(daemon: &Daemon) -> impl Iterator<Item = Taken> {
    let others = [("address", daemon.address), ("status", daemon.status)];
    let others = others.into_iter().filter_map(|(key, at)| Some((key, Listen::Tcp(at?))));
    let control = daemon.control.iter().map(|path| ("control", Listen::Unix(path.clone())));
    let all = daemon.listen.iter().map(|listen| ("listen", listen.clone()));
    // Where a retired daemon listened, another may.
    all.chain(others).chain(control).filter(|_| !daemon.is_retired)
}

/// The key of `last` and the words for what it shares with one of `before`, on one host.
fn clash(before: &[Taken], (key, last): &Taken) -> Option<(&'static str, String)> {
    let (_, first) = before.iter().find(|(_, first)| excludes(first, last))?;
    let what = if first == last { last.to_string() } else { format!("{first} and {last}") };
    Some((key, what))
}

/// Whether no host can have both listeners. IPv6's wildcard may or may not include IPv4: the
/// kernel's settings decide.
fn excludes(first: &Listen, last: &Listen) -> bool {
    let (Listen::Tcp(first), Listen::Tcp(last)) = (first, last) else { return first == last };
    let ([a, b], port) = ([first, last].map(place), first.port());
    let is_covered = a.0.is_ipv4() == b.0.is_ipv4() && [a, b].iter().any(|p| p.0.is_unspecified());
    port == last.port() && port != 0 && (a == b || is_covered)
}

/// IP address, and the scope that an IPv6 address may need.
fn place(address: &SocketAddr) -> (IpAddr, u32) {
    match address {
        SocketAddr::V4(_) => (address.ip(), 0),
        SocketAddr::V6(v6) => (address.ip().to_canonical(), v6.scope_id()),
    }
}

/// Whether two daemons run on one host: others reach both at one address, or at loopback addresses.
/// What they listen on for clients does not tell, because many hosts may have the same.
fn is_one_host(first: &Daemon, last: &Daemon) -> bool {
    let places = first.address.as_ref().map(place).zip(last.address.as_ref().map(place));
    places.is_some_and(|(a, b)| a == b || (a.0.is_loopback() && b.0.is_loopback()))
}

/// Notes what two daemons cannot both have: a name, or on one host a port or socket.
fn check_distinct(daemons: &[(Daemon, Section<'_>)]) {
    let all_taken: Vec<Vec<Taken>> =
        daemons.iter().map(|(daemon, _)| taken(daemon).collect()).collect();
    for (number, (daemon, section)) in daemons.iter().enumerate() {
        let before = daemons[..number].iter().map(|(other, _)| other);
        // Certificates ignore case.
        if before.clone().any(|other| other.name.eq_ignore_ascii_case(&daemon.name)) {
            let message = format!("two daemons are called `{}`", daemon.name);
            let help = "give each daemon a name of its own; case does not matter";
            section.note(&section.span(), message, help);
        }
        let shared = before.zip(&all_taken).find_map(|(other, taken)| {
            let mut mine = all_taken[number].iter().filter(|_| is_one_host(other, daemon));
            Some((other, mine.find_map(|last| clash(taken, last))?))
        });
        if let Some((other, (key, what))) = shared {
            let (other, me) = (&other.name, &daemon.name);
            let message = format!("`{other}` and `{me}` are on one host and listen on {what}");
            let help = "give each daemon ports and sockets of its own; one without `listen` takes \
                        127.0.0.1:4803 and unix:/tmp/4803";
            section.note(&section.place(key), message, help);
        }
    }
}
