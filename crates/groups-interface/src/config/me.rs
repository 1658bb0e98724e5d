//! Which of the daemons runs here.

use std::net::{IpAddr, UdpSocket};

use ratewire_config::{ConfigError, known_words};
use ratewire_overlay::OverlayNodeId;

use super::{Config, Daemon};

impl Config {
    /// The daemon that runs here: the one called `name`. Without a name it is the only one, else
    /// the one whose address is an address of this host, else the one that is called as the host.
    ///
    /// # Errors
    /// If no daemon, or more than one, is found, or it is retired.
    pub fn me(&self, name: Option<&str>) -> Result<OverlayNodeId, ConfigError> {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let me = self.choose(name, is_local, host.trim())?;
        let Daemon { name, is_retired, .. } = self.daemon(me);
        if *is_retired {
            let (message, help) = (format!("daemon `{name}` is retired"), "take `retired` away");
            return Err(ConfigError::general(self.file.as_deref(), message, help.to_string()));
        }
        Ok(me)
    }

    fn choose(
        &self,
        name: Option<&str>,
        is_local: impl Fn(IpAddr) -> bool,
        host: &str,
    ) -> Result<OverlayNodeId, ConfigError> {
        let names = || self.daemons.iter().map(|daemon| daemon.name.as_str());
        let error = |message: String, help: String| {
            Err(ConfigError::general(self.file.as_deref(), message, help))
        };
        let called = |name: &str| names().position(|known| known.eq_ignore_ascii_case(name));
        if let Some(name) = name {
            let known: Vec<&str> = names().collect();
            let none = || error(format!("no daemon is called {name:?}"), known_words(name, &known));
            return called(name).map_or_else(none, |place| Ok(OverlayNodeId(place as u8)));
        }
        let is_here = |place: &usize| {
            let address = self.daemons[*place].address.filter(|_| !self.daemons[*place].is_retired);
            address.is_some_and(|address| is_local(address.ip()))
        };
        let mut here: Vec<usize> = (0..self.daemons.len()).filter(is_here).collect();
        let mut live = (0..self.daemons.len()).filter(|place| !self.daemons[*place].is_retired);
        if let (Some(only), None) = (live.next(), live.next()) {
            here = vec![only];
        }
        // Names of daemons have no domain.
        let by_host = called(host.split('.').next().unwrap_or(host));
        let by_host = by_host.filter(|place| here.is_empty() || here.contains(place));
        let help = || "name the daemon with --name".to_string();
        match (&here[..], by_host) {
            ([only], _) => Ok(OverlayNodeId(*only as u8)),
            (_, Some(place)) => Ok(OverlayNodeId(place as u8)),
            ([], None) => error(
                format!("no daemon has an address or the name of this host, {host:?}"),
                help(),
            ),
            (several, None) => {
                let names: Vec<&str> =
                    several.iter().map(|place| self.daemons[*place].name.as_str()).collect();
                let names = names.join(", ");
                error(format!("several daemons have addresses of this host: {names}"), help())
            }
        }
    }
}

/// Whether an address is one of this host: no other can be bound.
fn is_local(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TEXT: &str = "plaintext = true
        [[daemon]]\nname = \"alpha\"\naddress = \"10.0.0.1:4804\"
        [[daemon]]\nname = \"beta\"\naddress = \"10.0.0.2:4804\"
        [[daemon]]\nname = \"gamma\"\naddress = \"10.0.0.2:4805\"
        listen = [\"unix:/gamma\"]";

    #[test]
    fn the_name_then_the_address_then_the_host_decide() {
        let config = Config::parse(Path::new("a.toml"), TEXT).unwrap();
        let choose = |name, local: &str, host| {
            let chosen = config.choose(name, |address| address.to_string() == local, host);
            chosen.map(|node| node.0).map_err(|error| error.to_string())
        };
        assert_eq!(choose(Some("beta"), "10.0.0.1", "alpha"), Ok(1));
        assert_eq!(choose(None, "10.0.0.1", "gamma"), Ok(0));
        assert_eq!(choose(None, "10.0.0.2", "Gamma.example.org"), Ok(2));
        assert_eq!(choose(None, "none", "beta"), Ok(1));
        let wrong = choose(Some("alhpa"), "none", "").unwrap_err();
        assert_eq!(wrong, "a.toml: no daemon is called \"alhpa\"\n  help: did you mean `alpha`?");
        let wrong = choose(None, "10.0.0.2", "alpha").unwrap_err();
        assert!(wrong.contains("several daemons have addresses of this host: beta, gamma"));
        let wrong = choose(None, "none", "delta").unwrap_err();
        assert!(wrong.contains("this host, \"delta\"\n  help: name the daemon with --name"));
    }

    #[test]
    fn a_single_daemon_needs_no_name() {
        assert_eq!(Config::single().me(None).unwrap(), OverlayNodeId(0));
        assert!(Config::single().me(Some("other")).is_err());
    }

    #[test]
    fn the_loopback_address_is_local() {
        assert!(is_local("127.0.0.1".parse().unwrap()));
        assert!(!is_local("192.0.2.1".parse().unwrap()));
    }
}
