//! Turns the document into everything that a run needs, part by part.

use std::collections::BTreeMap;

use ratewire_net::spec::{Change, LinkId, NetworkSpec, NodeId, PortClocks};
use ratewire_sim::setup::{FlowSpec, Follow, Multipath, Setup, TrafficSpec};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::context::Context;
use crate::diagnostic::{Span, and_more};
use crate::document::{Entry, Item, Value};
use crate::expect::{self, Expectation, Named};
use crate::laws::{LawBook, Uses};
use crate::network::outages::RandomOutages;
use crate::network::properties::Reading;
use crate::network::routes::Routes;
use crate::network::{self, Net, Rooms, RoundTrips, Usual, changes, outages};
use crate::section::Section;
use crate::traffic::starts::RandomStart;
use crate::traffic::{Load, Senders, arriving, flows, programs};
use crate::{ensemble, overlay, record, topology, transport, window};

/// Results of reading, beside the fields that a scenario gets from its text.
pub(crate) struct Parts {
    pub name: String,
    pub description: Option<String>,
    pub duration: Duration,
    pub seed: u64,
    pub expectations: Vec<Expectation>,
    pub bottleneck: Option<LinkId>,
    pub slowest: Vec<LinkId>,
    pub rates_at: Option<LinkId>,
    pub loads: Vec<Option<Load>>,
    pub laws: Vec<String>,
    pub book: LawBook,
    pub uses: Uses,
    pub starts: Vec<RandomStart>,
    pub outages: Vec<RandomOutages>,
    pub template: Setup,
}

/// Reads the whole document; `None` if it is not a table.
pub(crate) fn lower(context: &Context<'_>, root: &Item) -> Option<Parts> {
    let Value::Table(table) = &root.value else { return None };
    let section = Section::new(context, &[""], "the scenario", root.span, table);
    let parts = read(&section);
    section.finish();
    Some(parts)
}

fn multipath(root: &Section<'_>, entry: &Entry) -> Option<Multipath> {
    match &entry.item.value {
        Value::Text(text) if text == "flow" => Some(Multipath::Flow),
        Value::Text(text) if text == "packet" => Some(Multipath::Packet),
        Value::Table(table) => {
            let title = "`multipath`";
            let s = Section::new(root.context, &["multipath"], title, entry.key_span, table);
            let pause = s.time("flowlet");
            s.finish();
            pause.map(|pause| Multipath::Flowlet(pause.value))
        }
        _ => {
            root.refuse("multipath", &entry.item);
            None
        }
    }
}

fn read(root: &Section<'_>) -> Parts {
    let context = root.context;
    let name = root.text("name").map(|at| at.value.to_string());
    let description = root.text("description").map(|at| at.value.to_string());
    let given = duration(root);
    // Without a duration no time is beyond the end. State for the whole run is then made for 1 s.
    let (duration, end) = (given.unwrap_or(Duration::from_secs(1)), given.unwrap_or(LONGEST));
    let seed = root.count_or("seed");
    let exact_wire = root.word_or("wire") == "exact";
    let book = LawBook::read(root);
    let laws = laws(root, &book);
    let port_clocks = match root.word_or("port_clocks") {
        "equal" => PortClocks::Equal,
        _ => PortClocks::Random,
    };
    let multipath = root.or_default("multipath", |entry| multipath(root, entry));
    let usual = transport::usual(context);
    let transport = match root.section("transport") {
        Some(section) => transport::read(&section, &usual),
        None => usual,
    };
    let mut net = Net::new(Usual::read(context, transport.packet));
    let reading = Reading { laws: &book, packet: transport.packet };
    let before = context.errors();
    match root.section("topology") {
        Some(section) => topology::build(&mut net, &section, &reading),
        None => net.is_guess = true,
    }
    network::further(&mut net, root, &reading);
    if net.nodes.is_empty() {
        // Other tables may have errors too.
        net.is_guess = true;
        if context.errors() == before {
            context
                .error(root.span, "the network has no nodes")
                .help("a custom topology is what [[node]] and [[link]] describe");
        }
    }
    context.guesses_network.set(net.is_guess);
    net.complete(context);
    let mut senders = Senders {
        net: &net,
        routes: Routes::new(&net),
        laws: &book,
        defaults: &laws,
        uses: Uses::default(),
        transport: &transport,
        duration: end,
        starts: Vec::new(),
        programs: Vec::new(),
        names: BTreeMap::new(),
        arrows: BTreeMap::new(),
    };
    let before = context.errors();
    let mut flows = flows::read(root, &mut senders);
    let (traffic, loads) = arriving::read(root, &mut senders);
    let overlay = overlay::read(root, &mut senders, &mut flows);
    let ensembles = ensemble::read(root, &mut senders, &mut flows);
    let incomplete = net.is_guess || context.errors() > before;
    let mut programs = programs::read(root, &senders);
    let Senders { mut routes, mut uses, programs: of_flows, starts, .. } = senders;
    programs.extend(of_flows);
    let trips = RoundTrips::new(&net, &mut routes, pairs(&flows, &traffic));
    warn_of_short_run(root, &trips, end);
    let own = flows.iter().map(|f| &f.transport).chain(traffic.iter().map(|t| &t.transport));
    let largest = own.map(|own| own.packet).fold(transport.packet, Bytes::max);
    let rooms = Rooms { context, net: &net, trips: &trips, packet: transport.packet };
    let mut finished = network::finish(&rooms, &mut uses, largest, duration);
    let talking = pairs(&flows, &traffic);
    network::warn_of_queues(context, &net, &ensembles);
    let ends = talking.iter().flat_map(|(from, to)| [*from, *to]);
    let senders = ends.chain(programs.iter().map(|program| program.host.index()));
    network::keep_to_hosts(context, &net, senders, &mut finished.network);
    network::warn_of_sorting(context, &net, &finished.network);
    let mut all_changes = finished.changes;
    let outages = outages::read(context, &net, duration);
    all_changes.extend(changes::read(root, &rooms, duration, end));
    network::warn_of_shapers(context, &net, &finished.network, &all_changes);
    warn_of_rate_zero(context, &net, &mut routes, &talking, &all_changes, end);
    let named = Named {
        net: &net,
        flows: &flows,
        ensembles: &ensembles,
        traffic: &traffic,
        overlay: overlay.as_deref(),
        laws: &book,
        duration: end,
        another_duration: root.get("duration").is_some_and(|entry| entry.item.span.is_set()),
        incomplete,
    };
    let (expectations, mut edges) = expect::read(root, &named);
    let measured = window::measured(root, end, overlay.is_some(), &mut edges);
    let record = record::read(root, &net, duration, &edges);
    if context.errors() == 0 {
        check_laws(root, &uses, &book, &laws);
    }
    let bottleneck = net.links.iter().position(|link| link.name == "bottleneck");
    let slowest = slowest(&net, &mut routes, &talking);
    // Millions of flows may arrive; only their completions are recorded.
    let sampled_flows = flows.len() as u32;
    let watched = expectations.iter().flat_map(Expectation::watched);
    let template = Setup {
        duration,
        seed,
        laws: Vec::new(),
        told_laws: Vec::new(),
        network: NetworkSpec { port_clocks, ..finished.network },
        paths: given_paths(&net),
        multipath,
        flows,
        weights: Vec::new(),
        traffic,
        ensembles,
        changes: all_changes,
        exact_wire,
        sample_interval: Some(record.interval),
        measured,
        ideal: record.ideal,
        sampled_flows,
        sampled_links: None,
        captured_links: Vec::new(),
        watched_links: watched.chain(record.rates_at).collect(),
        follow: Follow { in_turn: true, asked: None },
        overlay,
        programs,
        has_random_starts: false,
        has_random_outages: false,
    };
    Parts {
        name: name.unwrap_or_else(|| context.stem()),
        description,
        duration,
        seed,
        expectations,
        bottleneck: bottleneck.map(|id| LinkId(id as u32)),
        slowest,
        rates_at: record.rates_at,
        loads,
        laws,
        book,
        uses,
        starts,
        outages,
        template,
    }
}

/// Longest run: half of the largest instant, because timers reach beyond the end.
const LONGEST: Duration = Duration::from_ps(u64::MAX / 2);

/// The duration; `None` if it has an error.
fn duration(root: &Section<'_>) -> Option<Duration> {
    let at = root.time("duration")?;
    if at.value.is_zero() || at.value > LONGEST {
        root.context
            .error(at.span, format!("a run cannot take {}", at.value))
            .help("allowed: above 0, up to 2500 h");
        return None;
    }
    Some(at.value)
}

fn laws(root: &Section<'_>, book: &LawBook) -> Vec<String> {
    let names = root.texts("law").unwrap_or_default();
    if let (Some(entry), []) = (root.get("law"), names.as_slice()) {
        root.context.error(entry.item.span, "`law` names no law").help("for example \"xcp\"");
    }
    names.into_iter().filter_map(|name| book.check(root.context, name)).collect()
}

/// Notes errors where a law cannot be made with its options.
fn check_laws(root: &Section<'_>, uses: &Uses, book: &LawBook, laws: &[String]) {
    for law in laws {
        if let Err(e) = uses.make(book, law) {
            root.context.error(root.span, format!("options of {law}: {e}"));
        }
    }
}

fn warn_of_short_run(root: &Section<'_>, trips: &RoundTrips, duration: Duration) {
    if let (Some(longest), Some(entry)) = (trips.longest, root.get("duration"))
        && duration < longest
    {
        root.context
            .warning(entry.item.span, format!("the run is shorter than a round trip of {longest}"))
            .of_end()
            .help("some flows will not see a single acknowledgement");
    }
}

/// Warns of used links whose rate is always 0.
fn warn_of_rate_zero(
    context: &Context<'_>,
    net: &Net,
    routes: &mut Routes<'_>,
    talking: &[(usize, usize)],
    changes: &[(Time, LinkId, Change)],
    end: Duration,
) {
    let is_given_one = |id: usize| {
        let of = |(at, link, change): &(Time, LinkId, Change)| {
            let has_rate = matches!(change, Change::Rate(rate) if *rate > Rate::ZERO);
            link.index() == id && has_rate && *at < Time::ZERO + end
        };
        changes.iter().any(of)
    };
    let stands = |id: &usize| {
        net.links[*id].properties.mean_rate() == Some(Rate::ZERO) && !is_given_one(*id)
    };
    let dead: Vec<usize> = (0..net.links.len()).filter(stands).collect();
    if dead.is_empty() {
        // Routing all pairs of a large network takes long.
        return;
    }
    let both_ways: Vec<_> = talking.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
    let crossed = crossed(net, routes, &both_ways);
    let mut by_place: Vec<(Span, usize, usize)> = Vec::new();
    for id in dead.into_iter().filter(|id| crossed.binary_search(id).is_ok()) {
        let properties = &net.links[id].properties;
        let given = properties.rate.map(|rate| rate.span);
        let given = given.or(properties.trace.as_ref().map(|trace| trace.span));
        let span = given.unwrap_or(net.links[id].span);
        match by_place.iter_mut().find(|(known, ..)| *known == span) {
            Some((.., more)) => *more += 1,
            None => by_place.push((span, id, 0)),
        }
    }
    for (span, id, more) in by_place {
        let links = and_more(&net.links[id].name, more);
        context
            .warning(span, format!("nothing ever crosses {links}: the rate is 0"))
            .help("traffic is routed over it, and no [[change]] gives it another rate");
    }
}

/// The pairs of nodes that communicate.
fn pairs(flows: &[FlowSpec], traffic: &[TrafficSpec]) -> Vec<(usize, usize)> {
    use ratewire_sim::setup::Arrivals;
    let listed = flows.iter().map(|flow| (flow.from.index(), flow.to.index()));
    let drawn = traffic.iter().flat_map(|class| class.pairs.iter());
    let drawn = drawn.map(|(a, b, _)| (a.index(), b.index()));
    let filed = traffic.iter().flat_map(|class| match &class.arrivals {
        Arrivals::Listed(list) => list.as_slice(),
        _ => &[],
    });
    let filed = filed.map(|arrival| (arrival.from.index(), arrival.to.index()));
    let mut pairs: Vec<(usize, usize)> = listed.chain(drawn).chain(filed).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Links that the pairs cross.
fn crossed(net: &Net, routes: &mut Routes<'_>, pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut is_crossed = vec![false; net.links.len()];
    for (a, b) in pairs {
        for (id, _) in routes.shares(*a, *b).unwrap_or_default() {
            is_crossed[id] = true;
        }
    }
    (0..net.links.len()).filter(|id| is_crossed[*id]).collect()
}

/// Slowest links that the pairs cross.
fn slowest(net: &Net, routes: &mut Routes<'_>, pairs: &[(usize, usize)]) -> Vec<LinkId> {
    let crossed = crossed(net, routes, pairs);
    let rate = |id: &usize| net.links[*id].properties.mean_rate();
    let slowest = crossed.iter().filter_map(rate).min();
    let slow = crossed.into_iter().filter(|id| rate(id) == slowest);
    slow.map(|id| LinkId(id as u32)).collect()
}

/// Paths given by `[[path]]`.
fn given_paths(net: &Net) -> Vec<Vec<NodeId>> {
    let node = |id: &usize| NodeId(*id as u32);
    net.paths.values().map(|path| path.iter().map(node).collect()).collect()
}
