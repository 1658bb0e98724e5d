//! Whether the ends take short paths, so that tests can compare these with the general ones.

use std::cell::Cell;

thread_local! {
    static SHORT_PATHS: Cell<bool> = const { Cell::new(true) };
    static PREDICTED: Cell<u64> = const { Cell::new(0) };
}

/// Lets senders and receivers of this thread take short paths, or not.
pub(crate) fn set(on: bool) {
    SHORT_PATHS.set(on);
}

pub(crate) fn are_on() -> bool {
    SHORT_PATHS.get()
}

pub(crate) fn note_predicted() {
    PREDICTED.set(PREDICTED.get() + 1);
}

/// Predicted acknowledgements of this thread.
pub(crate) fn predicted() -> u64 {
    PREDICTED.get()
}
