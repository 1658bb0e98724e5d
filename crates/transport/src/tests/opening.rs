//! The exchange of two empty packets at the start.

use ratewire_units::{Bytes, Time};

use crate::testing::{Pipe, RTT, at, fixed, packets};
use crate::{App, PauseAfter, TransportConfig, Writer};

fn pipe(n: u64) -> Pipe {
    Pipe::new(&fixed(10), &TransportConfig::default(), &App::sized(packets(n)))
}

#[test]
fn data_follows_the_answer_and_its_rtt_is_a_sample() {
    let mut pipe = pipe(10);
    pipe.run_to(at(99));
    assert_eq!((pipe.sent().count(), pipe.opens()), (0, vec![at(0)]));
    assert_eq!(pipe.sender.on_timer(at(99)), None);
    pipe.run_to(at(100));
    assert_eq!((pipe.sender.rtt().srtt(), pipe.sender.stats().rtt_samples), (RTT, 1));
    assert_eq!(pipe.sent().count(), 10);
    pipe.run();
    assert_eq!(pipe.now, Time::ZERO + RTT * 2);
}

#[test]
fn a_lost_opening_is_sent_again_without_a_sample() {
    for answers in [false, true] {
        let mut pipe = pipe(10);
        if answers {
            pipe.lose_answers = 2;
        } else {
            pipe.lose_opens = 2;
        }
        pipe.run_to(at(3100));
        assert_eq!(pipe.opens(), [0, 1000, 3000].map(at));
        assert_eq!((pipe.sender.stats().rtt_samples, pipe.sender.stats().timeouts), (0, 2));
        pipe.run();
        assert_eq!((pipe.now, pipe.resent()), (at(3200), vec![]));
    }
}

#[test]
fn an_answer_too_late_is_answered_twice_and_no_sample() {
    let mut pipe = pipe(10);
    pipe.delay = crate::testing::ms(700);
    pipe.run();
    assert_eq!((pipe.opens().len(), pipe.resent()), (2, vec![]));
    assert_eq!(pipe.sender.rtt().srtt(), crate::testing::ms(1400));
}

#[test]
fn writers_wait_for_it_too() {
    let (burst, pause) = (packets(2), RTT / 10);
    let on_off = Writer::OnOff {
        burst: burst.into(),
        pause: pause.into(),
        pause_after: PauseAfter::Written,
        count: Some(3),
    };
    let constant = Writer::Constant { rate: ratewire_units::Rate::from_mbps(1) };
    for writer in [on_off, constant] {
        let app = App { writer, ..App::unlimited() };
        let mut pipe = Pipe::new(&fixed(100), &TransportConfig::default(), &app);
        pipe.run_to(at(100));
        pipe.sender.stop();
        pipe.run();
        // All data written meanwhile: 6 packets, or a frame every 11.68 ms.
        assert!(pipe.receiver.delivered() >= packets(6));
    }
}

#[test]
fn a_flow_stopped_before_it_opened_is_done() {
    let mut pipe = Pipe::new(&fixed(10), &TransportConfig::default(), &App::unlimited());
    pipe.run_to(at(20));
    pipe.sender.stop();
    assert!(pipe.sender.is_done());
    pipe.run();
    assert_eq!(pipe.receiver.delivered(), Bytes::ZERO);
}
