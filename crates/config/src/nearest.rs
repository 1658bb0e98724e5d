//! The word that was probably meant.

/// The candidate nearest to `found`, if it is near enough to be what was meant.
///
/// Near is a small edit distance, or being the only candidate that ends with `found`.
pub fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Longer words are no typing mistakes, and the distance costs the product of the lengths.
    if found.len() > 64 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let wanted = plain(found);
    let length = found.chars().count();
    let mut best: Option<(usize, f64, &str)> = None;
    let mut longer: Vec<&str> = Vec::new();
    for candidate in candidates {
        let other = plain(candidate);
        let distance = strsim::damerau_levenshtein(&wanted, &other);
        let likeness = strsim::jaro_winkler(&wanted, &other);
        // At most a third of the letters are wrong, or three in a word that begins alike.
        let near = distance <= length.max(3) / 3 || (distance <= 3 && likeness >= 0.82);
        let nearer = best.is_none_or(|(least, most, _)| {
            distance < least || (distance == least && likeness > most)
        });
        if near && distance < length && nearer {
            best = Some((distance, likeness, candidate));
        }
        if length >= 3 && other.ends_with(&wanted) {
            longer.push(candidate);
        }
    }
    let only = || if let [only] = longer[..] { Some(only) } else { None };
    best.map(|(_, _, candidate)| candidate).or_else(only).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_a_typing_mistake_away() {
        let known = ["rate", "delay", "queue", "receive_window"];
        assert_eq!(nearest("rat", known).as_deref(), Some("rate"));
        assert_eq!(nearest("receive-windw", known).as_deref(), Some("receive_window"));
        assert_eq!(nearest("alfa", ["beta", "alpha"]).as_deref(), Some("alpha"));
        assert_eq!(nearest("reno", ["cubic", "newreno", "bbr"]).as_deref(), Some("newreno"));
        assert_eq!(nearest("rtt", ["mean_rtt", "largest_rtt"]), None);
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("d", ["a", "b"]), None);
        assert_eq!(nearest(&"x".repeat(10_000), known), None);
    }
}
