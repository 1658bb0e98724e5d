//! Whatever the path does to packets, all written data arrives, once and in order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ratewire_laws::AnyLaw;
use ratewire_units::{Bytes, Duration};

use crate::short_paths;
use crate::testing::{Fate, MSS, Pipe, ms, newreno};
use crate::{
    AckRules, App, PauseAfter, Phase, Reader, ReceiveWindow, Recovery, Spread, TransportConfig,
    Varying, Writer,
};

fn micros(most: u64) -> impl Strategy<Value = Duration> {
    (0..most).prop_map(Duration::from_micros)
}

/// Fates of the first packets. Those after them arrive, so that every run ends.
fn fates(marks: bool) -> impl Strategy<Value = BTreeMap<usize, Fate>> {
    let fate = prop_oneof![
        4 => Just(Fate::Lost),
        3 => micros(400_000).prop_map(Fate::Late),
        2 => micros(300_000).prop_map(Fate::Twice),
        1 => Just(if marks { Fate::Marked } else { Fate::Lost }),
    ];
    let packet = (0..250_usize, fate);
    // A few, many, and stretches in which nothing arrives.
    let some = prop_oneof![
        proptest::collection::vec(packet.clone(), 0..8),
        proptest::collection::vec(packet, 8..150),
    ];
    (some, proptest::option::of((0..200_usize, 1..30_usize))).prop_map(|(some, stretch)| {
        let mut fates: BTreeMap<usize, Fate> = some.into_iter().collect();
        if let Some((from, length)) = stretch {
            fates.extend((from..from + length).map(|n| (n, Fate::Lost)));
        }
        fates
    })
}

fn laws() -> impl Strategy<Value = AnyLaw> {
    prop_oneof![
        3 => (1..50_u64).prop_map(|n| ("fixed", vec![("window", format!("{n} packets"))])),
        2 => (1..200_u64).prop_map(|n| ("fixed", vec![("rate", format!("{n} Mbit/s"))])),
        3 => Just(("newreno", vec![])),
        1 => Just(("newreno", vec![("pacing", "true".to_string())])),
        2 => Just(("cubic", vec![])),
        1 => Just(("xcp", vec![])),
    ]
    .prop_map(|(name, options)| {
        let options: Vec<(&str, &str)> = options.iter().map(|(k, v)| (*k, v.as_str())).collect();
        AnyLaw::new(name, &options).unwrap()
    })
}

fn windows() -> impl Strategy<Value = ReceiveWindow> {
    prop_oneof![
        1 => Just(TransportConfig::default().receive_window),
        2 => (0..60_000_u64).prop_map(|size| ReceiveWindow::Fixed(Bytes::new(size))),
        1 => (0..9_000_u64, 0..60_000_u64, 0..4_u32).prop_map(|(initial, max, packets_per_ack)| {
            let (initial, max) = (Bytes::new(initial), Bytes::new(max));
            ReceiveWindow::Auto { initial, max, packets_per_ack }
        }),
    ]
}

fn configs() -> impl Strategy<Value = TransportConfig> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (windows(), proptest::option::of(micros(60_000)), switches).prop_map(
        |(receive_window, delayed_ack, (handshake, tail_loss_probe, rack, is_linux))| {
            TransportConfig {
                recovery: if rack { Recovery::Rack } else { Recovery::Sack },
                receive_window,
                delayed_ack,
                ack_rules: if is_linux { AckRules::Linux } else { AckRules::Rfc },
                handshake,
                tail_loss_probe,
                ..TransportConfig::default()
            }
        },
    )
}

fn apps() -> impl Strategy<Value = App> {
    let reader = prop_oneof![
        2 => Just(Reader::Immediate),
        1 => micros(30_000).prop_map(Reader::Slow),
    ];
    let frame = proptest::option::of(prop_oneof![1..100_u64, 1..4_000_u64, 1..20_000_u64]);
    (reader, frame, 0..200_000_u64, 0..4, micros(200_000), 0..3_usize, 1..5_u64).prop_map(
        |(reader, frame, thousandths, kind, pause, after, count)| {
            let size = Bytes::new(thousandths * frame.unwrap_or(MSS).min(MSS) / 1000);
            let all = [PauseAfter::Written, PauseAfter::Sent, PauseAfter::Acknowledged];
            let bursts = |spread| Writer::OnOff {
                burst: Varying { mean: Bytes::new(size.get() / count), spread },
                pause: Varying { mean: pause, spread },
                pause_after: all[after],
                count: Some(count),
            };
            let writer = match kind {
                0 => Writer::Sized(size),
                1 => bursts(Spread::None),
                2 => bursts(Spread::Exponential),
                _ => {
                    let first = Phase { writer: bursts(Spread::Pareto(3.0)), lasts: pause * 2 };
                    let last = Phase { writer: bursts(Spread::None), lasts: Duration::MAX };
                    Writer::Phases(vec![first, last])
                }
            };
            App { writer, reader, frame: frame.map(Bytes::new), ..App::unlimited() }
        },
    )
}

/// Header prediction covers what it is for: an undisturbed flow, and one that has repaired a loss.
#[test]
fn most_acknowledgements_are_predicted() {
    for lost in [None, Some(3)] {
        let before = short_paths::predicted();
        let mut pipe = Pipe::sized(&newreno(), 1000).losing(lost);
        pipe.run();
        assert!(pipe.answers().count() >= 999);
        let predicted = short_paths::predicted() - before;
        assert!(predicted >= if lost.is_none() { 1000 } else { 900 }, "{predicted} after {lost:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn all_that_is_written_arrives(
        law in laws(),
        config in configs(),
        app in apps(),
        data in fates(true),
        acks in fates(false),
        (lose_opens, lose_answers) in (0..3_usize, 0..3_usize),
        delay in micros(200_000),
        lateness in prop_oneof![2 => Just(Duration::ZERO), 1 => micros(3_000)],
    ) {
        let mut pipe = Pipe::new(&law, &config, &app);
        pipe.data = data;
        pipe.acks = acks;
        pipe.lose_opens = lose_opens;
        pipe.lose_answers = lose_answers;
        pipe.delay = delay + Duration::from_micros(1);
        pipe.lateness = lateness;
        pipe.thorough = true;
        pipe.run();
        // Each byte was first sent once.
        let first: u64 = pipe.sent().filter(|s| !s.2).map(|(_, s, _)| s.payload.get()).sum();
        prop_assert_eq!(Some(first), pipe.sender.stream_end());
        let again: u64 = pipe.sent().filter(|s| s.2).map(|(_, s, _)| s.payload.get()).sum();
        prop_assert_eq!(Bytes::new(again), pipe.sender.stats().retransmitted);
        let frame = app.frame.map_or(u64::MAX, Bytes::get);
        for (_, s, _) in pipe.sent().filter(|s| s.1.payload > Bytes::ZERO) {
            let last = s.offset + s.payload.get() - 1;
            prop_assert_eq!(s.offset / frame, last / frame, "a packet spans frames");
        }
    }

    #[test]
    fn short_paths_have_the_effects_of_the_general_ones(
        law in laws(),
        mut config in configs(),
        app in apps(),
        ecn in any::<bool>(),
        data in fates(true),
        acks in fates(false),
        small_queue in any::<bool>(),
    ) {
        config.ecn = ecn;
        let mut pipes = [(), ()].map(|()| {
            let mut pipe = Pipe::new(&law, &config, &app);
            pipe.data = data.clone();
            pipe.acks = acks.clone();
            if small_queue {
                pipe.sender.keep_queue_small();
            }
            pipe
        });
        loop {
            let goes_on = [false, true].map(|short| {
                short_paths::set(short);
                let pipe = &mut pipes[usize::from(short)];
                pipe.pump();
                !pipe.sender.is_done() && pipe.step()
            });
            let [one, other] = &pipes;
            prop_assert_eq!(one.log.last(), other.log.last());
            prop_assert_eq!(format!("{:?}", one.sender), format!("{:?}", other.sender));
            prop_assert_eq!(format!("{:?}", one.receiver), format!("{:?}", other.receiver));
            if goes_on == [false, false] {
                break;
            }
        }
        prop_assert_eq!(&pipes[0].log, &pipes[1].log);
    }

    #[test]
    fn stopping_at_any_time_delivers_what_was_sent(
        law in laws(),
        mut config in configs(),
        data in fates(true),
        after in 0..600_u64,
    ) {
        // Not every law sets a limit on a path without routers, and without a rate.
        if config.receive_window == TransportConfig::default().receive_window {
            config.receive_window = ReceiveWindow::Fixed(Bytes::new(100_000));
        }
        let mut pipe = Pipe::new(&law, &config, &App::unlimited());
        pipe.data = data;
        pipe.run_to(crate::testing::at(0) + ms(after));
        pipe.sender.stop();
        pipe.run();
    }

    #[test]
    fn any_operations_at_all(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        crate::fuzzing::transport(&bytes);
    }
}
