//! Flows and arriving traffic: their ends, data and times.

pub(crate) mod apps;
pub(crate) mod arriving;
mod between;
pub(crate) mod flows;
mod listed;
mod load;
pub(crate) mod programs;
mod sizes;
pub(crate) mod starts;

pub use load::Load;

use std::collections::{BTreeMap, BTreeSet};

use ratewire_sim::setup::ProgramSpec;
use ratewire_transport::TransportConfig;
use ratewire_units::Duration;

use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::At;
use crate::laws::LawBook;
use crate::laws::Uses;
use crate::network::routes::Routes;
use crate::network::{Among, Net, matches};
use crate::section::Section;
use starts::RandomStart;

/// State needed to read flows and traffic.
pub(crate) struct Senders<'a> {
    pub net: &'a Net,
    pub routes: Routes<'a>,
    pub laws: &'a LawBook,
    /// Laws that the scenario itself runs.
    pub defaults: &'a [String],
    pub uses: Uses,
    pub transport: &'a TransportConfig,
    pub duration: Duration,
    /// Flows that start at a random time.
    pub starts: Vec<RandomStart>,
    /// Programs that send the data of flows.
    pub programs: Vec<ProgramSpec>,
    /// Names that flows and classes of traffic have taken.
    pub names: BTreeMap<String, Span>,
    /// Number of unnamed flows between two nodes.
    pub arrows: BTreeMap<(usize, usize), usize>,
}

impl Senders<'_> {
    /// Notes an error if there is no route from one node to the other, or back.
    pub(crate) fn check_route(&mut self, context: &Context<'_>, pair: (usize, usize), span: Span) {
        if let Some((message, help)) = self.no_route(pair) {
            context.error(span, message).help(help);
        }
    }

    /// Message and help if there is no route in one of the two directions.
    fn no_route(&mut self, (a, b): (usize, usize)) -> Option<(String, String)> {
        if self.net.is_guess {
            return None;
        }
        let mut ways = [(a, b), (b, a)].into_iter();
        let (from, to) = ways.find(|(from, to)| self.routes.shares(*from, *to).is_none())?;
        let name = |id: usize| &self.net.nodes[id].name;
        let why = if from == a { "data" } else { "acknowledgements" };
        let message = format!("no path leads from {:?} to {:?}", name(from), name(to));
        let key = self.net.unreachable_help.map_or(String::new(), |key| format!(", or {key}"));
        Some((message, format!("the {why} of this traffic cannot arrive; add a [[link]]{key}")))
    }

    /// The pairs of hosts that two names or patterns match; notes an error if there are none.
    fn pairs(&self, context: &Context<'_>, from: At<&str>, to: At<&str>) -> Vec<(usize, usize)> {
        self.net.pairs(context, from, to, Among::Hosts)
    }

    /// Leaves out pairs with an end that `except` names; notes an error for a name that no end has,
    /// and if no pair is left.
    fn without_exceptions<T>(
        &self,
        section: &Section<'_>,
        pairs: Vec<T>,
        ends: impl Fn(&T) -> (usize, usize),
    ) -> Vec<T> {
        let (Some(except), context) = (section.names("except"), section.context) else {
            return pairs;
        };
        // Without pairs there is an error that says more.
        if pairs.is_empty() {
            return pairs;
        }
        let net = self.net;
        let has_end = |pair: &T, wanted: &At<&str>| {
            let (a, b) = ends(pair);
            [a, b].iter().any(|end| matches(wanted.value, &net.nodes[*end].name).is_some())
        };
        for wanted in &except {
            if !pairs.iter().any(|pair| has_end(pair, wanted)) {
                let all: BTreeSet<usize> =
                    pairs.iter().map(&ends).flat_map(<[usize; 2]>::from).collect();
                let known = all.iter().map(|end| net.nodes[*end].name.as_str());
                let message = format!("no end of {} is called {:?}", section.title, wanted.value);
                net.unknown(context, *wanted, message, known);
            }
        }
        let is_left = |pair: &T| !except.iter().any(|wanted| has_end(pair, wanted));
        let left: Vec<T> = pairs.into_iter().filter(is_left).collect();
        if let (Some(entry), true, false) = (section.get("except"), left.is_empty(), net.is_guess) {
            context
                .error(entry.item.span, format!("`except` leaves nothing of {}", section.title))
                .help("an exception leaves out the pairs of nodes with an end of this name: name fewer");
        }
        left
    }

    /// Takes a name; notes an error if it is taken.
    pub(crate) fn take_name(&mut self, context: &Context<'_>, name: &str, span: Span) {
        if self.names.insert(name.to_string(), span).is_some() {
            context
                .error(span, format!("two flows or classes of traffic are called {name:?}"))
                .help("give one of them another `name`");
        }
    }
}
