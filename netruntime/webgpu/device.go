//go:build webgpu

package webgpu

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"mannequin/netruntime/internal/reserve"
)

// Built reports whether the program was built with the tag webgpu.
const Built = true

// device is the process's GPU. vulkan.go and browser.go have the rest of it, for the library and for a
// browser: the types gpu, buffer, bindings, layout, group, pipeline, commands, mapping and mapped, and their methods.
type device struct {
	gpu
	busy     chan struct{} // holds one: the library is not for several goroutines
	compiled atomic.Int64  // when kernels were compiled last, ns, or compilesNow: others wait longer for it than for the GPU
	name     string
	most     int64                          // bytes of the largest memory that kernels can use
	half     bool                           // kernels may compute in float16
	products [formats][len(tiles)]*pipeline // those in float16 are nil until a network needs them
	chain    *pipeline
	nearest  *pipeline
}

var state reserve.GPU

// startTimeout is the longest wait for the driver to compile the kernels.
const startTimeout = 2 * time.Minute

var theDevice = sync.OnceValues(func() (*device, error) {
	var d *device
	if err := reserve.Within(startTimeout, func() (err error) {
		d, err = openDevice()
		return err
	}); err != nil {
		return nil, err
	}
	return d, nil
})

// software is said of a device that is none.
const software = ", software on the processor"

var (
	errLost = errors.New("webgpu: the GPU was lost")
	// errHeld is the error of what cannot wait for the GPU, in a browser.
	errHeld = errors.New("webgpu: JavaScript waits for this call, and no result of the GPU comes until it has returned: start a goroutine in the function that JavaScript calls")
)

var heldOnce sync.Once

// fail handles an error: the GPU is lost, unless it only cannot be waited for. It logs that once.
func fail(log *slog.Logger, err error) {
	if !errors.Is(err, errHeld) {
		lose(log, err)
		return
	}
	heldOnce.Do(func() { log.Warn("the GPU cannot be waited for, the processor computes the networks", "err", err) })
}

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
	if err := held(); err != nil {
		return "", err
	}
	d, err := theDevice()
	if err != nil {
		return "", err
	}
	if state.Lost.Load() {
		return "", errLost
	}
	return d.name, nil
}

// Fallbacks returns the number of runs that the processor has computed because the GPU was lost, or could
// not be waited for.
func Fallbacks() int64 { return state.Fallbacks.Load() }

func newDevice(name string) *device { return &device{name: name, busy: make(chan struct{}, 1)} }

// enlarge makes the goroutine's stack large enough for the library's calls. The library for Vulkan keeps places on the stack as numbers while
// the driver writes there: a stack that grew meanwhile would leave them behind.
//
//go:noinline
func enlarge(i int) byte {
	var room [32 << 10]byte
	return room[i%len(room)]
}

// enter waits until no other goroutine calls the library. One that hangs there never leaves.
func (d *device) enter(limit time.Duration) error {
	enlarge(0)
	select {
	case d.busy <- struct{}{}:
		return nil
	default:
	}
	for {
		select {
		case d.busy <- struct{}{}:
			return nil
		case <-time.After(limit):
			if !d.compiling(limit) {
				return reserve.ErrHang(limit)
			}
		}
	}
}

// compilesNow is after all times.
const compilesNow = math.MaxInt64

// compile notes that somebody who is busy compiles kernels, until the function that it returns is called.
func (d *device) compile() (end func()) {
	d.compiled.Store(compilesNow)
	return func() { d.compiled.Store(time.Now().UnixNano()) }
}

// compiling reports whether somebody compiles kernels, or did within a time. Who does so for startTimeout has lost the GPU.
func (d *device) compiling(within time.Duration) bool {
	return !state.Lost.Load() && time.Now().UnixNano()-d.compiled.Load() < int64(within)
}

// within is reserve.Within that waits for kernels that others compile.
func (d *device) within(limit time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(limit):
			if !d.compiling(limit) {
				return reserve.ErrHang(limit)
			}
		}
	}
}

func (d *device) leave() { <-d.busy }

// use prepares d for an open device.
func (d *device) use(open openGPU) error {
	if err := d.init(open); err != nil {
		return fmt.Errorf("webgpu: %s: %w", d.name, err)
	}
	compile := func(to **pipeline, name, source string) (err error) {
		if *to, err = d.pipeline(name, source); err != nil {
			return fmt.Errorf("webgpu: %s: kernel %s: %w", d.name, name, err)
		}
		return nil
	}
	if err := compile(&d.chain, "chain", commonSource+chainSource); err != nil {
		return err
	}
	if err := compile(&d.nearest, "nearest", searchSource()); err != nil {
		return err
	}
	for f := range halves {
		if err := d.multiply(f); err != nil {
			return fmt.Errorf("webgpu: %s: kernel product: %w", d.name, err)
		}
	}
	return nil
}

// float16 compiles the products of weights in float16.
func (d *device) float16() error {
	defer d.compile()()
	if d.half {
		if err := d.multiply(sums16); err == nil {
			return nil
		}
		d.half = false // its driver does not compile what it offers
	}
	if err := d.multiply(halves); err != nil {
		return fmt.Errorf("webgpu: %s: kernel product in float16: %w: %w", d.name, err, errPlan)
	}
	return nil
}

// multiply compiles the products of weights in a format, unless it has them.
func (d *device) multiply(f format) (err error) {
	for i, t := range tiles {
		if to := &d.products[f][i]; *to == nil {
			if *to, err = d.pipeline("product", t.source(f)); err != nil {
				return err
			}
		}
	}
	return nil
}

// The bindings of all kernels, as in kernels/common.wgsl: a session's, and a call's.
const (
	bindMemory = iota
	bindConstants
	bindOps
	bindRun

	bindCall = 0
)

// binding is a part of a buffer that kernels see; size 0 is all of it.
type binding struct {
	number       uint32
	of           *buffer
	offset, size int64
}
