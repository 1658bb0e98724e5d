//! Paths that a run is given: those of `[[path]]`, and those that spread pairs over a fat tree.

use std::collections::BTreeMap;

use ratewire_net::spec::NodeId;

use crate::network::Net;

/// Paths by their ends.
pub(crate) type Paths = BTreeMap<(usize, usize), Vec<usize>>;

/// Paths through a fat tree for `pairs`, both ways. The receiver's number chooses among the equally
/// short ones, as the two-level routing tables of the fat tree do.
pub(crate) fn spread(net: &Net, pairs: &[(usize, usize)]) -> Paths {
    let mut paths = Paths::new();
    let Some(k) = net.spread else { return paths };
    for (a, b) in pairs {
        for ends in [(*a, *b), (*b, *a)] {
            if let Some(path) = through(net, k, ends) {
                paths.insert(ends, path);
            }
        }
    }
    paths
}

fn through(net: &Net, k: usize, (a, b): (usize, usize)) -> Option<Vec<usize>> {
    let number =
        |id: usize| net.nodes[id].name.strip_prefix('h')?.parse::<usize>().ok()?.checked_sub(1);
    let half = k / 2;
    let (from, to) = (number(a)?, number(b)?);
    let edge = |host: usize| host / half;
    if edge(from) == edge(to) {
        return None;
    }
    let pod = |host: usize| host / (half * half);
    let switch = |letter: char, pod: usize, i: usize| {
        net.find_node(&format!("{letter}{}.{}", pod + 1, i + 1))
    };
    let within = |host: usize| edge(host) % half;
    let up = to % half;
    let mut path = vec![a, switch('e', pod(from), within(from))?, switch('a', pod(from), up)?];
    if pod(from) != pod(to) {
        let core = up * half + within(to);
        path.push(net.find_node(&format!("c{}", core + 1))?);
        path.push(switch('a', pod(to), up)?);
    }
    path.push(switch('e', pod(to), within(to))?);
    path.push(b);
    Some(path)
}

/// All paths of a run; those of the scenario come before those that spread.
pub(crate) fn given(net: &Net, spread: Paths) -> Vec<Vec<NodeId>> {
    let mut all = spread;
    all.extend(net.paths.clone());
    all.into_values().map(|path| path.into_iter().map(|id| NodeId(id as u32)).collect()).collect()
}
