package skin

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/qmuntal/gltf"

	"mannequin/internal/boundedfile"
)

// file is a glTF file during reading.
type file struct {
	name string
	doc  gltf.Document

	character string // name of the one to read; empty: the one with the most vertices

	bin     []byte   // the GLB's binary chunk
	beside  *os.Root // folder of other files; nil: none
	buffers [][]byte
	room    int64 // remaining bytes of other files

	compressed                 bool              // meshes need an extension that is not read
	unpacked                   map[int][]byte    // bufferViews that were compressed, by index
	filled                     map[int]*elements // sparse accessors, by index
	sparseBytes, unpackedBytes int64             // of them
}

func (f *file) errorf(where, format string, args ...any) error {
	return &Error{f.name, where, fmt.Sprintf(format, args...)}
}

// Decoded JSON may take jsonFree bytes, and jsonPerByte for each of its own. An object of two bytes, or a
// name and its value, takes some hundred.
const (
	jsonFree     = 64 << 20
	jsonPerByte  = 4
	bracketBytes = 300
	commaBytes   = 200
)

// newFile splits a GLB into its chunks and reads the JSON.
func newFile(name string, data []byte, beside *os.Root) (*file, error) {
	f, err := parseFile(name, data, beside)
	if err != nil {
		return nil, err
	}
	return f, f.check()
}

// parseFile is newFile without the checks of the document.
func parseFile(name string, data []byte, beside *os.Root) (*file, error) {
	f := &file{name: name, beside: beside, room: MaxFile}
	text := withoutMark(data)
	if bytes.HasPrefix(data, []byte("glTF")) {
		var err error
		if text, err = f.splitGLB(data); err != nil {
			return nil, err
		}
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, f.errorf("", "is not a glTF file: %s", describeStart(data))
	}
	if len(text) > MaxJSON {
		return nil, f.errorf("", "%d bytes of JSON, at most %d are read", len(text), MaxJSON)
	}
	brackets, commas := countValues(text)
	if need, most := bracketBytes*brackets+commaBytes*commas, jsonFree+jsonPerByte*len(text); need > most {
		return nil, f.errorf("", "%d opening brackets and %d commas in its JSON need %d MB, at most %d MB are taken for a JSON of %d bytes",
			brackets, commas, need>>20, most>>20, len(text))
	}
	if err := f.checkChoices(text); err != nil {
		return nil, err
	}
	err := json.Unmarshal(text, &f.doc)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return nil, f.errorf("", "is not a glTF file: its JSON is cut off or damaged at byte %d: %v", syntax.Offset, err)
	case errors.As(err, &kind):
		return nil, f.errorf("", "is not a glTF file: %.100s is a %.40s , want %.60s", kind.Field, kind.Value, kind.Type)
	case err != nil:
		return nil, f.errorf("", "is not a glTF file: %.200v", err)
	}
	return f, nil
}

// withoutMark returns text without the byte order mark with which some editors begin UTF-8. The specification lets a
// reader pass over it.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

func describeStart(data []byte) string {
	if len(data) == 0 {
		return "it is empty"
	}
	if head := data[:min(len(data), 64)]; bytes.HasPrefix(head, []byte("Kaydara FBX")) || head[0] == ';' && bytes.Contains(head, []byte("FBX")) {
		return "it is an FBX: mannequin convert --character makes a .glb of it, and offline/character reads it"
	}
	return fmt.Sprintf("it begins with %.12q, want \"glTF\" in a .glb, or {, JSON, in a .gltf", data)
}

// splitGLB returns the JSON of a GLB, and keeps its binary chunk.
func (f *file) splitGLB(data []byte) (text []byte, err error) {
	const header, chunk, kindJSON, kindBin = 12, 8, 0x4e4f534a, 0x004e4942
	if len(data) < header+chunk {
		return nil, f.errorf("", "%d bytes are too few for a GLB: is the file complete?", len(data))
	}
	if v := binary.LittleEndian.Uint32(data[4:]); v != 2 {
		return nil, f.errorf("", "GLB of version %d: version 2 is read", v)
	}
	if n := binary.LittleEndian.Uint32(data[8:]); int64(n) > int64(len(data)) {
		return nil, f.errorf("", "its header says %d bytes, the file has %d: is it complete?", n, len(data))
	}
	for at := header; at+chunk <= len(data); {
		n, kind := int64(binary.LittleEndian.Uint32(data[at:])), binary.LittleEndian.Uint32(data[at+4:])
		at += chunk
		if n > int64(len(data)-at) {
			return nil, f.errorf("", "the chunk at byte %d has %d bytes, the file only %d more: is it complete?", at-chunk, n, len(data)-at)
		}
		switch body := data[at : at+int(n)]; {
		case kind == kindJSON && text == nil:
			text = body
		case text == nil:
			return nil, f.errorf("", "its first chunk is of kind %#x, not JSON", kind)
		case kind == kindBin && f.bin == nil:
			f.bin = body
		}
		at += int(n)
	}
	return text, nil
}

// countValues counts opening brackets and commas outside of strings.
func countValues(text []byte) (brackets, commas int) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			brackets++
		case c == ',':
			commas++
		}
	}
	return brackets, commas
}

// harmless are extensions, or beginnings of their names, of files that may require them.
var harmless = []string{
	"KHR_materials_", "KHR_mesh_quantization", "KHR_texture_transform", "KHR_lights_punctual", "EXT_texture_webp", "KHR_texture_basisu",
	meshoptCompression, vrm0, vrm1, vrmAnim, "VRMC_materials_", "VRMC_springBone", "VRMC_springBone_", "VRMC_node_constraint"}

// check rejects null in place of an object, extensions that change the mesh, and other versions.
func (f *file) check() error {
	d := &f.doc
	if v := d.Asset.Version; v != "" && !strings.HasPrefix(v, "2.") {
		return f.errorf("asset.version", "%.20q: version 2 is read", v)
	}
	for _, x := range d.ExtensionsRequired {
		if isCompression(x) { // of meshes: animations can be read
			f.compressed = true
			continue
		}
		// Materials only change the look, as lights and springs do; quantized meshes are supported.
		if !slices.ContainsFunc(harmless, func(h string) bool { return x == h || strings.HasSuffix(h, "_") && strings.HasPrefix(x, h) }) {
			return f.errorf("extensionsRequired", "%.60s is not read: export without it (without compression)", x)
		}
	}
	for _, nulls := range []struct {
		what string
		at   int
	}{
		{"accessors", slices.Index(d.Accessors, nil)}, {"buffers", slices.Index(d.Buffers, nil)}, {"bufferViews", slices.Index(d.BufferViews, nil)},
		{"images", slices.Index(d.Images, nil)}, {"materials", slices.Index(d.Materials, nil)}, {"meshes", slices.Index(d.Meshes, nil)}, {"nodes", slices.Index(d.Nodes, nil)},
		{"scenes", slices.Index(d.Scenes, nil)}, {"skins", slices.Index(d.Skins, nil)}, {"textures", slices.Index(d.Textures, nil)},
	} {
		if nulls.at >= 0 {
			return f.errorf(fmt.Sprintf("%s[%d]", nulls.what, nulls.at), "is null")
		}
	}
	f.buffers = make([][]byte, len(d.Buffers))
	return nil
}

// buffer returns the bytes of buffer i, loaded on first use.
func (f *file) buffer(i int) ([]byte, error) {
	if i < 0 || i >= len(f.buffers) {
		return nil, fmt.Errorf("there is no buffers[%d]: there are %d", i, len(f.buffers))
	}
	if f.buffers[i] != nil {
		return f.buffers[i], nil
	}
	b, where := f.doc.Buffers[i], fmt.Sprintf("buffers[%d]", i)
	data := f.bin
	if b.URI != "" || i > 0 {
		var err error
		if data, err = f.load(b.URI); err != nil {
			return nil, f.errorf(where+".uri", "%v", err)
		}
	}
	if b.ByteLength < 1 || b.ByteLength > len(data) {
		return nil, f.errorf(where+".byteLength", "is %d, there are %d bytes", b.ByteLength, len(data))
	}
	f.buffers[i] = data[:b.ByteLength]
	return f.buffers[i], nil
}

// notBeside is the error of a file that is not there.
type notBeside string

func (uri notBeside) Error() string {
	return fmt.Sprintf("no such file as %.100q beside it: keep both together, or export a .glb, which contains everything", string(uri))
}

// load returns the contents of a data URI, or of the file beside this one that it names.
func (f *file) load(uri string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(uri, "data:"); ok {
		_, text, ok := strings.Cut(rest, ";base64,")
		if !ok {
			return nil, errors.New("data that is not in base64")
		}
		return base64.StdEncoding.DecodeString(text)
	}
	if uri == "" {
		return nil, errors.New("is missing")
	}
	path, err := url.PathUnescape(uri)
	if err != nil || strings.Contains(path, ":") || strings.Contains(path, `\`) || !fs.ValidPath(strings.TrimPrefix(path, "./")) {
		return nil, fmt.Errorf("%.100q: want the name of a file in the same folder or below", uri)
	}
	if f.beside == nil {
		return nil, fmt.Errorf("%.100q: other files are not read here", uri)
	}
	data, err := boundedfile.ReadBeside(f.beside, f.name, strings.TrimPrefix(path, "./"), f.room)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notBeside(uri)
	}
	f.room -= int64(len(data))
	return data, err
}

// view returns the bytes of bufferViews[i] and its stride, 0 if elements are packed.
func (f *file) view(i int) (data []byte, stride int, err error) {
	if i < 0 || i >= len(f.doc.BufferViews) {
		return nil, 0, fmt.Errorf("there is no bufferViews[%d]: there are %d", i, len(f.doc.BufferViews))
	}
	v := f.doc.BufferViews[i]
	if packed, ok := v.Extensions[meshoptCompression].(json.RawMessage); ok {
		data, err = f.unpack(i, packed)
		return data, v.ByteStride, err
	}
	all, err := f.buffer(v.Buffer)
	if err != nil {
		return nil, 0, err
	}
	if v.ByteOffset < 0 || v.ByteLength < 1 || v.ByteOffset > len(all) || v.ByteLength > len(all)-v.ByteOffset {
		return nil, 0, fmt.Errorf("bufferViews[%d]: %d bytes at byte %d, buffers[%d] has %d", i, v.ByteLength, v.ByteOffset, v.Buffer, len(all))
	}
	return all[v.ByteOffset : v.ByteOffset+v.ByteLength], v.ByteStride, nil
}
