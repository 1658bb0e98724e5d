//! Flows and arriving traffic: their ends, data and times.

pub(crate) mod arriving;
pub(crate) mod flows;
mod listed;
mod load;
pub(crate) mod programs;
mod sizes;
pub(crate) mod starts;

pub use load::Load;

use std::collections::BTreeMap;

use ratewire_sim::setup::ProgramSpec;
use ratewire_transport::TransportConfig;
use ratewire_units::Duration;

use crate::context::Context;
use crate::diagnostic::Span;
use crate::laws::LawBook;
use crate::network::routes::Routes;
use crate::network::{Net, matches};
use crate::section::At;
use crate::uses::Uses;
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
        Some((message, format!("the {why} of this traffic cannot arrive; add a [[link]]")))
    }

    /// The pairs of nodes that two names or patterns match; notes an error if there are none.
    fn pairs(&self, context: &Context<'_>, from: At<&str>, to: At<&str>) -> Vec<(usize, usize)> {
        let net = self.net;
        if !from.value.contains('*') && !to.value.contains('*') {
            let ends = (net.expect_node(context, from), net.expect_node(context, to));
            return ends.0.zip(ends.1).into_iter().collect();
        }
        if !from.value.contains('*') {
            let Some(from) = net.expect_node(context, from) else { return Vec::new() };
            let found = self.hosts(context, to);
            let others = self.without(context, from, found, to);
            return others.into_iter().map(|to| (from, to)).collect();
        }
        let senders = self.hosts(context, from);
        if !to.value.contains('*') {
            let Some(to) = net.expect_node(context, to) else { return Vec::new() };
            let others = self.without(context, to, senders, from);
            return others.into_iter().map(|from| (from, to)).collect();
        }
        let mut pairs = Vec::new();
        for sender in senders {
            let stands_for = matches(from.value, &net.nodes[sender].name).unwrap_or("");
            let name = to.value.replacen('*', stands_for, 1);
            if let Some(receiver) = net.expect_node(context, At { value: &name, span: to.span }) {
                pairs.push((sender, receiver));
            }
        }
        pairs
    }

    /// The hosts whose names match; notes an error if there are none.
    fn hosts(&self, context: &Context<'_>, pattern: At<&str>) -> Vec<usize> {
        let nodes = self.net.nodes.iter().enumerate().filter(|(_, node)| node.is_host);
        let found: Vec<usize> = nodes
            .filter(|(_, node)| matches(pattern.value, &node.name).is_some())
            .map(|(id, _)| id)
            .collect();
        if found.is_empty() {
            let message = format!("no host's name matches {:?}", pattern.value);
            let known = self.net.nodes.iter().filter(|n| n.is_host).map(|n| n.name.as_str());
            self.net.unknown(context, pattern, message, known);
        }
        found
    }

    /// The nodes in `found` other than `end`; notes an error if `end` is the only one.
    fn without(
        &self,
        context: &Context<'_>,
        end: usize,
        mut found: Vec<usize>,
        pattern: At<&str>,
    ) -> Vec<usize> {
        if found == [end] && !self.net.is_guess {
            let name = &self.net.nodes[end].name;
            let message = format!("{:?} is {name:?} alone, the other end", pattern.value);
            context.error(pattern.span, message).help("name two different nodes");
        }
        found.retain(|node| *node != end);
        found
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
