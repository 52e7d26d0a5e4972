// Prints how far joints of animations are from where three.js puts them, a line for each file. The file that
// is named lists files with the nodes of their joints and their places at some times.
const fs = require('fs');
const { pathToFileURL } = require('url');

globalThis.self = globalThis;
console.error = () => {};
console.warn = () => {};

async function main() {
  const THREE = await import(pathToFileURL(require.resolve('three').replace(/three\.cjs$/, 'three.module.js')));
  const { GLTFLoader } = await import(pathToFileURL(require.resolve('three/examples/jsm/loaders/GLTFLoader.js')));
  for (const file of JSON.parse(fs.readFileSync(process.argv[2]))) {
    const data = fs.readFileSync(file.Path);
    const loader = new GLTFLoader();
    loader.register(() => ({ name: 'no pictures', loadTexture: () => Promise.resolve(new THREE.Texture()) }));
    const gltf = await new Promise((ok, no) => loader.parse(data.buffer.slice(data.byteOffset, data.byteOffset + data.length), '', ok, no));
    const nodes = new Map();
    for (const [o, a] of gltf.parser.associations) {
      if (a && a.nodes !== undefined && o.isObject3D && !nodes.has(a.nodes)) nodes.set(a.nodes, o);
    }
    const reset = () => gltf.parser.json.nodes.forEach((node, n) => {
      const o = nodes.get(n);
      if (!o) return;
      if (node.matrix) {
        new THREE.Matrix4().fromArray(node.matrix).decompose(o.position, o.quaternion, o.scale);
        return;
      }
      o.position.fromArray(node.translation || [0, 0, 0]);
      o.quaternion.fromArray(node.rotation || [0, 0, 0, 1]);
      o.scale.fromArray(node.scale || [1, 1, 1]);
    });
    let far = 0, size = 0, places = 0;
    for (let i = 0; i < file.Motions.length; i++) {
      const mixer = new THREE.AnimationMixer(gltf.scene);
      const action = mixer.clipAction(gltf.animations[i]);
      action.setLoop(THREE.LoopOnce);
      action.clampWhenFinished = true;
      action.play();
      for (const frame of file.Motions[i]) {
        mixer.setTime(Math.min(frame.Time, gltf.animations[i].duration - 1e-7));
        gltf.scene.updateMatrixWorld(true);
        file.Nodes.forEach((n, j) => {
          if (!nodes.has(n)) return;
          const at = new THREE.Vector3().setFromMatrixPosition(nodes.get(n).matrixWorld);
          size = Math.max(size, at.length());
          far = Math.max(far, at.distanceTo(new THREE.Vector3(...frame.Places[j])));
          places++;
        });
      }
      mixer.stopAllAction();
      mixer.uncacheRoot(gltf.scene);
      reset();
    }
    console.log(JSON.stringify({ Path: file.Path, Far: far, Size: size, Places: places }));
  }
}

main();
