// Loads a GLB in three.js, plays its last animation and prints the places of all nodes, by index, at
// times in seconds: node three.cjs FILE TIME... prints a line of JSON per time.
const fs = require('fs')
const { pathToFileURL } = require('url')

globalThis.self = globalThis
globalThis.ProgressEvent ||= class extends Event {}
console.error = () => {} // pictures need a browser
console.warn = () => {}

async function main() {
	const [file, ...times] = process.argv.slice(2)
	const three = pathToFileURL(require.resolve('three').replace(/three\.cjs$/, 'three.module.js'))
	const THREE = await import(three)
	const { GLTFLoader } = await import(pathToFileURL(require.resolve('three/examples/jsm/loaders/GLTFLoader.js')))
	const data = fs.readFileSync(file)
	const gltf = await new GLTFLoader().parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength), '')
	const nodes = []
	for (const [object, at] of gltf.parser.associations) {
		if (at && at.nodes !== undefined && object.isObject3D) nodes[at.nodes] = object
	}
	const mixer = new THREE.AnimationMixer(gltf.scene)
	const action = mixer.clipAction(gltf.animations[gltf.animations.length - 1])
	action.setLoop(THREE.LoopOnce)
	action.clampWhenFinished = true
	action.play()
	for (const time of times) {
		mixer.setTime(Number(time))
		gltf.scene.updateMatrixWorld(true)
		console.log(JSON.stringify(nodes.map((n) => (n ? [n.matrixWorld.elements[12], n.matrixWorld.elements[13], n.matrixWorld.elements[14]] : null))))
	}
}
main()
