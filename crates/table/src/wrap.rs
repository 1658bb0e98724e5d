//! Wrapping of text to a width.

/// Wraps `text` to lines of at most `width` columns, each behind `indent` blanks. A longer word
/// gets a line of its own. The text ends in a newline.
pub fn wrap(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column == 0 || column + 1 + length > width {
            if column > 0 {
                out.push('\n');
            }
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        assert_eq!(wrap("one two  three\nfour", 2, 11), "  one two\n  three\n  four\n");
        assert_eq!(wrap("one two", 0, 7), "one two\n");
        assert_eq!(wrap("one two", 0, 6), "one\ntwo\n");
    }

    #[test]
    fn a_word_is_never_cut() {
        assert_eq!(wrap("a averylongword b", 1, 6), " a\n averylongword\n b\n");
    }
}
