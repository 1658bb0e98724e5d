//! What varies on a link: losses, queues and delays that change, and what a link does at random.

use ratewire_net::spec::{Change, Limit, LinkId, LinkJitter, Loss, TokenBucket};
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, PacketSeen, Recorder,
};
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::common::{parse_with, refused, scenario, setup, warned};

/// A dumbbell of one pair with further properties of its bottleneck, and further lines.
fn dumbbell(bottleneck: &str, more: &str) -> String {
    format!(
        "duration = \"1 s\"\nlaw = \"cubic\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"100 Mbit/s\", delay = \"10 ms\", {bottleneck} }}\n\
         access = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[flow]]\nfrom = \"s1\"\nto = \"d1\"\n{more}\n"
    )
}

/// A table that changes the bottleneck at 0.5 s.
fn change(more: &str) -> String {
    dumbbell("", &format!("[[change]]\nat = \"0.5 s\"\nlink = \"bottleneck\"\n{more}"))
}

/// What is seen of the bottleneck.
#[derive(Default)]
struct Seen {
    samples: Vec<LinkSample>,
    packets: Vec<PacketSeen>,
    outcome: Option<Outcome>,
}

impl Recorder for Seen {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, sample: &LinkSample) {
        if sample.link == LinkId(0) {
            self.samples.push(*sample);
        }
    }
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn packet(&mut self, seen: &PacketSeen) {
        self.packets.push(*seen);
    }
}

fn run(setup: &Setup) -> Seen {
    assert_eq!(setup.network.links[0].name, "bottleneck");
    let mut seen = Seen::default();
    seen.outcome = Some(ratewire_sim::run(setup, &mut seen).expect("a run"));
    seen
}

fn samples(setup: &Setup) -> Vec<LinkSample> {
    run(setup).samples
}

/// Times in seconds and changes of a link.
fn changes(setup: &Setup) -> Vec<(f64, &Change)> {
    let mut all: Vec<_> = setup.changes.iter().collect();
    all.sort_by_key(|(at, ..)| *at);
    all.iter().map(|(at, _, change)| (at.secs(), change)).collect()
}

#[test]
fn loss_begins_at_its_change() {
    let setup = setup(&change("loss = { random = 0.1 }"));
    assert!(setup.has_chance());
    let half = Time::ZERO + setup.duration / 2;
    let all = samples(&setup);
    let lost = |is_meant: &dyn Fn(&&LinkSample) -> bool| {
        let meant = all.iter().filter(is_meant);
        meant.map(|sample| sample.drops.lost).sum::<u64>()
    };
    assert_eq!(lost(&|sample| sample.at <= half), 0);
    assert!(lost(&|sample| sample.at > half) > 5);
}

#[test]
fn a_queue_changes_to_bytes_packets_and_round_trips() {
    let limit = |more: &str| match changes(&setup(&change(more))).last() {
        Some((0.5, Change::Limit(limit))) => *limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(limit("queue = \"20 packets\""), Limit::Packets(20));
    assert_eq!(limit("queue = \"64 KB\""), Limit::Bytes(Bytes::new(64_000)));
    assert_eq!(limit("queue = \"unlimited\""), Limit::Unlimited);
    // A round trip of 2 (10 + 2) ms, at the link's own rate and at that of the change.
    assert_eq!(limit("queue = \"1 bdp\""), Limit::Bytes(Bytes::new(300_000)));
    let of_new_rate = limit("rate = \"20 Mbit/s\"\nqueue = \"1 bdp\"");
    assert_eq!(of_new_rate, Limit::Bytes(Bytes::new(60_000)));
}

#[test]
fn a_change_is_made_again_until_the_end() {
    let twice = |at: &str, up: bool| {
        format!("[[change]]\nat = \"{at}\"\nevery = \"200 ms\"\nlink = \"bottleneck\"\nup = {up}\n")
    };
    let setup = setup(&dumbbell("", &(twice("300 ms", false) + &twice("400 ms", true))));
    let found: Vec<(f64, bool)> = changes(&setup)
        .into_iter()
        .map(|(at, change)| (at, matches!(change, Change::Up(true))))
        .collect();
    let expected = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].iter().enumerate();
    let expected: Vec<(f64, bool)> = expected.map(|(i, at)| (*at, i % 2 == 1)).collect();
    assert_eq!(found, expected, "the run ends at 1 s");
    let down = samples(&setup).iter().map(|sample| sample.drops.down).sum::<u64>();
    assert!(down > 0);
}

/// At the same time, the last table of the file holds, and the others are in vain.
#[test]
fn tables_that_never_take_turns_are_warned_of() {
    let table = |at: &str, every: &str, link: &str, more: &str| {
        format!("[[change]]\nat = \"{at}\"\nevery = \"{every}\"\nlink = \"{link}\"\n{more}\n")
    };
    let with = |at, every, link, more| {
        let first = table("100 ms", "200 ms", "bottleneck", "up = false");
        warned(&dumbbell("", &(first + &table(at, every, link, more))))
    };
    for (at, from) in [("100 ms", "100 ms"), ("500 ms", "500 ms")] {
        let said = with(at, "200 ms", "bottleneck*", "up = true");
        let wanted = format!(
            "[[change]] 1 and [[change]] 2 change `up` of \"bottleneck\" together, each 200 ms from {from} on"
        );
        assert!(said.contains(&wanted), "{said}");
        assert!(
            said.contains("to take turns, let their `at` differ by a part of 200 ms"),
            "{said}"
        );
    }
    for (at, every, link, more) in [
        ("200 ms", "200 ms", "bottleneck", "up = true"),
        ("500 ms", "200 ms", "bottleneck.reverse", "up = false"),
        ("500 ms", "200 ms", "bottleneck", "delay = \"20 ms\""),
        ("500 ms", "250 ms", "bottleneck", "up = true"),
    ] {
        assert_eq!(with(at, every, link, more), "", "{at} {every} {link} {more}");
    }
}

#[test]
fn a_change_that_cannot_be_made_is_refused() {
    for (more, says) in [
        ("every = \"0 s\"\nup = false", "`every` cannot be 0 s"),
        ("every = \"100 ns\"\nup = false", "changes links more than a million times"),
        ("every = \"1 s\"", "[[change]] 1 changes nothing"),
        ("loss = { randm = 0.1 }", "unknown key `randm` in `loss`"),
        ("loss = { random = 2 }", "`random` cannot be the number 2"),
        ("queue = \"10 B\"", "10 B is less than a full packet"),
    ] {
        let said = refused(&change(more));
        assert!(said.contains(says), "{more}: {said}");
    }
    let burst = setup(&change("loss = { burst = { turn_bad = 0.1, turn_good = 0.2 } }"));
    assert!(matches!(changes(&burst)[0].1, Change::Loss(Loss::Burst { .. })));
}

/// A policer drops what exceeds its tokens, and a shaper delays it: both send 64 KB at once and
/// then 10 Mbit/s, of a sender that does not care.
#[test]
fn a_token_bucket_passes_its_burst_and_then_its_rate() {
    let bucket = TokenBucket { rate: Rate::from_mbps(10), burst: Bytes::new(64_000) };
    for key in ["policer", "shaper"] {
        let text = dumbbell(
            &format!("{key} = {{ rate = \"10 Mbit/s\", burst = \"64 KB\" }}"),
            "[record]\ninterval = \"10 ms\"\n[transport]\nhandshake = false\n[options.fixed]\nrate = \"50 Mbit/s\"",
        );
        let setup = setup(&text.replace("cubic", "fixed"));
        let variation = setup.network.links[0].variation.clone().expect("a bucket");
        let (policer, shaper) = (variation.policer, variation.shaper);
        let is_policer = key == "policer";
        assert_eq!(
            [policer, shaper],
            if is_policer { [Some(bucket), None] } else { [None, Some(bucket)] }
        );
        let all = samples(&setup);
        let (mut sent, mut most) = (0.0, 0.0);
        for sample in &all {
            sent += sample.sent.as_f64();
            let granted = 64_000.0 + 1_250_000.0 * sample.at.secs();
            assert!(sent <= granted, "{key}: {sent} of {granted} at {}", sample.at);
            most = granted;
        }
        assert!(sent > 0.99 * most, "{key}: {sent} of {most}");
        let burst = all.iter().map(|sample| sample.sent.as_f64() * 8.0 / 0.01).fold(0.0, f64::max);
        assert!((45e6..55e6).contains(&burst), "{key}: the burst passes at {burst} bit/s");
        let exceeding: u64 = all.iter().map(|sample| sample.drops.exceeding).sum();
        let dropped: u64 = all.iter().map(|sample| sample.drops.total()).sum();
        let full: u64 = all.iter().map(|sample| sample.drops.full).sum();
        assert_eq!(dropped, exceeding + full);
        assert_eq!((exceeding > 0, full > 0), (is_policer, !is_policer), "{key}");
    }
}

#[test]
fn a_bucket_that_no_packet_passes_is_refused() {
    let bucket = |rate: &str, burst: &str| format!("{{ rate = \"{rate}\", burst = \"{burst}\" }}");
    for key in ["policer", "shaper"] {
        let with = |more: String| refused(&dumbbell(&format!("{key} = {more}"), ""));
        let said = with(bucket("0 Mbit/s", "64 KB"));
        assert!(said.contains(&format!("`rate` of `{key}` cannot be 0")), "{said}");
        let said = with(bucket("1 Mbit/s", "900 B"));
        assert!(said.contains("is 900 B, less than a packet of 1.5 KB"), "{said}");
        let said = with(format!("{}, overhead = \"38 B\"", bucket("1 Mbit/s", "1 packets")));
        assert!(said.contains("is 1.5 KB, less than a packet of 1.538 KB"), "{said}");
        let said = with("true".to_string());
        assert!(said.contains("\"none\" or { rate, burst }"), "{said}");
        let whole = format!("{key} = {}", bucket("1 Mbit/s", "1 packets"));
        assert_eq!(warned(&dumbbell(&whole, "")), "");
        let changed = format!("[[link]]\nname = \"bottleneck*\"\n{key} = \"none\"");
        let link = &setup(&dumbbell(&whole, &changed)).network.links[0];
        assert!(link.is_plain(), "{link:?}");
    }
    let said = refused(&dumbbell(&format!("police = {}", bucket("1 Mbit/s", "64 KB")), ""));
    assert!(said.contains("unknown key `rate` in `police`"), "{said}");
    assert!(said.contains("a token bucket is `policer`, with `rate` and `burst`"), "{said}");
    let half = format!("duplex = \"half\", shaper = {}", bucket("1 Mbit/s", "2 packets"));
    let said = refused(&dumbbell(&half, ""));
    assert!(said.contains("is on a half-duplex medium and has a shaper"), "{said}");
}

#[test]
fn jitter_delays_by_0_to_5_ms_in_order() {
    let more = "[transport]\nhandshake = false\n[options.fixed]\nrate = \"1 Mbit/s\"";
    let mut setup = setup(&dumbbell("jitter = \"5 ms\"", more).replace("cubic", "fixed"));
    assert!(setup.has_chance());
    setup.captured_links = vec![LinkId(0)];
    let times = |setup: &Setup| -> Vec<f64> {
        run(setup).packets.iter().map(|seen| seen.packet.at.secs()).collect()
    };
    let varied = times(&setup);
    setup.network.links[0].variation = None;
    let steady = times(&setup);
    assert!(varied.len() > 70 && varied.is_sorted());
    let late: Vec<f64> = varied.iter().zip(&steady).map(|(late, on_time)| late - on_time).collect();
    assert!(late.iter().all(|late| (-1e-9..0.005).contains(late)), "{late:?}");
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((mean - 0.0025).abs() < 4.0 * 0.005 / (12.0 * late.len() as f64).sqrt(), "{mean}");
}

#[test]
fn jitter_is_a_time_or_a_normal_distribution() {
    let with = |value: &str| dumbbell(&format!("jitter = {value}"), "");
    let jitter = |value: &str| {
        let link = setup(&with(value)).network.links[0].clone();
        link.variation.and_then(|variation| variation.jitter)
    };
    let ms = Duration::from_millis;
    assert_eq!(jitter("\"none\""), None);
    assert_eq!(jitter("\"0 s\""), None);
    assert_eq!(jitter("\"5 ms\""), Some(LinkJitter::Uniform(ms(5))));
    let normal = LinkJitter::Normal { mean: ms(5), deviation: ms(1) };
    assert_eq!(jitter("{ mean = \"5 ms\", deviation = \"1 ms\" }"), Some(normal));
    for (value, says) in [
        ("5", "\"none\", a time, or { mean, deviation }"),
        ("\"5 mss\"", "`jitter`: "),
        ("{ mean = \"5 ms\" }", "needs the key `deviation`"),
    ] {
        let said = refused(&with(value));
        assert!(said.contains(says), "{value}: {said}");
    }
}

/// Delays below 0 become 0, so the mean of what is left is higher. The figures are of tables of the
/// normal distribution.
#[test]
fn normal_jitter_that_is_often_below_0_is_warned_of() {
    let with = |mean: &str, deviation: &str| {
        let jitter = format!("jitter = {{ mean = \"{mean}\", deviation = \"{deviation}\" }}");
        warned(&dumbbell(&jitter, ""))
    };
    for (mean, deviation, real, below) in [
        ("1 ms", "50 ms", "20.5 ms", "49 %"),
        // The mean of half a normal distribution is sqrt(2 / pi) / 2 deviations.
        ("0 s", "1 ms", "399 us", "50 %"),
        ("10 ms", "10 ms", "10.8 ms", "16 %"),
    ] {
        let said = with(mean, deviation);
        let wanted = format!("the mean of this jitter is {real}, and not {mean}");
        assert!(said.contains(&wanted) && said.contains(&format!("{below} would be")), "{said}");
    }
    assert_eq!(with("2 ms", "1 ms"), "", "2.3 % are below 0");
    assert_eq!(with("0 s", "0 s"), "");
}

/// A copy is no sign of loss: a receiver that says nothing new of it lets its sender go on.
#[test]
fn a_hundredth_of_the_packets_arrives_twice_and_the_flow_goes_on() {
    let of = |duplicate: &str, law: &str| {
        let text = dumbbell(&format!("duplicate = {duplicate}"), "size = \"3 MB\"");
        let mut setup = setup(&text.replace("cubic", law));
        setup.captured_links = vec![LinkId(0)];
        let seen = run(&setup);
        let outcome = seen.outcome.expect("an outcome");
        let flow = outcome.flows[0].clone();
        assert_eq!(flow.delivered, Bytes::new(3_000_000), "{law}");
        assert!(outcome.packets.are_conserved());
        let copies = |link: usize| outcome.links[link].disturbances.duplicated;
        assert_eq!(copies(0) + copies(1), outcome.packets.duplicated, "both directions do it");
        let (sent, copies) = (outcome.links[0].packets, copies(0));
        assert_eq!(seen.packets.len() as u64, sent + copies, "copies are captured, too");
        (copies, sent, flow)
    };
    for law in ["newreno", "cubic", "dctcp"] {
        let (none, sent, alone) = of("0", law);
        assert_eq!(none, 0);
        let (copies, again, flow) = of("0.01", law);
        let expected = again as f64 * 0.01;
        assert!((copies as f64 - expected).abs() < 4.0 * (expected * 0.99).sqrt(), "{copies}");
        assert_eq!(
            (again, flow.retransmitted_packets),
            (sent, alone.retransmitted_packets),
            "{law}"
        );
        assert_eq!(flow.completed, alone.completed, "{law}");
        let (all, ..) = of("1", law);
        assert_eq!(all, sent);
    }
}

/// Times for which a link is up, and down, in seconds; each ends within the run.
fn spells(setup: &Setup, link: usize) -> [Vec<f64>; 2] {
    let (mut spells, mut last) = ([Vec::new(), Vec::new()], Time::ZERO);
    let of_it = setup.changes.iter().filter(|(_, id, _)| id.index() == link);
    for (i, (at, _, change)) in of_it.enumerate() {
        assert!(matches!(change, Change::Up(up) if *up == (i % 2 == 1)), "up and down in turn");
        spells[i % 2].push(at.since(last).secs());
        last = *at;
    }
    spells
}

#[test]
fn outages_have_exponential_times() {
    let text = dumbbell("outages = { up = \"5 s\", down = \"1 s\" }", "")
        .replace("1 s\"\nlaw", "30 h\"\nlaw");
    let scenario = scenario(&text);
    let setup = scenario.setup(None, None).unwrap();
    assert!(setup.has_chance());
    let [up, down] = spells(&setup, 0);
    for (spells, mean) in [(&up, 5.0), (&down, 1.0)] {
        let n = spells.len() as f64;
        assert!(n > 10_000.0);
        // Four standard deviations of each figure; that of an exponential time is its mean.
        let found = spells.iter().sum::<f64>() / n;
        assert!((found / mean - 1.0).abs() < 4.0 / n.sqrt(), "{found} and not {mean}");
        for times in [0.5, 1.0, 2.0, 3.0] {
            let longer = spells.iter().filter(|time| **time > times * mean).count() as f64 / n;
            let p = libm::exp(-times);
            assert!((longer - p).abs() < 4.0 * (p * (1.0 - p) / n).sqrt(), "{times}: {longer}");
        }
    }
    assert_ne!(up, spells(&setup, 1)[0], "each direction has its own");
    assert_ne!(up, spells(&scenario.setup(None, Some(2)).unwrap(), 0)[0], "each seed has its own");
    let other = text.replace(
        "[[flow]]",
        "[[link]]\nname = \"bottleneck.reverse\"\noutages = \"none\"\n[[flow]]",
    );
    let other = crate::common::setup(&other);
    assert_eq!((spells(&other, 0)[0].clone(), spells(&other, 1)[0].len()), (up, 0));
}

/// A half-duplex cable is one medium, and goes down as a whole.
#[test]
fn both_directions_of_a_half_duplex_cable_go_down_together() {
    let of = |duplex: &str, more: &str| {
        let outages = "outages = { up = \"50 ms\", down = \"10 ms\" }";
        dumbbell(&format!("{duplex}, {outages}"), more)
    };
    let half = setup(&of("duplex = \"half\"", ""));
    assert!(spells(&half, 0)[0].len() > 5);
    assert_eq!(spells(&half, 0), spells(&half, 1));
    let full = setup(&of("duplex = \"full\"", ""));
    assert_eq!(spells(&full, 0), spells(&half, 0));
    assert_ne!(spells(&full, 0), spells(&full, 1));
    // Others may be on the medium, as stations that go out of reach.
    let named = setup(&of("medium = \"air\"", ""));
    assert_ne!(spells(&named, 0), spells(&named, 1));
    let one = "[[link]]\nname = \"bottleneck.reverse\"\noutages = \"none\"";
    let said = refused(&of("duplex = \"half\"", one));
    let wanted = "\"bottleneck\" and \"bottleneck.reverse\" share a half-duplex cable and differ in `outages`";
    assert!(said.contains(wanted), "{said}");
    assert!(!spells(&setup(&of("duplex = \"full\"", one)), 0)[0].is_empty());
}

#[test]
fn a_link_is_down_and_drops_as_its_outages_say() {
    let text = dumbbell(
        "outages = { up = \"50 ms\", down = \"10 ms\" }",
        "[options.fixed]\nrate = \"50 Mbit/s\"",
    );
    let setup = setup(&text.replace("cubic", "fixed"));
    let [up, down] = spells(&setup, 0);
    let outcome = run(&setup).outcome.expect("an outcome");
    let (link, seen) = (&outcome.links[0], outcome.links[0].disturbances);
    assert_eq!(seen.outages, up.len() as u64);
    // The last outage may go on until the end.
    let rest = if up.len() > down.len() { 1.0 - up.iter().chain(&down).sum::<f64>() } else { 0.0 };
    assert!((seen.down.secs() - down.iter().sum::<f64>() - rest).abs() < 1e-9, "{seen:?}");
    // A packet of 1.5 KB comes each 240 us.
    let expected = seen.down.secs() / 240e-6;
    assert!(
        (link.drops.down as f64 / expected - 1.0).abs() < 0.05,
        "{} {expected}",
        link.drops.down
    );
}

#[test]
fn outages_that_cannot_be_are_refused() {
    for (outages, more, says) in [
        ("{ up = \"5 s\" }", "", "needs the key `down`"),
        ("{ up = \"0 s\", down = \"1 s\" }", "", "`up` of `outages` cannot be 0 s"),
        ("{ up = \"1 us\", down = \"100 ns\" }", "", "more than a million changes"),
        ("true", "", "\"none\" or { up, down }"),
        (
            "{ up = \"5 s\", down = \"1 s\" }",
            "[[change]]\nat = \"1 ms\"\nlink = \"bottleneck\"\nup = true",
            "\"bottleneck\" goes down and comes up by its `outages`",
        ),
    ] {
        let said = refused(&dumbbell(&format!("outages = {outages}"), more));
        assert!(said.contains(says), "{outages}: {said}");
    }
    // Of each link fewer than a million, of both directions more.
    let many = dumbbell("outages = { up = \"1 us\", down = \"1.5 us\" }", "");
    assert!(refused(&many).contains("of all links are more than a million changes"));
}

/// A dumbbell whose bottleneck, there and back, takes its delay from a file.
fn traced(trace: &str, more: &str) -> Result<Setup, String> {
    let text = dumbbell("delay_trace = \"x\"", more).replace("delay = \"10 ms\", ", "");
    let scenario = parse_with(&text, &[("x", trace)]).map_err(|all| all.to_string())?;
    Ok(scenario.setup(None, None).expect("a setup"))
}

#[test]
fn a_trace_of_delays_becomes_changes_until_the_end() {
    let setup = traced("7 10\n7.1 40\n7.3 10\n", "").unwrap();
    let of_it = setup.changes.iter().filter(|(_, link, _)| link.index() == 0);
    let found: Vec<(f64, f64)> = of_it
        .map(|(at, _, change)| match change {
            Change::Delay(delay) => (at.secs() * 1e3, delay.secs() * 1e3),
            other => panic!("{other:?}"),
        })
        .collect();
    // 10 ms for 0.1 s, 40 for 0.2 and 10 for 0.15, again from 0.45 s on.
    let expected = [(0, 10), (100, 40), (300, 10), (550, 40), (750, 10)]
        .map(|(at, ms)| (f64::from(at), f64::from(ms)));
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found.0 - expected.0).abs() < 1e-9 && found.1 == expected.1, "{found:?}");
    }
    // The mean counts where a propagation delay is needed: 100 Mbit/s for 2 (23.3 + 2) ms.
    let mean = (10.0 * 0.25 + 40.0 * 0.2) / 0.45;
    let link = &setup.network.links[0];
    assert!((link.delay.secs() * 1e3 - mean).abs() < 1e-9, "{}", link.delay);
    let bdp = 1e8 / 8.0 * 2.0 * (mean + 2.0) / 1e3;
    assert!(matches!(link.limit, Limit::Bytes(room) if (room.as_f64() - bdp).abs() < 2.0));
}

#[test]
fn packets_take_the_delay_of_the_trace_in_order() {
    let more =
        "[transport]\nhandshake = false\njitter = \"none\"\n[options.fixed]\nrate = \"1 Mbit/s\"";
    let text = dumbbell("delay_trace = \"x\"", more).replace("delay = \"10 ms\", ", "");
    let trace = [("x", "0 10\n0.25 40\n0.5 10\n0.75 10\n")];
    let scenario = parse_with(&text.replace("cubic", "fixed"), &trace).unwrap();
    let mut setup = scenario.setup(None, None).unwrap();
    setup.captured_links = vec![LinkId(0)];
    let arrivals: Vec<f64> = run(&setup).packets.iter().map(|seen| seen.packet.at.secs()).collect();
    assert!(arrivals.is_sorted());
    // A packet each 12 ms; 0.12 ms are for sending it on the bottleneck.
    let start = arrivals[0] - 0.010;
    for (i, at) in arrivals.iter().enumerate() {
        let sent = start + 0.012 * i as f64;
        let delay = if (0.25..0.5).contains(&sent) { 0.040 } else { 0.010 };
        // Until 0.53 s packets of the shorter delay arrive with the last of the longer one.
        let is_held = (0.5..0.53).contains(&sent);
        assert!(is_held || (at - sent - delay).abs() < 1e-6, "packet {i}: {}", at - sent);
    }
}

#[test]
fn a_delay_from_a_trace_cannot_be_given_otherwise() {
    let said =
        traced("0 10\n", "[[change]]\nat = \"1 ms\"\nlink = \"*\"\ndelay = \"1 ms\"").unwrap_err();
    assert!(said.contains("the delay of \"bottleneck\" comes from a trace"), "{said}");
    let text = dumbbell("delay_trace = \"x\"", "");
    let said = parse_with(&text, &[("x", "0 10\n")]).unwrap_err().to_string();
    assert!(said.contains("`delay_trace` and `delay` exclude each other"), "{said}");
    let said = traced("0\n", "").unwrap_err();
    assert!(said.contains("x:1: found 1 column"), "{said}");
    let fixed = "[[link]]\nname = \"bottleneck*\"\ndelay = \"3 ms\"";
    let setup = traced("0 10\n1 20\n", fixed).unwrap();
    assert!(setup.changes.is_empty() && setup.network.links[0].delay == Duration::from_millis(3));
}
