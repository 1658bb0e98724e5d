//! `ratewire plot`: draws a figure of results for a paper.

use std::path::PathBuf;

use clap::ValueEnum;
use ratewire::{AxisChoice, Choice, Columns, Figures, Length, Panels, Style};
use ratewire_command_line::{Exit, print, print_stderr};
use ratewire_report::draw;
use ratewire_units::Time;
use ratewire_units::text::legible;

use crate::arguments::{listed, times};
use crate::output::fail;

/// Most links or keys that the list of figures names.
const MOST_PARTS: usize = 8;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of results that `run`, `compare` or `sweep` wrote, or one of its pages
    results: PathBuf,
    /// Name of a figure: throughput, queue, queue/LINK; comparison:queue where several pages of the
    /// folder have one. Without a name, the figures are listed
    #[arg(requires = "out")]
    figure: Option<String>,
    /// File to write: its extension (svg, pdf, png or csv) chooses the format. May be given several
    /// times. An earlier file is replaced
    #[arg(long, short, value_name = "FILE", requires = "figure", value_parser = file)]
    out: Vec<PathBuf>,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    axes: AxisArgs,
    #[command(flatten)]
    lines: LineArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Size and letters")]
struct SizeArgs {
    /// Width in columns of an IEEE paper: 1 is 3.5 inches, 2 is 7.16 inches
    #[arg(long, value_name = "N", default_value = "1", value_parser = ["1", "2"])]
    columns: String,
    /// Width: 3.5in, 89mm, 8.9cm or 252pt; without a unit in inches
    #[arg(long, value_name = "LENGTH", conflicts_with = "columns", requires = "figure", value_parser = Style::side)]
    width: Option<Length>,
    /// Height, as the width is given [default: what fits the width and the content]
    #[arg(long, value_name = "LENGTH", requires = "figure", value_parser = Style::side)]
    height: Option<Length>,
    /// Height of letters in points
    #[arg(long, value_name = "PT", default_value = "8", value_parser = Style::letters)]
    font_size: Length,
    /// Draw letters with serifs
    #[arg(long)]
    serif: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Axes")]
struct AxisArgs {
    /// Range of the horizontal axis in its unit: 2..8; an end may be missing, as in ..8
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, requires = "figure", value_parser = range)]
    x_range: Option<Range>,
    /// Range of the vertical axis in its unit: 0..20; an end may be missing, as in 5..
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, requires = "figure", value_parser = range)]
    y_range: Option<Range>,
    /// Draw the horizontal axis logarithmic; --x-log=false draws it linear
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", requires = "figure")]
    x_log: Option<bool>,
    /// Draw the vertical axis logarithmic; --y-log=false draws it linear
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", requires = "figure")]
    y_log: Option<bool>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Lines")]
struct LineArgs {
    /// Laws whose lines are drawn, in this order: xcp,cubic [default: all]
    #[arg(long, short, alias = "laws", value_delimiter = ',', requires = "figure", value_parser = listed)]
    law: Vec<String>,
    /// Flows whose lines are drawn, in this order: flow-1,bulk* [default: all]
    #[arg(long, alias = "flows", value_delimiter = ',', requires = "figure", value_parser = listed)]
    flow: Vec<String>,
    /// Part of the time of a figure over time: "5 s .. 30 s"
    #[arg(long, value_name = "A..B", requires = "figure", value_parser = times)]
    during: Option<(Time, Time)>,
    /// Another name of a line, a law or a flow: newreno=Reno. May be given several times
    #[arg(long, value_name = "OLD=NEW", requires = "figure", value_parser = renamed)]
    name: Vec<(String, String)>,
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

/// Ends of an axis, either of which may be missing.
type Range = (Option<f64>, Option<f64>);

/// A file whose extension names a format: all are checked before the first is written.
fn file(text: &str) -> Result<PathBuf, draw::Error> {
    let path = PathBuf::from(text);
    draw::Format::of(&path).map(|_| path)
}

/// Parses the range of an axis.
fn range(text: &str) -> Result<Range, String> {
    let allowed = "allowed: numbers in the unit of the axis such as 0..20, ..20 or 5..";
    let (low, high) = text.split_once("..").ok_or(allowed)?;
    let end = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Some).ok_or(allowed),
    };
    match (end(low)?, end(high)?) {
        (None, None) => Err(allowed.into()),
        (Some(low), Some(high)) if low >= high => Err("the lesser number comes first".into()),
        range => Ok(range),
    }
}

/// Parses an old and a new name. Names of laws and flows have no `=`.
fn renamed(text: &str) -> Result<(String, String), String> {
    match text.split_once('=').map(|(old, new)| (old.trim(), new.trim())) {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("allowed: the name of a line and another one, such as newreno=Reno".into()),
    }
}

pub(crate) fn plot(args: &Args) -> Exit {
    carry_out(args).unwrap_or_else(|wrong| fail(&wrong))
}

fn carry_out(args: &Args) -> Result<Exit, ratewire::Error> {
    let figures = Figures::load(&args.results)?;
    let Some(name) = &args.figure else { return Ok(print(&list(&figures))) };
    let chosen = figures.choose(name, &choice(args))?;
    for note in &chosen.notes {
        print_stderr!("note: {}", legible(note));
    }
    let SizeArgs { width, height, font_size: font, serif, .. } = args.size;
    let columns = if args.size.columns == "2" { Columns::Two } else { Columns::One };
    let style = Style { columns, width, height, font, serif };
    args.out.iter().try_for_each(|path| Figures::write(&chosen.figure, path, &style))?;
    Ok(Exit::Done)
}

fn choice(args: &Args) -> Choice {
    let LineArgs { law, flow, during, name, panels } = &args.lines;
    let axis = |range: Option<Range>, log| {
        let (low, high) = range.unwrap_or_default();
        AxisChoice { low, high, log }
    };
    Choice {
        panels: match panels {
            PanelsArg::Auto => Panels::Auto,
            PanelsArg::One => Panels::One,
            PanelsArg::Each => Panels::Each,
        },
        laws: law.clone(),
        flows: flow.clone(),
        during: *during,
        names: name.clone(),
        x: axis(args.axes.x_range, args.axes.x_log),
        y: axis(args.axes.y_range, args.axes.y_log),
    }
}

/// The figures of each page, a line each: name, unit, title; then what can follow names.
fn list(figures: &Figures) -> String {
    let mut text = String::new();
    let mut longest: Option<(String, Vec<String>)> = None;
    for (place, all) in figures.by_page() {
        let wide = |text: fn(&ratewire::Listed) -> &str| {
            all.iter().map(|one| text(one).chars().count()).max().unwrap_or(0)
        };
        let (names, units) = (wide(|one| &one.name), wide(|one| &one.unit));
        text += &format!("{}\n", place.display());
        for one in &all {
            let (name, title) = (legible(&one.name), legible(&one.title));
            text += &format!("  {name:names$}  {:units$}  {title}\n", one.unit);
            let parts = figures.parts(&one.name);
            let most = longest.as_ref().map_or(1, |(_, parts)| parts.len());
            if parts.len() > most {
                longest = Some((one.name.clone(), parts));
            }
        }
    }
    if let Some((name, parts)) = longest {
        let shown: Vec<String> = parts.iter().take(MOST_PARTS).map(|part| legible(part)).collect();
        let more = match parts.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (other, shown) = (legible(&parts[1]), shown.join(", "));
        text += &format!("{}/{other} and the like: one of {shown}{more}\n", legible(&name));
    }
    text
}
