//! A daemon's state as text for people: visible ASCII, in columns.

use std::fmt::Write as _;

use ratewire_table::{Column, Grid, Heading, Style};

/// Most characters of a cell.
const WIDEST: usize = 120;

/// Writes a line for each fact, with its name in front.
pub fn facts<'a>(out: &mut String, facts: impl IntoIterator<Item = (&'a str, String)>) {
    for (name, fact) in facts {
        _ = writeln!(out, "{name:<14}{}", clean(&fact));
    }
}

/// Writes a table after an empty line. Without rows, the line "no `kind`s" takes its place.
pub fn section<const N: usize>(
    out: &mut String,
    kind: &str,
    columns: [Column; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    // Escapes make a cell longer than it was.
    let mut grid = Grid::new(columns.into()).longest(2 * WIDEST);
    rows.for_each(|row| grid.row(row.map(|cell| clean(&cell))));
    out.push('\n');
    match grid.is_empty() {
        true => _ = writeln!(out, "no {kind}s"),
        false => out.push_str(&grid.render(&Style { heading: Heading::Plain, ..Style::default() })),
    }
}

/// The text in visible ASCII and spaces, shortened to about 120 characters. Another program may
/// have written parts of it.
fn clean(text: &str) -> String {
    let mut clean = String::new();
    for character in text.chars() {
        if clean.len() >= WIDEST {
            clean.push_str("...");
            break;
        }
        match character {
            ' '..='~' => clean.push(character),
            _ => clean.extend(character.escape_default()),
        }
    }
    clean
}

/// A time in seconds in the two largest units that it has.
pub fn uptime(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{whole} s"),
        (0, 0, _) => format!("{minutes} min {} s", whole % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cells() {
        let columns = || [Column::text("peer"), Column::number("sent")];
        let row = |peer: &str, sent: &str| [peer.to_string(), sent.to_string()];
        let mut out = String::new();
        facts(&mut out, [("up", uptime(61.5))]);
        section(
            &mut out,
            "peer",
            columns(),
            [row("10.0.0.1", "7"), row("ä", "1000 B")].into_iter(),
        );
        section(&mut out, "member", columns(), std::iter::empty());
        let expected = "up            1 min 1 s\n\n\
                        peer        sent\n10.0.0.1       7\n\\u{e4}    1000 B\n\nno members\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn a_long_cell_is_shortened() {
        assert_eq!(clean(&"x".repeat(1000)), "x".repeat(WIDEST) + "...");
        assert_eq!(clean("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
    }

    #[test]
    fn uptimes_have_two_units() {
        let cases = [(-1.0, "0 s"), (59.9, "59 s"), (7260.0, "2 h 1 min"), (90_000.0, "1 d 1 h")];
        for (seconds, expected) in cases {
            assert_eq!(uptime(seconds), expected);
        }
    }
}
