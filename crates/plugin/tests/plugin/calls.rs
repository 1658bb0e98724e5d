//! What the functions of a table are called with, and what becomes of their results.

use libloading::Library;
use ratewire_laws::{
    Acked, AnyLaw, Congestion, Draw, FlowContext, Header, LawSet, LinkContext, PortQueue, Sending,
    Signal,
};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::{Built, SOUND, build, changed};

const FLOW: FlowContext = FlowContext {
    mss: Bytes::new(1460),
    packet: Bytes::new(1504),
    line_rate: Rate::from_mbps(8),
    back_pressured: false,
    draw: Draw::new(0),
};
const LINK: LinkContext = LinkContext {
    rate: Rate::from_mbps(8),
    delay: Duration::from_millis(1),
    id: 7,
    draw: Draw::new(0),
};
const QUEUE: PortQueue = PortQueue { bytes: Bytes::new(3000), packets: 2 };

fn sending() -> Sending {
    Sending {
        now: Time::from_secs(2),
        packet: Bytes::new(1504),
        in_flight: Bytes::new(1460),
        receive_window: Bytes::MAX,
        srtt: Duration::ZERO,
        rto: Duration::ZERO,
        limited: false,
    }
}

fn acked() -> Acked {
    Acked {
        now: Time::from_secs(3),
        bytes: Bytes::new(1460),
        in_flight: Bytes::ZERO,
        was_in_flight: Bytes::new(1460),
        rtt: Some(Duration::from_millis(500)),
        srtt: Duration::from_millis(500),
        cumulative: 1460,
        next: 1460,
        receive_window: Bytes::MAX,
        limited: false,
        in_recovery: false,
        marked: false,
        lost: Bytes::ZERO,
    }
}

/// The law of a text, with these options; the folder must outlive neither.
fn law(text: &str, options: &[(&str, &str)]) -> (AnyLaw, Built) {
    let built = build(text);
    let mut laws = LawSet::default();
    ratewire_plugin::load(&built.object).expect("a law").register(&mut laws).expect("its name");
    (laws.make("sound", options).expect("its options"), built)
}

fn figure(of: &ratewire_laws::Reason, name: &str) -> f64 {
    of.figures.iter().find(|figure| figure.name == name).expect(name).value
}

#[test]
fn every_function_gets_what_happened_and_its_answer_counts() {
    let (law, _built) = law(SOUND, &[]);
    assert_eq!(law.header_len(), Bytes::new(4));
    let (mut source, mut sink) = (law.source(&FLOW), law.sink(&FLOW).unwrap());
    assert_eq!(figure(&source.reason(), "last"), 1460.0 + 1e6);
    assert_eq!(source.reason().equation, "last = what came last");
    assert_eq!((source.window().get(), source.pacing().unwrap().get()), (5000, 1e6));
    let mut header = source.on_send(&sending());
    assert_eq!(figure(&source.reason(), "last"), 2.0 + 1504.0);
    assert_eq!(law.fields(&header)[0].value, f64::from(b'a'));
    let mut port = law.port(&LINK).unwrap();
    assert_eq!(figure(&port.reason(), "last"), 1e6 + 7.0);
    assert_eq!(port.next_timer(), Time::NEVER);
    port.on_arrival(Time::from_secs(2), Bytes::new(1504), &mut header, QUEUE);
    assert_eq!(figure(&port.reason(), "last"), 2.0 + 1504.0 + 3000.0);
    assert_eq!(law.fields(&header)[0].value, f64::from(b'X'));
    port.on_arrival(Time::from_secs(2), Bytes::new(99), &mut Header::None, QUEUE);
    port.on_rate_change(Time::from_secs(2), Rate::from_mbps(16));
    assert_eq!(figure(&port.reason(), "last"), 2e6);
    sink.on_data(Time::from_secs(2), &header);
    source.on_ack(&acked(), &sink.on_ack(Time::from_secs(2)));
    assert_eq!(figure(&source.reason(), "last"), 0.5 + 1460.0);
    assert_eq!(figure(&source.reason(), "header"), f64::from(b'X'));
    source.on_ack(&Acked { rtt: None, ..acked() }, &Header::None);
    assert_eq!(figure(&source.reason(), "last"), -1.0 + 1460.0);
    // A mark is a loss to a law that makes no difference between them.
    for (signal, base) in
        [(Signal::Loss, 1000.0), (Signal::Mark, 1000.0), (Signal::Timeout, 2000.0)]
    {
        let in_flight = Bytes::new(10);
        let now = Time::from_secs(4);
        source.on_congestion(&Congestion { now, signal, in_flight, srtt: Duration::ZERO });
        assert_eq!(figure(&source.reason(), "last"), base + 10.0);
    }
    source.on_spurious(Time::from_secs(4));
    assert_eq!(figure(&source.reason(), "last"), 3004.0);
    assert_eq!(source.slow_start_threshold(), Some(Bytes::new(2921)));
    assert_eq!(source.next_timer(), Time::from_millis(250));
    source.on_timer(Time::from_millis(250));
    assert_eq!(figure(&source.reason(), "last"), 0.25);
    assert_eq!((source.fault(), port.fault()), (None, None));
}

#[test]
fn headers_have_their_own_length_on_the_wire() {
    let (law, _built) = law(SOUND, &[]);
    let header = law.source(&FLOW).on_send(&sending());
    let mut bytes = [9; ratewire_laws::MAX_HEADER];
    assert_eq!(law.encode(&header, Bytes::new(1504), &mut bytes), 4);
    assert_eq!(bytes[..5], *b"abcd\x09");
    assert_eq!(law.decode(&bytes, Bytes::new(1504)).unwrap(), header);
    let short = law.decode(&bytes[..3], Bytes::new(1504)).unwrap_err();
    assert_eq!(short.message, "3 bytes of a header of 4");
}

#[test]
fn options_come_as_numbers_in_the_order_of_the_table() {
    let options = [("mode", "fast"), ("size", "3 KB"), ("time", "2 s"), ("on", "false")];
    let (_law, built) = law(SOUND, &options);
    // SAFETY: the test's own object, which is loaded already.
    let object = unsafe { Library::new(&built.object) }.unwrap();
    // SAFETY: the object's own function.
    let given = unsafe { object.get::<extern "C" fn(i32) -> f64>(b"value_given") }.unwrap();
    let values: Vec<f64> = (0..7).map(|at| given(at)).collect();
    assert_eq!(values, [0.5, 1.0, 3000.0, 2.0, 1e6, 0.0, 3.0]);
    let _default = law(SOUND, &[]);
}

#[test]
fn every_state_is_freed_once() {
    let (law, built) = law(SOUND, &[]);
    // SAFETY: the test's own object, which is loaded already.
    let object = unsafe { Library::new(&built.object) }.unwrap();
    // SAFETY: the object's own function.
    let alive = unsafe { object.get::<extern "C" fn() -> i32>(b"states_alive") }.unwrap();
    let before = alive();
    let parts = (law.source(&FLOW), law.port(&LINK), law.sink(&FLOW));
    assert_eq!(alive(), before + 3);
    // Parts keep their law.
    drop(law);
    assert_eq!(alive(), before + 3);
    drop(parts);
    assert_eq!(alive(), before - 1);
}

#[test]
fn numbers_that_no_law_may_give_are_faults() {
    let fault = |from: &str, to: &str| {
        let (law, _built) = law(&changed(from, to), &[]);
        let source = law.source(&FLOW);
        let kept = (source.window(), source.pacing().map(|pace| pace.get()), source.next_timer());
        (source.fault().expect("a fault"), kept)
    };
    let (message, kept) = fault("return 5000;", "return NAN;");
    assert!(message.starts_with("`source.window` gave NaN bytes"), "{message}");
    assert_eq!(kept.0, FLOW.mss);
    let (message, _) = fault("return 5000;", "return -1;");
    assert!(message.starts_with("`source.window` gave -1 bytes"), "{message}");
    for (window, shown) in [("INFINITY", "inf"), ("1e30", "1e30"), ("1073741825", "1073741825")] {
        let text = changed("return 5000;", &format!("return {window};"));
        let (law, _built) =
            law(&text.replace("*rate = 1e6;\n\treturn true;", "(void)rate;\n\treturn false;"), &[]);
        let source = law.source(&FLOW);
        let message = source.fault().expect("a fault");
        let says = format!("`source.window` gave {shown} bytes, and there is no pace: at most");
        assert!(message.starts_with(&says) && message.contains("(1 GiB)"), "{message}");
        assert_eq!(source.window(), FLOW.mss);
    }
    for (rate, shown) in [("INFINITY", "inf"), ("-2", "-2"), ("NAN", "NaN")] {
        let (message, kept) = fault("*rate = 1e6;", &format!("*rate = {rate};"));
        assert!(
            message.starts_with(&format!("`source.pace` gave {shown} bytes per second")),
            "{message}"
        );
        assert_eq!(kept.1, Some(0.0));
    }
    let (own, _built) = law(&changed("return 2920.6;", "return -1;"), &[]);
    let source = own.source(&FLOW);
    assert_eq!(source.slow_start_threshold(), Some(Bytes::ZERO));
    let message = source.fault().expect("a fault");
    assert!(message.starts_with("`source.slow_start_threshold` gave -1 bytes"), "{message}");
    let (message, kept) = fault("return 0.25;", "return NAN;");
    assert_eq!((message.as_str(), kept.2), ("`source.next_timer` returned no number", Time::NEVER));
    let (message, kept) = fault(
        "s->last = (double)flow->mss + flow->line_rate;\n\treturn s;",
        "(void)flow;\n\tdrop(s);\n\treturn NULL;",
    );
    assert_eq!(message, "`source.create` returned NULL");
    assert_eq!(kept, (FLOW.mss, None, Time::NEVER));
}

#[test]
fn a_port_or_sink_that_cannot_be_made_is_a_fault() {
    let text = changed(
        "s->last = link->rate + link->id;\n\treturn s;",
        "(void)link;\n\tdrop(s);\n\treturn NULL;",
    );
    let (one, _built) = law(&text, &[]);
    let mut port = one.port(&LINK).unwrap();
    port.on_arrival(Time::ZERO, Bytes::new(9), &mut Header::None, QUEUE);
    assert_eq!(port.fault().as_deref(), Some("`port.create` returned NULL"));
    let text = changed(
        "return state();\n}\n\nstatic void on_data",
        "return NULL;\n}\n\nstatic void on_data",
    );
    let (one, _built) = law(&text, &[]);
    let (source, mut sink) = (one.source(&FLOW), one.sink(&FLOW).unwrap());
    assert_eq!(sink.on_ack(Time::ZERO), Header::None);
    assert_eq!(source.fault().as_deref(), Some("`sink.create` returned NULL"));
}
