//! Members and frames for the tests of modules.

use super::{Frame, Member, Routing};

/// Frames without content.
pub(super) const NO_CONTENT: &[&[u8]] = &[b"" as &[u8]; 8];

/// Members that owe nothing, up or not.
pub(super) fn members(up: &[bool]) -> Vec<Member> {
    up.iter().map(|is_up| Member { is_up: *is_up, ..Member::default() }).collect()
}

/// The members that frames with these contents go to.
pub(super) fn route(
    routing: &mut impl Routing,
    members: &[Member],
    contents: &[&[u8]],
) -> Vec<usize> {
    let frames = (0..).zip(contents).map(|(number, content)| Frame { number, content });
    frames.map(|frame| routing.route(&frame, members).unwrap()).collect()
}
