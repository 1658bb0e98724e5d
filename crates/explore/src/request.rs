//! What a page asks for: the scenario with these values, under these laws.

use ratewire_scenario::whole_path;
use serde::Deserialize;

/// Most bytes of a request's body.
pub(crate) const MOST_BYTES: usize = 256 << 10;
/// Most values that are set at once.
const MOST_VALUES: usize = 500;
/// Most laws of a run.
const MOST_LAWS: usize = 64;
/// Most bytes of a path, a value or a law's name.
pub(crate) const LONGEST_TEXT: usize = 16 << 10;

/// A run that a page asks for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// Random name of the page, which distinguishes it from other pages of the same server.
    pub(crate) page: String,
    /// Values set in place of the scenario's own: paths and values, each path once.
    pub(crate) values: Vec<(String, String)>,
    /// The laws.
    pub(crate) laws: Vec<String>,
    /// Number of the results that the page shows, whose lines are to stay.
    #[serde(default)]
    pub(crate) before: Option<u64>,
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("the request is not the JSON of this version's page; reload the page")]
    Json(#[source] serde_json::Error),
    #[error("{0} values are set; at most {MOST_VALUES} are allowed")]
    Values(usize),
    #[error("{0} laws are ticked; from 1 to {MOST_LAWS} are allowed")]
    Laws(usize),
    #[error("a path, value or name is longer than {LONGEST_TEXT} bytes; shorten it")]
    Long,
    #[error("{0} is set twice; leave one of them out")]
    Twice(String),
    #[error("`law` is set; tick the boxes of the laws instead")]
    Law,
}

impl RunRequest {
    /// Reads the body of a request.
    pub(crate) fn read(body: &[u8]) -> Result<RunRequest, RequestError> {
        let request: RunRequest = serde_json::from_slice(body).map_err(RequestError::Json)?;
        if request.values.len() > MOST_VALUES {
            return Err(RequestError::Values(request.values.len()));
        }
        if request.laws.is_empty() || request.laws.len() > MOST_LAWS {
            return Err(RequestError::Laws(request.laws.len()));
        }
        let pairs = request.values.iter().flat_map(|(path, value)| [path, value]);
        let texts = pairs.chain(&request.laws).chain([&request.page]);
        if texts.into_iter().any(|text| text.len() > LONGEST_TEXT) {
            return Err(RequestError::Long);
        }
        let mut paths = Vec::new();
        for (path, _) in &request.values {
            let whole = whole_path(path);
            if whole[0].text == "law" {
                return Err(RequestError::Law);
            }
            // The command line takes each path once.
            if paths.contains(&whole) {
                return Err(RequestError::Twice(path.clone()));
            }
            paths.push(whole);
        }
        Ok(request)
    }
}

/// A request to stop the run of a page.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopRequest {
    /// Name of the page, as in [`RunRequest::page`].
    pub(crate) page: String,
}

impl StopRequest {
    /// Reads the body of a request.
    pub(crate) fn read(body: &[u8]) -> Result<StopRequest, RequestError> {
        serde_json::from_slice(body).map_err(RequestError::Json)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(body: &str) -> String {
        RunRequest::read(body.as_bytes()).expect_err("a refusal").to_string()
    }

    #[test]
    fn values_and_laws_are_read_within_bounds() {
        let request = RunRequest::read(br#"{"page":"p","values":[["seed","2"]],"laws":["xcp"]}"#)
            .expect("a run");
        assert_eq!(request.values, [("seed".to_string(), "2".to_string())]);
        assert!(refused("{").starts_with("the request is not the JSON"));
        assert!(refused(r#"{"page":"p","values":[],"laws":["xcp"],"also":1}"#).contains("reload"));
        assert!(refused(r#"{"page":"p","values":[],"laws":[]}"#).starts_with("0 laws are ticked"));
        // Spellings of one path are one path.
        let twice = r#"{"page":"p","values":[["bottleneck.rate","1M"],["topology.bottleneck.rate","2M"]],"laws":["a"]}"#;
        assert_eq!(refused(twice), "topology.bottleneck.rate is set twice; leave one of them out");
        assert!(
            refused(r#"{"page":"p","values":[["law","xcp"]],"laws":["a"]}"#)
                .starts_with("`law` is set")
        );
        let many: Vec<[String; 2]> = (0..501).map(|n| [format!("k{n}"), "1".into()]).collect();
        let many = serde_json::json!({ "page": "p", "values": many, "laws": ["xcp"] }).to_string();
        assert!(refused(&many).starts_with("501 values"));
        let long = serde_json::json!({ "page": "p", "values": [["a", "x".repeat(20_000)]], "laws": ["xcp"] });
        assert!(refused(&long.to_string()).contains("longer than 16384 bytes"));
    }

    /// Replays the fuzz target's corpus.
    #[test]
    fn the_corpus_is_read_or_refused() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/explore_requests");
        let (mut files, mut runs) = (0, 0);
        for file in std::fs::read_dir(folder).expect("the corpus") {
            let body = std::fs::read(file.expect("a file").path()).expect("an input");
            files += 1;
            runs += usize::from(RunRequest::read(&body).is_ok());
            assert!(RunRequest::read(&body).is_err() || StopRequest::read(&body).is_err());
        }
        assert!(files >= 6 && runs >= 2, "{files} {runs}");
    }

    proptest! {
        #[test]
        fn no_body_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(request) = RunRequest::read(&body) {
                prop_assert!(!request.laws.is_empty());
            }
        }

        #[test]
        fn what_is_read_sets_each_path_once(
            paths in prop::collection::vec("[\"ab.*1 ]{0,6}", 0..5),
            value in ".{0,8}",
        ) {
            let values: Vec<(&str, &str)> = paths.iter().map(|path| (&**path, &*value)).collect();
            let body = serde_json::json!({ "page": "p", "values": values, "laws": ["xcp"] }).to_string();
            if let Ok(request) = RunRequest::read(body.as_bytes()) {
                let all: Vec<_> = request.values.iter().map(|(path, _)| whole_path(path)).collect();
                prop_assert!((1..all.len()).all(|at| !all[..at].contains(&all[at])));
            }
        }

        #[test]
        fn what_a_page_writes_is_read(
            values in prop::collection::btree_map("[a-z]{1,8}(\\.[a-z]{1,8}){0,2}", ".{0,40}", 0..6),
            laws in prop::collection::vec("[a-z@]{1,8}", 1..4),
        ) {
            let values: Vec<(String, String)> = values.into_iter().collect();
            let mut paths: Vec<_> = values.iter().map(|(path, _)| whole_path(path)).collect();
            paths.sort_by_key(|path| format!("{path:?}"));
            paths.dedup();
            let body = serde_json::json!({ "page": "p", "values": values, "laws": laws }).to_string();
            match RunRequest::read(body.as_bytes()) {
                Ok(request) => prop_assert_eq!((request.values, request.laws), (values, laws)),
                Err(RequestError::Law) => prop_assert!(values.iter().any(|(path, _)| path.starts_with("law"))),
                Err(refusal) => prop_assert!(paths.len() < values.len(), "{}", refusal),
            }
        }
    }
}
