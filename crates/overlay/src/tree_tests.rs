use proptest::prelude::*;

use super::*;

fn link(from: u8, to: u8, ms: u64) -> EdgeSpec {
    EdgeSpec { from: OverlayNodeId(from), to: OverlayNodeId(to), delay: Duration::from_millis(ms) }
}

fn both(from: u8, to: u8, ms: u64) -> [EdgeSpec; 2] {
    [link(from, to, ms), link(to, from, ms)]
}

fn set(nodes: &[u8]) -> NodeSet {
    nodes.iter().map(|node| OverlayNodeId(*node)).collect()
}

/// The paper's figure 3: A-B, B-C, B-D, D-E, D-F, as nodes 0 to 5.
fn figure_3() -> Trees {
    let cables = [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)];
    let links: Vec<EdgeSpec> = cables.iter().flat_map(|(a, b)| both(*a, *b, 10)).collect();
    Trees::new(6, &links).unwrap()
}

#[test]
fn the_two_groups_of_figure_3_share_what_the_paper_says_they_share() {
    let trees = figure_3();
    let ends = |to: &[u8]| {
        let links = trees.crossed(OverlayNodeId(0), &set(to));
        links.iter().map(|id| trees.links[id.index()]).map(|l| (l.from.0, l.to.0)).collect()
    };
    let ace: Vec<(u8, u8)> = ends(&[2, 4]);
    assert_eq!(ace, [(0, 1), (1, 2), (1, 3), (3, 4)]);
    let aef: Vec<(u8, u8)> = ends(&[4, 5]);
    assert_eq!(aef, [(0, 1), (1, 3), (3, 4), (3, 5)]);
}

#[test]
fn the_shorter_way_is_taken_and_then_the_one_with_fewer_links() {
    let ring: Vec<EdgeSpec> = [both(0, 1, 10), both(1, 2, 10), both(0, 2, 20)].concat();
    let trees = Trees::new(3, &ring).unwrap();
    assert_eq!(trees.crossed(OverlayNodeId(0), &set(&[2])), [EdgeId(4)]);
    let longer: Vec<EdgeSpec> = [both(0, 1, 10), both(1, 2, 10), both(0, 2, 21)].concat();
    let trees = Trees::new(3, &longer).unwrap();
    assert_eq!(trees.crossed(OverlayNodeId(0), &set(&[2])), [EdgeId(0), EdgeId(2)]);
}

#[test]
fn an_island_is_refused() {
    let one_way = [link(0, 1, 1)];
    assert_eq!(
        Trees::new(2, &one_way).unwrap_err(),
        Unreachable(OverlayNodeId(1), OverlayNodeId(0))
    );
}

proptest! {
    /// Down its origin's tree a message reaches each node once, and its destinations at least.
    #[test]
    fn a_message_reaches_its_destinations_once(
        spine in prop::collection::vec((any::<u8>(), 0u64..50), 1..20),
        chords in prop::collection::vec((any::<u8>(), any::<u8>(), 0u64..50), 0..20),
        origin in any::<u8>(),
        wanted in any::<u32>(),
    ) {
        let nodes = spine.len() as u8 + 1;
        let mut links = Vec::new();
        for (i, (to, ms)) in spine.iter().enumerate() {
            links.extend(both(i as u8 + 1, to % (i as u8 + 1), *ms));
        }
        for (a, b, ms) in chords {
            if a % nodes != b % nodes {
                links.extend(both(a % nodes, b % nodes, ms));
            }
        }
        let trees = Trees::new(usize::from(nodes), &links).unwrap();
        let origin = OverlayNodeId(origin % nodes);
        let to: NodeSet = (0..nodes).filter(|n| wanted >> n & 1 == 1).map(OverlayNodeId).collect();
        let mut visited = vec![0; usize::from(nodes)];
        let mut open = vec![origin];
        while let Some(node) = open.pop() {
            visited[node.index()] += 1;
            open.extend(trees.down(origin, node, &to).map(|l| trees.links[l.index()].to));
        }
        prop_assert!(visited.iter().all(|times| *times <= 1));
        for node in (0..nodes).map(OverlayNodeId).filter(|node| to.contains(*node)) {
            prop_assert!(node == origin || visited[node.index()] == 1);
        }
        // No branch ends at a node that is no destination.
        for node in (0..nodes).map(OverlayNodeId).filter(|node| visited[node.index()] == 1) {
            let ends = trees.down(origin, node, &to).next().is_none();
            prop_assert!(node == origin || !ends || to.contains(node));
        }
    }
}
