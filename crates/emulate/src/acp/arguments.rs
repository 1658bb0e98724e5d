//! Arguments of the command that runs an end of a connection.

use std::net::Ipv4Addr;

use ratewire_laws::AnyLaw;
use ratewire_laws::kernel::option_form::{FIXED, OptionForm};
use ratewire_sim::setup::{FlowSpec, MemberEvent, RoutingSpec, Setup};
use ratewire_transport::{Reader, Writer};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::plan::{End, HostEnd, KEY, Plan};

/// Longest packet that ends of ACP try, with headers of IP and UDP.
const LONGEST_PACKET: u64 = 1452 + 28;
/// Bytes of a packet beside its frame and its congestion header, at most: IP and UDP 28, clear part
/// 16, seal 16, fields of a data part 27, number of the frame 1.
const AROUND: u64 = 28 + 16 + 16 + 27 + 1;
/// Largest receive buffer: memory is taken as data come.
const LARGEST_BUFFER: Bytes = Bytes::new(256 << 20);
/// Frames whose keys differ; later ones have them again.
const KEYS: u64 = 1 << 16;

/// Payload of a flow's frames. A frame of one packet has a packet of ACP.
pub(super) fn frame(setup: &Setup, flow: &FlowSpec) -> Bytes {
    let law = &setup.laws[flow.law];
    let header = OptionForm::of(law).map_or_else(|| own_header(law), |form| form.one_way as u64);
    let fits = flow.transport.packet.get().min(LONGEST_PACKET).saturating_sub(AROUND + header);
    flow.app.frame.unwrap_or(Bytes::new(fits.max(1)))
}

fn own_header(law: &AnyLaw) -> u64 {
    FIXED as u64 + law.header_len().get().next_multiple_of(4)
}

/// First bytes of the frames that an end writes, in turn: keys, if the switch reads them.
pub(super) fn contents(setup: &Setup, plan: &Plan, end: &HostEnd) -> Vec<u8> {
    let End::Switch(switch) = plan.edges[end.edge].far else { return Vec::new() };
    let junction = &setup.ensembles.junctions[switch];
    match junction.routing {
        RoutingSpec::KeyHash { .. } | RoutingSpec::Prefix(_) if end.connects => {
            junction.keys.first_bytes(switch as u64, setup.seed, KEYS).concat()
        }
        _ => Vec::new(),
    }
}

/// Arguments of `ratewire-switch` for an end. `at` is where its connection leads to, or where it
/// waits.
pub(super) fn arguments(
    setup: &Setup,
    plan: &Plan,
    end: &HostEnd,
    at: Ipv4Addr,
    (record, contents): (&str, Option<&str>),
) -> Vec<String> {
    let mut all = vec!["endpoint".to_string()];
    let mut add = |key: &str, value: String| all.extend([format!("--{key}"), value]);
    let address = format!("{at}:{}", plan.port(end.edge).unwrap_or_default());
    add(if end.connects { "connect" } else { "listen" }, address);
    add("key", KEY.to_string());
    add("record", record.to_string());
    let read = end.reads.map(|n| &setup.flows[n]);
    let written = end.writes.map(|n| (n, &setup.flows[n]));
    let Some(some) = read.or(written.map(|(_, flow)| flow)) else { return all };
    add("law", law_argument(setup, some));
    add("start", time(some.start.since(Time::ZERO)));
    let links = setup.network.links.iter().filter(|link| link.from == end.node);
    let line = links.map(|link| link.service.mean_rate()).max().unwrap_or(Rate::ZERO);
    add("line-rate", format!("{} bit/s", line.bps()));
    add("delayed-ack", time(some.transport.delayed_ack.unwrap_or(Duration::ZERO)));
    add("frame", format!("{} B", frame(setup, some).get()));
    if let Some(flow) = read {
        let buffer = flow.transport.receive_window.buffer().min(LARGEST_BUFFER);
        add("receive-buffer", format!("{} B", buffer.get()));
        match flow.app.reader {
            Reader::Immediate | Reader::Asked => {}
            Reader::Slow(per_frame) => add("per-frame", time(per_frame)),
            Reader::Alternating { per_frame: [first, then], every } => {
                add("per-frame", time(first));
                add("then-per-frame", time(then));
                add("every", time(every));
            }
        }
    }
    let Some((n, flow)) = written else { return all };
    match flow.app.writer {
        Writer::Sized(size) => add("size", format!("{} B", size.get())),
        Writer::Constant { rate } => add("rate", format!("{} bit/s", rate.bps())),
        Writer::Unlimited | Writer::OnOff { .. } | Writer::Phases(_) | Writer::Fed => {}
    }
    if let Some(stop) = flow.stop {
        add("stop", time(stop.since(Time::ZERO)));
    }
    for (from, to) in idle(setup, n as u32) {
        add("idle", format!("{} .. {}", time(from.since(Time::ZERO)), time(to.since(Time::ZERO))));
    }
    if let Some(contents) = contents {
        add("contents", contents.to_string());
    }
    all.push("--write".to_string());
    all
}

/// A flow's law, as commands and configurations take it.
pub(super) fn law_argument(setup: &Setup, flow: &FlowSpec) -> String {
    let name = setup.laws[flow.law].info().name;
    // Real packets carry some laws only in the kernel's form, which has no options.
    let told = setup.told_laws.get(flow.law).filter(|told| told.name == name);
    let options = told.into_iter().flat_map(|told| &told.options);
    let words = options.map(|(option, value)| format!(",{option}={}", without_blanks(value)));
    name.to_string() + &words.collect::<String>()
}

/// A value as one word.
fn without_blanks(value: &str) -> String {
    value.chars().filter(|c| !c.is_whitespace()).collect()
}

fn time(time: Duration) -> String {
    format!("{} ns", time.ps().div_ceil(1000))
}

/// Times at which a flow's application writes nothing.
fn idle(setup: &Setup, flow: u32) -> Vec<(Time, Time)> {
    let of = |event: MemberEvent| {
        let events = setup.ensembles.events.iter().filter(move |(_, other)| *other == event);
        let mut times: Vec<Time> = events.map(|(at, _)| *at).collect();
        times.sort();
        times
    };
    let (holds, resumes) = (of(MemberEvent::Hold(flow)), of(MemberEvent::Resume(flow)));
    holds.into_iter().zip(resumes).collect()
}

#[cfg(test)]
mod tests {
    use ratewire_sim::setup::ToldLaw;

    use super::super::tests::setup;
    use super::*;

    #[test]
    fn ends_get_what_the_scenario_says() {
        let mut setup = setup();
        let plan = Plan::of(&setup);
        let mut told = ToldLaw::new("xcp");
        told.options.push(("flow_control".to_string(), " soft".to_string()));
        setup.told_laws = vec![told];
        setup.flows[1].app.reader = Reader::Slow(Duration::from_millis(1));
        let at = Ipv4Addr::new(10, 0, 0, 9);
        let line =
            |end: usize| arguments(&setup, &plan, &plan.hosts[end], at, ("/tmp/r", None)).join(" ");
        let peer = line(0);
        assert!(peer.starts_with("endpoint --connect 10.0.0.9:10000 --key "), "{peer}");
        assert!(peer.contains("--law xcp,flow_control=soft "), "{peer}");
        assert!(peer.ends_with("--write"), "{peer}");
        let member = line(1);
        assert!(member.contains("--listen 10.0.0.9:10001 "), "{member}");
        assert!(
            member.ends_with("--receive-buffer 268435456 B --per-frame 1000000 ns"),
            "{member}"
        );
        // 1000 bytes less 88 around, and 16 of XCP's header.
        assert!(member.contains("--frame 896 B"), "{member}");
    }

    #[test]
    fn a_flow_is_idle_from_a_hold_to_a_resumption() {
        let mut setup = setup();
        let secs = Time::from_secs;
        setup.ensembles.events = vec![
            (secs(8), MemberEvent::Resume(0)),
            (secs(5), MemberEvent::Hold(0)),
            (secs(6), MemberEvent::Hold(1)),
        ];
        assert_eq!(idle(&setup, 0), [(secs(5), secs(8))]);
        assert!(idle(&setup, 1).is_empty());
    }
}
