use std::collections::BTreeMap;

use super::*;
use crate::{ConnectionRow, FlowRow, GroupRow, LinkRow};

#[test]
fn names_and_keys_are_of_one_plot_each() {
    let (names, keys) = (Plot::all().map(Plot::name), Plot::all().map(|plot| plot.entry().key));
    for of in [names.collect::<Vec<_>>(), keys.collect()] {
        let mut once = of.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), of.len(), "{of:?}");
    }
    assert_eq!(Plot::named("in-flight").map(Plot::title), Some("Window"));
    assert_eq!(Plot::named("goodput"), None, "the page's key is no name");
}

#[test]
fn a_series_has_one_number_and_a_number_one_series() {
    fn check<R: SampleKind>() {
        let mut keys = BTreeMap::new();
        for series in REGISTRY.iter().flat_map(|plot| R::of(&plot.source)) {
            let known = keys.insert(series.number, series.key);
            assert!(
                known.is_none_or(|known| known == series.key),
                "series {:?} and {known:?} have the number {}: a new series of this source takes \
                 one more than the largest",
                series.key,
                series.number
            );
        }
        assert!(keys.keys().copied().eq(0..keys.len() as u8), "{keys:?}");
        assert_eq!(recorded::<R>().len(), keys.len());
    }
    check::<FlowRow>();
    check::<f64>();
    check::<LinkRow>();
    check::<GroupRow>();
    check::<ConnectionRow>();
}

#[test]
fn plots_of_a_chart_are_of_the_same_things() {
    assert!(matches!(REGISTRY[0].chart, Chart::Opens(_)), "nothing to join");
    for pair in REGISTRY.windows(2) {
        if matches!(pair[1].chart, Chart::Joins) {
            assert_eq!(
                pair[0].source.is_of_link(),
                pair[1].source.is_of_link(),
                "{}",
                pair[1].name
            );
            assert!(
                !(pair[1].detail)(&[]).is_empty(),
                "{} cannot be distinguished from {}",
                pair[1].name,
                pair[0].name
            );
        }
    }
}

#[test]
fn the_error_of_an_unknown_plot_lists_those_there_are() {
    let error = serde_json::from_str::<Plot>("\"qeue\"").unwrap_err().to_string();
    assert!(error.starts_with("unknown variant `qeue`, expected one of `throughput`"), "{error}");
    assert_eq!(serde_json::from_str::<Plot>("\"queue\"").unwrap().name(), "queue");
}
