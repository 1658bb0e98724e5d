use super::*;

const SOURCE: [u8; 6] = [0x02, 0, 0, 0, 0, 0x01];

fn frame(control: Control) -> PauseFrame {
    PauseFrame { destination: MULTICAST, source: SOURCE, control }
}

/// Bytes of a hexadecimal text, and zeros up to the check sequence.
fn golden(start: &str, check: &str) -> [u8; LENGTH] {
    let digits: Vec<u8> = start.bytes().chain(check.bytes()).filter(|b| *b != b' ').collect();
    let value = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    let read: Vec<u8> = digits.chunks(2).map(value).collect();
    let (body, sequence) = read.split_at(read.len() - 4);
    let mut bytes = [0; LENGTH];
    bytes[..body.len()].copy_from_slice(body);
    bytes[BODY..].copy_from_slice(sequence);
    bytes
}

/// The check sequences are Python's `zlib.crc32` of the sixty bytes, low byte first.
fn vectors() -> [([u8; LENGTH], Control); 3] {
    let mut classes = [None; CLASSES];
    classes[3] = Some(Quanta(0xffff));
    classes[5] = Some(Quanta(0));
    [
        (
            golden("0180c2000001 020000000001 8808 0001 ffff", "dd7cb2ff"),
            Control::Pause(Quanta::MAX),
        ),
        (
            golden("0180c2000001 020000000001 8808 0001 0000", "5917bd86"),
            Control::Pause(Quanta::ZERO),
        ),
        (
            golden("0180c2000001 020000000001 8808 0101 0028 0000 0000 0000 ffff", "9d406a4c"),
            Control::Priority(classes),
        ),
    ]
}

#[test]
fn bytes_are_those_of_the_standards() {
    for (bytes, control) in vectors() {
        assert_eq!(frame(control).encode(), bytes);
        assert_eq!(PauseFrame::decode(&bytes), Ok(frame(control)));
        assert_eq!(frame(control).encode_body(), bytes[..BODY]);
        assert_eq!(PauseFrame::decode_body(&bytes[..BODY]), Ok(frame(control)));
    }
}

/// A frame with some bytes changed and its check sequence corrected.
fn changed(at: usize, value: u8) -> [u8; LENGTH] {
    let mut bytes = vectors()[2].0;
    bytes[at] = value;
    let check = check_sequence(&bytes[..BODY]).to_le_bytes();
    bytes[BODY..].copy_from_slice(&check);
    bytes
}

#[test]
fn what_is_no_such_frame_is_told_why() {
    let why = |bytes: &[u8]| PauseFrame::decode(bytes).unwrap_err();
    let good = vectors()[0].0;
    assert_eq!(why(&good[..60]), Error::Length(60, LENGTH));
    assert_eq!(PauseFrame::decode_body(&good), Err(Error::Length(64, BODY)));
    let mut wrong = good;
    wrong[16] = 0;
    assert!(matches!(why(&wrong), Error::Check(..)));
    assert_eq!(why(&changed(5, 2)), Error::Destination([1, 0x80, 0xc2, 0, 0, 2]));
    assert_eq!(why(&changed(12, 8)), Error::EtherType(0x0808));
    assert_eq!(why(&changed(15, 2)), Error::Opcode(0x0102));
    assert_eq!(why(&changed(16, 1)), Error::Classes(0x0128));
    let text = why(&changed(15, 2)).to_string();
    assert_eq!(text, "opcode 0x0102, and not 0x0001 or 0x0101");
}

#[test]
fn the_peer_itself_may_be_addressed_and_padding_is_not_read() {
    let mut to_peer = changed(0, 0);
    assert_eq!(PauseFrame::decode(&to_peer).unwrap().destination[0], 0);
    to_peer = changed(50, 7);
    assert_eq!(PauseFrame::decode(&to_peer), Ok(frame(vectors()[2].1)));
    // The time of a class that is not enabled.
    assert_eq!(PauseFrame::decode(&changed(18, 7)), Ok(frame(vectors()[2].1)));
}

/// The table of quanta by rate: 512 bit times, and 65535 of them.
#[test]
fn quanta_last_as_long_as_their_bits() {
    let table = [
        (10_000_000, 51_200_000, 3_355_392_000_000),
        (100_000_000, 5_120_000, 335_539_200_000),
        (1_000_000_000, 512_000, 33_553_920_000),
        (10_000_000_000, 51_200, 3_355_392_000),
        (40_000_000_000, 12_800, 838_848_000),
        (100_000_000_000, 5_120, 335_539_200),
    ];
    for (bps, one, most) in table {
        let rate = Rate::from_bps(bps);
        assert_eq!(Quanta(1).time(rate), Duration::from_ps(one));
        assert_eq!(Quanta::MAX.time(rate), Duration::from_ps(most));
        assert_eq!(Quanta::lasting(Duration::from_ps(most), rate), Quanta::MAX);
        assert_eq!(Quanta::lasting(Duration::from_ps(one + 1), rate), Quanta(2));
    }
    assert_eq!(Quanta::ZERO.time(Rate::from_mbps(1)), Duration::ZERO);
    assert_eq!(Quanta(1).time(Rate::ZERO), Duration::MAX);
    assert_eq!(Quanta::lasting(Duration::MAX, Rate::from_mbps(1)), Quanta::MAX);
}
