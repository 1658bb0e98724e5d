//! Pairs of nodes that two names or patterns describe: the ends of flows and of links.

use ratewire_net::spec::NodeSpec;

use super::{Net, matches};
use crate::context::Context;
use crate::document::At;

/// Nodes that a pattern may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    Hosts,
    Nodes,
}

impl Among {
    fn has(self, node: &NodeSpec) -> bool {
        self == Among::Nodes || node.is_host
    }

    fn noun(self) -> &'static str {
        match self {
            Among::Hosts => "host",
            Among::Nodes => "node",
        }
    }
}

impl Net {
    /// The pairs of nodes that two names or patterns match; notes an error if there are none.
    ///
    /// A pattern in one place makes a pair of each node that matches, other than the node in the
    /// other place. In two patterns the `*` stands for the same text.
    pub fn pairs(
        &self,
        context: &Context<'_>,
        from: At<&str>,
        to: At<&str>,
        among: Among,
    ) -> Vec<(usize, usize)> {
        if !from.value.contains('*') && !to.value.contains('*') {
            let ends = (self.expect_node(context, from), self.expect_node(context, to));
            return ends.0.zip(ends.1).into_iter().collect();
        }
        if !from.value.contains('*') {
            let Some(from) = self.expect_node(context, from) else { return Vec::new() };
            let found = self.matching(context, to, among);
            let others = self.without(context, from, found, to);
            return others.into_iter().map(|to| (from, to)).collect();
        }
        let senders = self.matching(context, from, among);
        if !to.value.contains('*') {
            let Some(to) = self.expect_node(context, to) else { return Vec::new() };
            let others = self.without(context, to, senders, from);
            return others.into_iter().map(|from| (from, to)).collect();
        }
        let mut pairs = Vec::new();
        for sender in senders {
            let stands_for = matches(from.value, &self.nodes[sender].name).unwrap_or("");
            let name = to.value.replacen('*', stands_for, 1);
            if let Some(receiver) = self.expect_node(context, At { value: &name, span: to.span }) {
                pairs.push((sender, receiver));
            }
        }
        pairs
    }

    /// The nodes whose names match; notes an error if there are none.
    fn matching(&self, context: &Context<'_>, pattern: At<&str>, among: Among) -> Vec<usize> {
        let nodes = || self.nodes.iter().enumerate().filter(|(_, node)| among.has(node));
        let found: Vec<usize> = nodes()
            .filter(|(_, node)| matches(pattern.value, &node.name).is_some())
            .map(|(id, _)| id)
            .collect();
        if found.is_empty() {
            let message = format!("no {}'s name matches {:?}", among.noun(), pattern.value);
            self.unknown(context, pattern, message, nodes().map(|(_, node)| node.name.as_str()));
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
        if found == [end] && !self.is_guess {
            let name = &self.nodes[end].name;
            let message = format!("{:?} is {name:?} alone, the other end", pattern.value);
            context.error(pattern.span, message).help("name two different nodes");
        }
        found.retain(|node| *node != end);
        found
    }
}
