//! Frames that go through a switch.

use ratewire_acp::wire::DataPart;

use super::*;
use crate::session::passing::passing;

/// Frames of one peer go to four members in turn and back. Each member's are in order, and each
/// arrives once, whole.
fn there_and_back(law: &str, path: Path) {
    let mut rig = Rig::new(law, 4, path);
    rig.run(ms(100));
    let (mut written, mut answered) = (0, [0; 4]);
    const FRAMES: u64 = 400;
    for at in (100..60_000).step_by(10) {
        while written < FRAMES && rig.peer().connection.write(frame(written)).is_ok() {
            written += 1;
        }
        for (k, done) in answered.iter_mut().enumerate() {
            let host = rig.members[k].as_mut().unwrap();
            while let Some(frame) = host.got.get(*done)
                && host.connection.write(frame.clone()).is_ok()
            {
                *done += 1;
            }
        }
        rig.run(ms(at));
        if rig.peer().got.len() as u64 == FRAMES {
            break;
        }
    }
    for k in 0..4 {
        let got = rig.got(k);
        assert!(got.is_sorted(), "{law}: {got:?}");
        if path == Path::default() {
            assert!(got.iter().all(|id| id % 4 == k as u64), "in turn");
        }
    }
    let got = &rig.peer().got;
    let by_id: BTreeMap<u64, &Frame> = got.iter().map(|f| (f.id, f)).collect();
    assert_eq!((by_id.len() as u64, got.len() as u64), (FRAMES, FRAMES));
    assert!(by_id.iter().all(|(id, got)| got.data == frame(*id).data));
    let counts = rig.session.counts();
    assert!(counts.frames_in >= FRAMES && counts.frames_out >= FRAMES);
    // The end goes through, too.
    rig.peer().connection.finish();
    rig.run(rig.now + Duration::from_secs(1));
    for k in 0..4 {
        let host = rig.members[k].as_mut().unwrap();
        assert!(host.connection.is_at_end() && host.connection.closed().is_none());
        host.connection.finish();
    }
    rig.run(rig.now + Duration::from_secs(10));
    assert_eq!(rig.peer().connection.closed(), Some(&CloseReason::Done), "{law}");
    for member in rig.members.iter().flatten() {
        assert_eq!(member.connection.closed(), Some(&CloseReason::Done), "{law}");
    }
    assert!(rig.session.is_over(), "{law}");
}

#[test]
fn one_connection_is_spread_and_merged() {
    for law in ["xcp", "rcp", "cubic"] {
        there_and_back(law, Path::default());
    }
}

#[test]
fn bad_paths_change_nothing() {
    for law in ["xcp", "newreno"] {
        there_and_back(law, BAD);
    }
}

/// Neighbours of a switch find out that their paths have become narrower; so does the switch, which
/// repeats nothing by itself.
#[test]
fn paths_may_become_narrower() {
    let mut rig = Rig::new("xcp", 1, Path::default());
    rig.run(ms(500));
    let exchange = |rig: &mut Rig, id: u64, until: u64| {
        let large = Frame::new(id, vec![id as u8; 200_000]);
        rig.peer().connection.write(large.clone()).expect("room");
        let member = |rig: &mut Rig| rig.members[0].as_mut().unwrap().got.pop();
        let (mut there, mut back) = (None, None);
        while back.is_none() && rig.step(ms(until)) {
            if there.is_none() {
                there = member(rig);
                if let Some(frame) = &there {
                    let host = rig.members[0].as_mut().unwrap();
                    host.connection.write(frame.clone()).expect("room");
                }
            }
            back = rig.peer().got.pop();
        }
        assert_eq!((there.as_ref(), back.as_ref()), (Some(&large), Some(&large)), "{id}");
    };
    exchange(&mut rig, 0, 5_000);
    rig.path.largest = Some(1400);
    exchange(&mut rig, 1, 60_000);
    exchange(&mut rig, 2, 120_000);
}

#[test]
fn a_frame_larger_than_all_windows_passes() {
    let mut rig = Rig::new("cubic", 2, Path::default());
    rig.run(ms(100));
    let length = 9 << 20;
    assert!(rig.config.receive_buffer.get() * 2 < length);
    let data: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
    rig.peer().connection.write(Frame::new(7, data.clone())).unwrap();
    rig.run(Time::from_secs(20));
    let got = &rig.members[0].as_ref().unwrap().got;
    assert!(got.len() == 1 && got[0].data == data);
    assert_eq!(rig.peer().connection.metrics().buffered, Bytes::ZERO);
}

#[test]
fn frames_of_one_key_keep_their_order_on_a_bad_path() {
    const FRAMES: u64 = 1000;
    let mut rig = Rig::with("xcp", 4, BAD, Box::new(KeyHash { offset: 0, len: 1 }));
    rig.run(ms(100));
    let mut written = 0;
    for at in (100..100_000).step_by(10) {
        while written < FRAMES {
            let key = vec![(written % 32) as u8; 1 + (written * 7919 % 3000) as usize];
            if rig.peer().connection.write(Frame::new(written, key)).is_err() {
                break;
            }
            written += 1;
        }
        rig.run(ms(at));
        if written == FRAMES && rig.peer().connection.metrics().buffered == Bytes::ZERO {
            break;
        }
    }
    let all: Vec<Vec<u64>> = (0..4).map(|k| rig.got(k)).collect();
    assert_eq!(all.iter().map(Vec::len).sum::<usize>() as u64, FRAMES);
    for got in &all {
        assert!(got.is_sorted(), "{got:?}");
    }
    for key in 0..32 {
        let with = all.iter().filter(|got| got.iter().any(|id| id % 32 == key));
        assert_eq!(with.count(), 1, "a key has one member");
    }
}

/// Small frames that share packets, whose keys are all there is of them.
#[test]
fn each_small_frame_goes_where_its_key_belongs() {
    const FRAMES: u64 = 3000;
    let mut rig = Rig::with("xcp", 4, BAD, Box::new(KeyHash { offset: 0, len: 8 }));
    let key = |id: u64| (id % 97).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().to_vec();
    rig.run(ms(100));
    let mut written = 0;
    for at in (100..100_000).step_by(10) {
        while written < FRAMES.min(at)
            && rig.peer().connection.write(Frame::new(written, key(written))).is_ok()
        {
            written += 1;
        }
        rig.run(ms(at));
        if written == FRAMES && rig.peer().connection.metrics().buffered == Bytes::ZERO {
            break;
        }
    }
    let mut members = BTreeMap::new();
    for (k, id) in (0..4).flat_map(|k| rig.got(k).into_iter().map(move |id| (k, id))) {
        assert_eq!(*members.entry(id % 97).or_insert(k), k, "frame {id}");
    }
    assert_eq!((0..4).map(|k| rig.got(k).len()).sum::<usize>() as u64, FRAMES);
}

/// A peer that tears frames would have them routed by less than the module reads.
#[test]
fn a_first_part_that_is_too_short_ends_the_connection() {
    let part = |within, length: usize, frame| {
        let data = DataPart {
            offset: 5000 + within,
            source: 0,
            frame,
            within,
            bytes: &[7; 1100][..length],
            again: false,
        };
        passing(Side::Peer, &data, 10_000).map(drop)
    };
    assert_eq!(part(0, 1007, 2000), Err("a frame's first part is too short"));
    assert_eq!(part(0, 9, 10), Err("a frame's first part is too short"));
    for (within, length, frame) in [(0, 1008, 2000), (0, 10, 10), (1008, 9, 2000), (0, 0, 10)] {
        assert_eq!(part(within, length, frame), Ok(()), "{length} of {frame} from {within} on");
    }
}

/// Frames that share a packet go to different members, those of each in one packet, and the answers
/// share packets too.
#[test]
fn small_frames_share_packets_on_both_sides_of_a_switch() {
    const FRAMES: u64 = 200;
    for law in ["xcp", "rcp", "cubic"] {
        let mut rig = Rig::new(law, 4, Path::default());
        rig.run(ms(100));
        let received = |rig: &Rig| -> u64 {
            let all = rig.members.iter().flatten();
            all.map(|host| host.connection.metrics().packets_received).sum()
        };
        let (sent, had) = (rig.peer().connection.metrics().packets_sent, received(&rig));
        for id in 0..FRAMES {
            rig.peer().connection.write(Frame::new(id, [id as u8; 40].to_vec())).unwrap();
        }
        rig.run(ms(2000));
        let sent = rig.peer().connection.metrics().packets_sent - sent;
        assert!(sent < FRAMES / 10, "{law}: {sent} packets");
        let had = received(&rig) - had;
        assert!(had < FRAMES / 3, "{law}: {had} packets at the members");
        for k in 0..4 {
            let expected: Vec<u64> = (k as u64..FRAMES).step_by(4).collect();
            assert_eq!(rig.got(k), expected, "{law}");
            let host = rig.members[k].as_mut().unwrap();
            let answers: Vec<Frame> = host.got.clone();
            answers.into_iter().for_each(|frame| host.connection.write(frame).unwrap());
        }
        let had = rig.peer().connection.metrics().packets_received;
        rig.run(ms(4000));
        let had = rig.peer().connection.metrics().packets_received - had;
        assert!(had < FRAMES / 3, "{law}: {had} packets at the peer");
        assert_eq!(rig.peer().got.len() as u64, FRAMES, "{law}");
        assert!(rig.peer().got.iter().all(|got| got.data[..] == [got.id as u8; 40]), "{law}");
    }
}
