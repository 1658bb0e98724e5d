//! Figures of results, to be drawn for a paper.

use std::io;
use std::path::{Path, PathBuf};

use ratewire_files::RESULTS;
use ratewire_report::draw::{self, Figure, Format, Listed, Panels, Style};
use ratewire_report::html;

use crate::folder::{COMPARISON, REPORT, SWEEP, write_whole};
use crate::results::error::unknown;
use crate::{Error, Results};

/// Pages of results, in the order in which a folder is searched.
const PAGES: [&str; 3] = [REPORT[0], COMPARISON[0], SWEEP[0]];

/// The figures of results: of runs, of a comparison, or of a sweep.
///
/// They are those of the page, with the same points, units and axes. Each can be drawn for a paper
/// ([`Figure::svg`], [`Figure::csv`]) and written into a file ([`Figures::write`]).
#[derive(Debug)]
pub struct Figures {
    place: PathBuf,
    of_page: draw::Figures,
}

impl Figures {
    /// The figures of a page of results in memory; none if nothing ran.
    pub(crate) fn of_page(place: PathBuf, html: &str) -> Figures {
        Figures { place, of_page: draw::Figures::read(html).unwrap_or_default() }
    }

    /// The figures of a folder of results, or of a page such as `report.html`.
    ///
    /// In a folder with several pages, those of the run come before those of a comparison and those
    /// of a sweep.
    ///
    /// # Errors
    /// [`Error::Read`] if there are no results, or results of a version that kept no figures.
    pub fn load(results: impl AsRef<Path>) -> Result<Figures, Error> {
        let results = results.as_ref();
        let wrong = |path: &Path, source: io::Error| Error::Read { path: path.into(), source };
        let page = if results.is_dir() {
            let pages = PAGES.map(|page| results.join(page));
            let found = pages.into_iter().find(|page| page.is_file());
            found.ok_or_else(|| {
                let why = "no results are there; name a folder that `ratewire run`, `compare` or \
                           `sweep` wrote, or its page";
                wrong(results, io::Error::other(why))
            })?
        } else {
            results.to_path_buf()
        };
        let bytes = ratewire_files::read(&page, RESULTS).map_err(|e| wrong(&page, e.into()))?;
        let of_page = draw::Figures::read(&String::from_utf8_lossy(&bytes));
        let of_page = of_page.map_err(|e| wrong(&page, io::Error::other(e)))?;
        Ok(Figures { place: page, of_page })
    }

    /// The page that the figures are of.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The figures, in the order of the page. Of plots of links, those of the first link are
    /// listed; [`Figures::parts`] has the others.
    pub fn list(&self) -> Vec<Listed> {
        self.of_page.list()
    }

    /// What can follow a figure's name and a slash: links, of plots of links; swept keys, of a
    /// sweep's figures. Empty for other figures.
    pub fn parts(&self, name: &str) -> Vec<String> {
        self.of_page.parts(name)
    }

    /// The figure of a name: `throughput`; `queue`, or `queue/LINK` for a link that is not the
    /// first; of a sweep `utilisation`, or `utilisation/KEY` to draw it against that key.
    ///
    /// # Errors
    /// [`Error::Figure`] if there is none.
    pub fn figure(&self, name: &str, panels: Panels) -> Result<Figure, Error> {
        self.of_page.figure(name, panels).map_err(|e| match e {
            draw::Error::Unknown { name, known } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let why = unknown("figure", &name, &known);
                Error::Figure(format!("{}: {why}", self.place.display()))
            }
            other => Error::Figure(format!("{}: {other}", self.place.display())),
        })
    }

    /// Writes a figure in one step, with missing folders, in the format that the extension of the
    /// path names: svg, pdf, png or csv. An earlier file is replaced, whatever it holds.
    ///
    /// # Errors
    /// [`Error::Figure`] for another extension, [`Error::Refused`] or [`Error::Write`] if the file
    /// cannot be written; an earlier file is then unchanged.
    pub fn write(figure: &Figure, path: impl AsRef<Path>, style: &Style) -> Result<(), Error> {
        let path = path.as_ref();
        let wrong = |e| Error::Figure(format!("{}: {e}", path.display()));
        let bytes = figure.bytes(Format::of(path).map_err(wrong)?, style).map_err(wrong)?;
        write_whole(path, &bytes)
    }
}

impl Results {
    /// The figures of the page, to be drawn for a paper.
    pub fn figures(&self) -> Figures {
        Figures::of_page("results".into(), &html::render(&self.page()))
    }

    /// A figure of the page by its name: `throughput`, `queue`, `queue/LINK`.
    ///
    /// ```
    /// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
    /// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n\
    /// #   [[flow]]\nfrom = 's1'\nto = 'd1'\n";
    /// use ratewire::Style;
    ///
    /// let experiment = ratewire::Experiment::parse("hello.toml", text)?;
    /// let results = experiment.laws(["xcp", "cubic"]).run()?;
    /// let figure = results.plot("queue")?;
    /// assert_eq!(figure.y.label(), "Queue (packets)");
    /// let style = Style { serif: true, ..Style::default() };
    /// assert!(figure.svg(&style).starts_with("<svg"));
    /// # Ok::<(), ratewire::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Figure`] if no figure has this name.
    pub fn plot(&self, figure: &str) -> Result<Figure, Error> {
        self.figures().figure(figure, Panels::Auto)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_or_file_without_results_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        let refusal = |path: &Path| Figures::load(path).expect_err("no results").to_string();
        assert!(refusal(folder.path()).contains("no results are there; name a folder that"));
        let page = folder.path().join("report.html");
        fs::write(&page, "<!doctype html>").expect("a page of others");
        let says = format!("cannot read {}: no page of this version", page.display());
        assert!(refusal(folder.path()).starts_with(&says), "{}", refusal(folder.path()));
        assert!(refusal(&folder.path().join("none")).contains("No such file"));
    }
}
