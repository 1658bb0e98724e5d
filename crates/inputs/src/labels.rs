//! Labels of links that read like rates.
//!
//! A label is a name: its rate is not used. That a link without a rate has such a label is said.

use crate::vocabulary::rate_unit;

/// Names of Ethernet that say its rate.
const ETHERNET: [&str; 6] = ["ge", "gbe", "gige", "fe", "xge", "tge"];

/// A run of digits, or of letters.
struct Token<'a> {
    text: &'a str,
    is_number: bool,
    /// Whether nothing stands between this and the one before.
    is_glued: bool,
}

/// Whether a label reads like a rate: `155 Mbps`, `10GE`, `8*GbE`, `STM-16`, `T3`.
pub(crate) fn read_like_rates(label: &str) -> bool {
    let tokens = tokens(label);
    let says_rate = |i: usize| {
        let one = &tokens[i];
        let lower = one.text.to_ascii_lowercase();
        let after = tokens.get(i + 1).filter(|next| next.is_number);
        let before = i.checked_sub(1).map(|i| &tokens[i]).filter(|before| before.is_number);
        let is_line = after.is_some_and(|number| is_line(one.text, number.text));
        if one.is_number || before.is_none() {
            return is_line || ["gbe", "gige"].contains(&lower.as_str());
        }
        let is_unit = one.text.len() > 1 && lower.contains('b') && rate_unit(one.text).is_some();
        let is_letter = ["k", "K", "M", "G", "T"].contains(&one.text);
        is_unit
            || is_letter && (one.is_glued || tokens.len() == 2)
            || ETHERNET.contains(&lower.as_str())
            || is_line && !one.is_glued
    };
    (0..tokens.len()).any(says_rate)
}

/// Whether these are the name of a line of telephone networks: SONET, SDH, DS3, T3, E1.
fn is_line(name: &str, number: &str) -> bool {
    match name {
        "E" => ["1", "3"].contains(&number),
        // `T1` is the name of one link of the Topology Zoo's NSFNET, whose lines were T3.
        "T" => number == "3",
        _ => match name.to_ascii_lowercase().as_str() {
            "ds" => ["0", "1", "3"].contains(&number),
            "oc" | "sts" => ["1", "3", "12", "24", "48", "192", "768"].contains(&number),
            "stm" => ["0", "1", "4", "16", "64", "256"].contains(&number),
            _ => false,
        },
    }
}

fn tokens(label: &str) -> Vec<Token<'_>> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let is_letter = |c: char| c.is_alphabetic() || c == '/';
    let mut list = Vec::new();
    let mut rest = label;
    let mut is_glued = false;
    while let Some(c) = rest.chars().next() {
        let is_number = is_digit(c);
        let end = match c {
            _ if is_number => rest.find(|c| !is_digit(c)),
            _ if is_letter(c) => rest.find(|c| !is_letter(c)),
            _ => Some(c.len_utf8()),
        };
        let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_token = is_number || is_letter(c);
        if is_token {
            list.push(Token { text, is_number, is_glued });
        }
        (is_glued, rest) = (is_token, after);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_known_in_the_forms_of_maps() {
        for label in [
            "155 Mbps",
            "34 Mb",
            "1 Gbit/s",
            "2-34 Mbit/s",
            "10GE",
            "10 GE",
            "10G Ethernet",
            "10G",
            "2.5G",
            "10 G",
            "622M",
            "64k",
            "10Gbps (x2)",
            "<10 Gbps",
            "8*GbE",
            "4x100GbE",
            "GigE",
            "10GigE",
            "STM-16",
            "stm16",
            "2 x STM-4",
            "OC-12",
            "OC-192c",
            "T3",
            "E1",
            "DS3",
            "45 Mbps DS-3",
            "10 Mbps, 5 ms",
            "5 ms / 10 Mbps",
            "Paris-London 10GE",
        ] {
            assert!(read_like_rates(label), "{label}");
        }
    }

    #[test]
    fn names_and_other_quantities_are_no_rates() {
        for label in [
            "",
            "e1",
            "E2",
            "E12",
            "T",
            "T1",
            "5 ms",
            "12 km",
            "10 m",
            "Room 10 G",
            "5 B",
            "Gate",
            "Ethernet",
            "Lit Fibre",
            "Completion 2007-2008",
            "42",
            "10.0.0.1/24",
            "stmt 1",
            "3E1",
            "Génération 3",
        ] {
            assert!(!read_like_rates(label), "{label}");
        }
    }
}
