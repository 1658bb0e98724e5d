//! Dates with times, such as `2023-04-04 10:07:13.5`.

use time::{Date, Month};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A date and a time, as picoseconds since a day long past, and the time zone that follows. The
/// zone is not part of the time: times of one zone can be compared.
///
/// Between the parts of a date stand `-`, `.` or `/`, and between those of a time `:` or `.`; the
/// year comes first. Between date and time stand a blank, `T` or `_`.
pub(crate) fn read(text: &str) -> Option<(u128, &str)> {
    let (date, rest) = text.trim().split_once([' ', 'T', '_'])?;
    let mut parts = date.split(['-', '.', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let month: u8 = month.parse().ok()?;
    let month = Month::try_from(month).ok()?;
    let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()?;
    let days = u128::try_from(date.to_julian_day()).ok()?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && !":.".contains(c)).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(end);
    let mut parts = clock.splitn(3, if clock.contains(':') { ':' } else { '.' });
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
    let second: f64 = second.parse().ok()?;
    if hour > 23 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    let whole = (days * 24 + u128::from(hour)) * 3600 + u128::from(minute) * 60;
    Some((whole * PS_PER_SECOND + (second * PS_PER_SECOND as f64 + 0.5) as u128, zone.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds from the first to the second.
    fn between(from: &str, to: &str) -> f64 {
        (read(to).unwrap().0 - read(from).unwrap().0) as f64 / 1e12
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        assert_eq!(between("2023-04-04 10:07:13", "2023-04-04T10:07:14.25"), 1.25);
        assert_eq!(between("2019.12.14_10.16.30", "2019.12.14_10.17.01"), 31.0);
        assert_eq!(between("2024/2/28 23:59", "2024-03-01 00:00:00"), 86_460.0);
        assert_eq!(read("2023-04-28 11:00:13 CDT").unwrap().1, "CDT");
        assert_eq!(read("2023-04-28T11:00:13+02:00").unwrap().1, "+02:00");
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "",
            "1.5",
            "2023-04-04",
            "2023-02-29 10:00:00",
            "04-04-2023 10:07:13",
            "10:07:13",
            "2023-04-04 24:00:00",
            "2023-04-04 10",
            "2023-04-04 a:b:c",
            "2023-04-04-1 10:07:13",
            "2023-04-04 10:07:-1",
            "99999-01-01 00:00:00",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
