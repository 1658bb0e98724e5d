//! One table of a page.

use super::text::escape;
use crate::figure::count;

/// Rows of a table that is printed without being asked for.
const FEW_ROWS: usize = 24;

/// The attributes of a table that can be closed. If it has few rows, it is open from the start
/// among few runs, and printed; else paper has it only if it was open on the screen.
pub(super) fn state(rows: usize, are_few_runs: bool) -> &'static str {
    match (rows <= FEW_ROWS, are_few_runs) {
        (true, true) => " open",
        (true, false) => "",
        (false, _) => " class=\"asked\"",
    }
}

/// A note on the rows that a table leaves out; empty if it has them all.
pub(super) fn more(all: usize, shown: usize) -> String {
    if all <= shown {
        return String::new();
    }
    let rest = count((all - shown) as u64);
    format!("<p class=\"note\">… and {rest} more, in <code>summary.json</code>.</p>\n")
}

/// A table whose first column is the head of its rows. All other columns are aligned to the right,
/// but for names.
pub(super) fn table(
    caption: &str,
    head: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let mut body = String::new();
    for row in rows {
        body.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let text = escape(&ratewire_table::clip(cell, 120));
            let text = if text.is_empty() { "–".into() } else { text };
            if i == 0 {
                body.push_str(&format!("<th scope=\"row\">{text}</th>"));
            } else if matches!(head[i], "From" | "To" | "Law") {
                body.push_str(&format!("<td>{text}</td>"));
            } else {
                body.push_str(&format!("<td class=\"n\">{text}</td>"));
            }
        }
        body.push_str("</tr>\n");
    }
    if body.is_empty() {
        return format!("<p class=\"note\">{}: none.</p>\n", escape(caption));
    }
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\
         <caption>{0}</caption>\n<thead><tr>",
        escape(caption)
    );
    for (i, title) in head.iter().enumerate() {
        let class =
            if i == 0 || matches!(*title, "From" | "To" | "Law") { "" } else { " class=\"n\"" };
        let title = escape(&ratewire_table::clip(title, 60));
        out.push_str(&format!("<th scope=\"col\"{class}>{title}</th>"));
    }
    out + "</tr></thead>\n<tbody>\n" + &body + "</tbody></table></div>\n"
}
