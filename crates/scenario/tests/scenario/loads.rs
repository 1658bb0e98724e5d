//! Number of flows that make a load, and the link it refers to.

use ratewire_scenario::Load;
use ratewire_sim::setup::Arrivals;

use crate::common::{dumbbell, parse_with, scenario, setup, warned};

#[test]
fn load_is_of_a_link_with_headers() {
    let traffic = "[[traffic]]\nload = { link = \"bottleneck\", fraction = 0.5 }\nsizes = { fixed = \"14600 B\" }";
    let setup = setup(&dumbbell(traffic));
    // Ten packets of 1500 bytes are 15,000 bytes; 5 Mbit/s are 625,000 bytes a second.
    let Arrivals::Poisson(rate) = setup.traffic[0].arrivals else { panic!() };
    assert!((rate - 625_000.0 / 15_000.0).abs() < 1e-9, "{rate}");
    assert_eq!(setup.traffic[0].pairs.len(), 1);
}

#[test]
fn half_the_flows_make_half_the_load() {
    let text = "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"parking-lot\"\nhops = 2\n\
        link = { rate = \"12 Mbit/s\", delay = \"1 ms\" }\n\
        [[traffic]]\nsizes = { fixed = \"1460 B\" }\nload = { link = \"hop1\", fraction = 1 }";
    // Two of the three pairs cross each hop: 1000 packets a second there, 1500 in all.
    let any = text.replace("link = \"hop1\", ", "");
    for (text, others) in [(text, 0), (&any, 1)] {
        let scenario = scenario(text);
        let setup = scenario.setup(None, None).unwrap();
        let Arrivals::Poisson(rate) = setup.traffic[0].arrivals else { panic!() };
        assert!((rate - 1500.0).abs() < 1e-6, "{rate}");
        let [Some(Load { share: 1.0, link: Some(link), others: alike })] = scenario.loads[..]
        else {
            panic!("{:?}", scenario.loads)
        };
        assert_eq!(alike, others);
        assert_eq!(setup.network.links[link.index()].name, "hop1");
    }
}

#[test]
fn demands_of_exceptions_are_left_out_of_the_load() {
    let file = "{\"directed\": false, \"multigraph\": false, \
        \"graph\": {\"demands\": {\"0\": {\"1\": 1000, \"2\": 3000}}}, \
        \"nodes\": [{\"id\": 0, \"name\": \"a\", \"pos\": [8, 47]}, {\"id\": 1, \"name\": \"b\", \"pos\": [8, 48]}, \
        {\"id\": 2, \"name\": \"c\", \"pos\": [8, 49]}], \
        \"links\": [{\"source\": 0, \"target\": 1, \"dist\": 100}, {\"source\": 1, \"target\": 2, \"dist\": 100}]}";
    let rate = |except: &str| {
        let text = format!(
            "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"graph\"\nfile = \"g\"\n\
             link = {{ rate = \"10 Mbit/s\" }}\n[[traffic]]\nbetween = \"demands\"\n{except}\n\
             sizes = {{ fixed = \"1 KB\" }}\nload = {{ demands = 0.5 }}\n"
        );
        let scenario = parse_with(&text, &[("g", file)]).unwrap_or_else(|all| panic!("{all}"));
        let setup = scenario.setup(None, None).unwrap();
        let Arrivals::Poisson(rate) = setup.traffic[0].arrivals else { panic!() };
        rate / setup.traffic[0].pairs.len() as f64
    };
    // Of demands of 1000 and 3000 for two pairs, the first is left: 4000 / 2 is twice that.
    assert!((rate("") - 2.0 * rate("except = \"c\"")).abs() < 1e-6 * rate(""));
}

/// A load is a share of the link's rate, whatever its token buckets let pass of it.
#[test]
fn a_load_above_a_token_bucket_is_warned_of() {
    let said = |bucket: &str, fraction: &str| {
        let traffic = format!(
            "[[link]]\nname = \"bottleneck\"\n{bucket}\n[[traffic]]\nsizes = {{ fixed = \"10 KB\" }}\n\
             load = {{ link = \"bottleneck\", fraction = {fraction} }}"
        );
        warned(&dumbbell(&traffic))
    };
    for key in ["policer", "shaper"] {
        let bucket = format!("{key} = {{ rate = \"5 Mbit/s\", burst = \"64 KB\" }}");
        let wanted =
            format!("this load is 6 Mbit/s, and the `{key}` of \"bottleneck\" passes 5 Mbit/s");
        let over = said(&bucket, "0.6");
        assert!(over.contains(&wanted), "{over}");
        assert_eq!(said(&bucket, "0.5"), "");
    }
    assert_eq!(said("shaper = \"none\"", "0.9"), "");
}
