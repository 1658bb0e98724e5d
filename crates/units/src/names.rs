//! Names that users ask for: exactly, by a pattern, or in a spelling that a shell takes without
//! quotes.
//!
//! A shell reads the `>` of `s1->d1` as a redirection. `s1-d1` and `s1:d1` therefore stand for
//! `s1->d1` wherever no name is written like that.

use alloc::string::String;
use alloc::vec::Vec;

/// What stands for an arrow in a spelling without quotes.
const ARROWS: [&str; 2] = ["-", ":"];

/// Matches `name` against a pattern with at most one `*`. Gives the text that the `*` stands for;
/// empty without a `*`.
pub fn matches<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    match pattern.split_once('*') {
        None => (pattern == name).then_some(""),
        Some((before, after)) => name.strip_prefix(before)?.strip_suffix(after),
    }
}

/// Places of the names that `wanted` may mean: the name itself, else the names that match it as a
/// pattern, else those that match in a spelling without arrows.
///
/// Without a `*` in `wanted`, several places mean that it is ambiguous; [`ambiguous`] says so.
pub fn find<'n, I>(wanted: &str, known: I) -> Vec<usize>
where
    I: IntoIterator<Item = &'n str>,
    I::IntoIter: Clone,
{
    let known = known.into_iter().enumerate();
    let all = |is_meant: &dyn Fn(&str) -> bool| -> Vec<usize> {
        known.clone().filter(|(_, name)| is_meant(name)).map(|(at, _)| at).collect()
    };
    let exact = all(&|name| name == wanted);
    if !exact.is_empty() {
        return exact;
    }
    let matching = all(&|name| matches(wanted, name).is_some());
    if !matching.is_empty() || !ARROWS.iter().any(|arrow| wanted.contains(arrow)) {
        return matching;
    }
    all(&|name| {
        name.contains("->")
            && ARROWS.iter().any(|arrow| matches(wanted, &name.replace("->", arrow)).is_some())
    })
}

/// A message that `wanted` may be any of several names.
pub fn ambiguous(wanted: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| alloc::format!("{name:?}")).collect();
    alloc::format!("{wanted:?} may be {}", names.join(" or "))
}

/// The remedy for an [`ambiguous`] name.
pub const WRITE_ARROW: &str = "write the name with its arrow; a shell needs quotes around `->`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        assert_eq!(matches("s*", "s12"), Some("12"));
        assert_eq!(matches("s*", "d12"), None);
        assert_eq!(matches("*->r1", "s1->r1"), Some("s1"));
        assert_eq!(matches("ab*ba", "aba"), None);
        assert_eq!(matches("s1", "s1"), Some(""));
        assert_eq!(matches("s1", "s11"), None);
    }

    #[test]
    fn arrows_need_no_quotes_and_the_exact_name_wins() {
        let names = ["s1->d1", "s2->d2", "s1->d1#2", "a-b->c", "a->b-c", "x-y", "x->y", "bulk"];
        for (wanted, places) in [
            ("s1->d1", &[0][..]),
            ("s1-d1", &[0]),
            ("s1:d1", &[0]),
            ("s1-d1#2", &[2]),
            ("s*->*", &[]),
            ("s1-*", &[0, 2]),
            ("s1->*", &[0, 2]),
            ("*:d2", &[1]),
            ("a-b-c", &[3, 4]),
            ("a-b:c", &[3]),
            ("x-y", &[5]),
            ("x:y", &[6]),
            ("bulk", &[7]),
            ("bu-lk", &[]),
            ("s1d1", &[]),
        ] {
            assert_eq!(find(wanted, names), places, "{wanted}");
        }
        let told = ambiguous("a-b-c", &["a-b->c", "a->b-c"]);
        assert_eq!(told, "\"a-b-c\" may be \"a-b->c\" or \"a->b-c\"");
    }
}
