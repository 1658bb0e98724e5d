//! A module in a switch, replaced while frames pass.

use std::sync::{Arc, Mutex};

use ratewire_anypoint::routing::RoundRobin;
use ratewire_anypoint::{FlowControl, FrameOf, Output, Side, Switch, SwitchConfig, Transforms};
use ratewire_laws::{AnyLaw, Header};
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Time};
use ratewire_wasm::{Module, WasmRouting};

const PAYLOAD: Bytes = Bytes::new(1000);

fn switch(routing: Arc<Mutex<WasmRouting>>) -> Switch {
    let config = SwitchConfig {
        law: AnyLaw::new("newreno", &[]).expect("a law"),
        members: 3,
        frame: PAYLOAD,
        payload: PAYLOAD,
        packet: PAYLOAD + Bytes::new(40),
        flow_control: FlowControl::Strict,
        transforms: Transforms::Refusals { shuffle: 0.1 },
        idle_expiry: Duration::from_secs_f64(60.0),
        peer_spreads: false,
    };
    Switch::new(config, Box::new(routing))
}

/// The member that a frame goes to.
fn send(switch: &mut Switch, number: u64) -> Side {
    let kind = SegmentKind::Data { again: false };
    let offset = number * PAYLOAD.get();
    let segment =
        Segment { kind, offset, payload: PAYLOAD, stamp: Stamp::NONE, header: Header::None };
    let mut out = Vec::new();
    let now = Time::from_millis(number);
    switch.on_segment(now, Side::Peer, &segment, FrameOf::from(b"f".as_slice()), false, &mut out);
    match out[..] {
        [Output::Segment(to, _)] => to,
        _ => panic!("{out:?}"),
    }
}

#[test]
fn a_module_is_replaced_between_two_frames() {
    let last = Module::load(include_bytes!("../../examples/last.wat")).expect("a module");
    // The first member with nothing outstanding.
    let idle = r#"(module
      (memory (export "memory") 1)
      (func (export "ratewire_abi") (result i32) i32.const 1)
      (func (export "members") (param i32) (result i32) i32.const 0)
      (func (export "route") (param i64 i32 i32) (result i32)
        (local $k i32)
        (loop $next
          (if (i64.eqz (i64.load (i32.add (i32.const 8) (i32.mul (local.get $k) (i32.const 24)))))
            (then (return (local.get $k))))
          (local.set $k (i32.add (local.get $k) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $k) (local.get 2))))
        i32.const -1))"#;
    let idle = Module::load(idle.as_bytes()).expect("a module");
    let owner = Arc::new(Mutex::new(WasmRouting::new(last, Box::new(RoundRobin::default()))));
    let mut switch = switch(Arc::clone(&owner));
    assert_eq!([0, 1].map(|n| send(&mut switch, n)), [Side::Member(2); 2]);
    owner.lock().unwrap().replace(idle);
    let sides = [2, 3, 4].map(|n| send(&mut switch, n));
    // Member 2 owes two frames; then all owe some, and the default module decides.
    assert_eq!(sides, [Side::Member(0), Side::Member(1), Side::Member(0)]);
    switch.fail(Time::from_millis(9), 0, &mut Vec::new());
    assert_eq!(send(&mut switch, 5), Side::Member(1));
    // A member that is down owes nothing, so this module chooses it, which is a fault.
    assert_eq!(owner.lock().unwrap().faults().invalid, 1);
}
