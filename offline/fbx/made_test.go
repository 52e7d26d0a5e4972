package fbx

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// tree is a record that tests write. Values are string, int64, float64, []int64, []float64, []float32, and
// []byte for a file in the file.
type tree struct {
	name   string
	values []any
	below  []tree
}

func rec(name string, values ...any) tree {
	t := tree{name: name}
	for _, v := range values {
		switch v := v.(type) {
		case tree:
			t.below = append(t.below, v)
		case []tree:
			t.below = append(t.below, v...)
		case int:
			t.values = append(t.values, int64(v))
		default:
			t.values = append(t.values, v)
		}
	}
	return t
}

// prop is a property of version 7.
func prop(name string, values ...any) tree {
	return rec("P", append([]any{name, "", "", "A"}, values...)...)
}

// asciiFile writes records as text.
func asciiFile(version int, records []tree) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "; FBX %d.%d.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: %d\n}\n", version/1000, version/100%10, version)
	for _, t := range records {
		t.text(&b, "")
	}
	return []byte(b.String())
}

func (t *tree) text(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s: ", indent, t.name)
	for i, v := range t.values {
		if i > 0 {
			b.WriteByte(',')
		}
		list := func(n int, all string) { fmt.Fprintf(b, "*%d {\n%s\ta: %s\n%s}", n, indent, all, indent) }
		switch v := v.(type) {
		case string: // in a text the class comes first
			name, class, ok := strings.Cut(v, "\x00\x01")
			if ok {
				v = class + "::" + name
			}
			fmt.Fprintf(b, "%q", v)
		case []byte:
			fmt.Fprintf(b, "%q", base64.StdEncoding.EncodeToString(v))
		case []int64:
			list(len(v), strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]"))
		case []float64:
			list(len(v), strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]"))
		case []float32:
			list(len(v), strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]"))
		default:
			fmt.Fprint(b, v)
		}
	}
	if len(t.below) > 0 {
		b.WriteString(" {\n")
		for _, c := range t.below {
			c.text(b, indent+"\t")
		}
		b.WriteString(indent + "}")
	}
	b.WriteByte('\n')
}

// binaryFile writes records as bytes. Arrays of more than three elements are packed.
func binaryFile(version int, records []tree) []byte {
	b := append([]byte(binaryMagic), 0x1a, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(version))
	for _, t := range records {
		b = t.bytes(b, version)
	}
	return append(b, make([]byte, sizeOf(version))...)
}

// sizeOf is that of a record without a name.
func sizeOf(version int) int {
	if version >= 7500 {
		return 25
	}
	return 13
}

func (t *tree) bytes(b []byte, version int) []byte {
	start := len(b)
	b = append(b, make([]byte, sizeOf(version))...)
	b[len(b)-1] = byte(len(t.name))
	b = append(b, t.name...)
	from := len(b)
	for _, v := range t.values {
		switch v := v.(type) {
		case string:
			b = append(binary.LittleEndian.AppendUint32(append(b, 'S'), uint32(len(v))), v...)
		case int64:
			b, _ = binary.Append(append(b, 'L'), binary.LittleEndian, v)
		case int32:
			b, _ = binary.Append(append(b, 'I'), binary.LittleEndian, v)
		case float64:
			b, _ = binary.Append(append(b, 'D'), binary.LittleEndian, v)
		case []byte:
			b = append(binary.LittleEndian.AppendUint32(append(b, 'R'), uint32(len(v))), v...)
		case []int64:
			b = array(b, 'l', len(v), v)
		case []int32:
			b = array(b, 'i', len(v), v)
		case []float64:
			b = array(b, 'd', len(v), v)
		case []float32:
			b = array(b, 'f', len(v), v)
		}
	}
	values := len(b) - from
	if len(t.below) > 0 {
		for _, c := range t.below {
			b = c.bytes(b, version)
		}
		b = append(b, make([]byte, sizeOf(version))...)
	}
	for i, x := range []int{len(b), len(t.values), values} {
		if version >= 7500 {
			binary.LittleEndian.PutUint64(b[start+8*i:], uint64(x))
		} else {
			binary.LittleEndian.PutUint32(b[start+4*i:], uint32(x))
		}
	}
	return b
}

func array(b []byte, kind byte, n int, v any) []byte {
	raw, _ := binary.Append(nil, binary.LittleEndian, v)
	packed := uint32(0)
	if n > 3 {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(raw)
		w.Close()
		raw, packed = z.Bytes(), 1
	}
	b = binary.LittleEndian.AppendUint32(append(b, kind), uint32(n))
	b = binary.LittleEndian.AppendUint32(b, packed)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(raw))), raw...)
}

const second = int64(ticks)

// limb is a model that is a joint.
func limb(id int, name string, props ...tree) tree {
	return rec("Model", id, name+"\x00\x01Model", "LimbNode", rec("Properties70", append([]tree{prop("RotationActive", 1)}, props...)))
}

// keys is a curve of straight lines.
func keys(id int, times []float64, values []float32) tree {
	at := make([]int64, len(times))
	for i, t := range times {
		at[i] = int64(t * ticks)
	}
	return rec("AnimationCurve", id, "\x00\x01AnimCurve", "", rec("KeyTime", at), rec("KeyValueFloat", values),
		rec("KeyAttrFlags", []int64{4}), rec("KeyAttrDataFloat", []float32{0, 0, 0.5, 0}), rec("KeyAttrRefCount", []int64{int64(len(times))}))
}

func link2(child, parent int) tree { return rec("C", "OO", child, parent) }

func linkTo(child, parent int, property string) tree { return rec("C", "OP", child, parent, property) }

// walker is a scene of three joints, in centimetres with +Z up: the hips rise and turn in a second.
func walker(settings []tree, models []tree, layers ...tree) []tree {
	objects := append([]tree{}, models...)
	objects = append(objects,
		rec("AnimationStack", 100, "walk\x00\x01AnimStack", "", rec("Properties70", prop("LocalStop", second))),
		rec("AnimationLayer", 101, "Base\x00\x01AnimLayer", ""),
		rec("AnimationCurveNode", 110, "T\x00\x01AnimCurveNode", "", rec("Properties70", prop("d|X", 1.0), prop("d|Y", 2.0), prop("d|Z", 90.0))),
		rec("AnimationCurveNode", 111, "R\x00\x01AnimCurveNode", "", rec("Properties70", prop("d|X", 0.0), prop("d|Y", 0.0), prop("d|Z", 0.0))),
		keys(120, []float64{0, 0.25, 1}, []float32{90, 95, 110}), keys(121, []float64{0, 1}, []float32{0, 80}), keys(122, []float64{0, 1}, []float32{10, 50}))
	links := []tree{link2(1, 0), link2(2, 1), link2(3, 2), link2(101, 100), link2(110, 101), link2(111, 101),
		linkTo(110, 2, "Lcl Translation"), linkTo(111, 3, "Lcl Rotation"), linkTo(120, 110, "d|Z"), linkTo(121, 111, "d|X"), linkTo(122, 111, "d|Y")}
	for _, l := range layers {
		if l.name == "C" {
			links = append(links, l)
		} else {
			objects = append(objects, l)
		}
	}
	return []tree{rec("GlobalSettings", rec("Properties70", settings)), rec("Objects", objects), rec("Connections", links)}
}
