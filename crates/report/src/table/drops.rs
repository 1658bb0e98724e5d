//! Why links dropped packets.

use ratewire_table::{clip, wrap};

use super::TableOptions;
use crate::LinkSummary;
use crate::figure::count;

/// Links that are named.
const LINKS: usize = 4;
/// Characters of a name.
const NAME: usize = 40;

/// The reasons of drops, of the links that dropped packets for others than a full queue; empty if
/// none did.
pub(super) fn reasons(links: &[&LinkSummary], options: &TableOptions) -> String {
    let is_told = |link: &&&LinkSummary| link.drops.keys().any(|why| why != "queue full");
    let of = |link: &&LinkSummary| {
        let drops = link.drops.iter().map(|(why, n)| format!("{} {why}", count(*n)));
        format!("{} {}", clip(&link.name, NAME), drops.collect::<Vec<_>>().join(", "))
    };
    let mut told: Vec<String> = links.iter().filter(is_told).map(of).collect();
    if told.is_empty() {
        return String::new();
    }
    if told.len() > LINKS {
        let more = told.len() - LINKS;
        told.truncate(LINKS);
        told.push(format!("and of {more} more"));
    }
    wrap(&format!("Drops by reason: {}", told.join("; ")), 2, options.text_width())
}
