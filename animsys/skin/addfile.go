package skin

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/qmuntal/gltf"

	"mannequin/internal/atomicfile"
)

// splitChunks returns the JSON of a GLB that splitGLB has checked, and the chunks that glTF does not
// know.
func splitChunks(data []byte) (text, others []byte) {
	const header, chunk, kindBin = 12, 8, 0x004e4942
	bin := false
	for at := header; at+chunk <= len(data); {
		n, kind := int(binary.LittleEndian.Uint32(data[at:])), binary.LittleEndian.Uint32(data[at+4:])
		switch end := at + chunk + n; {
		case text == nil:
			text = data[at+chunk : end]
		case kind == kindBin && !bin:
			bin = true
		default:
			others = append(others, data[at:end]...)
		}
		at += chunk + n
	}
	return text, others
}

// write writes the file at path, with its animations, as out, and returns the paths written.
func (a *adder) write(path, out string) ([]string, error) {
	from, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	to, err := os.Stat(filepath.Dir(out))
	together := err == nil && os.SameFile(from, to)
	switch ext := strings.ToLower(filepath.Ext(out)); {
	case ext == ".glb":
		// A .gltf becomes one file; what a GLB has outside stays there if it is found from the new place.
		var glb bytes.Buffer
		if err := a.glb(&glb, !a.glbIn || !together); err != nil {
			return nil, err
		}
		return []string{out}, atomicfile.Write(out, func(w io.Writer) error { _, err := w.Write(glb.Bytes()); return err })
	case ext != ".gltf":
		return nil, fmt.Errorf("skin: %s: name the file .glb or .gltf", out)
	case a.glbIn:
		return nil, fmt.Errorf("skin: %s: %s contains its data and becomes a .glb, not a .gltf", out, path)
	case !together:
		for _, u := range a.uris() {
			if outside(u.uri) {
				return nil, a.errorf(u.where, "%.100q would not be found from %s: write beside %s, or a .glb", u.uri, out, path)
			}
		}
	}
	bin, old := a.binName(out)
	text := a.gltf(filepath.Base(bin))
	if err := atomicfile.Write(bin, func(w io.Writer) error { _, err := w.Write(a.bin); return err }); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(out, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		if !old {
			os.Remove(bin)
		}
		return nil, err
	}
	return []string{out, bin}, nil
}

// outside reports whether a URI names a file beside this one.
func outside(uri string) bool {
	return uri != "" && !strings.HasPrefix(uri, "data:") && !strings.Contains(uri, "://")
}

// uris returns the URIs of buffers and images with their places.
func (a *adder) uris() (out []struct{ where, uri string }) {
	for i, b := range a.doc.Buffers {
		out = append(out, struct{ where, uri string }{fmt.Sprintf("buffers[%d].uri", i), b.URI})
	}
	for i, m := range a.doc.Images {
		out = append(out, struct{ where, uri string }{fmt.Sprintf("images[%d].uri", i), m.URI})
	}
	return out
}

// binName returns a name for the keys of out that takes no other file's place, and whether it is the
// name of an older file of out's.
func (a *adder) binName(out string) (bin string, old bool) {
	taken := map[string]bool{}
	for _, u := range a.uris() {
		if name, err := url.PathUnescape(u.uri); err == nil {
			taken[filepath.Clean(name)] = true
		}
	}
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	stem := strings.TrimSuffix(out, filepath.Ext(out))
	for k := 0; ; k++ {
		if bin = stem + ".bin"; k > 0 {
			bin = fmt.Sprintf("%s-%d.bin", stem, k)
		}
		old = exists(bin)
		if !taken[filepath.Base(bin)] && (!old || k == 0 && exists(out)) {
			return bin, old
		}
	}
}

// gltf returns the JSON with the keys in the file bin.
func (a *adder) gltf(bin string) []byte {
	a.layout(len(a.doc.Buffers), 0)
	a.extend("buffers", [][]byte{fmt.Appendf(nil, `{"byteLength":%d,"uri":%s}`, len(a.bin), quoted(url.PathEscape(bin)))})
	return a.patched()
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // of a string there is no error
	return string(b)
}

// glb writes the file as a GLB with the keys at the end of its binary chunk. With pack, files beside
// it are taken into it.
func (a *adder) glb(w io.Writer, pack bool) error {
	bin, err := a.firstBuffer()
	if err != nil {
		return err
	}
	bin = append(bin, make([]byte, -len(bin)&3)...)
	a.layout(0, len(bin))
	bin = append(bin, a.bin...)
	buffers := a.items("buffers")
	if pack {
		for i, b := range a.doc.Buffers {
			if i == 0 || !outside(b.URI) {
				continue
			}
			data, err := a.load(b.URI)
			if err != nil {
				return a.errorf(fmt.Sprintf("buffers[%d].uri", i), "%v", err)
			}
			if at, ok := a.patch.find(buffers[i], "uri"); ok {
				a.patch.replace(at, []byte(quoted("data:application/octet-stream;base64,"+base64.StdEncoding.EncodeToString(data))))
			}
		}
		bin = a.packImages(bin)
	}
	if len(a.doc.Buffers) == 0 {
		a.extend("buffers", [][]byte{fmt.Appendf(nil, `{"byteLength":%d}`, len(bin))})
	} else {
		a.patch.rebuild(buffers[0], []string{"uri", "byteLength"}, fmt.Sprintf(`"byteLength":%d`, len(bin)))
	}
	text := a.patched()
	text = append(text, bytes.Repeat([]byte(" "), -len(text)&3)...)
	bin = append(bin, make([]byte, -len(bin)&3)...)
	size := 12 + 8 + len(text) + 8 + len(bin) + len(a.chunks)
	if size > math.MaxUint32 {
		return a.errorf("", "with the motions it would have %d bytes, more than a GLB can", size)
	}
	word := binary.LittleEndian.AppendUint32
	head := word(word([]byte("glTF"), 2), uint32(size))
	head = append(word(head, uint32(len(text))), "JSON"...)
	for _, part := range [][]byte{head, text, append(word(nil, uint32(len(bin))), "BIN\x00"...), bin, a.chunks} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// firstBuffer returns a copy of the bytes of buffers[0], which become the binary chunk.
func (a *adder) firstBuffer() ([]byte, error) {
	if len(a.doc.Buffers) == 0 {
		return nil, nil
	}
	data, err := a.file.buffer(0)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(data), nil
}

// packImages appends the pictures beside the file, and those in its text, to its binary chunk.
func (a *adder) packImages(bin []byte) []byte {
	images := a.items("images")
	for i, m := range a.doc.Images {
		if !outside(m.URI) && !(strings.HasPrefix(m.URI, "data:") && !a.glbIn) {
			continue
		}
		note := func(format string, args ...any) {
			a.report.Notes = append(a.report.Notes, fmt.Sprintf("images[%d].uri: ", i)+fmt.Sprintf(format, args...))
		}
		data, err := a.load(m.URI)
		if err != nil {
			note("%v; the picture is not taken into the .glb", err)
			continue
		}
		kind := ""
		for start, is := range map[string]string{"\x89PNG": "image/png", "\xff\xd8\xff": "image/jpeg", "\xabKTX 20": "image/ktx2"} {
			if bytes.HasPrefix(data, []byte(start)) {
				kind = is
			}
		}
		if len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
			kind = "image/webp"
		}
		if kind == "" {
			note("%.100q is no PNG, JPEG, WebP or KTX2 and is not taken into the .glb", m.URI)
			continue
		}
		bin = append(bin, make([]byte, -len(bin)&3)...)
		a.views = append(a.views, fmt.Appendf(nil, `{"buffer":0,"byteOffset":%d,"byteLength":%d}`, len(bin), len(data)))
		bin = append(bin, data...)
		a.patch.rebuild(images[i], []string{"uri", "mimeType"},
			fmt.Sprintf(`"mimeType":"%s"`, kind), fmt.Sprintf(`"bufferView":%d`, a.firstView+len(a.views)-1))
	}
	return bin
}

// layout says in which buffer and at which of its bytes the keys are.
func (a *adder) layout(buffer, at int) {
	for i, s := range a.keyViews {
		a.views[i] = fmt.Appendf(nil, `{"buffer":%d,"byteOffset":%d,"byteLength":%d}`, buffer, at+s.start, s.end-s.start)
	}
}

// extend appends items to a list of the document.
func (a *adder) extend(name string, items [][]byte) {
	if len(items) == 0 {
		return
	}
	if s, ok := a.top[name]; ok && a.patch.text[s.start] == '[' {
		a.patch.extend(s, items)
		return
	} else if ok { // null
		a.patch.replace(s, fmt.Appendf(nil, "[%s]", bytes.Join(items, []byte(","))))
		return
	}
	a.members = append(a.members, fmt.Sprintf("%s:[%s]", quoted(name), bytes.Join(items, []byte(","))))
}

// patched returns the JSON with all that was added.
func (a *adder) patched() []byte {
	nodes := a.items("nodes")
	for n := range a.moved {
		a.plainNode(n, nodes[n])
	}
	a.extend("accessors", a.accessors)
	a.extend("animations", a.animations)
	a.extend("bufferViews", a.views)
	a.patch.extendMembers(a.patch.root(), a.members)
	return bytes.TrimRight(a.patch.result(), " \t\r\n")
}

// plainNode takes the matrix of a node that moves apart: glTF allows none on such nodes.
func (a *adder) plainNode(n int, s span) {
	if _, ok := a.patch.find(s, "matrix"); !ok {
		return
	}
	if a.doc.Nodes[n].MatrixOrDefault() == gltf.DefaultMatrix {
		a.patch.rebuild(s, []string{"matrix"})
		return
	}
	t, err := a.rest(n)
	if err != nil {
		panic("skin: a node that moves has a bad matrix") // tracks has checked it
	}
	a.patch.rebuild(s, []string{"matrix", "translation", "rotation", "scale"},
		`"translation":`+numbers(t.pos[:]), `"rotation":`+numbers(t.rot[:]), `"scale":`+numbers(t.scale[:]))
}

// numbers returns an array whose numbers are read as they are.
func numbers(v []float64) string {
	b, _ := json.Marshal(v) // they are finite
	return string(b)
}
