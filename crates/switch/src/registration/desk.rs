//! Who is registered, sans-IO.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use super::token::TokenCheck;
use super::wire::{Application, VERSION};
use crate::config::{Config, Token, is_name, is_weight};

/// What a member must fit.
pub(super) struct Rules {
    ensemble: String,
    token: TokenCheck,
    /// The address that packets to members come from.
    from: SocketAddr,
    /// Names of the members in the file.
    configured: Vec<String>,
}

/// Why a registration is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Token,
    Version(u32),
    Ensemble { asked: String, own: String },
    Name(String),
    Weight,
    Configured(String),
    Taken(String, SocketAddr),
    Full(usize),
    Address(SocketAddr),
    Family { asked: SocketAddr, from: SocketAddr },
    Local { asked: SocketAddr, from: SocketAddr },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Token => f.write_str("the token is wrong"),
            Refusal::Version(version) => write!(
                f,
                "the member speaks version {version} of registration, and the switch {VERSION}"
            ),
            Refusal::Ensemble { asked, own } => {
                write!(f, "the switch serves the ensemble {own:?} and not {asked:?}")
            }
            Refusal::Name(name) => {
                write!(f, "a member cannot be called {name:?}: use up to 64 visible characters")
            }
            Refusal::Weight => f.write_str("a weight is 0.001 to 1000"),
            Refusal::Configured(name) => {
                write!(f, "the member {name:?} stands in the switch.toml")
            }
            Refusal::Taken(name, address) => {
                write!(f, "another member called {name:?} is registered, at {address}")
            }
            Refusal::Full(places) => write!(
                f,
                "all {places} places for members are taken; `members` in [register] says how many"
            ),
            Refusal::Address(address) => write!(f, "no member can be reached at {address}"),
            Refusal::Family { asked, from } => write!(
                f,
                "the switch reaches members from {from}, and cannot reach {asked}: one address is \
                 IPv4 and one IPv6"
            ),
            Refusal::Local { asked, from } => write!(
                f,
                "the switch reaches members from {from}, so only on its own host, and not {asked}; \
                 `from` in the switch.toml names another address"
            ),
        }
    }
}

/// A connection's right to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim(u64);

/// A name and its place.
#[derive(Debug)]
struct Entry {
    place: usize,
    address: SocketAddr,
    instance: u64,
    /// `None` when the member has gone: it gets its place again unless another needs it.
    claim: Option<Claim>,
    /// When the last change was, in changes.
    changed: u64,
}

/// All registrations.
pub(super) struct Desk {
    rules: Rules,
    places: Range<usize>,
    entries: BTreeMap<String, Entry>,
    changes: u64,
}

impl Rules {
    /// `None` if the kernel gives no random numbers.
    pub(super) fn new(config: &Config, ensemble: &str, token: &Token) -> Option<Rules> {
        Some(Rules {
            ensemble: ensemble.to_string(),
            token: TokenCheck::new(token)?,
            from: config.from,
            configured: config.members.iter().map(|member| member.name.clone()).collect(),
        })
    }

    /// The address of an applicant whose connection comes from `host`.
    fn check(&self, applicant: &Application, host: IpAddr) -> Result<SocketAddr, Refusal> {
        let Application { version, ensemble, name, mut address, weight, token, .. } =
            applicant.clone();
        // Who has not the token learns nothing more.
        if !self.token.is_right(&token) {
            return Err(Refusal::Token);
        }
        if version != VERSION {
            return Err(Refusal::Version(version));
        }
        if ensemble != self.ensemble {
            return Err(Refusal::Ensemble { asked: ensemble, own: self.ensemble.clone() });
        }
        if !is_name(&name) {
            return Err(Refusal::Name(name));
        }
        if !is_weight(weight) {
            return Err(Refusal::Weight);
        }
        if self.configured.contains(&name) {
            return Err(Refusal::Configured(name));
        }
        if address.ip().is_unspecified() {
            address.set_ip(host);
        }
        if address.port() == 0 || address.ip().is_multicast() {
            return Err(Refusal::Address(address));
        }
        let from = self.from;
        if address.is_ipv4() != from.is_ipv4() {
            return Err(Refusal::Family { asked: address, from });
        }
        if from.ip().is_loopback() && !address.ip().is_loopback() {
            return Err(Refusal::Local { asked: address, from });
        }
        Ok(address)
    }
}

impl Desk {
    pub(super) fn new(rules: Rules, places: Range<usize>) -> Desk {
        Desk { rules, places, entries: BTreeMap::new(), changes: 0 }
    }

    /// Registers a member whose connection comes from `host`. A member that is registered already
    /// is replaced if it is the same process, or has the same address.
    pub(super) fn register(
        &mut self,
        applicant: &Application,
        host: IpAddr,
    ) -> Result<(Claim, usize, SocketAddr), Refusal> {
        let address = self.rules.check(applicant, host)?;
        let Application { name, instance, .. } = applicant;
        let place = match self.entries.get(name) {
            Some(known)
                if known.claim.is_some()
                    && known.instance != *instance
                    && known.address != address =>
            {
                return Err(Refusal::Taken(name.clone(), known.address));
            }
            Some(known) => known.place,
            None => self.free_place()?,
        };
        self.changes += 1;
        let (instance, changed) = (*instance, self.changes);
        let claim = Claim(changed);
        let entry = Entry { place, address, instance, claim: Some(claim), changed };
        self.entries.insert(name.clone(), entry);
        Ok((claim, place, address))
    }

    /// A place that no name has, or that of the member that has been gone for longest.
    fn free_place(&mut self) -> Result<usize, Refusal> {
        let is_named = |place: &usize| self.entries.values().any(|entry| entry.place == *place);
        if let Some(place) = self.places.clone().find(|place| !is_named(place)) {
            return Ok(place);
        }
        let gone = self.entries.iter().filter(|(_, entry)| entry.claim.is_none());
        let longest = gone.min_by_key(|(_, entry)| entry.changed).map(|(name, _)| name.clone());
        let removed = longest.and_then(|name| self.entries.remove(&name));
        removed.map(|entry| entry.place).ok_or(Refusal::Full(self.places.len()))
    }

    /// The place of a claim that holds.
    pub(super) fn place(&self, claim: Claim) -> Option<usize> {
        self.entries.values().find(|entry| entry.claim == Some(claim)).map(|entry| entry.place)
    }

    /// Ends a registration. Returns its place, unless another registration has it.
    pub(super) fn release(&mut self, claim: Claim) -> Option<usize> {
        let entry = self.entries.values_mut().find(|entry| entry.claim == Some(claim))?;
        self.changes += 1;
        (entry.claim, entry.changed) = (None, self.changes);
        Some(entry.place)
    }

    /// Whether a place has a name, and nobody has claimed it since its registration ended.
    pub(super) fn is_left(&self, place: usize) -> bool {
        let mut entries = self.entries.values();
        entries.any(|entry| entry.place == place && entry.claim.is_none())
    }

    pub(super) fn places(&self) -> usize {
        self.places.len()
    }
    pub(super) fn registered(&self) -> usize {
        self.entries.values().filter(|entry| entry.claim.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn desk(places: usize) -> Desk {
        let text = "key = \"k\"\n[[member]]\nname = \"a\"\naddress = \"127.0.0.1:1\"";
        let config = Config::parse(Path::new("switch.toml"), text).unwrap();
        let rules = Rules::new(&config, "e", &Token::new(TOKEN).unwrap()).unwrap();
        Desk::new(rules, 1..1 + places)
    }

    fn applicant(name: &str, port: u16, instance: u64) -> Application {
        Application {
            version: VERSION,
            ensemble: "e".into(),
            name: name.into(),
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            weight: 1.0,
            instance,
            token: Token::new(TOKEN).unwrap(),
        }
    }

    const HOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn register(desk: &mut Desk, who: &Application) -> Result<(Claim, usize), Refusal> {
        desk.register(who, HOST).map(|(claim, place, _)| (claim, place))
    }

    #[test]
    fn a_name_keeps_its_place_and_its_owner() {
        let mut desk = desk(2);
        let (first, place) = register(&mut desk, &applicant("b", 5, 1)).unwrap();
        assert_eq!((place, desk.registered()), (1, 1));
        // Another process at another address must wait until this one has gone.
        let other = applicant("b", 6, 2);
        let taken = Refusal::Taken("b".into(), SocketAddr::from(([127, 0, 0, 1], 5)));
        assert_eq!(register(&mut desk, &other).unwrap_err(), taken);
        // The same process with another address, and a restarted one with the same.
        let (second, place) = register(&mut desk, &applicant("b", 7, 1)).unwrap();
        assert_eq!(place, 1);
        assert_eq!((desk.place(first), desk.release(first)), (None, None));
        let (third, _) = register(&mut desk, &applicant("b", 7, 3)).unwrap();
        assert_eq!((desk.place(second), desk.release(third)), (None, Some(1)));
        assert_eq!(desk.registered(), 0);
        let (fourth, place) = register(&mut desk, &other).unwrap();
        assert_eq!(place, 1);
        // A place is given away only if there is no other.
        let (_, place) = register(&mut desk, &applicant("c", 8, 4)).unwrap();
        assert_eq!(place, 2);
        assert_eq!(register(&mut desk, &applicant("d", 9, 5)).unwrap_err(), Refusal::Full(2));
        desk.release(fourth);
        let (_, place) = register(&mut desk, &applicant("d", 9, 5)).unwrap();
        assert_eq!(place, 1);
    }

    #[test]
    fn who_has_been_gone_for_longest_gives_way() {
        let mut desk = desk(2);
        let (first, _) = register(&mut desk, &applicant("b", 5, 1)).unwrap();
        let (second, place) = register(&mut desk, &applicant("c", 6, 2)).unwrap();
        assert_eq!((desk.release(second), desk.release(first)), (Some(2), Some(1)));
        assert_eq!((place, desk.registered()), (2, 0));
        let places = [("d", 7), ("e", 8)].map(|(name, port)| {
            register(&mut desk, &applicant(name, port, 3)).map(|(_, place)| place)
        });
        assert_eq!(places, [Ok(2), Ok(1)]);
        assert_eq!(register(&mut desk, &applicant("b", 5, 1)).unwrap_err(), Refusal::Full(2));
    }

    #[test]
    fn a_refusal_says_why() {
        let mut desk = desk(1);
        let good = || applicant("b", 5, 1);
        let at = |address: &str| Application { address: address.parse().unwrap(), ..good() };
        let token = Token::new("0123456789abcdeX").unwrap();
        let refused = [
            (Application { token, version: 9, ..good() }, "the token is wrong"),
            (Application { version: 9, ..good() }, "version 9"),
            (Application { ensemble: "f".into(), ..good() }, "ensemble \"e\" and not \"f\""),
            (Application { name: "a b".into(), ..good() }, "cannot be called \"a b\""),
            (Application { name: "a".into(), ..good() }, "stands in the switch.toml"),
            (Application { weight: f64::NAN, ..good() }, "a weight is"),
            (at("127.0.0.1:0"), "no member can be reached at 127.0.0.1:0"),
            (at("[::1]:5"), "one address is IPv4 and one IPv6"),
            (at("10.0.0.1:5"), "only on its own host"),
        ];
        for (who, why) in refused {
            let refusal = register(&mut desk, &who).unwrap_err().to_string();
            assert!(refusal.contains(why), "{why:?} is not in {refusal:?}");
        }
        let (_, _, address) = desk.register(&at("0.0.0.0:5"), HOST).unwrap();
        assert_eq!(address, SocketAddr::new(HOST, 5));
    }
}
