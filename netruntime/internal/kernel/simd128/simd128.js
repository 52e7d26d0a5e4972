// Links a Go program that is built with the tag simd128 to the vector kernels.
"use strict";

// simd128 adds what the program imports, to be called before it is instantiated, and
// returns a function to be called with the instance before it is run. modules are the
// bytes of simd128fma.wasm and simd128.wasm. The first is linked if the browser runs it
// and rounds a·b + c once, else the second: then bits differ from other processors'. The
// kernels need the memory that the program exports, so the imports lead to whatever is
// there once they are called. Where the browser has no vectors the program hears of it,
// and computes without.
globalThis.simd128 = (imports, modules) => {
  let kernels = null;
  const fused = (k) => k.fma(1 + 2 ** -12, 1 + 2 ** -12, -1 - 2 ** -11) === 2 ** -24;
  const ready = () => (!kernels ? 0 : fused(kernels) ? 2 : 1);
  imports.simd128 = new Proxy({ ready }, {
    get: (own, name) => own[name] ?? ((...values) => kernels[name](...values)),
  });
  return async (instance) => {
    for (const bytes of modules) {
      if (!WebAssembly.validate(bytes)) continue;
      kernels = (await WebAssembly.instantiate(bytes, { env: { memory: instance.exports.mem } })).instance.exports;
      if (fused(kernels)) return;
    }
    if (kernels) return;
    console.info("no WebAssembly vectors (simd128) here: the networks run without, several times slower");
  };
};
