//! Properties of links whose tables do not give them.

use ratewire_net::spec::{AnyDiscipline, Bursts, Contention, Loss, PoliceSpec, Reorder, Sockets};
use ratewire_units::Bytes;

use super::properties::pause::{self, Pause};
use super::properties::queue::{self, Queue};
use super::properties::varying::UsualVariation;

use super::{Link, Net, properties};
use crate::context::Context;
use crate::section::Section;

/// The defaults of properties.
#[derive(Debug)]
pub(crate) struct Usual {
    pub overhead: Bytes,
    pub queue: Queue,
    pub discipline: AnyDiscipline,
    pub loss: Loss,
    pub half_duplex: bool,
    pub contention: Contention,
    pub reorder: Option<Reorder>,
    pub police: Option<PoliceSpec>,
    pub pause: Option<Pause>,
    pub sockets: Sockets,
    pub bursts: Option<Bursts>,
    pub variation: UsualVariation,
}

impl Usual {
    /// Takes the defaults from the table of keys; `packet` is the unit of sizes in packets.
    pub fn read(context: &Context<'_>, packet: Bytes) -> Usual {
        let s = Section::empty(context, &["properties"]);
        Usual {
            overhead: s.bytes_or("overhead"),
            queue: s.or_default("queue", |entry| queue::queue(&s, &entry.item, packet)),
            discipline: s
                .or_default("discipline", |entry| queue::discipline(&s, &entry.item, packet)),
            loss: s.or_default("loss", |entry| properties::loss(&s, &entry.item)),
            half_duplex: s.word_or("duplex") == "half",
            contention: properties::contention(s.word_or("contention")),
            reorder: s.or_default("reorder", |entry| properties::reorder(&s, entry)),
            police: s.or_default("police", |entry| properties::police(&s, entry)),
            pause: s.or_default("pause", |entry| pause::pause(&s, entry, packet)),
            sockets: pause::sockets(s.word_or("sockets")),
            bursts: s.or_default("bursts", |entry| pause::bursts(&s, entry)),
            variation: UsualVariation::read(&s, packet),
        }
    }
}

impl Net {
    /// Link-layer bytes added to each packet.
    pub fn overhead(&self, link: &Link) -> Bytes {
        link.properties.overhead.unwrap_or(self.usual.overhead)
    }

    /// Whether both directions of a link share one medium.
    pub fn is_half_duplex(&self, link: &Link) -> bool {
        link.properties.half_duplex.unwrap_or(self.usual.half_duplex)
    }

    /// The other direction of a half-duplex cable; `None` of a link that is none, or that is on a
    /// named medium with others.
    pub fn other_half(&self, id: usize) -> Option<usize> {
        let is_half = |id: usize| {
            let link = &self.links[id];
            self.is_half_duplex(link) && link.properties.medium.is_none()
        };
        self.links[id].peer.filter(|peer| is_half(id) && is_half(*peer))
    }

    /// The policer of a link, if there is one.
    pub fn police(&self, link: &Link) -> Option<PoliceSpec> {
        link.properties.police.unwrap_or(self.usual.police)
    }

    /// How the far end pauses a link, if it does.
    pub fn pause(&self, link: &Link) -> Option<Pause> {
        link.properties.wishes.pause.map_or(self.usual.pause, |at| at.value)
    }
}
