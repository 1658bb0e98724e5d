//! `--set 'link.*.KEY=VALUE'` sets a property of all links.

use ratewire_units::Rate;

use crate::common::{dumbbell, flow, scenario, shown};

/// All links change even where the file sets some of them, in one direction or both.
#[test]
fn all_links_are_all() {
    let rates = |links: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let changed = scenario(&dumbbell(&format!("{}{links}", flow()))).with_overrides(&sets);
        let changed = changed.unwrap_or_else(|all| panic!("{all}"));
        let links = changed.setup(None, None).unwrap().network.links;
        links.iter().map(|link| (link.name.clone(), link.service.mean_rate())).collect::<Vec<_>>()
    };
    let one =
        "[[link]]\nname = \"s1->r1\"\nrate = \"5 Mbit/s\"\nreverse = { rate = \"7 Mbit/s\" }\n";
    let new = "[[link]]\nbetween = [\"r1\", \"r2\"]\nname = \"new\"\ndelay = \"1 ms\"\nrate = \"9 Mbit/s\"\n";
    let all = ("link.*.rate", "1M");
    for links in ["", one, new, &format!("{one}{new}"), &format!("{new}{one}")] {
        let changed = rates(links, &[all]);
        assert!(changed.iter().all(|(_, rate)| *rate == Rate::from_mbps(1)), "{links} {changed:?}");
        for own in ["link.s1->r1.rate", "link.r2->d1.rate"] {
            let changed = rates(links, &[all, (own, "2M")]);
            let others = changed.iter().filter(|(_, rate)| *rate == Rate::from_mbps(1)).count();
            assert_eq!(others, changed.len() - 1, "{links} {own} {changed:?}");
        }
    }
    let of_new = rates(new, &[all, ("link.1.rate", "2M")]);
    let two: Vec<_> = of_new.iter().filter(|(_, rate)| *rate == Rate::from_mbps(2)).collect();
    assert!(two.len() == 2 && two.iter().all(|(name, _)| name.starts_with("new")), "{of_new:?}");
}

/// A trace and a rate exclude each other; `duplex` and a named medium do too.
#[test]
fn what_all_links_are_given_replaces_what_some_have() {
    let after = |link: &str, set: &str| {
        let link = format!("[[link]]\nname = \"s1->r1\"\n{link}\n");
        let text = dumbbell(&format!("{}{link}", flow()));
        let (key, value) = set.split_once('=').unwrap();
        let changed = crate::common::parse_with(&text, &[("t", "1\n")])
            .unwrap_or_else(|all| panic!("{all}"))
            .with_overrides(&[(key.to_string(), value.to_string())]);
        let changed = changed.unwrap_or_else(|all| panic!("{all}"));
        assert_eq!(shown(&changed.warnings), "", "{link}");
        changed.setup(None, None).unwrap().network
    };
    for link in ["trace = \"t\"", "reverse = { trace = \"t\" }"] {
        let links = after(link, "link.*.rate=1M").links;
        assert!(links.iter().all(|link| link.service.mean_rate() == Rate::from_mbps(1)), "{link}");
    }
    let network = after("duplex = \"full\"", "link.*.medium=air");
    assert!(network.links.iter().all(|link| link.medium.is_some()) && network.mediums.len() == 1);
}

/// Titles keep the numbers of the file, whatever entries paths put before them.
#[test]
fn tables_keep_their_numbers() {
    let link = "[[link]]\nname = \"s1->r1\"\ndelay = \"1 ms\"\n";
    let sets = [("link.*.queue", "9 KB"), ("link.1.rat", "5")];
    let sets = sets.map(|(a, b)| (a.to_string(), b.to_string()));
    let wrong = scenario(&dumbbell(&format!("{}{link}", flow()))).with_overrides(&sets);
    let said = wrong.expect_err("a wrong key").to_string();
    assert!(said.contains("unknown key `rat` in [[link]] 1"), "{said}");
}
