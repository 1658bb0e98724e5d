//! Tables of the documentation, which tests hold to registries.

/// The names in backticks in the first cell of each row of the table of a page with this heading of
/// columns, in their order, without quotation marks.
///
/// # Panics
/// If the page has no such table.
pub fn first_cells<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let table = page.split(&format!("{heading}\n")).nth(1);
    let table = table.unwrap_or_else(|| panic!("the page has no table {heading}"));
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(|name| name.trim_matches('"')).collect()
}

/// Holds the names in the table of a page, whose path is for messages, to all that there are, in
/// any order.
///
/// # Panics
/// If the page has no such table, or its names are not those of `all`, each once.
pub fn hold_first_cells(path: &str, page: &str, heading: &str, all: &[impl AsRef<str>]) {
    let mut named = first_cells(page, heading);
    let mut all: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
    named.sort_unstable();
    all.sort_unstable();
    let missing: Vec<_> = all.iter().filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "{path}: the table {heading} has no row of {missing:?}: add one");
    let unknown: Vec<_> = named.iter().filter(|name| !all.contains(name)).collect();
    assert!(
        unknown.is_empty(),
        "{path}: the table {heading} has rows of what does not exist: {unknown:?}"
    );
    assert_eq!(named, all, "{path}: the table {heading} has two rows of one name");
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "text\n\n| name | is |\n|---|---|\n| `\"a\"`, `b` | one |\n| `c` | `d` |\n\n`e`\n";

    #[test]
    fn names_are_those_of_first_cells() {
        assert_eq!(first_cells(PAGE, "| name | is |"), ["a", "b", "c"]);
        hold_first_cells("a.md", PAGE, "| name | is |", &["c", "a", "b"]);
    }

    #[test]
    #[should_panic(expected = "has no row of [\"d\"]")]
    fn a_name_without_a_row_is_told() {
        hold_first_cells("a.md", PAGE, "| name | is |", &["a", "b", "c", "d"]);
    }

    #[test]
    #[should_panic(expected = "rows of what does not exist: [\"c\"]")]
    fn a_row_without_a_name_is_told() {
        hold_first_cells("a.md", PAGE, "| name | is |", &["a", "b"]);
    }
}
