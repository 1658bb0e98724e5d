//! The option on the wire: complete on data, minimal on acknowledgements, beside selective
//! acknowledgements if there is space.

use std::os::fd::AsRawFd;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{MsgFlags, recv, setsockopt};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::hostile::raw_socket;
use crate::lab::Lab;

/// Kind, length and experiment of XCP's option with returned fields only.
const MINIMAL: [u8; 4] = [254, 8, 0x52, 0x78];

/// Options of a segment, each from its kind on.
fn options(segment: &[u8]) -> Vec<&[u8]> {
    let mut rest = &segment[20..usize::from(segment[12] >> 4) * 4];
    let mut all = Vec::new();
    while let [kind, ..] = rest {
        let len = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(rest[1]),
        };
        assert!((1..=rest.len()).contains(&len), "{segment:02x?}");
        all.push(&rest[..len]);
        rest = &rest[len..];
    }
    all
}

/// Without a router a sender's request is granted: here more than the link's rate, so that packets
/// are lost.
#[test]
fn acknowledgements_carry_the_least_of_it_beside_what_is_missing() {
    let Some(lab) = Lab::build("option") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    lab.live(&["host", "--law", "xcp", "--cgroup", cgroup, "--desired", "200mbit"]);
    let raw = raw_socket(&lab, "s");
    setsockopt(&raw, ReceiveTimeout, &TimeVal::seconds(2)).expect("it may wait");
    let listener = std::thread::spawn(move || {
        let mut packet = [0; 2048];
        let mut acknowledgements: Vec<Vec<u8>> = Vec::new();
        while let Ok(len) = recv(raw.as_raw_fd(), &mut packet, MsgFlags::empty()) {
            let segment = &packet[usize::from(packet[0] & 15) * 4..len];
            let (is_bare, flags) =
                (segment.len() == usize::from(segment[12] >> 4) * 4, segment[13]);
            // The server sends only an acknowledgement.
            if segment[..2] == 5201_u16.to_be_bytes() && is_bare && flags == 0x10 {
                acknowledgements.push(segment.to_vec());
            }
        }
        acknowledgements
    });
    let mut server = lab.start("d", true, "iperf3 -s -1 -p 5201");
    sleep(Duration::from_millis(500));
    let client = lab.start("s", true, "iperf3 -J -c 10.7.2.2 -p 5201 -t 4");
    let done = client.wait_with_output().expect("iperf3 ends");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    server.wait().expect("so does the server");
    let acknowledgements = listener.join().expect("it read them");
    let mut beside = [0; 3];
    for segment in &acknowledgements {
        let options = options(segment);
        let has = |kind| options.iter().any(|option| option[0] == kind);
        let missing = options.iter().find(|option| option[0] == 5).map_or(0, |sack| sack.len() / 8);
        assert!(has(8), "timestamps: {segment:02x?}");
        if missing <= 2 {
            assert!(options.iter().any(|option| option.starts_with(&MINIMAL)), "{segment:02x?}");
            beside[missing] += 1;
        } else {
            assert!(!has(254), "there is no room: {segment:02x?}");
        }
    }
    assert!(beside[0] > 100 && beside[1] > 0, "{beside:?} of {}", acknowledgements.len());
}
