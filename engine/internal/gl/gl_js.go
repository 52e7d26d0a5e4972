package gl

import (
	"errors"
	"syscall/js"
)

// Precision begins each shader: without it WebGL uses a device's low default.
const Precision = `precision highp float;
precision highp int;
precision highp sampler2D;
precision highp isampler2D;
precision highp sampler2DShadow;
`

// SlowErrors reports that GetError waits until all is drawn.
const SlowErrors = true

// ctx is the page's one drawing context.
var ctx js.Value

// objects are the page's objects by our numbers; 0 is none.
var objects = []js.Value{js.Null()}

func add(made js.Value) uint32 {
	objects = append(objects, made)
	return uint32(len(objects) - 1)
}

func remove(id uint32) js.Value {
	v := objects[id]
	objects[id] = js.Null()
	return v
}

// Init sets the WebGL2 context to draw with.
func Init(context js.Value) error {
	if !context.Truthy() {
		return errors.New("the browser offers no WebGL 2: it is too old for it, or its settings turn hardware acceleration off")
	}
	ctx, objects = context, objects[:1] // a lost context's objects are invalid
	lost = false
	ctx.Get("canvas").Call("addEventListener", "webglcontextlost", onLost) // once, however often
	return nil
}

// Load is Init for a context that somebody else made, which a page cannot share.
func Load() error { return errors.New("in a browser only engine/stage draws crowds") }

// lost reports that the context was lost since Init. It may be back, without our objects.
var lost bool

var onLost = js.FuncOf(func(js.Value, []js.Value) any {
	lost = true
	return nil
})

// Away reports whether the browser has taken the context away, and not given it back.
func Away() bool { return ctx.Truthy() && ctx.Call("isContextLost").Bool() }

// Lost reports whether the browser has taken the context away since Init.
func Lost() bool { return lost || Away() }

// Renderer returns the name of the renderer.
func Renderer() string {
	name := 0x1F01
	if more := ctx.Call("getExtension", "WEBGL_debug_renderer_info"); more.Truthy() {
		name = more.Get("UNMASKED_RENDERER_WEBGL").Int()
	}
	return ctx.Call("getParameter", name).String()
}

// GetInteger returns the value of one of OpenGL's limits, 0 of a lost context.
func GetInteger(name uint32) int32 {
	v := ctx.Call("getParameter", name)
	if v.IsNull() {
		return 0
	}
	return int32(v.Int())
}

// Binding returns 0, none: nobody else draws on the page's context.
func Binding(uint32) uint32 { return 0 }

// GetError returns the first error since the last call, and forgets it.
func GetError() uint32 { return uint32(ctx.Call("getError").Int()) }

func Enable(capability uint32) { ctx.Call("enable", capability) }

func Disable(capability uint32) { ctx.Call("disable", capability) }

func GenTexture() uint32 { return add(ctx.Call("createTexture")) }

func DeleteTexture(id uint32) { ctx.Call("deleteTexture", remove(id)) }

func BindTexture(target, id uint32) { ctx.Call("bindTexture", target, objects[id]) }

func TexParameteri(target, name uint32, value int32) { ctx.Call("texParameteri", target, name, value) }

// TexImage2D gives the bound texture its size, and its contents where data is not nil.
func TexImage2D(target uint32, level, internal, w, h int32, format, kind uint32, data []byte) {
	if data == nil {
		ctx.Call("texImage2D", target, level, internal, w, h, 0, format, kind, js.Null())
		return
	}
	ctx.Call("texImage2D", target, level, internal, w, h, 0, format, kind, outside.take(data, kind), 0)
}

func GenerateMipmap(target uint32) { ctx.Call("generateMipmap", target) }

func TexSubImage2D(target uint32, level, x, y, w, h int32, format, kind uint32, data []byte) {
	ctx.Call("texSubImage2D", target, level, x, y, w, h, format, kind, outside.take(data, kind), 0)
}

func GenBuffer() uint32 { return add(ctx.Call("createBuffer")) }

func DeleteBuffer(id uint32) { ctx.Call("deleteBuffer", remove(id)) }

func BindBuffer(target, id uint32) { ctx.Call("bindBuffer", target, objects[id]) }

func BufferData(target uint32, data []byte, usage uint32) {
	ctx.Call("bufferData", target, outside.take(data, UNSIGNED_BYTE), usage, 0, len(data))
}

func GenVertexArray() uint32 { return add(ctx.Call("createVertexArray")) }

func DeleteVertexArray(id uint32) { ctx.Call("deleteVertexArray", remove(id)) }

func BindVertexArray(id uint32) { ctx.Call("bindVertexArray", objects[id]) }

func EnableVertexAttribArray(index uint32) { ctx.Call("enableVertexAttribArray", index) }

// VertexAttribPointer says where in the bound buffer an attribute lies, in bytes.
func VertexAttribPointer(index uint32, size int32, kind uint32, normalized bool, stride int32, offset int) {
	ctx.Call("vertexAttribPointer", index, size, kind, normalized, stride, offset)
}

func DrawElementsInstanced(mode uint32, count int32, kind uint32, instances int32) {
	ctx.Call("drawElementsInstanced", mode, count, kind, 0, instances)
}

func GenFramebuffer() uint32 { return add(ctx.Call("createFramebuffer")) }

func DeleteFramebuffer(id uint32) { ctx.Call("deleteFramebuffer", remove(id)) }

// BindFramebuffer directs drawing, reading or both to a framebuffer; 0 is the canvas's.
func BindFramebuffer(target, id uint32) { ctx.Call("bindFramebuffer", target, objects[id]) }

func FramebufferTexture2D(target, attachment, kind, id uint32, level int32) {
	ctx.Call("framebufferTexture2D", target, attachment, kind, objects[id], level)
}

func FramebufferRenderbuffer(target, attachment, kind, id uint32) {
	ctx.Call("framebufferRenderbuffer", target, attachment, kind, objects[id])
}

func CheckFramebufferStatus(target uint32) uint32 {
	return uint32(ctx.Call("checkFramebufferStatus", target).Int())
}

func BlitFramebuffer(x0, y0, x1, y1, toX0, toY0, toX1, toY1 int32, mask, filter uint32) {
	ctx.Call("blitFramebuffer", x0, y0, x1, y1, toX0, toY0, toX1, toY1, mask, filter)
}

func DrawBuffer(buffer uint32) { ctx.Call("drawBuffers", []any{buffer}) }

func ReadBuffer(buffer uint32) { ctx.Call("readBuffer", buffer) }

func GenRenderbuffer() uint32 { return add(ctx.Call("createRenderbuffer")) }

func DeleteRenderbuffer(id uint32) { ctx.Call("deleteRenderbuffer", remove(id)) }

func BindRenderbuffer(target, id uint32) { ctx.Call("bindRenderbuffer", target, objects[id]) }

// RenderbufferStorage gives the bound renderbuffer its size; 0 samples are one.
func RenderbufferStorage(target uint32, samples int32, format uint32, w, h int32) {
	ctx.Call("renderbufferStorageMultisample", target, samples, format, w, h)
}

func PixelStorei(name uint32, value int32) { ctx.Call("pixelStorei", name, value) }

// ReadPixels reads a rectangle, its lowest row first, into dst.
func ReadPixels(x, y, w, h int32, format, kind uint32, dst []byte) {
	view := outside.room(len(dst), kind)
	ctx.Call("readPixels", x, y, w, h, format, kind, view, 0)
	js.CopyBytesToGo(dst, outside.bytes)
}

// outside is memory of the page: WebGL cannot read ours.
var outside transfer

// transfer is one buffer of the page, viewed as numbers of several kinds.
type transfer struct {
	size                       int // bytes
	bytes, ints, uints, floats js.Value
}

// take copies data outside and returns it as numbers of the given kind. What follows
// them is rubbish; they stay until the next call.
func (t *transfer) take(data []byte, kind uint32) js.Value {
	view := t.room(len(data), kind)
	js.CopyBytesToJS(t.bytes, data)
	return view
}

// room returns at least n bytes as numbers of the given kind.
func (t *transfer) room(n int, kind uint32) js.Value {
	if n > t.size || t.size == 0 {
		t.size = max(1<<16, (n+n/2)&^3)
		buffer := js.Global().Get("ArrayBuffer").New(t.size)
		t.bytes = js.Global().Get("Uint8Array").New(buffer)
		t.ints = js.Global().Get("Int32Array").New(buffer)
		t.uints = js.Global().Get("Uint32Array").New(buffer)
		t.floats = js.Global().Get("Float32Array").New(buffer)
	}
	switch kind {
	case FLOAT:
		return t.floats
	case INT:
		return t.ints
	case UNSIGNED_INT:
		return t.uints
	}
	return t.bytes
}

// CopiesBuffers reports whether TexSubImage2DFrom works: nobody makes such buffers in a browser.
const CopiesBuffers = false

// TexSubImage2DFrom does nothing.
func TexSubImage2DFrom(buffer uint32, offset, rowLength int, target uint32, x, y, w, h int32, format, kind uint32) {
}
