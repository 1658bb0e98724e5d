;; Does what the first byte of a frame says, with the four bytes after it as a number.
(module
  (memory (export "memory") 1)
  (table 1 funcref)
  (global $buffer (mut i32) (i32.const 64))

  (func (export "ratewire_abi") (result i32)
    i32.const 1)

  (func (export "wants") (result i32)
    i32.const 5)

  (func (export "frame") (param i32) (result i32)
    i32.const 0)

  (func (export "members") (param i32) (result i32)
    global.get $buffer)

  (func $recurse (param i32) (result i32)
    (i32.add (i32.const 1) (call $recurse (local.get 0))))

  (func (export "route") (param i64 i32 i32) (result i32)
    (local $number i32)
    (local.set $number (i32.load (i32.const 1)))
    (block $answer
      (block $write
        (block $fill
          (block $grow
            (block $load
              (block $recurse
                (block $loop
                  (block $trap
                    (br_table $answer $trap $loop $recurse $load $grow $fill $write $answer
                      (i32.load8_u (i32.const 0))))
                  unreachable)
                (loop $again (br $again)))
              (return (call $recurse (i32.const 0))))
            (return (i32.load (local.get $number))))
          (return (memory.grow (local.get $number))))
        (memory.fill (i32.const 1024) (i32.const 255) (local.get $number))
        (return (i32.const 0)))
      (i32.store8 (local.get $number) (i32.const 1))
      (return (i32.const 0)))
    local.get $number))
