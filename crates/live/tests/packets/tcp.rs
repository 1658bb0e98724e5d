//! Options of TCP.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ratewire_live::KernelLaw;
use ratewire_live::probe::{Probe, ProbeMemory};

use crate::frames::{CAPACITY, Carried, ETHERNET, can_run, sum_of, tcp};

/// XCP's option after this many bytes of padding.
fn xcp(padding: usize, rate: u32, rtt_us: u32, change: u32) -> Vec<u8> {
    let mut option = vec![1; padding];
    option.extend([254, 20, 0x52, 0x78]);
    for field in [rate, rtt_us, change, 0x0102_0304] {
        option.extend(field.to_be_bytes());
    }
    option.resize(option.len().next_multiple_of(4), 1);
    option
}

/// Offset of the change in a frame that carries the option after this much padding.
fn change_at(ip: usize, frame: &[u8], padding: usize) -> usize {
    let header = if frame[ip] >> 4 == 4 { 20 } else { 40 };
    ip + header + 20 + padding + 12
}

#[test]
fn a_wish_is_cut_to_what_is_granted_and_nothing_else_changes() {
    if !can_run() {
        return;
    }
    let mut room = ProbeMemory::uninit();
    let probe = Probe::new(&mut room, KernelLaw::Xcp, CAPACITY).expect("it loads");
    for carried in [Carried::V4, Carried::V6, Carried::Tagged, Carried::TwiceTagged] {
        // At an odd offset the checksum's words are straddled.
        for padding in [0, 1, 2, 3] {
            let (before, ip) = tcp(carried, &xcp(padding, 1000, 50_000, 0x7fff_ffff), 100);
            let after = probe.pass(&before).expect("it passes");
            let at = change_at(ip, &before, padding);
            let granted = u32::from_be_bytes(after[at..at + 4].try_into().expect("four bytes"));
            assert!(granted.cast_signed() < 0x7fff_ffff, "{carried:?}: {granted:#x}");
            assert_eq!(sum_of(&after, ip), 0xffff, "{carried:?} {padding}");
            let mut expected = before.clone();
            expected[at..at + 4].copy_from_slice(&after[at..at + 4]);
            let tcp = at - padding - 12 - 20;
            expected[tcp + 16..tcp + 18].copy_from_slice(&after[tcp + 16..tcp + 18]);
            assert_eq!(after, expected, "{carried:?} {padding}");
        }
    }
}

#[test]
fn rcp_writes_its_rate() {
    if !can_run() {
        return;
    }
    let mut room = ProbeMemory::uninit();
    let probe = Probe::new(&mut room, KernelLaw::Rcp, CAPACITY).expect("it loads");
    let mut option = vec![254, 16, 0x52, 0x72];
    for field in [u32::MAX, 50_000, 0] {
        option.extend(field.to_be_bytes());
    }
    let (before, ip) = tcp(Carried::V4, &option, 100);
    let after = probe.pass(&before).expect("it passes");
    let at = ip + 20 + 20 + 4;
    let rate = u32::from_be_bytes(after[at..at + 4].try_into().expect("four bytes"));
    // A twentieth of 12.5 MB/s, in units of 16 B/s.
    assert_eq!(rate, 12_500_000 / 20 / 16);
    assert_eq!(sum_of(&after, ip), 0xffff);
}

#[test]
fn any_options_pass_and_only_ours_is_touched() {
    if !can_run() {
        return;
    }
    let mut room = ProbeMemory::uninit();
    let probe = Probe::new(&mut room, KernelLaw::Xcp, CAPACITY).expect("it loads");
    // Lengths of 0 and 1, cut off, overlapping, all of one kind: half random, half from the bytes
    // of options.
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(vec![0, 1, 2, 4, 8, 16, 20, 253, 254, 255, 0x52, 0x78])
    ];
    let options = prop::collection::vec(byte, 0..=10_usize).prop_flat_map(|seed| {
        prop::collection::vec(
            prop::sample::select(if seed.is_empty() { vec![1] } else { seed }),
            0..=40,
        )
    });
    let carried = prop::sample::select(vec![Carried::V4, Carried::V6, Carried::Tagged]);
    let config = Config { failure_persistence: None, ..Config::with_cases(2000) };
    let result = TestRunner::new(config).run(
        &(options, carried, 0_usize..200),
        |(mut options, carried, payload)| {
            options.truncate(options.len() / 4 * 4);
            let (before, ip) = tcp(carried, &options, payload);
            let after = probe.pass(&before).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(after.len(), before.len());
            prop_assert_eq!(sum_of(&after, ip), 0xffff);
            let header = if before[ip] >> 4 == 4 { 20 } else { 40 };
            let tcp = ip + header;
            // Outside of checksum and options nothing changes.
            prop_assert_eq!(&after[..tcp + 16], &before[..tcp + 16]);
            prop_assert_eq!(
                &after[tcp + 20 + options.len()..],
                &before[tcp + 20 + options.len()..]
            );
            let changed =
                (0..options.len()).filter(|i| after[tcp + 20 + i] != before[tcp + 20 + i]);
            if !options.windows(4).any(|w| w == [254, 20, 0x52, 0x78]) {
                prop_assert_eq!(changed.count(), 0);
            }
            Ok(())
        },
    );
    result.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn frames_that_are_no_tcp_or_cut_short_pass_as_they_are() {
    if !can_run() {
        return;
    }
    let mut room = ProbeMemory::uninit();
    let probe = Probe::new(&mut room, KernelLaw::Xcp, CAPACITY).expect("it loads");
    let (whole, ip) = tcp(Carried::V4, &xcp(0, 1000, 50_000, 5), 0);
    // The kernel runs no program on a frame without an IP header.
    for len in ETHERNET + 20..whole.len() {
        // Cut anywhere, so that headers claim more than there is.
        let before = &whole[..len];
        assert_eq!(probe.pass(before).unwrap_or_else(|e| panic!("{len}: {e}")), before, "{len}");
    }
    let mut other = whole.clone();
    other[ip + 9] = 132;
    let mut fragment = whole.clone();
    fragment[ip + 7] = 5;
    let mut short_header = whole.clone();
    short_header[ip] = 0x44;
    let mut unknown = whole;
    unknown[12] = 0x12;
    for before in [other, fragment, short_header, unknown] {
        assert_eq!(probe.pass(&before).expect("it passes"), before);
    }
}
