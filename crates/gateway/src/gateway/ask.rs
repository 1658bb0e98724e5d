//! A request on its way to a member.

use std::rc::Rc;

use bytes::Bytes;
use ratewire_framing::Expect;
use tokio::time::Instant;

use super::client::{Client, Place};
use super::counts::Cause;
use super::upload::Upload;

/// A request that no member has yet.
pub(super) struct Ask {
    pub(super) client: Rc<Client>,
    pub(super) place: Place,
    pub(super) expect: Expect,
    pub(super) since: Instant,
    /// Content of the frame.
    pub(super) content: Bytes,
    /// Whether any member will do.
    pub(super) is_for_any: bool,
    /// Whether to do it twice is as good as once.
    pub(super) may_repeat: bool,
    /// The rest of the request, if it is sent while it arrives.
    pub(super) upload: Option<Rc<Upload>>,
}

impl Ask {
    /// What the request is expected to cost, bytes to and fro.
    pub(super) fn cost(&self) -> u64 {
        self.content.len() as u64 + self.client.expected()
    }

    /// Tells the client that there is no answer.
    pub(super) fn fail(self, cause: Cause, why: &str) {
        if let Some(upload) = &self.upload {
            upload.end();
        }
        self.client.fail(self.place, self.expect, (cause, why), false);
    }
}
