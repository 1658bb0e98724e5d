//! Why a flow sends at the rate it does: a followed packet's way, in words and figures.

use std::fmt::Write;

use ratewire_laws::{AnyLaw, Figure, Header, Reason};
use ratewire_net::Hop;
use ratewire_sim::record::{Fate, Followed};
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use crate::Labels;

/// The whole way, hop by hop, for a terminal.
pub fn explain(followed: &Followed, setup: &Setup, labels: &Labels) -> String {
    let flow = &setup.flows[followed.flow.0 as usize];
    let law = &setup.laws[flow.law];
    let title = labels.law_name(setup, flow.law);
    let mut text = format!("Why {} sends as it does under {title}\n", flow.name);
    let _ = write!(text, "\n{}  data packet of {} sent", at(followed.sent), followed.size);
    if let Some(first) = followed.trail.there.first() {
        text += &carrying(law, &first.came_with);
    }
    text.push('\n');
    let bound = followed.bound();
    for (i, hop) in followed.trail.there.iter().enumerate() {
        tell_hop(&mut text, setup, law, hop, bound == Some(i));
    }
    for hop in followed.trail.back.iter().filter(|hop| hop.changed_it()) {
        text += "   the acknowledgement was changed on its way back:\n";
        tell_hop(&mut text, setup, law, hop, false);
    }
    match &followed.fate {
        Fate::Acknowledged(time, header) => {
            let _ = write!(text, "{}  acknowledged", at(*time));
            text += &carrying(law, header);
        }
        Fate::AcknowledgedLater => text += "   arrived; acknowledged together with a later packet",
        Fate::Missing => text += "   not acknowledged: dropped, lost, or the run ended first",
    }
    let _ = write!(
        text,
        "\n   sender: {}\n           {}",
        followed.reason.equation,
        figures(&followed.reason)
    );
    let _ = write!(text, "\n           window {}", followed.window);
    if let Some(pace) = followed.pacing {
        let _ = write!(text, ", {}", Figure::rate("pace", pace.get()));
    }
    let _ = write!(text, "\n\nBound by: {}\n", bound_by(followed, setup));
    text
}

/// What bound the rate, in one line.
pub(crate) fn bound_by(followed: &Followed, setup: &Setup) -> String {
    match followed.bound().map(|i| &followed.trail.there[i]) {
        Some(hop) => {
            let name = link(setup, hop);
            match &hop.reason {
                Some(reason) => format!("{name}: {} [{}]", reason.equation, figures(reason)),
                None => format!("{name}, which marked the packet"),
            }
        }
        None => format!(
            "no port on the way; the sender: {} [{}]",
            followed.reason.equation,
            figures(&followed.reason)
        ),
    }
}

fn tell_hop(text: &mut String, setup: &Setup, law: &AnyLaw, hop: &Hop, binds: bool) {
    let name = link(setup, hop);
    let waited = hop.left.map(|left| left.since(hop.arrived));
    let _ = write!(text, "{}  {name}: {} packets waiting", at(hop.arrived), hop.queue.packets);
    match waited {
        Some(waited) => {
            let _ = write!(text, ", left after {waited}");
        }
        None => *text += ", never left",
    }
    text.push('\n');
    if hop.came_marked != hop.left_marked {
        *text += "     marked\n";
    }
    for (before, after) in law.fields(&hop.came_with).iter().zip(law.fields(&hop.left_with)) {
        if before.value != after.value {
            let _ = writeln!(
                text,
                "     {before} became {after}{}",
                if binds { "   <- binds" } else { "" }
            );
        }
    }
    if let Some(reason) = hop.reason.as_ref().filter(|_| hop.changed_it() || binds) {
        let _ = writeln!(text, "     port: {}\n           {}", reason.equation, figures(reason));
    }
}

fn link<'a>(setup: &'a Setup, hop: &Hop) -> &'a str {
    &setup.network.links[hop.link.index()].name
}

fn carrying(law: &AnyLaw, header: &Header) -> String {
    let fields: Vec<String> = law.fields(header).iter().map(Figure::to_string).collect();
    if fields.is_empty() { String::new() } else { format!(", carrying {}", fields.join(", ")) }
}

fn figures(reason: &Reason) -> String {
    let all: Vec<String> = reason.figures.iter().map(Figure::to_string).collect();
    all.join(", ")
}

fn at(time: Time) -> String {
    format!("{:>12.6} s", time.secs())
}
