//! Keys of links without effect, or with another effect than their value suggests, are reported.

use ratewire_net::spec::{DriverSpec, LinkSpec};
use ratewire_units::Duration;

use crate::common::{refused, setup, warned};

/// A dumbbell of one pair with further properties of its bottleneck, and further lines.
fn dumbbell(bottleneck: &str, more: &str) -> String {
    format!(
        "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", {bottleneck} }}\n{more}\n\
         [[flow]]\nfrom = \"s1\"\nto = \"d1\"\n"
    )
}

#[test]
fn a_pattern_of_both_directions_has_no_reverse() {
    let change = |name: &str, more: &str| {
        let link = format!("[[link]]\nname = \"{name}\"\ndelay = \"5 ms\"\n{more}");
        dumbbell("", &link)
    };
    let reverse = "reverse = { delay = \"6 ms\" }";
    for pattern in ["bottleneck*", "*"] {
        let said = refused(&change(pattern, reverse));
        let wanted = format!("\"{pattern}\" matches both directions of \"bottleneck\"");
        assert!(said.contains(&wanted), "{said}");
        assert_eq!(warned(&change(pattern, "")), "");
    }
    assert_eq!(warned(&change("*", "reverse = {}")), "", "it says nothing");
    for one_way in ["bottleneck", "*->r1", "bottleneck.*"] {
        assert_eq!(warned(&change(one_way, reverse)), "", "{one_way}");
    }
}

/// Both keys configure the sending host.
#[test]
fn sockets_and_bursts_are_of_hosts() {
    let keys = [("sockets", "\"in-turn\""), ("bursts", "{ packets = 9, every = \"1 ms\" }")];
    for (key, value) in keys {
        let of_router = dumbbell(&format!("{key} = {value}"), "");
        let said = refused(&of_router);
        let wanted =
            format!("`{key}` means nothing here: \"bottleneck\" and 1 more begin at a router");
        assert!(said.contains(&wanted), "{said}");
        let reverse = format!("[[link]]\nname = \"s1->r1\"\nreverse = {{ {key} = {value} }}");
        let said = refused(&dumbbell("", &reverse));
        assert!(said.contains("here: \"r1->s1\" begins at a router"), "{said}");
        for name in ["s1->r1", "*"] {
            let link = format!("[[link]]\nname = \"{name}\"\n{key} = {value}");
            let text = dumbbell("", &link);
            assert_eq!(warned(&text), "", "{name}");
            let driven = |link: &&LinkSpec| link.driver != DriverSpec::default();
            let driven: Vec<String> = setup(&text)
                .network
                .links
                .iter()
                .filter(driven)
                .map(|link| link.name.clone())
                .collect();
            let hosts: &[&str] = if name == "*" { &["s1->r1", "d1->r2"] } else { &["s1->r1"] };
            assert_eq!(driven, hosts, "{key}");
        }
    }
    assert_eq!(warned(&dumbbell("sockets = \"drop\", bursts = \"none\"", "")), "", "the default");
    // A node that sends counts as a host, even if it is not among "all hosts".
    let sends = "[[node]]\nname = \"a\"\nhost = false\n[[link]]\nbetween = [\"a\", \"r1\"]\n\
                 rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nsockets = \"random\"\n[[flow]]\nfrom = \"a\"\nto = \"d1\"";
    assert_eq!(warned(&dumbbell("", sends)), "");
    let program = sends.replace(
        "[[flow]]\nfrom = \"a\"\nto = \"d1\"",
        "[[program]]\nhost = \"a\"\nrun = \"ping d1\"",
    );
    assert_eq!(warned(&dumbbell("", &program)), "");
    let driven = |link: &LinkSpec| link.name == "a->r1" && link.driver != DriverSpec::default();
    assert!(setup(&dumbbell("", &program)).network.links.iter().any(driven));
}

#[test]
fn a_round_trip_is_there_and_back() {
    for (reverse, rtt) in [("10 ms", "60 ms"), ("29 ms", "60 ms"), ("29 ms", "39 ms")] {
        let bottleneck =
            format!("reverse = {{ delay = \"{reverse}\" }} }}\nrtt = \"{rtt}\"\naccess = {{");
        let links = setup(&dumbbell(&bottleneck, "")).network.links;
        let sum: Duration = links.iter().fold(Duration::ZERO, |sum, link| sum + link.delay);
        assert_eq!(sum, rtt.parse().unwrap(), "{reverse}");
    }
    let said =
        refused(&dumbbell("reverse = { delay = \"29 ms\" } }\nrtt = \"38 ms\"\naccess = {", ""));
    assert!(said.contains("the bottleneck alone takes 39 ms there and back"), "{said}");
}

/// Two cities with coordinates, and a third with or without.
fn cities(third: &str) -> String {
    let node = |id: usize, place: &str| format!("<node id=\"{id}\">{place}</node>");
    let place = "<data key=\"x\">8</data><data key=\"y\">47</data>";
    format!(
        "<graphml><key attr.name=\"Longitude\" for=\"node\" id=\"x\"/>\
         <key attr.name=\"Latitude\" for=\"node\" id=\"y\"/>\
         <key attr.name=\"LinkSpeedRaw\" for=\"edge\" id=\"r\"/><graph edgedefault=\"undirected\">\
         {}{}{}<edge source=\"0\" target=\"1\"><data key=\"r\">1e7</data></edge>\
         <edge source=\"1\" target=\"2\"><data key=\"r\">1e7</data></edge></graph></graphml>",
        node(0, place),
        node(1, &place.replace('8', "9")),
        node(2, third)
    )
}

#[test]
fn what_the_file_of_a_graph_says_of_all_its_links_is_reported() {
    let warned = |link: &str, file: &str| {
        let text = format!(
            "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"graph\"\nfile = \"g\"\n{link}\n\
             [[flow]]\nfrom = \"0\"\nto = \"2\"\n"
        );
        let read = crate::common::parse_with(&text, &[("g", file), ("t", "1\n"), ("d", "0 20\n")]);
        crate::common::shown(&read.unwrap_or_else(|all| panic!("{all}")).warnings)
    };
    let place = "<data key=\"x\">8</data><data key=\"y\">48</data>";
    for link in ["link = { delay = \"5 ms\" }", "link = { reverse = { delay = \"5 ms\" } }"] {
        let said = warned(link, &cities(place));
        assert!(
            said.contains("`delay` means nothing here: \"g\" says how long all links are"),
            "{said}"
        );
        assert!(said.contains("^"), "{said}");
    }
    let said = warned("link = { delay_trace = \"d\" }", &cities(place));
    assert!(said.contains("`delay_trace` means nothing here"), "{said}");
    let said = warned("link = { rate = \"1 Mbit/s\" }", &cities(place));
    assert!(
        said.contains("`rate` means nothing here: \"g\" says how fast all links are"),
        "{said}"
    );
    assert!(
        warned("link = { trace = \"t\" }", &cities(place)).contains("`trace` means nothing here")
    );
    assert_eq!(warned("link = { rate = \"1 Mbit/s\" }\nfile_rates = false", &cities(place)), "");
    assert_eq!(warned("link = { delay = \"5 ms\" }", &cities("")), "", "one is not on the map");
}

#[test]
fn a_medium_makes_half_duplex_whatever_duplex_says() {
    let said = warned(&dumbbell("medium = \"air\", duplex = \"full\"", ""));
    assert!(
        said.contains("duplex = \"full\" means nothing here: the medium \"air\" is half-duplex"),
        "{said}"
    );
    assert_eq!(said.matches("-->").count(), 1, "{said}");
    assert!(said.contains("| ") && said.contains("^^^^^^"), "at the key: {said}");
    assert_eq!(warned(&dumbbell("medium = \"air\", duplex = \"half\"", "")), "");
}

/// `duplex` replaces a medium as a rate replaces a trace.
#[test]
fn duplex_replaces_the_medium_of_another_table() {
    let mediums = |name: &str, say: &str| {
        let star = format!(
            "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
             link = {{ rate = \"10 Mbit/s\", delay = \"1 ms\", medium = \"air\" }}\n\
             [[link]]\nname = \"{name}\"\n{say}\n[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n"
        );
        assert_eq!(warned(&star), "");
        let network = setup(&star).network;
        let name = |link: &LinkSpec| Some(network.mediums[link.medium?.index()].name.clone());
        let of = |wanted: &str| name(network.links.iter().find(|l| l.name == wanted).expect("one"));
        [of("h1->r1"), of("r1->h1"), of("h2->r1")]
    };
    let air = || Some("air".to_string());
    assert_eq!(mediums("h1->r1", "duplex = \"full\""), [None, None, air()]);
    let own = || Some("h1->r1".to_string());
    assert_eq!(mediums("h1->r1", "duplex = \"half\""), [own(), own(), air()]);
    let two = mediums("h1->r1", "medium = \"water\"\nreverse = { medium = \"water\" }");
    assert_eq!(two, [Some("water".to_string()), Some("water".to_string()), air()]);
}

/// A policer as fast as its link still drops what comes faster; a shaper never lets a packet wait.
#[test]
fn a_shaper_that_is_no_slower_than_its_link_is_warned_of() {
    let bucket = |key: &str, rate: &str| {
        format!("{key} = {{ rate = \"{rate} Mbit/s\", burst = \"64 KB\" }}")
    };
    for rate in ["10", "20"] {
        let said = warned(&dumbbell(&bucket("shaper", rate), ""));
        let wanted = "`shaper` of \"bottleneck\" and 1 more means nothing here";
        assert!(said.contains(wanted), "{rate}: {said}");
        assert_eq!(warned(&dumbbell(&bucket("policer", rate), "")), "");
    }
    assert_eq!(warned(&dumbbell(&bucket("shaper", "9.9"), "")), "");
    let faster = "[[change]]\nat = \"1 s\"\nlink = \"bottleneck\"\nrate = \"30 Mbit/s\"";
    assert_eq!(warned(&dumbbell(&bucket("shaper", "20"), faster)), "");
    let said = warned(&dumbbell(&bucket("shaper", "30"), faster));
    assert!(said.contains("`shaper` of \"bottleneck\" and 1 more"), "{said}");
}

#[test]
fn a_link_that_is_up_already_cannot_come_up() {
    let turn = |at: &str, link: &str, more: &str| {
        format!("[[change]]\nat = \"{at}\"\nlink = \"{link}\"\n{more}\n")
    };
    let of = |tables: &[String]| warned(&dumbbell("", &tables.concat()));
    let up = |at: &str| turn(at, "bottleneck", "up = true");
    let vain = "`up = true` means nothing here: \"bottleneck\" is up already";
    let down = turn("1 s", "bottleneck", "up = false");
    for tables in [
        vec![up("1 s")],
        vec![up("0.5 s"), down.clone()],
        vec![up("1.5 s"), turn("1 s", "bottleneck.reverse", "up = false")],
    ] {
        let said = of(&tables);
        assert!(said.contains(vain), "{tables:?}: {said}");
    }
    let said = of(&[turn("1 s", "bottleneck*", "up = true")]);
    assert!(said.contains("here: \"bottleneck\" and 1 more are up already"), "{said}");
    for tables in [
        vec![up("1.5 s"), down.clone()],
        vec![down, turn("1.5 s", "bottleneck*", "up = true")],
        vec![
            turn("0.5 s", "bottleneck", "every = \"1 s\"\nup = true"),
            turn("1 s", "bottleneck", "every = \"1 s\"\nup = false"),
        ],
    ] {
        assert_eq!(of(&tables), "", "{tables:?}");
    }
}
