// Checks the classes: node check.mjs FOLDER dog-free.safetensors hero.character. It prints names and values, which js_test.go knows.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, dogFile, heroFile] = process.argv.slice(2);
const mq = await import(pathToFileURL(`${folder}/js/mannequin.mjs`).href);
const say = (name, value) => console.log(name, value);
const fails = (name, f) => {
  try {
    f();
    say(name, "nothing");
  } catch (error) {
    say(name, `${error.code ?? error.name}: ${error.message}`);
  }
};

fails("not-loaded", () => new mq.World());
// The functions themselves, for calls that no class makes.
let raw = null;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
  const made = await instantiate(...args);
  raw ??= made.exports;
  return made;
};
await Promise.all([mq.load(), mq.load()]);
say("kernels", mq.kernels());
say("version", Object.values(mq.version()).join("."));
say("unity", Object.values(mq.space(mq.UNITY)).join(" "));

const dog = new mq.Model(readFileSync(dogFile)), hero = new mq.Model(readFileSync(heroFile));
say("dog", `${dog.info.name} ${dog.info.joints} ${dog.info.legs}`);
const joints = dog.joints(mq.space(mq.UNREAL));
say("joints", joints.every((j, i) => j.parent < i && dog.joint(j.name) === i));
say("action", dog.action("sit") === mq.SIT);
fails("bad-model", () => new mq.Model(new Uint8Array(100)));
fails("bad-action", () => dog.action("fly"));
fails("bad-text", () => dog.action("\0"));
fails("bad-field", () => new mq.World({ gravity: 9.81 }));
fails("bad-vector", () => new mq.World().crowd(dog, 1).spawn([0, 0], 0));

// The same as in Go: js_test.go.
for (const [name, model] of [["dog", dog], ["hero", hero]]) {
  const world = new mq.World(), crowd = world.crowd(model, 10), f = Math.fround;
  for (let i = 0; i < 10; i++) crowd.spawn([2 * i, 0, 0], f(f(0.1) * i));
  const hashes = [];
  let bones;
  for (let tick = 0; tick < 240; tick++) {
    crowd.goals(Array.from({ length: 10 }, (_, i) => ({ move: [0, 0, 1], turn: ((Math.floor(tick / 60) + i) % 5 - 2) * 0.25, speed: f((i % 4) * f(0.8)) })));
    world.tick();
    bones = crowd.bones({ out: bones });
    if (tick % 60 === 59) hashes.push(crowd.hash().toString(16).padStart(16, "0"));
  }
  say(`${name}-hashes`, hashes.join(" "));
  let sum = 0xcbf29ce484222325n; // FNV-1a of their bits
  for (const bits of new Uint32Array(bones.buffer)) sum = BigInt.asUintN(64, (sum ^ BigInt(bits)) * 0x100000001b3n);
  say(`${name}-bones`, sum.toString(16).padStart(16, "0"));
  world.close();
}

const world = new mq.World(), crowd = world.crowd(dog, 4);
const agent = crowd.spawn([1, 0, 2], 0.5), other = crowd.spawn([5, 0, 0], 0);
say("rows", `${agent.row} ${other.row} ${crowd.size} ${crowd.agents().map((a) => a.row).join(" ")}`);
agent.goal({ kind: mq.GOAL_STICK, move: [1, 0, 0], speed: 1.2 });
const events = { [mq.FOOT_DOWN]: 0, [mq.CLIP_MARKER]: 0, [mq.CLIP_END]: 0 };
const run = (seconds, in_ = world) => {
  for (let i = 0; i < 60 * seconds; i++) {
    in_.tick();
    for (const e of crowd.events()) events[e.kind]++;
  }
};
run(3);
const root = crowd.roots()[0];
say("walked", root.position[0]);
say("heading", root.heading);
say("moved", root.moved[0]);
say("root-agent", root.agent.row);
say("steps", events[mq.FOOT_DOWN]);
say("alpha", world.step(0.025));

// Bones: matrices have the places of transforms; local ones are as long as the joints' offsets.
const transforms = crowd.bones(), matrices = crowd.bones({ format: mq.COLUMNS_4X4 }), local = crowd.bones({ relativeTo: mq.LOCAL });
let apart = 0, stretch = 0;
const own = dog.joints();
for (let i = 0; i < 2 * 27; i++) for (let k = 0; k < 3; k++) {
  apart = Math.max(apart, Math.abs(transforms[7 * i + k] - matrices[16 * i + 12 + k]));
  if (i % 27) stretch = Math.max(stretch, Math.abs(local[7 * i + k] - own[i % 27].offset[k]));
}
say("matrices-apart", apart);
say("stretch", stretch);
fails("bones-room", () => crowd.bones({ out: new Float32Array(10) }));
fails("alpha-2", () => crowd.bones({ alpha: 2 }));

// A save, after which the same happens again.
const save = world.save();
run(1);
const hash = crowd.hash();
run(1);
world.restore(save);
run(1);
say("restored", crowd.hash() === hash);
fails("bad-save", () => world.restore(save.subarray(0, 50)));

// A clip of arrays, with a marker.
const frames = 30, rotations = new Float32Array(4 * 27 * frames), positions = new Float32Array(3 * frames);
for (let i = 3; i < rotations.length; i += 4) rotations[i] = 1;
for (let i = 1; i < positions.length; i += 3) positions[i] = 0.5;
const what = { name: "stretch", rotations, positions, markers: [{ name: "half", seconds: 0.5 }, { seconds: 0.7 }] };
const clip = new mq.Clip(dog, what);
say("clip-seconds", clip.seconds());
agent.play(clip, { layer: 2, blendIn: 0.1, blendOut: 0.1 });
run(0.2);
const playing = agent.playing(2);
say("playing", playing.clip.index1 === clip.id.index1 && playing.seconds > 0.1 && playing.seconds < 0.3);
run(1);
say("markers", `${events[mq.CLIP_MARKER]} ${events[mq.CLIP_END]}`);
fails("clip-rotations", () => new mq.Clip(dog, { ...what, rotations: rotations.subarray(4) }));
fails("clip-bytes", () => new mq.Clip(dog, { bytes: new Uint8Array(20) }));
agent.stop(2);
agent.lookAt([0, 1, 9]);
agent.updateRate(2);
agent.layer(2, 0.5, 1);
crowd.applyLOD([0, 1, 0], [0, 0, 1], 0, { everyTick: 5 });
agent.nudge([0.1, 0, 0]);
other.destroy();
fails("destroyed", () => other.row);

// Ground.
world.groundLevel(1);
agent.place([0, 1, 0], 0);
say("level", crowd.roots()[0].position[1]);
world.groundMesh([-50, 2, -50, -50, 2, 50, 50, 2, 50, 50, 2, -50], [0, 1, 2, 0, 2, 3]);
agent.place([0, 2, 0], 0);
say("mesh", crowd.roots()[0].position[1]);
let asked = 0, busy = "";
world.ground(([x, , z]) => {
  asked++;
  try {
    if (!busy) world.tick();
  } catch (error) {
    busy = error.code;
  }
  return [[x, 3, z], [0, 1, 0]];
});
agent.place([0, 3, 0], 0);
agent.goal({ kind: mq.GOAL_STICK, move: [0, 0, 1], speed: 1.2 });
run(2);
say("callback", `${crowd.roots()[0].position[1]} ${asked > 100} ${busy === mq.ERROR_BUSY}`);
world.ground(() => { throw new RangeError("of the game"); });
fails("thrown", () => world.tick());
world.ground(() => [1, 2]);
fails("no-point", () => world.tick());
// Another world, ticked while this one asks, with memory that grows.
const second = new mq.World(), there = second.crowd(hero, 50);
world.ground(([x, , z]) => {
  if (there.size < 50) there.spawn([there.size, 0, 0], 0);
  second.tick();
  there.bones();
  return [[x, 3, z], [0, 1, 0]];
});
world.tick();
say("nested", there.size > 10 && Math.abs(crowd.roots()[0].position[1] - 3) < 0.01);
second.close();
world.groundLevel(0);

// Walls and a controller.
agent.place([0, 0, 0], 0);
world.obstacles([{ position: [0, 0, 1.5], width: 10, depth: 0.2 }]);
run(3);
say("wall", crowd.roots()[0].position[2]);
world.obstacles([]);
agent.place([0, 0, 0], 0);
let moves = 0;
world.move((of, all) => {
  moves += of === crowd ? all.length : 100;
  for (const m of all) if (m.after[2] > 1) m.after[2] = 1;
});
run(3);
say("controlled", `${crowd.roots()[0].position[2].toFixed(2)} ${moves}`);
world.move(null);
world.shiftOrigin([0, 0, 1]);
say("shifted", crowd.roots()[0].position[2].toFixed(2));

// The cost of a call, the least of 20: the machine may have other work.
const block = raw.mqAllocate(16);
Object.values(agent.id).forEach((v, i) => new DataView(raw.memory.buffer).setUint32(block + 4 * i, v, true));
let least = Infinity;
for (let k = 0; k < 20; k++) {
  const began = performance.now();
  for (let i = 0; i < 2000; i++) if (raw.mqAgent_GetRow(block, block + 8)) throw new Error("mqAgent_GetRow fails");
  least = Math.min(least, (performance.now() - began) / 2000);
}
say("call-ns", Math.round(least * 1e6));
raw.mqFree(block);

// Random calls end with a code.
let seed = 1;
const random = (n) => (seed = (seed * 48271) % 0x7fffffff) % n;
const blocks = Array.from({ length: 8 }, () => raw.mqAllocate(4096));
const spare = crowd.id;
const address = () => {
  const at = blocks[random(8)];
  new DataView(raw.memory.buffer).setUint32(at, spare.index1, true);
  new DataView(raw.memory.buffer).setUint32(at + 4, random(2) ? spare.generation : random(1 << 30), true);
  return [0, at, at + 8, at + random(4096), at + 4095, raw.memory.buffer.byteLength - 4, -4, random(0x7fffffff)][random(8)];
};
const codes = new Map();
const names = Object.keys(raw).filter((name) => /^mq/.test(name) && !/mqAllocate|mqFree|mqDestroy|Callback/.test(name));
for (let i = 0; i < 20000; i++) {
  const name = names[random(names.length)];
  const values = Array.from({ length: raw[name].length }, () => [address(), address(), random(100), random(100), -1, NaN][random(6)]);
  const code = raw[name](...values) ?? 0;
  if (!/^mqGet/.test(name)) codes.set(code, (codes.get(code) ?? 0) + 1);
}
say("codes", [...codes.keys()].every((code) => code >= 0 && code < 9));
say("good-calls", codes.get(0) > 1000);
world.close();
fails("closed", () => world.tick());
say("structs", Object.entries(mq.structs).map(([name, s]) => `${name}:${s.size}:${[...s.all].map(([field, { at }]) => `${field}=${at}`).join(",")}`).join(" "));
say("end", true);
