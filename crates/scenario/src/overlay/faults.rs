//! `[[fault]]`: crashes of an overlay's nodes, and cuts of its links.

use std::collections::BTreeSet;

use ratewire_overlay::OverlayNodeId;
use ratewire_sim::overlay::spec::{FaultKind, OverlayFault};
use ratewire_units::{Duration, Time};

use super::{OverlayReader, two_texts};
use crate::document::At;
use crate::section::Section;

impl OverlayReader<'_, '_> {
    /// Reads all `[[fault]]` tables, in order of time.
    pub(super) fn faults(&mut self, sections: &[Section<'_>]) {
        let mut faults = Vec::new();
        for section in sections {
            faults.extend(self.fault(section));
            section.finish();
        }
        faults.sort_by_key(|(at, ..)| at.value);
        let mut state = State::default();
        for (at, kind, section) in faults {
            if let Err(why) = state.apply(kind) {
                section
                    .context
                    .error(at.span, format!("at {} {why}", at.value))
                    .help("a crash and a restart, and a cut and a heal, come in turn");
            }
            self.spec.faults.push(OverlayFault { at: Time::ZERO + at.value, kind });
        }
    }

    fn fault<'s, 'a>(
        &self,
        section: &'s Section<'a>,
    ) -> Option<(At<Duration>, FaultKind, &'s Section<'a>)> {
        let context = section.context;
        let at = section.time("at");
        let kind = section.word("kind");
        if let Some(at) = at
            && at.value >= self.senders.duration
        {
            context
                .warning(at.span, format!("at {} the run has ended", at.value))
                .of_end()
                .help(format!("its duration is {}", self.senders.duration));
        }
        let Some(word) = kind.map(|kind| kind.value) else {
            // The error is about the kind.
            for key in ["node", "link"] {
                section.get(key);
            }
            return None;
        };
        let is_of_node = matches!(word, "crash" | "restart");
        let (wanted, other) = if is_of_node { ("node", "link") } else { ("link", "node") };
        if let Some(entry) = section.get(other) {
            context
                .error(entry.key_span, format!("`{other}` means nothing to a {word}"))
                .help(format!("a {word} is of a {wanted}"));
        }
        if !section.has(wanted) {
            section.missing(wanted);
            return None;
        }
        let kind = match word {
            "crash" => FaultKind::Crash(self.failing(section)?),
            "restart" => FaultKind::Restart(self.failing(section)?),
            "cut" => self.joined(section).map(|(a, b)| FaultKind::Cut(a, b))?,
            _ => self.joined(section).map(|(a, b)| FaultKind::Heal(a, b))?,
        };
        Some((at?, kind, section))
    }

    fn failing(&self, section: &Section<'_>) -> Option<OverlayNodeId> {
        self.node(section, section.text("node")?)
    }

    /// The overlay's node with this name; notes an error if there is none.
    fn node(&self, section: &Section<'_>, name: At<&str>) -> Option<OverlayNodeId> {
        let names = || {
            let hosts = self.spec.nodes.iter();
            hosts.map(|host| self.senders.net.nodes[host.index()].name.as_str())
        };
        let found = names().position(|known| known == name.value);
        if found.is_none() && !self.is_guess {
            let message = format!("no node of the overlay is called {:?}", name.value);
            section.context.unknown(name.span, message, name.value, names());
        }
        found.map(|place| OverlayNodeId(place as u8))
    }

    /// The two nodes of a link of the overlay.
    fn joined(&self, section: &Section<'_>) -> Option<(OverlayNodeId, OverlayNodeId)> {
        let item = section.item("link")?;
        let Some([a, b]) = two_texts(item) else {
            section.refuse("link", item);
            return None;
        };
        let (from, to) = (self.node(section, a)?, self.node(section, b)?);
        let is_link = self.spec.links.iter().any(|link| (link.from, link.to) == (from, to));
        if !is_link && !self.is_guess {
            section
                .context
                .error(
                    item.span,
                    format!("no link of the overlay joins {:?} and {:?}", a.value, b.value),
                )
                .help("links of the overlay join nodes along cables, or as its `links` lists them");
        }
        is_link.then_some((from, to))
    }
}

/// Crashed nodes and cut links, while faults are read in order of time.
#[derive(Default)]
struct State {
    crashed: BTreeSet<OverlayNodeId>,
    cut: BTreeSet<(OverlayNodeId, OverlayNodeId)>,
}

impl State {
    /// Applies a fault. Returns why that is impossible, if it is.
    fn apply(&mut self, kind: FaultKind) -> Result<(), &'static str> {
        let ordered = |a: OverlayNodeId, b: OverlayNodeId| (a.min(b), a.max(b));
        let (is_new, why) = match kind {
            FaultKind::Crash(node) => (self.crashed.insert(node), "the node has crashed already"),
            FaultKind::Restart(node) => (self.crashed.remove(&node), "the node has not crashed"),
            FaultKind::Cut(a, b) => (self.cut.insert(ordered(a, b)), "the link is cut already"),
            FaultKind::Heal(a, b) => (self.cut.remove(&ordered(a, b)), "the link is not cut"),
        };
        if is_new { Ok(()) } else { Err(why) }
    }
}
