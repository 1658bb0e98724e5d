//! A plain grid: a header, a rule, rows. To fit the terminal it clips names, then leaves out the
//! least needed columns.

use unicode_width::UnicodeWidthStr;

use super::{TableOptions, bold, dim, wrap};
use crate::figure::clip;

/// The edge of a column that text is aligned to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

#[derive(Clone)]
pub(super) struct Column {
    title: String,
    align: Align,
    /// Order of leaving out columns: the highest goes first, 0 always stays.
    order: u8,
    shrinks: bool,
    /// Whether long text wraps, in place of being clipped.
    wraps: bool,
}

pub(super) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// Blanks between two columns.
const GAP: usize = 2;
/// A name is not clipped below this, nor shown longer than [`MOST`].
const LEAST: usize = 10;
const MOST: usize = 60;

impl Column {
    pub(super) fn new(title: &str, align: Align, order: u8) -> Column {
        Column { title: title.into(), align, order, shrinks: false, wraps: false }
    }
    /// A column whose text may be clipped.
    pub(super) fn shrinks(self) -> Column {
        Column { shrinks: true, ..self }
    }
    /// A column whose text may wrap.
    pub(super) fn wraps(self) -> Column {
        Column { wraps: true, ..self.shrinks() }
    }
}

impl Grid {
    pub(super) fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|c| clip(c, MOST)).collect());
    }

    /// The grid as lines, each ending in a newline.
    pub(super) fn render(&self, options: &TableOptions) -> String {
        let natural: Vec<usize> = (0..self.columns.len()).map(|c| self.widest(c)).collect();
        let mut widths = natural.clone();
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        if let Some(limit) = options.width {
            self.fit(limit, &natural, &mut widths, &mut shown);
        }
        let mut out = self.line(&shown, &widths, |c| &self.columns[c].title);
        out = format!("{}\n", bold(&out, options));
        let total = total(&shown, &widths);
        out.push_str(&format!("{}\n", dim(&"─".repeat(total), options)));
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
            out.push_str(&format!("{}\n", dim(&note, options)));
        }
        out
    }

    /// As [`Grid::render`], but nothing is left out: columns that do not fit follow below, in a
    /// grid that repeats the first column.
    pub(super) fn folded(&self, options: &TableOptions) -> String {
        let limit = options.width.unwrap_or(usize::MAX);
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
            }
            .render(options)
        };
        parts.iter().map(part).collect::<Vec<String>>().join("\n")
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
