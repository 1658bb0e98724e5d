//! RCP as a law outside the workspace's crates. The law behind pointers equals the one in the enum,
//! so the difference of two runs is the cost of the pointers.

use ratewire_laws::rcp::{Rcp, RcpHeader, RcpKind};
use ratewire_laws::{
    Acked, AnyLaw, Congestion, Figure, FlowContext, HeaderError, HeaderFormat, Law, LawInfo,
    LawSet, LinkContext, MAX_HEADER, Named, OptionError, Options, PackedHeader, Port, PortQueue,
    Properties, Reason, Sending, Sink, Source,
};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

/// The law called `rcp-outside`, with its defaults.
pub fn law() -> AnyLaw {
    let mut laws = LawSet::default();
    laws.register::<Outside<Rcp>>().expect("a name of its own");
    laws.make(Outside::<Rcp>::INFO.name, &[]).expect("the defaults are valid")
}

/// RCP, or one of its parts, with a header that can be packed.
#[derive(Clone, Debug)]
pub struct Outside<T>(T);

/// RCP's header.
#[derive(Clone, Copy, Debug)]
pub struct Packed(RcpHeader);

impl PackedHeader for Packed {
    const LEN: usize = 26;

    fn pack(&self, bytes: &mut [u8]) {
        let RcpHeader { protocol, kind, rate, rtt, reverse_rate } = self.0;
        bytes[..8].copy_from_slice(&rate.get().to_be_bytes());
        bytes[8..16].copy_from_slice(&rtt.ps().to_be_bytes());
        bytes[16..24].copy_from_slice(&reverse_rate.get().to_be_bytes());
        bytes[24] = protocol;
        bytes[25] = u8::from(kind == RcpKind::Reply);
    }

    fn unpack(bytes: &[u8]) -> Result<Packed, HeaderError> {
        let word = |at: usize| u64::from_be_bytes(*bytes[at..].first_chunk().expect("26 bytes"));
        let throughput = |at| Throughput::new(f64::from_bits(word(at)));
        Ok(Packed(RcpHeader {
            protocol: bytes[24],
            kind: if bytes[25] == 0 { RcpKind::Request } else { RcpKind::Reply },
            rate: throughput(0),
            rtt: Duration::from_ps(word(8)),
            reverse_rate: throughput(16),
        }))
    }
}

impl Named for Outside<Rcp> {
    const INFO: LawInfo = LawInfo { name: "rcp-outside", ..Rcp::INFO };

    fn from_options(options: &Options) -> Result<Outside<Rcp>, OptionError> {
        Rcp::from_options(options).map(Outside)
    }
}

impl Law for Outside<Rcp> {
    type Header = Packed;
    type Source = Outside<<Rcp as Law>::Source>;
    type Port = Outside<<Rcp as Law>::Port>;
    type Sink = Outside<<Rcp as Law>::Sink>;

    fn source(&self, flow: &FlowContext) -> Self::Source {
        Outside(self.0.source(flow))
    }
    fn port(&self, link: &LinkContext) -> Option<Self::Port> {
        self.0.port(link).map(Outside)
    }
    fn sink(&self, flow: &FlowContext) -> Option<Self::Sink> {
        self.0.sink(flow).map(Outside)
    }
    fn properties(&self) -> Properties {
        self.0.properties()
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = Packed>> {
        Some(self)
    }
}

/// On the wire the header is RCP's own: 20 bytes, and rounded.
impl HeaderFormat for Outside<Rcp> {
    type Header = Packed;

    fn length(&self) -> Bytes {
        self.inner().length()
    }
    fn encode(&self, header: &Packed, packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        self.inner().encode(&header.0, packet, bytes)
    }
    fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<Packed, HeaderError> {
        self.inner().decode(bytes, packet).map(Packed)
    }
    fn fields(&self, header: &Packed) -> Vec<Figure> {
        self.inner().fields(&header.0)
    }
}

impl Outside<Rcp> {
    fn inner(&self) -> &dyn HeaderFormat<Header = RcpHeader> {
        self.0.headers().expect("RCP has a header")
    }
}

impl<S: Source<Header = RcpHeader>> Source for Outside<S> {
    type Header = Packed;

    fn on_open(&mut self, now: Time) -> Option<Packed> {
        self.0.on_open(now).map(Packed)
    }
    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, header: Option<&Packed>) {
        self.0.on_opened(now, rtt, header.map(|header| &header.0));
    }
    fn on_send(&mut self, sending: &Sending) -> Option<Packed> {
        self.0.on_send(sending).map(Packed)
    }
    fn on_ack(&mut self, acked: &Acked, header: Option<&Packed>) {
        self.0.on_ack(acked, header.map(|header| &header.0));
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.0.on_congestion(congestion);
    }
    fn on_recovered(&mut self, now: Time) {
        self.0.on_recovered(now);
    }
    fn window(&self) -> Bytes {
        self.0.window()
    }
    fn pacing(&self) -> Option<Throughput> {
        self.0.pacing()
    }
    fn reason(&self) -> Reason {
        self.0.reason()
    }
}

impl<P: Port<Header = RcpHeader>> Port for Outside<P> {
    type Header = Packed;

    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut Packed>,
        queue: PortQueue,
    ) {
        self.0.on_arrival(now, size, header.map(|header| &mut header.0), queue);
    }
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut Packed>,
        queue: PortQueue,
    ) {
        self.0.on_departure(now, size, header.map(|header| &mut header.0), queue);
    }
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        self.0.on_timer(now, queue);
    }
    fn on_rate_change(&mut self, now: Time, rate: Rate) {
        self.0.on_rate_change(now, rate);
    }
    fn reason(&self) -> Reason {
        self.0.reason()
    }
}

impl<S: Sink<Header = RcpHeader>> Sink for Outside<S> {
    type Header = Packed;

    fn on_data(&mut self, now: Time, header: &Packed) {
        self.0.on_data(now, &header.0);
    }
    fn on_ack(&mut self, now: Time) -> Option<Packed> {
        self.0.on_ack(now).map(Packed)
    }
}
