//! `ratewire plot`: draws a figure of results for a paper.

use std::path::PathBuf;

use clap::ValueEnum;
use ratewire::{Columns, Figures, Panels, Style};
use ratewire_command_line::{Exit, print};
use ratewire_report::draw;
use ratewire_units::text::legible;

use crate::output::fail;

/// Most links or keys that the list of figures names.
const MOST_PARTS: usize = 8;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of results that `run`, `compare` or `sweep` wrote, or one of its pages
    results: PathBuf,
    /// Name of a figure: throughput, queue, queue/LINK; without one, the figures are listed
    #[arg(requires = "out")]
    figure: Option<String>,
    /// File to write: its extension (svg, pdf, png or csv) chooses the format. May be given several
    /// times. An earlier file is replaced
    #[arg(long, short, value_name = "FILE", requires = "figure", value_parser = file)]
    out: Vec<PathBuf>,
    /// Width in columns of an IEEE paper: 1 is 3.5 inches, 2 is 7.16 inches
    #[arg(long, value_name = "N", default_value = "1", value_parser = ["1", "2"])]
    columns: String,
    /// Draw letters with serifs
    #[arg(long)]
    serif: bool,
    /// Panels of a figure over time: a panel a law or a flow where more than three lines would
    /// share one (auto), always one panel, or each law or flow apart
    #[arg(long, value_enum, default_value_t = PanelsArg::Auto)]
    panels: PanelsArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum PanelsArg {
    Auto,
    One,
    Each,
}

/// A file whose extension names a format: all are checked before the first is written.
fn file(text: &str) -> Result<PathBuf, draw::Error> {
    let path = PathBuf::from(text);
    draw::Format::of(&path).map(|_| path)
}

pub(crate) fn plot(args: &Args) -> Exit {
    carry_out(args).unwrap_or_else(|wrong| fail(&wrong))
}

fn carry_out(args: &Args) -> Result<Exit, ratewire::Error> {
    let figures = Figures::load(&args.results)?;
    let Some(name) = &args.figure else { return Ok(print(&list(&figures))) };
    let panels = match args.panels {
        PanelsArg::Auto => Panels::Auto,
        PanelsArg::One => Panels::One,
        PanelsArg::Each => Panels::Each,
    };
    let columns = if args.columns == "2" { Columns::Two } else { Columns::One };
    let figure = figures.figure(name, panels)?;
    let style = Style { columns, serif: args.serif, ..Style::default() };
    args.out.iter().try_for_each(|path| Figures::write(&figure, path, &style))?;
    Ok(Exit::Done)
}

/// The figures, a line each: name, unit, title; then what can follow names.
fn list(figures: &Figures) -> String {
    let all = figures.list();
    let wide = |text: fn(&ratewire::Listed) -> &str| {
        all.iter().map(|one| text(one).chars().count()).max().unwrap_or(0)
    };
    let (names, units) = (wide(|one| &one.name), wide(|one| &one.unit));
    let mut text = format!("{}\n", figures.place().display());
    for one in &all {
        let (name, title) = (legible(&one.name), legible(&one.title));
        text += &format!("  {name:names$}  {:units$}  {title}\n", one.unit);
    }
    let parts = all.iter().map(|one| (one, figures.parts(&one.name)));
    if let Some((one, parts)) = parts.filter(|(_, parts)| parts.len() > 1).max_by_key(|p| p.1.len())
    {
        let shown: Vec<String> = parts.iter().take(MOST_PARTS).map(|part| legible(part)).collect();
        let more = match parts.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text += &format!(
            "{}/{} and the like: one of {}{more}\n",
            one.name,
            legible(&parts[1]),
            shown.join(", ")
        );
    }
    text
}
