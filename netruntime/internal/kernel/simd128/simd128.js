// Links a Go program that is built with the tag simd128 to the vector kernels.
"use strict";

// simd128 adds what the program imports, to be called before it is instantiated, and
// returns a function to be called with the instance before it is run. bytes are
// simd128.wasm. The kernels need the memory that the program exports, so the imports
// lead to whatever is there once they are called. Where the browser has no vectors the
// program hears of it, and computes without.
globalThis.simd128 = (imports, bytes) => {
  let kernels = null;
  const ready = () => (kernels ? 1 : 0);
  imports.simd128 = new Proxy({ ready }, {
    get: (own, name) => own[name] ?? ((...values) => kernels[name](...values)),
  });
  return async (instance) => {
    if (!WebAssembly.validate(bytes)) {
      console.info("no WebAssembly vectors (simd128) here: the networks run without, several times slower");
      return;
    }
    kernels = (await WebAssembly.instantiate(bytes, { env: { memory: instance.exports.mem } })).instance.exports;
  };
};
