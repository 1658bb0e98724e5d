//! `[[change]]`: changes of rate, of delay, and of links' state.

use ratewire_net::spec::{Change, LinkId};
use ratewire_units::{Duration, Time};

use super::Net;
use crate::section::Section;

/// Reads all `[[change]]` tables.
pub(crate) fn read(
    root: &Section<'_>,
    net: &Net,
    duration: Duration,
) -> Vec<(Time, LinkId, Change)> {
    let mut changes = Vec::new();
    for section in root.sections("change", &["change"]) {
        let at = section.time("at");
        let links = section.text("link").map(|name| net.expect_links(section.context, name));
        let rate = section.rate("rate");
        let delay = section.time("delay");
        let up = section.switch("up");
        section.finish();
        let parts = [
            rate.map(|rate| Change::Rate(rate.value)),
            delay.map(|delay| Change::Delay(delay.value)),
            up.map(|up| Change::Up(up.value)),
        ];
        let given = ["rate", "delay", "up"].iter().any(|key| section.has(key));
        if !given {
            section
                .context
                .error(section.span, format!("{} changes nothing", section.title))
                .help("give it a `rate`, a `delay` or `up`");
        }
        let (Some(at), Some(links)) = (at, links) else { continue };
        if at.value >= duration {
            section
                .context
                .warning(at.span, format!("at {} the run has ended", at.value))
                .of_end()
                .help(format!("its duration is {duration}"));
        }
        for link in links {
            if let (Some(rate), Some(_)) = (rate, &net.links[link].properties.trace) {
                let name = &net.links[link].name;
                section
                    .context
                    .error(rate.span, format!("the rate of {name:?} comes from a trace"))
                    .help("a link with a trace changes its delay or goes down, not its rate");
            }
            for change in parts.iter().flatten() {
                changes.push((Time::ZERO + at.value, LinkId(link as u32), change.clone()));
            }
        }
    }
    changes
}
