// The page around the canvas: it loads the program and its files, offers the scenes, and
// shows the performance. The program, cmd/web, calls the functions of the object page.
"use strict";

const program = "mannequin.wasm";
const at = (id) => document.getElementById(id);
const page = {};

// Sizes of the files beside the page in bytes, by name: responses state only the compressed size.
let sizes = {};

const megabytes = (n) => (n / 1e6).toFixed(1);

// get fetches a file. The browser caches it and revalidates it.
async function get(file) {
  let answer;
  try {
    answer = await fetch(file, { cache: "no-cache" });
  } catch (e) {
    throw new Error(`cannot fetch ${file}: ${e.message}`);
  }
  if (!answer.ok) throw new Error(`cannot fetch ${file}: ${answer.status} ${answer.statusText}`);
  return answer;
}

// watch reads a response to its end and shows the progress. It returns the pieces.
async function watch(answer, file) {
  const total = sizes[file] || 0;
  const pieces = [];
  let have = 0;
  const reader = answer.body.getReader();
  for (;;) {
    at("message").textContent = `loading ${file}`;
    at("progress").max = total || 1;
    if (total) at("progress").value = have;
    at("amount").textContent = total ? `${megabytes(have)} of ${megabytes(total)} MB` : `${megabytes(have)} MB`;
    let piece;
    try {
      piece = await reader.read();
    } catch (e) {
      throw new Error(`cannot fetch ${file}: cut off after ${megabytes(have)} MB: ${e.message}`);
    }
    const { done, value } = piece;
    if (done) return pieces;
    pieces.push(value);
    have += value.length;
  }
}

// whole returns a file's bytes.
async function whole(file) {
  const pieces = await watch(await get(file), file);
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

// fetch returns a promise of a file's bytes.
page.fetch = async (file) => {
  const bytes = await whole(file);
  await ready();
  return bytes;
};

// ready announces long work of the program, and waits until the message is visible.
function ready() {
  at("message").textContent = "getting ready, which can take some seconds";
  at("amount").textContent = "";
  at("progress").removeAttribute("value");
  return new Promise((go) => setTimeout(go, 30));
}

// offer fills in the form: scenes has the defaults of each scene, by name, and now is the
// current setup.
page.offer = (scenes, now) => {
  const scene = at("scene"), count = at("agents"), terrain = at("terrain"), backend = at("backend");
  scene.replaceChildren(...Object.keys(scenes).map((name) => new Option(name)));
  if (!Array.from(terrain.options).some((o) => o.value === now.terrain)) terrain.add(new Option(now.terrain));
  const scripted = (name) => Boolean(scenes[name]?.scripted);
  page.scripted = scripted(now.scene);
  buttons();
  const show = (s) => {
    count.value = s.agents;
    terrain.value = s.terrain;
    for (const field of [count, terrain]) field.parentElement.hidden = scripted(scene.value);
  };
  scene.value = now.scene;
  show(now);
  backend.value = now.backend;
  backend.parentElement.hidden = !navigator.gpu;
  scene.addEventListener("change", () => show(scenes[scene.value]));
  at("choice").addEventListener("submit", (e) => {
    e.preventDefault();
    // Other keys of the address stay if the scene does.
    const was = scene.value === now.scene ? location.hash.slice(1) : "";
    const address = new URLSearchParams(was);
    address.set("scene", scene.value);
    if (!scripted(scene.value)) {
      address.set("agents", count.value);
      address.set("terrain", terrain.value);
    }
    if (backend.value === "cpu") address.delete("backend");
    else address.set("backend", backend.value);
    if (`#${address}` === location.hash) location.reload();
    else location.hash = address;
  });
  at("choice").hidden = false;
};

// buttons shows touch buttons in place of keys after the first touch, if the scene has a
// character to steer.
function buttons() { at("touch").hidden = !page.touched || page.scripted !== false; }

// help sets the lines of help.
page.help = (help) => {
  at("keys").replaceChildren(...help.map((line) => {
    const item = document.createElement("li");
    item.textContent = line || "\u00a0";
    return item;
  }));
};

// begin shows the scene. state returns its performance until the program ends.
page.begin = (state) => {
  page.playing = true;
  at("card").hidden = true;
  at("help-switch").hidden = at("speed").hidden = false;
  at("help").hidden = innerHeight < 520 || innerWidth < 700; // it would hide the scene
  at("stage").focus();
  window.mannequin = Object.freeze({ state });
  let last = state(), when = performance.now();
  // The scene stops while the page is hidden.
  document.addEventListener("visibilitychange", () => {
    if (!page.playing) return;
    last = state();
    when = performance.now();
  });
  setInterval(() => {
    if (!page.playing || document.hidden) return;
    const now = state(), t = performance.now();
    const rate = (key) => (now[key] - last[key]) * 1000 / (t - when);
    const ticks = rate("ticks");
    const slow = ticks > 0 && ticks < 55; // 0 is a pause
    at("speed").textContent = `${slow ? "slow motion: " : ""}${ticks.toFixed(0)} of 60 ticks/s, ${now.tickMs.toFixed(1)} ms each; ${rate("pictures").toFixed(0)} frames/s${now.gpu ? `; networks: ${now.gpu}` : ""}`;
    at("speed").classList.toggle("slow", slow);
    last = now;
    when = t;
  }, 1000);
};

page.toggleHelp = () => { at("help").hidden = !at("help").hidden; };

// notify shows a line for four seconds.
page.notify = (line) => {
  at("notice").textContent = line;
  at("notice").hidden = false;
  clearTimeout(page.noticeTimer);
  page.noticeTimer = setTimeout(() => { at("notice").hidden = true; }, 4000);
};

// save lets the browser save a file.
page.save = (name, bytes) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  page.notify(`saved ${name}`);
};

// wait shows what the program waits for. The user can reload the page instead.
page.wait = (message) => {
  at("message").textContent = message;
  at("progress").hidden = at("amount").hidden = true;
  at("card").hidden = at("again").hidden = false;
};

// goOn ends the wait.
page.goOn = () => {
  at("card").hidden = true;
  at("stage").focus();
};

// fail shows the error that ended the program.
page.fail = (message) => {
  page.playing = false;
  if (at("card").classList.contains("wrong")) return; // later errors follow from the first
  at("card").classList.add("wrong");
  page.wait(message);
};

async function start() {
  if (!window.WebAssembly) throw new Error("this browser has no WebAssembly");
  sizes = await (await get("sizes.json")).json();
  const go = new Go();
  const link = simd128(go.importObject, [await whole("simd128fma.wasm"), await whole("simd128.wasm")]);
  const answer = await get(program);
  // The browser compiles while it loads. We watch the same bytes, and report errors better.
  const seen = watch(answer.clone(), program).catch((e) => e);
  const { instance } = await WebAssembly.instantiateStreaming(answer, go.importObject).catch(async (e) => {
    const wrong = await seen;
    throw wrong instanceof Error ? wrong : new Error(`${program}: ${e.message}`);
  });
  await link(instance);
  await ready();
  await go.run(instance);
  page.fail("the program ended: see the browser's console");
}

window.page = page;
window.addEventListener("hashchange", () => location.reload());
// With the default prevented, the browser may give the graphics back. The program sees both events.
at("stage").addEventListener("webglcontextlost", (e) => e.preventDefault());
at("again").addEventListener("click", () => location.reload());
addEventListener("pointerdown", (e) => {
  if (e.pointerType !== "touch" || page.touched) return;
  page.touched = true;
  buttons();
  page.notify("one finger looks around, two: nearer, farther");
});
for (const button of at("touch").children) {
  const press = (kind) => at("stage").dispatchEvent(new KeyboardEvent(kind, { code: button.dataset.code, bubbles: true }));
  button.addEventListener("pointerdown", (e) => {
    button.setPointerCapture(e.pointerId);
    press("keydown");
  });
  for (const end of ["pointerup", "pointercancel"]) button.addEventListener(end, () => press("keyup"));
  button.addEventListener("contextmenu", (e) => e.preventDefault()); // a long touch
}
at("help-switch").addEventListener("click", () => {
  page.toggleHelp();
  at("stage").focus();
});
start().catch((e) => page.fail(e.message));
