//! What must hold for any module, and for anything that a module does.

use ratewire_anypoint::routing::{Frame, Member, RoundRobin, Routing};
use ratewire_units::{Bytes, Duration};

use crate::limits::Limits;
use crate::module::Module;
use crate::routing::{Faults, WasmRouting};

/// A module that does what frames tell it to.
const OBEDIENT: &str = include_str!("obedient.wat");

/// Limits under which a fuzzer is fast.
const LIMITS: Limits = Limits { memory: Bytes::new(4 * 65_536), fuel: 5_000 };

/// Most frames of an input.
const MOST_FRAMES: usize = 64;

/// A valid module as binary: something to change.
pub fn binary() -> Vec<u8> {
    wat::parse_str(OBEDIENT).expect("the obedient module")
}

/// Loads any bytes as a module. If they are one, routes frames by it. Returns whether they are.
///
/// # Panics
/// If a frame goes to a member that is down, or the module exceeds its limits.
pub fn module(data: &[u8]) -> bool {
    let Ok(module) = Module::load_with(data, LIMITS) else { return false };
    let mut routing = WasmRouting::new(module, Box::new(RoundRobin::default()));
    let content: Vec<u8> = (0..=255).collect();
    for number in 0..8 {
        let frame = Frame { number, content: &content[number as usize..] };
        for (count, up) in [(3, 0b101), (3, 0b010), (0, 0), (9, 0x1ff), (2, 0)] {
            route(&mut routing, &frame, &members(count, up));
        }
    }
    true
}

/// Reads orders to a module: a byte for the members that are up, and six bytes a frame, of which
/// the last takes members down. Returns how many frames the module routed itself.
///
/// # Panics
/// If a frame goes to a member that is down, the module exceeds its limits, an answer does not
/// count, or a fault is not counted.
pub fn answers(data: &[u8]) -> usize {
    let module = Module::load_with(OBEDIENT.as_bytes(), LIMITS).expect("the obedient module");
    let mut routing = WasmRouting::new(module, Box::new(RoundRobin::default()));
    let Some((up, orders)) = data.split_first() else { return 0 };
    let mut routed = 0;
    for (number, order) in (0..).zip(orders.chunks_exact(6)).take(MOST_FRAMES) {
        let members = members(8, u32::from(up & !order[5]));
        let before = routing.faults();
        let chosen = route(&mut routing, &Frame { number, content: &order[..5] }, &members);
        let answer = i32::from_le_bytes([order[1], order[2], order[3], order[4]]);
        let is_member =
            usize::try_from(answer).is_ok_and(|k| members.get(k).is_some_and(|m| m.is_up));
        let mut expected = before;
        match order[0] {
            _ if chosen.is_none() => {}
            1 | 3 => expected.traps += 1,
            2 => expected.overruns += 1,
            // Whether these trap, and what they return, is the module's own affair.
            4..=7 => continue,
            _ if is_member => {
                assert_eq!(chosen, usize::try_from(answer).ok(), "the module's answer counts");
                routed += 1;
            }
            _ if answer == -1 => {}
            _ => expected.invalid += 1,
        }
        // Nested calls may use up the fuel before they are too many.
        let found = routing.faults();
        let ended = |faults: Faults| (faults.traps + faults.overruns, faults.invalid);
        assert_eq!(ended(found), ended(expected), "{order:?}");
    }
    routed
}

/// Members of which those in a mask are up.
fn members(count: usize, up: u32) -> Vec<Member> {
    let member = |k: usize| Member {
        is_up: up >> k & 1 == 1,
        outstanding: Bytes::new(k as u64 * 1_000),
        latency: Duration::from_millis(k as u64),
    };
    (0..count).map(member).collect()
}

/// Routes a frame, and checks what must hold of any module.
fn route(routing: &mut WasmRouting, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
    let before = routing.faults();
    let chosen = routing.route(frame, members);
    match chosen {
        Some(chosen) => assert!(members[chosen].is_up, "member {chosen} is down"),
        None => assert!(members.iter().all(|member| !member.is_up), "a member is up"),
    }
    assert!(routing.memory() <= LIMITS.memory, "{:?} of memory", routing.memory());
    let sum = |faults: Faults| faults.traps + faults.overruns + faults.invalid;
    assert!(sum(routing.faults()) <= sum(before) + 1, "a frame has one fault at most");
    chosen
}
