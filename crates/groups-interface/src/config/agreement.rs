//! What daemons must agree on, and what a daemon takes over while it runs.
//!
//! Daemons have the numbers of their places in the file. A file that names more daemons at its end
//! agrees with one that does not, so a longer file spreads from daemon to daemon.

use std::fmt::{Debug, Write as _};

use ratewire_config::ConfigError;
use ratewire_overlay::{Dollars, OverlayNodeId, Params};
use ratewire_units::Duration;

use super::Config;

impl Config {
    /// A number that differs between configurations whose daemons do not treat all alike: other
    /// daemons, links, prices, policies, salaries or weights. Addresses, limits and what costs the
    /// fee may differ.
    pub fn fingerprint(&self) -> u64 {
        let mut text = self.agreement(self.daemons.len());
        self.policies.iter().for_each(|policy| add(&mut text, &policy));
        self.policies.weights().for_each(|weight| add(&mut text, &weight));
        self.clients.iter().for_each(|(name, terms)| {
            add(&mut text, &(name, terms.salary.map(Dollars::get), terms.weight));
        });
        let retired = self.daemons.iter().filter(|daemon| daemon.is_retired);
        retired.for_each(|daemon| add(&mut text, &("retired", &daemon.name)));
        hash(&text)
    }

    /// Numbers that daemons compare to link: one for the first daemon, one for the first two, and
    /// so on, with the links between them and prices. Those of all daemons that both files name
    /// must be equal. Policies, salaries and weights may differ.
    pub fn link_fingerprints(&self) -> Vec<u64> {
        (1..=self.daemons.len()).map(|first| hash(&self.agreement(first))).collect()
    }

    /// A number that differs between configurations with other policies of groups. Daemons of a
    /// view must have the same ones to leave a slow receiver out of a price: a receiver's queue
    /// would have no end if its daemon did not know that it is to be cut off.
    pub fn terms(&self) -> u64 {
        let mut text = String::new();
        self.policies.iter().for_each(|policy| add(&mut text, &policy));
        hash(&text)
    }

    /// What the first daemons must agree on to be linked.
    fn agreement(&self, first: usize) -> String {
        let mut text = String::new();
        self.daemons[..first].iter().for_each(|daemon| add(&mut text, &daemon.name));
        let links = self.links.iter().filter(|link| link.ends[1].index() < first);
        links.for_each(|link| add(&mut text, &(link.ends, link.delay.ps())));
        let Params { salary, cap, fee, soft_limit, threshold, interval, first_period, .. } =
            self.params;
        let Params { price, benefit, randomise, second_thought, .. } = self.params;
        add(&mut text, &[salary, cap, fee, threshold].map(Dollars::get));
        add(&mut text, &(soft_limit.get(), interval.ps(), first_period.ps()));
        let memory = benefit.memory().map(Duration::ps);
        add(&mut text, &(price.name(), price.base(), benefit.name(), memory));
        add(&mut text, &(randomise, second_thought.map(Duration::ps)));
        text
    }

    /// Whether daemon `me`, which runs with this configuration, can go on with another one: it may
    /// name more daemons at its end, with links to them, retire others and move them, and change
    /// what it says of groups and clients.
    ///
    /// # Errors
    /// If something else differs: what, and what to do.
    pub fn check_reload(&self, next: &Config, me: OverlayNodeId) -> Result<(), ConfigError> {
        let error = |message: String, help: &str| {
            Err(ConfigError::general(next.file.as_deref(), message, help.to_string()))
        };
        let names = |config: &Config| -> Vec<String> {
            config.daemons.iter().map(|daemon| daemon.name.clone()).collect()
        };
        let (old, new) = (names(self), names(next));
        if let Some(place) = (0..old.len()).find(|place| old.get(*place) != new.get(*place)) {
            let message = format!("`{}` is not daemon {} any more", old[place], place + 1);
            let help = "add daemons behind all others; write `retired = true` for one that is no \
                        more, and leave it in its place";
            return error(message, help);
        }
        let is_old = |link: &&super::Link| link.ends[1].index() < old.len();
        let (own, theirs) = (self.daemon(me), next.daemon(me));
        let differs = [
            ("links between daemons that run", !next.links.iter().filter(is_old).eq(&self.links)),
            ("[flow-control]", next.params != self.params),
            ("[limits]", next.limits != self.limits),
            ("`certificates` or `plaintext`", next.protection != self.protection),
            ("`measure-latency`", next.measures_latency != self.measures_latency),
            (
                "`address`, `listen`, `status` or `control` of this daemon",
                !own.has_addresses_of(theirs),
            ),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            let message = format!("{what} cannot change while the daemon runs");
            return error(message, "restart the daemon, or take the change back");
        }
        if theirs.is_retired {
            let message = format!("this daemon, `{}`, is retired", own.name);
            return error(message, "stop it, or take `retired` away");
        }
        Ok(())
    }
}

fn add(text: &mut String, part: &dyn Debug) {
    _ = writeln!(text, "{part:?}");
}

/// FNV-1a: the same on every machine. Daemons are not to be deceived by it.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}
