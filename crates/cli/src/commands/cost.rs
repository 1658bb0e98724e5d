//! `ratewire laws --cost`: measures on this machine the work of each law's port for a packet.
//!
//! The table also shows the median, and the time of a multiplication, which distinguishes a slow
//! clock from slow work. Callgrind counts instructions if valgrind is installed; those of the loop
//! without a port are subtracted.

use std::fmt::Write;
use std::process::Command;

use ratewire::{BenchedPort, TimeSpread, load_law, port_costs};
use ratewire_command_line::{Exit, print};
use ratewire_laws::{LawSet, list};
use serde::Serialize;

use crate::output::fail;

/// Width of the column of laws' names.
const WIDTH: usize = 15;
/// Packets of a run under callgrind, which is fifty times slower.
const COUNTED: u64 = 100_000;

/// Measurements, for `--json`.
#[derive(Serialize)]
struct Costs {
    laws: Vec<Cost>,
    /// Time of a multiplication that depends on the one before, measured between the batches.
    multiplication_ns: TimeSpread,
}

/// Work of a port for a packet.
#[derive(Serialize)]
struct Cost {
    law: String,
    ns: TimeSpread,
    /// Instructions a packet; `None` without valgrind.
    instructions: Option<f64>,
    /// Operations a packet, as the papers count them.
    operations: &'static str,
}

/// Measures all laws with a port and the laws of these files, and prints a table or JSON.
pub(crate) fn show(as_json: bool, rounds: u32, files: &[String]) -> Exit {
    let mut benches: Vec<Benched> = list()
        .iter()
        .filter_map(|info| {
            let port = BenchedPort::new(&LawSet::default(), info)?;
            Some(Benched { law: info.name.to_string(), operations: info.operations, port })
        })
        .collect();
    for file in files {
        match of_file(file) {
            Ok(port) => benches.push(Benched { law: file.clone(), operations: "", port }),
            Err(exit) => return exit,
        }
    }
    let counts = has_valgrind();
    print_stderr!("{}", announcement(benches.len(), counts));
    let costs = measure(benches, rounds, counts);
    if as_json {
        return print(&(serde_json::to_string_pretty(&costs).unwrap_or_default() + "\n"));
    }
    print(&table(&costs, rounds))
}

/// What is said before the measurements, which print nothing while they last.
fn announcement(laws: usize, counts: bool) -> String {
    let time = match counts {
        true => "about a minute, most of it for valgrind, which counts instructions",
        false => "some seconds",
    };
    format!("measuring the ports of {laws} laws: this takes {time}")
}

/// Whether instructions can be counted.
fn has_valgrind() -> bool {
    let version = Command::new("valgrind").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// The port of the law in a file.
fn of_file(file: &str) -> Result<BenchedPort, Exit> {
    let laws = load_law(file).map_err(|wrong| fail(&wrong))?;
    let port = laws.find(file).and_then(|info| BenchedPort::new(&laws, info));
    if let Some(fault) = port.as_ref().and_then(BenchedPort::fault) {
        print_stderr!("ratewire: {file}: {fault}");
        return Err(Exit::Wrong);
    }
    port.ok_or_else(|| {
        print_stderr!("ratewire: {file}: the law has no port, so routers do no work for it");
        Exit::Wrong
    })
}

/// A law to measure.
struct Benched {
    law: String,
    operations: &'static str,
    port: BenchedPort,
}

fn measure(benches: Vec<Benched>, rounds: u32, mut counts: bool) -> Costs {
    let split = |Benched { law, operations, port }| ((law, operations), port);
    let (laws, mut ports): (Vec<_>, Vec<_>) = benches.into_iter().map(split).unzip();
    let (times, multiplication_ns) = port_costs(&mut ports, rounds);
    let laws = laws.into_iter().zip(times).map(|((law, operations), ns)| {
        let instructions = if counts { instructions(&law) } else { None };
        counts = instructions.is_some();
        Cost { law, ns, instructions, operations }
    });
    Costs { laws: laws.collect(), multiplication_ns }
}

fn table(Costs { laws, multiplication_ns: step }: &Costs, rounds: u32) -> String {
    let mut text = format!("{:WIDTH$}  ns/packet  median  instructions  the papers count\n", "law");
    for Cost { law, ns, instructions, operations } in laws {
        let shown = instructions.map_or("-".to_string(), |n| format!("{n:.0}"));
        let _ = writeln!(
            text,
            "{law:WIDTH$} {:10.1} {:7.1}  {shown:>12}  {operations}",
            ns.least, ns.median
        );
    }
    if laws.iter().any(|law| law.instructions.is_none()) {
        text +=
            "\nInstructions are counted where valgrind is installed: apt-get install valgrind\n";
    }
    let _ = writeln!(
        text,
        "\nMinimum and median of {rounds} batches. A multiplication that depends on the one before took {:.2} and\n\
         {:.2} ns in the same period; if another run differs in this, the clock or the load differed.",
        step.least, step.median
    );
    text += "\nOne arrival and one departure at a port of 1 Gbit/s, timers included. Laws without\n\
             a port are not listed. The evaluation that finds JetMax the cheapest compares JetMax\n\
             with XCP, RCP and PIQI-RCP; EMKC, MaxNet and DCTCP are cheaper still.\n";
    text
}

/// Passes packets through the port of a law, or past it, while callgrind counts.
pub(crate) fn pass(law: &str, by: bool) -> Exit {
    let ours = || BenchedPort::new(&LawSet::default(), ratewire_laws::find(law)?);
    let mut bench = match ours().map_or_else(|| of_file(law), Ok) {
        Ok(bench) => bench,
        Err(exit) => return exit,
    };
    let pass = if by { BenchedPort::pass_by } else { BenchedPort::pass };
    pass(&mut bench, COUNTED);
    Exit::Done
}

/// Instructions a packet, if callgrind is installed.
fn instructions(law: &str) -> Option<f64> {
    let count = |way: &[&str]| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args(["laws", "--cost-of", law])
            .args(way)
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("refs:"))?;
        line.rsplit(' ').next()?.replace(',', "").parse::<f64>().ok()
    };
    Some((count(&[])? - count(&["--by"])?) / COUNTED as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_said_before() {
        assert!(announcement(12, true).contains("12 laws: this takes about a minute"));
        assert!(announcement(12, false).ends_with("some seconds"));
    }

    #[test]
    fn the_table_says_where_instructions_are_missing() {
        let ns = || TimeSpread { least: 1.25, median: 2.0 };
        let cost = |instructions| Cost {
            law: "xcp".into(),
            ns: ns(),
            instructions,
            operations: "3 additions",
        };
        let costs = |all: &[Option<f64>]| Costs {
            laws: all.iter().map(|instructions| cost(*instructions)).collect(),
            multiplication_ns: ns(),
        };
        let text = table(&costs(&[Some(40.4), None]), 2);
        assert!(text.contains("            40  3 additions\n"), "{text}");
        assert!(
            text.contains("             -  3 additions\n") && text.contains("valgrind"),
            "{text}"
        );
        assert!(!table(&costs(&[Some(40.4)]), 2).contains("valgrind"));
    }
}
