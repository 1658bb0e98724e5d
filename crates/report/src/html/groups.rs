//! Colours. Each law has one colour, over several runs and among the flows of a run that mixes
//! laws. With a single law each flow has a tone of its own.

use crate::Run;
use crate::draw::{Look, looks};
use crate::headline::labels;

/// How colours are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Several runs: a colour a law, dashes among its flows.
    Runs,
    /// One run whose flows obey several laws: a colour a law, links in the colour of text.
    Mixed,
    /// One run, one law: a tone a flow, links in the colour of text.
    Flows,
}

/// A law as the legend has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    /// The law's own name.
    law: String,
    /// Number of runs of the same law before this one.
    repeat: usize,
    /// Number of the colour in the palette.
    pub(super) hue: usize,
    /// Dash of the line; 0 is a full line.
    pub(super) dash: usize,
    /// Marker on the line.
    pub(super) mark: usize,
}

pub(super) struct Groups {
    pub(super) mode: Mode,
    pub(super) list: Vec<Group>,
}

impl Groups {
    pub(super) fn of(runs: &[Run]) -> Groups {
        if let [run] = runs {
            let mut laws: Vec<&str> = Vec::new();
            for flow in &run.info.flows {
                if !flow.law.is_empty() && !laws.contains(&flow.law.as_str()) {
                    laws.push(&flow.law);
                }
            }
            if laws.len() > 1 {
                let list = laws.iter().map(|law| group(law, law, 0)).collect();
                return Groups { mode: Mode::Mixed, list }.coloured(&laws);
            }
            let law = run.info.law.as_str();
            let list = vec![group(&labels(runs)[0], law, 0)];
            return Groups { mode: Mode::Flows, list }.coloured(&[law]);
        }
        let mut laws: Vec<&str> = Vec::new();
        let mut list: Vec<Group> = Vec::new();
        for (run, label) in runs.iter().zip(labels(runs)) {
            let law = run.info.law.as_str();
            let repeat = list.iter().filter(|group| group.law == law).count();
            list.push(group(&label, law, repeat));
            if repeat == 0 {
                laws.push(law);
            }
        }
        Groups { mode: Mode::Runs, list }.coloured(&laws)
    }

    /// Gives each law its look among `laws`, all laws of the page, so that a law looks the same in
    /// all scenarios of a page.
    pub(super) fn coloured(mut self, laws: &[&str]) -> Groups {
        let looks = looks(laws.iter().copied());
        for group in &mut self.list {
            if let Some(place) = laws.iter().position(|law| *law == group.law) {
                let Look { hue, dash, mark } = looks[place];
                (group.hue, group.dash, group.mark) = (hue, dash + group.repeat, mark);
            }
        }
        self
    }

    /// The laws, each once.
    pub(super) fn laws(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|group| group.repeat == 0).map(|group| group.law.as_str())
    }

    /// The group of flow `flow` of run `run`.
    pub(super) fn of_flow(&self, runs: &[Run], run: usize, flow: u32) -> usize {
        if self.mode != Mode::Mixed {
            return run;
        }
        let law = runs[run].info.flows.get(flow as usize).map_or("", |f| f.law.as_str());
        self.list.iter().position(|g| g.name == law).unwrap_or(0)
    }

    /// The group that gives the run `run` as a whole its colour, if there is one.
    pub(super) fn of_run(&self, run: usize) -> Option<usize> {
        (self.mode == Mode::Runs).then_some(run)
    }

    /// The group of `law`, for completed flows, which know only their law.
    pub(super) fn of_law(&self, run: usize, law: &str) -> usize {
        match self.mode {
            Mode::Mixed => self.list.iter().position(|g| g.name == law).unwrap_or(0),
            _ => run,
        }
    }
}

/// A group, whose look is that of its law's place among others.
fn group(name: &str, law: &str, repeat: usize) -> Group {
    Group { name: name.into(), law: law.into(), repeat, hue: 0, dash: repeat, mark: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, FlowInfo, RunInfo, Summary};

    fn run(law: &str, flow_laws: &[&str]) -> Run {
        let flow = |law: &&str| FlowInfo { law: law.to_string(), ..FlowInfo::default() };
        let flows = flow_laws.iter().map(flow).collect();
        let info = RunInfo { law: law.into(), flows, ..RunInfo::default() };
        Run { collected: Collector::new(&info).finish(), summary: Summary::of(&info), info }
    }

    #[test]
    fn a_colour_a_law_whatever_else() {
        let groups = Groups::of(&[run("xcp", &[]), run("cubic", &[]), run("xcp", &[])]);
        assert_eq!(groups.mode, Mode::Runs);
        let hues: Vec<_> = groups.list.iter().map(|g| (g.hue, g.dash)).collect();
        assert_eq!(hues, [(0, 0), (10, 0), (0, 1)]);
        let other = Groups::of(&[run("maxnet", &[]), run("cubic", &[])]);
        assert_eq!(other.list[1].hue, 10, "whatever other laws are on the page");
    }

    #[test]
    fn one_run_of_several_laws() {
        let runs = [run("xcp", &["xcp", "cubic", "xcp"])];
        let groups = Groups::of(&runs);
        assert_eq!((groups.mode, groups.list.len()), (Mode::Mixed, 2));
        assert_eq!(groups.of_flow(&runs, 0, 1), 1);
        assert_eq!(groups.of_run(0), None);
    }

    #[test]
    fn one_law_leaves_the_colours_to_flows() {
        let groups = Groups::of(&[run("xcp", &["xcp", "xcp"])]);
        assert_eq!((groups.mode, groups.list.len()), (Mode::Flows, 1));
    }
}
