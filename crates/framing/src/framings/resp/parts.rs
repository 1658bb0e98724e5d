//! Requests for several servers: a part for each group of keys that have the same hash.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::gather::Rule;
use crate::request::{Expect, Part};

use super::arguments::Argument;

/// Parts that a request may have.
pub const MOST: usize = 16_384;

/// A command that may be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// Arguments of a key, with itself.
    pub step: usize,
    answer: Answer,
}

/// What a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Ok,
    Count,
    Values,
}

/// How a command whose name is in small letters is split; `None` if it must not be: it could not be
/// done for some keys alone.
pub fn splitting(lower: &[u8]) -> Option<Splitting> {
    let (step, answer) = match lower {
        b"mget" => (1, Answer::Values),
        b"mset" => (2, Answer::Ok),
        b"del" | b"unlink" | b"exists" | b"touch" => (1, Answer::Count),
        _ => return None,
    };
    Some(Splitting { step, answer })
}

/// The rule for the answers of a command that every server gets; `None` if one server is enough or
/// none gets it.
pub fn for_all(lower: &[u8], rest: &[Argument<'_>]) -> Option<Rule> {
    match (lower, rest) {
        (b"dbsize", []) => Some(Rule::Sum),
        (b"flushall" | b"flushdb", _) => Some(Rule::Same),
        (b"script", [sub, ..]) => match &sub.to_ascii_lowercase()[..] {
            b"load" | b"flush" => Some(Rule::Same),
            b"exists" => Some(Rule::Least),
            _ => None,
        },
        _ => None,
    }
}

/// The parts of a request, in the order of their first keys, and the rule for their answers. `None`
/// if there are too many. A key has the hash of the same place.
pub fn parts(
    splitting: Splitting,
    arguments: &[Argument<'_>],
    hashes: &[u64],
    expect: Expect,
) -> Option<(Vec<Part>, Rule)> {
    let [name, rest @ ..] = arguments else { return None };
    let mut places = BTreeMap::new();
    let mut groups: Vec<(u64, Vec<&[Argument<'_>]>)> = Vec::new();
    let mut owners = Vec::with_capacity(hashes.len());
    for (group, hash) in rest.chunks(splitting.step).zip(hashes) {
        let place = *places.entry(*hash).or_insert(groups.len());
        if place == groups.len() {
            groups.push((*hash, Vec::new()));
        }
        groups[place].1.push(group);
        owners.push(place as u32);
    }
    if groups.len() > MOST {
        return None;
    }
    let part = |(hash, groups): (u64, Vec<&[Argument<'_>]>)| {
        let bytes = request(name, &groups);
        Part { key: Some(hash), expect, bytes }
    };
    let rule = match splitting.answer {
        Answer::Ok => Rule::Same,
        Answer::Count => Rule::Sum,
        Answer::Values => Rule::Each(owners.into()),
    };
    Some((groups.into_iter().map(part).collect(), rule))
}

/// A command with these groups of arguments.
fn request(name: &[u8], groups: &[&[Argument<'_>]]) -> Bytes {
    let count = 1 + groups.iter().map(|group| group.len()).sum::<usize>();
    let mut out = format!("*{count}\r\n").into_bytes();
    let arguments = groups.iter().flat_map(|group| group.iter().map(AsRef::as_ref));
    for argument in std::iter::once(name).chain(arguments) {
        out.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        out.extend_from_slice(argument);
        out.extend_from_slice(b"\r\n");
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;

    /// The parts' hashes and requests, in which ends of lines are spaces.
    fn split(line: &str, hashes: &[u64]) -> (Vec<(u64, String)>, Rule) {
        let arguments = of_line(line.as_bytes()).unwrap();
        let splitting = splitting(&arguments[0].to_ascii_lowercase()).unwrap();
        let (parts, rule) = parts(splitting, &arguments, hashes, Expect::ORDINARY).unwrap();
        let text = |part: &Part| String::from_utf8(part.bytes.to_vec()).unwrap();
        let parts = parts.iter().map(|part| (part.key.unwrap(), text(part).replace("\r\n", " ")));
        (parts.collect(), rule)
    }

    #[test]
    fn keys_of_one_hash_stay_together() {
        let (parts, rule) = split("MGET a b c", &[7, 5, 7]);
        let expected = [(7, "*3 $4 MGET $1 a $1 c ".into()), (5, "*2 $4 MGET $1 b ".into())];
        assert_eq!((&parts[..], rule), (&expected[..], Rule::Each([0, 1, 0].into())));
        let (parts, rule) = split("mset a 1 b '' a 2", &[7, 5, 7]);
        let first = "*5 $4 mset $1 a $1 1 $1 a $1 2 ".to_string();
        let expected = [(7, first), (5, "*3 $4 mset $1 b $0  ".into())];
        assert_eq!((&parts[..], rule), (&expected[..], Rule::Same));
        assert_eq!(split("DEL a b", &[1, 2]).1, Rule::Sum);
        assert_eq!((splitting(b"msetnx"), splitting(b"sunion")), (None, None));
    }

    #[test]
    fn a_request_has_so_many_parts_and_no_more() {
        let line = format!("DEL{}", " a".repeat(MOST + 1));
        let arguments = of_line(line.as_bytes()).unwrap();
        let hashes: Vec<u64> = (0..=MOST as u64).collect();
        let split = |arguments: &[Argument<'_>], hashes: &[u64]| {
            parts(splitting(b"del").unwrap(), arguments, hashes, Expect::ORDINARY)
        };
        assert_eq!(split(&arguments, &hashes), None);
        assert_eq!(split(&arguments[1..], &hashes[1..]).unwrap().0.len(), MOST);
    }
}
