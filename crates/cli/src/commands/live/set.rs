//! Flags whose values are settings between commas, such as `suspects=256,tolerance=0.1`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use ratewire_live::host::Lie;
use ratewire_live::router::Police;

/// Reads `--police`.
pub(super) fn police(text: &str) -> Result<Police, String> {
    let mut police = Police::default();
    for (name, value) in settings(text)? {
        match name {
            "suspects" => police.suspects = within(name, value, 1..=1_000_000)?,
            "tolerance" => police.tolerance = within(name, value, 0.0..=1.0)?,
            _ => return Err(unknown(name, "suspects, tolerance")),
        }
    }
    Ok(police)
}

/// Reads `--lie`.
pub(super) fn lie(text: &str) -> Result<Lie, String> {
    let mut lie = Lie { port: 0, rtt: 1.0, throughput: 1.0, inflate: 1.0, ignore_feedback: false };
    for (name, value) in settings(text)? {
        let factor = || within(name, value, 0.0..=65_535.0);
        match name {
            "port" => lie.port = within(name, value, 1..=u16::MAX)?,
            "rtt" => lie.rtt = factor()?,
            "throughput" => lie.throughput = factor()?,
            "inflate" => lie.inflate = factor()?,
            "ignore_feedback" => lie.ignore_feedback = within(name, value, false..=true)?,
            _ => return Err(unknown(name, "port, rtt, throughput, inflate, ignore_feedback")),
        }
    }
    match lie.port {
        0 => Err("port is missing: 1 to 65535".to_string()),
        _ => Ok(lie),
    }
}

fn settings(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.split_once('=') {
            Some((name, value)) => Ok((name.trim(), value.trim())),
            None => Err(format!("{part:?} is not NAME=VALUE: there is no `=`")),
        })
        .collect()
}

fn within<T: FromStr + PartialOrd + std::fmt::Display>(
    name: &str,
    value: &str,
    allowed: RangeInclusive<T>,
) -> Result<T, String> {
    let value = value.parse().ok().filter(|value| allowed.contains(value));
    value.ok_or_else(|| format!("{name}: allowed: {} to {}", allowed.start(), allowed.end()))
}

fn unknown(name: &str, known: &str) -> String {
    format!("there is no {name:?}; known: {known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_defaults_and_ranges() {
        assert_eq!(police(""), Ok(Police::default()));
        let given = police("suspects=256, tolerance=0.1");
        assert_eq!(given, Ok(Police { suspects: 256, tolerance: 0.1 }));
        for (text, why) in [
            ("suspects=0", "suspects: allowed: 1 to 1000000"),
            ("suspects=many", "suspects: allowed: 1 to 1000000"),
            ("tolerance=1.5", "tolerance: allowed: 0 to 1"),
            ("tolerance=NaN", "tolerance: allowed: 0 to 1"),
            ("flows=3", "there is no \"flows\"; known: suspects, tolerance"),
            ("suspects", "\"suspects\" is not NAME=VALUE: there is no `=`"),
        ] {
            assert_eq!(police(text), Err(why.to_string()), "{text}");
        }
    }

    #[test]
    fn a_lie_names_its_port() {
        let given = lie("port=5209,throughput=0.25,ignore_feedback=true").expect("a lie");
        let expected =
            Lie { port: 5209, rtt: 1.0, throughput: 0.25, inflate: 1.0, ignore_feedback: true };
        assert_eq!(given, expected);
        assert_eq!(lie("rtt=25"), Err("port is missing: 1 to 65535".to_string()));
        assert!(lie("port=1,rtt=-1").is_err() && lie("port=1,rtts=2").is_err());
    }
}
