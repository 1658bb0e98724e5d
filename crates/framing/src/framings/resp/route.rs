//! Which servers get a request.

use crate::gather::Rule;
use crate::hash::hash;
use crate::request::{Expect, Part};
use crate::scan::printable;

use super::arguments::Argument;
use super::keys::{Mistake, keys};
use super::parts::{self, for_all, parts, splitting};
use super::refused;

/// The servers of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// The server of keys with this hash; without a hash, any server.
    One(Option<u64>),
    /// Those of the parts.
    Several(Vec<Part>, Rule),
    /// All.
    All(Rule),
}

/// Decides on a request whose name is in small letters.
pub fn target(lower: &[u8], arguments: &[Argument<'_>], expect: Expect) -> Result<Target, Mistake> {
    if let Some(rule) = for_all(lower, arguments.get(1..).unwrap_or_default()) {
        return Ok(Target::All(rule));
    }
    // Any server knows which commands there are, and the time.
    if matches!(lower, b"command" | b"time" | b"lolwut") {
        return Ok(Target::One(None));
    }
    let hashes: Vec<u64> =
        keys(lower, arguments)?.iter().map(|key| hash(hashed_part(key))).collect();
    let first = *hashes.first().ok_or(Mistake::Arguments)?;
    if hashes.iter().all(|hash| *hash == first) {
        return Ok(Target::One(Some(first)));
    }
    let splitting = splitting(lower).ok_or(Mistake::Apart)?;
    if !(arguments.len() - 1).is_multiple_of(splitting.step) {
        return Err(Mistake::Arguments);
    }
    let (parts, rule) = parts(splitting, arguments, &hashes, expect).ok_or(Mistake::Parts)?;
    Ok(Target::Several(parts, rule))
}

/// The part of a key that decides on its server: what stands between the first `{` and the next `}`
/// if it is not empty, and else the whole key ("Hash tags" of the Redis Cluster specification).
fn hashed_part(key: &[u8]) -> &[u8] {
    let tag = || {
        let open = key.iter().position(|byte| *byte == b'{')?;
        let behind = &key[open + 1..];
        let close = behind.iter().position(|byte| *byte == b'}')?;
        (close > 0).then(|| &behind[..close])
    };
    tag().unwrap_or(key)
}

/// The text of the error for a mistake.
pub fn explain(lower: &[u8], mistake: Mistake) -> String {
    let name = printable(&lower.to_ascii_uppercase());
    let refused = |remedy: &str| format!("ERR {name} is not supported by the gateway: {remedy}");
    match mistake {
        Mistake::Arguments => {
            format!("ERR wrong number of arguments for '{}' command", printable(lower))
        }
        Mistake::Apart => format!(
            "CROSSSLOT keys of {name} may be on several servers: \
            give all of them one hash tag, as in {{user}}:a {{user}}:b"
        ),
        Mistake::Parts => format!(
            "ERR {name} has keys of more than {} hashes: send several requests with fewer keys",
            parts::MOST
        ),
        Mistake::NoKeys => refused("without keys no server is the right one: pass the keys"),
        Mistake::Blocks => refused(refused::BLOCKS),
        Mistake::Patterns => refused("BY and GET read keys of other servers: sort in the client"),
        Mistake::Unknown => refused(refused::remedy(lower)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;

    fn routed(line: &str) -> Result<Target, Mistake> {
        let arguments = of_line(line.as_bytes()).unwrap();
        target(&arguments[0].to_ascii_lowercase(), &arguments, Expect::ORDINARY)
    }

    #[test]
    fn keys_with_one_tag_go_to_one_server() {
        for (key, part) in [
            ("user:1", "user:1"),
            ("{user}:1", "user"),
            ("a{user}:1", "user"),
            ("a{}{user}", "a{}{user}"),
            ("a{{b}}", "{b"),
            ("a{b", "a{b"),
            ("a}b{c}", "c"),
        ] {
            assert_eq!(hashed_part(key.as_bytes()), part.as_bytes(), "{key}");
        }
        let server = |line: &str, part: &[u8]| {
            assert_eq!(routed(line), Ok(Target::One(Some(hash(part)))), "{line}");
        };
        server("MGET {a}1 {a}2 a", b"a");
        server("mset {a}1 x {a}2 y", b"a");
        server("DEL a", b"a");
        server("DEL a a", b"a");
        server("RENAME x{a} y{a}", b"a");
        for any in ["COMMAND INFO get", "TIME", "LOLWUT"] {
            assert_eq!(routed(any), Ok(Target::One(None)), "{any}");
        }
    }

    #[test]
    fn keys_of_several_servers_are_split_or_refused() {
        for line in
            ["MGET a b", "MSET a 1 b 2", "del a b", "UNLINK a b", "EXISTS a b a", "TOUCH a b"]
        {
            let Ok(Target::Several(parts, _)) = routed(line) else { panic!("{line}") };
            let keys: Vec<_> = parts.iter().map(|part| part.key.unwrap()).collect();
            assert_eq!(keys, [hash(b"a"), hash(b"b")], "{line}");
        }
        for line in ["MSETNX a 1 b 2", "SUNION a b", "SORT a STORE b", "RENAME a b"] {
            assert_eq!(routed(line), Err(Mistake::Apart), "{line}");
        }
        assert_eq!(routed("MSET a 1 b"), Err(Mistake::Arguments));
        let many: String = (0..=parts::MOST).map(|key| format!(" {key}")).collect();
        assert_eq!(routed(&format!("MGET{many}")), Err(Mistake::Parts));
    }

    #[test]
    fn some_commands_concern_all_servers() {
        for (line, rule) in [
            ("DBSIZE", Rule::Sum),
            ("FLUSHALL", Rule::Same),
            ("flushdb ASYNC", Rule::Same),
            ("SCRIPT LOAD return", Rule::Same),
            ("SCRIPT EXISTS a b", Rule::Least),
            ("script flush", Rule::Same),
        ] {
            assert_eq!(routed(line), Ok(Target::All(rule)), "{line}");
        }
        assert_eq!(routed("SCRIPT KILL"), Err(Mistake::Unknown));
        assert_eq!(routed("SCRIPT"), Err(Mistake::Unknown));
    }
}
