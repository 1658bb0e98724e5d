(module (memory (export "memory") 1)(func (export "ratewire_abi") (result i32) i32.const 1)(func (export "members") (param i32) (result i32) i32.const 0))
