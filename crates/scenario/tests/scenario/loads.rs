//! Number of flows that make a load, and the link it refers to.

use ratewire_scenario::Load;
use ratewire_sim::setup::Arrivals;

use crate::common::{dumbbell, scenario, setup};

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
