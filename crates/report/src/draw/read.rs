//! Reads the figures of a page.

use ratewire_units::names;
use serde::Deserialize;

use super::Figure;
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
        let mut figures = Figures { drawn: drawn.ok_or(Error::NoPage)?, ..Figures::default() };
        let data = html.split_once(DATA).filter(|_| html.starts_with("<!doctype html>"));
        if let Some((_, data)) = data {
            let value: serde_json::Value = after(data).ok_or(Error::NoPage)?;
            let is_sweep = value.get("cells").is_some();
            let wrong = |_| Error::NoPage;
            if is_sweep {
                figures.swept = Some(serde_json::from_value(value).map_err(wrong)?);
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

    /// The figure of a name: `throughput`; `queue`, or `queue/LINK` for a link that is not the
    /// first; of a sweep `utilisation`, or `utilisation/KEY` to draw it against that key.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is none.
    pub fn figure(&self, name: &str, panels: Panels) -> Result<Figure, Error> {
        if let Some(map) = self.swept.as_ref().and_then(|swept| swept.map(name.strip_prefix(MAP)?))
        {
            return Ok(map);
        }
        if let Some(drawn) = self.drawn.iter().find(|figure| figure.name == name) {
            return Ok(drawn.clone());
        }
        let (base, part) = match name.split_once('/') {
            Some((base, part)) => (base, Some(part)),
            None => (name, None),
        };
        let parts = self.parts(base);
        let place = match part {
            Some(part) => match names::find(part, parts.iter().map(String::as_str))[..] {
                [place] => Some(place),
                _ => None,
            },
            None => Some(0),
        };
        let found = place.and_then(|place| {
            let timed = self.timed.as_ref().and_then(|timed| {
                let plot = timed.plots().find(|plot| plot.name == base)?;
                timed.figure(plot, place, panels)
            });
            let swept = || {
                let swept = self.swept.as_ref()?;
                Some(swept.figure(swept.place(base)?, part.map(|_| place)))
            };
            timed.or_else(swept)
        });
        found.ok_or_else(|| {
            let with_part = |part: &String| format!("{base}/{part}");
            let known = match part {
                Some(_) if !parts.is_empty() => parts.iter().map(with_part).collect(),
                _ => self.list().into_iter().map(|listed| listed.name).collect(),
            };
            Error::Unknown { name: name.into(), known }
        })
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
