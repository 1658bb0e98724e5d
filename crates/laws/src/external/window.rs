//! The largest window of a law outside this crate that has no pace.

use alloc::format;
use alloc::string::String;

use ratewire_units::Bytes;

/// Largest window without a pace, 1 GiB: the largest that TCP can advertise (RFC 7323, 2.2 and
/// 2.3).
///
/// Nothing else bounds the segments that such a sender keeps in memory before its first
/// acknowledgement arrives.
pub const MAX_UNPACED_WINDOW: Bytes = Bytes::new(1 << 30);

const REMEDY: &str = "at most 1073741824 bytes (1 GiB) are allowed without one; give a pace";

/// What is wrong with a window of this many bytes without a pace; `None` if it is allowed.
///
/// `given` says who gave the window, as in "`window` is", and `pace` names the missing pace.
pub fn excess(given: &str, window: f64, pace: &str) -> Option<String> {
    if window <= MAX_UNPACED_WINDOW.as_f64() {
        return None;
    }
    // Large numbers in full have a digit for each power of ten.
    let window = if window < 1e16 { format!("{window}") } else { format!("{window:?}") };
    Some(format!("{given} {window} bytes, and there is no {pace}: {REMEDY}"))
}

/// Whether a fault is that of a finite window without a pace.
///
/// Acknowledgements of any size, which no run brings, lead sound laws to such windows.
pub(crate) fn is_excess(fault: &str) -> bool {
    fault.ends_with(REMEDY) && !fault.contains(" inf bytes")
}
