//! Widths of texts in a figure, and texts that have no room. The page's script does the same.

/// Distance of lines of text, in heights of letters.
pub(super) const LINE: f64 = 1.2;

/// Approximate width of a text, in heights of letters.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(width).sum()
}

fn width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' => 0.28,
        'f' | 't' | 'r' | '-' | '(' | ')' | '[' | ']' | '/' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.86,
        '…' => 1.0,
        c if c.is_ascii_uppercase() => 0.68,
        c if c.is_ascii() => 0.556,
        c if (c as u32) < 0x1100 => 0.6,
        _ => 1.0,
    }
}

/// The text, or its beginning and end around `…` where it has no room. Names of links and flows
/// often differ at their ends.
pub(super) fn fitted(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_string();
    }
    let letters: Vec<char> = text.chars().collect();
    let (mut head, mut tail) = (0, 0);
    let mut left = room - width('…');
    while head + tail < letters.len() {
        let next = if head <= tail { letters[head] } else { letters[letters.len() - 1 - tail] };
        left -= width(next);
        if left < 0.0 {
            break;
        }
        if head <= tail { head += 1 } else { tail += 1 }
    }
    let end = letters[letters.len() - tail..].iter();
    letters[..head].iter().chain(&['…']).chain(end).collect()
}

/// The lines of a text that is broken at spaces; each has room.
pub(super) fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let joined = lines.last().map(|line| format!("{line} {word}"));
        match (lines.last_mut(), joined) {
            (Some(line), Some(joined)) if text_width(&joined) <= room => *line = joined,
            _ => lines.push(word.to_string()),
        }
    }
    lines.iter().map(|line| fitted(line, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_room() {
        assert_eq!(fitted("edge-1-2->host-17", 20.0), "edge-1-2->host-17");
        assert_eq!(fitted("edge-1-2->host-17", 5.0), "edge…-17");
        assert_eq!(fitted("edge", 0.5), "…");
        assert_eq!(wrapped("Queue (packets)", 20.0), ["Queue (packets)"]);
        assert_eq!(wrapped("Queue (packets)", 5.0), ["Queue", "(packets)"]);
        for room in [3.0, 5.5, 9.0] {
            let lines = wrapped("Throughput, mean over 90 ms (Mbit/s)", room);
            assert!(lines.iter().all(|line| text_width(line) <= room), "{lines:?}");
        }
    }
}
