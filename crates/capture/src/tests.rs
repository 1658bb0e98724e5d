use proptest::prelude::*;
use ratewire_backpressure::frames::{Control, Quanta};
use ratewire_laws::{AnyLaw, Draw, FlowContext, Header, Sending};
use ratewire_net::Ecn;
use ratewire_transport::{Ack, Epoch, SackBlocks};
use ratewire_units::{Bytes, Duration, Rate, Throughput};
use ratewire_wire::xcp::{Draft, Format, HEADER_LEN, XcpHeader, XcpView};

use super::headers::Load;
use super::*;

#[path = "../../sim/examples/outside/mod.rs"]
mod outside;

fn xcp() -> XcpHeader {
    XcpHeader {
        protocol: 6,
        format: Format::Standard,
        rtt: Duration::from_millis(40),
        x: Duration::from_micros(1_200),
        reverse_feedback: Throughput::ZERO,
        delta_throughput: Throughput::new(125_000.0),
    }
}

fn packet(size: u32, header: Header, load: Load) -> Packet {
    Packet { size, routers: 0, ecn: Ecn::NotCapable, header, load }
}

fn data(offset: u64, payload: u32) -> Load {
    Load::Data { offset, payload }
}

fn ack(opens: bool, marked: bool, cumulative: u64, window: u64) -> Load {
    selective(SackBlocks::default(), (opens, marked, cumulative, window))
}

fn selective(sack: SackBlocks, rest: (bool, bool, u64, u64)) -> Load {
    let (opens, marked, cumulative, window) = rest;
    let window = Bytes::new(window);
    Load::Ack(Ack {
        opens,
        cumulative,
        window,
        sack,
        marked,
        duplicate: false,
        epoch: Epoch::UNKNOWN,
        header: Header::None,
    })
}

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

const ID: FlowId = FlowId(0x4001);
const ENDS: [NodeId; 2] = [NodeId(2), NodeId(258)];

fn law(name: &str, options: &[(&str, &str)]) -> AnyLaw {
    AnyLaw::new(name, options).unwrap()
}

/// The bytes of a packet of flow [`ID`], and its length on the link.
fn bytes(packet: &Packet, with_payload: bool) -> (Vec<u8>, u32) {
    let mut bytes = vec![0xff];
    let flow = Flow { id: ID, from: ENDS[0], to: ENDS[1], law: law("xcp", &[]) };
    let original = headers::write(packet, &flow, with_payload, &mut bytes);
    (bytes, original)
}

#[test]
fn a_small_file_byte_for_byte() {
    let mut capture = Capture::new(Vec::new(), &[(LinkId(7), "up"), (LinkId(3), "down")]).unwrap();
    capture.flow(ID, ENDS[0], ENDS[1], &law("xcp", &[]));
    let sent = Packet { ecn: Ecn::Capable, ..packet(1500, Header::Xcp(xcp()), data(1440, 1440)) };
    // 4.294967296 s is 2^32 ns; the part below a nanosecond is dropped.
    let at = Time::from_ps(4_294_967_297_999);
    capture.write(at, LinkId(7), ID, &sent).unwrap();
    let answer = packet(40, Header::None, ack(false, true, 2880, 100_000));
    capture.write(at, LinkId(3), ID, &answer).unwrap();
    let expected = [
        // Section Header: magic, version 1.0, length open, shb_userappl "Ratewire".
        "0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff",
        "0400 0800 5261746577697265 0000 0000 2c000000",
        // Interface Descriptions: raw IP, 144 bytes, if_name, if_tsresol 9.
        "01000000 28000000 6500 0000 90000000 0200 0200 75700000",
        "0900 0100 09000000 0000 0000 28000000",
        "01000000 28000000 6500 0000 90000000 0200 0400 646f776e",
        "0900 0100 09000000 0000 0000 28000000",
        // Enhanced Packet: interface 0, time, 60 bytes of 1500.
        "06000000 5c000000 00000000 01000000 01000000 3c000000 dc050000",
        "45 02 05dc 0000 4000 40 c8 1f55 0a000002 0a000102",
        "06143100 0004ea4b 00a3d70a 00000000 0001e848",
        "c001 c001 000005a1 00000001 50 10 ffff 0f8c 0000",
        "5c000000",
        // Enhanced Packet: interface 1, time, 40 bytes of 40.
        "06000000 48000000 01000000 01000000 01000000 28000000 28000000",
        "45 00 0028 0000 4000 40 06 25cd 0a000102 0a000002",
        "c001 c001 00000001 00000b41 50 50 0007 0f45 0000",
        "48000000",
    ];
    let file = capture.finish().unwrap();
    assert_eq!(file, hex(&expected.concat()));
}

#[test]
fn a_frame_byte_for_byte() {
    let mut capture = Capture::new(Vec::new(), &[(LinkId(7), "up")]).unwrap();
    capture.frames_come_by(LinkId(3), "down", NodeId(258)).unwrap();
    let start = capture.blocks.file().len();
    let mut times = [None; frames::CLASSES];
    (times[0], times[3]) = (Some(Quanta(0)), Some(Quanta(0x1234)));
    let control = Control::Priority(times);
    let at = Time::from_ps(4_294_967_297_999);
    let mut seen = CapturedFrame { at, link: LinkId(3), pauses: LinkId(7), control };
    capture.frame(&seen).unwrap();
    let expected = [
        // Enhanced Packet: interface 1, time, 64 bytes of 64.
        "06000000 60000000 01000000 01000000 01000000 40000000 40000000",
        "0180c2000001 020000000102 8808 0101 0009 0000 0000 0000 1234 0000 0000 0000 0000",
        &"00".repeat(26),
        "e7fb866d",
        "60000000",
    ];
    assert_eq!(capture.blocks.file()[start..], hex(&expected.concat()));
    seen.link = LinkId(7);
    let e = capture.frame(&seen).unwrap_err();
    assert_eq!(e.to_string(), "a frame of link 7, which was not announced to the capture");
}

#[test]
fn the_handshake_offers_sack_and_a_scaled_window() {
    let (syn, original) = bytes(&packet(40, Header::None, Load::Open), false);
    assert_eq!(syn[20..], hex("c001c001 00000000 00000000 7002ffff f1bf0000 01010402 0103030e"));
    assert_eq!((original, &syn[2..4]), (48, &[0, 48][..]));
    let (answer, _) = bytes(&packet(40, Header::None, ack(true, false, 0, 5840)), false);
    assert_eq!(answer[20..36], hex("c001c001 00000000 00000001 701216d0"));
    assert_eq!(answer[40..], hex("01010402 0103030e"));
}

#[test]
fn the_time_to_live_falls_with_each_router_and_not_below_1() {
    for (routers, ttl) in [(0, 64), (1, 63), (62, 2), (63, 1), (64, 1), (1_000, 1)] {
        let sent = Packet { routers, ..packet(40, Header::None, Load::Open) };
        let (bytes, _) = bytes(&sent, false);
        assert_eq!(bytes[8], ttl, "{routers} routers");
        assert!(checksum_holds(bytes[..20].iter().copied()), "{routers} routers");
    }
}

#[test]
fn sequence_numbers_and_ranges_wrap_at_32_bits() {
    let (segment, _) = bytes(&packet(1500, Header::None, data(0xffff_ffff, 1460)), false);
    assert_eq!(segment[24..28], [0; 4]);
    let cumulative = 0x1_ffff_fff0;
    let mut sack = SackBlocks::default();
    sack.push(cumulative, cumulative + 15, cumulative + 16);
    sack.push(cumulative, cumulative + 4, cumulative + 8);
    let packet = packet(40, Header::None, selective(sack, (false, false, cumulative, 0)));
    let (answer, original) = bytes(&packet, false);
    assert_eq!(answer[28..32], hex("fffffff1"));
    assert_eq!(answer[40..], hex("01010512 00000000 00000001 fffffff5 fffffff9"));
    assert_eq!(original, 60, "longer than simulated, by the option");
}

#[test]
fn windows_round_up_to_the_scale_and_saturate() {
    for (window, units) in
        [(0, 0), (1, 1), (16_384, 1), (16_385, 2), (1 << 30, 65_535), (1 << 40, 65_535)]
    {
        let (bytes, _) = bytes(&packet(40, Header::None, ack(false, false, 0, window)), false);
        assert_eq!(u16::from_be_bytes([bytes[34], bytes[35]]), units, "{window}");
    }
}

#[test]
fn longer_simulated_headers_become_padding_then_trailer() {
    let lengths = |size, header| {
        let (bytes, original) = bytes(&packet(size, header, data(0, 1000)), false);
        (bytes.len(), u16::from_be_bytes([bytes[2], bytes[3]]), original)
    };
    assert_eq!(lengths(1040, Header::None), (40, 1040, 1040));
    assert_eq!(lengths(1052, Header::None), (52, 1052, 1052));
    assert_eq!(lengths(1054, Header::None), (52, 1052, 1054));
    assert_eq!(lengths(1090, Header::None), (80, 1080, 1090));
    assert_eq!(lengths(1060, Header::Xcp(xcp())), (60, 1060, 1060));
    assert_eq!(lengths(1040, Header::Xcp(xcp())), (60, 1060, 1060), "no room for TCP");
    assert_eq!(lengths(100_000, Header::None), (80, 1080, 100_000));
}

#[test]
fn marks_show_in_ip_and_in_the_echo() {
    let flags = |ecn, load| {
        let (bytes, _) = bytes(&Packet { ecn, ..packet(40, Header::None, load) }, false);
        (bytes[1], bytes[33])
    };
    assert_eq!(flags(Ecn::Marked, data(0, 0)), (3, 0x10));
    assert_eq!(flags(Ecn::Capable, Load::Open), (2, 0x02));
    assert_eq!(flags(Ecn::NotCapable, ack(false, true, 0, 0)), (0, 0x50));
}

#[test]
fn payload_is_zeros_when_asked_for() {
    let packet = packet(1500, Header::Xcp(xcp()), data(0, 1440));
    let ((cut, _), (whole, original)) = (bytes(&packet, false), bytes(&packet, true));
    assert_eq!((cut.len(), whole.len(), original), (60, 1500, 1500));
    assert_eq!(cut, whole[..60]);
    assert!(whole[60..].iter().all(|b| *b == 0));
}

#[test]
fn a_link_that_was_not_named_is_an_error() {
    let mut capture = Capture::new(Vec::new(), &[(LinkId(0), "up")]).unwrap();
    let syn = packet(40, Header::None, Load::Open);
    let e = capture.write(Time::ZERO, LinkId(0), FlowId(5), &syn).unwrap_err();
    assert_eq!(e.to_string(), "a packet of flow 5, which was not announced to the capture");
    let e = capture.write(Time::ZERO, LinkId(1), FlowId(5), &syn).unwrap_err();
    assert_eq!(e.to_string(), "a packet of link 1, which was not announced to the capture");
    let e = Capture::new(Vec::new(), &[(LinkId(0), &*"x".repeat(65_536))]).unwrap_err();
    assert!(e.to_string().contains("65536 bytes"), "{e}");
}

fn any_load() -> impl Strategy<Value = Load> {
    let ranges = prop::collection::vec(any::<(u32, u32)>(), 0..5);
    let ack = |(ranges, rest): (Vec<(u32, u32)>, _)| {
        let mut sack = SackBlocks::default();
        ranges.iter().for_each(|(start, end)| sack.push(0, u64::from(*start), u64::from(*end)));
        selective(sack, rest)
    };
    prop_oneof![
        Just(Load::Open),
        (any::<u64>(), 0..2_000_u32).prop_map(|(offset, payload)| data(offset, payload)),
        (any::<u64>(), any::<u32>()).prop_map(|(offset, payload)| data(offset, payload)),
        (ranges, any::<(bool, bool, u64, u64)>()).prop_map(ack),
    ]
}

fn any_header() -> impl Strategy<Value = Header> {
    let header = |(rtt, x, reverse, delta)| {
        Header::Xcp(XcpHeader {
            rtt: Duration::from_ps(rtt),
            x: Duration::from_ps(x),
            reverse_feedback: Throughput::new(reverse),
            delta_throughput: Throughput::new(delta),
            ..xcp()
        })
    };
    prop_oneof![Just(Header::None), any::<(u64, u64, f64, f64)>().prop_map(header)]
}

prop_compose! {
    fn any_packet()(
        size in prop_oneof![0..3_000_u32, any::<u32>()],
        routers in 0u32..1_000,
        ecn in prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable, Ecn::Marked]),
        header in any_header(),
        load in any_load(),
    ) -> Packet {
        Packet { size, routers, ecn, header, load }
    }
}

/// The Internet checksum over a header that holds its checksum is zero.
fn checksum_holds(words: impl Iterator<Item = u8>) -> bool {
    let bytes: Vec<u8> = words.collect();
    let mut sum: u64 =
        bytes.chunks(2).map(|w| u64::from(w[0]) << 8 | w.get(1).map_or(0, |b| u64::from(*b))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn every_law_s_header_stands_before_tcp_as_the_law_writes_it() {
    let context = FlowContext {
        mss: Bytes::new(1400),
        packet: Bytes::new(1500),
        line_rate: Rate::from_mbps(100),
        back_pressured: false,
        draw: Draw::new(0),
    };
    let mut with_header = 0;
    let inside = ratewire_laws::list().iter().map(|info| law(info.name, &[]));
    for law in inside.chain([outside::law()]) {
        let info = law.info();
        let header = law.source(&context).on_send(&Sending {
            now: Time::ZERO,
            packet: Bytes::new(1500),
            in_flight: Bytes::new(1400),
            receive_window: Bytes::MAX,
            srtt: Duration::from_millis(40),
            rto: Duration::from_secs(1),
            limited: false,
        });
        let flow = Flow { id: ID, from: ENDS[0], to: ENDS[1], law: law.clone() };
        let mut bytes = Vec::new();
        headers::write(&packet(1500, header, data(0, 1400)), &flow, false, &mut bytes);
        let len = law.header_len().get() as usize;
        with_header += usize::from(len > 0);
        let protocol = match (len, info.name) {
            (0, _) => 6,
            (_, "xcp") => 200,
            _ => 253,
        };
        assert_eq!(bytes[9], protocol, "{}", info.name);
        let read = law.decode(&bytes[20..20 + len], Bytes::new(1500));
        assert!(len == 0 || read == Ok(law.quantise(header, Bytes::new(1500))), "{}", info.name);
        assert_eq!(bytes[20 + len..][..2], hex("c001"), "{}: the sender's port", info.name);
    }
    assert!(with_header >= 7);
}

proptest! {
    #[test]
    fn lengths_agree(
        packet in any_packet(),
        id in any::<u32>(),
        nodes in any::<(u32, u32)>(),
        at in any::<u64>(),
        with_payload in any::<bool>(),
        draft in prop::sample::select(Draft::ALL.to_vec()),
    ) {
        let links = [(LinkId(4), "link")];
        let mut capture = Capture::start(Vec::new(), &links, with_payload).unwrap();
        let start = capture.blocks.file().len();
        let xcp = law("xcp", &[("draft", ["00", "02", "03"][draft as usize])]);
        capture.flow(FlowId(id), NodeId(nodes.0), NodeId(nodes.1), &xcp);
        capture.write(Time::from_ps(at), LinkId(4), FlowId(id), &packet).unwrap();
        let file = capture.finish().unwrap();

        let block = &file[start..];
        prop_assert_eq!(word(block, 4) as usize, block.len());
        prop_assert_eq!(word(block, block.len() - 4) as usize, block.len());
        let (captured, original) = (word(block, 20) as usize, word(block, 24));
        prop_assert_eq!(28 + captured.next_multiple_of(4) + 4, block.len());
        let ip = &block[28..28 + captured];

        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        prop_assert!(total <= original as usize && packet.size <= original);
        prop_assert!(captured <= total);
        prop_assert!(with_payload || captured <= headers::MAX_LEN);
        prop_assert!(!with_payload || captured == total);
        prop_assert!(checksum_holds(ip[..20].iter().copied()));

        let mut tcp_at = 20;
        if let Header::Xcp(_) = packet.header {
            let view = XcpView::new_checked(&ip[20..]).unwrap();
            prop_assert_eq!((ip[9], view.draft(), view.protocol()), (200, draft, 6));
            tcp_at += HEADER_LEN;
        } else {
            prop_assert_eq!(ip[9], 6);
        }
        let tcp = &ip[tcp_at..];
        let tcp_len = usize::from(tcp[12] >> 4) * 4;
        prop_assert!(tcp_len >= 20 && tcp_len <= tcp.len());
        let length = (total - tcp_at) as u16;
        let pseudo = [&ip[12..20], &[0, 6], &length.to_be_bytes()].concat();
        prop_assert!(checksum_holds(pseudo.iter().chain(tcp).copied()));

        let payload = match packet.load { Load::Data { payload, .. } => payload as usize, _ => 0 };
        let fits = tcp_at + tcp_len + payload <= usize::from(u16::MAX);
        prop_assert!(!fits || total == tcp_at + tcp_len + payload);
        let longest = tcp_len == 60;
        let shown = total == packet.size as usize;
        prop_assert!(shown || !fits || longest || packet.size < total as u32 + 4);
    }
}
