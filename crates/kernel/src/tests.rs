use std::prelude::v1::*;

use proptest::prelude::*;
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::{
    Header, JetmaxAnswer, JetmaxConstants, JetmaxPort, JetmaxSender, Meter, RcpConstants, RcpPort,
    RcpSender, Rule, XcpConstants, XcpPort, XcpReceiver, XcpRules, XcpSender, XcpThroughput,
    mul_shift, share_part, share_times,
};

const MOST: u128 = (1 << 63) - 1;

/// Tests that the fields of a struct, in order, have the C's offsets, and that the sizes agree.
macro_rules! laid_out_as_in_c {
    ($($test:ident: $type:ty, $layout:ident, [$($field:ident),*];)*) => {
        $(#[test]
        fn $test() {
            // Safe: these functions take a number and return one.
            unsafe extern "C" {
                safe fn $layout(n: u32) -> u64;
            }
            let here = [$(core::mem::offset_of!($type, $field),)* size_of::<$type>()];
            for (n, at) in (0_u32..).zip(here) {
                assert_eq!(at as u64, $layout(n), "field {n}");
            }
        })*
    };
}
pub(crate) use laid_out_as_in_c;

fn rate(bytes_per_second: u64) -> Rate {
    Rate::from_bps(bytes_per_second * 8)
}
fn at_ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}
fn packet(rate: f64, rtt_ms: u64) -> Header {
    Header::new(Throughput::new(rate), Duration::from_millis(rtt_ms), Throughput::new(1e10))
}

/// EQUATIONS 1.5, first router step vector, as a change of the flow: 100 packets of 1500 bytes with
/// X = 5 ms, 3800 B/s each, are 380,000 B/s in half a second.
#[test]
fn an_underused_link_gives_the_flow_what_the_step_vector_says() {
    let mut port = XcpPort::new(rate(1_250_000), &XcpConstants::default(), Time::ZERO);
    // Intervals of the mean RTT, 0.5 s, once one packet has told it.
    let mut now = 0;
    let mut changes = Vec::new();
    for _ in 0..400 {
        let mut header = packet(300_000.0, 500);
        port.on_packet(at_ms(now), Bytes::new(1500), Bytes::ZERO, Some(&mut header));
        changes.push(header.change().get());
        now += 5;
    }
    let last = changes[changes.len() - 1];
    assert!((last - 760_000.0).abs() < 0.001 * 760_000.0, "{last}");
}

/// EQUATIONS 1.5, second vector: two flows at 1.0 and 0.25 MB/s, 15,000 bytes of queue, -40,890 and
/// +34,110 B/s in half a second.
#[test]
fn a_full_link_shuffles_from_the_fast_flow_to_the_slow() {
    let mut port = XcpPort::new(rate(1_250_000), &XcpConstants::default(), Time::ZERO);
    let mut last = [0.0; 2];
    // 1000-byte packets: one a millisecond and one each four, over three intervals of 0.5 s.
    for ms in 0..1900 {
        for (i, every) in [1, 4].into_iter().enumerate() {
            if ms % every == 0 {
                let mut header = packet([1e6, 0.25e6][i], 500);
                port.on_packet(at_ms(ms), Bytes::new(1000), Bytes::new(15_000), Some(&mut header));
                last[i] = header.change().get();
            }
        }
    }
    assert!((last[0] / 2.0 + 40_890.0).abs() < 600.0, "{last:?}");
    assert!((last[1] / 2.0 - 34_110.0).abs() < 600.0, "{last:?}");
    // The equation's values, to a unit of the option.
    for (change, rate) in last.into_iter().zip([1e6, 0.25e6]) {
        let said = port.given().get() - port.taken() * rate;
        assert!((change - said).abs() <= 1024.0, "{change}, not {said}");
    }
}

/// The count is right whatever the flows' rates and however many segments share a packet; it is 0
/// when all flows have gone.
#[test]
fn flows_are_counted_by_what_they_say_they_send() {
    let mut port = XcpPort::new(rate(12_500_000), &XcpConstants::default(), Time::ZERO);
    // 20 ms of round trip; packets of 1 kB, 4 kB and 16 kB every 4 ms.
    for ms in 0..2000 {
        let size = [1000, 4000, 16_000, 0][ms as usize % 4];
        if size > 0 {
            let mut header = packet(size as f64 / 0.004, 20);
            port.on_packet(at_ms(ms), Bytes::new(size), Bytes::ZERO, Some(&mut header));
        }
    }
    assert!((port.flows() - 3.0).abs() < 0.1, "{}", port.flows());
    while port.next_timer() < at_ms(4000) {
        port.on_timer(port.next_timer(), Bytes::ZERO);
    }
    assert!(port.flows() < 0.01, "{}", port.flows());
}

#[test]
fn rcp_counts_flows_at_its_rate() {
    let mut port = RcpPort::new(rate(12_500_000), &RcpConstants::of(Rule::Rcp), Time::ZERO);
    // Three flows that take the offered rate, in packets of 1 kB.
    let (mut due, mut now) = ([0.0_f64; 3], 0.0);
    while now < 3.0 {
        let next = (0..3).min_by(|a, b| due[*a].total_cmp(&due[*b])).expect("three");
        now = due[next];
        let mut header = packet(1e9, 20);
        let at = Time::ZERO + Duration::from_micros((now * 1e6) as u64);
        port.on_packet(at, Bytes::new(1000), Bytes::ZERO, Some(&mut header));
        due[next] += 1000.0 / header.rate().get();
    }
    assert!((port.flows() - 3.0).abs() < 0.15, "{}", port.flows());
}

/// A sender after a pause may be too slow to appear in two consecutive intervals.
#[test]
fn after_silence_what_there_is_to_give_is_shared_out_as_to_one_flow() {
    let mut port = XcpPort::new(rate(1_250_000), &XcpConstants::default(), Time::ZERO);
    for _ in 0..10 {
        port.on_timer(port.next_timer(), Bytes::ZERO);
    }
    let [first, second] = [5000, 5001].map(|ms| {
        let mut header = packet(1e5, 100);
        port.on_packet(at_ms(ms), Bytes::new(1500), Bytes::ZERO, Some(&mut header));
        header.change().get()
    });
    // alpha C in an interval of 5 ms: a flow that sends 1500 bytes in 15 ms takes it all.
    assert!((first / (0.4 * 1.25e6 / 5e-3) - 1.0).abs() < 0.01, "{first}");
    assert_eq!(second, 0.0);
}

#[test]
fn a_packet_without_rate_or_rtt_gets_no_more_than_nothing() {
    let mut port = XcpPort::new(rate(1_250_000), &XcpConstants::default(), Time::ZERO);
    for ms in 0..2000 {
        let mut header = if ms % 2 == 0 { packet(1e5, 100) } else { packet(0.0, 0) };
        port.on_packet(at_ms(ms), Bytes::new(100), Bytes::ZERO, Some(&mut header));
        if ms % 2 == 1 {
            assert!(header.change() <= Throughput::ZERO, "{header:?}");
        }
    }
}

/// The grants of a round trip do not depend on how its packets are cut or merged.
#[test]
fn segmentation_changes_nothing() {
    let given = |size: u64| {
        let mut port = XcpPort::new(rate(1_250_000_000), &XcpConstants::default(), Time::ZERO);
        let mut last = 0.0;
        let every_us = size / 100; // 100 MB/s
        for i in 0..(1_500_000 / every_us) {
            let mut header = packet(1e8, 100);
            let now = Time::ZERO + Duration::from_micros(i * every_us);
            port.on_packet(now, Bytes::new(size), Bytes::ZERO, Some(&mut header));
            last = header.change().get();
        }
        last
    };
    let (small, large) = (given(1500), given(60_000));
    assert!((small / large - 1.0).abs() < 0.03, "{small} {large}");
}

/// The thesis's examples 9 and 10: a change below 1 B/s a packet was truncated to nothing.
#[test]
fn small_changes_are_not_truncated() {
    let mut sender = XcpSender::new(Throughput::new(1e9), XcpRules::default());
    let rtt = Duration::from_millis(500);
    let least = Throughput::new(1.0);
    sender.start(Time::ZERO, Bytes::new(5_000_000), rtt);
    let before = sender.rate().get();
    // 2048 B/s a second: of 3334 packets in an RTT, a third of a byte a second each.
    for _ in 0..3334 {
        sender.on_ack(Bytes::new(1500), 2, rtt, least, true);
    }
    let gained = sender.rate().get() - before;
    assert!((gained - 1024.0).abs() < 20.0, "{gained}");
}

/// Bytes of a full packet on the network.
const PACKET: Bytes = Bytes::new(1500);
/// A packet of 1000 bytes beside nothing that is outstanding.
const THOUSAND: (Bytes, Bytes) = (Bytes::new(1000), Bytes::ZERO);

#[test]
fn a_sender_that_uses_less_than_it_may_ages() {
    let mut sender = XcpSender::new(Throughput::new(1e9), XcpRules::default());
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    sender.start(Time::ZERO, Bytes::new(100_000), rtt);
    // 1 MB/s allowed, 0.1 MB/s sent: half of the difference each round trip.
    for i in 0..100 {
        let header = sender.on_send(at_ms(i * 10), THOUSAND, rtt, true, PACKET, least);
        assert!(header.change() == Throughput::ZERO || i == 0, "{header:?}");
    }
    let rate = sender.rate().get();
    assert!((100_000.0..120_000.0).contains(&rate), "{rate}");
    let header = sender.on_send(at_ms(1001), THOUSAND, rtt, true, PACKET, least);
    assert!((header.rate().get() - 100_000.0).abs() < 3000.0, "{header:?}");
}

#[test]
fn a_sender_ages_for_each_round_trip_of_silence_while_routers_see_it() {
    let silent = |rtt: Duration, window: u64, rounds: u64| {
        let least = Throughput::new(1.0);
        let mut sender = XcpSender::new(Throughput::new(1e9), XcpRules::default());
        sender.start(Time::ZERO, Bytes::new(window), rtt);
        sender.on_send(at_ms(0), (Bytes::ZERO, Bytes::ZERO), rtt, false, PACKET, least);
        let back = Time::ZERO + rtt * rounds;
        sender.on_send(back, THOUSAND, rtt, true, PACKET, least);
        sender.rate().get()
    };
    let rtt = Duration::from_millis(100);
    assert_eq!([0, 1, 2, 4].map(|rounds| silent(rtt, 1_600_000, rounds)), [16e6, 8e6, 4e6, 1e6]);
    assert_eq!(silent(rtt, 1_600_000, 1000), 30e3, "two packets in a round trip");
    assert_eq!(silent(rtt, 1000, 1000), 10e3, "no more than it was");
    let rtt = Duration::from_micros(100);
    assert_eq!(silent(rtt, 100_000, 500), 600e3, "two packets in an interval of the routers");
}

/// A sender of 1 MB/s with 100 ms, and some rules.
fn started(rules: XcpRules) -> XcpSender {
    let mut sender = XcpSender::new(Throughput::new(1e9), rules);
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    sender.start(Time::ZERO, Bytes::new(100_000), rtt);
    sender.on_window(Bytes::new(1 << 30), rtt, least);
    sender
}

#[test]
fn rules_say_what_ages_and_what_a_sender_states() {
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    let after_a_pause = |rules: XcpRules| {
        let mut sender = started(rules);
        sender.on_send(at_ms(0), (Bytes::ZERO, Bytes::ZERO), rtt, true, PACKET, least);
        let data = (Bytes::new(1000), Bytes::new(50_000));
        let header = sender.on_send(at_ms(200), data, rtt, true, PACKET, least);
        (sender.rate().get(), header.rate().get(), header.change() > Throughput::ZERO)
    };
    let draft = XcpRules::default();
    assert_eq!(after_a_pause(draft), (250e3, 0.0, false), "two halves, and nothing was sent");
    assert_eq!(after_a_pause(draft.aging(0.25)).0, 562.5e3, "three quarters of three quarters");
    assert_eq!(after_a_pause(draft.aging(0.0)).0, 1e6);
    let mut sender = started(draft.aging(0.01));
    sender.on_send(at_ms(0), (Bytes::ZERO, Bytes::ZERO), rtt, true, PACKET, least);
    sender.on_send(at_ms(30_000), THOUSAND, rtt, true, PACKET, least);
    let kept = sender.rate().get() / 1e6;
    assert!((kept - 0.99_f64.powi(300)).abs() < 0.001, "{kept} after 300 round trips");
    let window = draft.aging(0.0).throughput(XcpThroughput::Window);
    assert_eq!(after_a_pause(window), (1e6, 1e6, false), "what it may send");
    assert_eq!(after_a_pause(window.modest(false)), (1e6, 1e6, true));
    let outstanding = draft.aging(0.0).throughput(XcpThroughput::Outstanding);
    assert_eq!(after_a_pause(outstanding), (1e6, 500e3, false), "50 kB in 100 ms");
}

#[test]
fn what_a_sender_keeps_is_a_rate_or_a_window() {
    let heard = |rules: XcpRules, window: u64| {
        let mut sender = started(rules);
        let rtt = Duration::from_millis(200);
        sender.on_window(Bytes::new(window), rtt, Throughput::new(1.0));
        sender.rate().get()
    };
    let (draft, most) = (XcpRules::default(), 1 << 30);
    assert_eq!(heard(draft, most), 1e6);
    assert_eq!(heard(draft.paced(false), most), 500e3);
    assert_eq!(heard(draft.throughput(XcpThroughput::Window), most), 500e3);
    assert_eq!(heard(draft, 20_000), 100e3, "the receiver's window in a round trip");
    assert_eq!(heard(draft.bounded(false), 20_000), 1e6);
    // A round trip that shortens gives no more than is desired, and one that grows no less than
    // the least.
    let mut sender = XcpSender::new(Throughput::new(1e6), draft.paced(false));
    let (least, window) = (Throughput::new(2e4), Bytes::new(most));
    sender.start(Time::ZERO, Bytes::new(200_000), Duration::from_millis(200));
    for (ms, rate) in [(200, 1e6), (100, 1e6), (20_000, 2e4)] {
        sender.on_window(window, Duration::from_millis(ms), least);
        assert_eq!(sender.rate().get(), rate, "{ms} ms");
    }
}

#[test]
fn who_does_not_heed_losses_goes_on() {
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    let mut sender = started(XcpRules::default().heeds_loss(false));
    sender.on_loss(least);
    assert_eq!(sender.rate().get(), 1e6);
    sender.on_ack(Bytes::new(1000), 1000, rtt, least, false);
    assert!(sender.rate().get() > 1e6, "nor does a repair keep it from growing");
}

/// Of a weight of 4, as four flows: each has a quarter of the rate and of the wish, and takes the
/// change.
#[test]
fn a_weight_counts_as_so_many_flows() {
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    let grown = |weight: f64| {
        let mut sender = XcpSender::new(Throughput::new(2e6), XcpRules::default().weight(weight));
        sender.start(Time::ZERO, Bytes::new(100_000), rtt);
        let (full, sizes) = (Bytes::new(1000), (Bytes::new(1000), Bytes::new(50_000)));
        let header = sender.on_send(Time::ZERO, sizes, rtt, false, full, least);
        sender.on_ack(Bytes::new(1000), 1000, rtt, least, true);
        [header.rate().get(), header.change().get(), sender.rate().get() - 1e6]
    };
    let [one, four] = [grown(1.0), grown(4.0)];
    assert_eq!([one[0], one[1]], [1e6, 1e7 - 1e7 % 1024.0]);
    assert!((four[0] - one[0] / 4.0).abs() < 16.0 && (four[1] - one[1] / 4.0).abs() < 1024.0);
    assert!((four[2] - 4.0 * one[2]).abs() <= 4.0, "{one:?} {four:?}");
}

#[test]
fn a_loss_halves_and_nothing_grows_until_it_is_repaired() {
    let mut sender = XcpSender::new(Throughput::new(1e9), XcpRules::default());
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    sender.start(Time::ZERO, Bytes::new(100_000), rtt);
    sender.on_loss(least);
    assert_eq!(sender.rate().get(), 500_000.0);
    sender.on_ack(Bytes::new(1000), 1000, rtt, least, false);
    assert_eq!(sender.rate().get(), 500_000.0);
    sender.on_ack(Bytes::new(1000), -1000, rtt, least, false);
    assert!(sender.rate().get() < 500_000.0);
}

/// At first the rate grows by grants, and at least at the minimum rate, at which the sender hears
/// of routers.
#[test]
fn no_sender_takes_more_than_it_would_like() {
    let (window, rtt) = (Bytes::new(5_000_000), Duration::from_millis(100));
    let (wish, least) = (Throughput::new(1e6), Throughput::new(2e4));
    let mut sender = XcpSender::new(wish, XcpRules::default());
    sender.start(Time::ZERO, window, rtt);
    assert_eq!(sender.rate(), wish);
    sender.on_loss(least);
    for _ in 0..10 {
        sender.on_ack(Bytes::new(100_000), i32::MAX, rtt, least, true);
    }
    assert_eq!(sender.rate(), wish);
    let mut modest = XcpSender::new(Throughput::new(1.0), XcpRules::default());
    modest.start(Time::ZERO, window, rtt);
    modest.on_ack(Bytes::new(1000), i32::MAX, rtt, least, true);
    assert_eq!(modest.rate(), least);
    let mut sender = JetmaxSender::new(wish);
    sender.start(window, rtt);
    assert_eq!(sender.rate(), wish);
}

#[test]
fn a_receiver_returns_the_mean_by_bytes() {
    let change = |units: i32| Header::from_fields([0, 0, units.cast_unsigned()]);
    let mut receiver = XcpReceiver::default();
    receiver.on_data(&change(1000), Bytes::new(1000));
    receiver.on_data(&change(-500), Bytes::new(3000));
    assert_eq!(receiver.on_ack(), -125);
    assert_eq!(receiver.on_ack(), 0, "only once");
    receiver.on_data(&change(i32::MIN), Bytes::new(1000));
    assert_eq!(receiver.on_ack(), i32::MIN, "the most that a header carries");
}

#[test]
fn what_takes_the_most_is_passed_on_as_it_came() {
    let mut header = Header::from_fields([0, 0, i32::MIN.cast_unsigned()]);
    let mut port = XcpPort::new(rate(1_250_000), &XcpConstants::default(), Time::ZERO);
    port.on_packet(Time::ZERO, Bytes::new(1500), Bytes::ZERO, Some(&mut header));
    assert_eq!(header.to_fields()[2].cast_signed(), i32::MIN);
}

/// The flow-level fixed point: with y = C and no queue the rate stays; with half of it, R grows by
/// alpha / 2 a round trip.
#[test]
fn rcp_grows_with_what_is_spare() {
    for (rule, gain) in [(Rule::Rcp, 0.4), (Rule::Piqi, 0.5 * 0.45 / 0.95 * 2.0)] {
        let mut port = RcpPort::new(rate(1_250_000), &RcpConstants::of(rule), Time::ZERO);
        // Half of the capacity arrives; the RTT is 200 ms, which is known within a slot.
        let mut rates = Vec::new();
        for ms in 0..400 {
            let mut header = packet(1e9, 200);
            port.on_packet(at_ms(ms), Bytes::new(625), Bytes::ZERO, Some(&mut header));
            assert!(header.rate() <= port.rate());
            rates.push(port.rate().get());
        }
        let grown = rates[399] / rates[199];
        // 20 slots of 1 + gain / 2 / 20 each.
        let expected = (1.0_f64 + gain / 2.0 / 20.0).powi(20);
        assert!((grown / expected - 1.0).abs() < 0.02, "{rule:?}: {grown} for {expected}");
    }
}

#[test]
fn rcp_never_exceeds_its_target_nor_falls_to_nothing() {
    for (queue, low, high) in [(0, 1_249_000.0, 1_250_000.0), (1_000_000_000, 999.0, 1001.0)] {
        let mut port = RcpPort::new(rate(1_250_000), &RcpConstants::of(Rule::Rcp), Time::ZERO);
        for _ in 0..20_000 {
            port.on_timer(port.next_timer(), Bytes::new(queue));
        }
        let rate = port.rate().get();
        assert!((low..=high).contains(&rate), "{rate}");
    }
}

#[test]
fn an_offer_is_taken_at_once_or_by_a_ramp() {
    let (rtt, offer, least) =
        (Duration::from_millis(100), Throughput::new(1e6), Throughput::new(1.0));
    let mut rcp = RcpSender::new(Throughput::new(1e9), Rule::Rcp);
    rcp.on_ack(at_ms(100), offer, rtt, least, false);
    assert_eq!(rcp.rate(), offer);
    let mut piqi = RcpSender::new(Throughput::new(1e9), Rule::Piqi);
    for ms in 0..100 {
        piqi.on_ack(at_ms(1000 + ms), offer, rtt, least, false);
    }
    // The first step is a whole round trip's, half of the way; then half of the rest in another.
    // The exponential of -0.5 times 99 of 100 ms.
    let expected = 1.0 - 0.5 * 0.6096;
    assert!((piqi.rate().get() / 1e6 - expected).abs() < 0.01, "{}", piqi.rate());
    piqi.on_ack(at_ms(1200), Throughput::new(1e5), rtt, least, false);
    assert_eq!(piqi.rate().get(), 1e5, "downwards at once");
    piqi.on_loss(Throughput::new(1.0));
    let halfway = (piqi.rate().get() + 5e5) / 2.0;
    piqi.on_ack(at_ms(1300), offer, rtt, least, true);
    let rate = piqi.rate().get();
    assert!(
        (rate / halfway - 1.0).abs() < 1e-4,
        "to half of it, until the loss is repaired: {rate}"
    );
}

/// Queues drain while losses are repaired, and routers may offer next to nothing, also before the
/// loss is noticed. Neither the repair nor the pace of a packet may stay at that rate.
#[test]
fn while_a_loss_is_repaired_half_of_an_offer_is_taken() {
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(30_000.0));
    let mut sender = RcpSender::new(Throughput::new(1e9), Rule::Rcp);
    let mut hear = |ms, offered, is_repairing| {
        sender.on_ack(at_ms(ms), Throughput::new(offered), rtt, least, is_repairing);
        sender.rate().get()
    };
    assert_eq!(hear(0, 0.0, false), 3e4);
    let repairing = [(10, 2e6), (20, 0.0), (30, 4e5), (40, 1e6)].map(|(ms, r)| hear(ms, r, true));
    assert_eq!(repairing, [1e6, 3e4, 2e5, 5e5]);
    assert_eq!(hear(50, 1e6, false), 1e6, "it is repaired");
    // The rate before the loss; one round trip later about two thirds of it are remembered.
    let mut sender = RcpSender::new(Throughput::new(1e9), Rule::Rcp);
    for ms in (0..=100).step_by(10) {
        let offered = Throughput::new(if ms == 0 { 1e6 } else { 0.0 });
        sender.on_ack(at_ms(ms), offered, rtt, least, false);
    }
    sender.on_loss(least);
    assert_eq!(sender.rate(), least);
    // The routers' word no longer arrives: the rate grows to half of what is remembered, in four
    // round trips.
    let unheard = [250, 350, 450, 550, 650, 750].map(|ms| {
        sender.on_unheard(at_ms(ms), rtt);
        sender.rate().get()
    });
    let halved = unheard[5];
    assert!((2.9e5..3.1e5).contains(&halved), "{halved}");
    assert_eq!(unheard, [6e4, 1.2e5, 2.4e5, halved, halved, halved]);
    sender.on_loss(least);
    assert_eq!(sender.rate().get(), (halved / 2.0).floor());
    // A ramp begins at the minimum rate.
    let mut piqi = RcpSender::new(Throughput::new(1e9), Rule::Piqi);
    piqi.on_ack(at_ms(100), Throughput::new(1e3), rtt, least, false);
    assert_eq!(piqi.rate(), least);
}

/// JetMax's counterpart of the RCP test: steps by tau of the way.
#[test]
fn while_a_loss_is_repaired_half_of_g_is_gone_for() {
    let (rtt, least) = (Duration::from_millis(100), Throughput::new(1.0));
    let mut sender = JetmaxSender::new(Throughput::new(1e9));
    sender.start(Bytes::new(100_000), rtt);
    let mut port = JetmaxPort::new(rate(1_000_000), &JetmaxConstants::default(), 7, Time::ZERO);
    assert_eq!(sender.rate().get(), 1e6);
    sender.on_loss(least);
    assert_eq!(sender.rate().get(), 5e5);
    let mut ms = 0;
    let mut rates = |capacity: u64, is_repairing, may_grow| {
        port.set_capacity(rate(capacity));
        for _ in 0..100 {
            let mut header = sender.on_send();
            port.on_timer(at_ms(ms));
            port.on_packet(at_ms(ms), Bytes::new(1500), Some(&mut header));
            sender.on_ack(&JetmaxAnswer::to(&header), least, is_repairing, may_grow);
            ms += 10;
        }
        (sender.rate().get(), sender.fair().get())
    };
    assert!(rates(10_000, true, true).0 < 1e5);
    let low = rates(100_000_000, true, false).0;
    assert!(low < 1e5, "something else holds it: {low}");
    let (repairing, fair) = rates(100_000_000, true, true);
    assert!(fair > 1e7 && (repairing / fair - 0.5).abs() < 0.01, "{repairing} of {fair}");
    let (repaired, fair) = rates(100_000_000, false, true);
    assert!((repaired / fair - 1.0).abs() < 0.01, "{repaired} of {fair}");
}

/// A queue with a steady departure rate. Packets come faster, and some are dropped; then slower,
/// which teaches nothing; then as fast as assumed, with no queue.
#[test]
fn a_meter_finds_what_leaves_while_something_waits() {
    let size = Bytes::new(1500);
    let mut believed = Throughput::new(1.25e9);
    // 1500 bytes leave in a millisecond. Of two packets that come in it one stays, or finds no
    // room.
    let mut meter = Meter::default();
    let passed = Duration::from_micros(500);
    for i in 0..400_u64 {
        let waiting = (i * 750).min(60_000);
        let now = Time::ZERO + Duration::from_micros(500 * (i + 1));
        meter.on_packet(passed, size, Bytes::new(waiting), Bytes::new(750 * i));
        believed = meter.read(now, believed);
    }
    assert!((believed.get() - 1.5e6).abs() < 0.001 * 1.5e6, "{believed}");
    // A queue that replaces another counts from 0.
    let mut meter = Meter::default();
    for sent in [75_000, 0] {
        meter.on_packet(Duration::from_millis(50), size, size, Bytes::new(sent));
    }
    let after = meter.read(at_ms(100), believed);
    assert!((after.get() / believed.get() - 1.0).abs() < 0.001, "{after}");
    // 1.5 kB every 2 ms without a queue: half of the assumed rate.
    let mut meter = Meter::default();
    let mut idle = |every: u64, believed| {
        (1..=200_u64 / every).fold(believed, |believed, i| {
            meter.on_packet(Duration::from_millis(every), size, Bytes::ZERO, Bytes::new(1500 * i));
            meter.read(at_ms(every * i), believed)
        })
    };
    assert_eq!(idle(2, believed), believed);
    let mut meter = Meter::default();
    let mut probed = believed;
    for ms in 1..=50 {
        meter.on_packet(Duration::from_millis(1), size, Bytes::ZERO, Bytes::new(1500 * ms));
        probed = meter.read(at_ms(ms), probed);
    }
    assert!((probed.get() / believed.get() - 1.05).abs() < 1e-6, "a twentieth a window: {probed}");
}

proptest! {
    #[test]
    fn products_are_exact_or_saturate(a: u64, b: u64, shift in 0_u32..64) {
        let exact = (u128::from(a) * u128::from(b)) >> shift;
        prop_assert_eq!(u128::from(mul_shift(a, b, shift)), exact.min(MOST));
    }

    #[test]
    fn shares_are_exact_to_many_digits(
        n in 1_u64..1 << 62, d in 1_u64..1 << 40, of in 1_u64..1 << 50,
    ) {
        let share = (n as f64 / d as f64).min(f64::from(u32::MAX));
        let exact = share * of as f64;
        let got = share_times(n, d, of) as f64;
        prop_assert!(got <= exact * 1.000_001);
        prop_assert!(got >= (exact * 0.999_999 - 1.0).min(MOST as f64 * 0.999), "{} for {}", got, exact);
        let of = of as u32;
        let got = share_part(n, d, of);
        prop_assert!(got == share_times(n, d, of.into()) || got > MOST as u64, "{}", got);
    }

    #[test]
    fn fields_come_back(rate: u32, rtt_us: u32, change: i32) {
        let header = Header::from_fields([rate, rtt_us, change.cast_unsigned()]);
        prop_assert_eq!(Header::new(header.rate(), header.rtt(), header.change()), header);
    }

    /// A port grants no more than it may and its clock runs on, whatever arrives in whatever order.
    #[test]
    fn any_packets_leave_a_port_in_order(
        packets in prop::collection::vec((any::<[u32; 3]>(), 0_u64..100_000, 0_u64..10_000_000_000, 0_u64..1 << 34), 1..200),
        capacity in 0_u64..1 << 37,
    ) {
        let mut xcp = XcpPort::new(rate(capacity), &XcpConstants::default(), Time::ZERO);
        let mut rcp = RcpPort::new(rate(capacity), &RcpConstants::of(Rule::Rcp), Time::ZERO);
        let mut now = Time::ZERO;
        for (fields, size, wait, queue) in packets {
            now += Duration::from_nanos(wait);
            let (size, queue) = (Bytes::new(size), Bytes::new(queue));
            let mut header = Header::from_fields(fields);
            let wish = header.change();
            xcp.on_packet(now, size, queue, Some(&mut header));
            prop_assert!(header.change() <= wish);
            prop_assert!(xcp.next_timer() > now);
            let mut header = Header::from_fields(fields);
            rcp.on_packet(now, size, queue, Some(&mut header));
            prop_assert!(header.rate() <= rcp.rate());
            prop_assert!(rcp.next_timer() > now);
        }
    }
}
