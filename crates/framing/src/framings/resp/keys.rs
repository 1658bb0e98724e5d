//! Which arguments of a command are keys: the key specifications of `COMMAND INFO`.

use super::arguments::Argument;

/// Why the keys of a request do not lead to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Arguments are missing.
    Arguments,
    /// The request says that it has no keys.
    NoKeys,
    /// Keys may be on several servers.
    Apart,
    /// Keys have too many hashes.
    Parts,
    /// The server might answer late.
    Blocks,
    /// Keys are given as patterns.
    Patterns,
    /// It is not known which arguments are keys, or the command is refused.
    Unknown,
}

/// Where keys stand.
#[derive(Clone, Copy)]
enum Place {
    /// From one index to another in steps; a last index of 0 stands for the end.
    Range { first: usize, last: usize, step: usize },
    /// Behind their number, which stands at this index; the first argument may be a key too.
    Counted { at: usize, has_destination: bool },
    /// The first argument, and behind the word `STORE` or `STOREDIST` from this index on.
    Store { from: usize },
    /// Behind the word `STREAMS`, from this index on: as many keys as identifiers.
    Streams { from: usize },
}

/// The first argument.
const FIRST: Place = Place::Range { first: 1, last: 1, step: 1 };
/// The first two arguments.
const TWO: Place = Place::Range { first: 1, last: 2, step: 1 };
/// The argument behind a subcommand.
const SECOND: Place = Place::Range { first: 2, last: 2, step: 1 };
/// All arguments.
const ALL: Place = Place::Range { first: 1, last: 0, step: 1 };
const EVERY_SECOND: Place = Place::Range { first: 1, last: 0, step: 2 };
const ALL_BUT_FIRST: Place = Place::Range { first: 2, last: 0, step: 1 };

fn place(name: &[u8]) -> Option<Place> {
    Some(match name {
        // Strings and bitmaps.
        b"append" | b"bitcount" | b"bitfield" | b"bitfield_ro" | b"bitpos" | b"decr"
        | b"decrby" | b"get" | b"getbit" | b"getdel" | b"getex" | b"getrange" | b"getset"
        | b"incr" | b"incrby" | b"incrbyfloat" | b"psetex" | b"set" | b"setbit" | b"setex"
        | b"setnx" | b"setrange" | b"strlen" | b"substr" => FIRST,
        // Any type.
        b"dump" | b"expire" | b"expireat" | b"expiretime" | b"persist" | b"pexpire"
        | b"pexpireat" | b"pexpiretime" | b"pttl" | b"restore" | b"ttl" | b"type" => FIRST,
        // Hashes.
        b"hdel" | b"hexists" | b"hexpire" | b"hexpireat" | b"hexpiretime" | b"hget"
        | b"hgetall" | b"hgetdel" | b"hgetex" | b"hincrby" | b"hincrbyfloat" | b"hkeys"
        | b"hlen" | b"hmget" | b"hmset" | b"hpersist" | b"hpexpire" | b"hpexpireat"
        | b"hpexpiretime" | b"hpttl" | b"hrandfield" | b"hscan" | b"hset" | b"hsetex"
        | b"hsetnx" | b"hstrlen" | b"httl" | b"hvals" => FIRST,
        // Lists.
        b"lindex" | b"linsert" | b"llen" | b"lpop" | b"lpos" | b"lpush" | b"lpushx" | b"lrange"
        | b"lrem" | b"lset" | b"ltrim" | b"rpop" | b"rpush" | b"rpushx" => FIRST,
        // Sets.
        b"sadd" | b"scard" | b"sismember" | b"smembers" | b"smismember" | b"spop"
        | b"srandmember" | b"srem" | b"sscan" => FIRST,
        // Sorted sets.
        b"zadd" | b"zcard" | b"zcount" | b"zincrby" | b"zlexcount" | b"zmscore" | b"zpopmax"
        | b"zpopmin" | b"zrandmember" | b"zrange" | b"zrangebylex" | b"zrangebyscore"
        | b"zrank" | b"zrem" | b"zremrangebylex" | b"zremrangebyrank" | b"zremrangebyscore"
        | b"zrevrange" | b"zrevrangebylex" | b"zrevrangebyscore" | b"zrevrank" | b"zscan"
        | b"zscore" => FIRST,
        // Places, sketches, streams.
        b"geoadd"
        | b"geodist"
        | b"geohash"
        | b"geopos"
        | b"georadius_ro"
        | b"georadiusbymember_ro"
        | b"geosearch"
        | b"pfadd"
        | b"xack"
        | b"xadd"
        | b"xautoclaim"
        | b"xclaim"
        | b"xdel"
        | b"xlen"
        | b"xpending"
        | b"xrange"
        | b"xrevrange"
        | b"xsetid"
        | b"xtrim" => FIRST,
        b"copy" | b"geosearchstore" | b"lcs" | b"lmove" | b"rename" | b"renamenx"
        | b"rpoplpush" | b"smove" | b"zrangestore" => TWO,
        b"memory" | b"object" | b"xgroup" | b"xinfo" => SECOND,
        b"del" | b"exists" | b"mget" | b"pfcount" | b"pfmerge" | b"sdiff" | b"sdiffstore"
        | b"sinter" | b"sinterstore" | b"sunion" | b"sunionstore" | b"touch" | b"unlink" => ALL,
        b"mset" | b"msetnx" => EVERY_SECOND,
        b"bitop" => ALL_BUT_FIRST,
        b"eval" | b"eval_ro" | b"evalsha" | b"evalsha_ro" | b"fcall" | b"fcall_ro" => {
            Place::Counted { at: 2, has_destination: false }
        }
        b"lmpop" | b"sintercard" | b"zdiff" | b"zinter" | b"zintercard" | b"zmpop" | b"zunion" => {
            Place::Counted { at: 1, has_destination: false }
        }
        b"zdiffstore" | b"zinterstore" | b"zunionstore" => {
            Place::Counted { at: 2, has_destination: true }
        }
        b"sort" | b"sort_ro" => Place::Store { from: 2 },
        b"georadius" => Place::Store { from: 6 },
        b"georadiusbymember" => Place::Store { from: 5 },
        b"xread" => Place::Streams { from: 1 },
        b"xreadgroup" => Place::Streams { from: 4 },
        _ => return None,
    })
}

/// The keys of a command whose name is in small letters. There is at least one.
pub fn keys<'a>(lower: &[u8], arguments: &'a [Argument<'_>]) -> Result<Vec<&'a [u8]>, Mistake> {
    // Its other subcommands are about a server.
    let is_usage = |sub: &Argument<'_>| sub.eq_ignore_ascii_case(b"usage");
    if lower == b"memory" && !arguments.get(1).is_some_and(is_usage) {
        return Err(Mistake::Unknown);
    }
    let keys = match place(lower).ok_or(Mistake::Unknown)? {
        Place::Range { first, last, step } => {
            let last = if last == 0 { arguments.len().saturating_sub(1) } else { last };
            let range = arguments.get(first..=last).ok_or(Mistake::Arguments)?;
            range.iter().step_by(step).map(AsRef::as_ref).collect()
        }
        Place::Counted { at, has_destination } => counted(arguments, at, has_destination)?,
        Place::Store { from } => stored(arguments, from)?,
        Place::Streams { from } => streams(arguments, from)?,
    };
    if keys.is_empty() { Err(Mistake::Arguments) } else { Ok(keys) }
}

fn counted<'a>(
    arguments: &'a [Argument<'_>],
    at: usize,
    has_destination: bool,
) -> Result<Vec<&'a [u8]>, Mistake> {
    let count = arguments.get(at).and_then(|count| crate::scan::decimal(count));
    let count = count.and_then(|count| usize::try_from(count).ok()).ok_or(Mistake::Arguments)?;
    let behind = arguments.get(at + 1..).and_then(|behind| behind.get(..count));
    let mut keys: Vec<&[u8]> =
        behind.ok_or(Mistake::Arguments)?.iter().map(AsRef::as_ref).collect();
    if keys.is_empty() {
        return Err(Mistake::NoKeys);
    }
    if has_destination {
        keys.push(&arguments[1]);
    }
    Ok(keys)
}

fn stored<'a>(arguments: &'a [Argument<'_>], from: usize) -> Result<Vec<&'a [u8]>, Mistake> {
    let mut keys = vec![arguments.get(1).ok_or(Mistake::Arguments)?.as_ref()];
    let mut options = arguments.iter().skip(from);
    let mut patterns = Vec::new();
    while let Some(option) = options.next() {
        match &option.to_ascii_lowercase()[..] {
            b"store" | b"storedist" => keys.push(options.next().ok_or(Mistake::Arguments)?),
            b"by" | b"get" => patterns.extend(options.next()),
            _ => {}
        }
    }
    // A pattern without an asterisk names no other key.
    let names_keys = patterns.iter().any(|pattern| pattern.contains(&b'*'));
    if names_keys { Err(Mistake::Patterns) } else { Ok(keys) }
}

fn streams<'a>(arguments: &'a [Argument<'_>], from: usize) -> Result<Vec<&'a [u8]>, Mistake> {
    let options = arguments.get(from..).ok_or(Mistake::Arguments)?;
    let word = options.iter().position(|option| option.eq_ignore_ascii_case(b"streams"));
    let word = word.ok_or(Mistake::Arguments)?;
    if options[..word].iter().any(|option| option.eq_ignore_ascii_case(b"block")) {
        return Err(Mistake::Blocks);
    }
    let behind = &options[word + 1..];
    Ok(behind[..behind.len() / 2].iter().map(AsRef::as_ref).collect())
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;

    fn found(line: &str) -> Result<Vec<String>, Mistake> {
        let arguments = of_line(line.as_bytes()).unwrap();
        let found = keys(&arguments[0].to_ascii_lowercase(), &arguments)?;
        Ok(found.iter().map(|key| String::from_utf8(key.to_vec()).unwrap()).collect())
    }

    #[test]
    fn keys_stand_where_redis_has_them() {
        for (line, expected) in [
            ("GET a", "a"),
            ("SET a b EX 10", "a"),
            ("RENAME a b", "a b"),
            ("OBJECT ENCODING a", "a"),
            ("MEMORY Usage a", "a"),
            ("XINFO STREAM a", "a"),
            ("MGET a b c", "a b c"),
            ("MSET a 1 b 2", "a b"),
            ("BITOP AND a b c", "a b c"),
            ("EVAL return 2 a b c", "a b"),
            ("ZUNIONSTORE d 2 a b WEIGHTS 1 2", "a b d"),
            ("ZUNION 2 a b", "a b"),
            ("LMPOP 1 a LEFT", "a"),
            ("SORT a", "a"),
            ("SORT a BY nosort GET # LIMIT 0 5 STORE d", "a d"),
            ("GEORADIUS a 1 2 3 km STOREDIST d", "a d"),
            ("GEORADIUSBYMEMBER a store 3 km", "a"),
            ("XREAD COUNT 2 STREAMS a b 0 0", "a b"),
            ("XREADGROUP GROUP streams block STREAMS a >", "a"),
        ] {
            let expected = expected.split(' ').map(String::from).collect();
            assert_eq!(found(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn requests_without_keys_are_refused() {
        for (line, mistake) in [
            ("GET", Mistake::Arguments),
            ("MGET", Mistake::Arguments),
            ("RENAME a", Mistake::Arguments),
            ("OBJECT HELP", Mistake::Arguments),
            ("EVAL return 3 a b", Mistake::Arguments),
            ("EVAL return 0", Mistake::NoKeys),
            ("ZUNIONSTORE d 0", Mistake::NoKeys),
            ("EVAL return -1 a", Mistake::Arguments),
            ("EVAL return 18446744073709551615 a", Mistake::Arguments),
            ("SORT a STORE", Mistake::Arguments),
            ("SORT a GET b_*", Mistake::Patterns),
            ("XREAD a 0", Mistake::Arguments),
            ("XREAD STREAMS", Mistake::Arguments),
            ("XREADGROUP GROUP", Mistake::Arguments),
            ("XREAD BLOCK 0 STREAMS a 0", Mistake::Blocks),
            ("KEYS *", Mistake::Unknown),
            ("MEMORY STATS", Mistake::Unknown),
            ("MEMORY", Mistake::Unknown),
        ] {
            assert_eq!(found(line), Err(mistake), "{line}");
        }
    }
}
