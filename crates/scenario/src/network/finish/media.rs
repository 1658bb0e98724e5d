//! Half-duplex media that links share.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_net::spec::{MediumId, MediumSpec};

use crate::context::Context;
use crate::network::Net;

/// Half-duplex media of the links.
#[derive(Default)]
pub(super) struct Media {
    pub list: Vec<MediumSpec>,
    by_name: BTreeMap<String, MediumId>,
    stated: BTreeSet<MediumId>,
    /// Links of each medium.
    links: Vec<Vec<usize>>,
}

impl Media {
    /// The medium that a link is on, if there is one.
    pub fn of(&mut self, context: &Context<'_>, net: &Net, id: usize) -> Option<MediumId> {
        let link = &net.links[id];
        let properties = &link.properties;
        let name = match (&properties.medium, net.is_half_duplex(link)) {
            (Some(name), _) => name.clone(),
            (None, true) => net.links[link.peer.map_or(id, |peer| peer.min(id))].name.clone(),
            (None, false) => {
                // `duplex = "full"` overrides what is set for all links, so it needs no warning.
                if properties.half_duplex.is_none() && properties.contention.is_some() {
                    context
                        .warning(link.span, "`contention` means nothing here: there is no medium")
                        .help("duplex = \"half\" makes both directions of a link share one");
                }
                return None;
            }
        };
        let contention = properties.contention;
        let medium = *self.by_name.entry(name.clone()).or_insert_with(|| {
            self.list.push(MediumSpec { name, contention: net.usual.contention });
            self.links.push(Vec::new());
            MediumId(self.list.len() as u32 - 1)
        });
        self.links[medium.index()].push(id);
        if let Some(contention) = contention {
            let spec = &mut self.list[medium.index()];
            if !self.stated.insert(medium) && spec.contention != contention {
                context.error(
                    link.span,
                    format!("the links of the medium {:?} differ in `contention`", spec.name),
                );
            }
            spec.contention = contention;
        }
        Some(medium)
    }

    /// Warns of media with only one link: most often the other direction was meant to share it.
    pub fn warn_of_lone_links(&self, context: &Context<'_>, net: &Net) {
        for links in &self.links {
            let [lone] = links[..] else { continue };
            let link = &net.links[lone];
            let warning = match &link.properties.medium {
                Some(name) => format!("only {:?} is on the medium {name:?}", link.name),
                None => format!("{:?} has no other direction to share a medium with", link.name),
            };
            context.warning(link.span, warning).help(
                "name the `medium` for the others too; of a cable, made with `between`, both directions share one",
            );
        }
    }
}
