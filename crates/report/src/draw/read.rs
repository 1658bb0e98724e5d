//! Reads the figures of a page.

use ratewire_units::names;
use serde::Deserialize;

use super::Figure;
use super::choice::{Choice, Chosen};
use super::request::{Error, Listed, MAP, Panels};
use super::swept::Swept;
use super::timed::{PlotData, Timed};

/// Start of the element with a page's data, and of one with a figure that is drawn as it is.
const DATA: &str = "<script type=\"application/json\" id=\"data\">";
const FIGURE: &str = "<script type=\"application/json\" class=\"figure\">";

/// The figures of a page.
#[derive(Debug, Default)]
pub struct Figures {
    timed: Option<Timed>,
    swept: Option<Swept>,
    drawn: Vec<Figure>,
}

impl Figures {
    /// The figures of a page that [`html`](crate::html) wrote.
    ///
    /// # Errors
    /// [`Error::NoPage`] if the text is none.
    pub fn read(html: &str) -> Result<Figures, Error> {
        fn after<T: for<'a> Deserialize<'a>>(text: &str) -> Option<T> {
            serde_json::from_str(text.split("</script>").next()?).ok()
        }
        let drawn = html.split(FIGURE).skip(1).map(after).collect::<Option<Vec<Figure>>>();
        let drawn = numbered(drawn.ok_or(Error::NoPage)?);
        let mut figures = Figures { drawn, ..Figures::default() };
        let data = html.split_once(DATA).filter(|_| html.starts_with("<!doctype html>"));
        if let Some((_, data)) = data {
            let value: serde_json::Value = after(data).ok_or(Error::NoPage)?;
            let is_sweep = value.get("cells").is_some();
            let wrong = |_| Error::NoPage;
            if is_sweep {
                let swept: Swept = serde_json::from_value(value).map_err(wrong)?;
                figures.swept = Some(swept.coloured());
            } else {
                figures.timed = Some(serde_json::from_value(value).map_err(wrong)?);
            }
        }
        let is_empty = figures.timed.is_none() && figures.swept.is_none();
        if is_empty && figures.drawn.is_empty() { Err(Error::NoPage) } else { Ok(figures) }
    }

    /// The figures, in the order of the page. Of plots of links, those of the first link are
    /// listed; [`Figures::parts`] has the others.
    pub fn list(&self) -> Vec<Listed> {
        let timed = self.timed.iter().flat_map(|timed| {
            timed.plots().map(|plot| Listed {
                name: plot.name.clone(),
                title: titled(timed, plot),
                unit: plot.unit.clone(),
            })
        });
        let drawn = self.drawn.iter().map(|figure| Listed {
            name: figure.name.clone(),
            title: figure.title.clone(),
            unit: figure.y.unit.clone(),
        });
        let swept = self.swept.iter().flat_map(Swept::list);
        timed.chain(drawn).chain(swept).collect()
    }

    /// What can follow a name and a slash: links, of plots of links; swept keys, of a sweep's
    /// figures. Empty for other figures.
    pub fn parts(&self, name: &str) -> Vec<String> {
        let timed = self
            .timed
            .iter()
            .filter(|timed| timed.plots().any(|plot| plot.name == name && timed.is_of_link(plot)));
        let links = timed.flat_map(Timed::links).map(String::from);
        let swept = self.swept.iter().filter(|swept| swept.place(name).is_some());
        links.chain(swept.flat_map(Swept::keys)).collect()
    }

    /// Whether a figure may have this name: it, or what stands before a slash, is listed.
    pub fn has(&self, name: &str) -> bool {
        self.list().iter().any(|listed| {
            let rest = name.strip_prefix(&listed.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// The figure of a name: `throughput`; `queue`, or `queue/LINK` for a link that is not the
    /// first; of a sweep `utilisation`, or `utilisation/KEY` to draw it against that key.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is none.
    pub fn figure(&self, name: &str, panels: Panels) -> Result<Figure, Error> {
        let choice = Choice { panels, ..Choice::default() };
        self.choose(name, &choice).map(|chosen| chosen.figure)
    }

    /// The figure of a name, with the lines, names, time and axes that are chosen.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is no figure, law, flow or line of a name, [`Error::Choice`] if
    /// the figure does not offer what is chosen.
    pub fn choose(&self, name: &str, choice: &Choice) -> Result<Chosen, Error> {
        self.with_lines(name, choice)?.on_axes(choice)
    }

    /// The figure of a name with the lines and the time that are chosen.
    fn with_lines(&self, name: &str, choice: &Choice) -> Result<Figure, Error> {
        let map = |swept: &Swept| swept.map(name.strip_prefix(MAP)?);
        if let Some(of_laws) = self.swept_laws(choice).transpose()?
            && let Some(figure) = map(&of_laws)
        {
            return without_time(figure, choice)?.renamed(&choice.names);
        }
        if let Some(drawn) = self.drawn.iter().find(|figure| figure.name == name) {
            let figure = drawn.of_laws(&choice.laws)?;
            return without_time(figure, choice)?.renamed(&choice.names);
        }
        let (base, part) = self.base_and_part(name);
        let parts = self.parts(base);
        let place = match part {
            Some(part) => match names::find(part, parts.iter().map(String::as_str))[..] {
                [place] => Some(place),
                _ => None,
            },
            None => Some(0),
        };
        let Some(place) = place else { return Err(self.unknown(name, &parts)) };
        if let Some(timed) = &self.timed
            && let Some(plot) = timed.plots().find(|plot| plot.name == base)
            && let Some(figure) = timed.figure(plot, place, choice)?
        {
            return Ok(figure);
        }
        let swept = self.swept_laws(choice).transpose()?;
        let figure =
            swept.and_then(|swept| Some(swept.figure(swept.place(base)?, part.map(|_| place))));
        match figure {
            Some(figure) => without_time(figure, choice)?.renamed(&choice.names),
            None => Err(self.unknown(name, &parts)),
        }
    }

    /// What a name says of the figure, and what follows it. Names of figures may have slashes, as
    /// those that were asked for in a sweep have: `queue/hop2/bottleneck.rate`.
    fn base_and_part<'n>(&self, name: &'n str) -> (&'n str, Option<&'n str>) {
        let swept =
            |base: &str| self.swept.as_ref().is_some_and(|swept| swept.place(base).is_some());
        if swept(name) {
            return (name, None);
        }
        let mut splits = name.rmatch_indices('/').map(|(at, _)| (&name[..at], &name[at + 1..]));
        let known = splits.find(|(base, _)| swept(base)).or_else(|| name.split_once('/'));
        known.map_or((name, None), |(base, part)| (base, Some(part)))
    }

    /// The sweep with the laws that are chosen.
    fn swept_laws(&self, choice: &Choice) -> Option<Result<Swept, Error>> {
        self.swept.as_ref().map(|swept| swept.of_laws(&choice.laws))
    }

    /// The error that no figure has this name; `parts` can follow what stands before its slash.
    fn unknown(&self, name: &str, parts: &[String]) -> Error {
        let known = match self.base_and_part(name) {
            (base, Some(_)) if !parts.is_empty() => {
                parts.iter().map(|part| format!("{base}/{part}")).collect()
            }
            _ => self.list().into_iter().map(|listed| listed.name).collect(),
        };
        Error::Unknown { what: "figure", name: name.into(), known }
    }
}

/// The figures with different names: where several figures of a paper draw the mean window, the
/// second `window-mean` is `window-mean#2`.
fn numbered(mut figures: Vec<Figure>) -> Vec<Figure> {
    for at in (0..figures.len()).rev() {
        let before = figures[..at].iter().filter(|one| one.name == figures[at].name).count();
        if before > 0 {
            figures[at].name += &format!("#{}", before + 1);
        }
    }
    figures
}

/// A figure that is none over time, and has no flows.
fn without_time(figure: Figure, choice: &Choice) -> Result<Figure, Error> {
    let wrong = |why: &str| Err(Error::Choice(format!("{} {why}", figure.name)));
    match choice {
        Choice { during: Some(_), .. } => wrong("is not drawn over time, so no time can be chosen"),
        Choice { flows, .. } if !flows.is_empty() => {
            wrong("has no lines of single flows, so none can be chosen")
        }
        _ => Ok(figure),
    }
}

/// Title of a plot in the list: what distinguishes it from other plots of its chart, and the link.
fn titled(timed: &Timed, plot: &PlotData) -> String {
    let of = timed.links().next().filter(|_| timed.is_of_link(plot));
    let title = match of {
        Some(link) => format!("{} of {link}", plot.title),
        None => plot.title.clone(),
    };
    if plot.detail.is_empty() { title } else { format!("{title}, {}", plot.detail) }
}
