//! `ratewire explore`: a page on which a scenario's values are changed and runs drawn at once.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use ratewire::read_sweep;
use ratewire_command_line::{Exit, print_on, with_causes};
use ratewire_explore::{Explored, Server, Subject};
use ratewire_scenario::whole_path;
use tokio::signal::unix::{SignalKind, signal};

use super::load::{LawFileArgs, load_with_laws, pairs};
use crate::arguments::listed;
use crate::memory::{MemoryArgs, Watchman};
use crate::output::fail;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file, or the folder of a finished sweep
    path: PathBuf,
    /// Laws or variants that are ticked at the beginning: xcp,cubic
    #[arg(long, short, alias = "laws", value_delimiter = ',', value_parser = listed)]
    law: Vec<String>,
    /// Values that are set at the beginning: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Address of this machine to listen on. An address that is not loopback lets other machines
    /// open the page, over plain HTTP
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Port to listen on; 0 takes any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    law_files: LawFileArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

pub(crate) fn explore(args: &Args) -> Exit {
    args.memory.watch_waiting();
    carry_out(args).unwrap_or_else(|exit| exit)
}

fn carry_out(args: &Args) -> Result<Exit, Exit> {
    let subject = subject(args)?;
    if !args.listen.is_loopback() {
        print_stderr!(
            "warning: whoever can read the network's packets can read the page's token, and with it \
             files that keys of a scenario name\n  \
             help: leave out --listen, and reach the page by `ssh -L`"
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        print_stderr!("ratewire: cannot start the asynchronous runtime: {error}");
        Exit::File
    })?;
    let done = runtime.block_on(async {
        let server = Server::bind(SocketAddr::new(args.listen, args.port), subject).await;
        let server = server.map_err(|error| {
            print_stderr!("ratewire: {}\n  help: --port with another number", with_causes(&error));
            Exit::File
        })?;
        let mut ended = signal(SignalKind::interrupt()).map_err(|error| {
            print_stderr!("ratewire: cannot wait for Ctrl-C: {error}");
            Exit::File
        })?;
        let others = if args.listen.is_unspecified() {
            "Other machines: put an address of this machine, in digits, in place of the first one.\n"
        } else {
            ""
        };
        print_on(format!("Open {}\n{others}Ctrl-C ends.\n", server.url()))?;
        tokio::select! {
            () = server.serve() => {}
            _ = ended.recv() => {}
        }
        Ok(Exit::Done)
    });
    // A run that is being planned needs a moment to notice its end.
    runtime.shutdown_background();
    done
}

fn subject(args: &Args) -> Result<Subject, Exit> {
    if args.path.is_dir() {
        if !args.law.is_empty() || !args.set.is_empty() {
            print_stderr!(
                "ratewire: a sweep has its own laws and values: leave out --law and --set"
            );
            return Err(Exit::Wrong);
        }
        let sweep = read_sweep(&args.path).map_err(|wrong| {
            let exit = fail(&wrong);
            print_stderr!("  help: name a scenario, or a folder that `ratewire sweep` wrote");
            exit
        })?;
        return Ok(Subject::Sweep(Box::new(sweep)));
    }
    let taken: &[(&str, &str)] = if args.law.is_empty() { &[] } else { &[("law", "--law")] };
    // Mistakes in the values and the laws are reported before there is a page.
    let checked = load_with_laws(&args.path, &args.set, taken, &args.law_files, &args.law)?;
    let laws = if args.law.is_empty() { checked.scenario().laws() } else { args.law.clone() };
    checked.clone().laws(&laws).plan().map_err(|wrong| fail(&wrong))?;
    // Laws have boxes: `law` stays set only if the scenario is not valid without it.
    let mut values = pairs(&args.set, taken)?;
    values.retain(|(path, _)| whole_path(path)[0].text != "law");
    let known = checked.scenario().known_laws();
    let name = |law: &String| known.find(law).map(|info| info.name);
    let laws =
        laws.iter().map(|law| name(law).map_or_else(|| law.clone(), str::to_string)).collect();
    let experiment = args.law_files.load(&args.path, &values, &args.law).unwrap_or(checked);
    Ok(Subject::Scenario(Box::new(Explored {
        experiment,
        file: args.path.display().to_string(),
        laws,
        listener: Arc::new(Watchman),
    })))
}
