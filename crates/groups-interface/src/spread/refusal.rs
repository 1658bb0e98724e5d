//! Why a daemon does not accept a client.

/// Why a daemon does not accept a client. One byte on the wire, instead of the answer that the
/// client waits for; then the daemon ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The daemon has no room for another client.
    #[error("the daemon has no room for another client")]
    Quota,
    /// The client needs a name.
    #[error("the daemon accepts no client without a name")]
    NoName,
    /// The name is too long or has characters that a name cannot have.
    #[error("the client's name is not valid: 1 to 10 characters from `$` to `~`")]
    IllegalName,
    /// Another client of the daemon has the name.
    #[error("another client of the daemon has this name")]
    NotUnique,
    /// One side is too old for the other.
    #[error("the versions of the client and the daemon are too far apart")]
    Version,
    /// The daemon ends the connection.
    #[error("the daemon has ended the connection")]
    Closed,
    /// The client has not chosen a way of authentication that the daemon offers.
    #[error("client and daemon know no common way of authentication: `NULL` must be allowed")]
    Authentication,
    /// A code that the protocol does not know.
    #[error("the daemon answered {0}, which the protocol does not know")]
    Unknown(i8),
}

const CODES: [(i8, Refusal); 7] = [
    (-3, Refusal::Quota),
    (-4, Refusal::NoName),
    (-5, Refusal::IllegalName),
    (-6, Refusal::NotUnique),
    (-7, Refusal::Version),
    (-8, Refusal::Closed),
    (-9, Refusal::Authentication),
];

impl Refusal {
    /// The refusal's number in Spread, which is negative for those that the protocol knows.
    pub fn code(self) -> i8 {
        match self {
            Refusal::Unknown(code) => code,
            known => CODES.iter().find(|entry| entry.1 == known).expect("all have a code").0,
        }
    }

    /// The refusal's bytes.
    pub fn encode(self) -> [u8; 1] {
        [self.code() as u8]
    }

    pub(super) fn from_byte(byte: u8) -> Refusal {
        let code = byte as i8;
        let known = CODES.iter().find(|entry| entry.0 == code);
        known.map_or(Refusal::Unknown(code), |entry| entry.1)
    }
}
