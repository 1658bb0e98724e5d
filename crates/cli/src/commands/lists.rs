//! Lists of laws, queue disciplines and topologies, and the scenario language.

use ratewire::load_law;
use ratewire_command_line::{Exit, print};
use ratewire_laws::{LawInfo, OptionSpec};
use ratewire_net::queue::{self, DisciplineInfo};
use ratewire_scenario::is_law_file;
use serde::Serialize;

use super::cost;
use crate::output::fail;
use crate::terminal::table_options;

#[derive(clap::Args)]
pub(crate) struct LawsArgs {
    /// Print them as JSON, with their options
    #[arg(long)]
    json: bool,
    /// Measure what each law's port does for a packet, which takes about a minute
    #[arg(long)]
    cost: bool,
    /// Also measure these laws: files such as ./mylaw.so
    #[arg(requires = "cost")]
    files: Vec<String>,
    /// Batches of packets that are measured of each law
    #[arg(long, requires = "cost", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Pass packets through the port of this law, while callgrind counts
    #[arg(long, hide = true)]
    cost_of: Option<String>,
    /// Pass them past the port, so that callgrind counts the loop alone
    #[arg(long, hide = true, requires = "cost_of")]
    by: bool,
}

#[derive(clap::Args)]
pub(crate) struct DisciplinesArgs {
    /// Print them as JSON, with their options
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct ExplainArgs {
    /// A law or a queue discipline, as `ratewire laws` and `ratewire disciplines` list them, or the
    /// file of a law such as ./mylaw.so
    name: String,
}

#[derive(clap::Args)]
pub(crate) struct ScenarioArgs {
    /// Print the reference: every table and key, with type, default and example
    #[arg(long)]
    reference: bool,
}

/// A law or a queue discipline.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    options: Vec<ListedOption>,
}

#[derive(Serialize)]
struct ListedOption {
    name: &'static str,
    allowed: String,
    default: &'static str,
    doc: String,
}

impl ListedOption {
    fn new(option: &OptionSpec, doc: String) -> ListedOption {
        let allowed = option.kind.to_string();
        ListedOption { name: option.name, allowed, default: option.default, doc }
    }
}

impl From<&LawInfo> for Listed {
    fn from(info: &LawInfo) -> Listed {
        let options = info.options.iter().map(|o| ListedOption::new(o, o.description()));
        let options = options.collect();
        Listed { name: info.name, title: info.title, summary: info.summary, options }
    }
}

impl From<&DisciplineInfo> for Listed {
    fn from(info: &DisciplineInfo) -> Listed {
        let options = info.options.iter().map(|o| ListedOption::new(o, o.doc.to_string()));
        let options = options.collect();
        Listed { name: info.name, title: info.title, summary: info.summary, options }
    }
}

/// Prints a list: as JSON with the options, or a line each.
fn show(all: &[Listed], json: bool) -> Exit {
    if json {
        return print(&(serde_json::to_string_pretty(all).unwrap_or_default() + "\n"));
    }
    let width = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let line = |one: &Listed| format!("{:width$}  {}\n", one.name, one.summary);
    print(&all.iter().map(line).collect::<String>())
}

pub(crate) fn laws(args: &LawsArgs) -> Exit {
    if let Some(law) = &args.cost_of {
        return cost::pass(law, args.by);
    }
    if args.cost {
        return cost::show(args.json, args.rounds, &args.files);
    }
    let laws: Vec<Listed> = ratewire_laws::list().iter().map(|info| Listed::from(*info)).collect();
    show(&laws, args.json)
}

pub(crate) fn disciplines(args: &DisciplinesArgs) -> Exit {
    let all: Vec<Listed> = queue::list().iter().map(|info| Listed::from(*info)).collect();
    show(&all, args.json)
}

pub(crate) fn explain(args: &ExplainArgs) -> Exit {
    let laws = match is_law_file(&args.name).then(|| load_law(&args.name)).transpose() {
        Ok(laws) => laws.unwrap_or_default(),
        Err(wrong) => return fail(&wrong),
    };
    match ratewire::explain(&laws, &args.name, table_options().text_width()) {
        Ok(text) => print(&text),
        Err(why) => {
            print_stderr!("ratewire: {why}");
            Exit::Wrong
        }
    }
}

pub(crate) fn topologies() -> Exit {
    let mut text = String::new();
    for info in ratewire_scenario::topologies() {
        text += &format!("{}: {}\n", info.kind, info.summary);
        text += &format!("  nodes       {}\n  links       {}\n", info.nodes, info.links);
        text += &format!("  pairs       {}\n", info.pairs);
        let parameters: Vec<&str> = info.parameters().map(|key| key.name).collect();
        text += &format!("  parameters  {}\n\n", parameters.join(", "));
        for line in info.example.lines() {
            text += &format!("      {line}\n");
        }
        text += "\n";
    }
    text += "`ratewire scenario --reference` says what each parameter does.\n";
    print(&text)
}

pub(crate) fn scenario(args: &ScenarioArgs) -> Exit {
    if args.reference {
        return print(&ratewire_scenario::reference());
    }
    print(
        "A scenario is a TOML file:\n\n\
         \x20   duration = \"30 s\"\n\
         \x20   law      = \"xcp\"\n\n\
         \x20   [topology]\n\
         \x20   kind       = \"dumbbell\"\n\
         \x20   pairs      = 3\n\
         \x20   bottleneck = { rate = \"100 Mbit/s\", delay = \"20 ms\", queue = \"1 bdp\" }\n\n\
         \x20   [[flow]]\n\
         \x20   from = \"s1\"\n\
         \x20   to   = \"d1\"\n\n\
         `ratewire scenario --reference` lists every table and key.\n\
         `ratewire check --syntax FILE` lists all errors of a file.\n",
    )
}
