package ptx

// Blocks returns the number of the kernel's basic blocks.
func (k *Kernel) Blocks() int { return len(k.starts) }

// Missed returns the lines of those that have not run since Forget.
func (k *Kernel) Missed() (lines []int) {
	for _, start := range k.starts {
		if !k.ran[start] {
			lines = append(lines, k.code[start].line)
		}
	}
	return lines
}

// Ran returns the lines of the instructions that have run since Forget.
func (k *Kernel) Ran() (lines []int) {
	for i, ran := range k.ran {
		if ran {
			lines = append(lines, k.code[i].line)
		}
	}
	return lines
}

// Forget forgets what has run.
func (k *Kernel) Forget() { clear(k.ran) }
