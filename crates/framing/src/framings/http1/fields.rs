//! What the fields of a head say about the length of the message and about the connection.

use crate::scan::decimal;
use crate::violation::Reason;

/// Facts from the fields of a head.
#[derive(Debug, Default)]
pub struct Fields {
    /// Value of `Content-Length`.
    pub length: Option<u64>,
    /// Whether that value has zeros in front, which some readers take for the mark of an octal
    /// number.
    pub is_padded: bool,
    /// Number of codings in `Transfer-Encoding`.
    pub codings: usize,
    /// Whether the last of them is `chunked`.
    pub is_chunked: bool,
    /// Whether the sender waits for an interim response before it sends the body.
    pub awaits_continue: bool,
    /// Whether there is an `Upgrade`.
    pub upgrades: bool,
    /// Number of `Host` fields.
    pub hosts: usize,
    closes: bool,
    keeps: bool,
}

impl Fields {
    /// Notes a field line, without its end.
    pub fn note(&mut self, line: &[u8]) -> Result<(), Reason> {
        let (name, value) = split(line)?;
        let known = canonical(name);
        if is_framing(&known) {
            if !known.eq_ignore_ascii_case(name) {
                return Err(Reason::Malformed(
                    "a field name resembles Content-Length or Transfer-Encoding",
                ));
            }
            if line.contains(&b'\t') {
                return Err(Reason::Malformed("tab in Content-Length or Transfer-Encoding"));
            }
        }
        match &known[..] {
            b"content-length" => {
                let length = decimal(value).ok_or(Reason::Malformed("invalid Content-Length"))?;
                self.is_padded = value.len() > 1 && value.starts_with(b"0");
                if self.length.replace(length).is_some() {
                    return Err(Reason::Malformed("several Content-Length fields"));
                }
            }
            b"transfer-encoding" => {
                if self.codings > 0 {
                    return Err(Reason::Malformed("several Transfer-Encoding fields"));
                }
                // An empty list would be no coding here, and yet a field for a server that looks
                // for the name alone and then ignores Content-Length.
                for coding in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    if coding.is_empty() || self.is_chunked {
                        return Err(Reason::Malformed("invalid Transfer-Encoding"));
                    }
                    self.codings += 1;
                    self.is_chunked = coding.eq_ignore_ascii_case(b"chunked");
                }
            }
            b"connection" => {
                for option in list(value) {
                    // A proxy removes the fields that are named here (RFC 9110, section 7.6.1).
                    let named = canonical(option);
                    if is_framing(&named) || named == b"host" {
                        return Err(Reason::Malformed(
                            "Connection names Content-Length, Transfer-Encoding or Host",
                        ));
                    }
                    self.closes |= option.eq_ignore_ascii_case(b"close");
                    self.keeps |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            b"expect" => self.awaits_continue |= value.eq_ignore_ascii_case(b"100-continue"),
            b"upgrade" => self.upgrades = true,
            b"host" => self.hosts += 1,
            _ => {}
        }
        Ok(())
    }

    /// Whether the connection closes after the message (RFC 9112, section 9.3).
    pub fn closes(&self, is_version_1_1: bool) -> bool {
        self.closes || !(is_version_1_1 || self.keeps)
    }

    /// An error if the end of the message is not beyond doubt (RFC 9112, section 6.1).
    pub fn check(&self, is_version_1_1: bool) -> Result<(), Reason> {
        if self.codings > 0 && self.length.is_some() {
            return Err(Reason::Malformed("both Transfer-Encoding and Content-Length"));
        }
        if self.codings > 0 && !is_version_1_1 {
            return Err(Reason::Malformed("Transfer-Encoding in HTTP/1.0"));
        }
        Ok(())
    }
}

/// Name and value of a field line.
pub fn split(line: &[u8]) -> Result<(&[u8], &[u8]), Reason> {
    let wrong = Reason::Malformed("invalid field line");
    let colon = line.iter().position(|byte| *byte == b':').ok_or(wrong.clone())?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if is_token(name) { Ok((name, value.trim_ascii())) } else { Err(wrong) }
}

/// The name that a server may know a field by: in lower case, with a hyphen for any other sign.
/// CGI has one letter for several signs (RFC 3875, section 4.1.18).
pub fn canonical(name: &[u8]) -> Vec<u8> {
    let letter = |byte: &u8| match byte.is_ascii_alphanumeric() {
        true => byte.to_ascii_lowercase(),
        false => b'-',
    };
    name.iter().map(letter).collect()
}

/// Whether a field of this canonical name says where the message ends.
fn is_framing(name: &[u8]) -> bool {
    matches!(name, b"content-length" | b"transfer-encoding")
}

/// Whether the text is a token (RFC 9110, section 5.6.2).
pub fn is_token(text: &[u8]) -> bool {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_allowed)
}

/// The elements of a list that are not empty.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let elements = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    elements.filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(lines: &[&str]) -> Result<Fields, Reason> {
        let mut fields = Fields::default();
        lines.iter().try_for_each(|line| fields.note(line.as_bytes()))?;
        Ok(fields)
    }

    #[test]
    fn fields_are_read_in_any_case_and_as_lists() {
        let fields = noted(&["cOnTent-LENGTH:  42 ", "Connection: Upgrade , CLOSE"]).unwrap();
        assert_eq!((fields.length, fields.closes(true)), (Some(42), true));
        let fields = noted(&["Transfer-Encoding: gzip , Chunked "]).unwrap();
        assert_eq!((fields.codings, fields.is_chunked), (2, true));
        let fields = noted(&["Transfer-Encoding: gzip"]).unwrap();
        assert_eq!((fields.codings, fields.is_chunked), (1, false));
        let fields = noted(&["Expect: 100-Continue", "Upgrade: h2c", "Host: a", "X:"]).unwrap();
        assert!(fields.awaits_continue && fields.upgrades && fields.hosts == 1);
    }

    #[test]
    fn connections_stay_open_by_default_since_1_1() {
        let closes = |lines: &[&str]| {
            let fields = noted(lines).unwrap();
            (fields.closes(false), fields.closes(true))
        };
        assert_eq!(closes(&[]), (true, false));
        assert_eq!(closes(&["Connection: keep-alive"]), (false, false));
        assert_eq!(closes(&["Connection: close"]), (true, true));
        assert_eq!(closes(&["Connection: keep-alive, close"]), (true, true));
    }

    #[test]
    fn doubtful_fields_are_refused() {
        for lines in [
            &["Content-Length: 1", "Content-Length: 1"][..],
            &["Content-Length: 1, 1"],
            &["Content-Length: +1"],
            &["Content-Length: 18446744073709551616"],
            &["Content-Length:"],
            &["Content-Length : 1"],
            &["Content-Length:\t1"],
            &["Content_Length: 1"],
            &["Content.Length: 1"],
            &["Transfer-Encoding:"],
            &["Transfer-Encoding: ,"],
            &["Transfer-Encoding: , chunked"],
            &["Transfer-Encoding: chunked,"],
            &["Transfer-Encoding: gzip,, chunked"],
            &["Transfer-Encoding: chunked, gzip"],
            &["Transfer-Encoding: chunked, chunked"],
            &["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
            &["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
            &["Transfer-Encoding: chunked\t"],
            &["Transfer_Encoding: chunked"],
            &["Connection: close, Content-Length"],
            &["Connection: transfer-encoding"],
            &["Connection: Host"],
            &[" folded: 1"],
            &["no colon"],
            &[": no name"],
        ] {
            assert!(noted(lines).is_err(), "{lines:?}");
        }
        let both = noted(&["Content-Length: 1", "Transfer-Encoding: chunked"]).unwrap();
        assert!(both.check(true).is_err());
        let chunked = noted(&["Transfer-Encoding: chunked"]).unwrap();
        assert!(chunked.check(true).is_ok() && chunked.check(false).is_err());
    }
}
