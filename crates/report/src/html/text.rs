//! Text for HTML and JSON: escaped, clipped, numbers short.

use ratewire_table::clip;

pub(super) use crate::markup::{capital, escape};

/// Longest name shown; scenario files may hold anything.
const NAME: usize = 80;
/// Longest sentence.
const SENTENCE: usize = 240;

/// A name from the scenario: clipped, then escaped.
pub(super) fn name(text: &str) -> String {
    escape(&clip(text, NAME))
}

/// `text` as a JSON string that may stand inside a `<script>` element.
pub(super) fn json_string(text: &str) -> String {
    json_text(&clip(text, NAME))
}

/// A sentence as a JSON string; it may be longer than a name.
pub(super) fn json_sentence(text: &str) -> String {
    json_text(&clip(text, SENTENCE))
}

fn json_text(text: &str) -> String {
    json_value(&serde_json::Value::from(text))
}

/// A JSON value that may stand inside a `<script>` element.
pub(super) fn json_value(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Appends `value` as a JSON number of at most four significant digits, `null` if it is not finite.
pub(super) fn push_number(out: &mut String, value: f64) {
    if !value.is_finite() {
        out.push_str("null");
        return;
    }
    let text = format!("{value:.3e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        out.push('0');
        return;
    }
    out.push_str(sign);
    // The number is `digits` as an integer times ten to this.
    let scale = exponent - (digits.len() as i32 - 1);
    if (0..=3).contains(&scale) {
        out.push_str(digits);
        out.push_str(&"0".repeat(scale as usize));
    } else if scale < 0 && exponent >= 0 {
        let (whole, part) = digits.split_at((exponent + 1) as usize);
        out.push_str(&format!("{whole}.{part}"));
    } else if scale < 0 && exponent >= -3 {
        out.push_str(&format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize)));
    } else {
        out.push_str(&format!("{digits}e{scale}"));
    }
}

/// `value` with at most `decimals` decimals and no trailing zeros, for coordinates in drawings.
pub(super) fn coordinate(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> String {
        let mut out = String::new();
        push_number(&mut out, value);
        out
    }

    #[test]
    fn numbers_keep_four_digits_and_little_else() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (24.131, "24.13"),
            (-24.131, "-24.13"),
            (0.5, "0.5"),
            (0.001_234_5, "0.001234"),
            (0.000_012_345, "1234e-8"),
            (1200.0, "1200"),
            (123_456.0, "123500"),
            (98_765_432.0, "9877e4"),
            (1e12, "1e12"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn every_number_is_json_and_close() {
        for i in -200..200 {
            let value = 1.234_567_8 * libm::pow(10.0, f64::from(i) / 7.0);
            let back: f64 = serde_json::from_str(&number(value)).unwrap();
            assert!((back / value - 1.0).abs() < 5e-4, "{value} {back}");
        }
    }

    #[test]
    fn nothing_breaks_out() {
        assert_eq!(escape("<script>\"'&"), "&lt;script&gt;&quot;&#39;&amp;");
        assert_eq!(escape("a\n\u{1b}\u{2066}"), "a\n\u{fffd}\u{fffd}");
        assert_eq!(json_string("</script>"), "\"\\u003c/script\\u003e\"");
        assert_eq!(json_string("a\"b\\"), "\"a\\\"b\\\\\"");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(1.50, 2), "1.5");
        assert_eq!(coordinate(-0.001, 1), "0");
        assert_eq!(coordinate(100.0, 1), "100");
        assert_eq!(coordinate(100.0, 0), "100");
    }
}
