//! Applications' writes, and the packets that they make.

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::testing::{Pipe, RTT, at, config, fixed, ms, newreno, packets};
use crate::{App, PauseAfter, Phase, Seeds, Spread, Varying, Writer};

fn app(writer: Writer, frame: Option<Bytes>) -> App {
    App { writer, frame, ..App::unlimited() }
}

fn on_off(n: u64, pause: Duration, pause_after: PauseAfter, count: Option<u64>) -> App {
    app(Writer::OnOff { burst: packets(n).into(), pause: pause.into(), pause_after, count }, None)
}

#[test]
fn packets_do_not_span_frames() {
    let sized = app(Writer::Sized(Bytes::new(9000)), Some(Bytes::new(4000)));
    let mut pipe = Pipe::new(&newreno(), &config(), &sized).losing([1, 3]);
    pipe.run();
    let first = pipe.sent().filter(|sent| !sent.2);
    let payloads: Vec<u64> = first.map(|(_, s, _)| s.payload.get()).collect();
    assert_eq!(payloads, [1460, 1460, 1080, 1460, 1460, 1080, 1000]);
}

#[test]
fn a_constant_writer_writes_a_frame_an_interval() {
    // 3000 bytes at 1 Mbit/s: 24 ms.
    let constant = app(Writer::Constant { rate: Rate::from_mbps(1) }, Some(Bytes::new(3000)));
    let mut pipe = Pipe::new(&fixed(100), &config(), &constant);
    pipe.run_to(at(100));
    assert_eq!(pipe.sender.stream_end(), None);
    pipe.sender.stop();
    pipe.run();
    let sent: Vec<(Time, u64)> = pipe.sent().map(|(at, s, _)| (at, s.payload.get())).collect();
    let frames: Vec<_> =
        (0..5).flat_map(|n| [1460, 1460, 80].map(|size| (at(24 * n), size))).collect();
    assert_eq!(sent, frames);
}

#[test]
fn a_constant_writer_does_not_wait_for_the_network() {
    let constant = app(Writer::Constant { rate: Rate::from_mbps(1) }, None);
    let mut pipe = Pipe::new(&fixed(1), &config(), &constant);
    pipe.run_to(at(1000));
    pipe.sender.stop();
    // Packets are written every 11.68 ms and sent every 100 ms.
    assert_eq!(pipe.sender.stream_end(), Some(packets(86).get()));
    pipe.run();
}

#[test]
fn writers_that_never_write() {
    let nothing = app(Writer::Constant { rate: Rate::ZERO }, None);
    let mut pipe = Pipe::new(&fixed(10), &config(), &nothing);
    pipe.pump();
    assert_eq!(pipe.sender.deadline(), Time::NEVER);
    let mut pipe = Pipe::new(&fixed(10), &config(), &on_off(5, RTT, PauseAfter::Sent, Some(0)));
    pipe.run();
    assert_eq!(pipe.now, at(0));
}

#[test]
fn pauses_begin_when_the_burst_is_written() {
    let writer = on_off(30, ms(150), PauseAfter::Written, Some(3));
    let mut pipe = Pipe::new(&fixed(10), &config(), &writer);
    pipe.run();
    // Bursts at 0, 150 and 300 ms; ten packets a round trip: always busy.
    assert_eq!((pipe.now, pipe.receiver.delivered()), (at(900), packets(90)));
}

#[test]
fn pauses_begin_when_the_burst_is_sent() {
    let writer = on_off(30, ms(150), PauseAfter::Sent, Some(3));
    let mut pipe = Pipe::new(&fixed(10), &config(), &writer);
    pipe.run();
    // Sent at 0, 100 and 200 ms; the next burst comes at 350, and at 700 ms.
    let starts: Vec<Time> = pipe.sent().step_by(30).map(|sent| sent.0).collect();
    assert_eq!((starts, pipe.now), ([0, 350, 700].map(at).to_vec(), at(1000)));
}

#[test]
fn pauses_begin_when_the_burst_is_acknowledged() {
    let writer = on_off(30, ms(150), PauseAfter::Acknowledged, Some(3));
    let mut pipe = Pipe::new(&fixed(10), &config(), &writer);
    pipe.run();
    let starts: Vec<Time> = pipe.sent().step_by(30).map(|sent| sent.0).collect();
    assert_eq!((starts, pipe.now), ([0, 450, 900].map(at).to_vec(), at(1200)));
}

#[test]
fn no_pause_is_all_at_once_or_one_burst_after_the_other() {
    for pause_after in [PauseAfter::Written, PauseAfter::Sent, PauseAfter::Acknowledged] {
        let writer = on_off(10, Duration::ZERO, pause_after, Some(5));
        let mut pipe = Pipe::new(&fixed(10), &config(), &writer);
        pipe.run();
        assert_eq!((pipe.now, pipe.receiver.delivered()), (at(500), packets(50)));

        let endless = on_off(10, Duration::ZERO, pause_after, None);
        let mut pipe = Pipe::new(&fixed(10), &config(), &endless);
        pipe.run_to(at(450));
        pipe.sender.stop();
        pipe.run();
        // The next burst follows the last sent packet at once.
        let written = if pause_after == PauseAfter::Sent { 60 } else { 50 };
        assert_eq!(pipe.receiver.delivered(), packets(written));
    }
}

#[test]
fn many_bursts_that_fell_due_are_one_step() {
    let writer = app(
        Writer::OnOff {
            burst: Bytes::new(u64::MAX / 4).into(),
            pause: Duration::from_ps(1).into(),
            pause_after: PauseAfter::Written,
            count: None,
        },
        None,
    );
    let mut pipe = Pipe::new(&fixed(1), &config(), &writer);
    assert!(pipe.sender.poll_transmit(at(3_000_000)).is_some());
    assert!(pipe.sender.poll_transmit(at(3_000_000)).is_none());
    pipe.sender.stop();
    assert_eq!(pipe.sender.stream_end(), Some(packets(1).get()));
}

#[test]
fn stopping_an_unlimited_writer_delivers_what_was_sent() {
    let mut pipe = Pipe::new(&newreno(), &config(), &App::unlimited()).losing([60, 69]);
    pipe.run_to(at(250));
    assert_eq!(pipe.sender.stream_end(), None);
    pipe.sender.stop();
    assert_eq!(pipe.sender.stream_end(), Some(packets(70).get()));
    pipe.run();
    assert_eq!(pipe.sent().filter(|sent| !sent.2).count(), 70);
}

#[test]
fn stopping_others_delivers_what_was_written() {
    let mut pipe = Pipe::sized(&newreno(), 30);
    pipe.run_to(at(10));
    pipe.sender.stop();
    pipe.run();
    assert_eq!(pipe.receiver.delivered(), packets(30));
    let mut pipe =
        Pipe::new(&fixed(4), &config(), &on_off(7, ms(20), PauseAfter::Written, Some(9)));
    pipe.run_to(at(50));
    pipe.sender.stop();
    pipe.run();
    assert_eq!(pipe.receiver.delivered(), packets(21));
}

#[test]
fn a_fed_writer_sends_what_it_is_told_in_full_packets() {
    let mut pipe = Pipe::new(&fixed(10), &config(), &App::fed());
    pipe.pump();
    assert_eq!(pipe.sent().count(), 0);
    for _ in 0..3 {
        pipe.sender.write(Bytes::new(1000));
    }
    assert_eq!(pipe.sender.unsent(), Bytes::new(3000));
    pipe.pump();
    let payloads: Vec<u64> = pipe.sent().map(|(_, s, _)| s.payload.get()).collect();
    assert_eq!(payloads, [1460, 1460, 80]);
    assert_eq!((pipe.sender.unsent(), pipe.sender.stream_end()), (Bytes::ZERO, None));
    pipe.sender.stop();
    pipe.sender.write(Bytes::new(1));
    assert_eq!(pipe.sender.stream_end(), Some(3000));
    pipe.run();
    assert_eq!(pipe.receiver.delivered(), Bytes::new(3000));
}

fn phases(parts: Vec<(Writer, u64)>) -> App {
    let phase = |(writer, lasts)| Phase {
        writer,
        lasts: if lasts == 0 { Duration::MAX } else { ms(lasts) },
    };
    app(Writer::Phases(parts.into_iter().map(phase).collect()), None)
}

/// A packet every 11.68 ms.
const TRICKLE: Writer = Writer::Constant { rate: Rate::from_mbps(1) };

#[test]
fn a_trickle_is_followed_by_bulk() {
    let mut pipe =
        Pipe::new(&fixed(10), &config(), &phases(vec![(TRICKLE, 300), (Writer::Unlimited, 0)]));
    pipe.run_to(at(299));
    assert_eq!(pipe.sent().count(), 26, "one at 0 ms, and 25 until 292 ms");
    assert_eq!(pipe.sender.deadline(), at(300));
    pipe.run_to(at(600));
    let bulk: Vec<Time> =
        pipe.sent().skip(26).map(|sent| sent.0).filter(|t| *t == at(300)).collect();
    // Of the window of 10, the 8 packets of the trickle since 200 ms are outstanding.
    assert_eq!(bulk.len(), 2, "{bulk:?}");
    assert!(pipe.sent().count() > 50);
    assert_eq!(pipe.sender.stream_end(), None);
}

#[test]
fn what_unlimited_data_did_not_send_is_not_written() {
    let silent = Writer::Constant { rate: Rate::ZERO };
    let parts = vec![(Writer::Unlimited, 250), (silent, 300), (TRICKLE, 20)];
    let mut pipe = Pipe::new(&fixed(10), &config(), &phases(parts));
    pipe.run_to(at(540));
    assert_eq!(pipe.sent().count(), 30, "a window of 10 at 0, 100 and 200 ms");
    assert_eq!((pipe.sender.unsent(), pipe.sender.stream_end()), (Bytes::ZERO, None));
    pipe.run();
    let last: Vec<Time> = pipe.sent().skip(30).map(|sent| sent.0).collect();
    assert_eq!(last, [at(550), at(550) + Duration::from_micros(11_680)]);
    assert_eq!(pipe.sender.stream_end(), Some(packets(32).get()), "the last phase has an end");
}

#[test]
fn a_late_call_goes_through_all_phases_that_are_over() {
    let one = || Writer::OnOff {
        burst: packets(1).into(),
        pause: ms(10).into(),
        pause_after: PauseAfter::Written,
        count: None,
    };
    let parts = vec![(one(), 30), (Writer::Sized(packets(4)), 5), (TRICKLE, 10)];
    let mut pipe = Pipe::new(&fixed(100), &config(), &phases(parts));
    pipe.pump();
    assert_eq!(pipe.sent().count(), 1);
    // Two further bursts at 10 and 20 ms, but not at the phase's end, and a frame at 35 ms.
    pipe.run_to(at(1_000));
    assert_eq!(pipe.sender.stream_end(), Some(packets(8).get()));
    assert!(pipe.sender.is_done());
}

/// Mean and standard deviation over the mean.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (mean, (square / values.len() as f64).sqrt() / mean)
}

/// Bursts and pauses as the network sees them: of equal ones, the variation would be 0.
#[test]
fn random_bursts_and_pauses_are_drawn_anew_each_time() {
    let sent = |spread: Spread, seed: u64| {
        let writer = Writer::OnOff {
            burst: Varying { mean: packets(20), spread },
            pause: Varying { mean: ms(1_000), spread },
            pause_after: PauseAfter::Sent,
            count: None,
        };
        let seeds = Seeds { bursts: seed, pauses: seed + 1 };
        let mut pipe = Pipe::new(&fixed(1_000_000), &config(), &App { seeds, ..app(writer, None) });
        pipe.run_to(at(2_000_000));
        let mut bursts: Vec<(Time, f64)> = Vec::new();
        for (at, segment, _) in pipe.sent() {
            match bursts.last_mut() {
                Some((last, bytes)) if *last == at => *bytes += segment.payload.as_f64(),
                _ => bursts.push((at, segment.payload.as_f64())),
            }
        }
        bursts
    };
    for (spread, variation, within) in
        [(Spread::Exponential, 1.0, 0.1), (Spread::Pareto(6.0), 1.0 / 24.0_f64.sqrt(), 0.15)]
    {
        let bursts = sent(spread, 7);
        let sizes: Vec<f64> = bursts.iter().map(|burst| burst.1).collect();
        let pauses: Vec<f64> = bursts.windows(2).map(|w| w[1].0.since(w[0].0).secs()).collect();
        for (drawn, mean) in [(sizes, packets(20).as_f64()), (pauses, 1.0)] {
            let (found, varies) = moments(&drawn);
            assert!((found / mean - 1.0).abs() < 0.08, "{spread:?}: mean {found} of {mean}");
            assert!((varies / variation - 1.0).abs() < within, "{spread:?}: variation {varies}");
        }
        assert_eq!(bursts, sent(spread, 7), "one seed, one course");
        assert_ne!(bursts[..5], sent(spread, 8)[..5]);
    }
    assert_eq!(moments(&sent(Spread::None, 7).iter().map(|b| b.1).collect::<Vec<_>>()).1, 0.0);
}
