//! Limits on XML that would take the parser time out of proportion to its length.
//!
//! The parser compares each attribute of an element with all others of it, and copies the
//! namespaces in scope to each element that declares one. Both costs grow with the square of the
//! count; files of the formats read here have few of either.

use crate::InputError;
use crate::location::Location;

/// Most attributes of one element.
const MOST_ATTRIBUTES: usize = 256;
/// Most declarations of namespaces in a file.
const MOST_NAMESPACES: usize = 64;

/// # Errors
/// When an element has too many attributes, or the file too many namespaces.
pub(super) fn check(file: &str, text: &str) -> Result<(), InputError> {
    let (mut rest, mut namespaces) = (text, 0);
    while let Some(at) = rest.find('<') {
        let markup = &rest[at..];
        let end = ["<!--", "<![CDATA[", "<?"].iter().zip(["-->", "]]>", "?>"]);
        let skipped = end.into_iter().find_map(|(begin, end)| {
            let inside = markup.strip_prefix(begin)?;
            // The parser refuses an element without an end.
            Some(inside.split_once(end).map_or("", |(_, after)| after))
        });
        if let Some(after) = skipped {
            rest = after;
            continue;
        }
        let tag = tag(markup);
        namespaces += tag.namespaces;
        let found = if tag.attributes > MOST_ATTRIBUTES {
            Some((format!("an element of {} attributes", tag.attributes), MOST_ATTRIBUTES))
        } else if namespaces > MOST_NAMESPACES {
            Some(("another declaration of a namespace".to_string(), MOST_NAMESPACES))
        } else {
            None
        };
        if let Some((found, most)) = found {
            let at = Location::offset(file, text, text.len() - markup.len());
            return Err(at.error(
                found,
                format!("up to {most}"),
                "check that the file is a topology; export it anew",
            ));
        }
        rest = &markup[tag.len..];
    }
    Ok(())
}

struct Tag {
    /// Bytes up to the tag's end.
    len: usize,
    attributes: usize,
    namespaces: usize,
}

/// Reads the tag that `text` begins with.
fn tag(text: &str) -> Tag {
    let (mut quote, mut attributes, mut namespaces) = (None, 0, 0);
    // Where the last name begins, and whether the scan is still within it.
    let (mut name, mut in_name) = (0, false);
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return Tag { len: at + 1, attributes, namespaces },
            (None, b'"' | b'\'') => (quote, in_name) = (Some(byte), false),
            (None, b'=') => {
                attributes += 1;
                namespaces += usize::from(text[name..].starts_with("xmlns"));
                in_name = false;
            }
            (None, _) if byte.is_ascii_whitespace() => in_name = false,
            (None, _) if !in_name => (name, in_name) = (at, true),
            (None, _) => {}
        }
    }
    Tag { len: text.len(), attributes, namespaces }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_in_tags_alone() {
        let many = "a='b' ".repeat(300);
        for fine in [
            format!("<x/>{many}"),
            format!("<!-- <x {many}> --><x/>"),
            format!("<x><![CDATA[<x {many}>]]></x>"),
            format!("<?x {many}?><x/>"),
            format!("<x y=\"{}\"/>", "=<".repeat(300)),
            "<x xmlns='a' y='b'/>".repeat(60),
            "<x y = 'xmlns' z= 'xmlns='/>".repeat(100),
            "<!-- <".to_string(),
            "<".to_string(),
        ] {
            assert!(check("f", &fine).is_ok(), "{fine:.60}");
        }
        let found = |text: &str| check("f.xml", text).unwrap_err().to_string();
        let said = found(&format!("<x>\n<y {many}/></x>"));
        assert!(said.starts_with("f.xml:2: found an element of 300 attributes; allowed"), "{said}");
        let said = found(&("\n<x xmlns:a = 'b'/>".repeat(65)));
        assert!(said.starts_with("f.xml:66: found another declaration of a namespace"), "{said}");
    }
}
