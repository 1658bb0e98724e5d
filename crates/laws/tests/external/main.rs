//! Laws that live outside this crate, as this test does.

mod toy;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ratewire_laws::fuzzing::Laws;
use ratewire_laws::junction::Junction;
use ratewire_laws::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use ratewire_laws::{
    Acked, AnyLaw, Congestion, Draw, FlowContext, Header, HeaderFormat, Law, LawInfo, LawSet,
    LinkContext, MAX_HEADER, Named, NoHeader, NoPort, NoSink, Reason, Sending, Source,
};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};
use toy::Toy;

const PACKET: Bytes = Bytes::new(1500);
const FLOW: FlowContext = FlowContext {
    mss: Bytes::new(1460),
    packet: PACKET,
    line_rate: Rate::from_mbps(100),
    back_pressured: false,
    draw: Draw::new(0),
};
const LINK: LinkContext = LinkContext {
    rate: Rate::from_mbps(10),
    delay: Duration::from_millis(1),
    id: 1,
    draw: Draw::new(0),
};

fn laws() -> LawSet {
    let mut laws = LawSet::default();
    laws.register::<Toy>().unwrap();
    laws
}

fn toy(options: &[(&str, &str)]) -> AnyLaw {
    laws().make("toy", options).unwrap()
}

fn sent(law: &AnyLaw) -> Header {
    law.source(&FLOW).on_send(&Sending {
        now: Time::ZERO,
        packet: PACKET,
        in_flight: PACKET,
        receive_window: Bytes::MAX,
        srtt: Duration::from_millis(100),
        rto: Duration::from_secs(1),
        limited: false,
    })
}

/// The header as a port of `law` lets it go.
fn through(law: &AnyLaw, mut header: Header) -> Header {
    let mut port = law.port(&LINK).unwrap();
    port.on_passage(Time::ZERO, PACKET, &mut header, false);
    header
}

fn figures(law: &AnyLaw, header: &Header) -> Vec<f64> {
    law.fields(header).iter().map(|figure| figure.value).collect()
}

#[test]
fn a_registered_law_is_found_by_its_name_and_made_with_its_options() {
    let laws = laws();
    assert_eq!(laws.find("toy").unwrap().title, "Toy");
    assert_eq!(laws.list().last().unwrap().name, "toy");
    let toy = laws.make("toy", &[("gamma", "0.5")]).unwrap();
    assert_eq!((toy.info().name, toy.header_len()), ("toy", Bytes::new(9)));
    assert!(toy.properties().goes_by_pace);
    let e = laws.make("toy", &[("gamma", "7")]).unwrap_err();
    assert_eq!(e.to_string(), "option \"gamma\": found \"7\"; allowed is a number from 0.1 to 1");
    let e = laws.make("toy", &[("delta", "7")]).unwrap_err();
    assert!(e.message.contains("no such option; known: gamma"), "{e}");
    let e = laws.make("tov", &[]).unwrap_err();
    assert!(e.message.contains("fixed") && e.message.ends_with(", toy"), "{e}");
    assert!(AnyLaw::new("toy", &[]).is_err(), "the set of this crate's laws stays as it is");
    assert_eq!(laws.make("xcp", &[]).unwrap().info().name, "xcp");
}

/// A law's information under another name, with other options.
fn named(name: &'static str, options: &'static [OptionSpec]) -> &'static LawInfo {
    Box::leak(Box::new(LawInfo { name, options, ..Toy::INFO }))
}

#[test]
fn what_cannot_be_registered_says_why_and_changes_nothing() {
    const GAMMA: OptionSpec = OptionSpec {
        name: "gamma",
        kind: OptionKind::Number(0.1, 1.0),
        default: "0.9",
        part: Part::Port,
        doc: "share of the capacity to fill.",
    };
    const TOO_LARGE: OptionSpec = OptionSpec { default: "9", ..GAMMA };
    let mut laws = laws();
    let before = laws.list().count();
    let mut refused = |name, options| {
        let refused = laws.register_as(named(name, options), Toy::from_options).unwrap_err();
        assert_eq!(refused.law, name);
        refused.message
    };
    let taken = "another law has this name";
    assert_eq!(refused("toy", &[GAMMA]), taken);
    assert_eq!(refused("xcp", &[GAMMA]), taken);
    for name in ["", "my law", "a/b", "ä"] {
        assert!(refused(name, &[GAMMA]).starts_with("a name is of letters a to z"), "{name:?}");
    }
    assert_eq!(refused("strip", &[GAMMA]), "this word has a meaning of its own in scenarios");
    assert_eq!(refused("two", &[GAMMA, GAMMA]), "two options are called \"gamma\"");
    let default = "default of option \"gamma\": found \"9\"; allowed is a number from 0.1 to 1";
    assert_eq!(refused("bad", &[TOO_LARGE]), default);
    let never = |_: &Options| Err::<Toy, _>(OptionError::new("gamma", "never"));
    let message = laws.register_as(named("never", &[GAMMA]), never).unwrap_err().to_string();
    let wanted = "law \"never\" was not registered: it cannot be made with its defaults: option \
                  \"gamma\": never";
    assert_eq!(message, wanted);
    let message = laws.register::<WithoutFormat>().unwrap_err().message;
    assert_eq!(
        message,
        "it has a header, but Law::headers has no format: return Some(PackedFormat::of()) there"
    );
    assert_eq!(laws.list().count(), before);
}

/// A law that does not say how its header travels.
#[derive(Debug)]
struct WithoutFormat(Toy);

impl Named for WithoutFormat {
    const INFO: LawInfo = LawInfo { name: "formatless", ..Toy::INFO };

    fn from_options(options: &Options) -> Result<WithoutFormat, OptionError> {
        Toy::from_options(options).map(WithoutFormat)
    }
}

impl Law for WithoutFormat {
    type Header = toy::Offer;
    type Source = toy::ToySource;
    type Port = toy::ToyPort;
    type Sink = toy::ToySink;

    fn source(&self, flow: &FlowContext) -> toy::ToySource {
        self.0.source(flow)
    }
}

/// A law whose ports use their random number.
#[derive(Debug)]
struct Drawing(Toy);

impl Law for Drawing {
    type Header = toy::Offer;
    type Source = toy::ToySource;
    type Port = toy::ToyPort;
    type Sink = toy::ToySink;

    fn source(&self, flow: &FlowContext) -> toy::ToySource {
        self.0.source(flow)
    }
    fn port(&self, link: &LinkContext) -> Option<toy::ToyPort> {
        let rate = Rate::from_bps(1 + link.draw.get() % 1000);
        self.0.port(&LinkContext { rate, ..*link })
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = toy::Offer>> {
        self.0.headers()
    }
}

#[test]
fn a_port_that_uses_its_random_number_is_noted() {
    let mut laws = laws();
    let make = |options: &Options| Toy::from_options(options).map(Drawing);
    laws.register_as(named("drawing", Toy::INFO.options), make).unwrap();
    for (name, draws) in [("drawing", true), ("toy", false), ("xcp", false)] {
        let is_used = Cell::new(false);
        let link = LinkContext { draw: Draw::noted(7, &is_used), ..LINK };
        assert!(laws.make(name, &[]).unwrap().port(&link).is_some());
        assert_eq!(is_used.get(), draws, "{name}");
    }
}

#[test]
fn a_port_rewrites_headers_of_its_own_law_and_no_others() {
    let mut laws = laws();
    laws.register_as(named("twin", Toy::INFO.options), Toy::from_options).unwrap();
    let [toy, twin] = ["toy", "twin"].map(|name| laws.make(name, &[]).unwrap());
    let header = sent(&toy);
    assert_eq!(figures(&toy, &header), [12.5e6], "the sender's own link");
    assert_eq!(figures(&toy, &through(&toy, header)), [0.9 * 1.25e6 / 20.0]);
    // The same bytes, of a law of its own.
    assert_eq!(through(&twin, header), header);
    assert_eq!(figures(&twin, &header), [0.0; 0]);
    assert_ne!(sent(&twin), header);
    let mut bytes = [0; MAX_HEADER];
    assert_eq!(twin.encode(&header, PACKET, &mut bytes), 0);
    // Another flow's options, and it is still the same law.
    let frugal = laws.make("toy", &[("gamma", "0.1")]).unwrap();
    assert_eq!(figures(&toy, &through(&frugal, header)), [0.1 * 1.25e6 / 20.0]);
}

#[test]
fn a_header_travels_in_its_bytes() {
    let law = toy(&[]);
    let header = sent(&law);
    let mut bytes = [0xaa; MAX_HEADER];
    assert_eq!(law.encode(&header, PACKET, &mut bytes), 9);
    assert_eq!(&bytes[..9], [&12.5e6f64.to_be_bytes()[..], &[0]].concat());
    assert_eq!(law.decode(&bytes[..9], PACKET), Ok(header));
    assert_eq!(law.quantise(header, PACKET), header);
    let short = law.decode(&bytes[..8], PACKET).unwrap_err();
    assert_eq!(short.message, "8 bytes of a header of 9");
    bytes[8] = 2;
    assert_eq!(law.decode(&bytes[..9], PACKET).unwrap_err().message, "no offer");
}

#[test]
fn what_a_law_does_not_say_has_defaults() {
    let law = toy(&[]);
    assert_eq!(law.unpoliced(), Some("the law does not say what its headers claim and grant"));
    assert_eq!((law.lies(), law.claim(&sent(&law))), (&[][..], None));
    assert!(matches!(law.junction(), Junction::Refuses(_)));
    assert!(!law.marks());
}

/// A law whose window a program sets.
#[derive(Clone, Debug)]
struct Shared(Arc<AtomicU64>);

impl Law for Shared {
    type Header = NoHeader;
    type Source = Shared;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, _: &FlowContext) -> Shared {
        self.clone()
    }
}

impl Source for Shared {
    type Header = NoHeader;

    fn on_send(&mut self, _: &Sending) -> Option<NoHeader> {
        None
    }
    fn on_ack(&mut self, _: &Acked, _: Option<&NoHeader>) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn window(&self) -> Bytes {
        Bytes::new(self.0.load(Ordering::Relaxed))
    }
    fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.window().as_f64()))
    }
    fn reason(&self) -> Reason {
        Reason::new("the window is set", [])
    }
}

#[test]
fn a_window_that_a_program_sets_holds_at_once() {
    let window = Arc::new(AtomicU64::new(3000));
    let law = Shared(window.clone());
    let mut laws = laws();
    let make = move |_: &Options| Ok::<_, OptionError>(law.clone());
    laws.register_as(named("shared", &[]), make).unwrap();
    let source = laws.make("shared", &[]).unwrap().source(&FLOW);
    for bytes in [3000, 7000, 5000] {
        window.store(bytes, Ordering::Relaxed);
        assert_eq!(source.window(), Bytes::new(bytes));
        assert_eq!(source.pacing(), Some(Throughput::new(bytes as f64)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_it_keeps_its_head(
        bytes in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        Laws::of(&laws(), ["toy"]).each(&bytes);
    }

    #[test]
    fn any_bytes_at_all_as_headers(bytes in proptest::collection::vec(any::<u8>(), 0..32)) {
        Laws::of(&laws(), ["toy"]).headers(&bytes);
    }
}
