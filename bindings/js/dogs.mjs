// Moves 100 dogs: all walk to one place, at speeds of their own. node dogs.mjs ../models/dog-free.safetensors 1440
import { readFileSync } from "node:fs";
import { GOAL_PLACE, Model, World, kernels, load } from "./mannequin.mjs";

const [file = "../models/dog-free.safetensors", frames = 1440] = process.argv.slice(2);
await load();
const dog = new Model(readFileSync(file));
const world = new World(); // metres, +Y up, level ground
const crowd = world.crowd(dog, 100);
const goals = [];
for (let i = 0; i < 100; i++) {
  crowd.spawn([2 * (i % 10), 0, 2 * Math.floor(i / 10)], 0);
  goals.push({ kind: GOAL_PLACE, place: [9, 0, 9], radius: 2, speed: 1.1 + 0.02 * i });
}
const bones = new Float32Array(100 * dog.info.joints * 7); // a position and a rotation each
const began = performance.now();
for (let frame = 1; frame <= frames; frame++) { // of a screen with 144 Hz
  crowd.goals(goals);
  const alpha = world.step(1 / 144);
  crowd.bones({ alpha, out: bones });
  if (frame % 288 === 0) console.log(`after ${frame / 144} s the hips of the first dog are at (${Array.from(bones.subarray(0, 3), (v) => v.toFixed(2)).join(", ")})`);
}
console.log(`${((performance.now() - began) / ((frames * 60) / 144)).toFixed(1)} ms a tick, ${kernels()} kernels`);
world.close();
dog.close();
