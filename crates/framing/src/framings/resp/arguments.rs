//! The arguments of a complete request.

use std::borrow::Cow;

use crate::scan::Cursor;

/// An argument of a request; the first is the command's name.
pub type Argument<'a> = Cow<'a, [u8]>;

/// The bulk strings of an array, in which `request.rs` has found no mistake.
pub fn of_array(request: &[u8]) -> Vec<Argument<'_>> {
    let mut cursor = Cursor::default();
    let mut found = Vec::new();
    cursor.line(request);
    while let Some(header) = cursor.line(request) {
        let length = header.get(1..).and_then(|digits| std::str::from_utf8(digits).ok());
        let length: usize = length.and_then(|text| text.trim_end().parse().ok()).unwrap_or(0);
        let end = cursor.at.saturating_add(length).min(request.len());
        found.push(Cow::Borrowed(&request[cursor.at..end]));
        cursor.at = end + 2;
    }
    found
}

/// The arguments on the line of an inline command, as `sdssplitargs` of Redis finds them. `None` if
/// quotes are not balanced.
pub fn of_line(line: &[u8]) -> Option<Vec<Argument<'_>>> {
    let mut found = Vec::new();
    let mut rest = line;
    loop {
        let start = rest.iter().position(|byte| !is_space(*byte));
        let Some(start) = start else { return Some(found) };
        let (argument, behind) = argument(&rest[start..])?;
        found.push(argument);
        rest = behind;
    }
}

/// The argument at the beginning of the text, and the text behind it.
fn argument(text: &[u8]) -> Option<(Argument<'_>, &[u8])> {
    let ends = |byte: u8| b" \t\r\n".contains(&byte);
    let plain = text.iter().position(|byte| ends(*byte) || b"\"'".contains(byte));
    let plain = plain.unwrap_or(text.len());
    let (mut found, mut rest) = (Vec::from(&text[..plain]), &text[plain..]);
    while let [first, behind @ ..] = rest {
        match *first {
            byte if ends(byte) => break,
            quote @ (b'"' | b'\'') => {
                rest = quoted(behind, quote, &mut found)?;
                return Some((Cow::Owned(found), rest));
            }
            byte => {
                found.push(byte);
                rest = behind;
            }
        }
    }
    Some((Cow::Borrowed(&text[..plain]), rest))
}

/// Reads what stands before the closing quote, behind which an argument must end.
fn quoted<'a>(text: &'a [u8], quote: u8, found: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        rest = match rest {
            [b'\\', b'x', high, low, behind @ ..]
                if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0) as u8;
                found.push(digit(high) * 16 + digit(low));
                behind
            }
            [b'\\', escaped, behind @ ..] if quote == b'"' => {
                found.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                behind
            }
            [b'\\', b'\'', behind @ ..] if quote == b'\'' => {
                found.push(b'\'');
                behind
            }
            [byte, behind @ ..] if *byte == quote => {
                return behind.first().is_none_or(|byte| is_space(*byte)).then_some(behind);
            }
            [byte, behind @ ..] => {
                found.push(*byte);
                behind
            }
            [] => return None,
        };
    }
}

/// `isspace` of C.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_strings_may_hold_anything() {
        let request = b"*3\r\n$3\r\nSET\r\n$4\r\n\r\n$9\r\n$0\r\n\r\n";
        assert_eq!(of_array(request), [&b"SET"[..], b"\r\n$9", b""]);
        assert!(of_array(b"*0\r\n").is_empty());
    }

    #[test]
    fn lines_are_split_as_redis_splits_them() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("", Some(&[])),
            (" \t ", Some(&[])),
            ("GET a", Some(&["GET", "a"])),
            ("  GET\t a  ", Some(&["GET", "a"])),
            ("SET 'a b' \"c d\"", Some(&["SET", "a b", "c d"])),
            (r#"SET a"b c""#, Some(&["SET", "ab c"])),
            (r#"S "\x41\n\r\t\b\a\q\"""#, Some(&["S", "A\n\r\t\x08\x07q\""])),
            (r#"S "\xZZ""#, Some(&["S", "xZZ"])),
            (r"S 'it\'s \n'", Some(&["S", r"it's \n"])),
            ("S \"\"", Some(&["S", ""])),
            ("S \"a", None),
            ("S 'a", None),
            ("S \"a\"b", None),
            ("S 'a'b", None),
            ("S \"a\\", None),
        ];
        for (line, expected) in cases {
            let found = of_line(line.as_bytes());
            let expected = expected.map(|all| all.iter().map(|a| a.as_bytes().into()).collect());
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
