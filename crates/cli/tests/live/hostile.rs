//! Malformed TCP headers, sent from a raw socket through a router. Malformed options pass
//! unchanged, valid ones are changed as the law requires, and the checksum stays right.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Stdio;

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto,
    setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::lab::Lab;

/// Addresses of a sender and a receiver.
type Ends = [Ipv4Addr; 2];
const ENDS: Ends = [Ipv4Addr::new(10, 7, 1, 1), Ipv4Addr::new(10, 7, 2, 2)];
/// Port by which the receiver recognises the segments.
const PORT: u16 = 7777;

/// A raw socket at one of the ends, for everything above IP.
pub(crate) fn raw_socket(lab: &Lab, end: &str) -> OwnedFd {
    let netns = File::open(format!("/var/run/netns/{}", lab.netns(end))).expect("a namespace");
    // A separate thread, because it stays in the namespace.
    let opened = std::thread::spawn(move || {
        setns(netns, CloneFlags::CLONE_NEWNET).expect("root may");
        let (inet, flags) = (AddressFamily::Inet, SockFlag::empty());
        socket(inet, SockType::Raw, flags, SockProtocol::Tcp).expect("a raw socket")
    });
    opened.join().expect("it is there")
}

fn checksum(ends: Ends, segment: &[u8]) -> u16 {
    let pair = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    let addresses = ends.map(|end| end.octets()).concat();
    let sum: u32 = addresses.chunks(2).chain(segment.chunks(2)).map(pair).sum();
    let mut sum = sum + 6 + segment.len() as u32;
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A segment with a header that claims to be `words` long.
fn segment(ends: Ends, options: &[u8], words: u8, payload: usize, number: u32) -> Vec<u8> {
    let mut segment = PORT.to_be_bytes().to_vec();
    segment.extend([0x14, 0x51]);
    segment.extend(number.to_be_bytes());
    segment.extend([0, 0, 0, 1, words << 4, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    segment.extend(options);
    segment.extend((0..payload).map(|i| i as u8));
    let sum = !checksum(ends, &segment);
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    segment
}

/// Offset of the option that a router may change, in a segment read according to RFC 9293.
fn ours(segment: &[u8], option: &[u8]) -> Option<usize> {
    let end = usize::from(segment[12] >> 4) * 4;
    let mut at = 20;
    while at + option.len() <= end && end <= segment.len() {
        match segment[at] {
            0 => return None,
            1 => at += 1,
            _ if segment[at..].starts_with(&option[..4]) => return Some(at),
            _ if segment[at + 1] < 2 => return None,
            _ => at += usize::from(segment[at + 1]),
        }
    }
    None
}

/// Lists of options, valid and malformed.
fn cases(option: &[u8]) -> Vec<Vec<u8>> {
    let mut cases = vec![
        vec![],
        vec![1; 40],
        vec![0; 40],
        // Lengths of 0 and 1, of a standard option and of ours.
        vec![8, 0, 0, 0],
        vec![8, 1, 0, 0],
        [&[254, 0], &option[2..]].concat(),
        [&[254, 1], &option[2..]].concat(),
        // Options longer than the space, and longer than the header.
        vec![254, 40, 0x52, 0x78],
        vec![5, 255, 1, 1],
        // Options cut off at every word.
        option[..4].to_vec(),
        option[..8].to_vec(),
        option[..option.len() - 4].to_vec(),
        // An option that claims to be shorter, so that another begins inside it.
        [&[254, 4, 0x52, 0x78, 254, 8], &option[2..option.len() - 2], &[1, 1]].concat(),
        option.to_vec(),
        [&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1], option].concat(),
        // An option after the end of the options.
        [&[0, 0, 0, 0], option].concat(),
    ];
    if option.len() <= 20 {
        cases.push([option, option].concat());
    }
    // Odd offsets, at which options straddle the checksum's words.
    for padding in 1..4 {
        let mut case = vec![1; padding];
        case.extend(option);
        case.resize(case.len().next_multiple_of(4), 1);
        cases.push(case);
    }
    // Random sequences of bytes that have a meaning.
    let bytes = [0, 1, 2, 4, 8, 10, 20, 28, 254, 255, option[1], option[2], option[3]];
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..500 {
        let len = draw(11) * 4;
        cases.push((0..len).map(|_| bytes[draw(bytes.len())]).collect());
    }
    cases
}

#[test]
fn what_no_host_should_send_passes_a_router_unharmed() {
    let Some(lab) = Lab::build("hostile") else { return };
    let (sender, receiver) = (raw_socket(&lab, "s"), raw_socket(&lab, "d"));
    setsockopt(&receiver, ReceiveTimeout, &TimeVal::seconds(10)).expect("it may wait");
    let to = SockaddrIn::from(std::net::SocketAddrV4::new(ENDS[1], 0));
    for (law, option, changes) in [
        // A sender of unknown rate, to which nothing is granted.
        ("xcp", [&[254, 20, 0x52, 0x78][..], &[0; 4], &[0x7f; 12]].concat(), 12..16),
        ("rcp", [&[254, 16, 0x52, 0x72][..], &[0xff; 12]].concat(), 4..8),
        ("jetmax", [&[254, 28, 0x52, 0x6a][..], &[0; 24]].concat(), 4..18),
    ] {
        lab.live(&["router", "--iface", "right", "--law", law, "--capacity", "98mbit"]);
        let mut touched = 0;
        let mut number = 0;
        for options in cases(&option) {
            let whole = 5 + (options.len() / 4) as u8;
            // Header lengths that are right, shorter than a header, and longer than the packet.
            for (words, payload) in [(whole, 0), (whole, 700), (whole, 1), (4, 0), (15, 3)] {
                number += 1;
                let sent = segment(ENDS, &options, words, payload, number);
                sendto(sender.as_raw_fd(), &sent, &to, MsgFlags::empty()).expect("it leaves");
                let mut packet = [0; 2048];
                let came = loop {
                    let len = recv(receiver.as_raw_fd(), &mut packet, MsgFlags::empty())
                        .unwrap_or_else(|e| panic!("{law}: {e}: lost {sent:02x?}"));
                    let came = &packet[usize::from(packet[0] & 15) * 4..len];
                    if came[..2] == PORT.to_be_bytes() && came[4..8] == number.to_be_bytes() {
                        break came;
                    }
                };
                let mut expected = sent.clone();
                if let Some(at) = ours(&sent, &option) {
                    let changed = at + changes.start..at + changes.end;
                    expected[changed.clone()].copy_from_slice(&came[changed]);
                    expected[16..18].copy_from_slice(&came[16..18]);
                    touched += u32::from(came != sent);
                }
                assert_eq!(came, expected, "{law}");
                assert_eq!(checksum(ENDS, came), 0xffff, "{law}: {came:02x?}");
            }
        }
        assert!(touched > 10, "{law}: only {touched} were changed at all");
        lab.live(&["detach"]);
    }
}

/// Makes an interface without an Ethernet header, and prints each packet that leaves by it on a
/// line.
const TUN: &str = "import fcntl, os, struct
tun = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tun, 0x400454ca, struct.pack('16sH', b'tun0', 0x1001))
print('ready', flush=True)
while True: print(os.read(tun, 2048).hex(), flush=True)";

#[test]
fn an_interface_without_ethernet_will_do() {
    let Some(lab) = Lab::build("tun") else { return };
    let mut tun = lab
        .at("r", "python3")
        .args(["-c", TUN])
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut lines =
        BufReader::new(tun.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let r = lab.netns("r");
    lab.sh(&format!("ip -n {r} addr add 10.9.0.1/24 dev tun0; ip -n {r} link set tun0 up"));
    lab.live(&[
        "router",
        "--iface",
        "tun0",
        "--law",
        "rcp",
        "--capacity",
        "16mbit",
        "--queue",
        "virtual",
    ]);
    let ends = [Ipv4Addr::new(10, 9, 0, 1), Ipv4Addr::new(10, 9, 0, 2)];
    let option = [&[254, 16, 0x52, 0x72][..], &[0xff; 12]].concat();
    let sent = segment(ends, &option, 9, 100, 1);
    let to = SockaddrIn::from(std::net::SocketAddrV4::new(ends[1], 0));
    sendto(raw_socket(&lab, "r").as_raw_fd(), &sent, &to, MsgFlags::empty()).expect("it leaves");
    let came = lines
        .map(|line| -> Vec<u8> {
            let digits: Vec<u8> =
                line.bytes().map(|b| (b as char).to_digit(16).unwrap_or(0) as u8).collect();
            digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
        })
        .find(|packet| packet[0] == 0x45 && packet[20..22] == PORT.to_be_bytes())
        .expect("it came");
    let _ = tun.kill();
    let _ = tun.wait();
    let mut expected = sent.clone();
    // RCP's initial rate: a twentieth of 2 MB/s, in units of 16 B/s.
    expected[24..28].copy_from_slice(&6250_u32.to_be_bytes());
    expected[16..18].copy_from_slice(&came[36..38]);
    assert_eq!(came[20..], expected);
    assert_eq!(checksum(ends, &came[20..]), 0xffff);
}
