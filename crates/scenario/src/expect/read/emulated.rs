//! The bound of emulated runs: `emulated = { equals = ..., basis = ..., cause = ... }`.

use super::{basis_of, bound, ineffective};
use crate::expect::EmulatedBound;
use crate::expect::metrics::MetricInfo;
use crate::section::Section;

/// Reads the bound; `None` if there is none, or after an error.
pub(super) fn read(section: &Section<'_>, info: &MetricInfo) -> Option<EmulatedBound> {
    let inner = section.section("emulated")?;
    let allowed = bound::read(&inner, info);
    let basis = inner.word("basis").map(|word| basis_of(word.value));
    let cause = inner.text("cause").map(|at| at.value.to_string());
    inner.finish();
    let allowed = allowed?;
    ineffective::bound(&inner, info, &allowed);
    Some(EmulatedBound { bound: allowed, basis: basis?, cause: cause? })
}
