//! A running instance of a module: its memory, and calls into it.

use ratewire_anypoint::routing::{Frame, Member};
use ratewire_units::Bytes;
use wasmi::{Memory, Store, StoreLimits, StoreLimitsBuilder, TrapCode, TypedFunc, WasmParams};

use crate::abi::{self, Export, MEMORY, MOST_CONTENT, RECORD, VERSION};
use crate::error::{LoadError, Stop};
use crate::limits::{Limits, TABLE};

/// An instance. After a [`Stop`] its state is of no use, except after [`Stop::Buffer`].
#[derive(Debug)]
pub(crate) struct Instance {
    store: Store<StoreLimits>,
    memory: Memory,
    members: TypedFunc<i32, i32>,
    route: TypedFunc<(i64, i32, i32), i32>,
    /// Fuel of a call.
    fuel: u64,
    /// Number of first bytes of a frame that the module sees.
    wants: usize,
    /// Where the module wants the frame.
    frame_at: usize,
    /// Where the module wants the records.
    members_at: usize,
    /// Number of members that the module has a buffer for; `None` before the first frame.
    room: Option<usize>,
}

impl Instance {
    /// Makes an instance, and asks for version, number of bytes and the frame's buffer. The same
    /// module under the same limits always gives the same result.
    pub(crate) fn new(module: &wasmi::Module, limits: &Limits) -> Result<Instance, LoadError> {
        let bounds = StoreLimitsBuilder::new()
            .memory_size(limits.memory.get() as usize)
            .table_elements(TABLE)
            .instances(1)
            .memories(1)
            .tables(1)
            .build();
        let mut store = Store::new(module.engine(), bounds);
        store.limiter(|bounds| bounds);
        store.set_fuel(limits.fuel).map_err(invalid)?;
        let instance = wasmi::Instance::new(&mut store, module, &[])
            .map_err(|error| LoadError::fails("start", &stop(&error)))?;
        let memory = instance.get_memory(&store, MEMORY);
        let memory = memory.ok_or(LoadError::Missing { export: MEMORY })?;
        let members = instance.get_typed_func(&store, Export::Members.name()).map_err(invalid)?;
        let route = instance.get_typed_func(&store, Export::Route.name()).map_err(invalid)?;
        let (fuel, room) = (limits.fuel, None);
        let mut new = Instance {
            store,
            memory,
            members,
            route,
            fuel,
            wants: 0,
            frame_at: 0,
            members_at: 0,
            room,
        };
        new.ask(&instance)?;
        Ok(new)
    }

    /// Asks for everything that does not depend on a frame.
    fn ask(&mut self, instance: &wasmi::Instance) -> Result<(), LoadError> {
        let fails = |export: Export| move |stop| LoadError::fails(export.name(), &stop);
        let abi = instance.get_typed_func(&self.store, Export::Abi.name()).map_err(invalid)?;
        let found = self.call(abi, ()).map_err(fails(Export::Abi))?;
        if found != VERSION {
            return Err(LoadError::Version { found });
        }
        let Ok(wants) = instance.get_typed_func(&self.store, Export::Wants.name()) else {
            return Ok(());
        };
        let found = self.call(wants, ()).map_err(fails(Export::Wants))?;
        let wants = usize::try_from(found).ok().filter(|wants| *wants <= MOST_CONTENT);
        self.wants = wants.ok_or(LoadError::Wants { found })?;
        if self.wants > 0 {
            let missing = |_| LoadError::Missing { export: Export::Frame.signature() };
            let frame = instance.get_typed_func(&self.store, Export::Frame.name());
            let address =
                self.call(frame.map_err(missing)?, found).map_err(fails(Export::Frame))?;
            self.frame_at = self.buffer(address, self.wants).map_err(fails(Export::Frame))?;
        }
        Ok(())
    }

    /// Number of first bytes of a frame that the module sees.
    pub(crate) fn wants(&self) -> usize {
        self.wants
    }

    /// Present size of the module's memory.
    pub(crate) fn memory(&self) -> Bytes {
        Bytes::new(self.memory.data_size(&self.store) as u64)
    }

    /// What the module returns for a frame.
    pub(crate) fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Result<i32, Stop> {
        if self.room != Some(members.len()) {
            self.make_room(members.len())?;
        }
        let content = &frame.content[..frame.content.len().min(self.wants)];
        let memory = self.memory.data_mut(&mut self.store);
        memory[self.frame_at..][..content.len()].copy_from_slice(content);
        abi::write_members(&mut memory[self.members_at..][..members.len() * RECORD], members);
        let arguments = (frame.number as i64, content.len() as i32, members.len() as i32);
        self.call(self.route, arguments)
    }

    /// Asks for a buffer for the records of this many members.
    pub(crate) fn make_room(&mut self, count: usize) -> Result<(), Stop> {
        let address = self.call(self.members, i32::try_from(count).unwrap_or(i32::MAX))?;
        self.members_at = self.buffer(address, count.saturating_mul(RECORD))?;
        self.room = Some(count);
        Ok(())
    }

    /// The address of a buffer of the module. Its memory never shrinks, so a buffer that is within
    /// it stays so.
    fn buffer(&self, address: i32, length: usize) -> Result<usize, Stop> {
        let (address, memory) = (address as u32, self.memory.data_size(&self.store));
        match (address as usize).checked_add(length) {
            Some(end) if end <= memory => Ok(address as usize),
            _ => Err(Stop::Buffer { address, length, memory }),
        }
    }

    fn call<P: WasmParams>(&mut self, function: TypedFunc<P, i32>, with: P) -> Result<i32, Stop> {
        self.store.set_fuel(self.fuel).map_err(|error| stop(&error))?;
        function.call(&mut self.store, with).map_err(|error| stop(&error))
    }
}

fn invalid(error: wasmi::Error) -> LoadError {
    LoadError::Invalid(Box::new(error))
}

fn stop(error: &wasmi::Error) -> Stop {
    match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => Stop::Fuel,
        _ => Stop::Trap(error.to_string()),
    }
}
