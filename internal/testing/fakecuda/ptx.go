//go:build cuda

package fakecuda

// struct range {
// 	unsigned long long begin, bytes;
// 	unsigned char *written;
// };
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"mannequin/internal/testing/ptx"
)

// interpreted is what the fake driver runs in place of compiled kernels.
var interpreted struct {
	sync.Mutex
	module   *ptx.Module
	memory   *ptx.Memory
	launches uint64
}

func init() {
	interpret = func() {
		interpreted.memory = ptx.NewMemory()
		setInterpreter()
	}
}

//export fakecudaLoad
func fakecudaLoad(text *C.char) C.int {
	interpreted.Lock()
	defer interpreted.Unlock()
	m, err := ptx.Read(strings.NewReader(C.GoString(text)))
	if err != nil {
		return fault(err)
	}
	interpreted.module = m
	return 0
}

//export fakecudaRun
func fakecudaRun(kernel *C.char, blocks, threads, shared C.longlong, parameters *C.ulonglong, count C.longlong, memory *C.struct_range, ranges C.longlong) C.int {
	interpreted.Lock()
	defer interpreted.Unlock()
	k := interpreted.module.Kernel(C.GoString(kernel))
	if k == nil {
		return fault(fmt.Errorf("fakecuda: the PTX has no kernel %s", C.GoString(kernel)))
	}
	var regions []ptx.Region
	for _, r := range unsafe.Slice(memory, int(ranges)) {
		regions = append(regions, ptx.Region{Begin: uint64(r.begin),
			Bytes:   unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&r.begin))), int(r.bytes)),
			Written: unsafe.Slice((*byte)(unsafe.Pointer(r.written)), int(r.bytes))})
	}
	interpreted.memory.SetRegions(regions)
	interpreted.launches++
	l := ptx.Launch{Blocks: int(blocks), Threads: int(threads), Shared: int(shared), Seed: interpreted.launches}
	for _, p := range unsafe.Slice(parameters, int(count)) {
		l.Parameters = append(l.Parameters, uint64(p))
	}
	if err := k.Run(interpreted.memory, l); err != nil {
		return fault(err)
	}
	return 0
}

// fault prints an error, and returns the code that the driver takes for a failure.
func fault(err error) C.int {
	fmt.Fprintln(os.Stderr, "fake cuda:", err)
	return 1
}
