//! Lists of laws and topologies, and the scenario language.

use ratewire_laws::LawInfo;
use ratewire_report::table;
use serde::Serialize;

use super::cost;
use crate::exit::Exit;
use crate::say::print;
use crate::terminal::table_options;
use ratewire::unknown;

#[derive(clap::Args)]
pub(crate) struct LawsArgs {
    /// Print them as JSON, with their options
    #[arg(long)]
    json: bool,
    /// Measure what each law's port does for a packet
    #[arg(long)]
    cost: bool,
    /// Pass packets through the port of this law, while callgrind counts
    #[arg(long, hide = true)]
    cost_of: Option<String>,
    /// Pass them past the port, so that callgrind counts the loop alone
    #[arg(long, hide = true, requires = "cost_of")]
    by: bool,
}

#[derive(clap::Args)]
pub(crate) struct ExplainArgs {
    /// A law, as `ratewire laws` lists it
    law: String,
}

#[derive(clap::Args)]
pub(crate) struct ScenarioArgs {
    /// Print the reference: every table and key, with type, default and example
    #[arg(long)]
    reference: bool,
}

#[derive(Serialize)]
struct Law {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    options: Vec<LawOption>,
}

#[derive(Serialize)]
struct LawOption {
    name: &'static str,
    allowed: String,
    default: &'static str,
    doc: String,
}

impl Law {
    fn of(info: &'static LawInfo) -> Law {
        let options = info.options.iter().map(|o| LawOption {
            name: o.name,
            allowed: o.kind.to_string(),
            default: o.default,
            doc: o.description(),
        });
        Law {
            name: info.name,
            title: info.title,
            summary: info.summary,
            options: options.collect(),
        }
    }
}

pub(crate) fn laws(args: &LawsArgs) -> Exit {
    if let Some(law) = &args.cost_of {
        return cost::pass(law, args.by);
    }
    if args.cost {
        return cost::show(args.json);
    }
    let laws: Vec<Law> = ratewire_laws::list().iter().map(|info| Law::of(info)).collect();
    if args.json {
        return print(&(serde_json::to_string_pretty(&laws).unwrap_or_default() + "\n"));
    }
    let width = laws.iter().map(|l| l.name.len()).max().unwrap_or(0);
    let line = |l: &Law| format!("{:width$}  {}\n", l.name, l.summary);
    print(&laws.iter().map(line).collect::<String>())
}

pub(crate) fn explain(args: &ExplainArgs) -> Exit {
    let Some(info) = ratewire_laws::find(&args.law) else {
        let known: Vec<&str> = ratewire_laws::list().iter().map(|l| l.name).collect();
        tell!("ratewire: {}", unknown("law", &args.law, &known));
        return Exit::Wrong;
    };
    let mut text = format!("{}\n\nOptions\n", info.explanation.trim_end());
    if info.options.is_empty() {
        text += "\n  none\n";
    }
    for option in &Law::of(info).options {
        text += &format!("\n  {} = {}\n", option.name, quoted(option.default));
        let doc = format!("{}; {}.", option.doc.trim_end_matches('.'), option.allowed);
        text += &table::wrap(&doc, 6, table_options().text_width());
    }
    print(&text)
}

/// A default as a scenario would write it.
fn quoted(default: &str) -> String {
    // `03` is a word: TOML's numbers have no leading zeros.
    let is_word = default
        .strip_prefix('0')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_number = default.parse::<f64>().is_ok() && !is_word;
    if is_number || matches!(default, "true" | "false") {
        default.to_string()
    } else {
        format!("{default:?}")
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
