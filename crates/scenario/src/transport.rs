//! `[transport]`: behaviour of the two ends of a flow.

use std::fmt::Display;

use ratewire_laws::options::parse_size;
use ratewire_transport::{AckRules, Jitter, ReceiveWindow, Recovery, TransportConfig};
use ratewire_units::{Bytes, Duration};

use crate::context::Context;
use crate::document::{At, Entry, Item, Value};
use crate::section::Section;

/// Payload of a full packet, without a congestion header.
pub(crate) fn payload(config: &TransportConfig) -> Bytes {
    config.packet.saturating_sub(config.headers)
}

/// The transport of a scenario whose table gives nothing.
pub(crate) fn usual(context: &Context<'_>) -> TransportConfig {
    let section = Section::empty(context, &["transport"]);
    let (packet, headers) = (section.bytes_or("packet"), section.bytes_or("headers"));
    let payload = packet.saturating_sub(headers);
    TransportConfig {
        packet,
        headers,
        ack: section.bytes_or("ack"),
        handshake: section.switch_or("handshake"),
        delayed_ack: section.or_default("delayed_ack", |entry| delayed_ack(&section, &entry.item)),
        ack_rules: ack_rules(section.word_or("ack_rules")),
        receive_window: section
            .or_default("receive_window", |entry| receive_window(&section, entry, payload)),
        min_rto: section.time_or("min_rto"),
        // No key sets it.
        max_rto: TransportConfig::default().max_rto,
        recovery: recovery(section.word_or("recovery")),
        tail_loss_probe: section.switch_or("tail_loss_probe"),
        ecn: section.switch_or("ecn"),
        l4s: section.switch_or("l4s"),
        class: section.count_or("class") as u8,
        jitter: section.or_default("jitter", |entry| jitter(&section, &entry.item)),
        small_queues: None,
    }
}

fn ack_rules(word: &str) -> AckRules {
    if word == "linux" { AckRules::Linux } else { AckRules::Rfc }
}

fn recovery(word: &str) -> Recovery {
    if word == "rack" { Recovery::Rack } else { Recovery::Sack }
}

/// Reads the whole table; keys not given are as in `base`.
pub(crate) fn read(section: &Section<'_>, base: &TransportConfig) -> TransportConfig {
    let context = section.context;
    let mut config = base.clone();
    if let Some(packet) = section.bytes("packet") {
        if packet.value == Bytes::ZERO || packet.value > Bytes::new(65_535) {
            context
                .error(packet.span, format!("a packet cannot have {}", packet.value))
                .help("allowed: from 1 B to 65535 B");
        } else {
            config.packet = packet.value;
        }
    }
    if let Some(headers) = section.bytes("headers") {
        config.headers = headers.value;
        if headers.value >= config.packet {
            context
                .error(headers.span, format!("headers of {} leave no payload", headers.value))
                .help(format!("a packet has {} in all", config.packet));
            config.headers = Bytes::ZERO;
        }
    } else if config.headers >= config.packet {
        context
            .error(section.span, format!("headers of {} leave no payload", config.headers))
            .help(format!("a packet has {} in all; set `headers` too", config.packet));
        config.headers = Bytes::ZERO;
    }
    if let Some(ack) = section.bytes("ack") {
        if ack.value == Bytes::ZERO || ack.value > Bytes::new(65_535) {
            context
                .error(ack.span, format!("an acknowledgement cannot have {}", ack.value))
                .help("allowed: from 1 B to 65535 B");
        } else {
            config.ack = ack.value;
        }
    }
    if let Some(handshake) = section.switch("handshake") {
        config.handshake = handshake.value;
    }
    if let Some(time) = section.given("delayed_ack", |entry| delayed_ack(section, &entry.item)) {
        config.delayed_ack = time.value;
    }
    if let Some(rules) = section.word("ack_rules") {
        config.ack_rules = ack_rules(rules.value);
    }
    if let Some(most) = section.given("jitter", |entry| jitter(section, &entry.item)) {
        config.jitter = most.value;
    }
    if let Some(small) = section.switch("small_queues") {
        config.small_queues = Some(small.value);
    }
    let payload = payload(&config);
    let window = section.given("receive_window", |entry| receive_window(section, entry, payload));
    if let Some(window) = window {
        config.receive_window = window.value;
    }
    if let Some(time) = section.time("min_rto") {
        config.min_rto = time.value;
    }
    if let Some(word) = section.word("recovery") {
        config.recovery = recovery(word.value);
    }
    if let Some(probe) = section.switch("tail_loss_probe") {
        config.tail_loss_probe = probe.value;
    }
    if let Some(l4s) = section.switch("l4s") {
        config.l4s = l4s.value;
    }
    if let Some(ecn) = section.switch("ecn") {
        config.ecn = ecn.value;
    }
    if let Some(class) = section.count("class") {
        config.class = class.value as u8;
    }
    section.finish();
    config
}

/// Reads `delayed_ack`; the inner `None` is `"none"`.
fn delayed_ack(section: &Section<'_>, item: &Item) -> Option<Option<Duration>> {
    let error = match section.text_of("delayed_ack", item)? {
        "none" => return Some(None),
        time => match time.parse() {
            Ok(time) => return Some(Some(time)),
            Err(e) => format!("`delayed_ack`: {e}"),
        },
    };
    section.context.error(item.span, error).help("allowed: a time such as \"40 ms\", or \"none\"");
    None
}

/// Longest `jitter`. With more, a packet could be late for every timer of its sender.
const LONGEST_JITTER: Duration = Duration::from_secs(1);

fn jitter(section: &Section<'_>, item: &Item) -> Option<Jitter> {
    let error = match section.text_of("jitter", item)? {
        "none" => return Some(Jitter::NONE),
        "packet-time" => return Some(Jitter::PacketTime),
        other => match other.parse::<Duration>() {
            Ok(time) if time <= LONGEST_JITTER => return Some(Jitter::UpTo(time)),
            Ok(time) => format!("`jitter` cannot be {time}"),
            Err(e) => format!("`jitter`: {e}"),
        },
    };
    section
        .context
        .error(item.span, error)
        .help("allowed: a time up to 1 s such as \"100 us\", \"packet-time\" or \"none\"");
    None
}

/// Whether a window holds a full packet; notes an error otherwise.
pub(crate) fn holds_a_packet(
    context: &Context<'_>,
    written: At<impl Display>,
    window: Bytes,
    payload: Bytes,
) -> bool {
    if window < payload {
        context
            .error(written.span, format!("a window of {} holds no full packet", written.value))
            .help(format!("a packet carries {payload}"));
    }
    window >= payload
}

fn receive_window(section: &Section<'_>, entry: &Entry, payload: Bytes) -> Option<ReceiveWindow> {
    let context = section.context;
    match &entry.item.value {
        Value::Text(text) if text == "unlimited" => {
            Some(ReceiveWindow::Fixed(ReceiveWindow::UNLIMITED))
        }
        Value::Text(text) => match parse_size(text) {
            Ok(size) => {
                let (written, size) =
                    (At { value: text, span: entry.item.span }, size.bytes(payload));
                holds_a_packet(context, written, size, payload)
                    .then_some(ReceiveWindow::Fixed(size))
            }
            Err(why) => {
                context.error(entry.item.span, format!("`receive_window`: {why}"));
                None
            }
        },
        Value::Table(table) => {
            let title = "`receive_window`";
            let s = Section::new(context, &["receive_window"], title, entry.key_span, table);
            let (initial, max) = (s.size("initial"), s.size("max"));
            let packets_per_ack = s.count_or("packets_per_ack") as u32;
            s.finish();
            let (initial, max) = (initial?, max?);
            let (first, most) = (initial.value.bytes(payload), max.value.bytes(payload));
            if first > most {
                context.error(initial.span, format!("`initial` ({first}) is above `max` ({most})"));
                return None;
            }
            if !holds_a_packet(context, initial.map(|_| first), first, payload) {
                return None;
            }
            Some(ReceiveWindow::Auto { initial: first, max: most, packets_per_ack })
        }
        _ => {
            section.refuse("receive_window", &entry.item);
            None
        }
    }
}
