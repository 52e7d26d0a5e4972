//go:build webgpu && !js

package webgpu

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-webgpu/goffi/ffi"
	"github.com/go-webgpu/goffi/types"
	"github.com/gogpu/wgpu/hal"
	"github.com/gogpu/wgpu/hal/vulkan/vk"
)

// The library allocates memory for each argument of each function of the driver, and records commands for one submission only. So a run
// calls the few functions that it needs itself, with arguments that stay.

// native calls functions of the driver.
type native struct {
	device vk.Device
	queue  vk.Queue
	family uint32
	make   *vk.Commands // for what is called once

	begin, end, submit, status, reset              function
	pipeline, group, dispatch, barrier, copy, fill function

	values  [10]uint64 // of the arguments
	args    [10]unsafe.Pointer
	result  int32
	started vk.CommandBufferBeginInfo
	between vk.MemoryBarrier // from what was written to what reads or writes
	toHost  vk.MemoryBarrier
	region  vk.BufferCopy
	set     vk.DescriptorSet
	fence   vk.Fence
	buffer  vk.CommandBuffer
	work    vk.SubmitInfo
}

type function struct {
	name      string
	signature *types.CallInterface
	at        unsafe.Pointer
}

// newNative returns the functions of an open device.
func newNative(open hal.OpenDevice) (*native, error) {
	n := &native{make: vk.NewCommands()}
	device, err := private(open.Device, "handle")
	if err != nil {
		return nil, err
	}
	queue, err := private(open.Queue, "handle")
	if err != nil {
		return nil, err
	}
	family, err := private(open.Queue, "familyIndex")
	if err != nil {
		return nil, err
	}
	n.device, n.queue, n.family = vk.Device(device), vk.Queue(queue), uint32(family)
	if err := n.make.LoadDevice(n.device); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		to        *function
		name      string
		signature *types.CallInterface
	}{
		{&n.begin, "vkBeginCommandBuffer", &vk.SigResultHandlePtr}, {&n.end, "vkEndCommandBuffer", &vk.SigResultHandle},
		{&n.submit, "vkQueueSubmit", &vk.SigResultHandleU32PtrHandle}, {&n.status, "vkGetFenceStatus", &vk.SigResultHandleHandle},
		{&n.reset, "vkResetFences", &vk.SigResultHandleU32Ptr}, {&n.pipeline, "vkCmdBindPipeline", &vk.SigVoidHandleU32Handle},
		{&n.group, "vkCmdBindDescriptorSets", &vk.SigVoidCmdBindDescriptorSets}, {&n.dispatch, "vkCmdDispatch", &vk.SigVoidHandleU32x3},
		{&n.barrier, "vkCmdPipelineBarrier", &vk.SigVoidCmdPipelineBarrier}, {&n.copy, "vkCmdCopyBuffer", &vk.SigVoidCmdCopyBuffer},
		{&n.fill, "vkCmdFillBuffer", &vk.SigVoidCmdFillBuffer},
	} {
		*f.to = function{f.name, f.signature, vk.GetDeviceProcAddr(n.device, f.name)}
		if f.to.at == nil {
			return nil, fmt.Errorf("the driver has no %s", f.name)
		}
	}
	for i := range n.args {
		n.args[i] = unsafe.Pointer(&n.values[i])
	}
	n.started.SType = vk.StructureTypeCommandBufferBeginInfo
	const (
		writes = vk.AccessShaderWriteBit | vk.AccessTransferWriteBit
		reads  = vk.AccessShaderReadBit | vk.AccessUniformReadBit | vk.AccessTransferReadBit
	)
	n.between = vk.MemoryBarrier{SType: vk.StructureTypeMemoryBarrier, SrcAccessMask: vk.AccessFlags(writes), DstAccessMask: vk.AccessFlags(reads | writes)}
	n.toHost = vk.MemoryBarrier{SType: vk.StructureTypeMemoryBarrier, SrcAccessMask: vk.AccessFlags(writes), DstAccessMask: vk.AccessFlags(vk.AccessHostReadBit)}
	n.work = vk.SubmitInfo{SType: vk.StructureTypeSubmitInfo, CommandBufferCount: 1, PCommandBuffers: &n.buffer}
	return n, nil
}

// private returns a number that the library keeps in a field of its own. It is pinned in go.mod; a version without the field is refused.
func private(x any, field string) (uint64, error) {
	if v := reflect.Indirect(reflect.ValueOf(x)); v.Kind() == reflect.Struct {
		if f := v.FieldByName(field); f.IsValid() && f.CanUint() && (f.Uint() != 0 || f.Kind() == reflect.Uint32) {
			return f.Uint(), nil
		}
	}
	return 0, fmt.Errorf("this version of the library has no %T.%s", x, field)
}

// call calls a function with the first count of n.values.
func (n *native) call(f *function, count int) error {
	n.result = int32(vk.Success)
	if _, err := ffi.CallFunction(f.signature, f.at, unsafe.Pointer(&n.result), n.args[:count]); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if r := vk.Result(n.result); r != vk.Success && r != vk.NotReady {
		return fmt.Errorf("%s: error %d", f.name, r)
	}
	return nil
}

// address returns where something of n's own is. It does not move, and n keeps it.
func address[T any](x *T) uint64 { return uint64(uintptr(unsafe.Pointer(x))) }

const stages = vk.PipelineStageFlags(vk.PipelineStageComputeShaderBit | vk.PipelineStageTransferBit)

// wait makes what comes later wait for what came before.
func (n *native) wait(c vk.CommandBuffer, to vk.PipelineStageFlags, b *vk.MemoryBarrier) error {
	n.values = [10]uint64{uint64(c), uint64(stages), uint64(to), 0, 1, address(b)}
	return n.call(&n.barrier, 10)
}

func (n *native) copyBuffer(c vk.CommandBuffer, from vk.Buffer, at int64, to vk.Buffer, toAt, bytes int64) error {
	n.region = vk.BufferCopy{SrcOffset: vk.DeviceSize(at), DstOffset: vk.DeviceSize(toAt), Size: vk.DeviceSize(bytes)}
	n.values = [10]uint64{uint64(c), uint64(from), uint64(to), 1, address(&n.region)}
	return n.call(&n.copy, 5)
}

// clear sets a buffer to zeros.
func (n *native) clear(c vk.CommandBuffer, b vk.Buffer) error {
	n.values = [10]uint64{uint64(c), uint64(b), 0, vk.WholeSize, 0}
	return n.call(&n.fill, 5)
}

func (n *native) bindPipeline(c vk.CommandBuffer, p vk.Pipeline) error {
	n.values = [10]uint64{uint64(c), uint64(vk.PipelineBindPointCompute), uint64(p)}
	return n.call(&n.pipeline, 3)
}

func (n *native) bindGroup(c vk.CommandBuffer, layout vk.PipelineLayout, index int, set vk.DescriptorSet) error {
	n.set = set
	n.values = [10]uint64{uint64(c), uint64(vk.PipelineBindPointCompute), uint64(layout), uint64(index), 1, address(&n.set)}
	return n.call(&n.group, 8)
}

func (n *native) run(c vk.CommandBuffer, x, y int) error {
	n.values = [10]uint64{uint64(c), uint64(x), uint64(y), 1}
	return n.call(&n.dispatch, 4)
}

func (n *native) record(c vk.CommandBuffer) error {
	n.values = [10]uint64{uint64(c), address(&n.started)}
	return n.call(&n.begin, 2)
}

func (n *native) recorded(c vk.CommandBuffer) error {
	n.values = [10]uint64{uint64(c)}
	return n.call(&n.end, 1)
}

// start submits recorded commands. The fence says when they are done.
func (n *native) start(c vk.CommandBuffer, fence vk.Fence) error {
	n.fence, n.buffer = fence, c
	n.values = [10]uint64{uint64(n.device), 1, address(&n.fence)}
	if err := n.call(&n.reset, 3); err != nil {
		return err
	}
	n.values = [10]uint64{uint64(n.queue), 1, address(&n.work), uint64(fence)}
	return n.call(&n.submit, 4)
}

// done reports whether a fence is reached.
func (n *native) done(fence vk.Fence) (bool, error) {
	n.values = [10]uint64{uint64(n.device), uint64(fence)}
	err := n.call(&n.status, 2)
	return vk.Result(n.result) == vk.Success, err
}
