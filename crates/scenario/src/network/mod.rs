//! The network while it is being put together: nodes and links by name, links with properties as
//! far as they have been said.

pub(crate) mod changes;
mod finish;
mod further;
pub(crate) mod properties;
mod queue;
pub(crate) mod routes;

use std::collections::BTreeMap;

use ratewire_net::spec::NodeSpec;
use ratewire_units::Duration;

use crate::context::Context;
use crate::diagnostic::Span;
use crate::section::At;
use properties::{Cable, Properties};

pub(crate) use finish::{RoundTrips, finish};
pub(crate) use further::further;

/// A one-way link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub properties: Properties,
    /// Whether it takes the defaults of access links.
    pub access: bool,
    /// The link in the other direction.
    pub peer: Option<usize>,
    /// Where it was described.
    pub span: Span,
}

/// Nodes and links.
#[derive(Debug, Default)]
pub(crate) struct Net {
    pub nodes: Vec<NodeSpec>,
    pub links: Vec<Link>,
    /// Whether nodes are missing, or too many, because what says how many there are is wrong.
    pub is_guess: bool,
    /// Where a table `link` may stand that would say what the links described there are like, and does not.
    pub without_table: Option<Span>,
    node_names: BTreeMap<String, usize>,
    link_names: BTreeMap<String, usize>,
    /// Between whom traffic goes when a scenario does not say.
    pub pairs: Vec<(usize, usize)>,
    /// Demands of a topology file, in bits per second.
    pub demands: Vec<(usize, usize, f64)>,
    /// Given paths, as nodes.
    pub paths: BTreeMap<(usize, usize), Vec<usize>>,
}

impl Net {
    /// Adds a node; an error if its name is taken.
    pub fn node(
        &mut self,
        context: &Context<'_>,
        name: String,
        is_host: bool,
        position: Option<(f64, f64)>,
        span: Span,
    ) -> usize {
        let id = self.nodes.len();
        if self.node_names.contains_key(&name) {
            context
                .error(span, format!("two nodes are called {name:?}"))
                .help("give one of them another name");
        } else {
            self.node_names.insert(name.clone(), id);
        }
        self.nodes.push(NodeSpec { name, is_host, position });
        id
    }

    /// Adds a one-way link; an error if its name is taken.
    pub fn link(&mut self, context: &Context<'_>, link: Link) -> usize {
        let id = self.links.len();
        if self.link_names.contains_key(&link.name) {
            context
                .error(link.span, format!("two links are called {:?}", link.name))
                .help("give one of them a `name`");
        } else {
            self.link_names.insert(link.name.clone(), id);
        }
        self.links.push(link);
        id
    }

    /// Adds a link each way. Without a name they are called `a->b` and `b->a`, else NAME and
    /// NAME.reverse.
    pub fn cable(
        &mut self,
        context: &Context<'_>,
        name: Option<&str>,
        (a, b): (usize, usize),
        cable: &Cable,
        access: bool,
        span: Span,
    ) {
        let arrow =
            |from: usize, to: usize| format!("{}->{}", self.nodes[from].name, self.nodes[to].name);
        let (there, back) = match name {
            Some(name) => (name.to_string(), format!("{name}.reverse")),
            None => (arrow(a, b), arrow(b, a)),
        };
        let first = self.links.len();
        let (one, two) = (cable.forward.clone(), cable.backward.clone());
        let peer = Some(first + 1);
        self.link(
            context,
            Link { name: there, from: a, to: b, properties: one, access, peer, span },
        );
        let peer = Some(first);
        self.link(
            context,
            Link { name: back, from: b, to: a, properties: two, access, peer, span },
        );
    }

    /// Adds a link each way, each with a name of its own.
    pub fn arrows(
        &mut self,
        context: &Context<'_>,
        (there, back): (&str, &str),
        (a, b): (usize, usize),
        cable: &At<Cable>,
    ) {
        let first = self.links.len();
        let one_way = |name: &str, from, to, properties: &Properties, peer| Link {
            name: name.to_string(),
            from,
            to,
            properties: properties.clone(),
            access: false,
            peer: Some(peer),
            span: cable.span,
        };
        self.link(context, one_way(there, a, b, &cable.value.forward, first + 1));
        self.link(context, one_way(back, b, a, &cable.value.backward, first));
    }

    /// The propagation delay of a link.
    pub fn delay(&self, link: usize) -> Duration {
        self.links[link].properties.delay.map_or(Duration::ZERO, |delay| delay.value)
    }

    /// The node called `name`.
    pub fn find_node(&self, name: &str) -> Option<usize> {
        self.node_names.get(name).copied()
    }

    /// The node called `name`, or an error.
    pub fn expect_node(&self, context: &Context<'_>, name: At<&str>) -> Option<usize> {
        let found = self.find_node(name.value);
        if found.is_none() {
            let message = format!("no node is called {:?}", name.value);
            self.unknown(context, name, message, self.nodes.iter().map(|node| node.name.as_str()));
        }
        found
    }

    /// The links whose names match, or an error.
    pub fn expect_links(&self, context: &Context<'_>, pattern: At<&str>) -> Vec<usize> {
        if let Some(id) = self.link_names.get(pattern.value) {
            return vec![*id];
        }
        let matching = self.links.iter().enumerate();
        let found: Vec<usize> = matching
            .filter(|(_, link)| matches(pattern.value, &link.name).is_some())
            .map(|(id, _)| id)
            .collect();
        if found.is_empty() {
            let message = format!("no link is called {:?}", pattern.value);
            let known = self.links.iter().map(|link| link.name.as_str());
            self.unknown(context, pattern, message, known);
        }
        found
    }

    /// Notes that `name` is none of `known`, unless it may be only for want of a right topology.
    pub fn unknown<'n>(
        &self,
        context: &Context<'_>,
        name: At<&str>,
        message: String,
        known: impl Iterator<Item = &'n str>,
    ) {
        if !self.is_guess {
            context.unknown(name.span, message, name.value, known);
        }
    }
}

/// Whether `name` matches a pattern with at most one `*`; gives what the `*` stands for, which is
/// empty where there is none.
pub(crate) fn matches<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    match pattern.split_once('*') {
        None => (pattern == name).then_some(""),
        Some((before, after)) => name.strip_prefix(before)?.strip_suffix(after),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text() {
        assert_eq!(matches("s*", "s12"), Some("12"));
        assert_eq!(matches("s*", "d12"), None);
        assert_eq!(matches("*->r1", "s1->r1"), Some("s1"));
        assert_eq!(matches("ab*ba", "aba"), None);
        assert_eq!(matches("s1", "s1"), Some(""));
        assert_eq!(matches("s1", "s11"), None);
    }
}
