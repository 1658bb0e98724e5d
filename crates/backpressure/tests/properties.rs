//! Properties of any frame and message.

use proptest::prelude::*;
use ratewire_backpressure::frames::{Control, PauseFrame, Quanta};
use ratewire_backpressure::fuzzing;
use ratewire_backpressure::messages::{self, Message};
use ratewire_units::{Duration, Rate};

fn control() -> impl Strategy<Value = Control> {
    let quanta = || any::<u16>().prop_map(Quanta);
    prop_oneof![
        quanta().prop_map(Control::Pause),
        prop::array::uniform8(prop::option::of(quanta())).prop_map(Control::Priority),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(control in control(), source: [u8; 6], to: [u8; 6]) {
        let destination = [to[0] & !1, to[1], to[2], to[3], to[4], to[5]];
        let frame = PauseFrame { destination, source, control };
        prop_assert_eq!(PauseFrame::decode(&frame.encode()), Ok(frame));
    }

    #[test]
    fn any_bytes_are_read_or_refused(data in prop::collection::vec(any::<u8>(), 0..80)) {
        fuzzing::frames(&data);
        fuzzing::messages(&data);
    }

    /// Most random bytes fail at the first check: those of a message with a few changes do not.
    #[test]
    fn a_changed_message_is_read_as_it_stands_or_refused(
        us in 0u64..2_000_000,
        number: u64,
        at in 0..messages::LENGTH,
        value: u8,
    ) {
        let message = Message { pause: Duration::from_micros(us), number };
        let mut bytes = message.encode();
        let pause = message.pause.min(messages::LONGEST);
        prop_assert_eq!(Message::decode(&bytes), Ok(Message { pause, number }));
        bytes[at] = value;
        fuzzing::messages(&bytes);
    }

    /// `lasting` gives the fewest quanta that last, and never less than asked if enough exist.
    #[test]
    fn quanta_are_the_least_that_last(ns in 0u64..400_000_000, mbps in 1u64..400_000) {
        let (time, rate) = (Duration::from_nanos(ns), Rate::from_mbps(mbps));
        let quanta = Quanta::lasting(time, rate);
        if quanta < Quanta::MAX {
            // One picosecond of rounding in the time of a byte.
            prop_assert!(quanta.time(rate) + Duration::from_ps(1) >= time);
        }
        if let Some(less) = quanta.0.checked_sub(1) {
            prop_assert!(Quanta(less).time(rate) < time);
        }
    }
}
