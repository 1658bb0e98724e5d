//! Output of `ratewire reproduce`.

use std::path::{Path, PathBuf};

use ratewire::World;
use ratewire::folder::write_page;
use ratewire::papers::{Paper, PaperFigure};
use ratewire_command_line::{Exit, print};
use ratewire_report::html::papers;
use ratewire_report::{CheckedExpectation, Verdict, table};
use serde::Serialize;

use super::Args;
use crate::output::fail;
use crate::terminal::table_options;

/// A claim, for `--json`.
#[derive(Serialize)]
struct Claim<'a> {
    paper: &'a str,
    figure: &'a str,
    scenario: &'a str,
    verdict: &'static str,
    #[serde(flatten)]
    expectation: &'a CheckedExpectation,
}

/// File of the page.
pub(super) fn page(papers: &[&Paper], args: &Args) -> PathBuf {
    let default = match (papers, args.names.as_slice()) {
        ([one], [name]) if name.contains('/') => {
            let figures: Vec<String> = one.figures.iter().map(PaperFigure::handle).collect();
            format!("{}-{}.html", one.name, figures.join("-"))
        }
        ([one], _) => format!("{}.html", one.name),
        _ => "papers.html".to_string(),
    };
    args.out.clone().unwrap_or_else(|| Path::new("out/reproduce").join(default))
}

/// Prints the results and writes the page.
pub(super) fn finish(papers: &[&Paper], done: &[papers::PaperSection], args: &Args) -> Exit {
    let out = page(papers, args);
    let written = write_page(&out, &papers::render(done));
    let text = match &written {
        _ if args.json => json(papers, done),
        Ok(()) => tables(papers, done, args) + &format!("\nPage: {}\n", out.display()),
        Err(_) => tables(papers, done, args),
    };
    let failed = expectations(done).any(|e| e.verdict() == Verdict::Failed);
    match print(&text) {
        Exit::Done => {}
        exit => return exit,
    }
    // The tables come first: the runs took minutes, and must not be lost if the page cannot be
    // written.
    match written {
        Err(failure) => fail(&failure),
        Ok(()) if failed => Exit::NotMet,
        Ok(()) => Exit::Done,
    }
}

fn expectations(done: &[papers::PaperSection]) -> impl Iterator<Item = &CheckedExpectation> {
    done.iter().flat_map(|p| &p.figures).flat_map(|f| &f.claims).flat_map(|c| &c.expectations)
}

/// One paper's claims, or a line a figure of several papers.
fn tables(papers: &[&Paper], done: &[papers::PaperSection], args: &Args) -> String {
    let options = table_options();
    let mut text = String::new();
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    let is_long = papers.len() == 1 || args.details;
    for (paper, done) in papers.iter().zip(done) {
        for (own, figure) in paper.figures.iter().zip(&done.figures) {
            let list: Vec<CheckedExpectation> =
                figure.claims.iter().flat_map(|c| c.expectations.clone()).collect();
            let verdicts: Vec<Verdict> = list.iter().map(CheckedExpectation::verdict).collect();
            let title = format!("{}: {}", figure.id, figure.title);
            if is_long || verdicts.contains(&Verdict::Failed) {
                text += &format!("{}, {title}\n{}", paper.name, table::claims(&list, &options));
                let is_emulated = args.world.contains(&World::Emulate);
                if let Some(note) = own.emulated_note.as_ref().filter(|_| is_emulated) {
                    text += "Emulated runs:\n";
                    text += &table::wrap(note, 2, options.text_width());
                }
                text += "\n";
            }
            figures.push((paper.name.clone(), title, verdicts));
        }
        let verdicts = expectations(std::slice::from_ref(done)).map(CheckedExpectation::verdict);
        rows.push((paper.name.clone(), done.figures.len(), verdicts.collect()));
    }
    if !is_long {
        text += &(table::paper_figures(&figures, &options) + "\n");
    }
    text + &table::tally(&rows, &options)
}

fn json(papers: &[&Paper], done: &[papers::PaperSection]) -> String {
    let mut all = Vec::new();
    for (paper, done) in papers.iter().zip(done) {
        for figure in &done.figures {
            for claims in &figure.claims {
                all.extend(claims.expectations.iter().map(|expectation| Claim {
                    paper: &paper.name,
                    figure: &figure.id,
                    scenario: &claims.file,
                    verdict: expectation.verdict().word(),
                    expectation,
                }));
            }
        }
    }
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}
