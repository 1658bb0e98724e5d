//! `pause`, `sockets` and `bursts` of links.

use ratewire_laws::options::Size;
use ratewire_net::spec::{Arrangement, Bursts, Quanta, Sockets};
use ratewire_units::{Bytes, Duration};

use crate::document::{At, Table, Value};
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
    /// Whether the far end pauses the link.
    pub fn is_paused(&self) -> bool {
        self.pause.is_some_and(|pause| pause.value.is_some())
    }

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
            pause: pause(section, packet),
            sockets: section.word("sockets").map(|word| word.map(sockets)),
            bursts: bursts(section),
        }
    }
}

fn pause(section: &Section<'_>, packet: Bytes) -> Option<At<Option<Pause>>> {
    let entry = section.get("pause")?;
    let span = entry.key_span;
    let empty = Table::default();
    let table = match &entry.item.value {
        Value::Switch(false) => return Some(At { value: None, span }),
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
    Some(At { value: Some(pause), span })
}

fn sockets(word: &str) -> Sockets {
    match word {
        "in-turn" => Sockets::InTurn,
        "random" => Sockets::AtRandom,
        "on-ack" => Sockets::OnAck,
        _ => Sockets::Drop,
    }
}

fn bursts(section: &Section<'_>) -> Option<At<Option<Bursts>>> {
    let entry = section.get("bursts")?;
    let span = entry.key_span;
    let table = match &entry.item.value {
        Value::Text(text) if text == "none" => return Some(At { value: None, span }),
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
    Some(At { value: Some(bursts), span })
}
