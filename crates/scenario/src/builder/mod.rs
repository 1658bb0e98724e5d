//! Scenarios made in code: a network, flows and expectations without TOML.
//!
//! A builder writes the scenario's text and reads it as a file is read. So the same checks find
//! errors, results carry the text that made them, and a builder cannot make what a file cannot say.

mod expect;
mod flow;
mod link;
#[cfg(test)]
mod tests;

pub use expect::Expect;
pub use flow::Flow;
pub use link::Link;

use std::io;

use ratewire_laws::LawSet;
use ratewire_net::queue::DisciplineSet;
use ratewire_units::{Duration, Rate};
use toml::{Table, Value};

use crate::{Loader, Scenario, ScenarioError};

/// Makes a [`Scenario`]; start with [`Scenario::builder`].
///
/// ```
/// use ratewire_scenario::{Expect, Flow, Link, Scenario};
/// use ratewire_units::{Duration, Rate};
///
/// let ms = Duration::from_millis;
/// let scenario = Scenario::builder("Two hosts share a link", Duration::from_secs(20), "xcp")
///     .host("a")
///     .host("b")
///     .router("r")
///     .host("c")
///     .cable("a", "r", Link::new(Rate::from_mbps(100), ms(1)))
///     .cable("b", "r", Link::new(Rate::from_mbps(100), ms(5)))
///     .cable("r", "c", Link::new(Rate::from_mbps(10), ms(20)).named("bottleneck"))
///     .flow(Flow::new("a", "c"))
///     .flow(Flow::new("b", "c").start(Duration::from_secs(5)))
///     .expect(Expect::of("utilisation").link("bottleneck").at_least(0.9))
///     .build()?;
/// assert_eq!(scenario.setup(None, None)?.flows.len(), 2);
/// # Ok::<(), ratewire_scenario::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    root: Table,
    nodes: Vec<Value>,
    links: Vec<Value>,
    flows: Vec<Value>,
    expectations: Vec<Value>,
    laws: LawSet,
    disciplines: DisciplineSet,
}

impl Scenario {
    /// Starts a scenario from its name, its simulated duration and a law.
    ///
    /// Flows and routers that name no law of their own use `law`.
    pub fn builder(name: &str, duration: Duration, law: &str) -> Builder {
        let mut root = Table::new();
        root.insert("name".into(), name.into());
        root.insert("duration".into(), time(duration));
        root.insert("law".into(), law.into());
        Builder {
            root,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            expectations: Vec::new(),
            laws: LawSet::in_tree(),
            disciplines: DisciplineSet::in_tree(),
        }
    }
}

impl Builder {
    /// Pairs of hosts s1, d1, s2, d2 ... on both sides of two routers.
    ///
    /// The link between the routers is called `bottleneck`. Access links have ten times its rate
    /// and no delay.
    pub fn dumbbell(self, pairs: u32, bottleneck: Link) -> Builder {
        let mut topology = Table::new();
        topology.insert("kind".into(), "dumbbell".into());
        topology.insert("pairs".into(), i64::from(pairs).into());
        topology.insert("bottleneck".into(), Value::Table(bottleneck.properties()));
        self.put("topology", Value::Table(topology))
    }

    /// A host: a node that sends and receives.
    pub fn host(self, name: &str) -> Builder {
        self.node(name, true)
    }

    /// A router: a node that forwards.
    pub fn router(self, name: &str) -> Builder {
        self.node(name, false)
    }

    fn node(mut self, name: &str, is_host: bool) -> Builder {
        let mut node = Table::new();
        node.insert("name".into(), name.into());
        if !is_host {
            node.insert("host".into(), false.into());
        }
        self.nodes.push(Value::Table(node));
        self
    }

    /// A cable between two nodes: a link each way, each with its own queue.
    ///
    /// The link back has the name of the link there followed by `.reverse`. Without a name they are
    /// called `one->other`.
    pub fn cable(self, one: &str, other: &str, link: Link) -> Builder {
        let ends = Value::Array(vec![one.into(), other.into()]);
        self.link([("between", ends)], link)
    }

    /// A link in one direction.
    pub fn one_way(self, from: &str, to: &str, link: Link) -> Builder {
        self.link([("from", Value::from(from)), ("to", Value::from(to))], link)
    }

    fn link<const N: usize>(mut self, ends: [(&str, Value); N], link: Link) -> Builder {
        let mut table = Table::new();
        table.extend(link.name().map(|name| ("name".to_string(), name.into())));
        table.extend(ends.map(|(key, value)| (key.to_string(), value)));
        table.extend(link.properties());
        self.links.push(Value::Table(table));
        self
    }

    /// A flow, or several alike.
    pub fn flow(mut self, flow: Flow) -> Builder {
        self.flows.push(Value::Table(flow.into_table()));
        self
    }

    /// Adds an expectation.
    pub fn expect(mut self, expectation: Expect) -> Builder {
        self.expectations.push(Value::Table(expectation.into_table()));
        self
    }

    /// Seed of all random streams; the default is 1.
    pub fn seed(self, seed: u64) -> Builder {
        match i64::try_from(seed) {
            Ok(seed) => self.put("seed", seed.into()),
            // TOML integers end at 2^63 - 1; the scenario language reads greater seeds as text.
            Err(_) => self.put("seed", seed.to_string().into()),
        }
    }

    /// What the scenario shows, in a few sentences.
    pub fn description(self, text: &str) -> Builder {
        self.put("description", text.into())
    }

    /// Sets any other top-level key, with its value as in a file: `transport` and `{ ecn = true }`.
    ///
    /// A value that is not TOML is taken as text.
    pub fn with(self, key: &str, value: &str) -> Builder {
        self.put(key, parsed(value))
    }

    fn put(mut self, key: &str, value: Value) -> Builder {
        self.root.insert(key.into(), value);
        self
    }

    /// Laws that the scenario may name; by default, those of Ratewire.
    pub fn known_laws(self, laws: &LawSet) -> Builder {
        Builder { laws: laws.clone(), ..self }
    }

    /// Queue disciplines that the scenario may name; by default, those of Ratewire.
    pub fn known_disciplines(self, disciplines: &DisciplineSet) -> Builder {
        Builder { disciplines: disciplines.clone(), ..self }
    }

    /// The scenario as the text of a file.
    pub fn text(&self) -> String {
        let mut root = self.root.clone();
        if !root.contains_key("topology") {
            let topology = Table::from_iter([("kind".to_string(), Value::from("custom"))]);
            root.insert("topology".into(), Value::Table(topology));
        }
        let lists = [
            ("node", &self.nodes),
            ("link", &self.links),
            ("flow", &self.flows),
            ("expect", &self.expectations),
        ];
        let given = lists.into_iter().filter(|(_, list)| !list.is_empty());
        root.extend(given.map(|(key, list)| (key.to_string(), Value::Array(list.clone()))));
        root.to_string()
    }

    /// Builds the scenario.
    ///
    /// # Errors
    /// All errors found in the scenario; their places are those of [`Builder::text`].
    pub fn build(&self) -> Result<Scenario, ScenarioError> {
        let no_files = |_: &str| {
            let why = "a scenario that is built in code has no folder to find files in";
            Err(io::Error::new(io::ErrorKind::NotFound, why))
        };
        let loader = Loader { laws: &self.laws, disciplines: &self.disciplines };
        loader.parse("(built in code)", &self.text(), &no_files)
    }
}

/// Reads a value as in a file; a value that is not TOML is taken as text.
fn parsed(value: &str) -> Value {
    let table = format!("value = {value}").parse::<Table>();
    let value_of = |mut table: Table| table.remove("value");
    table.ok().and_then(value_of).unwrap_or_else(|| value.into())
}

/// A time as text: short where that is exact, otherwise in picoseconds.
fn time(duration: Duration) -> Value {
    let short = duration.to_string();
    let is_exact = short.parse() == Ok(duration);
    if is_exact { short.into() } else { format!("{} ps", duration.ps()).into() }
}

/// A rate as text: short where that is exact, otherwise in bits per second.
fn rate(rate: Rate) -> Value {
    let short = rate.to_string();
    let is_exact = short.parse() == Ok(rate);
    if is_exact { short.into() } else { format!("{} bit/s", rate.bps()).into() }
}
