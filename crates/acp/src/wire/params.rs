//! What the ends tell each other in the handshake.

use super::{ConnectionId, WireError, take, take_array, varint};

/// Most bytes of a law's name with its options.
pub const LONGEST_LAW: usize = 512;

/// Most bytes of an application's name.
pub const LONGEST_APPLICATION: usize = 64;

/// What an end is to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndKind {
    /// A host.
    #[default]
    Host,
    /// A switch that spreads frames over members: the other end keeps each frame in one piece of
    /// its stream. This end's stream ends first.
    Switch,
    /// A switch that spreads frames, too. The other end's stream ends first.
    SwitchAfter,
}

impl EndKind {
    const CODES: [(EndKind, u8); 2] = [(EndKind::Switch, 1), (EndKind::SwitchAfter, 2)];

    /// The byte for a switch.
    fn code(self) -> Option<u8> {
        Self::CODES.iter().find(|(kind, _)| *kind == self).map(|(_, code)| *code)
    }

    /// The kind of a byte; one of a later version is a host.
    fn of(code: Option<&u8>) -> EndKind {
        let known = Self::CODES.iter().find(|(_, known)| Some(known) == code);
        known.map_or(EndKind::Host, |(kind, _)| *kind)
    }
}

/// What a connection with a switch is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// All members, among which the switch spreads frames. A host has no others.
    #[default]
    Ensemble,
    /// All members, none of which gets a frame that another may have had: the connection ends when
    /// a member is lost that has not acknowledged all.
    Once,
    /// The switch itself, which tells what members there are.
    Table,
    /// One member, by the number that it has in the table.
    Member(u64),
}

impl Target {
    fn put(self, out: &mut Vec<u8>) {
        match self {
            Target::Ensemble => {}
            Target::Once => out.push(3),
            Target::Table => out.push(1),
            Target::Member(number) => {
                out.push(2);
                varint::put(out, number);
            }
        }
    }

    /// Reads a target; one of a later version is all members.
    fn take(rest: &mut &[u8]) -> Result<Target, WireError> {
        Ok(match rest.split_off_first() {
            Some(1) => Target::Table,
            Some(2) => Target::Member(varint::take(rest)?),
            Some(3) => Target::Once,
            _ => Target::Ensemble,
        })
    }
}

/// What an end tells the other in the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number that packets to this end carry.
    pub connection: ConnectionId,
    /// Longest frame that this end takes.
    pub longest_frame: u64,
    /// Silence after which this end gives the connection up, in milliseconds.
    pub idle_timeout_ms: u64,
    /// The law by which both ends send, with its options as `name key=value ...`; at most
    /// [`LONGEST_LAW`].
    pub law: String,
    /// What this end is.
    pub kind: EndKind,
    /// Proof with which this end may later say that it does not know the connection.
    pub reset_token: [u8; 16],
    /// What this end takes frames to hold, at most [`LONGEST_APPLICATION`]; empty if it does not
    /// say.
    pub application: String,
    /// What of the other end the connection is for.
    pub target: Target,
}

impl Params {
    /// The parameters as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.connection.0.to_be_bytes());
        out.extend(self.reset_token);
        varint::put(&mut out, self.longest_frame);
        varint::put(&mut out, self.idle_timeout_ms);
        varint::put(&mut out, self.law.len() as u64);
        out.extend(self.law.as_bytes());
        match (self.application.as_bytes(), self.target) {
            ([], Target::Ensemble) => out.extend(self.kind.code()),
            (name, target) => {
                out.push(self.kind.code().unwrap_or(0));
                varint::put(&mut out, name.len() as u64);
                out.extend(name);
                target.put(&mut out);
            }
        }
        out
    }

    /// Reads parameters. Bytes that follow are of a later version, and do not matter.
    ///
    /// # Errors
    /// When the bytes end too early, or the law's name is too long or no text.
    pub fn read(mut bytes: &[u8]) -> Result<Params, WireError> {
        let rest = &mut bytes;
        let connection = ConnectionId(u64::from_be_bytes(take_array(rest)?));
        let reset_token = take_array(rest)?;
        let (longest_frame, idle_timeout_ms) = (varint::take(rest)?, varint::take(rest)?);
        let length = varint::take(rest)?;
        if length > LONGEST_LAW as u64 {
            return Err(WireError::Field("the law's name"));
        }
        let law = core::str::from_utf8(take(rest, length as usize)?);
        let law = law.map_err(|_| WireError::Field("the law's name"))?.to_string();
        let kind = EndKind::of(rest.split_off_first());
        let application = if rest.is_empty() { String::new() } else { read_application(rest)? };
        let target = Target::take(rest)?;
        Ok(Params {
            connection,
            longest_frame,
            idle_timeout_ms,
            law,
            kind,
            reset_token,
            application,
            target,
        })
    }
}

fn read_application(rest: &mut &[u8]) -> Result<String, WireError> {
    const WRONG: WireError = WireError::Field("the application's name");
    let length = varint::take(rest)?;
    if length > LONGEST_APPLICATION as u64 {
        return Err(WRONG);
    }
    let name = core::str::from_utf8(take(rest, length as usize)?);
    name.map(str::to_string).map_err(|_| WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(kind: EndKind, application: &str) -> Params {
        Params {
            connection: ConnectionId(1),
            longest_frame: 1 << 20,
            idle_timeout_ms: 30_000,
            law: "xcp".into(),
            kind,
            reset_token: [3; 16],
            application: application.into(),
            target: Target::Ensemble,
        }
    }

    #[test]
    fn parameters_come_back() {
        for kind in [EndKind::Host, EndKind::Switch, EndKind::SwitchAfter] {
            for application in ["", "resp", &"x".repeat(LONGEST_APPLICATION)] {
                for target in
                    [Target::Ensemble, Target::Table, Target::Once, Target::Member((1 << 62) - 1)]
                {
                    let params = Params { target, ..params(kind, application) };
                    assert_eq!(Params::read(&params.encode()), Ok(params));
                }
            }
        }
    }

    #[test]
    fn an_applications_name_is_text_of_a_length() {
        let bytes = params(EndKind::Host, "resp").encode();
        let name = bytes.len() - 4;
        let wrong = Err(WireError::Field("the application's name"));
        assert_eq!(Params::read(&[&bytes[..name - 1], &[0x40, 65], &[b'x'; 65]].concat()), wrong);
        assert_eq!(Params::read(&[&bytes[..name], &[0xff; 4]].concat()), wrong);
        assert!(Params::read(&bytes[..name + 3]).is_err(), "the name ends too early");
        // An end that says nothing more is a host for any application.
        let earlier = Params::read(&bytes[..name - 2]).map(|read| (read.kind, read.application));
        assert_eq!(earlier, Ok((EndKind::Host, String::new())));
    }
}
