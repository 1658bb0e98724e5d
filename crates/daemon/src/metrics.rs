//! A daemon's state as metrics for Prometheus.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet, prometheus_text, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
pub use prometheus_client::registry::Unit;

/// A format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prometheus's own text format, which all scrapers read.
    Prometheus,
    /// OpenMetrics, which states units as well.
    OpenMetrics,
}

impl Format {
    /// The format that fits the header `Accept` of a request.
    pub fn accepted(accept: &str) -> Format {
        match accept.contains("application/openmetrics-text") {
            true => Format::OpenMetrics,
            false => Format::Prometheus,
        }
    }

    /// Value of the header `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Prometheus => prometheus_text::CONTENT_TYPE,
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// The text of the metrics that `write` makes of a state. `prefix` and `_` begin each name.
///
/// # Errors
/// If the encoder refuses a value.
pub fn text<S: fmt::Debug + Send + Sync + 'static>(
    prefix: &str,
    format: Format,
    state: S,
    write: fn(&mut Metrics<'_>, &S) -> fmt::Result,
) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix(prefix);
    registry.register_collector(Box::new(Scrape { state, write }));
    let mut out = String::new();
    match format {
        Format::Prometheus => prometheus_text::encode(&mut out, &registry)?,
        Format::OpenMetrics => text::encode(&mut out, &registry)?,
    }
    Ok(out)
}

/// The state at one scrape.
#[derive(Debug)]
struct Scrape<S> {
    state: S,
    write: fn(&mut Metrics<'_>, &S) -> fmt::Result,
}

impl<S: fmt::Debug + Send + Sync + 'static> Collector for Scrape<S> {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.write)(&mut Metrics { encoder }, &self.state)
    }
}

/// Values in buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Sum of the values.
    pub sum: f64,
    /// Upper bounds of the buckets, in order, and how many values each has above the bound before.
    /// The last bound is infinity.
    pub buckets: Vec<(f64, u64)>,
}

/// Takes metrics, each with its name, its meaning and its unit. The format adds the unit to the
/// name, and `_total` to a counter's.
#[derive(Debug)]
pub struct Metrics<'a> {
    encoder: DescriptorEncoder<'a>,
}

impl Metrics<'_> {
    /// The metric `build_info`: what the daemon is, in labels.
    ///
    /// # Errors
    /// If the encoder refuses the metric.
    pub fn build(&mut self, help: &str, labels: &[(&str, &str)]) -> fmt::Result {
        let kind = MetricType::Info;
        let mut metric = self.encoder.encode_descriptor("build", help, None, kind)?;
        metric.encode_info(&labels)
    }

    /// A value that may rise and fall.
    ///
    /// # Errors
    /// If the encoder refuses the metric.
    pub fn gauge<V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        value: V,
    ) -> fmt::Result {
        let kind = MetricType::Gauge;
        let mut metric = self.encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
        metric.encode_gauge(&value)
    }

    /// A value that rises from the daemon's start.
    ///
    /// # Errors
    /// If the encoder refuses the metric.
    pub fn counter<V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        value: V,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let mut metric = self.encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
        metric.encode_counter::<NoLabelSet, V, f64>(&value, None)
    }

    /// A gauge for each set of labels.
    ///
    /// # Errors
    /// If the encoder refuses the metric.
    pub fn gauges<'s, V: EncodeGaugeValue, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        series: impl Iterator<Item = ([(&'s str, &'s str); N], V)>,
    ) -> fmt::Result {
        let kind = MetricType::Gauge;
        let mut metric = self.encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in series {
            metric.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    /// A counter for each set of labels.
    ///
    /// # Errors
    /// If the encoder refuses the metric.
    pub fn counters<'s, V: EncodeCounterValue, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        series: impl Iterator<Item = ([(&'s str, &'s str); N], V)>,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let mut metric = self.encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in series {
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, V, f64>(&value, None)?;
        }
        Ok(())
    }

    /// A histogram for each set of labels.
    ///
    /// # Errors
    /// If the encoder refuses the metric.
    pub fn histograms<'s, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        series: impl Iterator<Item = ([(&'s str, &'s str); N], Histogram)>,
    ) -> fmt::Result {
        let kind = MetricType::Histogram;
        let mut metric = self.encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, Histogram { sum, buckets }) in series {
            let count = buckets.iter().map(|(_, count)| count).sum();
            let mut of_labels = metric.encode_family(&labels)?;
            of_labels.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(out: &mut Metrics<'_>, sent: &[u64; 2]) -> fmt::Result {
        out.build("Name and version", &[("switch", "edge")])?;
        out.gauge("members", "Members", None, 2u64)?;
        out.counter("uptime", "Time since the start", Some(Unit::Seconds), 1.5)?;
        let series = sent.iter().zip(["a", "b"]).map(|(sent, peer)| ([("peer", peer)], *sent));
        out.counters("sent", "Bytes to a peer", Some(Unit::Bytes), series)?;
        let buckets = vec![(0.5, 3), (2.0, 4), (f64::INFINITY, 1)];
        let histogram = Histogram { sum: 9.5, buckets };
        let each = ["a", "b"].map(|peer| ([("peer", peer)], histogram.clone())).into_iter();
        out.histograms("delay", "Delay of a peer", Some(Unit::Seconds), each)?;
        out.histograms("wait", "Waiting", None, std::iter::once(([], histogram)))
    }

    #[test]
    fn each_metric_has_the_prefix_its_meaning_and_its_unit() {
        let said = text("ratewire_switch", Format::Prometheus, [7, 8], write).unwrap();
        for line in [
            "# HELP ratewire_switch_members Members",
            "# TYPE ratewire_switch_members gauge",
            "ratewire_switch_members 2",
            "ratewire_switch_build_info{switch=\"edge\"} 1",
            "ratewire_switch_uptime_seconds_total 1.5",
            "ratewire_switch_sent_bytes_total{peer=\"b\"} 8",
            "# TYPE ratewire_switch_delay_seconds histogram",
            "ratewire_switch_delay_seconds_bucket{peer=\"a\",le=\"0.5\"} 3",
            "ratewire_switch_delay_seconds_bucket{peer=\"a\",le=\"2\"} 7",
            "ratewire_switch_delay_seconds_bucket{peer=\"a\",le=\"+Inf\"} 8",
            "ratewire_switch_delay_seconds_sum{peer=\"b\"} 9.5",
            "ratewire_switch_delay_seconds_count{peer=\"b\"} 8",
            "ratewire_switch_wait_bucket{le=\"+Inf\"} 8",
        ] {
            assert!(said.lines().any(|said| said == line), "{line} is not in\n{said}");
        }
        let said = text("ratewire_switch", Format::OpenMetrics, [7, 8], write).unwrap();
        assert!(said.ends_with("# EOF\n") && said.contains("# UNIT "), "{said}");
        let last = "\nratewire_switch_delay_seconds_bucket{le=\"+Inf\",peer=\"b\"} 8\n";
        assert!(said.contains(last), "{said}");
    }

    #[test]
    fn a_scraper_chooses_the_format() {
        assert_eq!(Format::accepted("text/plain"), Format::Prometheus);
        let both = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
        assert_eq!(Format::accepted(both), Format::OpenMetrics);
    }
}
