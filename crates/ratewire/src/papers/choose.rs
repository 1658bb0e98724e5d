//! Finds papers and figures by their names.

use super::{Paper, PaperFigure};
use crate::Error;
use crate::results::error::unknown;

/// The papers named `PAPER` or `PAPER/FIGURE`, with all figures or only the named ones.
///
/// # Errors
/// An error if there is no such paper or figure, with the nearest name.
pub fn choose(mut known: Vec<Paper>, names: &[String]) -> Result<Vec<Paper>, Error> {
    let mut wanted: Vec<(usize, Option<&str>)> = Vec::new();
    for name in names {
        let (paper, figure) = match name.split_once('/') {
            Some((paper, figure)) => (paper, Some(figure).filter(|figure| !figure.is_empty())),
            None => (name.as_str(), None),
        };
        let Some(at) = known.iter().position(|one| one.name == paper) else {
            let names: Vec<&str> = known.iter().map(|paper| paper.name.as_str()).collect();
            return Err(Error::Papers(unknown("paper", paper, &names)));
        };
        if let Some(figure) = figure
            && !known[at].figures.iter().any(|one| one.is_called(figure))
        {
            let figures = &known[at].figures;
            let with_it =
                figures.iter().filter(|one| one.contains(figure)).map(PaperFigure::handle);
            let with_it: Vec<String> = with_it.collect();
            if !with_it.is_empty() {
                let with_it = with_it.join(" or ");
                let message = format!("{figure} of {paper} is run as a part of {with_it}");
                return Err(Error::Papers(message));
            }
            let handles: Vec<String> = figures.iter().map(PaperFigure::handle).collect();
            let handles: Vec<&str> = handles.iter().map(String::as_str).collect();
            let what = format!("figure of {paper}");
            return Err(Error::Papers(unknown(&what, figure, &handles)));
        }
        wanted.push((at, figure));
    }
    let mut at = 0;
    known.retain_mut(|paper| {
        let mine: Vec<Option<&str>> =
            wanted.iter().filter(|(of, _)| *of == at).map(|(_, figure)| *figure).collect();
        at += 1;
        if !mine.contains(&None) {
            paper.figures.retain(|one| mine.iter().flatten().any(|figure| one.is_called(figure)));
        }
        !mine.is_empty()
    });
    Ok(known)
}
