//! Who answers a request.

use crate::hash::hash;
use crate::request::Expect;
use crate::scan::{RequestCut, printable};

use super::arguments::Argument;
use super::keys::{Mistake, keys};
use super::{error, local, refused};

/// Decides on a request of this length with these arguments.
pub fn route(length: usize, arguments: &[Argument<'_>]) -> RequestCut {
    let [name, rest @ ..] = arguments else { return RequestCut::local(length, "") };
    let lower = name.to_ascii_lowercase();
    if lower == b"quit" {
        return RequestCut { closes: true, ..RequestCut::local(length, "+OK\r\n") };
    }
    if let Some(answer) = local::answer(&lower, rest) {
        return RequestCut::local(length, answer);
    }
    match keys(&lower, arguments).and_then(|keys| same_hash(&keys)) {
        Ok(key) => RequestCut::server(length, Some(key), Expect::ORDINARY),
        Err(mistake) => RequestCut::local(length, error(&explain(&lower, mistake))),
    }
}

/// The hash that all keys have.
fn same_hash(keys: &[&[u8]]) -> Result<u64, Mistake> {
    let mut hashes = keys.iter().map(|key| hash(hashed_part(key)));
    let first = hashes.next().ok_or(Mistake::Arguments)?;
    if hashes.all(|hash| hash == first) { Ok(first) } else { Err(Mistake::Apart) }
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
fn explain(lower: &[u8], mistake: Mistake) -> String {
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
        Mistake::NoKeys => refused("without keys no server is the right one: pass the keys"),
        Mistake::Blocks => refused(refused::BLOCKS),
        Mistake::Patterns => refused("BY and GET read keys of other servers: sort in the client"),
        Mistake::Unknown => refused(refused::remedy(lower)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Route;

    fn routed(line: &str) -> RequestCut {
        let arguments = super::super::arguments::of_line(line.as_bytes()).unwrap();
        route(line.len(), &arguments)
    }

    fn refusal(line: &str) -> String {
        match routed(line).route {
            Route::Local(answer) => String::from_utf8(answer.to_vec()).unwrap(),
            other => panic!("{line}: {other:?}"),
        }
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
            let cut = RequestCut::server(line.len(), Some(hash(part)), Expect::ORDINARY);
            assert_eq!(routed(line), cut, "{line}");
        };
        server("MGET {a}1 {a}2 a", b"a");
        server("mset {a}1 x {a}2 y", b"a");
        server("DEL a", b"a");
        server("DEL a a", b"a");
        server("RENAME x{a} y{a}", b"a");
        assert!(refusal("MGET a b").starts_with("-CROSSSLOT keys of MGET "));
        assert!(refusal("MSET a 1 b 2").starts_with("-CROSSSLOT"));
        assert!(refusal("SORT a STORE b").starts_with("-CROSSSLOT"));
    }

    #[test]
    fn what_is_refused_has_a_reason() {
        for (line, part) in [
            ("GET", "-ERR wrong number of arguments for 'get' command\r\n"),
            ("multi", "-ERR MULTI is not supported by the gateway: "),
            ("WATCH a", "-ERR WATCH is not supported by the gateway: "),
            ("BLPOP a 0", "-ERR BLPOP is not supported by the gateway: "),
            ("XREAD BLOCK 0 STREAMS a $", "-ERR XREAD is not supported by the gateway: "),
            ("SUBSCRIBE a", "-ERR SUBSCRIBE is not supported by the gateway: "),
            ("KEYS *", "-ERR KEYS is not supported by the gateway: "),
            ("SORT a BY w_*", "-ERR SORT is not supported by the gateway: "),
            ("SELECT 1", "-ERR "),
            (r#""no\r\nsuch" a"#, "-ERR NO??SUCH is not supported by the gateway: "),
        ] {
            let answer = refusal(line);
            assert!(answer.starts_with(part), "{line}: {answer}");
            assert_eq!(answer.matches('\n').count(), 1, "{line}: {answer:?}");
        }
    }

    #[test]
    fn quit_closes_behind_earlier_answers() {
        let quit = routed("QUIT");
        assert_eq!((quit.closes, quit.route), (true, Route::Local("+OK\r\n".into())));
    }
}
