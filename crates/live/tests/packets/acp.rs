//! Congestion headers of ACP in UDP.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ratewire_live::KernelLaw;
use ratewire_live::probe::{Probe, ProbeMemory};

use crate::frames::{
    ACP_HEADER, CAPACITY, Carried, acp, can_run, fields_of_acp, rewritten, set_checksum, sum_of,
    tcp, transport, udp, wish,
};

/// The option of TCP with the fields of a congestion header of ACP.
fn option(law: KernelLaw) -> Vec<u8> {
    let mut option = wish(law);
    if law != KernelLaw::Jetmax {
        option[1] += 4;
        option.extend([0; 4]);
    }
    option
}

/// A frame as it leaves a port that has seen none before.
fn first(law: KernelLaw, frame: &[u8]) -> Vec<u8> {
    let mut room = ProbeMemory::uninit();
    let probe = Probe::new(&mut room, law, CAPACITY).expect("it loads");
    probe.pass(frame).expect("it passes")
}

/// What a port of JetMax says does not depend on its identity, which is random.
fn without_identity(law: KernelLaw, fields: &[u8]) -> Vec<u8> {
    let mut fields = fields.to_vec();
    if law == KernelLaw::Jetmax {
        assert_ne!(fields[2..4], [0, 0], "a router proposes itself");
        fields[2..4].fill(0);
    }
    fields
}

#[test]
fn a_datagram_is_answered_as_a_segment_of_tcp_is() {
    if !can_run() {
        return;
    }
    for law in KernelLaw::OF_ROUTERS {
        for carried in Carried::ALL {
            let (before, ip) = udp(carried, &acp(7, &wish(law), 200));
            let after = first(law, &before);
            assert_eq!(sum_of(&after, ip), 0xffff, "{law:?} {carried:?}");
            let at = fields_of_acp(&before, ip);
            let range = rewritten(law);
            let changed = at + range.start..at + range.end;
            assert_ne!(after[changed.clone()], before[changed.clone()], "{law:?} {carried:?}");
            let mut expected = before.clone();
            let checksum = transport(&before, ip) + 6;
            for range in [changed.clone(), checksum..checksum + 2] {
                expected[range.clone()].copy_from_slice(&after[range]);
            }
            assert_eq!(after, expected, "{law:?} {carried:?}");
            let (segment, _) = tcp(carried, &option(law), before.len() - ip - 20 - 20 - 32);
            let segment_after = first(law, &segment);
            let in_tcp = transport(&segment, ip) + 20 + 4;
            let answered = in_tcp + range.start..in_tcp + range.end;
            assert_eq!(
                without_identity(law, &after[changed]),
                without_identity(law, &segment_after[answered]),
                "{law:?} {carried:?}"
            );
        }
    }
}

#[test]
fn rcps_first_rate_is_as_the_law_says() {
    if !can_run() {
        return;
    }
    let (before, ip) = udp(Carried::V6, &acp(7, &wish(KernelLaw::Rcp), 1200));
    let after = first(KernelLaw::Rcp, &before);
    let at = fields_of_acp(&before, ip);
    let rate = u32::from_be_bytes(after[at..at + 4].try_into().expect("four bytes"));
    // A twentieth of 12.5 MB/s, in units of 16 B/s.
    assert_eq!(rate, 12_500_000 / 20 / 16);
}

/// UDP over IPv4 may have no checksum, which is written as 0.
#[test]
fn a_checksum_of_zero_stays_and_none_becomes_zero() {
    if !can_run() {
        return;
    }
    let (mut before, ip) = udp(Carried::V4, &acp(7, &wish(KernelLaw::Rcp), 100));
    let checksum = transport(&before, ip) + 6..transport(&before, ip) + 8;
    let rate = fields_of_acp(&before, ip)..fields_of_acp(&before, ip) + 4;
    let mut without = before.clone();
    without[checksum.clone()].fill(0);
    let after = first(KernelLaw::Rcp, &without);
    assert_ne!(after[rate.clone()], without[rate.clone()]);
    assert_eq!(after[checksum.clone()], [0, 0]);
    // The last word balances the datagram as it will be.
    let wished = before[rate.clone()].to_vec();
    before[rate.clone()].copy_from_slice(&(12_500_000_u32 / 20 / 16).to_be_bytes());
    let last = before.len() - 2;
    before[last..].fill(0);
    before[checksum.clone()].fill(0);
    let rest = !sum_of(&before, ip);
    before[last..].copy_from_slice(&rest.to_be_bytes());
    set_checksum(&mut before, ip);
    assert_eq!(before[checksum.clone()], [0xff, 0xff]);
    let expected = before.clone();
    before[rate].copy_from_slice(&wished);
    set_checksum(&mut before, ip);
    assert_eq!(first(KernelLaw::Rcp, &before), expected);
}

/// Data packets of ACP with a mistake, by what it is.
fn mistakes(law: KernelLaw) -> Vec<(&'static str, Vec<u8>)> {
    let right = acp(7, &wish(law), 120);
    let with = |at: usize, value: u8| {
        let mut packet = right.clone();
        packet[at] = value;
        packet
    };
    let len = right[ACP_HEADER + 1];
    vec![
        ("magic", with(0, b'B')),
        ("magic", with(1, b'D')),
        ("version", with(2, 2)),
        ("initial", with(3, 1)),
        ("no congestion header", with(ACP_HEADER, 0)),
        ("a law's own", with(ACP_HEADER, 253)),
        ("length 0", with(ACP_HEADER + 1, 0)),
        ("length 3", with(ACP_HEADER + 1, 3)),
        ("shorter", with(ACP_HEADER + 1, len - 4)),
        ("longer", with(ACP_HEADER + 1, len + 4)),
        ("longest", with(ACP_HEADER + 1, 252)),
        ("another law's", with(ACP_HEADER + 3, b'z')),
        ("nothing", Vec::new()),
        ("only what is before", right[..ACP_HEADER].to_vec()),
        ("cut off", right[..ACP_HEADER + usize::from(len) - 1].to_vec()),
    ]
}

#[test]
fn what_is_not_acps_data_passes_as_it_is() {
    if !can_run() {
        return;
    }
    for law in KernelLaw::OF_ROUTERS {
        let mut room = ProbeMemory::uninit();
        let probe = Probe::new(&mut room, law, CAPACITY).expect("it loads");
        for carried in Carried::ALL {
            for (what, payload) in mistakes(law) {
                let (before, _) = udp(carried, &payload);
                assert_eq!(probe.pass(&before).expect("it passes"), before, "{law:?} {what}");
            }
        }
        let (whole, ip) = udp(Carried::V4, &acp(7, &wish(law), 60));
        let udp_at = transport(&whole, ip);
        let changed = |at: usize, value: u8| {
            let mut frame = whole.clone();
            frame[at] = value;
            frame
        };
        let fields = (fields_of_acp(&whole, ip) - udp_at) as u8;
        for before in [
            changed(udp_at + 5, 0),
            // UDP's length ends in the fields, or behind the packet.
            changed(udp_at + 5, fields + 7),
            changed(udp_at + 5, 69),
            changed(udp_at + 4, 1),
            // A later fragment, UDP-Lite, and an IP header that is too short.
            changed(ip + 7, 5),
            changed(ip + 9, 136),
            changed(ip, 0x44),
        ] {
            assert_eq!(probe.pass(&before).expect("it passes"), before, "{law:?}");
        }
        for len in ip + 20..whole.len() {
            let before = &whole[..len];
            assert_eq!(probe.pass(before).expect("it passes"), before, "{law:?} {len}");
        }
        assert_eq!(probe.status().expect("a port").with_header, 0);
        let after = probe.pass(&whole).expect("it passes");
        assert_ne!(after, whole, "{law:?}: unharmed, it is read");
    }
}

#[test]
fn any_datagram_passes_and_only_a_header_is_touched() {
    if !can_run() {
        return;
    }
    let law = KernelLaw::Jetmax;
    let mut room = ProbeMemory::uninit();
    let probe = Probe::new(&mut room, law, CAPACITY).expect("it loads");
    let byte =
        prop::sample::select(vec![0, 1, 2, 12, 16, 28, 253, 254, 255, b'A', b'C', b'R', b'j']);
    let random = prop::collection::vec(byte.clone(), 0..120);
    let near = (prop::collection::vec((0..60_usize, byte), 0..3), 0..120_usize).prop_map(
        move |(wrong, len)| {
            let mut packet = acp(7, &wish(law), 100);
            wrong.into_iter().for_each(|(at, byte)| packet[at] = byte);
            packet.truncate(len);
            packet
        },
    );
    let payload = prop_oneof![random, near];
    let config = Config { failure_persistence: None, ..Config::with_cases(2000) };
    let carried = prop::sample::select(Carried::ALL.to_vec());
    let result = TestRunner::new(config).run(&(payload, carried), |(payload, carried)| {
        let (before, ip) = udp(carried, &payload);
        let after = probe.pass(&before).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(sum_of(&after, ip), 0xffff);
        let header = &payload.get(ACP_HEADER..ACP_HEADER + 28);
        let is_read = payload.starts_with(b"AC\x01\x00")
            && header.is_some_and(|header| header.starts_with(&[254, 28, b'R', b'j']));
        let mut expected = before.clone();
        if is_read {
            let at = fields_of_acp(&before, ip);
            let checksum = transport(&before, ip) + 6;
            for range in [at..at + 14, checksum..checksum + 2] {
                expected[range.clone()].copy_from_slice(&after[range]);
            }
        }
        prop_assert_eq!(after, expected);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}
