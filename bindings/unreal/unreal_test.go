// Package unreal tests the source of the plugin for Unreal against stubs of Unreal's types, without Unreal.
package unreal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlib"
)

func TestPluginOnStubs(t *testing.T) {
	compiler := testlib.Program(t, "c++", "g++")
	lib := testlib.Shared(t)
	source := "Mannequin/Source/Mannequin"
	program := filepath.Join(t.TempDir(), "check")
	args := []string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-format-security", "-Itestdata/engine", "-I" + source + "/Public", "-I../../cmd/libmannequin"}
	args = append(args, must.Get(filepath.Glob(source+"/Private/*.cpp"))(t)...)
	testlib.Run(t, ".", compiler, append(args, "testdata/check.cpp", "-o", program, "-L"+lib, "-lmannequin", "-Wl,-rpath,"+lib)...)
	out := testlib.Run(t, ".", program, "../../models/dog-free/dog-free.safetensors")
	got := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[name] = value
	}
	for _, c := range []struct { // centimetres
		name      string
		low, high float64
	}{
		{"errors", 0, 0}, {"x", 350, 500}, {"y", -20, 20},
		{"turned-y", 350, 500}, {"turned-x", -20, 20}, {"turned-head", 30, 80},
		{"wall-x", 99, 100.1}, {"raised-z", 29.9, 30.1}, {"place-x", 140, 260},
		{"sitting", 5, 30}, {"standing", 40, 60}, {"lowest", -2, 3}, {"highest-of-lowest", -2, 5},
		{"head", 30, 80}, {"right-arm", 5, 30}, // +Y is right
		{"shin", 19.9, 20.1}, {"bones", 27, 27}, {"goes-on", 5, 15}, {"errors-wanted", 3, 3}, {"end", 3, 3},
	} {
		v, err := strconv.ParseFloat(got[c.name], 64)
		if err != nil || !(v >= c.low && v <= c.high) {
			t.Errorf("%s is %q, want %g to %g", c.name, got[c.name], c.low, c.high)
		}
	}
	if t.Failed() {
		t.Log(out)
	}

	var plugin struct{ Modules []struct{ Name string } }
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("Mannequin/Mannequin.uplugin"))(t), &plugin))
	if len(plugin.Modules) != 1 || plugin.Modules[0].Name != filepath.Base(source) {
		t.Errorf("the plugin file lists the modules %v, want one whose source is %s", plugin.Modules, source)
	}
}
