//! Values that the gateway writes.

use bytes::Bytes;

use crate::request::Expect;

/// The version of the protocol that a client has chosen by `HELLO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, with which each connection begins.
    #[default]
    Two,
    /// RESP3.
    Three,
}

impl Protocol {
    /// What is known of a request to which a server answers in this version.
    pub fn expect(self) -> Expect {
        match self {
            Protocol::Two => Expect::ORDINARY,
            Protocol::Three => super::RESP3,
        }
    }

    /// The number in `HELLO`.
    pub fn number(self) -> u8 {
        match self {
            Protocol::Two => 2,
            Protocol::Three => 3,
        }
    }

    /// The value that stands for nothing.
    pub fn null(self) -> Bytes {
        match self {
            Protocol::Two => Bytes::from_static(b"$-1\r\n"),
            Protocol::Three => Bytes::from_static(b"_\r\n"),
        }
    }

    /// The header of a map: RESP2 has a list of names and values.
    pub fn map(self, entries: usize) -> String {
        match self {
            Protocol::Two => format!("*{}\r\n", 2 * entries),
            Protocol::Three => format!("%{entries}\r\n"),
        }
    }

    /// A text for people.
    pub fn text(self, text: &str) -> Bytes {
        match self {
            Protocol::Two => bulk(text.as_bytes()),
            Protocol::Three => format!("={}\r\ntxt:{text}\r\n", text.len() + 4).into(),
        }
    }
}

/// A string of any bytes.
pub fn bulk(content: &[u8]) -> Bytes {
    let mut text = format!("${}\r\n", content.len()).into_bytes();
    text.extend_from_slice(content);
    text.extend_from_slice(b"\r\n");
    text.into()
}

/// An error; the first word is its code.
pub fn error(text: &str) -> Bytes {
    Bytes::from(format!("-{text}\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_write_values_in_their_own_way() {
        let (two, three) = (Protocol::Two, Protocol::Three);
        assert_eq!((two.null(), three.null()), ("$-1\r\n".into(), "_\r\n".into()));
        assert_eq!((two.map(3), three.map(3)), ("*6\r\n".into(), "%3\r\n".into()));
        assert_eq!(two.text("hi"), "$2\r\nhi\r\n");
        assert_eq!(three.text("hi"), "=6\r\ntxt:hi\r\n");
    }
}
