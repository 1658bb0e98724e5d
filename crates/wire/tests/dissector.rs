//! Holds `wireshark/ratewire.lua` against the parser, through tshark. Without tshark it skips, and
//! says so; with `RATEWIRE_REQUIRE_TOOLS=1` in the environment that is a failure.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use ratewire_wire::xcp::{HEADER_LEN, IP_PROTOCOL, XcpView};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// A TCP header from port 4660 to port 22136 with nothing set, to follow the XCP header.
const TCP: [u8; 20] =
    *b"\x12\x34\x56\x78\x00\x00\x00\x01\x00\x00\x00\x00\x50\x10\xff\xff\x00\x00\x00\x00";

/// A capture file in the classic pcap format, link type 101 (raw IP), of one IPv4 packet for each
/// payload.
fn pcap(payloads: &[Vec<u8>], protocol: u8) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, 101] {
        file.extend(word.to_be_bytes());
    }
    for (payload, second) in payloads.iter().zip(0_u32..) {
        let length = u16::try_from(20 + payload.len()).unwrap();
        for word in [second, 0, u32::from(length), u32::from(length)] {
            file.extend(word.to_be_bytes());
        }
        file.extend([0x45, 0]);
        file.extend(length.to_be_bytes());
        file.extend([0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        file.extend(payload);
    }
    file
}

/// What tshark reads in `fields` of each packet, or `None` if there is no tshark.
fn tshark(
    name: &str,
    payloads: &[Vec<u8>],
    protocol: u8,
    fields: &[&str],
) -> Option<Vec<Vec<String>>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let capture: PathBuf = folder.join("xcp.pcap");
    fs::write(&capture, pcap(payloads, protocol)).unwrap();

    let mut command = Command::new("tshark");
    // Not the user's own plugins and preferences.
    command.env("HOME", &folder).env("WIRESHARK_CONFIG_DIR", &folder);
    command.arg("-X").arg(format!("lua_script:{ROOT}/wireshark/ratewire.lua"));
    command.arg("-o").arg(format!("xcp.ip_protocol:{protocol}"));
    command.arg("-r").arg(&capture).args(["-T", "fields", "-E", "separator=|"]);
    command.args(["-E", "occurrence=f"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
            assert!(!required, "RATEWIRE_REQUIRE_TOOLS=1, but tshark is not installed");
            eprintln!("skipped: tshark is not installed (apt-get install tshark)");
            return None;
        }
        Err(error) => panic!("tshark does not start: {error}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("Lua"), "tshark failed: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect();
    assert_eq!(rows.len(), payloads.len(), "{text}");
    Some(rows)
}

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

#[test]
fn shows_the_golden_vectors() {
    let fields = [
        "xcp.version",
        "xcp.format",
        "xcp.length",
        "xcp.protocol",
        "xcp.throughput",
        "xcp.reverse_feedback",
        "xcp.delta_throughput",
        "tcp.dstport",
        "frame.protocols",
    ];
    let payloads: Vec<Vec<u8>> = [
        "06143100 0004ea4b 00a3d70a 00000000 0001e848",
        "06143200 00000000 00000000 fffe17b8 00000000",
        "06142100 00a3d70a 0004ea4b 0001e848 00000000",
        "11061400 00000028 000004e2 0001e848 00000000",
    ]
    .iter()
    .map(|header| [hex(header), TCP.to_vec()].concat())
    .collect();
    let Some(rows) = tshark("golden", &payloads, IP_PROTOCOL, &fields) else { return };
    let shown: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        shown,
        [
            "3 1 20 6  0 125000 22136 raw:ip:xcp:tcp",
            "3 2 20 6  -125000 0 22136 raw:ip:xcp:tcp",
            "2 1 20 6  0 125000 22136 raw:ip:xcp:tcp",
            "1 1 20 6 1250000 0 125000 22136 raw:ip:xcp:tcp",
        ]
    );
}

#[test]
fn reads_another_ip_protocol_number_when_told_to() {
    let header = hex("06143100 0004ea4b 00a3d70a 00000000 0001e848");
    let Some(rows) = tshark("preference", &[header], 253, &["xcp.delta_throughput"]) else {
        return;
    };
    assert_eq!(rows, [["125000"]]);
}

#[test]
fn two_headers_in_a_row_are_not_followed() {
    let header = hex("c8143100 0004ea4b 00a3d70a 00000000 0001e848");
    let Some(rows) = tshark("nested", &[header.repeat(3000)], IP_PROTOCOL, &["frame.protocols"])
    else {
        return;
    };
    assert_eq!(rows, [["raw:ip:xcp:data"]]);
}

/// First words of every kind: each layout, and each field wrong in it, alone and together.
fn first_words() -> Vec<Vec<u8>> {
    let mut headers = Vec::new();
    for first in [0x06, 0x10, 0x11, 0x12, 0x13, 0x14, 0x21, 0x31] {
        for second in [0x06, 0x14, 0x28] {
            for third in [0x10, 0x11, 0x14, 0x20, 0x21, 0x22, 0x23, 0x28, 0x30, 0x31, 0x32, 0x41] {
                for unused in [0x00, 0x0a] {
                    let rest = hex("00000028 000004e2 0001e848 80000000");
                    headers.push([vec![first, second, third, unused], rest].concat());
                }
            }
        }
    }
    headers
}

fn corpus() -> Vec<Vec<u8>> {
    let files = fs::read_dir(format!("{ROOT}/fuzz/corpus/xcp_header")).unwrap();
    let inputs = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    // tshark has nothing to hand to a dissector when the IP packet is empty.
    inputs.filter(|input| !input.is_empty()).collect()
}

#[test]
fn agrees_with_the_parser() {
    let fields = [
        "_ws.expert.message",
        "xcp.version",
        "xcp.format",
        "xcp.protocol",
        "xcp.rtt",
        "xcp.x",
        "xcp.throughput",
        "xcp.reverse_feedback",
        "xcp.delta_throughput",
    ];
    let payloads = [first_words(), corpus()].concat();
    let Some(rows) = tshark("parser", &payloads, IP_PROTOCOL, &fields) else { return };
    let mut valid = 0;
    for (payload, row) in payloads.iter().zip(&rows) {
        let header = &payload[..payload.len().min(HEADER_LEN)];
        let view = match XcpView::new_checked(header) {
            Ok(view) => view,
            Err(error) => {
                assert_eq!(row[0], error.to_string(), "{header:02x?}");
                assert_eq!(row[4..], [""; 5], "{header:02x?}");
                continue;
            }
        };
        valid += 1;
        let whole = |n: f64| format!("{n:.0}");
        assert_eq!(row[0], "", "{header:02x?}");
        assert_eq!(row[1], view.draft().version().to_string(), "{header:02x?}");
        assert_eq!(row[2], view.format().number().to_string(), "{header:02x?}");
        assert_eq!(row[3], view.protocol().to_string(), "{header:02x?}");
        assert!((row[4].parse::<f64>().unwrap() - view.rtt().secs()).abs() < 1e-9, "{row:?}");
        match view.x() {
            Some(x) => assert!((row[5].parse::<f64>().unwrap() - x.secs()).abs() < 1e-9),
            None => assert_eq!(row[5], "", "{header:02x?}"),
        }
        let throughput = view.throughput().map_or(String::new(), |t| whole(t.get()));
        assert_eq!(row[6], throughput, "{header:02x?}");
        assert_eq!(row[7], whole(view.reverse_feedback().get()), "{header:02x?}");
        assert_eq!(row[8], whole(view.delta_throughput().get()), "{header:02x?}");
    }
    assert!(valid >= 20, "only {valid} valid headers");
}
