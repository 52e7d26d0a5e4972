// Package csharp tests the C# binding under Mono.
package csharp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlib"
)

const model = "../../models/dog-free/dog-free.safetensors"

// values compiles C# files and runs them with the model. It returns what they print: names and values.
func values(t *testing.T, lib string, args ...string) (map[string]string, string) {
	t.Helper()
	mcs, mono := testlib.Program(t, "mcs"), testlib.Program(t, "mono")
	program := filepath.Join(t.TempDir(), "program.exe")
	testlib.Run(t, ".", mcs, append([]string{"-warnaserror", "-r:System.Core", "-out:" + program}, args...)...)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, mono, program, model)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("mono: %v\n%s", err, out)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = value
	}
	return all, string(out)
}

// within checks a number that a program has printed.
func within(t *testing.T, got map[string]string, name string, low, high float64) {
	t.Helper()
	v, err := strconv.ParseFloat(got[name], 64)
	if err != nil || !(v >= low && v <= high) {
		t.Errorf("%s is %q, want %g to %g", name, got[name], low, high)
	}
}

func TestCSharp(t *testing.T) {
	testlib.Program(t, "mcs")
	lib := testlib.Shared(t)

	t.Run("binding", func(t *testing.T) {
		got, out := values(t, lib, "Mannequin.cs", "testdata/Check.cs")
		for name, want := range map[string]string{"bad-code": "7", "joints": "27", "action-text": "True", "removed-code": "3", "wall-agent": "True", "thrown": "of the game",
			"restored": "True", "threads-end": "True", "threads-differ": "", "caught": "200", "end": "True"} {
			if got[name] != want {
				t.Errorf("%s is %q, want %q", name, got[name], want)
			}
		}
		for _, c := range []struct {
			name      string
			low, high float64
		}{
			{"bad-text", 20, 1000}, {"ahead-x", -0.2, 0.2}, {"ahead-z", 3.5, 5}, {"right-x", 3.5, 5}, {"right-z", -0.2, 0.2},
			{"turned", 0.5, 5},      // clockwise
			{"left-arm", 0.05, 0.3}, // the right shoulder is on the side of +X
			{"lowest", -0.02, 0.03}, // of all joints
			{"highest-of-lowest", -0.02, 0.05},
			{"stretch", 0, 0.001}, {"steps", 40, 200}, {"sole", 0, 0.05},
			{"wall-z", 0.99, 1.0001}, {"free-z", 1.5, 3}, {"ground-y", 1.9, 2.1},
		} {
			within(t, got, c.name, c.low, c.high)
		}
		if d := must.Get(strconv.ParseFloat(got["moved-z"], 64))(t) - must.Get(strconv.ParseFloat(got["ahead-z"], 64))(t); d < -0.05 || d > 0.05 {
			t.Errorf("root motion sums up to %s m, and the dog is at %s m", got["moved-z"], got["ahead-z"])
		}
		sizes(t, got)
		if t.Failed() {
			t.Log(out)
		}
	})

	t.Run("sample", func(t *testing.T) {
		_, out := values(t, lib, "Mannequin.cs", "Dogs.cs")
		var z float64
		for line := range strings.Lines(out) {
			if _, at, ok := strings.Cut(line, "stands at ("); ok {
				at, _, _ = strings.Cut(at, ")")
				z = must.Get(strconv.ParseFloat(strings.TrimSpace(at[strings.LastIndex(at, ",")+1:]), 64))(t)
			}
		}
		if strings.Count(out, "\n") != 5 || !(z > 3.5 && z < 5) {
			t.Errorf("the sample printed\n%s", out)
		}
	})

	t.Run("Unity", func(t *testing.T) { // against stubs of its types
		got, out := values(t, lib, "-define:UNITY_5_3_OR_NEWER", "Mannequin.cs", "Unity/MannequinCrowd.cs", "testdata/UnityEngine.cs", "testdata/CheckUnity.cs")
		within(t, got, "unity-worst", 0, 0.001)
		within(t, got, "unity-z", 3.5, 5)
		within(t, got, "unity-place", 1.4, 2.6)
		within(t, got, "unity-sit", 0.05, 0.3)
		within(t, got, "unity-stand", 0.4, 0.6)
		within(t, got, "unity-wall", 0.8, 1.2)
		if got["unity-end"] != "True" {
			t.Errorf("the component ended early:\n%s", out)
		}
	})
}

// sizes compares the sizes of structs with those in C.
func sizes(t *testing.T, got map[string]string) {
	t.Helper()
	cc := testlib.Program(t, "cc", "gcc")
	names := map[string]string{"Vec3": "mqVec3", "Quat": "mqQuat", "Space": "mqSpace", "Goal": "mqGoal", "AgentId": "mqAgentId", "Root": "mqRoot", "Move": "mqMove",
		"Event": "mqEvent", "Obstacle": "mqObstacle", "ModelInfo": "mqModelInfo", "JointInfo": "mqJoint", "WorldDef": "mqWorldDef", "CrowdDef": "mqCrowdDef",
		"AgentDef": "mqAgentDef", "BoneLayout": "mqBoneLayout"}
	var source strings.Builder
	source.WriteString("#include <stdio.h>\n#include \"mannequin.h\"\nint main(void) {\n")
	for _, c := range names {
		fmt.Fprintf(&source, "printf(\"%[1]s %%d\\n\", (int)sizeof(%[1]s));\n", c)
	}
	source.WriteString("}\n")
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "sizes.c"), []byte(source.String()), 0o644))
	testlib.Run(t, dir, cc, "-I"+filepath.Join(testlib.Root(), "cmd", "libmannequin"), "sizes.c", "-o", "sizes")
	out := testlib.Run(t, dir, filepath.Join(dir, "sizes"))
	for cs, c := range names {
		if want := c + " " + got["size-"+cs] + "\n"; !strings.Contains(out, want) {
			t.Errorf("%s has %s bytes in C#, and in C:\n%s", cs, got["size-"+cs], out)
		}
	}
}
