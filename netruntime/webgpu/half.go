//go:build webgpu && !js

package webgpu

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/go-webgpu/goffi/ffi"
	"github.com/gogpu/gputypes"
	"github.com/gogpu/naga"
	"github.com/gogpu/wgpu/hal"
	"github.com/gogpu/wgpu/hal/vulkan/vk"
)

// The library opens devices without float16, although its compiler knows it. So while it opens one, a function of ours stands in place of the
// driver's vkCreateDevice. It asks for float16, and calls the driver.

// storageFeatures is the SType of vk.PhysicalDevice16BitStorageFeatures, which the library lacks.
const storageFeatures vk.StructureType = 1000083000

// opening is the device that is being opened. It does not move: the driver has pointers to it.
var opening struct {
	sync.Mutex
	driver  *vk.Commands
	storage vk.PhysicalDevice16BitStorageFeatures
	asked   bool // the device was opened with float16
}

// createDevice is what the driver's function is replaced with.
var createDevice = sync.OnceValue(func() unsafe.Pointer {
	at := ffi.NewCallback(func(of vk.PhysicalDevice, info *vk.DeviceCreateInfo, allocator *vk.AllocationCallbacks, device *vk.Device) uintptr { // uintptr: Windows wants it
		o := &opening
		more := (*vk.PhysicalDeviceVulkan12Features)(unsafe.Pointer(info.PNext)) // of the library, if it is that
		o.asked = more != nil && more.SType == vk.StructureTypePhysicalDeviceVulkan12Features
		if o.asked {
			more.ShaderFloat16 = vk.True
			o.storage = vk.PhysicalDevice16BitStorageFeatures{SType: storageFeatures, PNext: info.PNext,
				StorageBuffer16BitAccess: vk.True, UniformAndStorageBuffer16BitAccess: vk.True}
			info.PNext = (*uintptr)(unsafe.Pointer(&o.storage))
		}
		r := o.driver.CreateDevice(of, info, allocator, device)
		o.storage.PNext = nil
		o.asked = o.asked && r == vk.Success
		return uintptr(uint32(r))
	})
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
})

// openFloat16 opens an adapter, and reports whether the device has float16.
func openFloat16(a hal.Adapter, limits gputypes.Limits) (open hal.OpenDevice, half bool, err error) {
	enlarge(0) // for our function, within the library's call
	o := &opening
	o.Lock()
	defer o.Unlock()
	o.asked = false
	if at, err := offersFloat16(a); err == nil {
		driver := *at
		*at = createDevice()
		open, err = a.Open(0, limits)
		*at = driver
		if err == nil {
			return open, o.asked, nil
		}
	}
	open, err = a.Open(0, limits)
	return open, false, err
}

// spirvOf compiles a kernel. The library would do it without float16.
func spirvOf(source string, half bool) ([]uint32, error) {
	o := naga.DefaultOptions()
	if half {
		o.Capabilities = naga.CapShaderFloat16
	}
	code, err := naga.CompileWithOptions(source, o)
	words := make([]uint32, len(code)/4)
	copy(Bytes(words), code)
	return words, err
}

// offersFloat16 returns where the library keeps vkCreateDevice, or an error if it does not do so or the adapter has no float16.
func offersFloat16(a hal.Adapter) (at *unsafe.Pointer, err error) {
	defer func() {
		if r := recover(); r != nil { // of reflect, for another version of the library; of ffi, for want of callbacks
			err = fmt.Errorf("%v", r)
		}
	}()
	createDevice()
	adapter := reflect.ValueOf(a).Elem()
	instance := adapter.FieldByName("instance").Elem()
	opening.driver = vk.NewCommands()
	if err := opening.driver.LoadInstance(vk.Instance(instance.FieldByName("handle").Uint())); err != nil {
		return nil, err
	}
	if !opening.driver.HasPhysicalDeviceFeatures2() {
		return nil, errors.New("an old driver")
	}
	storage := &vk.PhysicalDevice16BitStorageFeatures{SType: storageFeatures}
	more := &vk.PhysicalDeviceVulkan12Features{SType: vk.StructureTypePhysicalDeviceVulkan12Features, PNext: (*uintptr)(unsafe.Pointer(storage))}
	features := &vk.PhysicalDeviceFeatures2{SType: vk.StructureTypePhysicalDeviceFeatures2, PNext: (*uintptr)(unsafe.Pointer(more))}
	opening.driver.GetPhysicalDeviceFeatures2(vk.PhysicalDevice(adapter.FieldByName("physicalDevice").Uint()), features)
	if more.ShaderFloat16&storage.StorageBuffer16BitAccess&storage.UniformAndStorageBuffer16BitAccess == 0 {
		return nil, errors.New("no float16")
	}
	function := instance.FieldByName("cmds").FieldByName("createDevice")
	if function.Kind() != reflect.UnsafePointer {
		return nil, errors.New("no vkCreateDevice")
	}
	return (*unsafe.Pointer)(unsafe.Pointer(function.UnsafeAddr())), nil
}
