//! The receiver's part: it returns the last header that came, as the law's class has it returned.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ratewire::laws::Sink;
use ratewire::units::Time;

use super::{ConfiguredLaw, PythonHeader};

/// One flow's receiver.
#[derive(Debug)]
pub struct PythonReceiver {
    law: Arc<ConfiguredLaw>,
    last: Option<PythonHeader>,
}

impl PythonReceiver {
    pub fn new(law: &Arc<ConfiguredLaw>) -> PythonReceiver {
        PythonReceiver { law: law.clone(), last: None }
    }

    /// What the class returns for a header.
    fn returned(&self, header: PythonHeader) -> Option<PythonHeader> {
        let (fault, length) = (&self.law.fault, self.law.what.header_length);
        if fault.is_there() {
            return None;
        }
        let bytes = Python::attach(|py| {
            let class = self.law.info.get().class.bind(py);
            let own = PyBytes::new(py, &header.0[..length]);
            let bytes =
                class.call_method1("returned", (own,)).and_then(|bytes| bytes.extract::<Vec<u8>>());
            bytes.map_err(|error| fault.raise("returned", error)).ok()
        })?;
        let header = PythonHeader::of(&bytes, length);
        header.map_err(|wrong| fault.note(format!("`returned` made {wrong}"))).ok()
    }
}

impl Sink for PythonReceiver {
    type Header = PythonHeader;

    fn on_data(&mut self, _now: Time, header: &PythonHeader) {
        self.last = Some(*header);
    }

    fn on_ack(&mut self, _now: Time) -> Option<PythonHeader> {
        let last = self.last?;
        if self.law.what.returned { self.returned(last) } else { Some(last) }
    }
}
