//! Arguments that several commands take.

use std::ops::RangeInclusive;

/// Parses a whole number within bounds, as an argument or in a list.
///
/// # Errors
/// What is allowed, for another text.
pub fn whole_number(text: &str, allowed: RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| {
        format!("allowed: whole numbers from {} to {}", allowed.start(), allowed.end())
    })
}
