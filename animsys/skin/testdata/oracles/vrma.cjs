// Loads a VRM animation in three-vrm and prints the tracks of its bones: node vrma.cjs FILE.
const fs = require('fs')
const { pathToFileURL } = require('url')

globalThis.self = globalThis
globalThis.ProgressEvent ||= class extends Event {}

async function main() {
	const load = (name) => import(pathToFileURL(require.resolve(name)))
	const { GLTFLoader } = await load('three/examples/jsm/loaders/GLTFLoader.js')
	const { VRMAnimationLoaderPlugin } = await import(pathToFileURL(require.resolve('@pixiv/three-vrm-animation').replace(/\.cjs$/, '.module.js')))
	const data = fs.readFileSync(process.argv[2])
	const loader = new GLTFLoader()
	loader.register((parser) => new VRMAnimationLoaderPlugin(parser))
	const gltf = await loader.parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength), '')
	const [animation] = gltf.userData.vrmAnimations
	const chunks = (values, n) => Array.from({ length: values.length / n }, (_, i) => Array.from(values.slice(n * i, n * i + n)))
	const rotations = {}
	for (const [bone, track] of animation.humanoidTracks.rotation) rotations[bone] = chunks(track.values, 4)
	console.log(
		JSON.stringify({
			duration: animation.duration,
			hips: animation.restHipsPosition.toArray(),
			places: chunks(animation.humanoidTracks.translation.get('hips').values, 3),
			rotations,
		}),
	)
}
main()
