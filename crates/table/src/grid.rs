//! Rows of cells in columns. To fit the terminal a grid clips names, then leaves out the least
//! needed columns, or folds.

use unicode_width::UnicodeWidthStr;

use crate::clip::clip;
use crate::style::{Heading, Style};
use crate::wrap::wrap;

/// The edge of a column that text is aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// A column of a grid.
#[derive(Clone, Debug)]
pub struct Column {
    title: String,
    align: Align,
    /// Order of leaving out columns: the highest goes first, 0 always stays.
    order: u8,
    shrinks: bool,
    /// Whether long text wraps, in place of being clipped.
    wraps: bool,
}

/// Rows of cells in columns.
#[derive(Clone, Debug)]
pub struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    longest: usize,
}

/// Blanks between two columns.
const GAP: usize = 2;
/// A name is not clipped below this to fit a terminal.
const LEAST: usize = 10;
/// Characters of a cell, where a grid has no other bound.
const LONGEST: usize = 60;

impl Column {
    /// A column of text, aligned at the left. It stays on any terminal, and its cells stay whole.
    pub fn text(title: &str) -> Column {
        Column::new(title, Align::Left)
    }

    /// A column of numbers, aligned at the right. It stays on any terminal, and its cells stay
    /// whole.
    pub fn number(title: &str) -> Column {
        Column::new(title, Align::Right)
    }

    fn new(title: &str, align: Align) -> Column {
        Column { title: title.into(), align, order: 0, shrinks: false, wraps: false }
    }

    /// A column that may be left out: those with the highest order first, those with 0 never.
    pub fn left_out(self, order: u8) -> Column {
        Column { order, ..self }
    }

    /// A column whose text may be clipped.
    pub fn shrinks(self) -> Column {
        Column { shrinks: true, ..self }
    }

    /// A column whose text may wrap.
    pub fn wraps(self) -> Column {
        Column { wraps: true, ..self.shrinks() }
    }
}

impl Grid {
    /// A grid without rows, whose cells have at most 60 characters.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, rows: Vec::new(), longest: LONGEST }
    }

    /// A grid whose rows have at most so many characters a cell.
    pub fn longest(self, longest: usize) -> Grid {
        Grid { longest, ..self }
    }

    /// Adds a row: a cell a column. Longer cells are clipped, and missing ones empty.
    pub fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells = cells.into_iter().map(|cell| clip(cell.as_ref(), self.longest));
        self.rows.push(cells.collect());
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The grid as lines, each ending in a newline.
    pub fn render(&self, style: &Style) -> String {
        let natural: Vec<usize> = (0..self.columns.len()).map(|c| self.widest(c)).collect();
        let mut widths = natural.clone();
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        if let Some(limit) = style.width {
            self.fit(limit, &natural, &mut widths, &mut shown);
        }
        let mut out = self.heading(style, &shown, &widths);
        for row in &self.rows {
            for line in self.lines(row, &widths) {
                out.push_str(&self.line(&shown, &widths, |c| line.get(c).map_or("", |l| l)));
                out.push('\n');
            }
        }
        let missing: Vec<&str> = (0..self.columns.len())
            .filter(|c| !shown.contains(c))
            .map(|c| self.columns[c].title.as_str())
            .collect();
        if !missing.is_empty() {
            let note = format!("(too narrow for: {})", missing.join(", "));
            out.push_str(&format!("{}\n", style.dim(&note)));
        }
        out
    }

    /// As [`Grid::render`], but nothing is left out: columns that do not fit follow below, in a
    /// grid that repeats the first column.
    pub fn folded(&self, style: &Style) -> String {
        let limit = style.width.unwrap_or(usize::MAX);
        let widths: Vec<usize> = (0..self.columns.len()).map(|c| self.widest(c)).collect();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for c in 1..self.columns.len() {
            match parts.last_mut() {
                Some(part) if total(part, &widths) + GAP + widths[c] <= limit => part.push(c),
                _ => parts.push(vec![0, c]),
            }
        }
        let part = |columns: &Vec<usize>| {
            let cells = |row: &Vec<String>| columns.iter().map(|c| row[*c].clone()).collect();
            Grid {
                columns: columns.iter().map(|c| self.columns[*c].clone()).collect(),
                rows: self.rows.iter().map(cells).collect(),
                longest: self.longest,
            }
            .render(style)
        };
        parts.iter().map(part).collect::<Vec<String>>().join("\n")
    }

    fn heading(&self, style: &Style, shown: &[usize], widths: &[usize]) -> String {
        let titles = || self.line(shown, widths, |c| &self.columns[c].title);
        match style.heading {
            Heading::Ruled => {
                let rule = "─".repeat(total(shown, widths));
                format!("{}\n{}\n", style.bold(&titles()), style.dim(&rule))
            }
            Heading::Plain => format!("{}\n", style.bold(&titles())),
            Heading::None => String::new(),
        }
    }

    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|r| r.get(column)).map(|c| c.width());
        cells.chain([self.columns[column].title.width()]).max().unwrap_or(0)
    }

    /// Clips names, then leaves out columns, until the rest is at most `limit` wide or only columns
    /// that must stay are left.
    fn fit(&self, limit: usize, natural: &[usize], widths: &mut [usize], shown: &mut Vec<usize>) {
        loop {
            widths.copy_from_slice(natural);
            while total(shown, widths) > limit {
                let longest = |c: &&usize| self.columns[**c].shrinks && widths[**c] > LEAST;
                let Some(&c) = shown.iter().filter(longest).max_by_key(|c| widths[**c]) else {
                    break;
                };
                widths[c] -= 1;
            }
            if total(shown, widths) <= limit {
                return;
            }
            let last = shown.iter().rev().copied().max_by_key(|&c| self.columns[c].order);
            match last.filter(|&c| self.columns[c].order > 0) {
                Some(c) => shown.retain(|&other| other != c),
                None => return,
            }
        }
    }

    /// A row as lines: as many as its longest wrapped text takes.
    fn lines(&self, row: &[String], widths: &[usize]) -> Vec<Vec<String>> {
        let cell = |(c, text): (usize, &String)| -> Vec<String> {
            match self.columns[c].wraps && text.width() > widths[c] {
                true => wrap(text, 0, widths[c]).lines().map(str::to_string).collect(),
                false => vec![text.clone()],
            }
        };
        let cells: Vec<Vec<String>> = row.iter().enumerate().map(cell).collect();
        let most = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |i: usize| cells.iter().map(|c| c.get(i).cloned().unwrap_or_default()).collect();
        (0..most).map(line).collect()
    }

    fn line<'a>(
        &'a self,
        shown: &[usize],
        widths: &[usize],
        cell: impl Fn(usize) -> &'a str,
    ) -> String {
        let mut out = String::new();
        for (i, &c) in shown.iter().enumerate() {
            let text = clip_to_columns(cell(c), widths[c]);
            let pad = " ".repeat(widths[c].saturating_sub(text.width()));
            if i > 0 {
                out.push_str(&" ".repeat(GAP));
            }
            match self.columns[c].align {
                Align::Left => out.push_str(&(text + &pad)),
                Align::Right => out.push_str(&(pad + &text)),
            }
        }
        out.truncate(out.trim_end().len());
        out
    }
}

fn total(shown: &[usize], widths: &[usize]) -> usize {
    shown.iter().map(|&c| widths[c]).sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

/// `text` in at most `width` terminal columns: wide characters take two.
fn clip_to_columns(text: &str, width: usize) -> String {
    let mut characters = text.chars().count();
    let mut clipped = clip(text, characters);
    while clipped.width() > width && characters > 0 {
        characters -= 1;
        clipped = clip(text, characters);
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: Option<usize>) -> Style {
        Style { width, colour: false, heading: Heading::Plain }
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let mut grid = Grid::new(vec![Column::text("interface"), Column::number("flows")]);
        grid.row(["eth0", "7"]);
        grid.row(["大", "1,000,000"]);
        let expected = "interface      flows\neth0               7\n大         1,000,000\n";
        assert_eq!(grid.render(&plain(None)), expected);
        let ruled = grid.render(&Style::default());
        assert_eq!(ruled.lines().nth(1), Some("────────────────────"));
        let bare = grid.render(&Style { heading: Heading::None, ..plain(None) });
        assert_eq!(bare, expected.split_once('\n').unwrap().1);
    }

    #[test]
    fn a_narrow_terminal_clips_names_and_then_leaves_columns_out() {
        let columns = [Column::text("name").shrinks(), Column::text("law").left_out(1)];
        let mut grid = Grid::new(columns.into());
        grid.row(["a-name-that-is-long", "xcp"]);
        assert_eq!(grid.render(&plain(Some(17))), "name          law\na-name-that…  xcp\n");
        let narrow = "name\na-name-th…\n(too narrow for: law)\n";
        assert_eq!(grid.render(&plain(Some(10))), narrow);
    }

    #[test]
    fn columns_that_do_not_fit_go_below() {
        let titles = ["interface", "law", "arriving", "says"];
        let mut grid = Grid::new(titles.map(Column::text).into());
        grid.row(["eth0", "xcp", "97.5 Mbit/s", "-0.1 Mbit/s"]);
        let folded = |width| grid.folded(&plain(Some(width)));
        let two = "interface  law  arriving\neth0       xcp  97.5 Mbit/s\n\ninterface  says\neth0       -0.1 Mbit/s\n";
        assert_eq!((folded(27), folded(39)), (two.to_string(), two.to_string()));
        assert_eq!(folded(40), grid.render(&plain(None)));
        assert_eq!(folded(1).matches("interface").count(), 3, "each beside it all the same");
    }

    #[test]
    fn a_cell_is_clipped_at_the_grids_bound() {
        let mut grid = Grid::new(vec![Column::text("name")]).longest(4);
        grid.row(["abcdef"]);
        assert_eq!(grid.render(&plain(None)), "name\nabc…\n");
    }
}
