//! Members that die and come back.

use super::*;

/// Members die at random times and start again, some of them only after they count as silent.
/// Whatever the peer sent arrives, and twice only if the first to get it has died.
fn with_deaths(seed: u64, path: Path) {
    const FRAMES: u64 = 2500;
    const DEATHS: usize = 10;
    let mut rig = Rig::new("xcp", 4, path);
    rig.random = Xoshiro256PlusPlus::seed_from_u64(seed);
    rig.run(ms(100));
    let (mut written, mut silent) = (0, 0);
    let mut lives: Vec<Vec<u64>> = Vec::new();
    let mut back: BTreeMap<usize, Time> = BTreeMap::new();
    let total = |rig: &Rig, lives: &[Vec<u64>]| {
        let alive = (0..4).map(|k| rig.got(k).len()).sum::<usize>();
        alive + lives.iter().map(Vec::len).sum::<usize>()
    };
    for at in (100..200_000).step_by(10) {
        for _ in 0..4 {
            let room = written < FRAMES && rig.peer().connection.write(frame(written)).is_ok();
            written += u64::from(room);
        }
        // One of four stays.
        if back.len() < 3 && lives.len() < DEATHS && rig.happens(30) {
            let k = (0..4)
                .find(|k| rig.members[*k].is_some() && rig.random.next_u64().is_multiple_of(2));
            if let Some(k) = k {
                lives.push(rig.got(k));
                rig.members[k] = None;
                let pause = if rig.happens(500) { 1500 } else { 50 };
                back.insert(k, rig.now + Duration::from_millis(pause));
            }
        }
        let due: Vec<usize> =
            back.iter().filter(|(_, at)| **at <= rig.now).map(|(k, _)| *k).collect();
        for k in due {
            back.remove(&k);
            let now = rig.now;
            rig.session.forgotten(now, Side::Member(k));
            rig.start(k);
        }
        rig.run(ms(at));
        let events = rig.session.take_events();
        silent += events.iter().filter(|e| matches!(e, SessionEvent::Silent(_))).count();
        let is_done = rig.peer().connection.metrics().buffered == Bytes::ZERO;
        if written == FRAMES && is_done && back.is_empty() && lives.len() == DEATHS {
            break;
        }
    }
    assert!(total(&rig, &lives) as u64 >= FRAMES && silent > 0, "seed {seed}");
    let alive = (0..4).map(|k| rig.got(k));
    let mut count: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    for id in lives.iter().flatten() {
        count.entry(*id).or_default().0 += 1;
    }
    for id in alive.flatten() {
        count.entry(id).or_default().1 += 1;
    }
    assert_eq!(count.len() as u64, FRAMES, "seed {seed}: none is lost");
    assert!(count.values().all(|(_, alive)| *alive <= 1), "seed {seed}");
    for life in lives {
        let mut once = life.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), life.len(), "seed {seed}");
    }
    let broken = rig.members.iter().flatten().map(|host| host.connection.closed());
    assert!(broken.into_iter().all(|reason| reason.is_none()), "seed {seed}");
}

/// Frames that a peer has written when a member dies which has had some and acknowledged none, and
/// then; the switch is told what the peer's connection is for.
fn after_a_death(target: Target) -> Rig {
    let mut rig = Rig::for_target(target, 2);
    rig.run(ms(100));
    let short = |n| Frame::new(n, "a short frame");
    (0..10).for_each(|n| rig.peer().connection.write(short(n)).expect("room"));
    // Frames are at the members, and acknowledgements on their way.
    rig.run(ms(100) + DELAY + DELAY + Duration::from_millis(1));
    let got = [0, 1].map(|k| rig.got(k).len());
    assert!(got[0] > 1 && got[1] > 1, "{got:?}");
    rig.members[1] = None;
    let now = rig.now;
    rig.session.forgotten(now, Side::Member(1));
    rig.run(ms(2000));
    rig
}

#[test]
fn a_frame_goes_to_no_second_member_if_the_peer_says_so() {
    let rig = after_a_death(Target::Ensemble);
    assert_eq!(rig.got(0).len(), 10, "the other gets what the first had");
    let mut rig = after_a_death(Target::Once);
    assert!(rig.got(0).len() < 10);
    let why = rig.peer().connection.closed().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("a member is lost that has not acknowledged all (code 7)"), "{why}");
}

#[test]
fn nothing_is_lost_when_members_die() {
    for seed in 0..6 {
        with_deaths(seed, if seed % 2 == 0 { Path::default() } else { BAD });
    }
}
