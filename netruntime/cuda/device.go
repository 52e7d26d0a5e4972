//go:build cuda

package cuda

// #include <cuda.h>
// #include "ops.h"
import "C"

import (
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	_ "mannequin/netruntime/cuda/driver" // what cu calls
	"mannequin/netruntime/internal/program"
	"mannequin/netruntime/internal/reserve"
)

// Built reports whether the program was built with the tag cuda.
const Built = true

var (
	//go:embed kernels/sm_80.ptx
	ptx80 string
	//go:embed kernels/sm_90.ptx
	ptx90 string
)

// device is the process's GPU: the first that the driver lists.
type device struct {
	name    string
	context cu.CUContext
	units   int // multiprocessors
	kernels [program.Forms][len(tiles)]productKernel
	chain   cu.Function
}

// productKernel computes products in one type of operand and size of tile.
type productKernel struct {
	function cu.Function
	together int // blocks that a multiprocessor runs at the same time
}

// tile is the part of a product that a block computes, and its threads.
type tile struct {
	name                   string
	rows, columns, threads int
	// time is the relative time of an element, with blocks that run at the same time counted as
	// one. Small tiles copy more for each element. Estimated, not measured.
	time int
}

var tiles = [...]tile{{"large", 256, 128, 256, 10}, {"medium", 128, 128, 128, 10}, {"small", 64, 64, 128, 17}}

// shared returns the bytes of shared memory of a block.
func (t *tile) shared() int { return C.STAGES * (t.rows + t.columns) * program.StepBytes }

// blocks returns the number of blocks that compute a product.
func (t *tile) blocks(rows, columns int) int {
	return (rows + t.rows - 1) / t.rows * ((columns + t.columns - 1) / t.columns)
}

var state reserve.GPU

var theDevice = sync.OnceValues(func() (*device, error) {
	var d *device
	if err := within(startTimeout, func() (err error) {
		d, err = openDevice()
		return err
	}); err != nil {
		return nil, err
	}
	return d, nil
})

// lose ends the use of the GPU after an error, and logs it once.
func lose(log *slog.Logger, err error) {
	if state.Lose(log, err) {
		forget()
	}
}

// called returns the device's name; nil has none.
func (d *device) called() string {
	if d == nil {
		return ""
	}
	return d.name
}

// Device returns the name of the GPU that sessions run on, or an error that says why there is none.
func Device() (string, error) {
	d, err := theDevice()
	if err != nil {
		return "", err
	}
	if state.Lost.Load() {
		return "", errLost
	}
	return d.name, nil
}

// Fallbacks returns the number of runs that the processor has computed because the GPU was lost.
func Fallbacks() int64 { return state.Fallbacks.Load() }

// wrap adds the failed step to an error of CUDA.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cuda: "+format+": %w", append(args, err)...)
}

var errLost = errors.New("cuda: the GPU was lost")

func openDevice() (*device, error) {
	n, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("cuda: no NVIDIA driver, or no device that it can use: %w", err)
	}
	if n == 0 {
		return nil, errors.New("cuda: the NVIDIA driver lists no device")
	}
	dev, err := cu.GetDevice(0)
	if err != nil {
		return nil, fmt.Errorf("cuda: device 0: %w", err)
	}
	d := &device{}
	if d.name, err = dev.Name(); err != nil {
		return nil, fmt.Errorf("cuda: device 0: %w", err)
	}
	major, err := dev.Attribute(cu.ComputeCapabilityMajor)
	if err != nil {
		return nil, fmt.Errorf("cuda: %s: %w", d.name, err)
	}
	if major < 8 {
		return nil, fmt.Errorf("cuda: %s has compute capability %d, at least 8 is needed", d.name, major)
	}
	if d.units, err = dev.Attribute(cu.MultiprocessorCount); err != nil {
		return nil, fmt.Errorf("cuda: %s: %w", d.name, err)
	}
	if d.context, err = dev.RetainPrimaryCtx(); err != nil {
		return nil, fmt.Errorf("cuda: %s: context: %w", d.name, err)
	}
	ptx := ptx80
	if major >= 9 {
		ptx = ptx90
	}
	if err = d.enter(); err == nil {
		err = d.load(ptx)
		runtime.UnlockOSThread()
	}
	if err != nil {
		_ = dev.ReleasePrimaryCtx()
		return nil, err
	}
	return d, nil
}

// enter makes the device's context current on the goroutine's thread, and locks the goroutine to
// the thread until runtime.UnlockOSThread.
func (d *device) enter() error {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("cuda: context: %w", err)
	}
	return nil
}

// do runs f with the device's context, as within does.
func (d *device) do(limit time.Duration, f func() error) error {
	return within(limit, func() error {
		if err := d.enter(); err != nil {
			return err
		}
		defer runtime.UnlockOSThread()
		return f()
	})
}

// load compiles the kernels for the device. The driver caches them.
func (d *device) load(ptx string) error {
	m, err := cu.LoadData(ptx)
	if err != nil {
		return fmt.Errorf("cuda: kernels: %w", err)
	}
	find := func(to *cu.Function, name string, shared int) {
		if err != nil {
			return
		}
		if *to, err = m.Function(name); err != nil {
			err = fmt.Errorf("cuda: kernel %s: %w", name, err)
		} else if rc := C.cuFuncSetAttribute(handle(*to), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(shared)); rc != C.CUDA_SUCCESS {
			err = fmt.Errorf("cuda: kernel %s: %d bytes of shared memory: %w", name, shared, result(rc))
		}
	}
	for f, name := range map[program.Form]string{program.FP32: "fp32", program.TF32: "tf32", program.BF16: "bf16"} {
		for i := range tiles {
			t, k := &tiles[i], &d.kernels[f][i]
			if find(&k.function, "product_"+name+"_"+t.name, t.shared()); err != nil {
				return err
			}
			if k.together, err = k.function.MaxActiveBlocksPerMultiProcessor(t.threads, int64(t.shared())); err != nil {
				return fmt.Errorf("cuda: kernel product_%s_%s: %w", name, t.name, err)
			}
			if k.together < 1 {
				return fmt.Errorf("cuda: kernel product_%s_%s: the device is too small for it", name, t.name)
			}
		}
	}
	find(&d.chain, "light_chain", 0)
	return err
}

// handle returns the driver's handle of f, which is the only content of a cu.Function.
func handle(f cu.Function) C.CUfunction { return *(*C.CUfunction)(unsafe.Pointer(&f)) }

// maxPinned is the most bytes of one piece of pinned memory.
const maxPinned = 1 << 36

// pinned allocates host memory that the GPU copies directly.
func pinned(floats int) ([]float32, error) {
	if floats == 0 {
		return nil, nil
	}
	if floats > maxPinned/4 {
		return nil, fmt.Errorf("cuda: %d values of pinned memory: %w", floats, cu.OutOfMemory)
	}
	var p unsafe.Pointer
	switch rc := C.cuMemHostAlloc(&p, C.size_t(4*floats), C.CU_MEMHOSTALLOC_PORTABLE); rc {
	case C.CUDA_SUCCESS:
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return nil, fmt.Errorf("cuda: %d bytes of pinned memory: %w", 4*floats, cu.OutOfMemory)
	default:
		return nil, fmt.Errorf("cuda: %d bytes of pinned memory: %w", 4*floats, result(rc))
	}
	return unsafe.Slice((*float32)(p), floats), nil
}

func unpin(x []float32) error {
	if x == nil {
		return nil
	}
	return cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(x)))
}

// tile returns the index of the tile with which a product's rounds over all multiprocessors take
// the least time.
func (d *device) tile(f program.Form, rows, columns int) int {
	best, least := 0, 0
	for i := range tiles {
		t, together := &tiles[i], d.kernels[f][i].together
		blocks := t.blocks(rows, columns)
		// A round of fewer blocks than fit takes less time, but at least one block's.
		together = min(together, (blocks+d.units-1)/d.units)
		rounds := (blocks + together*d.units - 1) / (together * d.units)
		if time := rounds * together * t.rows * t.columns * t.time; i == 0 || time < least {
			best, least = i, time
		}
	}
	return best
}
