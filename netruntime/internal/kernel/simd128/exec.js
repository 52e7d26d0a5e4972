// Runs Go tests in node, as Go's own wasm_exec_node.js does, with the kernels linked:
//   GOOS=js GOARCH=wasm go test -tags simd128 -exec "node --stack-size=8192 $PWD/netruntime/internal/kernel/simd128/exec.js" ./netruntime/internal/kernel
"use strict";

const { execSync } = require("child_process");
const { readFileSync } = require("fs");
const { join } = require("path");

require("./simd128.js");
const names = (process.env.SIMD128 || "simd128fma.wasm simd128.wasm").split(" "); // those to link
const kernels = names.map((name) => readFileSync(join(__dirname, name)));
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (program, imports) => {
  WebAssembly.instantiate = instantiate;
  const link = simd128(imports, kernels);
  const made = await instantiate(program, imports);
  await link(made.instance);
  return made;
};
require(join(execSync("go env GOROOT").toString().trim(), "lib/wasm/wasm_exec_node.js"));
