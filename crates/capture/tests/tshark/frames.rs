//! Frames that pause links.

use ratewire_backpressure::headroom::{PausedLink, reaction};
use ratewire_laws::AnyLaw;
use ratewire_net::spec::{Arrangement, Change, LinkId, PauseSpec, Quanta, Sockets};
use ratewire_sim::dumbbell::Dumbbell;
use ratewire_sim::record::NoRecorder;
use ratewire_sim::{run, setup::Setup};
use ratewire_transport::TransportConfig;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::{captured, tshark};

/// The link from the first sender to the first router, 100 Mbit/s.
const PAUSED: LinkId = LinkId(2);
const BACK: LinkId = LinkId(3);
const QUANTA: Quanta = Quanta(200);
const RATE: Rate = Rate::from_mbps(100);
const DELAY: Duration = Duration::from_micros(100);
const PACKET: Bytes = Bytes::new(1500);

/// Half a second of flows of these classes from one sender. The sender's link is paused because the
/// next link has a tenth of its rate.
fn setup(classes: &[u8]) -> Setup {
    let law = AnyLaw::new("noq", &[]).unwrap();
    let pairs = classes.len() as u32;
    let mut dumbbell =
        Dumbbell::new(law, pairs, Rate::from_mbps(10), Duration::from_millis(1), 500);
    dumbbell.duration = Duration::from_millis(500);
    dumbbell.transport = TransportConfig { packet: PACKET, ..TransportConfig::default() };
    let mut setup = dumbbell.setup();
    for (flow, class) in setup.flows.iter_mut().zip(classes) {
        flow.from = setup.network.links[PAUSED.index()].from;
        flow.transport.class = *class;
    }
    let hop = PausedLink {
        rate: RATE,
        delay: DELAY,
        back_rate: RATE,
        back_delay: DELAY,
        packet: PACKET,
        reaction: reaction(RATE),
        frames: 1,
    };
    let xoff = PACKET * 20;
    let link = &mut setup.network.links[PAUSED.index()];
    link.driver.sockets = Sockets::InTurn;
    link.pause = Some(PauseSpec {
        back: BACK,
        arrangement: Arrangement::Virtual,
        by_class: classes != [0],
        buffer: xoff + hop.headroom(),
        xoff,
        xon: PACKET * 10,
        quanta: QUANTA,
        reaction: hop.reaction,
        hop_round_trip: hop.latency() * 2,
        intake: Duration::ZERO,
    });
    setup.captured_links = vec![PAUSED];
    setup
}

const FIELDS: [&str; 13] = [
    "frame.interface_name",
    "frame.time_epoch",
    "macc.opcode",
    "macc.pause_time",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c3",
    "macc.cbfc.pause_time.c5",
    "eth.src",
    "eth.dst",
    "frame.len",
    "eth.fcs.status",
    "_ws.malformed",
    "_ws.expert.message",
];

/// What tshark shows of the file, in its order.
#[derive(Debug, PartialEq)]
enum Shown {
    /// A packet started to be sent on the paused link.
    Packet(Time),
    /// A frame arrived at the paused sender with these fields.
    Frame(Time, [String; 5]),
}

/// What tshark shows, after a check of the fields that all frames have in common.
fn shown(name: &str, setup: &Setup) -> Option<Vec<Shown>> {
    let (_, file) = captured(setup, false);
    let rows = tshark(name, &file, &FIELDS)?;
    let show = |row: &Vec<String>| {
        let at = Time::ZERO + Duration::from_nanos(row[1].replace('.', "").parse().unwrap());
        if row[2].is_empty() {
            return (row[0] == "s1->r1").then(|| {
                let took = DELAY + RATE.serial_time().unwrap().of(PACKET);
                Shown::Packet(at - took)
            });
        }
        let router = "02:00:00:00:00:00";
        assert_eq!(row[7..], [router, "01:80:c2:00:00:01", "64", "1", "", ""], "{row:?}");
        assert_eq!(row[0], "r1->s1");
        let says = core::array::from_fn(|i| row[2 + i].clone());
        Some(Shown::Frame(at, says))
    };
    let times = rows.iter().map(|row| row[1].as_str());
    assert!(times.is_sorted(), "in order of time");
    Some(rows.iter().filter_map(show).collect())
}

fn pause(time: &str) -> [String; 5] {
    ["0x0001", time, "", "", ""].map(str::to_owned)
}

fn frames(shown: &[Shown]) -> impl Iterator<Item = (Time, &[String; 5])> {
    shown.iter().filter_map(|shown| match shown {
        Shown::Frame(at, says) => Some((*at, says)),
        Shown::Packet(_) => None,
    })
}

/// When packets started.
fn packets(shown: &[Shown]) -> impl Iterator<Item = Time> {
    shown.iter().filter_map(|shown| match shown {
        Shown::Packet(started) => Some(*started),
        Shown::Frame(..) => None,
    })
}

/// All frames that were sent are shown, but for the last if it was still on its way.
fn all_are_shown(setup: &Setup, shown: &[Shown]) {
    let sent = run(setup, &mut NoRecorder).unwrap().links[BACK.index()].pausing.frames;
    let count = frames(shown).count() as u64;
    assert!(count == sent || count + 1 == sent, "{count} of {sent}");
}

#[test]
fn pauses_are_shown_and_obeyed_and_said_again() {
    let setup = setup(&[0]);
    let Some(shown) = shown("pause", &setup) else { return };
    all_are_shown(&setup, &shown);
    let (stop, go) = (pause("200"), pause("0"));
    // From the frame that stops the sender to the one that lets it go on.
    let (mut stands, mut since, mut repeated) = (Vec::new(), None, Vec::new());
    for (at, says) in frames(&shown) {
        match since {
            _ if *says == stop => {
                repeated.extend(since.map(|(_, last)| at.since(last)));
                since = Some((since.map_or(at, |(first, _)| first), at));
            }
            Some((first, _)) if *says == go => {
                stands.push((first, at));
                since = None;
            }
            _ => panic!("{at}: {says:?}"),
        }
    }
    // A pause is repeated after half its time, give or take the acknowledgement being sent.
    for apart in &repeated {
        let early = apart.secs() - QUANTA.time(RATE).secs() / 2.0;
        assert!(early.abs() <= 3.2e-6, "{early}");
    }
    assert!(repeated.len() > 100 && stands.len() > 10, "{} {}", repeated.len(), stands.len());
    for started in packets(&shown) {
        let held = |(stop, go): &&(Time, Time)| {
            *stop + reaction(RATE) < started && started < *go + reaction(RATE)
        };
        assert_eq!(stands.iter().find(held), None, "{started}");
    }
}

/// While the reverse link is down no pause is repeated, and the sender resumes when the time is
/// over.
#[test]
fn a_pause_that_is_not_repeated_expires() {
    let mut setup = setup(&[0]);
    let down = Time::ZERO + Duration::from_millis(100);
    let up = down + Duration::from_millis(5);
    setup.changes = vec![(down, BACK, Change::Up(false)), (up, BACK, Change::Up(true))];
    let Some(shown) = shown("expiry", &setup) else { return };
    all_are_shown(&setup, &shown);
    // A frame that has been sent still arrives.
    let (paused_at, says) =
        frames(&shown).take_while(|(at, _)| *at <= down + DELAY).last().unwrap();
    assert_eq!(says, &pause("200"));
    let next = frames(&shown).find(|(at, _)| *at > paused_at).unwrap().0;
    assert!(next > up, "{next}");
    let goes_on = paused_at + reaction(RATE) + QUANTA.time(RATE);
    let first = packets(&shown).find(|started| *started > paused_at + reaction(RATE)).unwrap();
    assert!(first.since(goes_on).max(goes_on.since(first)) < Duration::from_nanos(2), "{first}");
}

#[test]
fn classes_are_paused_by_their_own_frames() {
    let mut setup = setup(&[3, 5]);
    // The reverse link is captured as well, each frame once.
    setup.captured_links = vec![BACK, PAUSED];
    let Some(shown) = shown("classes", &setup) else { return };
    all_are_shown(&setup, &shown);
    let mut seen = [0; 4];
    for (_, [opcode, pause_time, enabled, third, fifth]) in frames(&shown) {
        assert_eq!((&**opcode, &**pause_time), ("0x0101", ""));
        let (third, fifth) = match &**enabled {
            "0x0008" => (Some(third), None),
            "0x0020" => (None, Some(fifth)),
            "0x0028" => (Some(third), Some(fifth)),
            other => panic!("classes {other}"),
        };
        for (time, at) in [(third, 0), (fifth, 2)] {
            match time.map(|time| &**time) {
                Some("200") => seen[at] += 1,
                Some("0") => seen[at + 1] += 1,
                Some(other) => panic!("{other} quanta"),
                None => {}
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}
