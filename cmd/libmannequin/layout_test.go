//go:build cgo

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// The structs of mannequin.h, in Go.
var structs = map[string]any{
	"mqModelId": api.ID{}, "mqClipId": api.ID{}, "mqWorldId": api.ID{}, "mqCrowdId": api.ID{}, "mqAgentId": api.ID{},
	"mqVec3": m3.Vec3{}, "mqQuat": m3.Quat{}, "mqVersion": version{}, "mqSpace": api.Space{}, "mqModelInfo": modelInfo{}, "mqJoint": jointInfo{}, "mqMarker": marker{},
	"mqClipDef": clipDef{}, "mqPlayDef": playDef{}, "mqWorldDef": worldDef{}, "mqGroundQuery": groundQuery{}, "mqGroundHit": groundHit{}, "mqObstacle": api.Obstacle{},
	"mqMove": api.Move{}, "mqCrowdDef": crowdDef{}, "mqAgentDef": agentDef{}, "mqGoal": api.Goal{}, "mqBoneLayout": boneLayout{}, "mqRoot": api.Root{}, "mqEvent": api.Event{},
	"mqLODPolicy": lodPolicy{},
}

// The fields that have another name in Go.
var inC = map[string]string{"At": "position", "From": "before", "To": "after"}

type field struct {
	name   string
	offset uintptr
}

// layout returns the size and the alignment of a type for pointers of a size in bytes, and the fields of a struct.
func layout(t reflect.Type, address uintptr) (size, align uintptr, fields []field) {
	switch {
	case t.Kind() == reflect.UnsafePointer || t.Kind() == reflect.Uintptr:
		return address, address, nil
	case t.Kind() == reflect.Array:
		size, align, _ = layout(t.Elem(), address)
		return size * uintptr(t.Len()), align, nil
	case t.Kind() != reflect.Struct:
		return t.Size(), uintptr(t.Align()), nil
	}
	align = 1
	for f := range t.Fields() {
		n, a, inner := layout(f.Type, address)
		size = (size + a - 1) &^ (a - 1)
		if !f.Anonymous {
			inner = []field{{f.Name, 0}}
		}
		for _, i := range inner {
			fields = append(fields, field{i.name, size + i.offset})
		}
		size, align = size+n, max(align, a)
	}
	return (size + align - 1) &^ (align - 1), align, fields
}

// Structs have the same fields in C and in Go, here and in WebAssembly, where addresses have four bytes; so do the header's numbers.
func TestLayout(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is missing")
	}
	header := string(must.Get(os.ReadFile("mannequin.h"))(t))
	header = regexp.MustCompile(`//.*`).ReplaceAllString(header, "")
	fields := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?s)typedef struct (\w+) \{(.*?)\} \w+;`).FindAllStringSubmatch(header, -1) {
		for _, f := range regexp.MustCompile(`(\w+)(\[\w+\])?[,;]`).FindAllStringSubmatch(m[2], -1) {
			fields[m[1]] = append(fields[m[1]], f[1])
		}
	}
	for _, address := range []uintptr{unsafe.Sizeof(uintptr(0)), 4} {
		var source strings.Builder
		fmt.Fprintf(&source, "#include \"mannequin.h\"\n_Static_assert(MQ_NAME == %d, \"MQ_NAME\");\n", len(name{}))
		for i, s := range []string{"MAJOR", "MINOR", "REVISION"} {
			fmt.Fprintf(&source, "_Static_assert(MQ_VERSION_%s == %d, \"the version\");\n", s, [...]int32{current.major, current.minor, current.revision}[i])
		}
		for c, names := range fields {
			v, ok := structs[c]
			if !ok {
				t.Errorf("%s is not known", c)
				continue
			}
			size, _, own := layout(reflect.TypeOf(v), address)
			if address == unsafe.Sizeof(uintptr(0)) && size != reflect.TypeOf(v).Size() {
				t.Errorf("%s has %d bytes in Go, by our count %d", c, reflect.TypeOf(v).Size(), size)
			}
			if len(own) != len(names) {
				t.Errorf("%s has the fields %q, and %d in Go", c, names, len(own))
				continue
			}
			fmt.Fprintf(&source, "_Static_assert(sizeof(%s) == %d, \"%[1]s\");\n", c, size)
			for i, f := range names {
				fmt.Fprintf(&source, "_Static_assert(offsetof(%s, %s) == %d, \"%[1]s.%[2]s\");\n", c, f, own[i].offset)
				if !strings.EqualFold(own[i].name, f) && inC[own[i].name] != f {
					t.Errorf("%s.%s is %s in Go", c, f, own[i].name)
				}
			}
		}
		file := filepath.Join(t.TempDir(), "layout.c")
		must.Do(t, os.WriteFile(file, []byte(source.String()), 0o666))
		args := []string{"-std=gnu11", "-fsyntax-only", "-ffreestanding", "-I.", file}
		if address != unsafe.Sizeof(uintptr(0)) {
			if out, err := exec.Command(gcc, "-m32", "-ffreestanding", "-fsyntax-only", "mannequin.h").CombinedOutput(); err != nil {
				t.Skipf("gcc has no 32 bits: %s", out)
			}
			args = append(args, "-m32")
		}
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Errorf("addresses of %d bytes: %s", address, out)
		}
	}
	if len(fields) != len(structs) {
		t.Errorf("the header has %d structs, want %d", len(fields), len(structs))
	}
}
