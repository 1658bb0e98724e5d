//! The transforms, on headers made by hand: the paper's equations, and conservation.

use proptest::prelude::*;
use ratewire_laws::junction::Declared;
use ratewire_laws::{AnyLaw, Draw, FlowContext, Header, Sending};
use ratewire_transport::{Ack, SackBlocks};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::rig::ms;
use crate::Transforms;
use crate::merge::Merge;
use crate::relay::StreamPositions;
use crate::relay::{NewlyAcked, Relay, Sent};
use crate::split::Split;

const PACKET: Bytes = Bytes::new(1000);
const OURS: Transforms = Transforms::Refusals { shuffle: 0.1 };

fn law(name: &str) -> AnyLaw {
    AnyLaw::new(name, &[]).unwrap()
}

/// An XCP header of a flow with this window and round trip, and this wish.
fn declares(window: f64, rtt: Duration, wish: f64) -> Header {
    let flow = FlowContext {
        mss: PACKET,
        packet: PACKET,
        line_rate: Rate::from_mbps(10),
        back_pressured: false,
        draw: Draw::new(0),
    };
    let mut header = law("xcp").source(&flow).on_send(&Sending {
        now: Time::ZERO,
        packet: PACKET,
        in_flight: PACKET,
        receive_window: Bytes::MAX,
        srtt: rtt,
        rto: ms(200),
        limited: false,
    });
    let Header::Xcp(h) = &mut header else { panic!("{header:?}") };
    h.x = rtt.scale(PACKET.as_f64() / window);
    h.delta_throughput = Throughput::new(wish);
    header
}

/// An acknowledgement's header with this feedback.
fn feeds_back(change: f64) -> Header {
    let mut header = declares(1000.0, ms(1), 0.0);
    law("xcp").feed_back(&mut header, Throughput::new(change));
    header
}

fn fed_back(header: &Header) -> f64 {
    law("xcp").fed_back(header).unwrap().get()
}

fn declared(header: &Header) -> Declared {
    law("xcp").declared(header, PACKET).unwrap()
}

fn newly_acked(source: usize, wish: f64) -> [NewlyAcked; 1] {
    [NewlyAcked { source, wish, marked: false }]
}

/// Two members: (20 KB, 10 ms) and (60 KB, 40 ms).
fn merged() -> (Merge, Declared) {
    let law = law("xcp");
    let mut merge = Merge::new(&law, 2, PACKET, Transforms::Refusals { shuffle: 0.0 });
    let mut header = declares(20_000.0, ms(10), 1e9);
    merge.data(Time::ZERO, &law, 0, PACKET, &mut header);
    let mut header = declares(60_000.0, ms(40), 1e9);
    merge.data(Time::ZERO, &law, 1, PACKET, &mut header);
    (merge, declared(&header))
}

/// A header is about its packet, and a small packet's is of the same flow.
#[test]
fn a_small_packet_declares_its_flows_rate() {
    let law = law("xcp");
    let (mut merge, whole) = merged();
    let mut header = declares(20_000.0, ms(10), 1e9);
    law.redeclare(&mut header, 10.0, ms(10));
    let size = Bytes::new(PACKET.get() / 10);
    merge.data(Time::ZERO, &law, 0, size, &mut header);
    let small = law.declared(&header, size).unwrap();
    assert!((small.rate.get() / whole.rate.get() - 1.0).abs() < 1e-3, "{small:?} {whole:?}");
}

/// Packets of a frame have wishes of their own, and may be of very different length.
#[test]
fn a_frames_packets_are_acknowledged_with_their_wishes() {
    let sent = |payload, wish| Sent { payload, wish, marked: false };
    let mut relay = Relay::inbound(&StreamPositions::new(1, 1));
    relay.place(0, 0, 1001, 0, true);
    relay.note(Time::ZERO, 0, 0, sent(1000, 50.0));
    relay.note(Time::ZERO, 0, 1000, sent(1, 0.05));
    let mut wish_of = |cumulative| {
        let (window, sack, header) = (Bytes::MAX, SackBlocks::default(), Header::None);
        let ack = Ack { sack, header, ..Ack::plain(cumulative, window) };
        let mut newly_acked = Vec::new();
        relay.acknowledge(0, &ack, &mut newly_acked);
        newly_acked[0].wish
    };
    let [first, rest] = [wish_of(1000), wish_of(1001)];
    assert!((first - 50.0).abs() < 1e-9 && (rest - 0.05).abs() < 1e-9, "{first} {rest}");
}

fn part(merge: &mut Merge, member: usize) -> f64 {
    let mut header = feeds_back(0.0);
    merge.feed_back(&law("xcp"), member, &mut header);
    fed_back(&header)
}

#[test]
fn merged_data_is_that_of_the_whole_flow() {
    let (_, d) = merged();
    assert!((d.rtt.millis() - 22.857).abs() < 1e-3, "{:?}", d.rtt);
    assert!((d.rate.get() * d.rtt.secs() - 80_000.0).abs() < 1.0, "a window of 80 KB");
    assert_eq!(d.wish.get(), 1e9, "a packet's wish stays its own");
}

#[test]
fn increase_is_shared_evenly_and_decrease_by_rate() {
    let (mut merge, _) = merged();
    // 8 KB at 22.857 ms are 350 KB/s, of which each has half: 1.75 KB and 7 KB of their windows.
    merge.acknowledge(Time::ZERO, &law("xcp"), &newly_acked(0, 1e9), &feeds_back(350_000.0));
    assert_eq!([part(&mut merge, 0), part(&mut merge, 1)], [175_000.0, 175_000.0]);
    // Rates are 2 MB/s and 1.5 MB/s.
    merge.acknowledge(Time::ZERO, &law("xcp"), &newly_acked(1, 1e9), &feeds_back(-350_000.0));
    let parts = [part(&mut merge, 0), part(&mut merge, 1)];
    assert!(
        (parts[0] + 200_000.0).abs() < 1e-3 && (parts[1] + 150_000.0).abs() < 1e-3,
        "{parts:?}"
    );
    // The part is fed back once.
    assert_eq!(part(&mut merge, 0), 0.0);
}

#[test]
fn nobody_gets_more_than_its_own_way_allows() {
    let law = law("xcp");
    let (mut merge, _) = merged();
    merge.data(Time::ZERO, &law, 0, PACKET, &mut declares(20_000.0, ms(10), 50.0));
    merge.acknowledge(Time::ZERO, &law, &newly_acked(1, 1e9), &feeds_back(350_000.0));
    assert_eq!([part(&mut merge, 0), part(&mut merge, 1)], [50.0, 175_000.0]);
    // A refusal of a member's own path concerns no other member.
    merge.acknowledge(Time::ZERO, &law, &newly_acked(0, -70.0), &feeds_back(-70.0));
    assert_eq!([part(&mut merge, 0), part(&mut merge, 1)], [-70.0, 0.0]);
}

/// Rate moved in a round trip: taken from each by its packets, given to each equally.
#[test]
fn shuffling_moves_its_share_of_the_traffic_in_a_round_trip() {
    let law = law("xcp");
    let mut merge = Merge::new(&law, 2, PACKET, OURS);
    merge.data(Time::ZERO, &law, 0, PACKET, &mut declares(20_000.0, ms(10), 1e9));
    merge.data(Time::ZERO, &law, 1, PACKET, &mut declares(60_000.0, ms(10), 1e9));
    // A round trip has 20 packets of one and 60 of the other.
    for i in 0..80 {
        let one = newly_acked(usize::from(i % 4 > 0), 1e9);
        merge.acknowledge(Time::ZERO, &law, &one, &feeds_back(0.0));
    }
    // Of 8 MB/s a tenth: 0.2 and 0.6 MB/s are taken, 0.4 MB/s are given to each.
    let parts = [part(&mut merge, 0), part(&mut merge, 1)];
    assert!((parts[0] - 2e5).abs() < 1.0 && (parts[1] + 2e5).abs() < 1.0, "{parts:?}");
}

#[test]
fn the_silent_have_no_part() {
    let law = law("xcp");
    let (mut merge, _) = merged();
    let later = Time::ZERO + ms(100);
    merge.data(later, &law, 1, PACKET, &mut declares(60_000.0, ms(40), 1e9));
    merge.acknowledge(later, &law, &newly_acked(1, 1e9), &feeds_back(1000.0));
    assert_eq!([part(&mut merge, 0), part(&mut merge, 1)], [0.0, 1000.0]);
}

fn split(pattern: &[usize], rounds: usize) -> Split {
    split_by(OURS, pattern, rounds)
}

fn split_by(transforms: Transforms, pattern: &[usize], rounds: usize) -> Split {
    let law = law("xcp");
    let members = pattern.iter().max().unwrap() + 1;
    let mut split = Split::new(&law, members, PACKET, PACKET, transforms);
    for i in 0..rounds * pattern.len() {
        let now = Time::ZERO + ms(10) * i as u64;
        let mut header = declares(20_000.0, ms(10), 1000.0);
        split.data(now, &law, pattern[i % pattern.len()], PACKET, &mut header);
    }
    split
}

/// Feedback for the peer when a member's path answers a wish of 1000 with this.
fn feedback_to_peer(split: &mut Split, member: usize, change: f64) -> f64 {
    let mut header = feeds_back(change);
    split.acknowledge(&law("xcp"), member, 1000.0, &mut header);
    fed_back(&header)
}

#[test]
fn split_data_is_a_part_and_all_parts_are_the_flow() {
    let law = law("xcp");
    let s = split(&[0, 1, 1, 1], 64);
    let mut rate = 0.0;
    for member in 0..2 {
        let mut header = declares(20_000.0, ms(10), 1000.0);
        s.open(&law, member, &mut header);
        let d = declared(&header);
        let share = [0.25, 0.75][member];
        assert!((d.rate.get() * d.rtt.secs() - 20_000.0 * share).abs() < 1e-3);
        assert_eq!((d.rtt, d.wish.get()), (ms(10), 1000.0));
        rate += d.rate.get();
    }
    assert!((rate * 0.01 - 20_000.0).abs() < 1e-3);
}

#[test]
fn the_strictest_path_binds_in_proportion_to_its_use() {
    let mut s = split(&[0, 1, 1, 1], 64);
    assert_eq!(feedback_to_peer(&mut s, 0, 1000.0), 1000.0, "nothing refused, nothing changed");
    // 300 less for a quarter of the traffic are 1200 less for the peer.
    assert!((feedback_to_peer(&mut s, 0, 700.0) - (1000.0 - 1200.0)).abs() < 1e-9);
    // 600 less for three quarters are 800: less than has been taken already.
    assert!((feedback_to_peer(&mut s, 1, 400.0) - 1000.0).abs() < 1e-9);
    assert!(
        (feedback_to_peer(&mut s, 1, 400.0) - (1000.0 - 400.0)).abs() < 1e-9,
        "and 400 beyond that"
    );
}

/// Equation (1) for parts of changes: a packet of each path has the path's own change over its
/// share.
#[test]
fn the_papers_merge_is_the_least_of_the_last_feedback() {
    let mut s = split_by(Transforms::Paper, &[0, 1, 1, 1], 64);
    assert_eq!(feedback_to_peer(&mut s, 0, 700.0), 700.0, "of the other nothing is known");
    assert_eq!(feedback_to_peer(&mut s, 1, 900.0), 700.0);
    assert_eq!(feedback_to_peer(&mut s, 1, -50.0), -50.0);
    assert_eq!(feedback_to_peer(&mut s, 0, 700.0), -50.0, "what the other said last still counts");
    s.forget(1);
    assert_eq!(feedback_to_peer(&mut s, 0, 700.0), 700.0);
}

/// Section III-C: an increase evenly, a decrease by rate; section IV: no more than a source's own
/// path allows.
#[test]
fn the_papers_split_is_of_all_feedback() {
    let law = law("xcp");
    let mut merge = Merge::new(&law, 4, PACKET, Transforms::Paper);
    // Members 0 and 1 have rates of 3 to 1; the others send nothing, and are counted.
    for _ in 0..2 {
        merge.data(Time::ZERO, &law, 0, PACKET, &mut declares(30_000.0, ms(10), 150.0));
        merge.data(Time::ZERO, &law, 1, PACKET, &mut declares(10_000.0, ms(10), 1e9));
    }
    merge.acknowledge(Time::ZERO, &law, &newly_acked(0, 150.0), &feeds_back(400.0));
    assert_eq!([part(&mut merge, 0), part(&mut merge, 1)], [100.0, 100.0]);
    merge.acknowledge(Time::ZERO, &law, &newly_acked(0, 150.0), &feeds_back(800.0));
    assert_eq!([part(&mut merge, 0), part(&mut merge, 1)], [150.0, 200.0], "its own path's least");
    merge.acknowledge(Time::ZERO, &law, &newly_acked(0, 150.0), &feeds_back(-400.0));
    for (k, by_rate) in [-300.0, -100.0].into_iter().enumerate() {
        assert!((part(&mut merge, k) - by_rate).abs() < 1e-6, "X is rounded to a picosecond");
    }
}

#[test]
fn rates_are_split_by_ratio_and_merged_by_the_least() {
    let law = law("rcp");
    let mut s = Split::new(&law, 2, PACKET, PACKET, OURS);
    let flow = FlowContext {
        mss: PACKET,
        packet: PACKET,
        line_rate: Rate::from_mbps(8),
        back_pressured: false,
        draw: Draw::new(0),
    };
    let mut open = law.source(&flow).on_open(Time::ZERO);
    s.open(&law, 0, &mut open);
    assert_eq!(law.declared(&open, PACKET).unwrap().rate.get(), 500_000.0);
    let mut rates = [300_000.0, 400_000.0].iter().enumerate().map(|(k, rate)| {
        let mut header = open;
        law.feed_back(&mut header, Throughput::new(*rate));
        s.acknowledge(&law, k, 0.0, &mut header);
        law.fed_back(&header).unwrap().get()
    });
    assert_eq!(rates.next(), Some(600_000.0));
    assert_eq!(rates.next(), Some(600_000.0));
}

#[test]
fn a_rate_is_shared_max_min() {
    let law = law("rcp");
    let mut merge = Merge::new(&law, 3, PACKET, OURS);
    let flow = |mbps| FlowContext {
        mss: PACKET,
        packet: PACKET,
        line_rate: Rate::from_mbps(mbps),
        back_pressured: false,
        draw: Draw::new(0),
    };
    for (k, mbps) in [1, 8, 80].into_iter().enumerate() {
        let mut open = law.source(&flow(mbps)).on_open(Time::ZERO);
        merge.data(Time::ZERO, &law, k, PACKET, &mut open);
        if k == 2 {
            assert_eq!(law.declared(&open, PACKET).unwrap().rate.get(), 89.0 * 125_000.0);
        }
    }
    let mut header = law.source(&flow(8)).on_open(Time::ZERO);
    law.feed_back(&mut header, Throughput::new(11.0 * 125_000.0));
    merge.acknowledge(Time::ZERO, &law, &[], &header);
    let parts = [0, 1, 2].map(|k| {
        let mut header = header;
        merge.feed_back(&law, k, &mut header);
        law.fed_back(&header).unwrap().get() / 125_000.0
    });
    assert_eq!(parts, [1.0, 5.0, 5.0]);
}

proptest! {
    /// For any feedback to any member, the members' changes sum up to the flow's, unless a member's
    /// own path caps its part.
    #[test]
    fn split_changes_sum_up(
        windows in prop::collection::vec((1e3f64..1e6, 1u64..100), 1..20),
        answers in prop::collection::vec((0usize..20, -1e5f64..1e5), 1..50),
        shuffle in 0.0f64..1.0,
    ) {
        let law = law("xcp");
        let mut merge = Merge::new(&law, windows.len(), PACKET, Transforms::Refusals { shuffle });
        for (k, (window, rtt)) in windows.iter().enumerate() {
            merge.data(Time::ZERO, &law, k, PACKET, &mut declares(*window, ms(*rtt), 1e12));
        }
        // The sums know all members.
        for (k, (window, rtt)) in windows.iter().enumerate() {
            merge.data(Time::ZERO, &law, k, PACKET, &mut declares(*window, ms(*rtt), 1e12));
        }
        let mut total = 0.0;
        for (source, change) in &answers {
            let one = newly_acked(source % windows.len(), 1e12);
            merge.acknowledge(Time::ZERO, &law, &one, &feeds_back(*change));
            total += change;
        }
        let fed: f64 = (0..windows.len()).map(|k| part(&mut merge, k)).sum();
        prop_assert!((fed - total).abs() < 1e-6 * answers.len() as f64 * 1e5, "{fed} {total}");
    }

    /// The peer is slowed by exactly the strictest path's reduction over a round.
    #[test]
    fn merged_changes_are_those_of_the_strictest_path(
        refusals in prop::collection::vec(0.0f64..900.0, 4),
        order in prop::collection::vec(0usize..4, 40..80),
    ) {
        let mut s = split(&[0, 1, 2, 3], 64);
        let (mut asked, mut slowed) = ([0.0f64; 4], 0.0);
        for k in order {
            asked[k] += refusals[k] * 4.0;
            slowed += 1000.0 - feedback_to_peer(&mut s, k, 1000.0 - refusals[k]);
        }
        let strictest = asked.iter().copied().fold(0.0, f64::max);
        prop_assert!((slowed - strictest).abs() < 1e-6 * strictest.max(1.0), "{slowed} {strictest}");
    }
}
