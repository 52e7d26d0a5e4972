// Package js tests the WebAssembly library and its JavaScript classes in node and in a browser.
package js

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlib"
	dogfree "mannequin/models/dog-free"
	"mannequin/models/hero"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

const (
	dogFile  = "../../models/dog-free/dog-free.safetensors"
	heroFile = "../../models/hero/hero.character"
)

// node returns node with the flags that let it run relaxed vectors: version 20 wants one, and those that know none refuse it.
func node(t testing.TB) []string {
	t.Helper()
	path := testlib.Program(t, "node")
	const flag = "--experimental-wasm-relaxed-simd"
	if exec.Command(path, flag, "-e", "0").Run() == nil {
		return []string{path, flag}
	}
	return []string{path}
}

// values runs a program in node. It returns what it prints: names and values.
func values(t *testing.T, node []string, args ...string) map[string]string {
	t.Helper()
	out := testlib.Run(t, ".", node[0], append(node[1:], args...)...)
	all := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = value
	}
	return all
}

func TestJS(t *testing.T) {
	dir := testlib.Wasm(t) // also where there is no node
	node := node(t)

	t.Run("classes", func(t *testing.T) {
		got := values(t, node, "testdata/check.mjs", dir, dogFile, heroFile)
		for name, want := range map[string]string{
			"not-loaded": "8: the library is not loaded.*", "kernels": "simd128", "version": `1\.0\.0`, "unity": "1 2 3 1",
			"dog": "dog-free 27 4", "joints": "true", "action": "true", "bad-model": "7: .*", "bad-action": `2: .*no action "fly".*`,
			"bad-text": "2: .*", "bad-field": "TypeError: there is no field gravity: .*", "bad-vector": "TypeError: .*", "rows": "0 1 2 0 1", "root-agent": "0",
			"matrices-apart": "0", "bones-room": "4: .*", "alpha-2": "2: alpha is 2: .*", "restored": "true", "bad-save": "7: .*", "playing": "true", "markers": "2 1",
			"clip-rotations": "2: .*", "clip-bytes": "7: .*", "destroyed": "3: the agent .* has been destroyed", "level": "1", "mesh": "2",
			"callback": "3 true true", "thrown": "RangeError: of the game", "no-point": "TypeError: 1 is not three numbers", "nested": "true", "controlled": `1\.00 180`,
			"shifted": `0\.00`, "codes": "true", "good-calls": "true", "closed": "3: .*", "end": "true",
		} {
			if !regexp.MustCompile("^" + want + "$").MatchString(got[name]) {
				t.Errorf("%s is %q, want %q", name, got[name], want)
			}
		}
		for _, c := range []struct {
			name      string
			low, high float64
		}{
			{"walked", 3.5, 5}, {"heading", 1.4, 1.7}, {"moved", 0.01, 0.04}, {"steps", 15, 60}, {"alpha", 0.4, 0.6}, {"stretch", 0, 1e-5},
			{"clip-seconds", 0.9, 1}, {"wall", 0.4, 1.4}, {"call-ns", 100, 10000},
		} {
			if v, err := strconv.ParseFloat(got[c.name], 64); err != nil || !(v >= c.low && v <= c.high) {
				t.Errorf("%s is %q, want %g to %g", c.name, got[c.name], c.low, c.high)
			}
		}
		t.Logf("a call takes %s ns", got["call-ns"])
		layouts(t, got["structs"])
		for name, open := range streams(t) {
			hashes, bones := run(t, open)
			if got[name+"-hashes"] != hashes || got[name+"-bones"] != bones {
				t.Errorf("%s: the hashes are %s, of bones %s, and in Go %s, of bones %s", name, got[name+"-hashes"], got[name+"-bones"], hashes, bones)
			}
		}
	})

	t.Run("sample", func(t *testing.T) {
		out := testlib.Run(t, filepath.Join(dir, "js"), node[0], append(node[1:], "dogs.mjs", "../models/dog-free.safetensors", "576")...)
		for _, line := range []string{"after 2 s the hips of the first dog are at (0.87, 0.49, 1.08)\n", "after 4 s the hips of the first dog are at (2.35, 0.49, 2.64)\n"} {
			if !strings.Contains(out, line) {
				t.Errorf("the sample printed\n%s", out)
			}
		}
		t.Log(out)
	})
}

const agents = 10

// streams returns what moves the agents, by the names of models.
func streams(t *testing.T) map[string]generator.Generator[control.Goal] {
	t.Helper()
	return map[string]generator.Generator[control.Goal]{
		"dog":  must.Get(must.Get(mann.NewModel(must.Get(dogfree.Open())(t)))(t).NewController(mann.ControllerOptions{Capacity: agents}))(t),
		"hero": must.Get(must.Get(hero.Open())(t).NewStream(matching.StreamOptions{Capacity: agents}))(t),
	}
}

// run moves the crowd of check.mjs by the Go packages. It returns the crowd's hash after each second, and a hash of the last bones.
func run(t *testing.T, stream generator.Generator[control.Goal]) (hashes, ofBones string) {
	t.Helper()
	w := arche.NewWorld()
	crowd := must.Get(animsys.NewCrowd(&w, stream, animsys.Options{Ground: ik.Level(0)}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	goals := generic.NewMap1[control.Goal](&w)
	for i := range agents {
		must.Get(crowd.Spawn(m3.V(2*float32(i), 0, 0), 0.1*float32(i)))(t)
	}
	for tick := range 240 {
		for i := range agents {
			*goals.Get(crowd.Entity(i)) = control.Goal{Move: m3.V(0, 0, 1), Turn: float32((tick/60+i)%5-2) * 0.25, Speed: float32(i%4) * 0.8}
		}
		must.Do(t, schedule.Step())
		if tick%60 == 59 {
			hashes += fmt.Sprintf(" %016x", crowd.Hash())
		}
	}
	sum := uint64(0xcbf29ce484222325)
	for _, b := range crowd.Interpolate(nil, 1) {
		for _, v := range [...]float32{b.Pos.X, b.Pos.Y, b.Pos.Z, b.Rot.X, b.Rot.Y, b.Rot.Z, b.Rot.W} {
			sum = (sum ^ uint64(math.Float32bits(v))) * 0x100000001b3
		}
	}
	return hashes[1:], fmt.Sprintf("%016x", sum)
}

// layouts compares the structs of mannequin.mjs with those that a C compiler makes of mannequin.h for 32-bit pointers.
func layouts(t *testing.T, structs string) {
	t.Helper()
	cc := testlib.Program(t, "gcc")
	source := "#include \"mannequin.h\"\n"
	for s := range strings.SplitSeq(structs, " ") {
		part := strings.Split(s, ":")
		source += fmt.Sprintf("_Static_assert(sizeof(%s) == %s, \"%[1]s\");\n", part[0], part[1])
		for f := range strings.SplitSeq(part[2], ",") {
			name, at, _ := strings.Cut(f, "=")
			source += fmt.Sprintf("_Static_assert(offsetof(%s, %s) == %s, \"%[1]s.%[2]s\");\n", part[0], name, at)
		}
	}
	file := filepath.Join(t.TempDir(), "layout.c")
	must.Do(t, os.WriteFile(file, []byte(source), 0o666))
	include := "-I" + filepath.Join(testlib.Root(), "cmd", "libmannequin")
	if exec.Command(cc, "-m32", "-ffreestanding", "-fsyntax-only", include, "-include", "mannequin.h", "-x", "c", os.DevNull).Run() != nil {
		t.Log("gcc has no 32 bits: the structs are not compared")
		return
	}
	testlib.Run(t, ".", cc, "-m32", "-std=gnu11", "-ffreestanding", "-fsyntax-only", include, file)
}

// Where there are no relaxed vectors, a host that wants the bits of other machines gets them from plain code.
func TestJSSameBits(t *testing.T) {
	path := testlib.Program(t, "node")
	dir := testlib.Wasm(t)
	script := `import { readFileSync } from "node:fs";
const validate = WebAssembly.validate;
let asked = 0;
WebAssembly.validate = (bytes) => asked++ > 0 && validate(bytes); // not the relaxed ones
const mq = await import("` + filepath.ToSlash(dir) + `/js/mannequin.mjs");
await mq.load({ sameBits: process.argv[2] === "same" });
const world = new mq.World(), crowd = world.crowd(new mq.Model(readFileSync("` + dogFile + `")), 1), agent = crowd.spawn([0, 0, 0], 0);
agent.goal({ move: [0, 0, 1], speed: 1 });
for (let i = 0; i < 30; i++) world.tick();
console.log(mq.kernels(), crowd.hash().toString(16).padStart(16, "0"));`
	file := filepath.Join(dir, "same.mjs")
	must.Do(t, os.WriteFile(file, []byte(script), 0o666))
	same, other := strings.TrimSpace(testlib.Run(t, ".", path, file, "same")), strings.TrimSpace(testlib.Run(t, ".", path, file, "fast"))

	w := arche.NewWorld()
	stream := must.Get(must.Get(mann.NewModel(must.Get(dogfree.Open())(t)))(t).NewController(mann.ControllerOptions{Capacity: 1}))(t)
	crowd := must.Get(animsys.NewCrowd(&w, stream, animsys.Options{Ground: ik.Level(0)}))(t)
	defer crowd.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	goals := generic.NewMap1[control.Goal](&w)
	*goals.Get(must.Get(crowd.Spawn(m3.Vec3{}, 0))(t)) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1}
	for range 30 {
		must.Do(t, schedule.Step())
	}
	if want := fmt.Sprintf("generic %016x", crowd.Hash()); same != want || !strings.HasPrefix(other, "simd128-unfused ") {
		t.Errorf("%s with sameBits and %s without, want %s, and other kernels", same, other, want)
	}
}
