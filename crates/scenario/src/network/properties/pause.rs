//! `pause`, `sockets` and `bursts` of links.

use ratewire_laws::options::Size;
use ratewire_net::spec::{Arrangement, Bursts, Quanta, Sockets};
use ratewire_units::{Bytes, Duration};

use crate::document::{At, Entry, Table, Value};
use crate::section::Section;

/// The key `pause`, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pause {
    pub arrangement: Arrangement,
    pub by_class: bool,
    pub buffer: Option<Bytes>,
    pub xoff: Option<Bytes>,
    pub xon: Option<Bytes>,
    pub quanta: Quanta,
    pub reaction: Option<Duration>,
    pub hop_round_trip: Option<Duration>,
    pub intake: Duration,
}

/// The three keys of a link; `None` means "not given here".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wishes {
    /// The inner `None` is `false`.
    pub pause: Option<At<Option<Pause>>>,
    pub sockets: Option<At<Sockets>>,
    /// The inner `None` is `"none"`.
    pub bursts: Option<At<Option<Bursts>>>,
}

impl Wishes {
    /// These keys, with those not given taken from `base`.
    pub fn over(self, base: Wishes) -> Wishes {
        Wishes {
            pause: self.pause.or(base.pause),
            sockets: self.sockets.or(base.sockets),
            bursts: self.bursts.or(base.bursts),
        }
    }

    /// Reads the three keys; `packet` is the unit of sizes in packets.
    pub fn read(section: &Section<'_>, packet: Bytes) -> Wishes {
        Wishes {
            pause: at_key(section, "pause", |entry| pause(section, entry, packet)),
            sockets: section.word("sockets").map(|word| word.map(sockets)),
            bursts: at_key(section, "bursts", |entry| bursts(section, entry)),
        }
    }
}

/// A value with the place of its key, where errors about the rest of the network point.
fn at_key<'a, T>(
    section: &Section<'a>,
    key: &'static str,
    read: impl FnOnce(&'a Entry) -> Option<T>,
) -> Option<At<T>> {
    let span = section.get(key)?.key_span;
    section.given(key, read).map(|at| At { span, ..at })
}

/// Reads `pause`; the inner `None` is `false`.
pub(crate) fn pause(section: &Section<'_>, entry: &Entry, packet: Bytes) -> Option<Option<Pause>> {
    let span = entry.key_span;
    let empty = Table::default();
    let table = match &entry.item.value {
        Value::Switch(false) => return Some(None),
        Value::Switch(true) => &empty,
        Value::Table(table) => table,
        _ => {
            section.refuse("pause", &entry.item);
            return None;
        }
    };
    let s = Section::new(section.context, &["pause"], "`pause`", span, table);
    let bytes = |size: At<Size>| size.map(|size| size.bytes(packet));
    let queues = s.count_or("queues") as u32;
    let arrangement = match s.word_or("mode") {
        "fifo" => Arrangement::Fifo,
        "flows" => Arrangement::ByFlow(queues),
        _ => Arrangement::Virtual,
    };
    let by_flow = matches!(arrangement, Arrangement::ByFlow(_));
    let pause = Pause {
        arrangement,
        by_class: s.word_or("frames") == "pfc",
        buffer: s.size("buffer").map(|at| bytes(at).value),
        xoff: s.size("xoff").map(|at| bytes(at).value),
        xon: s.size("xon").map(|at| bytes(at).value),
        quanta: Quanta(s.count_or("quanta") as u16),
        reaction: s.time("reaction").map(|at| at.value),
        hop_round_trip: s.time("hop_rtt").map(|at| at.value),
        intake: s.time_or("intake"),
    };
    for key in ["queues", "hop_rtt"] {
        if let (Some(entry), false) = (s.get(key), by_flow) {
            section
                .context
                .error(entry.key_span, format!("`{key}` means nothing without queues by flow"))
                .help("add mode = \"flows\", or leave it out");
        }
    }
    if pause.by_class && by_flow {
        section
            .context
            .error(span, "queues by flow are paused one by one, and know no classes")
            .help("leave out frames = \"pfc\", or use another mode");
    }
    s.finish();
    Some(Some(pause))
}

pub(crate) fn sockets(word: &str) -> Sockets {
    match word {
        "in-turn" => Sockets::InTurn,
        "random" => Sockets::AtRandom,
        "on-ack" => Sockets::OnAck,
        _ => Sockets::Drop,
    }
}

/// Reads `bursts`; the inner `None` is `"none"`.
pub(crate) fn bursts(section: &Section<'_>, entry: &Entry) -> Option<Option<Bursts>> {
    let table = match &entry.item.value {
        Value::Text(text) if text == "none" => return Some(None),
        Value::Table(table) => table,
        _ => {
            section.refuse("bursts", &entry.item);
            return None;
        }
    };
    let s = Section::new(section.context, &["bursts"], "`bursts`", entry.key_span, table);
    let (packets, every) = (s.count("packets"), s.time("every"));
    s.finish();
    let bursts = Bursts { packets: packets?.value as u32, every: every?.value };
    Some(Some(bursts))
}
