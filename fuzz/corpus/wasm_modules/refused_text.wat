(module (func
