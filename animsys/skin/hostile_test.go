//go:build unix

package skin

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// after returns the text of the plain document with more members at its end.
func after(t testing.TB, members string) []byte {
	d, bin := plain()
	part(d, "buffers", 0)["uri"] = "data:;base64," + base64.StdEncoding.EncodeToString(bin)
	text := must.Get(json.Marshal(d))(t)
	return append(text[:len(text)-1], ","+members+"}"...)
}

// textured returns a GLB with a texture, n times.
func textured(t testing.TB, picture []byte, n int) []byte {
	d, bin := plain()
	d["bufferViews"] = append(d["bufferViews"].([]any), object{"buffer": 0, "byteOffset": len(bin), "byteLength": len(picture)})
	bin = append(bin, picture...)
	part(d, "buffers", 0)["byteLength"] = len(bin)
	one := part(d, "meshes", 0, "primitives", 0)
	var images, textures, materials, primitives []any
	for i := range n {
		images = append(images, object{"bufferView": 4})
		textures = append(textures, object{"source": i})
		materials = append(materials, object{"pbrMetallicRoughness": object{"baseColorTexture": object{"index": i}}})
		primitives = append(primitives, object{"attributes": one["attributes"], "material": i})
	}
	d["images"], d["textures"], d["materials"], part(d, "meshes", 0)["primitives"] = images, textures, materials, primitives
	return packed(t, d, bin)
}

// blackPNG returns a square picture of which the data has some rows, all zero, and a comment of text
// bytes. kind is PNG's colour type: 0 grey, 6 with alpha.
func blackPNG(t testing.TB, side, depth, kind, interlaced, rows, text int) []byte {
	t.Helper()
	chunk := func(out []byte, kind string, body []byte) []byte {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		out = append(append(out, kind...), body...)
		return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[len(out)-len(body)-4:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(side)), uint32(side))
	var data bytes.Buffer
	z := zlib.NewWriter(&data)
	row := make([]byte, 1+(side*depth*map[int]int{0: 1, 6: 4}[kind]+7)/8)
	for range rows {
		must.Get(z.Write(row))(t)
	}
	must.Do(t, z.Close())
	out := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(head, byte(depth), byte(kind), 0, 0, byte(interlaced)))
	out = chunk(out, "tEXt", make([]byte, text))
	return chunk(chunk(out, "IDAT", data.Bytes()), "IEND", nil)
}

// scansJPEG returns a grey progressive picture with n scans that change nothing. A scan takes some
// ten bytes, whatever the size of the picture.
func scansJPEG(side, n int) []byte {
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, body ...byte) {
		out = append(binary.BigEndian.AppendUint16(append(out, 0xff, marker), uint16(len(body)+2)), body...)
	}
	one := append([]byte{1}, make([]byte, 15)...) // one code, of one bit
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 1, 1, 0x11, 0)
	segment(0xc4, slices.Concat([]byte{0x00}, one, []byte{0})...)
	segment(0xc4, slices.Concat([]byte{0x10}, one, []byte{0xe0})...) // a run of 2¹⁴ to 2¹⁵−1 blocks
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	segment(0xda, 1, 1, 0x00, 0, 0, 0x00)
	out = append(out, make([]byte, (blocks+7)/8)...)
	var runs string
	for left := blocks; left > 0; {
		run := min(max(left, 1<<14), 1<<15-1)
		runs += fmt.Sprintf("0%014b", run-1<<14)
		left -= run
	}
	runs += strings.Repeat("1", -len(runs)&7)
	for range n {
		segment(0xda, 1, 1, 0x00, 1, 63, 0x00)
		for i := 0; i < len(runs); i += 8 {
			var b byte
			fmt.Sscanf(runs[i:i+8], "%b", &b)
			if out = append(out, b); b == 0xff {
				out = append(out, 0)
			}
		}
	}
	return append(out, 0xff, 0xd9)
}

// cost runs do. It returns the processor's time and by how many bytes the heap was larger than before.
// The collector keeps the heap within limit bytes if it can.
func cost(limit int64, do func()) (time.Duration, int64) {
	heap := func() int64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	used := func() time.Duration {
		var r syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &r)
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	debug.FreeOSMemory()
	before := heap()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(before + limit))
	done, peak := make(chan bool), make(chan int64)
	go func() {
		most := before
		for tick := time.NewTicker(time.Millisecond); ; {
			most = max(most, heap())
			select {
			case <-done:
				peak <- most - before
				return
			case <-tick.C:
			}
		}
	}()
	start := used()
	do()
	took := used() - start
	close(done)
	return took, <-peak
}

// Hostile files are refused or read within seconds, and within 64 MB and four times their size. The
// collector may miss its limit by a little.
func TestHostile(t *testing.T) {
	many := func(n int, text string) string { return strings.Repeat(text+",", n) + text }
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%x":0,`, i)
		}
		return b.String() + `"z":0`
	}
	lines := func() []byte {
		d, bin := plain()
		d["nodes"] = append([]any{object{"children": []any{1}}, object{"mesh": 0, "skin": 0}}, slices.Repeat([]any{object{"mesh": 1, "skin": 0}}, MaxNodes-2)...)
		roots := []any{0}
		for i := 2; i < MaxNodes; i++ {
			roots = append(roots, i)
		}
		part(d, "scenes", 0)["nodes"] = roots
		d["meshes"] = append(d["meshes"].([]any), object{"primitives": slices.Repeat([]any{object{"mode": 0}}, 80000)})
		return packed(t, d, bin)
	}
	often := func() []byte {
		d, bin := plain()
		bin = append(bin, make([]byte, 3000*28)...)
		part(d, "buffers", 0)["byteLength"] = len(bin)
		for i, size := range []int{12, 4, 16} {
			part(d, "accessors", i)["count"] = 3000
			view := part(d, "bufferViews", i)
			view["byteOffset"], view["byteLength"] = 120, 3000*size
		}
		one := part(d, "meshes", 0, "primitives", 0)
		delete(one["attributes"].(object), "TEXCOORD_0")
		part(d, "meshes", 0)["primitives"] = slices.Repeat([]any{one}, 174)
		return packed(t, d, bin)
	}
	zeros := func() []byte { // of accessors without data, and of a sparse one
		d, bin := plain()
		for i := range 4 {
			delete(part(d, "accessors", i), "bufferView")
			part(d, "accessors", i)["count"] = MaxVertices
		}
		part(d, "accessors", 0)["sparse"] = object{"count": 1, "indices": object{"bufferView": 1, "componentType": 5121}, "values": object{"bufferView": 0}}
		index := []any{}
		for range 3 {
			index = append(index, 0)
		}
		d["bufferViews"] = append(d["bufferViews"].([]any), object{"buffer": 0, "byteLength": 3})
		d["accessors"] = append(d["accessors"].([]any), object{"bufferView": 4, "componentType": 5121, "count": len(index), "type": "SCALAR"})
		part(d, "meshes", 0, "primitives", 0)["indices"] = 4
		return packed(t, d, bin)
	}
	const millions = 2e6
	for _, c := range []struct {
		name string
		data []byte
		want string // in the error; "" if the file is read
	}{
		{"plain", after(t, `"extras":{}`), ""},
		{"numbers", after(t, `"extras":[`+many(millions, "1")+`]`), "commas in its JSON need"},
		{"numbers of an extension", after(t, `"extensions":{"x":[`+many(millions, "1")+`]}`), "commas in its JSON need"},
		{"strings", after(t, `"extensionsUsed":[`+many(millions, `""`)+`]`), "commas in its JSON need"},
		{"nulls", after(t, `"cameras":[`+many(2e6, "null")+`]`), "commas in its JSON need"},
		{"names", after(t, `"extras":{`+names(500e3)+`}`), "commas in its JSON need"},
		{"nested", after(t, `"extras":`+strings.Repeat("[", 1e5)+strings.Repeat("]", 1e5)), "exceeded max depth"},
		{"nodes", after(t, `"nodes":[`+many(100e3, "{}")+`]`), "nodes: 100001 of them"},
		// The most that is read of what takes most memory.
		{"objects", after(t, `"extras":[`+many(100e3, `{"a":1}`)+`]`), ""},
		{"materials", after(t, `"materials":[`+many(60e3, `{"pbrMetallicRoughness":{}}`)+`]`), ""},
		{"accessors", after(t, `"accessors":[`+many(80e3, `{"componentType":5126,"type":"VEC3"}`)+`]`), "JOINTS_0: accessors[1]: is of type VEC3"},
		{"extensions", after(t, `"extensions":{`+names(380e3)+`}`), ""},
		{"vertices that are often read", often(), ""},
		{"vertices without data", zeros(), ""},
		{"points", lines(), "more than 65536 primitives of all nodes"},

		{"large picture", textured(t, blackPNG(t, 5792, 8, 0, 0, 5792, 0), 1), ""},
		{"large picture", textured(t, blackPNG(t, 5792, 16, 6, 1, 0, 5000), 1), "256 MB of memory"},
		{"pictures", textured(t, blackPNG(t, 2500, 8, 0, 0, 2500, 0), 6), ""}, // halved
		{"more pictures", textured(t, blackPNG(t, 2500, 8, 0, 0, 2500, 0), 22), "of a picture and 134217728 in all are read"},
		{"wide picture", textured(t, blackPNG(t, 20000, 1, 0, 0, 0, 50000), 1), "20000 × 20000 pixels"},
		{"10 scans", textured(t, scansJPEG(3000, 10), 1), ""},
		{"300 scans", textured(t, scansJPEG(3000, 300), 1), "pixels in 301 scans"},
		{"300 small scans", textured(t, scansJPEG(900, 300), 1), ""},
		{"30 scans, ten times", textured(t, scansJPEG(2000, 30), 10), "pixels in 31 scans"},
		{"one picture, often", textured(t, blackPNG(t, 1, 8, 0, 0, 1, 1e6), 1000), "all pictures may take 256 MB"},
		{"no picture", textured(t, nil, 1), "bufferViews[4]: 0 bytes"},
	} {
		limit := int64(64<<20 + 4*len(c.data))
		var err error
		took, memory := cost(limit, func() { _, err = readAlone("a.gltf", c.data) })
		t.Logf("%-24s %8d bytes: %5.3f s, %5.1f MB of %5.1f: %.100v", c.name, len(c.data), took.Seconds(), float64(memory)/(1<<20), float64(limit)/(1<<20), err)
		var bad *Error
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if memory > limit+16<<20 || took > 10*time.Second {
			t.Errorf("%s: %d bytes take %v and %d MB", c.name, len(c.data), took, memory>>20)
		}
	}
}

// Pictures with too many pixels together are shown at half of their size.
func TestManyPictures(t *testing.T) {
	s := must.Get(readAlone("a.glb", textured(t, blackPNG(t, 2500, 8, 0, 0, 2500, 0), 6)))(t)
	if len(s.materials) != 6 || s.materials[5].BaseTexture.Bounds().Dx() != 1250 || !slices.Contains(s.Notes, "its pictures have 37 million pixels: they are shown at half of their size") {
		t.Errorf("%d materials, notes %q", len(s.materials), s.Notes)
	}
}

// A pipe, a device or another user's file beside a skin is not read.
func TestHostileBeside(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	d, bin := plain()
	must.Do(t, os.WriteFile(in("theirs"), bin, 0o644))
	must.Do(t, os.Link(in("theirs"), in("hard.bin")))
	must.Do(t, syscall.Mkfifo(in("pipe.bin"), 0o644))
	must.Do(t, os.Symlink("/dev/zero", in("device.bin")))
	open := func(uri string) error {
		part(d, "buffers", 0)["uri"] = uri
		must.Do(t, os.WriteFile(in("a.gltf"), must.Get(json.Marshal(d))(t), 0o644))
		result := make(chan error, 1)
		go func() { _, err := Open(in("a.gltf")); result <- err }()
		select {
		case err := <-result:
			return err
		case <-time.After(10 * time.Second):
			return errors.New("blocks")
		}
	}
	must.Do(t, open("hard.bin")) // our own file under two names, as package managers make them
	for uri, want := range map[string]string{
		"pipe.bin": "not a regular file", "device.bin": "escapes", "a%00b": "invalid", "sub": "no such file",
	} {
		must.FailWith(t, open(uri), want)
	}
	if os.Chown(in("theirs"), 1, -1) == nil { // only root can
		must.FailWith(t, open("hard.bin"), "buffers[0].uri: hard.bin: a hard link to a file of another owner")
	}
}
