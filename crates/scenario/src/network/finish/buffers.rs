//! Turns the `pause` of links into buffers: headroom, thresholds, link back.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_backpressure::headroom::{PausedLink, reaction};
use ratewire_net::spec::{Arrangement, DriverSpec, LinkId, PauseSpec};
use ratewire_units::{Bytes, Duration, Rate};

use crate::context::Context;
use crate::diagnostic::Span;
use crate::network::properties::Properties;
use crate::network::properties::pause::Pause;
use crate::network::{Link, Net};

/// Default `xoff` in full packets, where neither `xoff` nor `buffer` is given.
const USUAL_XOFF: u64 = 20;

/// Computes the buffers of a network.
pub(crate) struct PauseBuffers<'a> {
    context: &'a Context<'a>,
    net: &'a Net,
    /// Largest packet of any flow.
    packet: Bytes,
    /// Queue arrangement of each node, and the link that set it.
    arrangements: BTreeMap<usize, (Arrangement, usize)>,
    /// Errors already noted, by place and kind. Both directions of a cable, and all links of a
    /// pattern, share one place.
    reported: BTreeSet<(usize, usize, &'static str)>,
}

impl<'a> PauseBuffers<'a> {
    pub fn new(context: &'a Context<'a>, net: &'a Net, packet: Bytes) -> PauseBuffers<'a> {
        PauseBuffers {
            context,
            net,
            packet,
            arrangements: BTreeMap::new(),
            reported: BTreeSet::new(),
        }
    }

    /// How the host at the start of a link hands packets to the link.
    pub fn driver(&self, id: usize) -> DriverSpec {
        let (wishes, usual) = (&self.net.links[id].properties.wishes, &self.net.usual);
        DriverSpec {
            sockets: wishes.sockets.map_or(usual.sockets, |at| at.value),
            bursts: wishes.bursts.map_or(usual.bursts, |at| at.value),
        }
    }

    /// The buffer that pauses a link, if there is one.
    pub fn buffer(&mut self, id: usize) -> Option<PauseSpec> {
        let net = self.net;
        let link = &net.links[id];
        let pause = net.pause(link)?;
        let span = link.properties.wishes.pause.map_or(link.span, |at| at.span);
        let back = self.way_back(link, span)?;
        let (rate, back_rate) = (self.rate(link, span)?, self.rate(&net.links[back], span)?);
        for node in [link.from, link.to] {
            self.agree(node, pause.arrangement, id, span);
        }
        let on_wire = |link: &Link| self.packet + net.overhead(link);
        let packet = on_wire(link).max(on_wire(&net.links[back]));
        let by_flow = matches!(pause.arrangement, Arrangement::ByFlow(_));
        let hop = PausedLink {
            rate,
            delay: net.delay(id),
            back_rate,
            back_delay: net.delay(back),
            packet,
            reaction: pause.reaction.unwrap_or_else(|| reaction(rate)),
            frames: if by_flow { 2 } else { 1 },
        };
        self.check_quanta(&pause, &hop, link, span);
        let (xoff, buffer) = self.room(&pause, hop.headroom(), link, span);
        let xon = pause.xon.unwrap_or(Bytes::new(xoff.get() / 2));
        if xon > xoff && self.note_if_new(span, "xon") {
            self.context
                .error(span, format!("`xon` ({xon}) is above `xoff` ({xoff})"))
                .help("a link goes on when less waits than when it was paused");
        }
        let own_time = rate.serial_time().map_or(Duration::ZERO, |per_byte| per_byte.of(packet));
        Some(PauseSpec {
            back: LinkId(back as u32),
            arrangement: pause.arrangement,
            by_class: pause.by_class,
            buffer,
            xoff,
            xon,
            quanta: pause.quanta,
            reaction: hop.reaction,
            hop_round_trip: pause.hop_round_trip.unwrap_or(hop.latency() + hop.delay + own_time),
            intake: pause.intake,
        })
    }

    fn note_if_new(&mut self, span: Span, what: &'static str) -> bool {
        self.reported.insert((span.source, span.start, what))
    }

    /// The threshold and the whole room of a buffer.
    fn room(&mut self, pause: &Pause, headroom: Bytes, link: &Link, span: Span) -> (Bytes, Bytes) {
        let (xoff, buffer) = match (pause.xoff, pause.buffer) {
            (Some(xoff), Some(buffer)) => (xoff, buffer),
            (xoff, None) => {
                let xoff = xoff.unwrap_or(self.packet * USUAL_XOFF);
                (xoff, xoff.saturating_add(headroom))
            }
            (None, Some(buffer)) => (buffer.saturating_sub(headroom), buffer),
        };
        if xoff > buffer && self.note_if_new(span, "room") {
            self.context
                .error(span, format!("`xoff` ({xoff}) is above `buffer` ({buffer})"))
                .help("the link is paused before its buffer is full; leave out one of them, and it is worked out");
        }
        if buffer.saturating_sub(xoff) >= headroom {
            return (xoff, buffer);
        }
        if !self.note_if_new(span, "room") {
            return (xoff, buffer);
        }
        let name = &link.name;
        let least = format!("{headroom} may come after {name:?} is paused");
        if pause.xoff.is_none() {
            let room = self.packet.saturating_add(headroom);
            self.context
                .error(span, format!("a buffer of {buffer} is all headroom: {least}"))
                .help(format!("allowed: {room} or more; or set `xoff`, if packets may be dropped"));
        } else {
            self.context
                .warning(span, format!("packets may be dropped: {least}"))
                .help("leave out `xoff` or `buffer`, and it is worked out");
        }
        (xoff, buffer)
    }

    fn way_back(&mut self, link: &Link, span: Span) -> Option<usize> {
        let is_back = |other: &Link| other.from == link.to && other.to == link.from;
        let back = link.peer.or_else(|| self.net.links.iter().position(is_back));
        if back.is_none() && self.note_if_new(span, "back") {
            let (to, from) = (&self.net.nodes[link.to].name, &self.net.nodes[link.from].name);
            self.context
                .error(
                    span,
                    format!("no link leads back from {to:?} to {from:?} to carry pause frames"),
                )
                .help("make it a cable, with `between`");
        }
        back
    }

    /// Rate of a link that is paused, or that carries the frames that pause another.
    fn rate(&mut self, link: &Link, span: Span) -> Option<Rate> {
        let Properties { trace, medium, rate, .. } = &link.properties;
        let is_shared = self.net.is_half_duplex(link) || medium.is_some();
        let name = &link.name;
        let refused = trace.is_some() || is_shared;
        if refused && !self.note_if_new(span, "rate") {
            return None;
        }
        if trace.is_some() {
            let message = format!("{name:?} follows a trace, and a pause is counted in bit times");
            self.context.error(span, message).help("give the link a `rate`");
            return None;
        }
        if is_shared {
            let message =
                format!("{name:?} is half-duplex: no pause frame can reach it while it sends");
            self.context.error(span, message).help("802.3x and PFC are for full duplex");
            return None;
        }
        rate.map(|rate| rate.value)
    }

    /// Notes an error if the paused links of a node differ in their queue arrangement.
    fn agree(&mut self, node: usize, arrangement: Arrangement, id: usize, span: Span) {
        let (first, by) = *self.arrangements.entry(node).or_insert((arrangement, id));
        if first != arrangement && self.note_if_new(span, "mode") {
            let (name, node) = (&self.net.links[id].name, &self.net.nodes[node].name);
            let other = &self.net.links[by].name;
            self.context
                .error(
                    span,
                    format!("{name:?} and {other:?} set different queue modes at {node:?}"),
                )
                .help("a node has one `mode`, and with \"flows\" one number of `queues`");
        }
    }

    fn check_quanta(&mut self, pause: &Pause, hop: &PausedLink, link: &Link, span: Span) {
        let half = pause.quanta.time(hop.rate) / 2;
        let sending = hop.sending();
        if half <= sending && self.note_if_new(span, "quanta") {
            self.context
                .error(span, format!("a pause of {:?} may end before it is renewed", link.name))
                .help(format!(
                    "half of the pause, {half}, must exceed the {sending} that sending a frame may take"
                ));
        }
    }
}
