//go:build webgpu && !js

package webgpu

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gogpu/wgpu/hal"
	"github.com/gogpu/wgpu/hal/vulkan"
	"github.com/gogpu/wgpu/hal/vulkan/vk"

	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
)

// mostAllocations of a run.
const mostAllocations = 0

// TestValidation runs sessions and searches under Vulkan's validation layer, which finds wrong uses of the driver, in a process of its own.
func TestValidation(t *testing.T) {
	needGPU(t)
	const layer = "VK_LAYER_KHRONOS_validation"
	settings := filepath.Join(t.TempDir(), "vk_layer_settings.txt")
	must.Do(t, os.WriteFile(settings, []byte("khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n"+
		"khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\nkhronos_validation.log_filename = stdout\nkhronos_validation.report_flags = error,warn\n"), 0o644))
	c := exec.Command(os.Args[0], "-test.run=^(TestShipped|TestAlone|TestBF16|TestF16Weights|TestF16Range|TestWeightsAreShared|TestNearestTogether)$", "-test.v")
	c.Env = append(os.Environ(), "VK_INSTANCE_LAYERS="+layer, "VK_LAYER_SETTINGS_PATH="+settings, "VK_LOADER_DEBUG=layer")
	out, err := c.CombinedOutput()
	switch {
	case !strings.Contains(string(out), "nsert instance layer") || !strings.Contains(string(out), layer):
		t.Skip("Vulkan's validation layer is not installed")
	case err != nil || strings.Contains(string(out), "Validation Error") || !strings.Contains(string(out), "--- PASS: TestShipped"):
		t.Errorf("%v\n%s", err, out)
	}
}

// faultyDevice is the library's part of a driver that fails on command.
type faultyDevice struct {
	hal.Device
	f *faulty
}

func (d *faultyDevice) CreateBuffer(x *hal.BufferDescriptor) (hal.Buffer, error) {
	if err := d.f.next(); err != nil {
		return nil, err
	}
	if d.f.full.Load() && x.Label == "values" {
		return nil, hal.ErrDeviceOutOfMemory
	}
	return d.Device.CreateBuffer(x)
}

func (d *faultyDevice) MapBuffer(b hal.Buffer, offset, size uint64) (hal.BufferMapping, error) {
	if err := d.f.next(); err != nil {
		return hal.BufferMapping{}, err
	}
	return d.Device.MapBuffer(b, offset, size)
}

func (d *faultyDevice) CreateBindGroup(x *hal.BindGroupDescriptor) (hal.BindGroup, error) {
	if err := d.f.next(); err != nil {
		return nil, err
	}
	return d.Device.CreateBindGroup(x)
}

// openFaulty lets sessions of the test run on a faulty driver.
func openFaulty(t *testing.T) *faulty {
	t.Helper()
	needGPU(t)
	instance := must.Get(vulkan.NewBackend().CreateInstance(&hal.InstanceDescriptor{}))(t)
	adapters := instance.EnumerateAdapters(nil)
	if len(adapters) == 0 {
		t.Fatal("no adapter")
	}
	open := must.Get(openAdapter(adapters[0]))(t)
	f := &faulty{}
	open.Device = &faultyDevice{open.Device, f}
	d := newDevice("faulty")
	must.Do(t, d.use(open))
	start, done := d.start, d.done
	d.start = func(c vk.CommandBuffer, fence vk.Fence) error {
		if err := f.next(); err != nil {
			return err
		}
		return start(c, fence)
	}
	d.done = func(fence vk.Fence) (bool, error) {
		if f.hangs.Load() {
			return false, nil
		}
		if err := f.next(); err != nil {
			return false, err
		}
		return done(fence)
	}
	useFaulty(t, d)
	return f
}

// TestHangInClose: a GPU that does not end its work is lost in Close, too.
func TestHangInClose(t *testing.T) {
	n := must.Get(models.Open("dog"))(t)
	f := openFaulty(t)
	s := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}))(t)
	s.(*session).opt.Timeout = 300 * time.Millisecond
	f.hangs.Store(true)
	must.Do(t, s.Close())
	if !state.Lost.Load() {
		t.Error("the GPU is not lost")
	}
}

// TestNoDriver: without a device the processor computes, and one line of the log says why. It runs in
// a process of its own, whose Vulkan finds no driver.
func TestNoDriver(t *testing.T) {
	const alone = "MANNEQUIN_ALONE"
	if os.Getenv(alone) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestNoDriver$", "-test.v")
		c.Env = append(os.Environ(), alone+"=1", "VK_DRIVER_FILES="+os.DevNull, "VK_ICD_FILENAMES="+os.DevNull)
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestNoDriver") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if name, err := Device(); err == nil {
		t.Fatal("there is a device: ", name)
	}
	n := must.Get(models.Open("dog"))(t)
	var log strings.Builder
	o := Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 2 {
		s := must.Get(NewSession(n, o))(t)
		if s.Kernel() == "webgpu" {
			t.Error("the session claims to run on the GPU")
		}
		must.Do(t, s.Run(make([]float32, n.Outputs()), make([]float32, n.Inputs()), 1))
		must.Do(t, s.Close())
	}
	if strings.Count(log.String(), "no GPU, the processor computes the networks") != 1 || Fallbacks() != 0 {
		t.Errorf("%d runs counted; the log: %s", Fallbacks(), &log)
	}
}
