//! Text of users, made fit to be shown: a name may hold anything, and must not control a terminal
//! or a page.

use alloc::string::String;

/// Whether `c` makes a terminal or browser do anything but draw it: control characters, line and
/// paragraph separators, and characters that turn the direction of their neighbours.
pub fn steers(c: char) -> bool {
    let ends = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || ends || turns
}

/// `text` on one line, with characters that [`steers`] finds written as escapes: `\u001b`.
pub fn legible(text: &str) -> String {
    written_out(text, steers)
}

/// As [`legible`], but keeps line ends and tabs.
pub fn legible_lines(text: &str) -> String {
    written_out(text, |c| steers(c) && !matches!(c, '\n' | '\t'))
}

fn written_out(text: &str, is_written: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_written(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => out.push_str(&alloc::format!("\\u{:04x}", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_is_written_out() {
        assert_eq!(legible("a\u{1b}[31m\nb\t\u{9b}"), "a\\u001b[31m\\nb\\t\\u009b");
        assert_eq!(legible("\u{202e}\u{2066}\u{200f}"), "\\u202e\\u2066\\u200f");
        assert_eq!(legible("\u{61c}\u{2028}\u{2029}"), "\\u061c\\u2028\\u2029");
        assert_eq!(legible_lines("a\n\u{2028}b"), "a\n\\u2028b");
        assert_eq!(legible_lines("a\n\tb\u{7}"), "a\n\tb\\u0007");
        // Right-to-left letters and joiners stay as they are.
        for plain in ["s1->d1 µs", "שלום", "می\u{200c}خواهم"] {
            assert_eq!(legible(plain), plain);
        }
    }
}
