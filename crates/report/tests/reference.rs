//! Holds the table of plots in `docs/how-to/reproduce-a-paper.md` to the registry.

use ratewire_report::Plot;

const PAGE: &str = include_str!("../../../docs/how-to/reproduce-a-paper.md");

#[test]
fn the_documentation_lists_every_plot() {
    let row = |plot: Plot| format!("| `{}` | {} |\n", plot.name(), plot.explanation());
    let rows: String = Plot::all().map(row).collect();
    assert!(PAGE.contains(&rows), "docs/how-to/reproduce-a-paper.md is to have:\n{rows}");
}
