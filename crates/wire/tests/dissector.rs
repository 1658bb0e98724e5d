//! Compares `wireshark/ratewire.lua` with the parser, with the options of the kernel's laws and
//! with its documentation, through tshark. Without tshark the tests skip and say so; with
//! `RATEWIRE_REQUIRE_TOOLS=1` in the environment they fail.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use ratewire_wire::xcp::{HEADER_LEN, IP_PROTOCOL, XcpView};

const IP_PROTOCOL_TCP: u8 = 6;
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

    let mut arguments = Vec::new();
    if protocol != IP_PROTOCOL_TCP {
        arguments.extend(["-o".to_string(), format!("xcp.ip_protocol:{protocol}")]);
    }
    let read = ["-r", capture.to_str().unwrap(), "-T", "fields", "-E", "separator=|"];
    arguments.extend(read.into_iter().chain(["-E", "occurrence=f"]).map(str::to_owned));
    for field in fields {
        arguments.extend(["-e", field].map(str::to_owned));
    }
    let text = run(&folder, &arguments)?;
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect();
    assert_eq!(rows.len(), payloads.len(), "{text}");
    Some(rows)
}

/// What tshark says with the dissectors and these arguments, or `None` if there is none.
fn run(folder: &Path, arguments: &[String]) -> Option<String> {
    let mut command = Command::new("tshark");
    // Not the user's own plugins and preferences.
    command.env("HOME", folder).env("WIRESHARK_CONFIG_DIR", folder);
    // Of its options, -G must be the first.
    command.args(arguments).arg("-X").arg(format!("lua_script:{ROOT}/wireshark/ratewire.lua"));
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
    Some(String::from_utf8(output.stdout).unwrap())
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

/// The header of each input in `fuzz/corpus/xcp_header`. The bytes after a header go to another
/// dissector, which complains of its own, for example of a TCP header that is cut short.
fn corpus() -> Vec<Vec<u8>> {
    let files = fs::read_dir(format!("{ROOT}/fuzz/corpus/xcp_header")).unwrap();
    let inputs = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    let inputs = inputs.map(|mut input| {
        input.truncate(HEADER_LEN);
        input
    });
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

/// A segment with these options, padded to whole words, and so much payload.
fn segment(options: &str, payload: usize) -> Vec<u8> {
    let mut options = hex(options);
    options.resize(options.len().next_multiple_of(4), 0);
    let mut segment = TCP.to_vec();
    segment[12] = ((TCP.len() + options.len()) / 4 * 16) as u8;
    segment.extend(options);
    segment.extend(vec![0; payload]);
    segment
}

const TIMESTAMPS: &str = "0101 080a 00000001 00000002";

/// The filters of the dissectors, as tshark lists them.
fn filters(name: &str) -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let text = run(&folder, &["-G", "fields"].map(str::to_owned))?;
    // What it is, its label, its filter.
    let all = text.lines().filter(|line| line.starts_with("F\t"));
    let all = all.filter_map(|line| line.split('\t').nth(2));
    let own = all.filter(|name| ["xcp.", "ratewire."].iter().any(|own| name.starts_with(own)));
    Some(own.map(str::to_owned).collect())
}

/// Options as the kernel's hosts write them, in the layout of `bpf/laws/option.h`: whole, beside
/// timestamps; returned ones, beside selective acknowledgement; in handshakes.
#[test]
fn options_of_the_kernels_laws_are_shown() {
    let data = |option: &str| segment(&format!("{TIMESTAMPS} {option}"), 100);
    let xcp = "fe14 5278 0001312d 00009c40 000003e8 fffffffe";
    let rcp = "fe10 5272 00002710 00004e20 00000100";
    // 3 * 2^10 and unknown; 2^25 of 2^26; 1 * 2^3 and 1000 * 2^0.
    let jetmax = "fe1c 526a 00050006 07 500003 02 ffffff 7c00 0009 08 180001 01 0003e8";
    let selective = "0101 050a 00000001 00000002";
    let cases = [
        (
            data(xcp),
            "law=xcp@kernel returned=0 xcp_kernel.rate=1250000 xcp_kernel.rtt=0.04 \
             xcp_kernel.change=1024000 xcp_kernel.returned=-2",
        ),
        (segment("fe08 5278 00000007", 0), "law=xcp@kernel returned=1 xcp_kernel.returned=7"),
        (
            data(rcp),
            "law=rcp@kernel returned=0 rcp_kernel.rate=160000 rcp_kernel.rtt=0.02 rcp_kernel.returned=256",
        ),
        (
            segment(&format!("{TIMESTAMPS} {selective} fe08 5272 00000064"), 0),
            "law=rcp@kernel returned=1 rcp_kernel.returned=100",
        ),
        (
            data(jetmax),
            "law=jetmax@kernel returned=0 jetmax_kernel.bottleneck=5 jetmax_kernel.proposed=6 \
             jetmax_kernel.number=7 jetmax_kernel.fair=3072 jetmax_kernel.marker=2 jetmax_kernel.load=0.5 \
             jetmax_kernel.rate=1000 jetmax_kernel.returned_router=9 jetmax_kernel.returned_marker=1 \
             jetmax_kernel.returned_number=8 jetmax_kernel.returned_fair=8",
        ),
        (
            segment(&format!("{TIMESTAMPS} fe0c 526a 0009 00 01 08 180001"), 0),
            "law=jetmax@kernel returned=1 jetmax_kernel.returned_router=9 jetmax_kernel.returned_marker=1 \
             jetmax_kernel.returned_number=8 jetmax_kernel.returned_fair=8",
        ),
        (segment("0204 05b4 fe04 526a 0101", 0), "law=jetmax@kernel offered=1"),
    ];
    let Some(filters) = filters("options-filters") else { return };
    let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
    let payloads = cases.clone().map(|(segment, _)| segment);
    let rows = tshark("options", &payloads, IP_PROTOCOL_TCP, &filters).expect("it is there");
    for ((_, expected), row) in cases.iter().zip(rows) {
        let shown = filters.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
        let shown: BTreeSet<String> = shown
            .map(|(filter, cell)| {
                let cell = cell.replace("True", "1").replace("False", "0");
                format!("{}={cell}", filter.trim_start_matches("ratewire."))
            })
            .collect();
        let shown: BTreeSet<&str> = shown.iter().map(String::as_str).collect();
        assert_eq!(shown, expected.split(' ').collect::<BTreeSet<&str>>());
    }
}

/// An option that is cut off, has a wrong length, another kind or another identifier belongs to no
/// law; options that Wireshark knows are still shown.
#[test]
fn other_options_are_left_alone() {
    let fast_open = "fe0c f989 0102030405060708";
    let others = [
        "",
        "fe",
        "fe04",
        "fe00 5278",
        "fe01 5278",
        "fe03 52",
        "fe14 5278 00000000",
        "fe09 5278 00000000 00",
        "fd08 5278 00000000",
        "fe08 5279 00000000",
        "00fe 0852 7800 0000 07",
        fast_open,
    ];
    let payloads = others.map(|options| segment(options, 0));
    let fields = ["ratewire.law", "_ws.expert.message", "tcp.options.experimental.exid"];
    let Some(rows) = tshark("other-options", &payloads, IP_PROTOCOL_TCP, &fields) else { return };
    for (options, row) in others.iter().zip(&rows) {
        assert_eq!(row[0], "", "{options}: {row:?}");
        assert!(!row[1].contains("Lua"), "{options}: {row:?}");
    }
    assert_eq!(rows.last().expect("a row")[2], "0xf989");
}

#[test]
fn every_filter_is_documented() {
    /// Preferences, which have the names of filters.
    const PREFERENCES: [&str; 2] = ["xcp.ip_protocol", "ratewire.ip_protocol"];
    let Some(filters) = filters("filters") else { return };
    let text = fs::read_to_string(format!("{ROOT}/docs/reference/wireshark.md")).unwrap();
    let documented: BTreeSet<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| !code.contains(' '))
        .filter(|name| ["xcp.", "ratewire."].iter().any(|own| name.starts_with(own)))
        .filter(|name| !PREFERENCES.contains(name))
        .collect();
    assert_eq!(documented, filters.iter().map(String::as_str).collect());
}
