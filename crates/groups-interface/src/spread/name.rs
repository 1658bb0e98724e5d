//! Names of groups, clients and daemons.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// Bytes that a name takes on the wire, with its padding of NULs.
pub(super) const NAME_SIZE: usize = 32;
const LONGEST_GROUP: usize = NAME_SIZE - 1;
const LONGEST_CLIENT: usize = 10;
const LONGEST_DAEMON: usize = 19;

/// Name of a group, or private name of a client: 1 to 31 characters.
///
/// A group's name has characters from `$` to `~`. A name that starts with `#` is a
/// [`PrivateName`]; messages to it reach one client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName([u8; NAME_SIZE]);

/// Private name of a client at its daemon: `#client#daemon`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrivateName(GroupName);

/// Name by which a client is known at its daemon: 1 to 10 characters from `$` to `~`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientName(Box<str>);

/// A text that is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be {}", of.rule())]
pub struct InvalidName {
    name: String,
    of: NameOf,
}

/// What a name is expected to be the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameOf {
    Group,
    Client,
    Private,
}

impl NameOf {
    /// What the name would be, and its characters.
    fn rule(self) -> &'static str {
        match self {
            NameOf::Group => "the name of a group: 1 to 31 characters from `$` to `~`",
            NameOf::Client => "the name of a client: 1 to 10 characters from `$` to `~`",
            NameOf::Private => {
                "a private name: `#client#daemon`, of 1 to 10 and 1 to 19 characters from `$` to `~`"
            }
        }
    }
}

impl GroupName {
    /// Reads a name without padding.
    pub(super) fn from_bytes(name: &[u8]) -> Result<GroupName, InvalidName> {
        let valid = match name.first() {
            Some(b'#') => private_parts(name).is_some(),
            _ => is_text(name, LONGEST_GROUP),
        };
        if !valid {
            return Err(InvalidName::new(name, NameOf::Group));
        }
        let mut padded = [0; NAME_SIZE];
        padded[..name.len()].copy_from_slice(name);
        Ok(GroupName(padded))
    }

    /// Reads a name up to its first NUL. C programs send whatever their memory has after it.
    pub(super) fn from_padded(padded: &[u8]) -> Result<GroupName, InvalidName> {
        let length = padded.iter().position(|byte| *byte == 0).unwrap_or(padded.len());
        GroupName::from_bytes(&padded[..length])
    }

    /// The name's 32 bytes on the wire.
    pub(super) fn padded(&self) -> &[u8; NAME_SIZE] {
        &self.0
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(LONGEST_GROUP);
        std::str::from_utf8(&self.0[..length]).expect("names are ASCII")
    }

    /// The name as that of a client, or `None` if the name is a group's.
    pub fn as_private(&self) -> Option<PrivateName> {
        (self.0[0] == b'#').then_some(PrivateName(*self))
    }
}

impl PrivateName {
    /// Name of a client at a daemon. The daemon's name has 1 to 19 characters from `$` to `~`.
    ///
    /// # Errors
    /// If the daemon's name is not valid.
    pub fn new(client: &ClientName, daemon: &str) -> Result<PrivateName, InvalidName> {
        format!("#{client}#{daemon}").parse()
    }

    /// Name of the client at its daemon.
    pub fn client(&self) -> &str {
        self.parts().0
    }

    /// Name of the client's daemon.
    pub fn daemon(&self) -> &str {
        self.parts().1
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    fn parts(&self) -> (&str, &str) {
        self.as_str()[1..].split_once('#').expect("a private name has two parts")
    }

    /// Reads a name up to its first NUL.
    pub(super) fn from_padded(padded: &[u8]) -> Result<PrivateName, InvalidName> {
        PrivateName::try_from(GroupName::from_padded(padded)?)
    }
}

impl ClientName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_bytes(name: &[u8]) -> Result<ClientName, InvalidName> {
        match std::str::from_utf8(name) {
            Ok(text) if is_text(name, LONGEST_CLIENT) => Ok(ClientName(text.into())),
            _ => Err(InvalidName::new(name, NameOf::Client)),
        }
    }
}

impl InvalidName {
    fn new(name: &[u8], of: NameOf) -> InvalidName {
        InvalidName { name: String::from_utf8_lossy(name).into_owned(), of }
    }
}

/// Names of the client and the daemon in a private name.
fn private_parts(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let parts = name.strip_prefix(b"#")?;
    let middle = parts.iter().position(|byte| *byte == b'#')?;
    let (client, daemon) = (&parts[..middle], &parts[middle + 1..]);
    (is_text(client, LONGEST_CLIENT) && is_text(daemon, LONGEST_DAEMON)).then_some((client, daemon))
}

fn is_text(name: &[u8], longest: usize) -> bool {
    (1..=longest).contains(&name.len()) && name.iter().all(|byte| matches!(byte, b'$'..=b'~'))
}

impl FromStr for GroupName {
    type Err = InvalidName;

    fn from_str(name: &str) -> Result<GroupName, InvalidName> {
        GroupName::from_bytes(name.as_bytes())
    }
}

impl FromStr for PrivateName {
    type Err = InvalidName;

    fn from_str(name: &str) -> Result<PrivateName, InvalidName> {
        match GroupName::from_bytes(name.as_bytes()) {
            Ok(group) => PrivateName::try_from(group),
            Err(_) => Err(InvalidName::new(name.as_bytes(), NameOf::Private)),
        }
    }
}

impl FromStr for ClientName {
    type Err = InvalidName;

    fn from_str(name: &str) -> Result<ClientName, InvalidName> {
        ClientName::from_bytes(name.as_bytes())
    }
}

impl From<PrivateName> for GroupName {
    fn from(name: PrivateName) -> GroupName {
        name.0
    }
}

impl TryFrom<GroupName> for PrivateName {
    type Error = InvalidName;

    fn try_from(name: GroupName) -> Result<PrivateName, InvalidName> {
        let invalid = || InvalidName::new(name.as_str().as_bytes(), NameOf::Private);
        name.as_private().ok_or_else(invalid)
    }
}

macro_rules! shown_as_text {
    ($($name:ty),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }
    )*};
}

shown_as_text!(GroupName, PrivateName, ClientName);

impl Serialize for GroupName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for PrivateName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for GroupName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<GroupName, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = GroupName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name of 1 to 31 characters from `$` to `~`")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<GroupName, E> {
                name.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Name)
    }
}

impl<'de> Deserialize<'de> for PrivateName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PrivateName, D::Error> {
        PrivateName::try_from(GroupName::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
