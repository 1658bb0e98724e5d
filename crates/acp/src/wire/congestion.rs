//! The congestion block: a law's header where routers find it.

use ratewire_laws::kernel::option_form;
use ratewire_laws::{AnyLaw, Header, MAX_HEADER};
use ratewire_units::Bytes;

/// Kind of a block that has a law's header as the law itself encodes it. Routers of `bpf/` do not
/// read it.
const OWN: u8 = 253;
const FIXED: usize = option_form::FIXED;
/// Longest block.
const MOST: usize = FIXED + MAX_HEADER;

/// A congestion block as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    bytes: [u8; MOST],
    len: usize,
}

impl Congestion {
    /// The block of a packet of `packet` network-layer bytes; empty if it has no header.
    pub fn of(law: &AnyLaw, header: &Header, packet: Bytes) -> Congestion {
        let mut block = Congestion { bytes: [0; MOST], len: 0 };
        if *header == Header::None {
            return block;
        }
        let mut encoded = [0; MAX_HEADER];
        let length = option_form::write(law, header, packet, &mut encoded);
        if length > 0 {
            block.bytes[..length].copy_from_slice(&encoded[..length]);
            block.len = length;
            return block;
        }
        let length = law.encode(header, packet, &mut encoded);
        if length > 0 {
            // Whole words: the parts behind the block begin at one.
            block.len = FIXED + length.next_multiple_of(4);
            block.bytes[..FIXED].copy_from_slice(&[OWN, block.len as u8, 0, length as u8]);
            block.bytes[FIXED..FIXED + length].copy_from_slice(&encoded[..length]);
        }
        block
    }

    /// The block's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The header in a block; `None` if it is not one of this law.
    pub fn read(law: &AnyLaw, block: &[u8], packet: Bytes) -> Option<Header> {
        match block {
            [] => Some(Header::None),
            [option_form::KIND, ..] => option_form::read(law, block, packet),
            [OWN, _, _, length, rest @ ..] => {
                law.decode(rest.get(..usize::from(*length))?, packet).ok()
            }
            _ => None,
        }
    }

    /// Length of the block of most packets.
    pub fn usual(law: &AnyLaw) -> usize {
        option_form::OptionForm::of(law).map_or(Congestion::longest(law), |form| form.one_way)
    }

    /// Longest block of a law.
    pub fn longest(law: &AnyLaw) -> usize {
        let own = FIXED + (law.header_len().get() as usize).next_multiple_of(4);
        option_form::OptionForm::of(law).map_or(own, |form| own.max(form.one_way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_laws::{Draw, FlowContext, Sending};
    use ratewire_units::{Duration, Rate, Time};

    #[test]
    fn the_headers_of_all_laws_pass() {
        let packet = Bytes::new(1400);
        let mut with_header = 0;
        for info in ratewire_laws::list() {
            let law = AnyLaw::new(info.name, &[]).unwrap();
            let flow = FlowContext {
                mss: Bytes::new(1300),
                packet,
                line_rate: Rate::from_mbps(100),
                back_pressured: false,
                draw: Draw::new(0),
            };
            let mut source = law.source(&flow);
            let opening = source.on_open(Time::ZERO);
            source.on_opened(Time::from_millis(40), Some(Duration::from_millis(40)), &opening);
            let sending = Sending {
                now: Time::from_millis(41),
                packet,
                in_flight: packet,
                receive_window: Bytes::new(1 << 20),
                srtt: Duration::from_millis(40),
                rto: Duration::from_millis(200),
                limited: false,
            };
            let header = source.on_send(&sending);
            let block = Congestion::of(&law, &header, packet);
            assert!(block.bytes().len() <= Congestion::longest(&law), "{}", info.name);
            assert_eq!(block.bytes().len() % 4, 0);
            with_header += usize::from(!block.bytes().is_empty());
            let read = Congestion::read(&law, block.bytes(), packet);
            let read = read.unwrap_or_else(|| panic!("{} reads its own header", info.name));
            // The fields are rounded once.
            let again = Congestion::of(&law, &read, packet);
            assert_eq!(again.bytes(), block.bytes(), "{}", info.name);
        }
        assert!(with_header > 8, "{with_header} laws have headers");
        let xcp = AnyLaw::new("xcp", &[]).unwrap();
        assert_eq!(Congestion::read(&xcp, &[1, 4, 0, 0], packet), None);
        assert_eq!(Congestion::read(&xcp, &[OWN, 8, 0, 20, 1, 2, 3, 4], packet), None);
    }
}
