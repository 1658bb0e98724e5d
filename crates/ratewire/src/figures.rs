//! Figures of results, to be drawn for a paper.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use ratewire_files::RESULTS;
use ratewire_report::draw::{self, Choice, Chosen, Figure, Format, Listed, Panels, Style};
use ratewire_report::html;

use crate::folder::{COMPARISON, REPORT, SWEEP, write_whole};
use crate::results::error::unknown;
use crate::{Error, Results};

/// Pages of results, in the order in which the figures of a folder are listed.
const PAGES: [&str; 3] = [REPORT[0], COMPARISON[0], SWEEP[0]];

/// The figures of results: of runs, of a comparison, or of a sweep.
///
/// They are those of the pages, with the same points, units and axes. Each can be drawn for a paper
/// ([`Figure::svg`], [`Figure::csv`]) and written into a file ([`Figures::write`]).
///
/// A folder may have pages of several commands. `queue` is then the figure of the page that has
/// one; where several have, `report:queue` and `comparison:queue` say which is meant.
#[derive(Debug)]
pub struct Figures {
    pages: Vec<FigurePage>,
}

/// The figures of a page.
#[derive(Debug)]
struct FigurePage {
    place: PathBuf,
    figures: draw::Figures,
}

impl FigurePage {
    fn load(place: PathBuf) -> Result<FigurePage, Error> {
        let wrong = |path: &Path, source: io::Error| Error::Read { path: path.into(), source };
        let bytes = ratewire_files::read(&place, RESULTS).map_err(|e| wrong(&place, e.into()))?;
        let figures = draw::Figures::read(&String::from_utf8_lossy(&bytes));
        let figures = figures.map_err(|e| wrong(&place, io::Error::other(e)))?;
        Ok(FigurePage { place, figures })
    }

    /// The name before the colon: `report` of `report.html`.
    fn name(&self) -> Cow<'_, str> {
        self.place.file_stem().unwrap_or_default().to_string_lossy()
    }

    fn wrong(&self, error: draw::Error) -> Error {
        let why = match error {
            draw::Error::Unknown { what, name, known } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                unknown(what, &name, &known)
            }
            other => other.to_string(),
        };
        Error::Figure(format!("{}: {why}", self.place.display()))
    }
}

impl Figures {
    /// The figures of a page of results in memory; none if nothing ran.
    pub(crate) fn of_page(place: PathBuf, html: &str) -> Figures {
        let figures = draw::Figures::read(html).unwrap_or_default();
        Figures { pages: vec![FigurePage { place, figures }] }
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
        if !results.is_dir() {
            return Ok(Figures { pages: vec![FigurePage::load(results.to_path_buf())?] });
        }
        let pages = PAGES.map(|page| results.join(page)).into_iter().filter(|page| page.is_file());
        let pages = pages.map(FigurePage::load).collect::<Result<Vec<FigurePage>, Error>>()?;
        if pages.is_empty() {
            let why = "no results are there; name a folder that `ratewire run`, `compare` or \
                       `sweep` wrote, or its page";
            let source = io::Error::other(why);
            return Err(Error::Read { path: results.into(), source });
        }
        Ok(Figures { pages })
    }

    /// The figures of each page, in the order of the page.
    ///
    /// A name that several pages have begins with its page: `report:queue`. Of plots of links,
    /// those of the first link are listed; [`Figures::parts`] has the others.
    pub fn by_page(&self) -> impl Iterator<Item = (&Path, Vec<Listed>)> {
        self.pages.iter().map(|page| {
            let named = page.figures.list().into_iter().map(|one| {
                let is_twice = self.pages_with(&one.name).count() > 1;
                match is_twice {
                    true => Listed { name: format!("{}:{}", page.name(), one.name), ..one },
                    false => one,
                }
            });
            (page.place.as_path(), named.collect())
        })
    }

    /// The figures of all pages, as [`Figures::by_page`] names them.
    pub fn list(&self) -> Vec<Listed> {
        self.by_page().flat_map(|(_, listed)| listed).collect()
    }

    /// What can follow a figure's name and a slash: links, of plots of links; swept keys, of a
    /// sweep's figures. Empty for other figures.
    pub fn parts(&self, name: &str) -> Vec<String> {
        self.find(name).map_or_else(|_| Vec::new(), |(page, name)| page.figures.parts(name))
    }

    /// The figure of a name: `throughput`; `queue`, or `queue/LINK` for a link that is not the
    /// first; of a sweep `utilisation`, or `utilisation/KEY` to draw it against that key.
    ///
    /// # Errors
    /// [`Error::Figure`] if there is none, or if several pages have one.
    pub fn figure(&self, name: &str, panels: Panels) -> Result<Figure, Error> {
        let choice = Choice { panels, ..Choice::default() };
        self.choose(name, &choice).map(|chosen| chosen.figure)
    }

    /// The figure of a name, with the lines, names, time and axes that are chosen.
    ///
    /// # Errors
    /// [`Error::Figure`] if there is none, if several pages have one, or if the figure does not
    /// offer what is chosen.
    pub fn choose(&self, name: &str, choice: &Choice) -> Result<Chosen, Error> {
        let (page, name) = self.find(name)?;
        page.figures.choose(name, choice).map_err(|e| page.wrong(e))
    }

    /// The pages that may have a figure of this name.
    fn pages_with(&self, name: &str) -> impl Iterator<Item = &FigurePage> {
        self.pages.iter().filter(move |page| page.figures.has(name))
    }

    /// The page that has a figure, and the figure's name there.
    fn find<'a>(&self, name: &'a str) -> Result<(&FigurePage, &'a str), Error> {
        if let Some((of, rest)) = name.split_once(':')
            && let Some(page) = self.pages.iter().find(|page| page.name() == of)
        {
            return Ok((page, rest));
        }
        if let [page] = self.pages.as_slice() {
            return Ok((page, name));
        }
        let found: Vec<&FigurePage> = self.pages_with(name).collect();
        let places: Vec<String> =
            self.pages.iter().map(|p| p.place.display().to_string()).collect();
        let places = places.join(", ");
        match found.as_slice() {
            [page] => Ok((page, name)),
            [] => {
                let all: Vec<Listed> =
                    self.pages.iter().flat_map(|page| page.figures.list()).collect();
                let mut known: Vec<&str> = Vec::new();
                for listed in &all {
                    if !known.contains(&listed.name.as_str()) {
                        known.push(&listed.name);
                    }
                }
                Err(Error::Figure(format!("{places}: {}", unknown("figure", name, &known))))
            }
            several => {
                let names = several.iter().map(|page| format!("{}:{name}", page.name()));
                let names = names.collect::<Vec<_>>().join(" or ");
                let why = format!("several pages have a figure {name:?}: write {names}");
                Err(Error::Figure(format!("{places}: {why}")))
            }
        }
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
