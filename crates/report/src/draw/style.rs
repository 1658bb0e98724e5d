//! How a figure is drawn for a paper: its size and its letters.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::Error;

/// A length on paper.
///
/// ```
/// use ratewire_report::draw::Length;
///
/// assert_eq!("89mm".parse::<Length>()?.to_string(), "252.28 pt");
/// assert_eq!("3.5".parse::<Length>()?, Length::inches(3.5));
/// # Ok::<(), ratewire_report::draw::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Length {
    points: f64,
}

/// Units of lengths, in points: a point is a 72nd of an inch.
const UNITS: [(&str, f64); 4] =
    [("in", 72.0), ("mm", 72.0 / 25.4), ("cm", 72.0 / 2.54), ("pt", 1.0)];

impl Length {
    /// A length in points, of which an inch has 72.
    pub const fn points(points: f64) -> Length {
        Length { points }
    }

    /// A length in inches.
    pub const fn inches(inches: f64) -> Length {
        Length { points: inches * 72.0 }
    }

    /// The length in points.
    pub const fn in_points(self) -> f64 {
        self.points
    }

    /// Parses a length whose unit is `usual` if it names none.
    fn parse(text: &str, usual: &str) -> Option<Length> {
        let text = text.trim();
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text[number.len()..].to_lowercase();
        let unit = if unit.is_empty() { usual } else { &unit };
        let (_, points) = UNITS.into_iter().find(|(known, _)| *known == unit)?;
        let number: f64 = number.trim_end().parse().ok()?;
        Some(Length { points: number * points }).filter(|length| length.points.is_finite())
    }
}

impl FromStr for Length {
    type Err = Error;

    /// Reads a number with a unit: `in`, `mm`, `cm` or `pt`. Without a unit it is in inches.
    fn from_str(text: &str) -> Result<Length, Error> {
        Length::parse(text, "in").ok_or_else(|| {
            Error::Size(format!(
                "{text:?} is no length; allowed: a number with in, mm, cm or pt, such as 3.5in or \
                 89mm; without a unit it is in inches"
            ))
        })
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pt", (self.points * 100.0).round() / 100.0)
    }
}

/// Number of columns of a paper that a figure is as wide as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// One column: 3.5 inches, as in IEEE journals; ACM's is a little narrower.
    #[default]
    One,
    /// Two columns: 7.16 inches, as in IEEE journals; ACM's two are a little narrower.
    Two,
}

/// How a figure is drawn for a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// The width, unless `width` says another.
    pub columns: Columns,
    /// The width, in place of that of `columns`: [`Style::SIDES`].
    pub width: Option<Length>,
    /// The height: [`Style::SIDES`]. The width and the content choose it if `None`.
    pub height: Option<Length>,
    /// Height of letters: [`Style::LETTERS`].
    pub font: Length,
    /// Whether letters have serifs, as in the text of most papers.
    pub serif: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            columns: Columns::One,
            width: None,
            height: None,
            font: Length::points(8.0),
            serif: false,
        }
    }
}

impl Style {
    /// Widths and heights that a figure can have.
    pub const SIDES: RangeInclusive<Length> = Length::inches(0.5)..=Length::inches(100.0);
    /// Heights that letters can have.
    pub const LETTERS: RangeInclusive<Length> = Length::points(3.0)..=Length::points(72.0);

    /// Parses a width or a height: `3.5in`, `89mm`; without a unit it is in inches.
    ///
    /// # Errors
    /// [`Error::Size`] if the text is no length, or no figure can have it.
    pub fn side(text: &str) -> Result<Length, Error> {
        let side: Length = text.parse()?;
        Style::check_side(side).map(|()| side)
    }

    /// Parses a height of letters: `8` or `8pt`; without a unit it is in points.
    ///
    /// # Errors
    /// [`Error::Size`] if the text is no length, or no letters can have it.
    pub fn letters(text: &str) -> Result<Length, Error> {
        let font = Length::parse(text, "pt").ok_or_else(|| {
            Error::Size(format!("{text:?} is no height of letters; allowed: points such as 8"))
        })?;
        Style::check_letters(font).map(|()| font)
    }

    fn check_side(side: Length) -> Result<(), Error> {
        let allowed =
            || Error::Size(format!("{side} is no side of a figure; allowed: 0.5in to 100in"));
        Style::SIDES.contains(&side).then_some(()).ok_or_else(allowed)
    }

    fn check_letters(font: Length) -> Result<(), Error> {
        let allowed =
            || Error::Size(format!("letters cannot be {font} high; allowed: 3pt to 72pt"));
        Style::LETTERS.contains(&font).then_some(()).ok_or_else(allowed)
    }

    /// Checks the sizes.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.width.into_iter().chain(self.height).try_for_each(Style::check_side)?;
        Style::check_letters(self.font)
    }

    /// Width in points.
    pub(super) fn width_in_points(&self) -> f64 {
        match (self.width, self.columns) {
            (Some(width), _) => width.points,
            (None, Columns::One) => 252.0,
            (None, Columns::Two) => 515.5,
        }
    }

    pub(super) fn family(&self) -> &'static str {
        match self.serif {
            false => "'Liberation Sans', Helvetica, Arial, sans-serif",
            true => "'Liberation Serif', 'Times New Roman', Times, serif",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_four_units_and_bounds() {
        let points = |text: &str| text.parse::<Length>().map(|length| length.to_string());
        for (text, is) in [
            ("3.5", "252 pt"),
            ("3.5in", "252 pt"),
            ("3.5 in", "252 pt"),
            ("25.4mm", "72 pt"),
            ("2.54CM", "72 pt"),
            ("100pt", "100 pt"),
        ] {
            assert_eq!(points(text).as_deref(), Ok(is), "{text}");
        }
        for text in ["", "in", "3.5ft", "nan", "inf", "1e999", "3 5in"] {
            let wrong = points(text).expect_err(text).to_string();
            assert!(wrong.contains("allowed: a number with in, mm, cm or pt"), "{wrong}");
        }
        for text in ["0.4", "101", "-3", "0", "1mm"] {
            let wrong = Style::side(text).expect_err(text).to_string();
            assert!(wrong.ends_with("allowed: 0.5in to 100in"), "{wrong}");
        }
        assert_eq!(Style::letters("10"), Style::letters("10pt"));
        assert!(Style::letters("2.9").is_err() && Style::letters("1in").is_ok());
    }
}
