//! Explains a flow's rate by the route of a followed packet, in words and figures.

use std::fmt::Write;

use ratewire_laws::{AnyLaw, Bound, Figure, Header, Reason};
use ratewire_net::{DropReason, Hop};
use ratewire_report::Answer;
use ratewire_sim::record::{Followed, FollowedFate};
use ratewire_sim::setup::Setup;
use ratewire_transport::KeptBy;
use ratewire_units::{Bytes, Duration, Time};

use super::Labels;

/// The whole route, hop by hop, for a terminal.
pub fn explain(followed: &Followed, setup: &Setup, labels: &Labels) -> String {
    let flow = &setup.flows[followed.flow.0 as usize];
    let law = &setup.laws[flow.law];
    let title = labels.law_name(setup, flow.law);
    let mut text =
        format!("Why {} sends as it does under {title}, seed {}\n", flow.name, setup.seed);
    if let Some(asked) = silent_from(followed, setup) {
        let [from, to, start] = [asked, followed.sent, flow.start].map(|at| at.since(Time::ZERO));
        let before = if flow.start > asked {
            format!("starts at {start}")
        } else {
            format!("sent nothing between {from} and {to}, probes aside")
        };
        let _ = writeln!(text, "\n{} {before}; this is the packet sent at {to}", flow.name);
    }
    let _ = write!(text, "\n{}  data packet of {} sent", at(followed.sent), followed.size);
    if let Some(first) = followed.trail.there.first() {
        text += &carrying(law, &first.came_with);
    }
    text.push('\n');
    let bound = followed.bound();
    let mut flow = followed.flow.0;
    for (i, hop) in followed.trail.there.iter().enumerate() {
        if hop.flow != flow {
            flow = hop.flow;
            let _ =
                writeln!(text, "   its switch sends it on in {}", setup.flows[flow as usize].name);
        }
        let size = Some(followed.size);
        write_hop(&mut text, setup, law, hop, size, bound == Some(i));
    }
    for hop in followed.trail.back.iter().filter(|hop| hop.changed_it()) {
        text += "   the acknowledgement was changed on its path back:\n";
        write_hop(&mut text, setup, law, hop, None, false);
    }
    match &followed.fate {
        FollowedFate::Acknowledged(time, header) => {
            let _ = write!(text, "{}  acknowledged", at(*time));
            text += &carrying(law, header);
        }
        FollowedFate::AcknowledgedLater => {
            text += "   arrived; acknowledged together with a later packet"
        }
        FollowedFate::Lost => {
            text += &match lost(followed, setup) {
                Some((Some(DropReason::Lost) | None, _)) => "   lost on the wire".to_string(),
                Some((Some(reason), _)) => format!("   dropped there: {reason}"),
                None => "   its acknowledgement was dropped or lost".to_string(),
            };
        }
        FollowedFate::Underway => text += "   still on its way when the run ended",
    }
    let reason = &followed.reason;
    let _ = write!(text, "\n   sender: {}\n           {}", reason.equation, figures(reason));
    text += &match followed.window {
        Bytes::MAX => "\n           no window".to_string(),
        window => format!("\n           window {window} of payload"),
    };
    if let Some(pace) = followed.pacing {
        let _ = write!(text, ", {}", Figure::rate("pace", pace.get()));
    }
    let (by, reason) = bound_by(followed, setup, law);
    let _ = write!(text, "\n\nBound by {by}\n   {}\n   {}\n", reason.equation, figures(&reason));
    text
}

/// The time asked about, if the flow sent no packet to follow within a round trip after it.
fn silent_from(followed: &Followed, setup: &Setup) -> Option<Time> {
    let (_, at) = setup.follow.asked.filter(|_| followed.asked)?;
    (followed.sent.since(at) > followed.srtt).then_some(at)
}

/// What limited the rate, for the page.
pub(crate) fn answer(followed: &Followed, setup: &Setup) -> Answer {
    let law = &setup.laws[setup.flows[followed.flow.0 as usize].law];
    let (by, reason) = bound_by(followed, setup, law);
    Answer {
        flow: followed.flow.0,
        sent: followed.sent,
        by,
        equation: reason.equation.to_string(),
        figures: reason.figures.iter().map(Figure::to_string).collect(),
    }
}

/// What limited the rate, and the equation that applies.
fn bound_by(followed: &Followed, setup: &Setup, law: &AnyLaw) -> (String, Reason) {
    let own = &followed.reason;
    let hops = &followed.trail.there;
    let by_queues = followed.blocked || own.bound == Bound::Queues;
    let by = match (followed.kept_by, followed.bound().map(|i| &hops[i])) {
        (_, Some(hop)) if by_queues => return by_queue(hop, own, setup),
        (KeptBy::Application, _) => "the application, which has written no more".into(),
        (KeptBy::Receiver, _) => "the receiver's window, which is full".into(),
        (KeptBy::Host, _) => "its own host, whose queue holds enough of the flow".into(),
        (KeptBy::Law, Some(hop)) => match &hop.reason {
            // The port only reports a value; the sender compares the values of all ports.
            Some(_) if matches!(own.bound, Bound::Hop(_)) => link(setup, hop).into(),
            Some(reason) => {
                let size = Some(followed.size);
                return (link(setup, hop).into(), of_packet(reason, law, hop, size));
            }
            None => format!("{}, which marked the packet", link(setup, hop)),
        },
        (KeptBy::Law, None) => match lost(followed, setup) {
            Some((Some(DropReason::Lost) | None, link)) => {
                format!("no port: the packet was lost on the wire of {link}")
            }
            Some((Some(reason), link)) => format!("{link}, which dropped the packet ({reason})"),
            None if own.bound == Bound::Source => "no port: the sender holds itself back".into(),
            None if hops.iter().all(|hop| hop.reason.is_none()) => "no port on the path".into(),
            None => "no port: none held this packet back".into(),
        },
    };
    (by, own.clone())
}

/// A port's equation with the fields of the packet as it left; an acknowledgement's size is
/// unknown.
fn of_packet(reason: &Reason, law: &AnyLaw, hop: &Hop, size: Option<Bytes>) -> Reason {
    let size = size.map(|size| Figure::bytes("size", size.as_f64()));
    reason.clone().with(law.fields(&hop.left_with).into_iter().chain(size))
}

/// Explains a sender that only queues slow down: by the link in whose queue its packet was held.
fn by_queue(hop: &Hop, own: &Reason, setup: &Setup) -> (String, Reason) {
    let waited = hop.waited().map_or(f64::INFINITY, Duration::secs);
    let waited = Figure::seconds("waited", waited);
    match hop.held {
        Some(held) => {
            let by = format!(
                "pause of {}, told by the buffer of {}",
                link(setup, hop),
                far_end(setup, hop)
            );
            let figures = [
                Figure::seconds("paused", held.paused.secs()),
                waited,
                Figure::bytes("xoff", held.xoff.as_f64()),
                Figure::bytes("buffered as it left", held.buffered.as_f64()),
            ];
            (by, Reason::new("paused when the buffer at its far end holds more than xoff", figures))
        }
        None if hop.waited() == Some(Duration::ZERO) => {
            (format!("{}, which is the sender's own: nothing waits", link(setup, hop)), own.clone())
        }
        None => {
            let by = format!("the queue of {}", link(setup, hop));
            let figures = [waited, Figure::one("packets before it", f64::from(hop.queue.packets))];
            (by, Reason::new("nothing is paused: it waits for those before it", figures))
        }
    }
}

fn far_end<'a>(setup: &'a Setup, hop: &Hop) -> &'a str {
    let to = setup.network.links[hop.link.index()].to;
    &setup.network.nodes[to.index()].name
}

/// The link on which the packet was lost on its way to the receiver, and why.
fn lost<'a>(followed: &Followed, setup: &'a Setup) -> Option<(Option<DropReason>, &'a str)> {
    let lost = followed.fate == FollowedFate::Lost && followed.trail.back.is_empty();
    let last = followed.trail.there.last().filter(|_| lost)?;
    Some((last.dropped, link(setup, last)))
}

fn write_hop(
    text: &mut String,
    setup: &Setup,
    law: &AnyLaw,
    hop: &Hop,
    size: Option<Bytes>,
    binds: bool,
) {
    let name = link(setup, hop);
    let waited = hop.waited();
    let packets = if hop.queue.packets == 1 { "packet" } else { "packets" };
    let _ = write!(text, "{}  {name}: {} {packets} waiting", at(hop.arrived), hop.queue.packets);
    match waited {
        Some(waited) => {
            let _ = write!(text, ", left after {waited}");
        }
        None => *text += ", never left",
    }
    *text += if binds { "   <- binds\n" } else { "\n" };
    if let Some(held) = hop.held {
        let (paused, xoff) = (held.paused, held.xoff);
        let node = far_end(setup, hop);
        let _ = writeln!(
            text,
            "     paused for {paused} of that: the buffer of {node} held more than {xoff}"
        );
    }
    if !hop.shaped.is_zero() {
        let _ = writeln!(text, "     waited {} more for the tokens of the shaper", hop.shaped);
    }
    if !hop.late.is_zero() {
        let _ = writeln!(text, "     took {} more on the link (jitter)", hop.late);
    }
    if !hop.overtaken.is_zero() {
        let _ =
            writeln!(text, "     came {} late, so others may overtake it (reorder)", hop.overtaken);
    }
    if hop.copied {
        *text += "     arrived twice (duplicate)\n";
    }
    if hop.came_marked != hop.left_marked {
        *text += "     marked\n";
    }
    let (before, after) = (law.fields(&hop.came_with), law.fields(&hop.left_with));
    let (changed, added) = changes(&before, &after);
    for (before, after) in changed {
        let (old, new) = (before.amount(), after.amount());
        let _ = writeln!(text, "     {}: {old} -> {new}", before.name);
    }
    if !added.is_empty() {
        let added: Vec<String> = added.into_iter().map(Figure::to_string).collect();
        let _ = writeln!(text, "     added {}", added.join(", "));
    }
    if hop.left_with == Header::None && hop.came_with != Header::None {
        *text += "     header taken off\n";
    }
    if let Some(reason) = hop.reason.as_ref().filter(|_| hop.changed_it() || binds) {
        let reason = of_packet(reason, law, hop, size);
        let _ = writeln!(text, "     port: {}\n           {}", reason.equation, figures(&reason));
    }
}

/// Header fields whose values changed at a hop, and fields that were added. Fields are matched by
/// name; several of one name are matched by position among them.
fn changes<'a>(
    before: &'a [Figure],
    after: &'a [Figure],
) -> (Vec<(&'a Figure, &'a Figure)>, Vec<&'a Figure>) {
    let (mut changed, mut added) = (Vec::new(), Vec::new());
    for (at, new) in after.iter().enumerate() {
        let place = after[..at].iter().filter(|other| other.name == new.name).count();
        match before.iter().filter(|old| old.name == new.name).nth(place) {
            Some(old) if old.value != new.value => changed.push((old, new)),
            Some(_) => {}
            None => added.push(new),
        }
    }
    (changed, added)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_held_against_those_of_their_name() {
        let one = Figure::one;
        let before = [one("rate", 5.0), one("proposed", 3.0), one("B", 1.0)];
        let after = [
            one("rate", 5.0),
            one("fair", 7.0),
            one("proposed", 4.0),
            one("B", 1.0),
            one("B", 2.0),
        ];
        let (changed, added) = changes(&before, &after);
        assert_eq!(changed, [(&before[1], &after[2])]);
        assert_eq!(added, [&after[1], &after[4]]);
    }
}
