//! Headers of several laws in their flows' packets.

use ratewire_laws::{AnyLaw, Header};

use super::Dialects;

const IP: usize = 20;

fn law(name: &str) -> AnyLaw {
    AnyLaw::new(name, &[]).expect("a law")
}

/// The headers of a TCP packet with this option.
fn headers(option: &[u8]) -> Vec<u8> {
    let mut headers = vec![0; IP + 20];
    headers[9] = 6;
    headers.extend(option);
    headers
}

/// The clear bytes of a datagram of ACP with this congestion header.
fn datagram(header: &[u8]) -> Vec<u8> {
    let mut clear = vec![0; IP + 8 + 16];
    clear[9] = 17;
    clear.extend(header);
    clear
}

/// Kind, length and identifier, and words: a rate of 1.6 MB/s, an RTT of 50 ms, and further ones.
fn option(identifier: u16, words: &[u32]) -> Vec<u8> {
    let mut option = vec![254, 4 + 4 * words.len() as u8];
    option.extend(identifier.to_be_bytes());
    option.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    option
}

fn xcp() -> Vec<u8> {
    headers(&option(0x5278, &[100_000, 50_000, 2000, 77]))
}
fn rcp() -> Vec<u8> {
    headers(&option(0x5272, &[100_000, 50_000, 77]))
}

#[test]
fn each_option_is_read_as_its_own_laws() {
    for (x, r) in [("xcp", "rcp"), ("xcp@kernel", "rcp@kernel"), ("xcp", "rcp@kernel")] {
        let laws = [law(x), law(r)];
        let dialects = Dialects::of(laws.iter());
        let read = |packet: &[u8]| dialects.read(None, packet, IP, 1500).expect("it is read");
        let (of_xcp, of_rcp) = (read(&xcp()), read(&rcp()));
        assert!(matches!(of_xcp, Header::Xcp(_) | Header::XcpKernel(_)), "{of_xcp:?}");
        assert!(matches!(of_rcp, Header::Rcp(_) | Header::RcpKernel(_)), "{of_rcp:?}");
        // A header that was read is written back unchanged.
        for (header, before) in [(of_xcp, xcp()), (of_rcp, rcp())] {
            let mut after = before.clone();
            dialects.write(&header, 1500, &mut after, IP);
            assert_eq!(after, before, "{x}, {r}");
        }
    }
}

/// RCP's and PIQI-RCP's options have one identifier.
#[test]
fn where_two_laws_have_one_identifier_the_flows_own_counts() {
    let laws = [law("rcp"), law("piqi-rcp"), law("rcp")];
    let dialects = Dialects::of(laws.iter());
    let read = |law: &AnyLaw| dialects.read(dialects.position(law), &rcp(), IP, 1500);
    assert!(matches!(read(&laws[0]), Some(Header::Rcp(_))));
    assert!(matches!(read(&laws[1]), Some(Header::PiqiRcp(_))));
    assert!(matches!(read(&law("cubic")), Some(Header::Rcp(_))), "the first that there is");
}

#[test]
fn an_option_that_no_port_reads_is_not_taken_for_none() {
    let dialects = Dialects::of([law("xcp")].iter());
    let read = |packet: &[u8]| dialects.read(None, packet, IP, 1500);
    assert_eq!(read(&headers(&[])), Some(Header::None));
    assert_eq!(read(&headers(&option(0x5278, &[77]))), Some(Header::None), "an acknowledgement");
    assert_eq!(read(&headers(&option(0x5278, &[]))), Some(Header::None), "an offer");
    assert_eq!(read(&rcp()), None, "another law's");
    for other in [option(0x5272, &[]), option(0x5272, &[77]), option(0x526a, &[1, 2])] {
        assert_eq!(read(&headers(&other)), Some(Header::None), "it asks no router: {other:x?}");
    }
    assert_eq!(read(&headers(&option(0x526a, &[1; 6]))), None, "JetMax's with data");
    let experiment = headers(&option(0xf989, &[1; 4]));
    assert_eq!(read(&experiment), Some(Header::None), "no congestion header at all");
    assert_eq!(read(&headers(&option(0x5278, &[1, 2]))), None, "of a length that XCP's has not");
    let without = Dialects::of([law("cubic")].iter());
    assert_eq!(without.read(None, &xcp(), IP, 1500), Some(Header::None), "no port would");
}

#[test]
fn a_header_is_written_into_its_own_laws_option_alone() {
    let laws = ["rcp@kernel", "piqi-rcp@kernel", "xcp@kernel"].map(law);
    let dialects = Dialects::of(laws.iter());
    let changed = |word: u32| headers(&option(0x5272, &[word, 50_000, 77]));
    for law in &laws[..2] {
        let own = dialects.position(law);
        let granted = dialects.read(own, &changed(90_000), IP, 1500).expect("it is read");
        let mut packet = rcp();
        dialects.write(&granted, 1500, &mut packet, IP);
        assert_eq!(packet, changed(90_000), "{}", law.info().name);
        // An option of RCP's length that is not RCP's.
        let other = headers(&option(0x5278, &[1, 2, 3]));
        let mut packet = other.clone();
        dialects.write(&granted, 1500, &mut packet, IP);
        assert_eq!(packet, other, "{}", law.info().name);
    }
}

/// ACP's congestion headers lack what TCP's options return.
#[test]
fn headers_in_datagrams_are_read_and_written() {
    for name in ["xcp", "xcp@kernel"] {
        let dialects = Dialects::of([law(name)].iter());
        let read = |packet: &[u8]| dialects.read(None, packet, IP, 1500);
        let packet = |change: u32| datagram(&option(0x5278, &[100_000, 50_000, change]));
        let granted = read(&packet(90)).expect("it is read");
        assert_ne!(granted, Header::None);
        let mut written = packet(2000);
        dialects.write(&granted, 1500, &mut written, IP);
        assert_eq!(written, packet(90), "{name}");
        assert_eq!(read(&datagram(&xcp()[IP + 20..])), None, "of TCP's length");
        assert_eq!(read(&datagram(&option(0x5272, &[1, 2]))), None, "another law's");
        assert_eq!(read(&datagram(&option(0xf989, &[1, 2]))), Some(Header::None));
        assert_eq!(read(&headers(&option(0x5278, &[1, 2, 3]))), None, "of ACP's length in TCP");
    }
    let dialects = Dialects::of([law("jetmax@kernel")].iter());
    let packet = |fair: u32| datagram(&option(0x526a, &[7 << 16, fair, 0, 5 << 16, 0, 1000]));
    let header = dialects.read(None, &packet(90), IP, 1500).expect("it is read");
    let mut written = packet(80);
    dialects.write(&header, 1500, &mut written, IP);
    assert_eq!(written, packet(90));
}
