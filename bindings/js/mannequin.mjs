/**
 * mannequin for JavaScript, in browsers and in node: the functions of mannequin.h.
 *
 *     import { load, Model, World, GOAL_STICK } from "./mannequin.mjs";
 *     await load();
 *     const dog = new Model(await (await fetch("dog-free.safetensors")).arrayBuffer());
 *     const world = new World();
 *     const crowd = world.crowd(dog, 100);
 *     const agent = crowd.spawn([0, 0, 0], 0);
 *     agent.goal({ kind: GOAL_STICK, move: [0, 0, 1], speed: 1.5 });
 *     const alpha = world.step(1 / 60); // in each frame
 *     const bones = crowd.bones({ alpha });
 *
 * mannequin.wasm, simd128fma.wasm and simd128.wasm are beside this file, or where load is told. Functions throw a MannequinError. Fields
 * of options that are left out have the values of mannequin.h's mqDefault functions, or 0.
 *
 * @typedef {[number, number, number]} Vec3
 * @typedef {ArrayLike<number>} Three three numbers
 * @typedef {{ right: number, up: number, forward: number, units: number }} Space axes and units of the host: see mqSpace, and space()
 * @typedef {{ index1: number, generation: number }} Id
 * @typedef {{ kind?: number, action?: number, move?: Three, face?: Three, place?: Three, radius?: number, speed?: number, turn?: number }} Goal
 * @typedef {{ position: Three, heading?: number, width?: number, depth?: number, rounding?: number, low?: number, high?: number }} Obstacle
 * @typedef {{ agent: Agent, position: Vec3, heading: number, moved: Vec3, turned: number }} Root
 * @typedef {{ agent: Agent, kind: number, tick: number, leg: number, joint: number, layer: number, marker: number, clip: Id, position: Vec3, normal: Vec3, speed: number }} Event
 * @typedef {{ name: string, parent: number, offset: Vec3 }} Joint
 * @typedef {{ agent: Agent, before: Vec3, after: Three }} Move
 * @typedef {URL | string | Response | BufferSource} Source where bytes are
 */

export const [GOAL_DIRECTION, GOAL_STICK, GOAL_PLACE] = [0, 1, 2];
export const [IDLE, MOVE, JUMP, SIT, LIE, STAND] = [0, 1, 2, 3, 4, 5];
export const [NONE, UNITY, UNREAL, GODOT, BLENDER] = [0, 1, 2, 3, 4];
export const [LEFT, RIGHT] = [0, 1];
export const [WORLD, ROOT, LOCAL] = [0, 1, 2];
export const [TRANSFORM, ROWS_3X4, ROWS_4X4, COLUMNS_4X4] = [0, 1, 2, 3];
export const [FOOT_DOWN, FOOT_UP, CLIP_MARKER, CLIP_END, HAND_THERE, FOOT_THERE, HAND_MISSED] = [0, 1, 2, 3, 4, 5, 6];
export const [MASK_ALL, MASK_UPPER_BODY, MASK_ARMS, MASK_HEAD, MASK_TAIL, MASK_JOINT] = [0, 1, 2, 3, 4, 5];
export const [ERROR_NULL, ERROR_ARGUMENT, ERROR_ID, ERROR_SIZE, ERROR_BUSY, ERROR_FULL, ERROR_FILE, ERROR_REFUSED, ERROR_INTERNAL] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** An error of the library, with the code of its mqResult. */
export class MannequinError extends Error {
  /** @param {number} code @param {string} text */
  constructor(code, text) {
    super(text);
    this.name = "MannequinError";
    this.code = code;
  }
}

// The module -----------------------------------------------------------------

/** @type {any} */ let lib = null; // its functions
/** @type {Promise<void> | null} */ let loading = null;
/** @type {any} */ let vectors = null; // the functions of simd128fma.wasm or simd128.wasm

/**
 * Loads the library, once: further calls wait for the first.
 *
 * With sameBits, runs have the bits of all other machines even where WebAssembly has no relaxed vectors: networks then run in plain code,
 * some fifty times slower. Otherwise they run with vectors there, too, and have bits of their own.
 *
 * @param {{ wasm?: Source, vectors?: [Source, Source], sameBits?: boolean }} [options] vectors are simd128fma.wasm and simd128.wasm
 */
export function load(options = {}) {
  loading ??= start(options).catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

/** How networks are computed: "simd128", "simd128-unfused" with bits of its own, or "generic". */
export function kernels() {
  return !vectors ? "generic" : fused(vectors) ? "simd128" : "simd128-unfused";
}

/** Whether vectors round a·b + c once. */
const fused = (/** @type {any} */ v) => v.fma(1 + 2 ** -12, 1 + 2 ** -12, -1 - 2 ** -11) === 2 ** -24;

/** @param {any} options */
async function start(options) {
  const program = await compile(options.wasm ?? new URL("mannequin.wasm", import.meta.url));
  /** @type {any} */ const imports = { wasi_snapshot_preview1: wasi, mannequin: { ground: askGround, move: askMove } };
  // The vectors need the module's memory, so the module is given functions that lead to them later.
  imports.simd128 = { ready: () => (!vectors ? 0 : fused(vectors) ? 2 : 1) };
  for (const { module, name } of WebAssembly.Module.imports(program)) {
    imports[module][name] ??= module === "simd128" ? (/** @type {any[]} */ ...values) => vectors[name](...values) : () => 52; // there is no such function
  }
  lib = (await WebAssembly.instantiate(program, imports)).exports;
  for (const source of options.vectors ?? [new URL("simd128fma.wasm", import.meta.url), new URL("simd128.wasm", import.meta.url)]) {
    const bytes = await read(source);
    if (!WebAssembly.validate(bytes)) continue;
    vectors = (await WebAssembly.instantiate(bytes, { env: { memory: lib.memory } })).instance.exports;
    if (fused(vectors)) break;
    if (options.sameBits) vectors = null;
  }
  lib._initialize();
  ring = lib.mqAllocate(ringSize);
}

/** @param {Source} source @returns {Promise<BufferSource>} */
async function read(source) {
  if (typeof source === "string" || source instanceof URL) {
    const url = new URL(source, globalThis.location?.href ?? import.meta.url);
    if (url.protocol === "file:") return (await import(/* @vite-ignore */ "node:fs/promises")).readFile(url);
    source = await fetch(url);
  }
  if (!(source instanceof Response)) return source;
  if (!source.ok) throw new Error(`cannot fetch ${source.url}: ${source.status} ${source.statusText}`);
  return source.arrayBuffer();
}

/** @param {Source} source */
async function compile(source) {
  return WebAssembly.compile(await read(source));
}

// What the module's Go runtime wants of a system: clocks, random numbers, and a place for its last words.
let words = "";
const wasi = {
  args_get: () => 0,
  environ_get: () => 0,
  sched_yield: () => 0,
  fd_fdstat_get: () => 8, // no such file
  fd_prestat_get: () => 8,
  /** @param {number} count @param {number} size */
  args_sizes_get(count, size) {
    view().setUint32(count, 0, true);
    view().setUint32(size, 0, true);
    return 0;
  },
  /** @param {number} count @param {number} size */
  environ_sizes_get: (count, size) => wasi.args_sizes_get(count, size),
  /** @param {number} clock @param {bigint} _ @param {number} to */
  clock_time_get(clock, _, to) {
    view().setBigUint64(to, BigInt(Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6)), true);
    return 0;
  },
  /** @param {number} to @param {number} size */
  random_get(to, size) {
    for (let i = 0; i < size; i += 65536) crypto.getRandomValues(bytesAt(to + i, Math.min(65536, size - i)));
    return 0;
  },
  // Nothing here waits: it is asked again.
  /** @param {number} _in @param {number} _out @param {number} _n @param {number} count */
  poll_oneoff(_in, _out, _n, count) {
    view().setUint32(count, 0, true);
    return 0;
  },
  /** @param {number} _ @param {number} parts @param {number} n @param {number} size */
  fd_write(_, parts, n, size) {
    let all = 0;
    for (let i = 0; i < n; i++) {
      const length = view().getUint32(parts + 8 * i + 4, true);
      words = (words + new TextDecoder().decode(bytesAt(view().getUint32(parts + 8 * i, true), length))).slice(-4096);
      all += length;
    }
    view().setUint32(size, all, true);
    return 0;
  },
  /** @param {number} code */
  proc_exit(code) {
    throw new Error(`mannequin.wasm has ended with the code ${code}: ${words}`);
  },
};

// Its memory -----------------------------------------------------------------

let data = new DataView(new ArrayBuffer(0));

/** The memory, which is another buffer when it has grown. */
function view() {
  if (data.buffer !== lib.memory.buffer) data = new DataView(lib.memory.buffer);
  return data;
}

/** @param {number} at @param {number} size */
const bytesAt = (at, size) => new Uint8Array(lib.memory.buffer, at, size);

// Small things lie in a ring: a call has used what it was given, and its results are read, long before the ring comes round.
const ringSize = 1 << 16;
let ring = 0, used = 0;

function loaded() {
  if (!ring) throw new MannequinError(ERROR_REFUSED, "the library is not loaded: await load() first");
}

/** @param {number} size */
function room(size) {
  loaded();
  size = (size + 7) & ~7;
  if (used + size > ringSize) used = 0;
  used += size;
  return ring + used - size;
}

// Large things of all calls share a block that grows. No call that may ask the host for ground or moves has anything in it then.
let block = 0, blockSize = 0;

/** @param {number} size */
function large(size) {
  if (size > blockSize) {
    const more = Math.max(size, 2 * blockSize);
    lib.mqFree(block);
    block = blockSize = 0;
    block = take(more);
    blockSize = more;
  }
  return block;
}

/** Memory that the caller frees. @param {number} size @returns {number} */
function take(size) {
  loaded();
  const at = lib.mqAllocate(size);
  if (!at) throw new MannequinError(ERROR_SIZE, `there are no ${size} bytes of memory`);
  return at;
}

/** A 0-terminated copy of a text in memory. @param {string} text @param {(size: number) => number} [of] */
function string(text, of = room) {
  const bytes = new TextEncoder().encode(String(text));
  if (bytes.length > 1023 || bytes.includes(0)) throw new MannequinError(ERROR_ARGUMENT, `${JSON.stringify(text.slice(0, 40))} has ${bytes.length} bytes, or a 0: at most 1023 are allowed`);
  const at = of(bytes.length + 1), dst = bytesAt(at, bytes.length + 1);
  dst.set(bytes);
  dst[bytes.length] = 0;
  return at;
}

/** @param {number} at @param {number} size */
function text(at, size) {
  const bytes = bytesAt(at, size), end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? size : end));
}

// Fields of structs: size, how they are read, and how they are written. All are aligned to 4 bytes.
/** @type {Record<string, { size: number, get: (at: number) => any, set: (at: number, v: any) => void }>} */
const kinds = {
  u32: { size: 4, get: (at) => view().getUint32(at, true), set: (at, v) => view().setUint32(at, v, true) },
  i32: { size: 4, get: (at) => view().getInt32(at, true), set: (at, v) => view().setInt32(at, v, true) },
  f32: { size: 4, get: (at) => view().getFloat32(at, true), set: (at, v) => view().setFloat32(at, v, true) },
  vec3: {
    size: 12,
    get: (at) => [kinds.f32.get(at), kinds.f32.get(at + 4), kinds.f32.get(at + 8)],
    set(at, v) {
      if (v?.length !== 3) throw new TypeError(`${v} is not three numbers`);
      for (let i = 0; i < 3; i++) kinds.f32.set(at + 4 * i, v[i]);
    },
  },
  name: { size: 64, get: (at) => text(at, 64), set() { throw new TypeError("names are the library's"); } },
};

/** A struct of mannequin.h as a kind of field: values are objects. @param {string} fields */
function struct(fields) {
  let size = 0;
  /** @type {Map<string, { at: number, kind: any }>} */ const all = new Map();
  for (const field of fields.split(", ")) {
    const [kind, name] = field.split(" ");
    all.set(name, { at: size, kind: kinds[kind] });
    size += kinds[kind].size;
  }
  return {
    size,
    all,
    /** @param {number} at */
    get(at) {
      /** @type {any} */ const v = {};
      for (const [name, f] of all) v[name] = f.kind.get(at + f.at);
      return v;
    },
    /** Writes the fields that v has. @param {number} at @param {any} v */
    set(at, v) {
      for (const name in v) {
        const f = all.get(name);
        if (!f) throw new TypeError(`there is no field ${name}: there are ${[...all.keys()].join(" ")}`);
        if (v[name] !== undefined) f.kind.set(at + f.at, v[name]);
      }
    },
  };
}

kinds.id = struct("u32 index1, u32 generation");
kinds.space = struct("i32 right, i32 up, i32 forward, f32 units");
/** The structs of mannequin.h that are used here, for tests of their sizes. */
export const structs = {
  mqVersion: struct("i32 major, i32 minor, i32 revision"),
  mqModelInfo: struct("i32 kind, i32 joints, i32 legs, f32 topSpeed, name name, name license"),
  mqJoint: struct("name name, i32 parent, vec3 offset"),
  mqMarker: struct("u32 name, f32 seconds"),
  mqClipDef: struct("u32 cookie, u32 name, u32 bytes, u32 size, u32 animation, u32 rotations, u32 positions, i32 frames, f32 framesPerSecond, space space, u32 markers, i32 markerCount, i32 reference"),
  mqPlayDef: struct("u32 cookie, i32 layer, i32 mask, i32 maskJoint, i32 loop, i32 hold, i32 additive, i32 rootMotion, i32 ignoreWalls, f32 blendIn, f32 blendOut, f32 weight, f32 speed, f32 start"),
  mqWorldDef: struct("u32 cookie, space space, f32 groundHeight, i32 maxTicks"),
  mqGroundQuery: struct("vec3 position"),
  mqGroundHit: struct("vec3 position, vec3 normal"),
  mqObstacle: struct("vec3 position, f32 heading, f32 width, f32 depth, f32 rounding, f32 low, f32 high"),
  mqMove: struct("id agent, vec3 before, vec3 after"),
  mqCrowdDef: struct("u32 cookie, id model, id every2, id every4, i32 capacity, i32 workers"),
  mqAgentDef: struct("u32 cookie, vec3 position, f32 heading"),
  mqGoal: struct("i32 kind, i32 action, vec3 move, vec3 face, vec3 place, f32 radius, f32 speed, f32 turn"),
  mqBoneLayout: struct("u32 cookie, i32 relativeTo, i32 format, i32 boneStride, i32 agentStride, i32 positionOffset, i32 rotationOffset, i32 realFirst"),
  mqRoot: struct("id agent, vec3 position, f32 heading, vec3 moved, f32 turned"),
  mqEvent: struct("id agent, i32 kind, i32 tick, i32 leg, i32 joint, i32 layer, i32 marker, id clip, vec3 position, vec3 normal, f32 speed"),
  mqLODPolicy: struct("u32 cookie, f32 everyTick, f32 every2, f32 every4, f32 behind, f32 unseen, f32 sight"),
};

// Its functions --------------------------------------------------------------

/** @type {{ error: unknown } | null} */ let thrown = null; // what a callback has thrown

/** Calls a function and returns its code. @param {string} name @param {...any} values */
function result(name, ...values) {
  const code = lib[name](...values);
  if (thrown && !asking) {
    const { error } = thrown;
    thrown = null;
    throw error;
  }
  return code;
}

/** Calls a function that may fail. @param {string} name @param {...any} values */
function call(name, ...values) {
  const code = result(name, ...values);
  if (code) throw failure(code);
}

/** @param {number} code */
function failure(code) {
  const length = lib.mqGetLastError(0, 0) + 1;
  const at = take(length);
  lib.mqGetLastError(at, length);
  const error = new MannequinError(code, text(at, length));
  lib.mqFree(at);
  return error;
}

/** Writes a value into the ring. @param {{ size: number, set: (at: number, v: any) => void }} kind @param {any} v */
function put(kind, v) {
  const at = room(kind.size);
  kind.set(at, v);
  return at;
}

const id = (/** @type {Id} */ v) => put(kinds.id, v);
const vec3 = (/** @type {Three} */ v) => put(kinds.vec3, v);

/** What an mqDefault function writes, changed by options. @param {keyof typeof structs} name @param {any} options */
function def(name, options) {
  const at = room(structs[name].size);
  result(name.replace("mq", "mqDefault"), at);
  structs[name].set(at, options);
  return at;
}

/** An array of structs in large memory. @param {any} kind @param {any[]} values */
function array(kind, values) {
  const at = large(kind.size * values.length);
  bytesAt(at, kind.size * values.length).fill(0);
  values.forEach((v, i) => kind.set(at + kind.size * i, v));
  return at;
}

/** All that a function writes for the rows of a crowd. @param {any} kind @param {(to: number, capacity: number, count: number) => void} get */
function all(kind, get) {
  const count = room(4);
  get(0, 0, count);
  const n = kinds.i32.get(count), at = large(kind.size * n);
  get(n && at, n, count);
  return Array.from({ length: n }, (_, i) => kind.get(at + kind.size * i));
}

/** Bytes in memory while f runs. @template T @param {ArrayBuffer | ArrayBufferView} bytes @param {(at: number, size: number) => T} f @returns {T} */
function within(bytes, f) {
  const src = ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
  const at = take(src.length);
  try {
    bytesAt(at, src.length).set(src);
    return f(at, src.length);
  } finally {
    lib.mqFree(at);
  }
}

/** The version of the library. @returns {{ major: number, minor: number, revision: number }} */
export function version() {
  const at = room(structs.mqVersion.size);
  result("mqGetVersion", at);
  return structs.mqVersion.get(at);
}

/** The space of an engine: NONE, which is glTF's and three.js's, UNITY, UNREAL, GODOT or BLENDER. @param {number} engine @returns {Space} */
export function space(engine) {
  const at = room(kinds.space.size);
  result("mqGetSpace", at, engine);
  return kinds.space.get(at);
}

/** Makes an object. @param {string} kind @param {...any} values */
function make(kind, ...values) {
  const at = room(kinds.id.size);
  call(`mqCreate${kind}`, ...values, at);
  return kinds.id.get(at);
}

/** An id that is destroyed by close. */
class Owner {
  #kind;
  /** @param {string} kind @param {Id} id */
  constructor(kind, id) {
    this.#kind = kind;
    this.id = id;
  }

  close() {
    if (this.id.index1) call(`mqDestroy${this.#kind}`, id(this.id));
    this.id = { index1: 0, generation: 0 };
  }
}

/** What moves, from the bytes of a file: .safetensors of a network, or .character. */
export class Model extends Owner {
  /** @param {ArrayBuffer | ArrayBufferView} bytes */
  constructor(bytes) {
    super("Model", within(bytes, (at, size) => make("Model", at, size)));
    const at = room(structs.mqModelInfo.size);
    call("mqModel_GetInfo", id(this.id), at);
    /** @type {{ kind: number, joints: number, legs: number, topSpeed: number, name: string, license: string }} */
    this.info = structs.mqModelInfo.get(at);
  }

  /** The joints; offsets are in a space. @param {Space} [space] @returns {Joint[]} */
  joints(space) {
    return Array.from({ length: this.info.joints }, (_, i) => {
      const at = room(structs.mqJoint.size);
      call("mqModel_GetJoint", id(this.id), i, space ? put(kinds.space, space) : 0, at);
      return structs.mqJoint.get(at);
    });
  }

  /** The index of a joint. @param {string} name @returns {number} */
  joint(name) {
    const at = room(4);
    call("mqModel_FindJoint", id(this.id), string(name), at);
    return kinds.i32.get(at);
  }

  /** The action of a name, for goals. @param {string} name @returns {number} */
  action(name) {
    const at = room(4);
    call("mqModel_FindAction", id(this.id), string(name), at);
    return kinds.i32.get(at);
  }
}

/** An animation, for agents of a model. */
export class Clip extends Owner {
  /**
   * @param {Model} model
   * @param {{ name?: string, bytes?: ArrayBuffer | ArrayBufferView, animation?: string, rotations?: Float32Array, positions?: Float32Array, framesPerSecond?: number,
   *   space?: Space, markers?: { name?: string, seconds: number }[], reference?: number }} what a .glb or .gltf as bytes, or rotations, four numbers for each joint of
   *   each frame, and positions, three for each frame: see mqClipDef
   */
  constructor(model, what) {
    /** @type {number[]} */ const taken = [];
    const hold = (/** @type {number} */ size) => taken[taken.push(take(size)) - 1];
    const copy = (/** @type {ArrayBuffer | ArrayBufferView | undefined} */ v) =>
      v &&
      within(v, (at, size) => {
        const to = hold(size);
        bytesAt(to, size).set(bytesAt(at, size));
        return to;
      });
    const { name, bytes, animation, rotations, positions, markers, ...rest } = what;
    try {
      const d = def("mqClipDef", {
        ...rest,
        name: name === undefined ? 0 : string(name, hold),
        animation: animation === undefined ? 0 : string(animation, hold),
        bytes: copy(bytes),
        size: bytes?.byteLength,
        rotations: copy(rotations),
        positions: copy(positions),
        frames: positions && positions.length / 3,
        markers: markers?.length ? hold(structs.mqMarker.size * markers.length) : 0,
        markerCount: markers?.length,
      });
      const first = structs.mqClipDef.get(d);
      if (rotations && rotations.length !== 4 * model.info.joints * first.frames)
        throw new MannequinError(ERROR_ARGUMENT, `${rotations.length / 4} rotations for ${first.frames} frames of ${model.info.joints} joints`);
      markers?.forEach((m, i) => structs.mqMarker.set(first.markers + structs.mqMarker.size * i, { name: m.name === undefined ? 0 : string(m.name, hold), seconds: m.seconds }));
      super("Clip", make("Clip", id(model.id), d));
    } finally {
      for (const at of taken) lib.mqFree(at);
    }
  }

  /** @param {boolean} [loop] */
  seconds(loop = false) {
    const at = room(8);
    call("mqClip_GetSeconds", id(this.id), Number(loop), at);
    return view().getFloat64(at, true);
  }
}

/** One of a crowd: an id, which lives until destroy, or as long as its crowd. */
export class Agent {
  /** @param {Id} id */
  constructor(id) {
    this.id = id;
  }

  destroy() {
    call("mqDestroyAgent", id(this.id));
  }

  /** Its row in bones, roots and goals. */
  get row() {
    const at = room(4);
    call("mqAgent_GetRow", id(this.id), at);
    return /** @type {number} */ (kinds.i32.get(at));
  }

  /** @param {Goal} what */
  goal(what) {
    call("mqAgent_SetGoal", id(this.id), put(zeroed(structs.mqGoal), what));
  }

  /** Moves it at once. @param {Three} position @param {number} heading */
  place(position, heading) {
    call("mqAgent_SetPlace", id(this.id), vec3(position), heading);
  }

  /** Pushes it over the ground. @param {Three} by */
  nudge(by) {
    call("mqAgent_Nudge", id(this.id), vec3(by));
  }

  /** Every how many ticks it updates: 1, 2, 4, or 0, never. @param {number} rate */
  updateRate(rate) {
    call("mqAgent_SetUpdateRate", id(this.id), rate);
  }

  /** @param {Three} target @param {number} [weight] */
  lookAt(target, weight = 1) {
    call("mqAgent_SetLookAt", id(this.id), vec3(target), weight);
  }

  /** @param {number} side LEFT or RIGHT @param {Three} target @param {number} [weight] @param {number} [seconds] */
  hand(side, target, weight = 1, seconds = 0) {
    call("mqAgent_SetHand", id(this.id), side, vec3(target), weight, seconds);
  }

  /**
   * @param {Clip} clip
   * @param {{ layer?: number, mask?: number, maskJoint?: number, loop?: boolean, hold?: boolean, additive?: boolean, rootMotion?: boolean, ignoreWalls?: boolean,
   *   blendIn?: number, blendOut?: number, weight?: number, speed?: number, start?: number }} [options] see mqPlayDef
   */
  play(clip, options = {}) {
    call("mqAgent_PlayClip", id(this.id), id(clip.id), def("mqPlayDef", options));
  }

  /** @param {number} layer @param {number} [seconds] */
  stop(layer, seconds = 0) {
    call("mqAgent_StopClip", id(this.id), layer, seconds);
  }

  /** @param {number} layer @param {number} weight @param {number} speed */
  layer(layer, weight, speed) {
    call("mqAgent_SetLayer", id(this.id), layer, weight, speed);
  }

  /** What plays on a layer, and its time. @param {number} layer @returns {{ clip: Id, seconds: number }} */
  playing(layer) {
    const clip = room(kinds.id.size), seconds = room(8);
    call("mqAgent_GetClip", id(this.id), layer, clip, seconds);
    return { clip: kinds.id.get(clip), seconds: view().getFloat64(seconds, true) };
  }
}

/** A struct of which put writes all fields, those that are left out with zeros. @param {any} kind */
function zeroed(kind) {
  return {
    size: kind.size,
    set(/** @type {number} */ at, /** @type {any} */ v) {
      bytesAt(at, kind.size).fill(0);
      kind.set(at, v);
    },
  };
}

/** Agents of one model. World.crowd makes them. */
export class Crowd extends Owner {
  /** @param {World} world @param {Model} model @param {any} options */
  constructor(world, model, options) {
    super("Crowd", make("Crowd", id(world.id), def("mqCrowdDef", options)));
    this.world = world;
    this.joints = model.info.joints;
  }

  /** @param {Three} position @param {number} heading */
  spawn(position, heading) {
    return new Agent(make("Agent", id(this.id), def("mqAgentDef", { position, heading })));
  }

  /** The number of agents. */
  get size() {
    const at = room(4);
    call("mqCrowd_GetAgents", id(this.id), 0, 0, at);
    return /** @type {number} */ (kinds.i32.get(at));
  }

  /** The agents by row. @returns {Agent[]} */
  agents() {
    return all(kinds.id, (to, capacity, count) => call("mqCrowd_GetAgents", id(this.id), to, capacity, count)).map((v) => new Agent(v));
  }

  /** Sets a goal for each row. @param {Goal[]} goals */
  goals(goals) {
    call("mqCrowd_SetGoals", id(this.id), array(structs.mqGoal, goals), goals.length, 0);
  }

  /**
   * The bones by row and joint: place and rotation (x, y, z, w), 7 numbers, or a matrix of 12 or 16. Without out, which is filled and
   * returned, they are in a new array.
   *
   * @param {{ alpha?: number, relativeTo?: number, format?: number, out?: Float32Array }} [options] WORLD, ROOT or LOCAL; TRANSFORM, ROWS_3X4, ROWS_4X4 or COLUMNS_4X4
   */
  bones({ alpha = 1, relativeTo = WORLD, format = TRANSFORM, out } = {}) {
    const n = this.size * this.joints * (format === TRANSFORM ? 7 : format === ROWS_3X4 ? 12 : 16);
    out ??= new Float32Array(n);
    if (out.length < n) throw new MannequinError(ERROR_SIZE, `the bones have ${n} numbers, and there is room for ${out.length}`);
    const at = large(4 * n);
    call("mqCrowd_GetBones", id(this.id), def("mqBoneLayout", { relativeTo, format }), alpha, at, 4 * n, 0);
    out.set(new Float32Array(lib.memory.buffer, at, n));
    return out;
  }

  /** Where the agents stand and face, by row. @param {number} [alpha] @returns {Root[]} */
  roots(alpha = 1) {
    return all(structs.mqRoot, (to, capacity, count) => call("mqCrowd_GetRoots", id(this.id), alpha, to, 0, capacity, count)).map((v) => ({ ...v, agent: new Agent(v.agent) }));
  }

  /** What happened in the last tick or step. @returns {Event[]} */
  events() {
    return all(structs.mqEvent, (to, capacity, count) => call("mqCrowd_GetEvents", id(this.id), to, capacity, count)).map((v) => ({ ...v, agent: new Agent(v.agent) }));
  }

  /**
   * Sets update rates by the distance from a camera.
   *
   * @param {Three} eye @param {Three} ahead @param {number} [saving]
   * @param {{ everyTick?: number, every2?: number, every4?: number, behind?: number, unseen?: number, sight?: number }} [policy] see mqLODPolicy
   */
  applyLOD(eye, ahead, saving = 0, policy = {}) {
    call("mqCrowd_ApplyLOD", id(this.id), def("mqLODPolicy", policy), vec3(eye), vec3(ahead), saving);
  }

  /** A checksum of the state. @returns {bigint} */
  hash() {
    const at = room(8);
    call("mqCrowd_GetHash", id(this.id), at);
    return view().getBigUint64(at, true);
  }
}

export class World extends Owner {
  /** @param {{ space?: Space, groundHeight?: number, maxTicks?: number }} [options] see mqWorldDef */
  constructor(options = {}) {
    super("World", make("World", def("mqWorldDef", options)));
    /** @type {Map<number, Crowd>} */ this.crowds = new Map();
    this.callbacks = { ground: 0, move: 0 };
  }

  close() {
    super.close();
    for (const number of Object.values(this.callbacks)) callbacks.delete(number);
  }

  /** @param {Model} model @param {number} capacity @param {{ every2?: Model, every4?: Model }} [options] networks for agents that update every second and fourth tick */
  crowd(model, capacity, { every2, every4 } = {}) {
    const crowd = new Crowd(this, model, { model: model.id, every2: every2?.id, every4: every4?.id, capacity });
    this.crowds.set(crowd.id.index1, crowd);
    return crowd;
  }

  /** Moves on by 1/60 s. */
  tick() {
    call("mqWorld_Tick", id(this.id));
  }

  /** Moves on by the time of a frame. Returns the alpha of bones and roots. @param {number} seconds @returns {number} */
  step(seconds) {
    const alpha = room(4);
    call("mqWorld_Step", id(this.id), seconds, 0, alpha);
    return kinds.f32.get(alpha);
  }

  /** @param {number} height */
  groundLevel(height) {
    call("mqWorld_SetGroundLevel", id(this.id), height);
  }

  /** @param {ArrayLike<number>} vertices three numbers each @param {ArrayLike<number>} indices three for each triangle */
  groundMesh(vertices, indices) {
    within(Float32Array.from(vertices), (at, size) => {
      if (size % 12) throw new MannequinError(ERROR_ARGUMENT, `${size / 4} numbers are not three for each vertex`);
      within(Int32Array.from(indices), (of) => call("mqWorld_SetGroundMesh", id(this.id), at, size / 12, of, indices.length));
    });
  }

  /**
   * f gets a place, and returns a point of the ground, of which only the height counts, and its normal: see mqGroundFcn. What it throws,
   * the call throws that asks.
   *
   * @param {(position: Vec3) => [Three, Three]} f
   */
  ground(f) {
    this.#callback("ground", "mqWorld_SetGroundCallback", f);
  }

  /**
   * f gets how far the agents of a crowd go in this tick, and may change after: see mqMoveFcn. null lets them go.
   *
   * @param {((crowd: Crowd, moves: Move[]) => void) | null} f
   */
  move(f) {
    this.#callback("move", "mqWorld_SetMoveCallback", f && ((/** @type {Id} */ of, /** @type {Move[]} */ moves) => f(/** @type {Crowd} */ (this.crowds.get(of.index1)), moves)));
  }

  /** @param {"ground" | "move"} kind @param {string} name @param {any} f */
  #callback(kind, name, f) {
    const number = f ? ++lastCallback : 0;
    if (f) callbacks.set(number, f);
    try {
      call(name, id(this.id), number, 0);
    } catch (error) {
      callbacks.delete(number);
      throw error;
    }
    callbacks.delete(this.callbacks[kind]);
    this.callbacks[kind] = number;
  }

  /** Replaces all obstacles. @param {Obstacle[]} all */
  obstacles(all) {
    call("mqWorld_SetObstacles", id(this.id), array(structs.mqObstacle, all), all.length);
  }

  /** @param {Three} by */
  shiftOrigin(by) {
    call("mqWorld_ShiftOrigin", id(this.id), vec3(by));
  }

  /** The state of all crowds. */
  save() {
    const to = room(4);
    let code = result("mqWorld_Save", id(this.id), block, blockSize, to);
    if (code === ERROR_SIZE) {
      large(kinds.u32.get(to));
      code = result("mqWorld_Save", id(this.id), block, blockSize, to);
    }
    if (code) throw failure(code);
    return bytesAt(block, kinds.u32.get(to)).slice();
  }

  /** @param {ArrayBuffer | ArrayBufferView} save */
  restore(save) {
    within(save, (at, size) => call("mqWorld_Restore", id(this.id), at, size));
  }
}

// What the library asks ------------------------------------------------------

/** @type {Map<number, any>} */ const callbacks = new Map();
let lastCallback = 0;
let asking = 0; // callbacks that have not returned

/** Calls a callback. An exception must not pass the module, which would never come to its end. @param {() => void} f */
function ask(f) {
  asking++;
  try {
    f();
  } catch (error) {
    thrown ??= { error };
  } finally {
    asking--;
  }
}

/** @param {number} ground @param {number} query @param {number} hit */
function askGround(ground, query, hit) {
  const nowhere = [NaN, NaN, NaN];
  structs.mqGroundHit.set(hit, { position: nowhere, normal: nowhere });
  ask(() => {
    const [position, normal] = callbacks.get(ground)(kinds.vec3.get(query));
    structs.mqGroundHit.set(hit, { position, normal });
  });
}

/** @param {number} move @param {number} crowd @param {number} moves @param {number} count */
function askMove(move, crowd, moves, count) {
  const { size } = structs.mqMove, after = size - kinds.vec3.size;
  ask(() => {
    const all = Array.from({ length: count }, (_, i) => {
      const m = structs.mqMove.get(moves + size * i);
      return { ...m, agent: new Agent(m.agent) };
    });
    callbacks.get(move)(kinds.id.get(crowd), all);
    all.forEach((m, i) => kinds.vec3.set(moves + size * i + after, m.after));
  });
}
