//! What happens to frames when a module fails, and what a module sees when it does not.

use ratewire_anypoint::routing::{Frame, KeyHash, Member, RoundRobin, Routing};
use ratewire_units::{Bytes, Duration};
use ratewire_wasm::{FRAMES_A_FAULT, Faults, Limits, MOST_FAULTS, Module, WasmRouting};

/// A module with this body of `route`, which can use `$number`, `$length`, `$count` and the global
/// `$calls`, the number of calls so far. The frame is at address 0, the records are at 4096.
fn module(body: &str) -> Module {
    let text = format!(
        r#"(module
          (memory (export "memory") 1)
          (global $calls (mut i32) (i32.const -1))
          (func (export "ratewire_abi") (result i32) i32.const 1)
          (func (export "wants") (result i32) i32.const 4)
          (func (export "frame") (param i32) (result i32) i32.const 0)
          (func (export "members") (param i32) (result i32) i32.const 4096)
          (func (export "route")
            (param $number i64) (param $length i32) (param $count i32) (result i32)
            (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
            {body}))"#
    );
    Module::load(text.as_bytes()).expect("a module")
}

fn routing(body: &str) -> WasmRouting {
    WasmRouting::new(module(body), Box::new(RoundRobin::default()))
}

fn members(up: &[bool]) -> Vec<Member> {
    up.iter().map(|is_up| Member { is_up: *is_up, ..Member::default() }).collect()
}

/// The members that this many frames go to, of three that are up.
fn routes(routing: &mut WasmRouting, frames: u64) -> Vec<usize> {
    let members = members(&[true; 3]);
    let frame = |number| Frame { number, content: b"abcdef" };
    (0..frames).map(|number| routing.route(&frame(number), &members).unwrap()).collect()
}

/// The second call of every instance fails in this way; the others choose member 2.
fn failing(how: &str) -> String {
    format!("(if (i32.eq (global.get $calls) (i32.const 1)) (then {how})) (i32.const 2)")
}

#[test]
fn a_trap_costs_one_frame_and_the_state() {
    let mut routing = routing(&failing("unreachable"));
    // The default module goes round: 0, 1, 2. The new instance counts calls anew.
    assert_eq!(routes(&mut routing, 6), [2, 0, 2, 1, 2, 2]);
    assert_eq!(routing.faults(), Faults { traps: 3, ..Faults::default() });
    assert_eq!(routing.restarts(), 3);
}

#[test]
fn an_overrun_costs_one_frame_and_the_state() {
    let mut routing = routing(&failing("(loop $again (br $again))"));
    assert_eq!(routes(&mut routing, 4), [2, 0, 2, 1]);
    assert_eq!(routing.faults(), Faults { overruns: 2, ..Faults::default() });
    assert_eq!(routing.restarts(), 2);
}

#[test]
fn an_invalid_answer_costs_one_frame_and_leaves_the_state() {
    for answer in ["3", "-2", "2147483647", "-2147483648"] {
        let mut routing = routing(&failing(&format!("(return (i32.const {answer}))")));
        assert_eq!(routes(&mut routing, 6), [2, 0, 2, 2, 2, 2], "{answer}");
        assert_eq!(routing.faults(), Faults { invalid: 1, ..Faults::default() });
        assert_eq!(routing.restarts(), 0);
    }
}

#[test]
fn a_member_that_is_down_is_no_answer() {
    let mut routing = routing("(i32.const 1)");
    let frame = Frame { number: 0, content: b"" };
    assert_eq!(routing.route(&frame, &members(&[true, false, true])), Some(0));
    assert_eq!(routing.faults(), Faults { invalid: 1, ..Faults::default() });
    // With no member up there is nothing to ask.
    assert_eq!(routing.route(&frame, &members(&[false; 3])), None);
    assert_eq!(routing.route(&frame, &[]), None);
    assert_eq!(routing.faults().invalid, 1);
}

#[test]
fn the_default_module_may_be_left_to_decide() {
    let mut routing = routing("(i32.const -1)");
    assert_eq!(routes(&mut routing, 4), [0, 1, 2, 0]);
    assert_eq!(routing.faults(), Faults::default());
}

#[test]
fn endless_recursion_is_a_trap() {
    let mut routing =
        routing("(call 4 (local.get $number) (local.get $length) (local.get $count))");
    assert_eq!(routes(&mut routing, 2), [0, 1]);
    assert_eq!(routing.faults(), Faults { traps: 2, ..Faults::default() });
}

#[test]
fn memory_grows_up_to_the_limit() {
    // Member 0 if the memory grew by a page, member 1 if not.
    let mut routing = routing("(i32.eq (memory.grow (i32.const 1)) (i32.const -1))");
    let routes = routes(&mut routing, 20);
    assert_eq!(routes[..15], [0; 15]);
    assert_eq!(routes[15..], [1; 5]);
    assert_eq!(routing.memory(), Limits::default().memory);
}

#[test]
fn a_module_is_given_up_after_a_thousand_faults_in_a_row() {
    let mut routing = routing("(i32.const 7)");
    let most = u64::from(MOST_FAULTS);
    routes(&mut routing, most - 1);
    assert!(!routing.is_given_up() && routing.memory() > Bytes::ZERO);
    routes(&mut routing, 10);
    assert!(routing.is_given_up());
    assert_eq!(routing.faults().invalid, most, "it is not asked any more");
    assert_eq!(routing.memory(), Bytes::ZERO);
    // Another module has all its credit.
    routing.replace(module("(i32.const 2)"));
    assert!(!routing.is_given_up());
    assert_eq!(routes(&mut routing, 2), [2, 2]);
    assert_eq!((routing.faults(), routing.restarts()), (Faults::default(), 0));
}

#[test]
fn a_rare_fault_is_forgiven() {
    // One call in a thousand is invalid: the others make up for it.
    let mut routing = routing(
        "(select (i32.const 9) (i32.const 0)
          (i32.eqz (i32.rem_u (global.get $calls) (i32.const 1001))))",
    );
    routes(&mut routing, u64::from(FRAMES_A_FAULT + 1) * 1500);
    assert_eq!(routing.faults().invalid, 1500);
    assert!(!routing.is_given_up());
}

#[test]
fn a_module_sees_the_frame_and_the_members() {
    let see = |body: &str, content: &[u8]| {
        let up =
            Member { is_up: true, outstanding: Bytes::new(1), latency: Duration::from_nanos(2) };
        let members = [up; 4];
        routing(body).route(&Frame { number: 3, content }, &members)
    };
    assert_eq!(see("(i32.wrap_i64 (local.get $number))", b""), Some(3));
    assert_eq!(see("(i32.sub (local.get $count) (i32.const 2))", b""), Some(2));
    // Of the content there are as many bytes as the module wants, or fewer if it is shorter.
    assert_eq!(see("(i32.sub (local.get $length) (i32.const 1))", b"abcdefgh"), Some(3));
    assert_eq!(see("(local.get $length)", b"ab"), Some(2));
    assert_eq!(see("(i32.load8_u (i32.const 1))", &[0, 3]), Some(3));
    assert_eq!(see("(i32.load8_u (i32.const 4))", &[1, 1, 1, 1, 1]), Some(0));
    // Records: outstanding of member 1, latency of member 3.
    assert_eq!(see("(i32.load (i32.const 4128))", b""), Some(1));
    assert_eq!(see("(i32.load (i32.const 4184))", b""), Some(2));
}

#[test]
fn frames_are_read_if_the_module_or_the_default_reads_them() {
    let last = Module::load(include_bytes!("../../examples/last.wat")).unwrap();
    let reads = |module: &Module, default: Box<dyn Routing + Send>| {
        WasmRouting::new(module.clone(), default).reads_content()
    };
    assert!(!reads(&last, Box::<RoundRobin>::default()));
    assert!(reads(&last, Box::new(KeyHash { offset: 0, len: 8 })));
    assert!(reads(&module("(i32.const 0)"), Box::<RoundRobin>::default()));
}

#[test]
fn a_buffer_outside_the_memory_is_a_fault() {
    // There is room for one member, and no more.
    let text = r#"(module
      (memory (export "memory") 1)
      (func (export "ratewire_abi") (result i32) i32.const 1)
      (func (export "members") (param i32) (result i32) i32.const 65512)
      (func (export "route") (param i64 i32 i32) (result i32) i32.const 0))"#;
    let module = Module::load(text.as_bytes()).unwrap();
    let mut routing = WasmRouting::new(module, Box::new(RoundRobin::default()));
    let frame = Frame { number: 0, content: b"" };
    assert_eq!(routing.route(&frame, &members(&[true, true])), Some(0));
    assert_eq!(routing.faults(), Faults { invalid: 1, ..Faults::default() });
    assert_eq!(routing.route(&frame, &members(&[true])), Some(0));
    assert_eq!(routing.faults().invalid, 1);
}
