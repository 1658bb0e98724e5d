//! Packets of all kinds through the router's program, by the kernel's test run. Needs root.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ratewire_live::KernelLaw;
use ratewire_live::probe::{Probe, ProbeMemory};
use ratewire_units::Rate;

const CAPACITY: Rate = Rate::from_bps(100_000_000);
const ETHERNET: usize = 14;

/// Whether the test can run; with `RATEWIRE_REQUIRE_ROOT=1` it fails if it cannot.
fn can_run() -> bool {
    let mut room = ProbeMemory::uninit();
    let Err(why) = Probe::new(&mut room, KernelLaw::Xcp, CAPACITY) else { return true };
    assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
    eprintln!("skipped: {why}");
    false
}

/// One's complement sum of 16-bit words.
fn sum(bytes: &[u8]) -> u32 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u32::from(*b));
    bytes.chunks(2).map(word).sum()
}
fn fold(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Checksum of a TCP segment with its pseudo header: 0xffff if it is right.
fn checksum(frame: &[u8], ip: usize) -> u16 {
    let (addresses, header) = match frame[ip] >> 4 {
        4 => (12..20, usize::from(frame[ip] & 15) * 4),
        _ => (8..40, 40),
    };
    let segment = &frame[ip + header..];
    let addresses = &frame[ip + addresses.start..ip + addresses.end];
    fold(sum(addresses) + 6 + segment.len() as u32 + sum(segment))
}

/// How a packet is carried.
#[derive(Clone, Copy, Debug)]
enum Carried {
    V4,
    V6,
    Tagged,
    TwiceTagged,
}

/// A frame of TCP with these option bytes, a multiple of four, and payload.
fn frame(carried: Carried, options: &[u8], payload: usize) -> (Vec<u8>, usize) {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    match carried {
        Carried::V4 | Carried::V6 => {}
        Carried::Tagged => frame.extend([0x81, 0, 0, 7]),
        Carried::TwiceTagged => frame.extend([0x88, 0xa8, 0, 7, 0x81, 0, 0, 8]),
    }
    let tcp_len = 20 + options.len() + payload;
    let is_v6 = matches!(carried, Carried::V6);
    frame.extend(if is_v6 { [0x86, 0xdd] } else { [8, 0] });
    let ip = frame.len();
    if is_v6 {
        frame.extend([0x60, 0, 0, 0]);
        frame.extend((tcp_len as u16).to_be_bytes());
        frame.extend([6, 64]);
        frame.extend([0xfd; 16]);
        frame.extend([0xfe; 16]);
    } else {
        frame.extend([0x45, 0]);
        frame.extend((20 + tcp_len as u16).to_be_bytes());
        frame.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = !fold(sum(&frame[ip..ip + 20]));
        frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    }
    let tcp = frame.len();
    frame.extend([0x9c, 0x40, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 1]);
    frame.extend([((20 + options.len()) / 4 * 16) as u8, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frame.extend(options);
    frame.extend((0..payload).map(|i| i as u8));
    let sum = !checksum(&frame, ip);
    frame[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(checksum(&frame, ip), 0xffff);
    (frame, ip)
}

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
            let (before, ip) = frame(carried, &xcp(padding, 1000, 50_000, 0x7fff_ffff), 100);
            let after = probe.pass(&before).expect("it passes");
            let at = change_at(ip, &before, padding);
            let granted = u32::from_be_bytes(after[at..at + 4].try_into().expect("four bytes"));
            assert!(granted.cast_signed() < 0x7fff_ffff, "{carried:?}: {granted:#x}");
            assert_eq!(checksum(&after, ip), 0xffff, "{carried:?} {padding}");
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
    let (before, ip) = frame(Carried::V4, &option, 100);
    let after = probe.pass(&before).expect("it passes");
    let at = ip + 20 + 20 + 4;
    let rate = u32::from_be_bytes(after[at..at + 4].try_into().expect("four bytes"));
    // A twentieth of 12.5 MB/s, in units of 16 B/s.
    assert_eq!(rate, 12_500_000 / 20 / 16);
    assert_eq!(checksum(&after, ip), 0xffff);
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
            let (before, ip) = frame(carried, &options, payload);
            let after = probe.pass(&before).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(after.len(), before.len());
            prop_assert_eq!(checksum(&after, ip), 0xffff);
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
    let (whole, ip) = frame(Carried::V4, &xcp(0, 1000, 50_000, 5), 0);
    // The kernel runs no program on a frame without an IP header.
    for len in ETHERNET + 20..whole.len() {
        // Cut anywhere, so that headers claim more than there is.
        let before = &whole[..len];
        assert_eq!(probe.pass(before).unwrap_or_else(|e| panic!("{len}: {e}")), before, "{len}");
    }
    let mut udp = whole.clone();
    udp[ip + 9] = 17;
    let mut fragment = whole.clone();
    fragment[ip + 7] = 5;
    let mut short_header = whole.clone();
    short_header[ip] = 0x44;
    let mut unknown = whole;
    unknown[12] = 0x12;
    for before in [udp, fragment, short_header, unknown] {
        assert_eq!(probe.pass(&before).expect("it passes"), before);
    }
}
