//! Properties under random packets and changes: order, conservation, and times that do not
//! decrease.

use std::sync::Arc;

use proptest::prelude::*;
use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Rate};

use crate::bench::{self, Bench, discipline, link, ms, spec, us};

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (0u32..8).prop_map(Limit::Packets),
        (0u64..6000).prop_map(|b| Limit::Bytes(Bytes::new(b))),
    ]
}

fn services() -> impl Strategy<Value = Service> {
    prop_oneof![
        4 => (0u64..5).prop_map(|i| Service::Rate(Rate::from_mbps([0, 1, 8, 100, 400_000][i as usize]))),
        1 => (prop::collection::vec(0u64..5000, 0..6), 0u64..3000).prop_map(|(mut at, more)| {
            at.sort_unstable();
            let period = Duration::from_micros(at.last().unwrap_or(&0) + more);
            let at = at.into_iter().map(Duration::from_micros).collect();
            Service::Opportunities(Arc::new(Opportunities { at, period, bytes: Bytes::new(1500) }))
        }),
    ]
}

/// All disciplines of the registry, and some that act on short queues.
fn disciplines() -> impl Strategy<Value = AnyDiscipline> {
    let on_off = |ecn: bool| if ecn { "true" } else { "false" };
    let red = move |ecn| {
        let thresholds = [("min", "1 KB"), ("max", "4 KB"), ("max_probability", "0.2")];
        discipline("red", &[&thresholds[..], &[("weight", "0.3"), ("ecn", on_off(ecn))]].concat())
    };
    let codel = move |(ecn, target): (bool, u64)| {
        let (target, interval) = (format!("{target} us"), format!("{} us", target * 2 + 1));
        let options = [("target", &target[..]), ("interval", &interval), ("ecn", on_off(ecn))];
        discipline("codel", &options)
    };
    prop_oneof![
        prop::sample::select(bench::disciplines()),
        any::<bool>().prop_map(red),
        (any::<bool>(), 0u64..500).prop_map(codel),
    ]
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        3 => Just(Loss::None),
        1 => (0.0..1.0).prop_map(Loss::Random),
        1 => (0u64..5).prop_map(Loss::Every),
        1 => Just(Loss::Burst { turn_bad: 0.2, turn_good: 0.3, loss_bad: 0.9, loss_good: 0.01 }),
    ]
}

fn jitters() -> impl Strategy<Value = Option<LinkJitter>> {
    let us = Duration::from_micros;
    let jitter = prop_oneof![
        (0u64..3000).prop_map(move |most| LinkJitter::Uniform(us(most))),
        (0u64..3000, 0u64..3000).prop_map(move |(mean, deviation)| LinkJitter::Normal {
            mean: us(mean),
            deviation: us(deviation),
        }),
    ];
    prop::option::weighted(0.3, jitter)
}

fn buckets() -> impl Strategy<Value = Option<TokenBucket>> {
    let bucket = (1u64..20, 0u64..5000).prop_map(|(mbps, burst)| TokenBucket {
        rate: Rate::from_mbps(mbps),
        burst: Bytes::new(burst),
    });
    prop::option::weighted(0.2, bucket)
}

prop_compose! {
    fn links()(
        service in services(), limit in limits(), discipline in disciplines(), loss in losses(),
        delay in 0u64..2000, overhead in 0u64..40, medium in prop::option::weighted(0.4, Just(MediumId(0))),
        late in prop::option::weighted(0.3, 0u64..3000), policer in buckets(), shaper in buckets(),
        jitter in jitters(), duplicate in prop_oneof![3 => Just(0.0), 1 => 0.0f64..1.0],
    ) -> LinkSpec {
        let (delay, overhead) = (Duration::from_micros(delay), Bytes::new(overhead));
        let reorder = late.map(|us| Reorder { share: 0.3, delay: Duration::from_micros(us) });
        LinkSpec {
            service, limit, discipline, loss, delay, overhead, medium, reorder,
            variation: Variation { policer, shaper, jitter, duplicate }.boxed(),
            ..link(0, 1)
        }
    }
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0usize..4).prop_map(|i| Change::Rate(Rate::from_mbps([0, 1, 8, 1000][i]))),
        (0u64..3000).prop_map(|d| Change::Delay(Duration::from_micros(d))),
        any::<bool>().prop_map(Change::Up),
        losses().prop_map(Change::Loss),
        limits().prop_map(Change::Limit),
    ]
}

/// Whether one of these changes is of this link. Their numbers are taken modulo `links`.
fn is_changed(changes: &[(u64, u32, Change)], links: usize, id: LinkId) -> bool {
    changes.iter().any(|(_, link, _)| link % links as u32 == id.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn packets_are_conserved_and_keep_their_order(
        links in prop::collection::vec(links(), 1..4),
        sends in prop::collection::vec((0u64..20_000, 0usize..4, 1u32..2000, any::<bool>()), 0..80),
        changed in prop::collection::vec((0u64..25_000, 0u32..4, changes()), 0..12),
        contention in prop_oneof![
            Just(Contention::Alternate), Just(Contention::Random), Just(Contention::Backoff)
        ],
        looks in 1u64..20,
        shares in any::<bool>(),
    ) {
        let count = links.len();
        // A packet that was marked at an earlier link takes DualPI2's short queue and overtakes.
        let is_dual = |link: &LinkSpec| link.discipline.info().name == "dualpi2";
        let keeps_order =
            links.iter().all(|link| link.reorder.is_none()) && !links.iter().skip(1).any(is_dual);
        let has_rate = |link: &LinkSpec| matches!(link.service, Service::Rate(r) if r > Rate::ZERO);
        let stopped: Vec<bool> = links.iter().map(|link| !has_rate(link)).collect();
        let mut b = Bench::with(&spec(links, contention), looks);
        let may_change = |id: LinkId| stopped[id.index()] || is_changed(&changed, count, id);
        if shares {
            b.network.use_delay_lines(may_change);
        }
        let all: Vec<u32> = (0..count as u32).collect();
        let along = b.route(&all);
        let mut sends = sends;
        sends.sort_unstable();
        for (at, route, size, ecn) in sends {
            let route = if route < count { route } else { along };
            b.send_ecn(us(at), route, size, ecn);
        }
        for (at, link, change) in &changed {
            b.change(us(*at), link % count as u32, change.clone());
        }
        let sent = u64::from(b.sent);
        let mut busy = vec![Duration::ZERO; count];
        for look in 1..=looks {
            b.run(us(look * 30_000 / looks));
            for (i, before) in busy.iter_mut().enumerate() {
                let s = b.stats(i as u32);
                prop_assert!(s.busy >= *before, "busy time falls");
                *before = s.busy;
            }
        }
        // In the end every link is up and has a rate; packets stay only at traces that send
        // nothing.
        for id in (0..count as u32).map(LinkId).filter(|id| may_change(*id)) {
            b.change(ms(40), id.0, Change::Up(true));
            b.rate(ms(40), id.0, Rate::from_mbps(8));
        }
        b.run(ms(100_000));
        let mut gone = 0;
        let mut waiting = 0;
        let mut duplicated = 0;
        for i in 0..count as u32 {
            let o = b.observe(i);
            let s = o;
            gone += s.drops();
            duplicated += s.duplicated;
            waiting += u64::from(o.waiting_packets);
            prop_assert!(s.busy.secs() <= 100.0 + 1e-9);
        }
        prop_assert_eq!(b.network.in_flight(), waiting, "only what cannot leave is left");
        prop_assert_eq!(sent + duplicated, b.arrived.len() as u64 + gone + waiting);
        for route in 0..=along as u32 {
            let order = b.arrived.iter().filter(|a| a.route == route).map(|a| a.packet);
            prop_assert!(!keeps_order || order.is_sorted(), "packets of a route overtake each other");
        }
    }

    /// Without losses, the areas are the sums of the packets' waiting times.
    #[test]
    fn areas_and_busy_time_follow_from_the_arrivals(
        sends in prop::collection::vec((0u64..20_000, 1u32..2000), 1..80),
    ) {
        let mut b = Bench::new(vec![LinkSpec { delay: Duration::from_micros(77), ..link(0, 1) }]);
        let mut sends = sends;
        sends.sort_unstable();
        sends.iter().for_each(|(at, size)| b.send(us(*at), 0, *size));
        b.run(ms(1000));
        let mut area = 0;
        for (arrived, (at, size)) in b.arrived.iter().zip(&sends) {
            area += u128::from((arrived.at.since(us(*at + u64::from(*size) + 77))).ps());
        }
        let total: u64 = sends.iter().map(|s| u64::from(s.1)).sum();
        let s = b.stats(0);
        prop_assert_eq!(s.area_packets, area);
        prop_assert_eq!(s.busy, Duration::from_micros(total));
    }

    /// Each host has a router with a link onward. Hosts may send several packets at once, and more
    /// before those have left.
    #[test]
    fn packets_that_a_host_sends_at_once_arrive_when_they_do_one_by_one(
        links in prop::collection::vec((1u64..4, 1u64..3, limits(), 0u64..2), 1..4),
        sends in prop::collection::vec((0u64..60, 0usize..3, 1usize..8, 1u32..3), 0..40),
        mut looks in prop::collection::vec((0u64..7000, any::<bool>()), 0..6),
        watched in any::<bool>(),
    ) {
        looks.sort_unstable();
        let count = links.len() as u32;
        let router = |host: u32| count + host;
        let arrived = |lag: bool, books: bool| {
            let own = links.iter().zip(0..).map(|((mbps, delay, limit, overhead), host)| LinkSpec {
                service: Service::Rate(Rate::from_mbps(8 * mbps)),
                delay: Duration::from_millis(*delay),
                limit: *limit,
                overhead: Bytes::new(38 * overhead),
                ..link(host, router(host))
            });
            let onward = (0..count).map(|host| LinkSpec {
                limit: Limit::Packets(5),
                ..link(router(host), router(router(host)))
            });
            let spec = spec(own.chain(onward).collect(), Contention::Backoff);
            let mut b = Bench::with(&spec, 1);
            if books {
                b.network.book_departures(|_| false);
            }
            if lag {
                // Hosts are at both ends: the far ones' packets need no events, if links book.
                let is_host = |node: NodeId| node.0 < count || node.0 >= 2 * count;
                prop_assert!(b.network.host_lag().begin(&spec, is_host).is_some());
            }
            if watched {
                b.network.watch(LinkId(0));
            }
            let routes: Vec<usize> = (0..count).map(|own| b.route(&[own, count + own])).collect();
            for (at, host, packets, size) in &sends {
                let route = routes[host % routes.len()];
                (0..*packets).for_each(|_| b.send(us(100 * at), route, 100 * size));
            }
            let mut seen = Vec::new();
            let mut observe = |b: &mut Bench| {
                (0..2 * count).for_each(|link| seen.push(format!("{:?}", b.observe(link))));
            };
            for (look, ends) in &looks {
                b.run(us(*look));
                if lag && *ends {
                    b.end_lag();
                }
                observe(&mut b);
            }
            b.run(ms(1000));
            observe(&mut b);
            let captured: Vec<_> = b.network.news().take_captured().iter().map(|c| (c.at, c.link, c.label.flow)).collect();
            // Packets of one instant may arrive in any order.
            b.arrived.sort_by_key(|a| (a.route, a.at));
            Ok((b.arrived, seen, captured))
        };
        let plain = arrived(false, false)?;
        for (lag, books) in [(true, false), (false, true), (true, true)] {
            prop_assert_eq!(&arrived(lag, books)?, &plain, "lag {}, booking {}", lag, books);
        }
    }

    #[test]
    fn packets_arrive_when_they_do_whether_links_share_delay_lines_or_not(
        links in prop::collection::vec((1u64..4, 0u64..3, 0u32..4), 2..6),
        sends in prop::collection::vec((0u64..5000, 0usize..6, 1u64..4), 0..60),
        changed in prop::collection::vec((0u64..6000, 0u32..6, changes()), 0..4),
        watched in any::<bool>(),
    ) {
        let arrived = |shares: bool, books: bool| {
            let links = links.iter().map(|(mbps, delay, limit)| LinkSpec {
                service: Service::Rate(Rate::from_mbps(8 * mbps)),
                delay: Duration::from_micros(1000 * delay),
                limit: Limit::Packets(*limit),
                ..link(0, 1)
            });
            let links: Vec<LinkSpec> = links.collect();
            let count = links.len();
            let mut b = Bench::new(links);
            let may_change = |id| is_changed(&changed, count, id);
            if shares {
                b.network.use_delay_lines(may_change);
            }
            if books {
                b.network.book_departures(may_change);
            }
            if watched {
                b.network.watch(LinkId(0));
            }
            for (at, route, size) in &sends {
                b.send(us(*at), route % count, 100 * *size as u32);
            }
            for (at, link, change) in &changed {
                b.change(us(*at), link % count as u32, change.clone());
            }
            b.run(ms(3));
            let seen: Vec<_> = (0..count as u32).map(|i| format!("{:?}", b.observe(i))).collect();
            b.run(ms(1000));
            // Packets of one instant may arrive in any order over several links, but not over one.
            b.arrived.sort_by_key(|a| (a.route, a.at));
            let captured: Vec<_> = b.network.news().take_captured().iter().map(|c| (c.at, c.link, c.label.flow)).collect();
            (b.arrived, seen, captured)
        };
        let plain = arrived(false, false);
        for (shares, books) in [(true, false), (false, true), (true, true)] {
            prop_assert_eq!(&arrived(shares, books), &plain, "sharing {}, booking {}", shares, books);
        }
    }

    /// Sources on one side and destinations on the other side of two links in a row, the first of
    /// which some packets leave half-way.
    #[test]
    fn packets_arrive_when_they_do_whether_they_enter_links_ahead_or_not(
        links in prop::collection::vec((1u64..6, 0u64..3, limits(), 0u64..2), 7),
        sends in prop::collection::vec((0u64..200, 0usize..5, 1usize..6, 1u32..4), 0..50),
        mut looks in prop::collection::vec(0u64..30_000, 0..12),
        watched in prop::option::of(0u32..7),
    ) {
        // Links 0 and 1 lead to node 2, link 2 to node 3, link 3 to node 4, links 4 to 6 onward.
        let ends = [(0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (3, 7)];
        let routes = [&[0, 2, 3, 4][..], &[1, 2, 3, 4], &[0, 2, 3, 5], &[1, 2, 6], &[0, 2, 6]];
        looks.sort_unstable();
        let arrived = |books: bool, merged: bool| {
            let own = links.iter().zip(ends).map(|((mbps, delay, limit, overhead), (from, to))| LinkSpec {
                service: Service::Rate(Rate::from_mbps(4 * mbps * mbps)),
                delay: Duration::from_millis(*delay),
                limit: *limit,
                overhead: Bytes::new(38 * overhead),
                ..link(from, to)
            });
            let spec = spec(own.collect(), Contention::Backoff);
            // Routes of one link each would bring hosts into the middle.
            let mut b = Bench::without_routes(&spec, 1);
            for route in routes {
                b.route(route);
            }
            if books {
                b.network.book_departures(|_| false);
            }
            if merged {
                b.network.merge_links();
            }
            if let Some(link) = watched {
                b.network.watch(LinkId(link));
            }
            for (at, route, packets, size) in &sends {
                (0..*packets).for_each(|_| b.send(us(100 * at), *route, 200 * size));
            }
            let mut seen = Vec::new();
            for look in &looks {
                b.run(us(*look));
                (0..7).for_each(|link| seen.push(format!("{:?}", b.observe(link))));
            }
            b.run(ms(1000));
            (0..7).for_each(|link| seen.push(format!("{:?}", b.observe(link))));
            // Packets of one instant may arrive in any order.
            b.arrived.sort_by_key(|a| (a.route, a.at));
            let mut captured: Vec<_> = b.network.news().take_captured().iter().map(|c| (c.at, c.label.flow)).collect();
            captured.sort_unstable();
            (b.arrived, seen, captured)
        };
        let plain = arrived(false, false);
        prop_assert_eq!(&arrived(true, false), &plain, "booking");
        prop_assert_eq!(&arrived(true, true), &plain, "ahead");
    }
}
