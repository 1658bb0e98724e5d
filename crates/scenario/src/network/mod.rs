//! The network under construction: named nodes and links, with the properties given so far.

pub(crate) mod changes;
mod complete;
mod finish;
mod further;
pub(crate) mod outages;
mod pairs;
pub(crate) mod properties;
mod round_trips;
pub(crate) mod routes;
mod usual;

use std::collections::BTreeMap;

use ratewire_net::spec::NodeSpec;
use ratewire_units::{Duration, names};

use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::At;
use properties::{Cable, Properties};

pub(crate) use finish::{
    Rooms, finish, keep_to_hosts, warn_of_queues, warn_of_shapers, warn_of_sorting,
};
pub(crate) use further::further;
pub(crate) use pairs::Among;
pub(crate) use ratewire_units::names::matches;
pub(crate) use round_trips::RoundTrips;
pub(crate) use usual::Usual;

/// A one-way link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub properties: Properties,
    /// Whether the link takes the defaults of access links.
    pub access: bool,
    /// The link in the other direction.
    pub peer: Option<usize>,
    /// Place of the link's description.
    pub span: Span,
}

/// Nodes and links.
#[derive(Debug)]
pub(crate) struct Net {
    pub nodes: Vec<NodeSpec>,
    pub links: Vec<Link>,
    /// Whether the set of nodes is uncertain, because its description has errors.
    pub is_guess: bool,
    /// Place of the topology that lacks the `link` table with the properties of its links.
    pub without_table: Option<Span>,
    node_names: BTreeMap<String, usize>,
    link_names: BTreeMap<String, usize>,
    /// What may join nodes that no path joins, by a key of the topology.
    pub unreachable_help: Option<&'static str>,
    /// Pairs of nodes for traffic that names none.
    pub pairs: Vec<(usize, usize)>,
    /// Demands of a topology file, in bits per second.
    pub demands: Vec<(usize, usize, f64)>,
    /// Given paths as lists of nodes, by their ends.
    pub paths: BTreeMap<(usize, usize), Vec<usize>>,
    /// Properties of links that give none of their own.
    pub usual: Usual,
}

impl Net {
    /// A network without nodes.
    pub fn new(usual: Usual) -> Net {
        Net {
            nodes: Vec::new(),
            links: Vec::new(),
            is_guess: false,
            without_table: None,
            unreachable_help: None,
            node_names: BTreeMap::new(),
            link_names: BTreeMap::new(),
            pairs: Vec::new(),
            demands: Vec::new(),
            paths: BTreeMap::new(),
            usual,
        }
    }

    /// Adds a node; notes an error if its name is taken.
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

    /// Adds a one-way link; notes an error if its name is taken.
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

    /// Adds a link each way. Their names are `a->b` and `b->a`, or NAME and NAME.reverse.
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

    /// Adds a link each way, each with its own name.
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

    /// Propagation delay of a link.
    pub fn delay(&self, link: usize) -> Duration {
        self.links[link].properties.delay.map_or(Duration::ZERO, |delay| delay.value)
    }

    /// The node called `name`.
    pub fn find_node(&self, name: &str) -> Option<usize> {
        self.node_names.get(name).copied()
    }

    /// The node called `name`; notes an error if there is none.
    pub fn expect_node(&self, context: &Context<'_>, name: At<&str>) -> Option<usize> {
        let found = self.find_node(name.value);
        if found.is_none() {
            let message = format!("no node is called {:?}", name.value);
            self.unknown(context, name, message, self.nodes.iter().map(|node| node.name.as_str()));
        }
        found
    }

    /// Links whose names match; notes an error if there are none, or if a name is ambiguous.
    pub fn expect_links(&self, context: &Context<'_>, pattern: At<&str>) -> Vec<usize> {
        if let Some(id) = self.link_names.get(pattern.value) {
            return vec![*id];
        }
        let names = || self.links.iter().map(|link| link.name.as_str());
        let found = names::find(pattern.value, names());
        if found.is_empty() {
            let message = format!("no link is called {:?}", pattern.value);
            self.unknown(context, pattern, message, names());
        }
        let name = |id: usize| self.links[id].name.as_str();
        if refuse_ambiguous(context, pattern, &found, name) { Vec::new() } else { found }
    }

    /// The link that a name or pattern chooses; an error is noted unless it is one.
    pub fn expect_link(&self, context: &Context<'_>, pattern: At<&str>) -> Option<usize> {
        let found = self.expect_links(context, pattern);
        if found.len() > 1 {
            context
                .error(pattern.span, format!("{:?} matches {} links", pattern.value, found.len()))
                .help("name one link");
        }
        (found.len() == 1).then(|| found[0])
    }

    /// Notes that `name` is unknown, unless errors in the topology may be the cause.
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

/// Notes an error if a name without `*` may mean several; returns whether it may.
pub(crate) fn refuse_ambiguous<'n>(
    context: &Context<'_>,
    wanted: At<&str>,
    found: &[usize],
    name: impl Fn(usize) -> &'n str,
) -> bool {
    let is_ambiguous = found.len() > 1 && !wanted.value.contains('*');
    if is_ambiguous {
        let names: Vec<&str> = found.iter().map(|id| name(*id)).collect();
        context.error(wanted.span, names::ambiguous(wanted.value, &names)).help(names::WRITE_ARROW);
    }
    is_ambiguous
}
