//! The question why a flow sends at its rate, and the answer if no packet was followed.

use ratewire_report::Run;
use ratewire_scenario::Plan;
use ratewire_sim::record::FlowId;
use ratewire_sim::setup::TrafficSpec;
use ratewire_units::{Duration, Time};

use crate::Error;
use crate::results::error::find;

/// Parses the flow and the time of a question such as `flow-1@12s`.
pub(crate) fn question_of(plan: &Plan, question: &str) -> Result<(FlowId, Time), Error> {
    let wrong = |what: &str| Error::Setting {
        setting: format!("why {question}"),
        reason: what.to_string(),
    };
    let Some((name, time)) = question.rsplit_once('@') else {
        return Err(wrong("write FLOW@TIME, as in s1-d1@12s"));
    };
    let flows = &plan.setup.flows;
    let known: Vec<&str> = flows.iter().map(|f| f.name.as_str()).collect();
    let flow = find("flow", name, &known).map_err(|reason| {
        let of_traffic = |class: &&TrafficSpec| {
            let rest = name.strip_prefix(class.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        match plan.setup.traffic.iter().find(of_traffic) {
            Some(class) => wrong(&format!(
                "flows of the traffic {:?} come and go; only a listed flow can be followed, one of a [[flow]]",
                class.name
            )),
            None => wrong(&reason),
        }
    })?;
    let after: Duration = time.parse().map_err(|e| wrong(&format!("{e}")))?;
    if after >= plan.setup.duration {
        return Err(wrong(&format!("the run ends at {}", plan.setup.duration)));
    }
    Ok((FlowId(flow as u32), Time::ZERO + after))
}

/// The answer about a flow of which no packet could be followed.
pub(crate) fn no_answer((flow, from): (FlowId, Time), run: &Run) -> String {
    let (about, end) = (&run.info.flows[flow.0 as usize], &run.summary.flows[flow.0 as usize]);
    let completed = end.completion_s.map_or_else(String::new, |took| {
        format!(": it completed at {}", Duration::from_secs_f64(end.start_s + took))
    });
    format!(
        "Why {} sends as it does under {}, seed {}\n\nIt sent no data packet from {} on{completed}. There is nothing to tell of its \
         rate.\n",
        about.name,
        about.law,
        run.summary.seed,
        from.since(Time::ZERO)
    )
}
