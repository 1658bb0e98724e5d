//! Configuration of the daemons: `groups.toml`, the same file for all of them.
//!
//! | part | reads |
//! |---|---|
//! | `daemon` | `[[daemon]]` |
//! | `link` | `links`, `[[link]]` |
//! | `settings` | `[flow-control]`, `[limits]` |
//! | `policy` | `[[group]]` |
//! | `client` | `[[client]]` |
//! | `protection` | `certificates`, `plaintext` |
//! | `me` | which of the daemons runs here |
//!
//! All mistakes of a file are reported at once ([`ConfigError`]).

mod by_name;
mod client;
mod daemon;
pub mod fuzzing;
mod link;
mod me;
mod policy;
mod protection;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt::{Debug, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratewire_config as config;
pub use ratewire_config::{ConfigError, Problem};
use ratewire_overlay::{Dollars, EdgeSpec, OverlayNodeId, Params};
use ratewire_units::Duration;

pub use client::{Clients, Terms};
pub use daemon::{Daemon, LONGEST_NAME, Listen, check_name};
pub use link::Link;
pub use policy::{Policies, Policy};
pub use protection::Protection;
pub use settings::{Limits, MOST_CLIENTS, MOST_GROUPS_PER_CLIENT, MOST_MEMBERSHIPS, Patience};

/// Keys outside of tables, and the tables.
const KEYS: &[&str] = &[
    "certificates",
    "client",
    "daemon",
    "flow-control",
    "group",
    "limits",
    "link",
    "links",
    "measure-latency",
    "plaintext",
];

/// Configuration of all daemons.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The daemons, at most 128. Their places are their numbers in the overlay.
    pub daemons: Vec<Daemon>,
    /// Links between daemons, which join all of them.
    pub links: Vec<Link>,
    /// Prices and budgets.
    pub params: Params,
    /// What a daemon grants its clients and the other daemons.
    pub limits: Limits,
    /// Policies of groups.
    pub policies: Policies,
    /// Salaries and weights of clients.
    pub clients: Clients,
    /// What protects the links.
    pub protection: Protection,
    /// Whether messages carry the time at which they were sent, so that daemons can tell how long
    /// they took. The clocks of the daemons' hosts must agree.
    pub measures_latency: bool,
    /// The file; `None` of the built-in configuration.
    file: Option<PathBuf>,
}

impl Config {
    /// One daemon, called `localhost`, for the clients of this host.
    pub fn single() -> Config {
        Config {
            daemons: vec![Daemon::local("localhost")],
            links: Vec::new(),
            params: settings::usual_params(),
            limits: Limits::default(),
            policies: Policies::default(),
            clients: Clients::default(),
            protection: Protection::Plaintext,
            measures_latency: false,
            file: None,
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
        config::parse(file, text, KEYS, |root| {
            let daemons = daemon::read(root);
            Config {
                links: link::read(root, &daemons),
                params: settings::read_params(root),
                limits: settings::read_limits(root),
                policies: policy::read(root),
                clients: client::read(root),
                protection: protection::read(root, folder, &daemons),
                measures_latency: root.flag("measure-latency"),
                daemons: daemons.into_iter().map(|daemon| daemon.value).collect(),
                file: Some(file.to_path_buf()),
            }
        })
    }

    /// Whether this is the built-in configuration, not that of a file.
    pub fn is_built_in(&self) -> bool {
        self.file.is_none()
    }

    /// The number of the daemon called `name`.
    pub fn node(&self, name: &str) -> Option<OverlayNodeId> {
        let place = self.daemons.iter().position(|daemon| daemon.name == name);
        place.map(|place| OverlayNodeId(place as u8))
    }

    /// The daemon with this number.
    pub fn daemon(&self, node: OverlayNodeId) -> &Daemon {
        &self.daemons[node.index()]
    }

    /// The links as the overlay takes them: each in both directions.
    pub fn edges(&self) -> Arc<[EdgeSpec]> {
        let both = |link: &Link| {
            let ([a, b], delay) = (link.ends, link.delay);
            [EdgeSpec { from: a, to: b, delay }, EdgeSpec { from: b, to: a, delay }]
        };
        self.links.iter().flat_map(both).collect()
    }

    /// A number that differs between configurations whose daemons do not link, or do not treat
    /// clients alike: other daemons, links, prices, policies, salaries or weights. Addresses, limits
    /// and what costs the fee may differ.
    pub fn fingerprint(&self) -> u64 {
        let mut text = self.agreement();
        let mut add = |part: &dyn Debug| _ = writeln!(text, "{part:?}");
        self.policies.weights().for_each(|weight| add(&weight));
        self.clients.iter().for_each(|(name, terms)| {
            add(&(name, terms.salary.map(Dollars::get), terms.weight));
        });
        hash(&text)
    }

    /// A number that differs between configurations whose daemons do not link: other daemons,
    /// links, prices or policies. Salaries and weights may differ, too: a daemon applies its own to
    /// its own clients.
    pub fn link_fingerprint(&self) -> u64 {
        hash(&self.agreement())
    }

    /// What daemons must agree on to be linked.
    fn agreement(&self) -> String {
        let mut text = String::new();
        let mut add = |part: &dyn Debug| _ = writeln!(text, "{part:?}");
        self.daemons.iter().for_each(|daemon| add(&daemon.name));
        self.links.iter().for_each(|link| add(&(link.ends, link.delay.ps())));
        let Params { salary, cap, fee, soft_limit, threshold, interval, first_period, .. } =
            self.params;
        let Params { price, benefit, randomise, second_thought, .. } = self.params;
        add(&[salary, cap, fee, threshold].map(Dollars::get));
        add(&(soft_limit.get(), interval.ps(), first_period.ps()));
        let choices = (price, benefit, randomise, second_thought);
        let usual = Params::default();
        // Daemons of releases without these choices have the usual ones.
        if choices != (usual.price, usual.benefit, usual.randomise, usual.second_thought) {
            add(&(price.name(), price.base(), benefit.name(), benefit.memory().map(Duration::ps)));
            add(&(randomise, second_thought.map(Duration::ps)));
        }
        // A sender's daemon does not wait for the receivers of a group whose policy cuts them off.
        // If a receiver's daemon did not know that policy, the receiver's queue would have no end.
        self.policies.iter().for_each(|policy| add(&policy));
        text
    }
}

/// FNV-1a: the same on every machine. Daemons are not to be deceived by it.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}
