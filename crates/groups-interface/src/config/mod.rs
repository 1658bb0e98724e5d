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
//! | `agreement` | what daemons must agree on, and what may change while they run |
//!
//! All mistakes of a file are reported at once ([`ConfigError`]).

mod agreement;
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

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratewire_config as config;
pub use ratewire_config::{ConfigError, Problem};
use ratewire_overlay::{EdgeSpec, OverlayNodeId, Params};

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
    /// The daemons, at most 128, with those that are retired. Their places are their numbers in the
    /// overlay.
    pub daemons: Vec<Daemon>,
    /// Links between daemons, which join all that are not retired. Those to a daemon come after
    /// all links between earlier daemons.
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
            let daemons = daemon::read(root, folder);
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

    /// Reads the file of this configuration again.
    ///
    /// # Errors
    /// As [`Config::read`], and if this is the built-in configuration.
    pub fn read_again(&self) -> Result<Config, ConfigError> {
        let Some(file) = &self.file else {
            let message = "the daemon runs without a file".to_string();
            let help = "start it with --config".to_string();
            return Err(ConfigError::general(None, message, help));
        };
        Config::read(file)
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
}
