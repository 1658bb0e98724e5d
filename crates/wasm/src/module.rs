//! Modules that are ready to run.

use ratewire_units::Bytes;
use wasmi::{CompilationMode, Config, EnforcedLimits, Engine, ExternType, OperatorCost};

use crate::abi::{Export, MEMORY};
use crate::error::LoadError;
use crate::instance::Instance;
use crate::limits::{CALL, DEPTH, FILE, Limits, STACK};

/// First bytes of a binary.
const MAGIC: &[u8] = b"\0asm";

/// Size of a page of WebAssembly's memory.
const PAGE: u64 = 65_536;

/// A module that was checked and compiled. Clones share the code.
#[derive(Clone, Debug)]
pub struct Module {
    code: wasmi::Module,
    limits: Limits,
    wants: usize,
}

impl Module {
    /// Loads a module, as binary or text, with the default limits.
    ///
    /// # Errors
    /// The first thing that is wrong with the module, and its remedy.
    pub fn load(file: &[u8]) -> Result<Module, LoadError> {
        Module::load_with(file, Limits::default())
    }

    /// Loads a module, as binary or text, whose instances have these limits.
    ///
    /// # Errors
    /// The first thing that is wrong with the module, and its remedy.
    pub fn load_with(file: &[u8], limits: Limits) -> Result<Module, LoadError> {
        let size = Bytes::new(file.len() as u64);
        if size > FILE {
            return Err(LoadError::TooLarge { size, limit: FILE });
        }
        let code = match file.starts_with(MAGIC) {
            true => compile(file)?,
            false => compile(&assemble(file)?)?,
        };
        check(&code, &limits)?;
        let mut instance = Instance::new(&code, &limits)?;
        let members = Export::Members.name();
        instance.make_room(1).map_err(|stop| LoadError::fails(members, &stop))?;
        Ok(Module { wants: instance.wants(), code, limits })
    }

    /// Number of first bytes of a frame that the module sees; 0 if it does not read frames.
    pub fn wants(&self) -> usize {
        self.wants
    }

    /// The limits of the module's instances.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn instance(&self) -> Result<Instance, LoadError> {
        Instance::new(&self.code, &self.limits)
    }
}

/// Turns text into a binary.
fn assemble(file: &[u8]) -> Result<Vec<u8>, LoadError> {
    let text = str::from_utf8(file).map_err(|_| LoadError::NotWasm)?;
    if !text.trim_start().starts_with(['(', ';']) {
        return Err(LoadError::NotWasm);
    }
    wat::parse_str(text).map_err(|error| LoadError::Text(Box::new(error)))
}

fn compile(binary: &[u8]) -> Result<wasmi::Module, LoadError> {
    let cost = OperatorCost {
        call: CALL,
        call_indirect: CALL,
        return_call: CALL,
        return_call_indirect: CALL,
        ..OperatorCost::default()
    };
    let mut config = Config::default();
    config
        .operator_cost(cost)
        .consume_fuel(true)
        .compilation_mode(CompilationMode::Eager)
        .enforced_limits(EnforcedLimits::strict())
        .ignore_custom_sections(true)
        .wasm_multi_memory(false)
        .set_max_recursion_depth(DEPTH)
        .set_max_stack_height(STACK.get() as usize);
    let engine = Engine::new(&config);
    // The compiler checks as it goes, and with these limits divides by the number of functions
    // before it has checked that there are any (wasmi 2.0.0).
    let valid = wasmi::Module::validate(&engine, binary);
    let code = valid.and_then(|()| wasmi::Module::new(&engine, binary));
    code.map_err(|error| LoadError::Invalid(Box::new(error)))
}

/// Checks what a module states of itself before any of its code runs.
fn check(code: &wasmi::Module, limits: &Limits) -> Result<(), LoadError> {
    if let Some(import) = code.imports().next() {
        let (module, name) = (import.module().to_string(), import.name().to_string());
        return Err(LoadError::Import { module, name });
    }
    let Some(ExternType::Memory(memory)) = code.get_export(MEMORY) else {
        return Err(LoadError::Missing { export: MEMORY });
    };
    let size = Bytes::new(memory.minimum().saturating_mul(PAGE));
    if size > limits.memory {
        return Err(LoadError::Memory { size, limit: limits.memory });
    }
    for export in Export::ALL {
        match code.get_export(export.name()) {
            Some(ExternType::Func(found)) if export.has_type(&found) => {}
            Some(ExternType::Func(_)) => {
                return Err(LoadError::Signature { required: export.signature() });
            }
            None if !export.is_required() => {}
            _ => return Err(LoadError::Missing { export: export.signature() }),
        }
    }
    Ok(())
}
