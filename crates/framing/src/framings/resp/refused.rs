//! Commands that the gateway refuses, and what to do instead.

/// Remedy for commands that a server answers late.
pub const BLOCKS: &str =
    "it would hold up other clients of the server: ask again in the client, without blocking";

/// The remedy for a command that does not go to a server. Its name is in small letters.
pub fn remedy(lower: &[u8]) -> &'static str {
    match lower {
        b"watch" => {
            "connections to servers are shared by clients: use EVAL with keys of one hash tag"
        }
        b"blpop" | b"brpop" | b"blmove" | b"brpoplpush" | b"blmpop" | b"bzpopmin" | b"bzpopmax"
        | b"bzmpop" | b"wait" | b"waitaof" => BLOCKS,
        b"subscribe" | b"psubscribe" | b"ssubscribe" | b"unsubscribe" | b"punsubscribe"
        | b"sunsubscribe" | b"publish" | b"spublish" | b"pubsub" | b"monitor" => {
            "messages to subscribers do not pass it: connect to a server directly"
        }
        b"auth" => "it asks for no password: leave AUTH out",
        b"client" => {
            "connections to servers are shared: only SETNAME, GETNAME, SETINFO, ID, INFO, \
            NO-EVICT and NO-TOUCH are allowed"
        }
        b"acl" | b"bgrewriteaof" | b"bgsave" | b"cluster" | b"config" | b"debug" | b"failover"
        | b"function" | b"keys" | b"lastsave" | b"latency" | b"memory" | b"migrate" | b"module"
        | b"move" | b"psync" | b"randomkey" | b"readonly" | b"readwrite" | b"replconf"
        | b"replicaof" | b"role" | b"save" | b"scan" | b"script" | b"shutdown" | b"slaveof"
        | b"slowlog" | b"swapdb" | b"sync" => {
            "it concerns one server as a whole: connect to that server directly"
        }
        _ => "it is not known which arguments are keys: connect to a server directly",
    }
}
