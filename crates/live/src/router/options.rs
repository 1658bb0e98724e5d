//! What a port is set to, as the program has it.

use std::mem::offset_of;

use ratewire_units::{Bytes, Duration};

use super::pinned::Pinned;
use crate::KernelLaw;
use crate::skeletons::router::types::{
    router as State, rw_jetmax, rw_jetmax_constants, rw_rcp, rw_rcp_rule, rw_xcp, rw_xcp_constants,
};

/// Form of an option in the program.
#[derive(Clone, Copy)]
enum Form {
    /// A number in 2^-16.
    Number,
    /// Microseconds.
    Time,
    /// Bytes, 0 for none.
    Size,
}

/// An option's name, its offset in the law's port, and its form.
type Field = (&'static str, usize, Form);

const OF_XCP: [Field; 9] = {
    const AT: usize = offset_of!(rw_xcp, constants);
    [
        ("alpha", AT + offset_of!(rw_xcp_constants, alpha), Form::Number),
        ("beta", AT + offset_of!(rw_xcp_constants, beta), Form::Number),
        ("gamma", AT + offset_of!(rw_xcp_constants, gamma), Form::Number),
        ("min_interval", AT + offset_of!(rw_xcp_constants, min_interval_us), Form::Time),
        ("max_interval", AT + offset_of!(rw_xcp_constants, max_interval_us), Form::Time),
        ("allowed_queue", AT + offset_of!(rw_xcp_constants, allowed_queue_us), Form::Time),
        ("queue_cap", AT + offset_of!(rw_xcp_constants, queue_cap), Form::Size),
        ("queue_limit", AT + offset_of!(rw_xcp_constants, queue_limit), Form::Size),
        ("memory", AT + offset_of!(rw_xcp_constants, memory), Form::Number),
    ]
};

const SPARE: usize = offset_of!(rw_rcp, rule) + offset_of!(rw_rcp_rule, spare);
const QUEUE: Field =
    ("beta", offset_of!(rw_rcp, rule) + offset_of!(rw_rcp_rule, queue), Form::Number);
const TARGET: Field =
    ("gamma", offset_of!(rw_rcp, rule) + offset_of!(rw_rcp_rule, target), Form::Number);
const SLOT: Field =
    ("slot", offset_of!(rw_rcp, rule) + offset_of!(rw_rcp_rule, slot_us), Form::Time);

const OF_RCP: [Field; 4] = [("alpha", SPARE, Form::Number), QUEUE, TARGET, SLOT];
const OF_PIQI: [Field; 3] = [("integral", SPARE, Form::Number), TARGET, SLOT];

const OF_JETMAX: [Field; 2] = {
    const AT: usize = offset_of!(rw_jetmax, constants);
    [
        ("gamma", AT + offset_of!(rw_jetmax_constants, gamma), Form::Number),
        ("interval", AT + offset_of!(rw_jetmax_constants, interval_us), Form::Time),
    ]
};

/// Options of a port, with their values as `--option` takes them; none before the first packet,
/// which starts the port.
pub(super) fn options(state: &Pinned, law: KernelLaw) -> Vec<(&'static str, String)> {
    if state.u32(offset_of!(State, is_started)) == 0 {
        return Vec::new();
    }
    let all: &[Field] = match law {
        KernelLaw::Xcp => &OF_XCP,
        KernelLaw::Rcp => &OF_RCP,
        KernelLaw::PiqiRcp => &OF_PIQI,
        KernelLaw::Jetmax => &OF_JETMAX,
        KernelLaw::Noq => &[],
    };
    let shown = |at: usize, form: Form| {
        let at = offset_of!(State, port) + at;
        match form {
            // Four decimals are what 2^-16 resolves.
            Form::Number => {
                let value = f64::from(state.u32(at)) / 65536.0;
                ((value * 1e4).round() / 1e4).to_string()
            }
            Form::Time => Duration::from_micros(state.u32(at).into()).to_string(),
            Form::Size => match state.u64(at) {
                0 => "none".to_string(),
                bytes => Bytes::new(bytes).to_string(),
            },
        }
    };
    all.iter().map(|(name, at, form)| (*name, shown(*at, *form))).collect()
}

#[cfg(test)]
mod tests {
    use ratewire_kernel::{JetmaxConstants, RcpConstants, Rule, XcpConstants};

    use super::*;

    /// State of a port whose constants are these words at this offset of it.
    fn state(at: usize, words: &[u32]) -> Pinned {
        let mut bytes = vec![0; size_of::<State>()];
        let at = offset_of!(State, port) + at;
        for (at, word) in (at..).step_by(4).zip(words) {
            bytes[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        }
        let started = offset_of!(State, is_started);
        bytes[started..started + 4].copy_from_slice(&1_u32.to_ne_bytes());
        Pinned(bytes)
    }

    fn said(state: &Pinned, law: KernelLaw) -> String {
        let all = options(state, law);
        all.iter().map(|(name, value)| format!("{name}={value}, ")).collect()
    }

    #[test]
    fn options_are_shown_as_they_are_given() {
        let (short, long) =
            XcpConstants::default().queue(Bytes::ZERO, Bytes::new(96_000)).memory(0.5).fields();
        let halves = long.iter().flat_map(|long| [*long as u32, (*long >> 32) as u32]);
        let words: Vec<u32> = short.into_iter().chain([0]).chain(halves).collect();
        let xcp = said(&state(offset_of!(rw_xcp, constants), &words), KernelLaw::Xcp);
        assert_eq!(
            xcp,
            "alpha=0.4, beta=0.226, gamma=0.1, min_interval=5 ms, max_interval=1 s, \
             allowed_queue=2 ms, queue_cap=none, queue_limit=96 KB, memory=0.5, "
        );
        let rule = offset_of!(rw_rcp, rule);
        let rcp = state(rule, &RcpConstants::of(Rule::Rcp).fields());
        assert_eq!(said(&rcp, KernelLaw::Rcp), "alpha=0.4, beta=0.226, gamma=1, slot=10 ms, ");
        let piqi = state(rule, &RcpConstants::of(Rule::Piqi).fields());
        assert_eq!(said(&piqi, KernelLaw::PiqiRcp), "integral=0.5, gamma=0.95, slot=10 ms, ");
        let constants = JetmaxConstants::default().fields();
        let jetmax = state(offset_of!(rw_jetmax, constants), &constants);
        assert_eq!(said(&jetmax, KernelLaw::Jetmax), "gamma=0.95, interval=50 ms, ");
    }

    #[test]
    fn a_port_that_has_not_started_has_none_yet() {
        assert!(options(&Pinned(vec![0; size_of::<State>()]), KernelLaw::Xcp).is_empty());
    }
}
