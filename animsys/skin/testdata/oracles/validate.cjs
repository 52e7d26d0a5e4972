// Prints the errors of Khronos' glTF validator: for each file a line of JSON, codes and how often.
const validator = require('gltf-validator')
const fs = require('fs')
const path = require('path')

async function main() {
	for (const file of process.argv.slice(2)) {
		const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
			maxIssues: 0,
			externalResourceFunction: async (uri) => new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri)))),
		})
		const codes = {}
		for (const m of report.issues.messages) {
			if (m.severity < 2) {
				const code = (m.severity === 0 ? 'error ' : 'warning ') + m.code
				codes[code] = (codes[code] || 0) + 1
			}
		}
		console.log(JSON.stringify(codes))
	}
}
main()
