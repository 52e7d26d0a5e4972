// Package godot tests the extension for Godot 3, in Godot.
package godot

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"math"
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

// project lays the sample's project, with the extension built, into a folder.
func project(t *testing.T) string {
	t.Helper()
	cc := testlib.Program(t, "cc", "gcc")
	lib := testlib.Shared(t)
	dir := filepath.Join(t.TempDir(), "project")
	addon := filepath.Join(dir, "addons", "mannequin")
	testlib.Copy(t, dir, "project")
	testlib.Copy(t, filepath.Join(dir, "dog-free.safetensors"), "../../models/dog-free/dog-free.safetensors")
	testlib.Copy(t, filepath.Join(addon, "libmannequin.so"), filepath.Join(lib, "libmannequin.so"))
	testlib.Run(t, "src", cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type", "-fPIC", "-fvisibility=hidden", "-shared",
		"-I../../../cmd/libmannequin", "mannequin_godot.c", "-o", filepath.Join(addon, "libmannequin_godot.so"), "-L"+lib, "-lmannequin", "-lm", "-Wl,-rpath,$ORIGIN")
	return dir
}

// scene adds the sample's scene with a script of testdata's in place of its own.
func scene(t *testing.T, dir, script string) {
	t.Helper()
	testlib.Copy(t, filepath.Join(dir, script+".gd"), filepath.Join("testdata", script+".gd"))
	text := strings.ReplaceAll(string(must.Get(os.ReadFile("project/dogs.tscn"))(t)), "dogs.gd", script+".gd")
	must.Do(t, os.WriteFile(filepath.Join(dir, script+".tscn"), []byte(text), 0o644))
}

type vec [3]float64

func (v vec) sub(w vec) vec        { return vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }
func (v vec) len() float64         { return math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) }
func (v vec) dot(w vec) float64    { return v[0]*w[0] + v[1]*w[1] + v[2]*w[2] }
func (v vec) flatTo(w vec) float64 { return math.Hypot(v[0]-w[0], v[2]-w[2]) }

// line is a line that check.gd prints.
type line struct {
	Rest map[string]struct {
		Parent string
		Length float64
	}
	Refused []any
	Other   float64
	Gone    []bool
	Frame   int
	Dogs    []struct {
		Root, Ahead, Moved vec
		Bones              map[string][4]float64 // a place, and its height above the ground
		Shift              float64               // of joints from where they rest
	}
}

var feet = []string{"LeftHandSite", "RightHandSite", "LeftFootSite", "RightFootSite"}

// play runs a scene of a project and returns what it prints, and what Godot says of errors.
func play(t *testing.T, dir, scene string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testlib.Program(t, "godot3-server", "godot3"), "--path", dir, "--fixed-fps", "60", scene)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || strings.Contains(errs.String(), "SCRIPT ERROR") {
		t.Fatalf("godot: %v\n%s\n%s", err, out, &errs)
	}
	return string(out), errs.String()
}

// The script in docs/engines.md makes a dog walk.
func docs(t *testing.T, dir string) {
	t.Helper()
	_, script, _ := strings.Cut(string(must.Get(os.ReadFile("../../docs/engines.md"))(t)), "```gdscript\n")
	script, _, ok := strings.Cut(script, "```")
	if !ok {
		t.Fatal("docs/engines.md has no script")
	}
	script = "extends Spatial\n" + script + "\tif Engine.get_physics_frames() == 120:\n\t\tprint(\"z \", get_child(get_child_count() - 1).translation.z)\n\t\tget_tree().quit()\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "docs.gd"), []byte(script), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "docs.tscn"), []byte("[gd_scene load_steps=2 format=2]\n[ext_resource path=\"res://docs.gd\" type=\"Script\" id=1]\n"+
		"[node name=\"Docs\" type=\"Spatial\"]\nscript = ExtResource( 1 )\n"), 0o644))
	out, errs := play(t, dir, "docs.tscn")
	_, z, _ := strings.Cut(out, "\nz ")
	if v, err := strconv.ParseFloat(strings.TrimSpace(z), 64); err != nil || !(v < -1 && v > -3) {
		t.Errorf("the dog of docs/engines.md is at z = %q, want about -1.5\n%s\n%s", z, out, errs)
	}
}

func TestScene(t *testing.T) {
	testlib.Program(t, "godot3-server", "godot3")
	dir := project(t)
	docs(t, dir)
	scene(t, dir, "check")
	out, stderr := play(t, dir, "check.tscn")
	var start, calls line
	var frames []line
	for text := range strings.Lines(out) {
		if !strings.HasPrefix(text, "{") {
			continue
		}
		var l line
		must.Do(t, json.Unmarshal([]byte(text), &l))
		switch {
		case l.Rest != nil:
			start = l
		case l.Refused != nil:
			calls = l
		default:
			frames = append(frames, l)
		}
	}
	if len(frames) != 90 || len(start.Rest) < 20 {
		t.Fatalf("%d frames with %d bones\n%s", len(frames), len(start.Rest), stderr)
	}

	for i, answer := range calls.Refused {
		if answer != nil && answer != false && answer != 0.0 {
			t.Errorf("the wrong call %d returned %v", i, answer)
		}
	}
	for _, text := range []string{"The first argument is no Skeleton", "The crowd has no such agent", "no action \"fly\"", "arguments: want 1.", "has room for 10 agents"} {
		if !strings.Contains(stderr, text) {
			t.Errorf("Godot's console does not say %q:\n%s", text, stderr)
		}
	}
	if len(calls.Refused) != 14 || len(calls.Gone) != 7 {
		t.Errorf("%d calls refused and %d of agents that go", len(calls.Refused), len(calls.Gone))
	}
	for i, good := range calls.Gone {
		if !good {
			t.Errorf("an agent did not go with its Skeleton: %d", i)
		}
	}
	if !(calls.Other < 1e-4) {
		t.Errorf("the bones of a Skeleton of the game's are up to %g m elsewhere", calls.Other)
	}

	first, last := frames[0], frames[len(frames)-1]
	for i := range 10 {
		low, high := math.Inf(1), math.Inf(-1) // of a paw ahead of the root
		var moved vec
		for _, f := range frames {
			dog := &f.Dogs[i]
			near := math.Inf(1)
			if !(dog.Shift < 0.002) {
				t.Fatalf("frame %d: a joint of dog %d is %.3f m from where its mesh has it", f.Frame, i, dog.Shift)
			}
			for name, b := range dog.Bones {
				at := vec{b[0], b[1], b[2]}
				if b[3] < -0.03 {
					t.Fatalf("frame %d: %s of dog %d is %.3f m below the ground", f.Frame, name, i, -b[3])
				}
				if rest := start.Rest[name]; rest.Parent != "" {
					p := dog.Bones[rest.Parent]
					if got := at.sub(vec{p[0], p[1], p[2]}).len(); math.Abs(got-rest.Length) > 0.002 {
						t.Fatalf("frame %d: %s of dog %d is %.4f m long, at rest %.4f m", f.Frame, name, i, got, rest.Length)
					}
				}
			}
			for _, name := range feet {
				b := dog.Bones[name]
				near = min(near, b[3])
			}
			if !(near < 0.05) {
				t.Fatalf("frame %d: dog %d is %.3f m above the ground", f.Frame, i, near)
			}
			paw := dog.Bones[feet[0]]
			ahead := vec{paw[0], paw[1], paw[2]}.sub(dog.Root).dot(dog.Ahead)
			low, high = min(low, ahead), max(high, ahead)
			for k := range moved {
				moved[k] += dog.Moved[k]
			}
		}
		// Heads are ahead and left paws on the left.
		a, b := last.Dogs[i].Bones, last.Dogs[i].Ahead
		if d := (vec{a["Head"][0], 0, a["Head"][2]}).sub(vec{a["Hips"][0], 0, a["Hips"][2]}); !(d.dot(b) > 0.3) {
			t.Errorf("the head of dog %d is %.2f m ahead of its hips", i, d.dot(b))
		}
		left := vec{b[2], 0, -b[0]} // ahead turned a quarter counterclockwise about +Y
		if d := (vec{a["LeftArm"][0], 0, a["LeftArm"][2]}).sub(vec{a["RightArm"][0], 0, a["RightArm"][2]}); !(d.dot(left) > 0.03) {
			t.Errorf("the left shoulder of dog %d is %.3f m to the left of the right one", i, d.dot(left))
		}
		if i < 9 && !(high-low > 0.15) {
			t.Errorf("a paw of dog %d moves %.3f m", i, high-low)
		}
		went := last.Dogs[i].Root.sub(first.Dogs[i].Root)
		if i < 7 && (!(went[2] < -4) || math.Abs(went[0]) > 0.5 || last.Dogs[i].Ahead[2] > -0.9) {
			t.Errorf("dog %d went %.2f and faces %.2f: want to -Z", i, went, last.Dogs[i].Ahead)
		}
		if want := went; i < 7 && math.Abs(4*moved[2]-want[2]) > 0.2 { // moved is of a frame, and every fourth is seen
			t.Errorf("the root motion of dog %d sums up to %.2f m of %.2f m", i, 4*moved[2], want[2])
		}
	}
	if d := last.Dogs[7].Root.flatTo(vec{5.5, 0, -4}); !(d < 0.8) {
		t.Errorf("dog 7 is %.2f m from its place", d)
	}
	if z := last.Dogs[8].Root[2]; !(z > -1.62 && z < -1.4) { // the wall's front less the body's radius
		t.Errorf("dog 8 is at %.3f m: want it in front of the wall", z)
	}
	if was, is := first.Dogs[9].Bones["Hips"][3], last.Dogs[9].Bones["Hips"][3]; !(is < was-0.1) {
		t.Errorf("the hips of the dog that sits are at %.2f m, and were at %.2f m", is, was)
	}
}

// The picture has dogs in it. MANNEQUIN_GODOT_PICTURE names a file to keep it in, as docs/godot.png.
func TestPicture(t *testing.T) {
	to := os.Getenv("MANNEQUIN_GODOT_PICTURE")
	if to == "" && os.Getenv("MANNEQUIN_ENGINES") == "" {
		t.Skip("the picture takes a minute: make test-engines draws it, and MANNEQUIN_GODOT_PICTURE=FILE keeps it")
	}
	xvfb, godot := testlib.Program(t, "xvfb-run"), testlib.Program(t, "godot3")
	dir := project(t)
	scene(t, dir, "picture")
	testlib.Run(t, dir, xvfb, "-a", "-s", "-screen 0 1280x720x24", godot, "--path", dir, "--fixed-fps", "60", "--resolution", "960x480", "picture.tscn")
	drawn := must.Get(os.ReadFile(filepath.Join(dir, "picture.png")))(t)
	picture := must.Get(png.Decode(bytes.NewReader(drawn)))(t)
	var dogs int // yellow to red; the ground is green and the sky is blue
	size := picture.Bounds()
	for y := range size.Dy() {
		for x := range size.Dx() {
			if r, g, b, _ := picture.At(x, y).RGBA(); r > g && r > b+0x3000 {
				dogs++
			}
		}
	}
	if share := float64(dogs) / float64(size.Dx()*size.Dy()); !(share > 0.01 && share < 0.2) {
		t.Errorf("dogs are on %.2f %% of the picture", 100*share)
	}
	if to != "" {
		must.Do(t, os.WriteFile(to, drawn, 0o644))
	}
}
