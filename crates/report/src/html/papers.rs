//! The page of papers, figure by figure: claims, measured values and verdicts. It is made of the
//! parts of a scenario's page.

use ratewire_table::clip;

use super::changes::legend_of_changes;
use super::charts::{chart, note_on_mean};
use super::data::{self, Choice, Drawing};
use super::groups::{Groups, Mode};
use super::sweep::sweep;
pub use super::sweep::{Line, SweepPlot};
use super::text::{escape, name};
use super::{LARGEST, MOST_HALVINGS, STYLE, end, head, law_toggles};
use crate::draw::{Look, looks};
use crate::figure::{count, plural};
use crate::plots::Plot;
use crate::{CheckedExpectation, Run, Verdict};

const PAPERS_STYLE: &str = include_str!("../../assets/papers.css");

/// A paper.
pub struct PaperSection {
    /// Title of the paper.
    pub title: String,
    /// Authors, and where the paper appeared.
    pub authors: String,
    /// What the paper is about, and how its claims fared, in a few sentences.
    pub summary: String,
    /// Figures and experiments of the paper.
    pub figures: Vec<FigureSection>,
}

/// A figure of a paper, or an experiment.
pub struct FigureSection {
    /// Name of the figure: `Figure 8`.
    pub id: String,
    /// What the figure shows, in a few words.
    pub title: String,
    /// What the figure shows, as the paper describes it.
    pub caption: String,
    /// Where runs and paper differ, and why.
    pub note: Option<String>,
    /// What is drawn over time.
    pub panels: Vec<Panel>,
    /// What is drawn over a parameter.
    pub sweeps: Vec<SweepPlot>,
    /// How well emulated runs kept to the model's times, and what their senders were.
    pub real_time: Vec<String>,
    /// Claims of the figure, scenario by scenario.
    pub claims: Vec<Claims>,
}

/// The runs of one scenario, drawn over time.
pub struct Panel {
    /// The scenario.
    pub title: String,
    /// The runs that are drawn.
    pub runs: Vec<Run>,
    /// Plots of the runs.
    pub plots: Vec<Plot>,
    /// Links that plots are drawn of; the bottlenecks if empty.
    pub links: Vec<String>,
    /// Whether each law has plots of its own.
    pub apart: bool,
}

/// The claims of one scenario.
pub struct Claims {
    /// The scenario.
    pub scenario: String,
    /// File of the scenario, as `ratewire run` takes it.
    pub file: String,
    /// What the scenario expects, and what was measured.
    pub expectations: Vec<CheckedExpectation>,
}

impl FigureSection {
    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.claims.iter().flat_map(|c| &c.expectations).map(CheckedExpectation::verdict)
    }
}

impl PaperSection {
    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.figures.iter().flat_map(FigureSection::verdicts)
    }
    /// The paper's laws in the order of first use.
    fn laws(&self) -> Vec<String> {
        let panels = self.figures.iter().flat_map(|f| &f.panels).flat_map(|p| &p.runs);
        let lines = self.figures.iter().flat_map(|f| &f.sweeps).flat_map(|s| &s.lines);
        let mut laws: Vec<String> = Vec::new();
        for law in panels.map(|run| &run.info.law).chain(lines.map(|line| &line.law)) {
            if !laws.contains(law) {
                laws.push(law.clone());
            }
        }
        laws
    }
}

/// The page as one HTML document, below 5 MB.
pub fn render(papers: &[PaperSection]) -> String {
    let mut halvings = 0;
    loop {
        let html = document(papers, halvings);
        if html.len() <= LARGEST || halvings >= MOST_HALVINGS {
            return html;
        }
        halvings += 1;
    }
}

fn document(papers: &[PaperSection], halvings: u32) -> String {
    let title = match papers {
        [one] => name(&one.title),
        many => format!("{}, figure by figure", plural(many.len(), "paper")),
    };
    let mut out = head(&title, &[STYLE, PAPERS_STYLE].concat());
    out.push_str(&cover(papers, &title));
    out.push_str("<main>\n");
    out.push_str(&index(papers));
    for (i, paper) in papers.iter().enumerate() {
        out.push_str(&section(paper, i, papers.len() == 1, halvings));
    }
    out.push_str(FOOT);
    out + "</main>\n" + &end()
}

const FOOT: &str = "<footer><p class=\"note\">Made by <code>ratewire reproduce</code>; \
    <code>ratewire run FILE</code> has every figure of a single scenario. Verdicts come from exact \
    counters, not from the plots. A plotted throughput is a moving mean; neighbouring samples are \
    merged to fit the page. Plots by uPlot 1.6.32 (MIT licence, © Leon Sorokin).</p></footer>\n";

fn cover(papers: &[PaperSection], title: &str) -> String {
    let all = || papers.iter().flat_map(PaperSection::verdicts);
    let total = all().count();
    let figures: usize = papers.iter().map(|p| p.figures.len()).sum();
    let (mut cards, mut bar) = (String::new(), String::new());
    for verdict in Verdict::ALL {
        let n = all().filter(|v| *v == verdict).count();
        let (class, what) = (class(verdict), meaning(verdict));
        let number = count(n as u64);
        let word = verdict.word();
        cards.push_str(&format!(
            "<div class=\"count {class}\"><b>{number}</b> <span>{word}</span><small>{what}</small></div>\n"
        ));
        let part = 100.0 * n as f64 / total.max(1) as f64;
        bar.push_str(&format!("<i class=\"{class}\" style=\"width:{part:.2}%\"></i>"));
    }
    let authors = match papers {
        [one] => format!("<p class=\"authors\">{}</p>", escape(&one.authors)),
        _ => String::new(),
    };
    format!(
        "<header class=\"cover\"><p class=\"kicker\">Reproduced with Ratewire</p><h1>{title}</h1>{authors}\n\
         <p class=\"lead\">{} run again, packet by packet, and {} compared with measurements. \
         Where the two differ, the figure says why.</p>\n\
         <div class=\"counts\">\n{cards}</div>\n\
         <div class=\"stack\" aria-hidden=\"true\">{bar}</div></header>\n",
        plural(figures, "figure"),
        plural(total, "claim"),
    )
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "is-reproduced",
        Verdict::Derived => "is-derived",
        Verdict::Fitted => "is-fitted",
        Verdict::Unclaimed => "is-unclaimed",
        Verdict::NotReproduced => "is-different",
        Verdict::Failed => "is-failed",
    }
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "the source’s own claim holds",
        Verdict::Derived => {
            "a value computed from the source’s theory or set-up holds; the source does not state it"
        }
        Verdict::Fitted => {
            "the source’s value holds with a parameter that was chosen to meet it; it proves nothing"
        }
        Verdict::Unclaimed => "the source gives no figure; the bound only detects changes",
        Verdict::NotReproduced => "the source says otherwise; what holds here is stated instead",
        Verdict::Failed => "what was measured is out of bounds: a regression",
    }
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "✓",
        Verdict::Derived => "∴",
        Verdict::Fitted => "≈",
        Verdict::Unclaimed => "○",
        Verdict::NotReproduced => "≠",
        Verdict::Failed => "✗",
    }
}

/// Every figure as a tile in the colour of its worst verdict.
fn index(papers: &[PaperSection]) -> String {
    let mut out = String::from("<nav class=\"index\" aria-label=\"Figures\">\n");
    for (i, paper) in papers.iter().enumerate() {
        if papers.len() > 1 {
            out.push_str(&format!(
                "<h2><a href=\"#p{i}\">{}</a> {}</h2>\n",
                name(&paper.title),
                tally(paper.verdicts())
            ));
        }
        out.push_str("<ul>\n");
        for (j, figure) in paper.figures.iter().enumerate() {
            let worst = figure.verdicts().min().unwrap_or(Verdict::Unclaimed);
            out.push_str(&format!(
                "<li class=\"{}\"><a href=\"#p{i}f{j}\"><b>{}</b> {}</a></li>\n",
                class(worst),
                name(&figure.id),
                name(&figure.title)
            ));
        }
        out.push_str("</ul>\n");
    }
    out + "</nav>\n"
}

/// How many claims have each verdict; verdicts without claims are left out.
fn tally(verdicts: impl Iterator<Item = Verdict>) -> String {
    let verdicts: Vec<Verdict> = verdicts.collect();
    let pills = Verdict::ALL.into_iter().filter_map(|verdict| {
        let n = verdicts.iter().filter(|v| **v == verdict).count();
        let (class, sign, word) = (class(verdict), sign(verdict), verdict.word());
        (n > 0).then(|| format!("<span class=\"pill {class}\">{sign} {n} {word}</span>"))
    });
    format!("<span class=\"tally\">{}</span>", pills.collect::<String>())
}

fn section(paper: &PaperSection, index: usize, alone: bool, halvings: u32) -> String {
    let laws = paper.laws();
    let mut out = format!("<section class=\"paper\" id=\"p{index}\">");
    if !alone {
        out.push_str(&format!(
            "<h2>{}</h2><p class=\"authors\">{}</p>{}",
            name(&paper.title),
            escape(&paper.authors),
            tally(paper.verdicts())
        ));
    }
    out.push_str(&format!("<p class=\"summary\">{}</p>\n", escape(&paper.summary)));
    for (j, figure) in paper.figures.iter().enumerate() {
        out.push_str(&article(figure, &format!("p{index}f{j}"), &laws, halvings));
    }
    out + "</section>\n"
}

fn article(figure: &FigureSection, id: &str, laws: &[String], halvings: u32) -> String {
    let mut out = format!(
        "<article class=\"fig\" id=\"{id}\"><div class=\"fig-head\"><h3><span>{}</span> {}</h3>{}</div>\n\
         <p class=\"caption\">{}</p>\n",
        name(&figure.id),
        name(&figure.title),
        tally(figure.verdicts()),
        escape(&figure.caption)
    );
    if !figure.sweeps.is_empty() {
        let looks = looks(laws.iter().map(String::as_str));
        let look = |law: &str| {
            laws.iter().position(|known| known == law).map_or(Look::default(), |at| looks[at])
        };
        out.push_str("<div class=\"pair\">\n");
        out.extend(figure.sweeps.iter().map(|one| sweep(one, look)));
        out.push_str("</div>\n");
    }
    let titled = figure.panels.len() > 1;
    out.extend(figure.panels.iter().map(|one| panel(one, titled, laws, halvings)));
    if let Some(note) = &figure.note {
        out.push_str(&format!("<p class=\"differs\">{}</p>\n", escape(note)));
    }
    for run in &figure.real_time {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(run)));
    }
    out + &claims(&figure.claims) + "</article>\n"
}

fn panel(panel: &Panel, titled: bool, laws: &[String], halvings: u32) -> String {
    let runs = &panel.runs;
    let all: Vec<&str> = laws.iter().map(String::as_str).collect();
    let groups = Groups::of(runs).coloured(&all);
    let mut choice = Choice::of(runs);
    choice.only(runs, &panel.links);
    let several = choice.links.len() > 1;
    let class = if panel.apart { "panel apart" } else { "panel" };
    let mut out = format!("<div class=\"{class}\">\n");
    if titled {
        out.push_str(&format!("<h4>{}</h4>\n", name(&panel.title)));
    }
    out.push_str("<div class=\"panel-bar\"><div class=\"legend\">");
    if groups.mode != Mode::Flows && !panel.apart {
        out.push_str(&law_toggles(&groups));
    }
    out.push_str("</div><div class=\"tools\">");
    if several {
        out.push_str("<label>Link <select class=\"choose-link\"></select></label>");
    }
    out.push_str(
        "<button type=\"button\" class=\"reset\" disabled>Reset zoom</button></div></div>\n",
    );
    out.push_str("<div class=\"plots\">\n");
    out.extend(panel.plots.iter().map(|plot| chart(runs, plot.title(), &[*plot])));
    out.push_str("</div>\n");
    let mean = || {
        note_on_mean(runs, halvings)
            .filter(|_| panel.plots.iter().any(|plot| plot.is_moving_mean()))
    };
    for note in legend_of_changes(runs).into_iter().chain(mean()) {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&note)));
    }
    out.push_str("<script type=\"application/json\">");
    let drawing = Drawing { plots: &panel.plots, apart: panel.apart, halvings };
    out.push_str(&data::json(runs, &groups, &choice, &drawing));
    out + "</script></div>\n"
}

/// Most rows of a table that is open from the start.
const OPEN: usize = 8;

fn claims(all: &[Claims]) -> String {
    let rows: usize = all.iter().map(|c| c.expectations.len()).sum();
    let bad = all.iter().flat_map(|c| &c.expectations).any(|e| e.verdict() == Verdict::Failed);
    let open = if rows <= OPEN || bad { " open" } else { "" };
    let mut out = format!(
        "<details{open}><summary>{}</summary>\n<table class=\"claims\"><thead><tr>\
         <th scope=\"col\">Verdict</th><th scope=\"col\">Law</th><th scope=\"col\">Claim</th>\
         <th scope=\"col\">Measured</th><th scope=\"col\">Bound</th></tr></thead>\n",
        plural(rows, "claim")
    );
    for one in all {
        out.push_str(&format!(
            "<tbody><tr class=\"file\"><th colspan=\"5\" scope=\"rowgroup\">{} <code>{}</code></th></tr>\n",
            name(&one.scenario),
            name(&one.file)
        ));
        out.extend(one.expectations.iter().map(|e| row(e, &one.expectations)));
        out.push_str("</tbody>\n");
    }
    out + "</table></details>\n"
}

fn row(e: &CheckedExpectation, among: &[CheckedExpectation]) -> String {
    let verdict = e.verdict();
    let long = |text: &str| escape(&clip(text, 500));
    let source = e.source.as_deref().map(|s| format!("<small>{}</small>", long(s)));
    let note = e.note.as_deref().map(|n| format!("<small class=\"remark\">{}</small>", long(n)));
    format!(
        "<tr class=\"{}\"><td><span class=\"pill {}\">{} {}</span></td><td>{}</td>\
         <td>{}{}{}</td><td class=\"measured\">{}</td><td>{}</td></tr>\n",
        class(verdict),
        class(verdict),
        sign(verdict),
        verdict.word(),
        name(&e.run(among)),
        long(&e.claim),
        source.unwrap_or_default(),
        note.unwrap_or_default(),
        name(&e.measured),
        name(&e.bound)
    )
}

#[cfg(test)]
#[path = "papers_tests.rs"]
mod tests;
