//! Shortening of text.

use ratewire_units::text::steers;

/// At most `width` characters of `text`, with an ellipsis for missing ones. Control characters are
/// replaced, because names come from files.
pub fn clip(text: &str, width: usize) -> String {
    let clean = text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c });
    let clipped: String = clean.clone().take(width).collect();
    if clean.count() <= width {
        return clipped;
    }
    let kept: String = clipped.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_and_disarms() {
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip("abcd", 4), "abcd");
        assert_eq!(clip("a\u{1b}[31m\u{202e}", 9), "a\u{fffd}[31m\u{fffd}");
    }
}
