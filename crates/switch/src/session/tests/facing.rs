//! Two switches that face each other.

use super::*;

/// Frames that each member writes.
const FRAMES: u64 = 150;

/// Two rigs of this many members, one of which has connected to the other; `seed` decides what
/// paths do.
fn pair(law: &str, members: [usize; 2], path: Path, seed: u64) -> [Rig; 2] {
    let config = Config::new(Credentials::Shared([7; 32]));
    let [client, server] = ends(&config, law, [address(Side::Peer), address(Side::Peer)]);
    let rig = |kind, ends, members| {
        let peer = Peer { kind, law: AnyLaw::new(law, &[]).unwrap(), ends };
        Rig::of(config.clone(), members, path, Box::new(RoundRobin::default()), peer)
    };
    let second = rig(PeerKind::Client(EndKind::Switch), server, members[1]);
    let first = rig(PeerKind::Dialled, client, members[0]);
    let mut rigs = [first, second];
    for (rig, number) in rigs.iter_mut().zip(2 * seed..) {
        rig.random = Xoshiro256PlusPlus::seed_from_u64(number);
    }
    rigs
}

fn run(rigs: &mut [Rig; 2], until: Time) {
    loop {
        for here in 0..2 {
            rigs[here].send();
            for (at, bytes) in core::mem::take(&mut rigs[here].outside) {
                rigs[1 - here].arrivals.push_back((at, Side::Peer, 0, bytes));
            }
        }
        let next = rigs[0].next().min(rigs[1].next());
        let to = next.min(until);
        rigs.iter_mut().for_each(|rig| rig.advance(to));
        if next > until {
            return;
        }
    }
}

/// A frame of a member: the first byte of its number is the member's.
fn of(member: usize, number: u64) -> Frame {
    frame(member as u64 * FRAMES + number)
}

/// Has all members write; returns what has arrived at either side, sorted.
fn exchange(rigs: &mut [Rig; 2], mut between: impl FnMut(&mut [Rig; 2], u64)) -> [Vec<u64>; 2] {
    let members = [rigs[0].members.len(), rigs[1].members.len()];
    let mut written = [vec![0; members[0]], vec![0; members[1]]];
    let begun = rigs[0].now;
    for round in 0..6000 {
        for (rig, written) in rigs.iter_mut().zip(&mut written) {
            for (k, written) in written.iter_mut().enumerate() {
                let Some(host) = &mut rig.members[k] else { continue };
                while *written < FRAMES && host.connection.write(of(k, *written)).is_ok() {
                    *written += 1;
                }
            }
        }
        between(rigs, round);
        run(rigs, begun + Duration::from_millis(10 * (round + 1)));
        let heard =
            |rig: &Rig| (0..rig.members.len()).map(|k| rig.got(k).len() as u64).sum::<u64>();
        if heard(&rigs[0]) >= FRAMES * members[1] as u64
            && heard(&rigs[1]) >= FRAMES * members[0] as u64
        {
            break;
        }
    }
    let [first, second] = rigs;
    [first, second].map(|rig| {
        let mut all: Vec<u64> = (0..rig.members.len()).flat_map(|k| rig.got(k)).collect();
        all.sort_unstable();
        all
    })
}

fn all(members: usize) -> Vec<u64> {
    (0..members as u64 * FRAMES).collect()
}

/// Every frame of one side arrives whole at one member of the other.
fn both_ways(law: &str, path: Path, seed: u64) {
    let mut rigs = pair(law, [3, 2], path, seed);
    assert_eq!(exchange(&mut rigs, |_, _| {}), [all(2), all(3)], "{law}");
    for host in rigs.iter().flat_map(|rig| rig.members.iter().flatten()) {
        assert!(host.got.iter().all(|got| got.data == frame(got.id).data), "{law}");
    }
    // The end goes from the members of the first to those of the second, and back.
    for rig in &mut rigs {
        rig.members.iter_mut().flatten().for_each(|host| host.connection.finish());
    }
    let until = rigs[0].now + Duration::from_secs(10);
    run(&mut rigs, until);
    for rig in &rigs {
        let ends = rig.members.iter().flatten().map(|host| host.connection.closed());
        // A last word to a member may be lost when the switch has forgotten the session.
        let is_done = |end: Option<&CloseReason>| end.is_none_or(|end| *end == CloseReason::Done);
        assert!(ends.into_iter().all(is_done), "{law}");
        assert!(rig.members.iter().flatten().all(|host| host.connection.is_at_end()), "{law}");
        assert_eq!((rig.session.closed(), rig.session.is_over()), (Some(&CloseReason::Done), true));
    }
}

#[test]
fn frames_of_many_reach_many() {
    for law in ["xcp", "rcp", "cubic"] {
        both_ways(law, Path::default(), 0);
    }
}

#[test]
fn bad_paths_change_nothing_between_two_switches() {
    for seed in 0..4 {
        both_ways("xcp", BAD, seed);
        both_ways("newreno", BAD, seed);
    }
}

/// What living members write arrives, though others die before a frame of theirs is whole, or
/// before they have read all that they were sent.
#[test]
fn members_that_die_on_either_side_take_only_their_own() {
    (0..12).for_each(deaths);
}

fn deaths(seed: u64) {
    let mut rigs = pair("xcp", [3, 3], BAD, seed);
    let mut read = [Vec::new(), Vec::new()];
    let mut got = exchange(&mut rigs, |rigs, round| {
        let dies = [(2, 0), (3, 1)].into_iter().find(|(at, _)| *at == round);
        if let Some((_, side)) = dies {
            let rig = &mut rigs[side];
            read[side] = rig.got(2);
            rig.members[2] = None;
            rig.lives[2] += 1;
            rig.session.fail(rig.now, 2);
        }
    });
    for (got, read) in got.iter_mut().zip(read) {
        assert!(read.len() < 40, "it died with frames unread: {read:?}");
        // What it had read and not acknowledged comes to another, too.
        let only: Vec<u64> = read.into_iter().filter(|id| !got.contains(id)).collect();
        got.extend(only);
        got.retain(|id| *id < 2 * FRAMES);
        got.sort_unstable();
    }
    assert_eq!(got, [all(2), all(2)], "seed {seed}");
}

/// A frame that no window holds passes, and others beside it.
#[test]
fn a_frame_larger_than_all_windows_passes_two_switches() {
    let mut rigs = pair("cubic", [2, 2], Path::default(), 0);
    let until = rigs[0].now + Duration::from_millis(100);
    run(&mut rigs, until);
    let large: Vec<u8> = (0..9 << 20).map(|i| (i % 251) as u8).collect();
    assert!(rigs[0].config.receive_buffer.get() * 2 < large.len() as u64);
    let mut writes = |k: usize, frame: Frame| {
        let host = rigs[0].members[k].as_mut().unwrap();
        host.connection.write(frame).expect("room");
    };
    writes(0, Frame::new(1000, large.clone()));
    (0..50).for_each(|id| writes(1, frame(id)));
    let until = rigs[0].now + Duration::from_secs(60);
    run(&mut rigs, until);
    let got: Vec<&Frame> = rigs[1].members.iter().flatten().flat_map(|host| &host.got).collect();
    assert_eq!(got.len(), 51);
    assert!(got.iter().any(|frame| frame.id == 1000 && frame.data == large));
}

/// Members that join after the first has ended its stream are heard in the same session.
#[test]
fn the_end_of_one_member_is_not_that_of_those_that_join_later() {
    let mut rigs = pair("xcp", [2, 1], Path::default(), 0);
    let [first, second] = &mut rigs;
    let config = first.config.clone();
    let peer = |kind, ends| Peer { kind, law: AnyLaw::new("xcp", &[]).unwrap(), ends };
    let [client, server] = ends(&config, "xcp", [address(Side::Peer), address(Side::Peer)]);
    let routing = || Box::new(RoundRobin::default());
    let mut early = Rig::unbegun(
        config.clone(),
        2,
        Path::default(),
        routing(),
        peer(PeerKind::Dialled, client),
    );
    *second = Rig::of(
        config,
        1,
        Path::default(),
        routing(),
        peer(PeerKind::Client(EndKind::Switch), server),
    );
    early.start(0);
    early.members[0].as_mut().unwrap().connection.finish();
    *first = early;
    run(&mut rigs, ms(100));
    rigs[0].start(1);
    rigs[0].session.begin(ms(100));
    let host = rigs[0].members[1].as_mut().unwrap();
    host.connection.write(frame(7)).expect("room");
    run(&mut rigs, ms(500));
    assert_eq!(rigs[1].got(0), [7]);
}

/// When all members have ended their streams and then die, nobody takes what the others write. The
/// session ends, so that the next has members.
#[test]
fn a_session_that_no_member_can_join_ends() {
    let mut rigs = pair("xcp", [2, 1], Path::default(), 0);
    rigs[0].members.iter_mut().flatten().for_each(|host| host.connection.finish());
    run(&mut rigs, ms(1000));
    assert!(!rigs[0].session.takes_members() && rigs[0].session.closed().is_none());
    for k in 0..2 {
        rigs[0].members[k] = None;
        rigs[0].session.fail(ms(1000), k);
    }
    run(&mut rigs, ms(2000));
    let reset = |rig: &Rig| rig.session.closed().cloned();
    assert!(matches!(reset(&rigs[0]), Some(CloseReason::Local { code: 4, .. })));
    assert!(matches!(reset(&rigs[1]), Some(CloseReason::Reset { code: 4, .. })));
}
