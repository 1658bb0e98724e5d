//! The groups and connections of an overlay.

use ratewire_table::{Column, Grid};

use super::{TableOptions, more};
use crate::figure::{count, mean, percent, plural, rate, seconds};
use crate::{OverlaySummary, Run};

/// Two tables and their totals; empty without an overlay.
pub(super) fn overlay(run: &Run, options: &TableOptions) -> String {
    let Some(overlay) = &run.summary.overlay else { return String::new() };
    format!(
        "\n{}\n{}{}",
        groups(overlay, options),
        connections(overlay, options),
        total(overlay, options)
    )
}

fn groups(overlay: &OverlaySummary, options: &TableOptions) -> String {
    let right = |title: &str, order| Column::number(title).left_out(order);
    let mut grid = Grid::new(vec![
        Column::text("group").shrinks(),
        right("senders", 1),
        right("sent", 0),
        right("blocked", 1),
        right("received at", 2),
        right("each", 2),
        right("delivered in", 1),
        right("at most", 3),
    ]);
    for group in overlay.groups.iter().take(options.flows) {
        grid.row(vec![
            group.name.clone(),
            count(group.senders),
            rate(group.sent_bps),
            percent(group.blocked_share),
            plural(group.receiving_nodes as usize, "node"),
            rate(group.received_bps),
            seconds(group.delivery_mean_s),
            seconds(group.delivery_max_s),
        ]);
    }
    grid.render(&options.style()) + &more(overlay.groups.len(), options.flows, options)
}

fn connections(overlay: &OverlaySummary, options: &TableOptions) -> String {
    let right = |title: &str, order| Column::number(title).left_out(order);
    let mut grid = Grid::new(vec![
        Column::text("connection").shrinks(),
        right("price mean", 0),
        right("waiting mean", 0),
        right("max", 0),
        right("messages", 1),
        right("nodes' own", 2),
    ]);
    // The dearest first: senders wait for those.
    let mut order: Vec<_> = overlay.connections.iter().collect();
    order.sort_by(|a, b| {
        b.price_mean.total_cmp(&a.price_mean).then(b.data_bytes.cmp(&a.data_bytes))
    });
    for connection in order.iter().take(options.links) {
        grid.row(vec![
            connection.name.clone(),
            format!("${:.2}", connection.price_mean),
            mean(connection.waiting_mean),
            count(connection.waiting_max),
            crate::figure::bytes(connection.data_bytes),
            crate::figure::bytes(connection.control_bytes),
        ]);
    }
    grid.render(&options.style()) + &more(overlay.connections.len(), options.links, options)
}

fn total(overlay: &OverlaySummary, options: &TableOptions) -> String {
    let mut text = format!("sent: {}", rate(overlay.sent_bps));
    if let (Some(most), Some(ratio)) = (overlay.optimum_bps, overlay.optimum_ratio) {
        text += &format!(", of {} at the optimum (linear programme): {ratio:.4}", rate(most));
    }
    if overlay.views > 0 {
        text += &format!("; {} of daemons", plural(overlay.views as usize, "new view"));
    }
    text += &format!("; nodes' own bytes: {} of the messages'", percent(overlay.control_share));
    format!("{}\n", options.style().dim(&text))
}
