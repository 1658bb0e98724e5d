//! Lines of figures over time: which there are, what they are called, and how they look.

use std::collections::BTreeMap;

use super::{Line, Mode, PlotData, Source, Timed};
use crate::draw::choice::{Choice, Names, places, places_of_laws};
use crate::draw::request::Error;
use crate::draw::{FigureSeries, Look};

impl Timed {
    /// The flows, links and the like that have what the plot draws, each with its place in its law.
    pub(super) fn lines(&self, plot: &PlotData, link: usize) -> Vec<(usize, &Line)> {
        let all: &[Line] = match plot.of {
            Source::Flow => &self.flows,
            Source::All => &self.totals,
            Source::Overlay => &self.overlay,
            Source::Link => self.links.get(link).map_or(&[], |link| &link.runs),
        };
        let mut places: BTreeMap<i64, usize> = BTreeMap::new();
        let mut lines = Vec::new();
        for line in all {
            let has_all = plot.draws.iter().all(|drawn| line.values(&drawn.key).is_some());
            // Flows keep their places whether or not a plot has them.
            if plot.of == Source::Flow || has_all {
                let place = places.entry(line.g).or_default();
                if has_all {
                    lines.push((*place, line));
                }
                *place += 1;
            }
        }
        lines
    }

    /// Name of a line's law; empty if the page has a single law.
    pub(super) fn law(&self, line: &Line) -> &str {
        let group = usize::try_from(line.g).ok().and_then(|g| self.groups.get(g));
        group.filter(|_| self.mode != Mode::Flows).map_or("", |group| &group.name)
    }

    /// Name of a line where nothing else shows it.
    pub(super) fn name(&self, plot: &PlotData, line: &Line, names: Names<'_>) -> String {
        let law = self.law(line);
        // All flows of a law are what the law stands for.
        let own = if plot.of == Source::All && !law.is_empty() { "" } else { &line.name };
        let full = [law, own].join(" ").trim().to_string();
        if let Some(new) = names.new_of(&full) {
            return new.to_string();
        }
        if !full.is_empty() {
            return [names.of(law), names.of(own)].join(" ").trim().to_string();
        }
        let alone = self.groups.first().filter(|_| self.mode == Mode::Flows);
        names.of(alone.map_or("all laws", |group| &group.name)).to_string()
    }

    /// The new names of lines.
    ///
    /// # Errors
    /// [`Error::Unknown`] if neither a law nor a line of the plot has an old name.
    pub(super) fn names<'a>(
        &self,
        plot: &PlotData,
        link: usize,
        choice: &'a Choice,
    ) -> Result<Names<'a>, Error> {
        let mut known: Vec<String> = self.groups.iter().map(|group| group.name.clone()).collect();
        for (_, line) in self.lines(plot, link) {
            for name in [line.name.clone(), self.name(plot, line, Names(&[]))] {
                if !name.is_empty() && !known.contains(&name) {
                    known.push(name);
                }
            }
        }
        let names = Names(&choice.names);
        names.check(&known.iter().map(String::as_str).collect::<Vec<_>>()).map(|()| names)
    }

    /// The lines of the laws and flows that are chosen, in their order.
    pub(super) fn chosen(
        &self,
        plot: &PlotData,
        link: usize,
        choice: &Choice,
    ) -> Result<Vec<(usize, &Line)>, Error> {
        let mut lines = self.lines(plot, link);
        let wrong = |why: &str| Err(Error::Choice(format!("{} {why}", plot.name)));
        if !choice.laws.is_empty() {
            let labels: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
            let laws = places_of_laws(&choice.laws, &labels)?;
            if self.mode == Mode::Mixed && lines.iter().all(|(_, line)| line.g < 0) {
                return wrong("is of all laws together, so none can be chosen");
            }
            // With a single law, lines that are of no flow have no law of their own.
            let place = |line: &Line| match usize::try_from(line.g) {
                Ok(g) => laws.iter().position(|law| *law == g),
                Err(_) => Some(0),
            };
            lines.retain(|(_, line)| place(line).is_some());
            lines.sort_by_key(|(_, line)| place(line));
        }
        if !choice.flows.is_empty() {
            if !matches!(plot.of, Source::Flow | Source::Overlay) {
                return wrong("has no lines of single flows, so none can be chosen");
            }
            let mut flows: Vec<&str> = Vec::new();
            for (_, line) in &lines {
                if !flows.contains(&line.name.as_str()) {
                    flows.push(&line.name);
                }
            }
            let chosen = places("flow", &choice.flows, &flows)?;
            let place = |line: &Line| chosen.iter().position(|at| flows[*at] == line.name);
            lines.retain(|(_, line)| place(line).is_some());
            // Flows of a law stay together.
            let mut laws: Vec<i64> = Vec::new();
            for (_, line) in &lines {
                if !laws.contains(&line.g) {
                    laws.push(line.g);
                }
            }
            let law = |line: &Line| laws.iter().position(|law| *law == line.g);
            lines.sort_by_key(|(_, line)| (law(line), place(line)));
        }
        Ok(lines)
    }

    /// Colour, dash and marker of a line. A law keeps its own in all figures; flows have tones of
    /// their own where no line stands for a law.
    pub(super) fn look(
        &self,
        plot: &PlotData,
        line: &Line,
        nth: usize,
        by_law: bool,
    ) -> FigureSeries {
        let Look { hue, dash, mark } = Look::of_flow(nth);
        let own =
            FigureSeries { g: line.g, hue: hue as i64, dash, mark, ..FigureSeries::default() };
        let group = usize::try_from(line.g).ok().and_then(|g| self.groups.get(g));
        match (plot.of, group) {
            (Source::Overlay, _) => own,
            (Source::Flow, _) if by_law || self.mode == Mode::Flows => own,
            (of, Some(group)) => FigureSeries {
                g: line.g,
                hue: group.hue as i64,
                dash: if of == Source::Flow { group.dash + nth } else { group.dash } % 4,
                mark: group.mark,
                ..FigureSeries::default()
            },
            (_, None) => FigureSeries { g: line.g, hue: -1, ..FigureSeries::default() },
        }
    }
}
