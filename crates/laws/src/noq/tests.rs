use ratewire_units::{Bytes, Duration, Time};

use crate::AnyLaw;
use crate::law::{Congestion, FlowContext, Sending, Signal};
use crate::testing::FLOW;

fn source(mode: &str, back_pressured: bool) -> crate::AnySource {
    let law = AnyLaw::new("noq", &[("mode", mode)]).unwrap();
    law.source(&FlowContext { back_pressured, ..FLOW })
}

const RECEIVE_WINDOW: Bytes = Bytes::new(1_000_000);

fn sending() -> Sending {
    Sending {
        now: Time::ZERO,
        packet: FLOW.packet,
        in_flight: FLOW.mss,
        receive_window: RECEIVE_WINDOW,
        srtt: Duration::ZERO,
        rto: Duration::ZERO,
        limited: false,
    }
}

fn loss(signal: Signal) -> Congestion {
    let (now, srtt) = (Time::ZERO + Duration::from_millis(50), Duration::from_millis(20));
    Congestion { now, signal, in_flight: FLOW.mss * 10, srtt }
}

#[test]
fn a_back_pressured_sender_has_no_window_and_does_not_slow_down() {
    for (mode, back_pressured) in [("safe", true), ("force", false), ("force", true)] {
        let mut source = source(mode, back_pressured);
        assert_eq!(source.window(), FLOW.mss, "not known yet");
        source.on_send(&sending());
        for signal in [Signal::Loss, Signal::Mark, Signal::Timeout] {
            source.on_congestion(&loss(signal));
            assert_eq!(source.window(), RECEIVE_WINDOW, "{mode} {back_pressured} {signal:?}");
            assert_eq!(source.pacing(), Some(FLOW.line_rate.throughput()));
        }
    }
}

#[test]
fn in_safe_mode_any_other_is_newreno() {
    let mut source = source("safe", false);
    let mut reno = AnyLaw::new("newreno", &[]).unwrap().source(&FLOW);
    for signal in [Signal::Loss, Signal::Timeout] {
        assert_eq!(source.window(), reno.window());
        source.on_congestion(&loss(signal));
        reno.on_congestion(&loss(signal));
    }
    assert_eq!(source.window(), reno.window());
    assert_eq!(source.window(), FLOW.mss);
    assert_eq!(source.reason().equation, reno.reason().equation);
}
