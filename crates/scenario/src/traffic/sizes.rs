//! `sizes`: the sizes of arriving flows.

use std::sync::Arc;

use ratewire_inputs::cdf;
use ratewire_sim::setup::Sizes;
use ratewire_units::Bytes;

use crate::section::Section;

/// Reads the table; `payload` is the unit of sizes in packets.
pub(super) fn read(section: &Section<'_>, payload: Bytes) -> Option<Sizes> {
    let choice = section.only(&["fixed", "pareto", "lognormal", "cdf"]);
    let sizes = choice.and_then(|key| match key {
        "fixed" => {
            let size = mean(section, "fixed", payload)?;
            Some(Sizes::Fixed(Bytes::new((size + 0.5) as u64)))
        }
        "pareto" => {
            let s = section.section("pareto")?;
            let (shape, mean) = (s.number("shape"), mean(&s, "mean", payload));
            s.finish();
            Some(Sizes::Pareto { shape: shape?.value, mean: mean? })
        }
        "lognormal" => {
            let s = section.section("lognormal")?;
            let (mean, sigma) = (mean(&s, "mean", payload), s.number("sigma"));
            s.finish();
            Some(Sizes::LogNormal { mean: mean?, sigma: sigma?.value })
        }
        _ => {
            let name = section.text("cdf")?;
            let cdf = section.context.read_noting(name.value, name.span, cdf::parse)?;
            Some(Sizes::Empirical(Arc::new(cdf)))
        }
    });
    // Every key is marked as read, also for the test that compares keys with reads.
    for key in ["fixed", "pareto", "lognormal", "cdf"] {
        let _ = section.get(key);
    }
    section.finish();
    sizes
}

fn mean(section: &Section<'_>, key: &'static str, payload: Bytes) -> Option<f64> {
    let size = section.size(key)?;
    let bytes = size.value.bytes(payload);
    if bytes == Bytes::ZERO {
        section
            .context
            .error(size.span, format!("`{key}` cannot be nothing"))
            .help("allowed: at least 1 B");
        return None;
    }
    Some(bytes.as_f64())
}

/// Mean payload of a flow, and mean number of its packets of size `payload`.
pub(super) fn means(sizes: &Sizes, payload: Bytes) -> (f64, f64) {
    let each = payload.as_f64().max(1.0);
    match sizes {
        Sizes::Fixed(size) => (size.as_f64(), size.get().div_ceil(payload.get().max(1)) as f64),
        // A flow's last packet is half full on average.
        Sizes::Pareto { mean, .. } | Sizes::LogNormal { mean, .. } => (*mean, mean / each + 0.5),
        Sizes::Empirical(cdf) => (cdf.mean().max(1.0), cdf.mean() / each + 0.5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_whole_packets() {
        let payload = Bytes::new(1000);
        assert_eq!(means(&Sizes::Fixed(Bytes::new(2500)), payload), (2500.0, 3.0));
        assert_eq!(means(&Sizes::Pareto { shape: 1.4, mean: 4000.0 }, payload), (4000.0, 4.5));
    }
}
