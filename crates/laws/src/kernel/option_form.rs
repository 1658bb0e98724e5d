//! Congestion headers in the form that real packets carry: the option of `bpf/laws/option.h`.
//!
//! A law of `bpf/` has the option as its header. XCP, RCP and PIQI-RCP in Rust have the drafts'
//! headers, whose fields follow from the option's: XCP's X is a packet over the rate, and a
//! packet's part of the feedback is the change in time times X. JetMax's fields do not follow.

use ratewire_kernel::Header as Fields;
use ratewire_units::{Bytes, Duration, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use crate::rcp::{RcpHeader, RcpKind};
use crate::{AnyLaw, Header, MAX_HEADER};

/// Kind of the option (RFC 4727).
pub const KIND: u8 = 254;
/// Length of kind, length and identifier.
pub const FIXED: usize = 4;
/// XCP's protocol number for what follows, which no part of a law reads.
const FOLLOWING: u8 = 6;

/// A law's option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionForm {
    /// The experiment's identifier (RFC 6994).
    pub identifier: u16,
    /// Length of the option on packets with data.
    pub len: usize,
    /// Length without what is returned: in data packets of ACP.
    pub one_way: usize,
    /// Length of the last part, which routers do not write.
    returned: usize,
}

/// XCP's.
const XCP: OptionForm = OptionForm { identifier: 0x5278, len: 20, one_way: 16, returned: 4 };
/// RCP's and PIQI-RCP's.
const RCP: OptionForm = OptionForm { identifier: 0x5272, len: 16, one_way: 12, returned: 4 };
/// JetMax's. The sender's rate and a router's load are among the returned fields.
const JETMAX: OptionForm = OptionForm { identifier: 0x526a, len: 28, one_way: 28, returned: 12 };

impl OptionForm {
    /// All forms.
    pub const ALL: [OptionForm; 3] = [XCP, RCP, JETMAX];

    /// The form of a law's option; `None` if no kernel speaks the law.
    pub fn of(law: &AnyLaw) -> Option<OptionForm> {
        match law {
            AnyLaw::Xcp(_) | AnyLaw::XcpKernel(_) => Some(XCP),
            AnyLaw::Rcp(_) | AnyLaw::RcpKernel(_) => Some(RCP),
            AnyLaw::PiqiRcp(_) | AnyLaw::PiqiRcpKernel(_) => Some(RCP),
            AnyLaw::Jetmax(_) | AnyLaw::JetmaxKernel(_) => Some(JETMAX),
            _ => None,
        }
    }

    /// Whether an option is this law's.
    pub fn is_of(&self, option: &[u8]) -> bool {
        option.get(2..FIXED) == Some(&self.identifier.to_be_bytes()[..])
    }
    /// Whether an option of this law has fields for routers. On acknowledgements it has only what
    /// is returned, and on packets that open a connection only the identifier.
    pub fn asks(&self, option: &[u8]) -> bool {
        option.len() > FIXED + self.returned
    }

    /// Length of what routers write and receivers read, with kind, length and identifier.
    pub fn forward(&self) -> usize {
        self.len - self.returned
    }
}

/// Writes a new option with the fields for routers of a packet's header, which returns nothing.
/// Returns its length; 0 if the law has no such option, or the header is not the law's.
pub fn write(law: &AnyLaw, header: &Header, packet: Bytes, out: &mut [u8; MAX_HEADER]) -> usize {
    let Some(form) = OptionForm::of(law) else { return 0 };
    let length = form.one_way;
    match (law, header) {
        (AnyLaw::Xcp(_), Header::Xcp(header)) => {
            put_fields(&mut out[FIXED..length], xcp_fields(header, packet));
        }
        (AnyLaw::Rcp(_), Header::Rcp(header)) | (AnyLaw::PiqiRcp(_), Header::PiqiRcp(header)) => {
            put_fields(&mut out[FIXED..length], rcp_fields(header));
        }
        // JetMax in Rust has a header of its own.
        (AnyLaw::Xcp(_) | AnyLaw::Rcp(_) | AnyLaw::PiqiRcp(_) | AnyLaw::Jetmax(_), _) => return 0,
        _ if law.encode(header, packet, out) == form.len => {}
        _ => return 0,
    }
    let [high, low] = form.identifier.to_be_bytes();
    out[..FIXED].copy_from_slice(&[KIND, length as u8, high, low]);
    length
}

/// Reads the header of a packet of this law from an option that has the law's form, with its
/// returned part or without; `None` if it has not.
pub fn read(law: &AnyLaw, option: &[u8], packet: Bytes) -> Option<Header> {
    let form = OptionForm::of(law).filter(|form| form.is_of(option))?;
    if option.len() != form.len && option.len() != form.one_way {
        return None;
    }
    Some(match law {
        AnyLaw::Xcp(_) => {
            let fields = fields(&form, option);
            let x = x(&fields, packet);
            Header::Xcp(XcpHeader {
                protocol: FOLLOWING,
                format: Format::Standard,
                rtt: fields.rtt(),
                x,
                reverse_feedback: Throughput::ZERO,
                delta_throughput: Throughput::new(fields.change().get() * x.secs()),
            })
        }
        AnyLaw::Rcp(_) => Header::Rcp(rate(&fields(&form, option))),
        AnyLaw::PiqiRcp(_) => Header::PiqiRcp(rate(&fields(&form, option))),
        _ => {
            let mut whole = [0; MAX_HEADER];
            whole[..option.len()].copy_from_slice(option);
            whole[1] = form.len as u8;
            return law.decode(&whole[..form.len], packet).ok();
        }
    })
}

/// Writes back what routers may have changed in a header that was [`read`] from the option.
/// Returns false if the header is of a law that has the option as its header.
pub fn rewrite(header: &Header, option: &mut [u8]) -> bool {
    let read = fields_in(&option[FIXED..]);
    let fields = match header {
        Header::Xcp(header) => Fields::new(read.rate(), read.rtt(), change(header)),
        Header::Rcp(header) | Header::PiqiRcp(header) => rcp_fields(header),
        _ => return false,
    };
    let end = OptionForm::ALL.iter().find(|form| form.is_of(option)).map_or(0, OptionForm::forward);
    put_fields(&mut option[FIXED..end.max(FIXED)], fields);
    true
}

fn xcp_fields(header: &XcpHeader, packet: Bytes) -> Fields {
    let rate = match header.x.secs() {
        x if x > 0.0 => packet.as_f64() / x,
        _ => 0.0,
    };
    Fields::new(Throughput::new(rate), header.rtt, change(header))
}

fn rcp_fields(header: &RcpHeader) -> Fields {
    Fields::new(header.rate, header.rtt, Throughput::ZERO)
}

/// XCP's feedback as a change in time.
fn change(header: &XcpHeader) -> Throughput {
    match header.x.secs() {
        x if x > 0.0 => Throughput::new(header.delta_throughput.get() / x),
        _ => Throughput::ZERO,
    }
}

fn put_fields(out: &mut [u8], fields: Fields) {
    for (word, field) in out.chunks_exact_mut(4).zip(fields.to_fields()) {
        word.copy_from_slice(&field.to_be_bytes());
    }
}

/// Fields for routers, in order; fields that the option lacks are 0.
fn fields(form: &OptionForm, option: &[u8]) -> Fields {
    fields_in(&option[FIXED..form.forward()])
}

fn fields_in(bytes: &[u8]) -> Fields {
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    Fields::from_fields(words)
}

fn x(fields: &Fields, packet: Bytes) -> Duration {
    match fields.rate().get() {
        rate if rate > 0.0 => Duration::from_secs_f64(packet.as_f64() / rate),
        _ => Duration::ZERO,
    }
}

fn rate(fields: &Fields) -> RcpHeader {
    RcpHeader {
        protocol: FOLLOWING,
        kind: RcpKind::Request,
        rate: fields.rate(),
        rtt: fields.rtt(),
        reverse_rate: Throughput::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(name: &str) -> AnyLaw {
        AnyLaw::new(name, &[]).unwrap()
    }

    #[test]
    fn options_have_these_bytes_and_are_read_again() {
        let packet = Bytes::new(1500);
        let header = Header::Xcp(XcpHeader {
            protocol: FOLLOWING,
            format: Format::Standard,
            rtt: Duration::from_millis(40),
            x: Duration::from_micros(1500),
            reverse_feedback: Throughput::ZERO,
            delta_throughput: Throughput::new(3.5 * 1024.0 * 0.0015),
        });
        let mut bytes = [0; MAX_HEADER];
        let length = write(&law("xcp"), &header, packet, &mut bytes);
        // 1 MB/s in units of 16 B/s, 40,000 us, 3 kB/s2.
        let expected = [254, 16, b'R', b'x', 0, 0, 0xf4, 0x24, 0, 0, 0x9c, 0x40, 0, 0, 0, 3];
        assert_eq!(bytes[..length], expected);
        let read_again = read(&law("xcp"), &bytes[..length], packet);
        let Some(Header::Xcp(fields)) = read_again else { panic!("{read_again:?}") };
        assert_eq!(
            (fields.rtt, fields.x),
            (Duration::from_millis(40), Duration::from_micros(1500))
        );
        let change = fields.delta_throughput.get();
        assert!((change - 3.0 * 1024.0 * 0.0015).abs() < 1e-9, "rounded down: {change}");
        assert_eq!(read(&law("rcp"), &bytes[..length], packet), None);
        assert!(read(&law("xcp@kernel"), &bytes[..length], packet).is_some());
        assert_eq!(read(&law("xcp"), &bytes[..8], packet), None);
        assert_eq!(write(&law("cubic"), &header, packet, &mut bytes), 0);
        assert_eq!(write(&law("jetmax"), &header, packet, &mut bytes), 0);
        assert_eq!(write(&law("rcp@kernel"), &header, packet, &mut bytes), 0);
    }

    /// Routers count flows by the rate, and compare loads.
    #[test]
    fn jetmaxs_rate_and_load_are_kept() {
        let (packet, mut bytes) = (Bytes::new(1500), [0; MAX_HEADER]);
        let words: [u32; 6] = [7 << 16, 0x00ff_ffff, 0x03ff_ffff, 5 << 16, 0x00ff_ffff, 1000];
        let mut option = [0; 28];
        option[..FIXED].copy_from_slice(&[254, 28, b'R', b'j']);
        for (bytes, word) in option[FIXED..].chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let header = read(&law("jetmax@kernel"), &option, packet).unwrap();
        assert_eq!(write(&law("jetmax@kernel"), &header, packet, &mut bytes), option.len());
        assert_eq!(bytes[..option.len()], option);
    }
}
