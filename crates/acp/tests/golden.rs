//! The bytes that the documentation states.

use ratewire_acp::keys::{Open, Seal};
use ratewire_acp::wire::{ConnectionId, Data, HEADER, Part, Parts};

/// Hexadecimal digits, sixteen bytes a line.
fn hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(16).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_packet_has_the_bytes_of_its_documentation() {
    let congestion = [254, 16, b'R', b'x', 0, 0, 0xf4, 0x24, 0, 0, 0x9c, 0x40, 0, 0, 0, 3];
    let clear = Data { connection: ConnectionId(258), number: 5, congestion: &congestion };
    let mut packet = Vec::new();
    clear.put(&mut packet);
    let begin = packet.len();
    Part::Ping(9).put(&mut packet);
    Part::Open.put(&mut packet);
    Seal::new(&[7; 32]).seal(5, &mut packet, 0, HEADER, begin);
    let documentation = include_str!("../../../docs/reference/acp.md");
    let bytes = hex(&packet);
    assert!(documentation.contains(&bytes), "the documentation lacks\n{bytes}");
    // A router lowers the change; the packet is still authentic.
    packet[31] = 1;
    let (read, begin) = Data::read(&packet).map(|(data, begin)| (data.number, begin)).unwrap();
    let length = Open::new(&[7; 32]).open(u64::from(read), &mut packet, HEADER, begin).unwrap();
    let parts: Vec<_> = Parts::new(&packet[begin..begin + length]).collect();
    assert_eq!(parts, [Ok(Part::Ping(9)), Ok(Part::Open)]);
}
