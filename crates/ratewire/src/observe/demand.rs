//! What applications ask of links, whatever law they run.

use ratewire_laws::AnyLaw;
use ratewire_net::spec::LinkId;
use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_transport::{Phase, TransportConfig, Writer};
use ratewire_units::{Bytes, Time};

use super::estimate::overlap;

/// What a flow asks of the links on its path while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Demand {
    /// All the rate that it gets.
    All,
    /// Up to a rate, in bits per second with headers.
    UpTo(f64),
    /// So many bits, with headers, evenly up to the end of the run: when it completes is for the
    /// law to say.
    Amount(f64),
}

/// Bits on the wire of so much payload, which is written in frames of this size, or at once.
pub(super) fn on_wire(
    config: &TransportConfig,
    law: &AnyLaw,
    payload: f64,
    frame: Option<Bytes>,
) -> f64 {
    let headers = config.headers + law.header_len();
    let packet = config.packet.saturating_sub(headers).as_f64().max(1.0);
    // A mean size is no whole number of packets.
    let packets = match frame {
        Some(frame) => payload / frame.as_f64().max(1.0) * libm::ceil(frame.as_f64() / packet),
        None => (payload / packet).max(1.0),
    };
    (payload + packets * headers.as_f64()) * 8.0
}

/// What a flow asks in a part of the run.
pub(super) fn demand(
    setup: &Setup,
    flow: &FlowSpec,
    path: &[LinkId],
    part: (Time, Time),
) -> Demand {
    let span = (flow.start, flow.stop.unwrap_or(Time::NEVER));
    of_writer(setup, flow, &flow.app.writer, path, span, part)
}

fn of_writer(
    setup: &Setup,
    flow: &FlowSpec,
    writer: &Writer,
    path: &[LinkId],
    span: (Time, Time),
    part: (Time, Time),
) -> Demand {
    let wire = |payload, frame| on_wire(&flow.transport, &setup.laws[flow.law], payload, frame);
    match writer {
        Writer::Unlimited | Writer::Fed => Demand::All,
        Writer::Sized(size) => Demand::Amount(wire(size.as_f64(), None)),
        Writer::Constant { rate } => Demand::UpTo(wire(rate.bps() as f64 / 8.0, flow.app.frame)),
        Writer::OnOff { burst, pause, .. } => {
            // What it would have if the path were its own.
            let links = path.iter().map(|link| &setup.network.links[link.index()]);
            let slowest = links.map(|link| link.lasting_rate()).min();
            let bits = wire(burst.mean.as_f64(), flow.app.frame);
            let sends = slowest.map_or(0.0, |rate| bits / (rate.bps() as f64).max(1.0));
            Demand::UpTo(bits / (pause.mean.secs() + sends).max(1e-12))
        }
        Writer::Phases(phases) => of_phases(setup, flow, phases, path, span, part),
    }
}

/// The mean over the phases of a part of the run; all, if one of them takes all that it gets.
fn of_phases(
    setup: &Setup,
    flow: &FlowSpec,
    phases: &[Phase],
    path: &[LinkId],
    (start, stop): (Time, Time),
    part: (Time, Time),
) -> Demand {
    let mut begins = start;
    let mut bits = 0.0;
    for phase in phases {
        let ends = (begins + phase.lasts).min(stop);
        let span = (std::mem::replace(&mut begins, ends), ends);
        let runs = overlap(span.0, span.1, part).secs();
        if runs > 0.0 {
            match of_writer(setup, flow, &phase.writer, path, span, part) {
                Demand::All => return Demand::All,
                Demand::UpTo(rate) => bits += rate * runs,
                Demand::Amount(amount) => {
                    let end = ends.min(Time::ZERO + setup.duration);
                    bits += amount * runs / end.since(span.0).secs().max(runs);
                }
            }
        }
    }
    let runs = overlap(start, stop, part).secs();
    Demand::UpTo(bits / runs.max(1e-12))
}

#[cfg(test)]
mod tests {
    use ratewire_sim::dumbbell::Dumbbell;
    use ratewire_transport::PauseAfter;
    use ratewire_units::{Duration, Rate};

    use super::*;

    fn asked(writer: Writer, part: (u64, u64)) -> Demand {
        let law = AnyLaw::new("newreno", &[]).expect("newreno");
        let rtt = Duration::from_millis(20);
        let dumbbell = Dumbbell::new(law, 1, Rate::from_mbps(8), rtt, 100);
        let mut setup = Dumbbell { duration: Duration::from_secs(20), ..dumbbell }.setup();
        setup.flows[0].app.writer = writer;
        setup.flows[0].transport.headers = Bytes::ZERO;
        let flow = &setup.flows[0];
        let path = setup.pathfinder().expect("paths").path(flow.from, flow.to, 0).expect("a path");
        let at = |s| Time::ZERO + Duration::from_secs(s);
        demand(&setup, flow, &path, (at(part.0), at(part.1)))
    }

    #[test]
    fn phases_ask_what_they_ask_in_the_part() {
        let phase = |writer, s| Phase { writer, lasts: Duration::from_secs(s) };
        let trickle = || phase(Writer::Constant { rate: Rate::from_mbps(1) }, 4);
        let sized = || phase(Writer::Sized(Bytes::new(1_000_000)), 10);
        let phases = || Writer::Phases(vec![trickle(), sized(), phase(Writer::Unlimited, 6)]);
        assert_eq!(asked(phases(), (0, 4)), Demand::UpTo(1e6));
        // Half of a second of a trickle, and a tenth of 8 Mbit in the next.
        let Demand::UpTo(both) = asked(phases(), (3, 5)) else { panic!("a rate") };
        assert!((both - (1e6 + 8e5) / 2.0).abs() < 1.0, "{both}");
        assert_eq!(asked(phases(), (13, 15)), Demand::All);
    }

    #[test]
    fn bursts_ask_the_mean_rate_of_an_idle_path() {
        let bursts = Writer::OnOff {
            burst: Bytes::new(1_000_000).into(),
            pause: Duration::from_secs(1).into(),
            pause_after: PauseAfter::Sent,
            count: None,
        };
        // A second of sending at 8 Mbit/s, and a second of pause.
        let Demand::UpTo(rate) = asked(bursts, (0, 20)) else { panic!("a rate") };
        assert!((rate - 4e6).abs() < 1e4, "{rate}");
    }
}
