// The calls of a GPUDevice in a run, in few functions without arguments or results: each reference to an object of JavaScript's would cost Go an
// allocation. This is the body of a function of device; browser.go calls what it returns. Go writes numbers into words, and data into scratch. It
// knows objects by their numbers in table.

const queue = device.queue;
const table = [], free = [];
let words = new Float64Array(1), scratch = new Uint8Array(1);

const keep = (object) => {
	const number = free.length > 0 ? free.pop() : table.length;
	table[number] = object;
	return number;
};

// States of results, as Go reads them.
const none = 0, there = 1, refused = 2, failed = 3;

// settle ends the wait for results, unless Go has given up the run.
const settle = (results, run, state, problem) => {
	if (results.run !== run) return;
	results.run = null;
	results.problem = problem;
	results.flags[0] = state;
	if (results.flags[1] === 0) return;
	const wake = results.wake; // without an object to be called on, which Go would keep
	wake();
};

const submit = (commands, results, bytes) => {
	queue.submit([commands]);
	const run = {};
	results.run = run;
	results.flags.fill(0);
	Promise.all([results.buffer.mapAsync(1, 0, bytes), device.popErrorScope()]).then(([, error]) => {
		if (error) return settle(results, run, refused, error);
		if (results.run === run) {
			results.host.set(new Uint8Array(results.buffer.getMappedRange(0, bytes)));
			results.buffer.unmap();
		}
		settle(results, run, there, null);
	}).catch((error) => settle(results, run, failed, error));
};

return {
	keep,
	drop(number) {
		const object = table[number];
		if (object === undefined) return;
		if (object.flags) object.run = null;
		table[number] = undefined;
		free.push(number);
	},

	// words and scratch return memory for Go to write.
	words(count) {
		words = new Float64Array(count);
		return new Uint8Array(words.buffer);
	},
	scratch: (bytes) => scratch = new Uint8Array(bytes),

	// write copies from scratch to a buffer.
	write() { queue.writeBuffer(table[words[0]], words[1], scratch, 0, words[2]); },

	// run submits the commands in words.
	run() {
		device.pushErrorScope("validation");
		const encoder = device.createCommandEncoder();
		const pass = encoder.beginComputePass();
		for (let i = 0; ;) {
			switch (words[i++]) {
			case 0: return submit(encoder.finish(), table[words[i]], words[i + 1]);
			case 1: pass.setPipeline(table[words[i++]]); break;
			case 2: pass.setBindGroup(words[i++], table[words[i++]]); break;
			case 3: pass.dispatchWorkgroups(words[i++], words[i++]); break;
			case 4: pass.end(); break;
			case 5: encoder.copyBufferToBuffer(table[words[i++]], words[i++], table[words[i++]], words[i++], words[i++]); break;
			default: throw new Error("webgpu: no such command");
			}
		}
	},

	// results keeps a buffer that Go reads. wake is called when a run has ended for which Go waits.
	results: (buffer, wake) => keep({ buffer, wake, flags: new Uint8Array(2), host: null, run: null, problem: null }),
	flags: (number) => table[number].flags,
	host: (number, bytes) => table[number].host = new Uint8Array(bytes),
	problem: (number) => table[number].problem,
	giveUp(number) {
		table[number].run = null;
		table[number].buffer.unmap();
	},
};
