package skin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// runNode runs a script of testdata/oracles and returns its lines. The test is skipped without node, or
// without the module where NODE_PATH says.
func runNode(t *testing.T, module, script string, args ...string) (lines [][]byte) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if exec.Command("node", "-e", "require.resolve('"+module+"')").Run() != nil {
		t.Skipf("no %s: npm install %s somewhere, and set NODE_PATH to its node_modules", module, module)
	}
	cmd := exec.Command("node", append([]string{filepath.Join("testdata", "oracles", script)}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, errs.String())
	}
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<28)
	for s.Scan() {
		lines = append(lines, bytes.Clone(s.Bytes()))
	}
	return lines
}

// rewritten adds the animations of all files that can be read to them again. hero comes first.
func rewritten(t *testing.T) (before, after []string, motions [][]Motion) {
	dir := t.TempDir()
	own := filepath.Join(dir, "hero.glb")
	must.Do(t, os.WriteFile(own, heroGLB(), 0o644))
	m := dance(30)
	m.Clip.Skel.Names[5] = "nothing" // two nodes are called Arm
	files, all := []string{own}, [][]Motion{{m}}
	if !testing.Short() {
		for _, path := range glTFs(t) {
			if motions, err := OpenMotions(path); err == nil {
				files, all = append(files, path), append(all, again(motions))
			}
		}
	}
	for i, path := range files {
		out := filepath.Join(dir, fmt.Sprintf("%d-%s.glb", i, filepath.Base(path)))
		if _, err := AddMotions(path, out, all[i], AddOptions{}); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		before, after, motions = append(before, path), append(after, out), append(motions, all[i])
	}
	return before, after, motions
}

// Khronos' validator finds no error or warning in a file with motions that the file has not without.
func TestAddedValidator(t *testing.T) {
	runNode(t, "gltf-validator", "validate.cjs")
	before, after, _ := rewritten(t)
	sk := person(t)
	var vrma bytes.Buffer
	must.Do(t, WriteVRMA(&vrma, "wave", wave(sk, 30)))
	alone := filepath.Join(t.TempDir(), "wave.vrma")
	must.Do(t, os.WriteFile(alone, vrma.Bytes(), 0o644))
	if text := string(runNode(t, "gltf-validator", "validate.cjs", alone)[0]); text != "{}" {
		t.Errorf("VRM animation: %s", text)
	}
	lines := runNode(t, "gltf-validator", "validate.cjs", append(before, after...)...)
	if len(lines) != 2*len(after) {
		t.Fatalf("%d reports of %d files", len(lines), 2*len(after))
	}
	parse := func(line []byte) (codes map[string]int) {
		must.Do(t, json.Unmarshal(line, &codes))
		return codes
	}
	for i, path := range before {
		was, is := parse(lines[i]), parse(lines[len(before)+i])
		for code, n := range is {
			// Of several buffers of a .gltf, the others than the first stay as they are in its text.
			if n > was[code] && code != "warning DATA_URI_GLB" {
				t.Errorf("%s: %d × %s, without the motions %d", filepath.Base(path), n, code, was[code])
			}
		}
	}
	t.Logf("%d files", len(after))
}

// Pixiv's three-vrm reads a VRM animation with all of its bones.
func TestVRMAInThree(t *testing.T) {
	sk := person(t)
	var vrma bytes.Buffer
	must.Do(t, WriteVRMA(&vrma, "wave", wave(sk, 30)))
	path := filepath.Join(t.TempDir(), "wave.vrma")
	must.Do(t, os.WriteFile(path, vrma.Bytes(), 0o644))
	var got struct {
		Duration  float64
		Hips      [3]float64   // at rest
		Places    [][3]float64 // of the hips
		Rotations map[string][][4]float64
	}
	must.Do(t, json.Unmarshal(runNode(t, "@pixiv/three-vrm-animation", "vrma.cjs", path)[0], &got))
	if len(got.Rotations) != len(writtenBones) || len(got.Places) != 20 || math.Abs(got.Hips[1]-0.9825) > 1e-4 || math.Abs(got.Duration-19.0/30) > 1e-4 {
		t.Errorf("%d bones, %d places, hips %v, %g s", len(got.Rotations), len(got.Places), got.Hips, got.Duration)
	}
	want := m3.AxisAngle(m3.V(0, 0, 1), 0.1*11)
	q := got.Rotations["rightUpperArm"][11]
	if a := (m3.Quat{X: float32(q[0]), Y: float32(q[1]), Z: float32(q[2]), W: float32(q[3])}).Angle(want); a > 1e-3 {
		t.Errorf("the arm is turned by %v, want %v", q, want)
	}
}

// three.js shows the joints where the clip has them.
func TestAddedInThree(t *testing.T) {
	_, after, motions := rewritten(t)
	files, worst := 0, float32(0)
	for i, path := range after {
		data := must.Get(os.ReadFile(path))(t)
		a := must.Get(newAdder(path, data, nil))(t)
		if f := must.Get(parseFile(path, data, nil))(t); len(f.doc.ExtensionsRequired) > 0 {
			continue // three.js wants decoders for them
		}
		m := motions[i][len(motions[i])-1]
		nodes, _, err := a.match(&m)
		must.Do(t, err)
		frames, args := []int{0, m.Clip.Frames / 3, m.Clip.Frames / 2, m.Clip.Frames - 1}, []string{path}
		for _, f := range frames {
			args = append(args, fmt.Sprint(float64(f)/m.Clip.FPS))
		}
		lines := runNode(t, "three", "three.cjs", args...)
		if len(lines) != len(frames) {
			t.Fatalf("%s: %d lines", path, len(lines))
		}
		model := make([]m3.Xform, m.Clip.Skel.Len())
		for k, f := range frames {
			var places [][]float32
			must.Do(t, json.Unmarshal(lines[k], &places))
			m.Clip.Model(model, f)
			for j, n := range nodes {
				if n < 0 {
					continue
				}
				d := m3.V(places[n][0], places[n][1], places[n][2]).Dist(model[j].Pos)
				if !(d < 1e-4) {
					t.Errorf("%s, %s, frame %d: %s is off by %.4f mm", filepath.Base(path), m.Name, f, m.Clip.Skel.Names[j], 1000*d)
				}
				worst = max(worst, d)
			}
		}
		files++
	}
	t.Logf("%d files; the worst joint is %.5f mm off", files, 1000*worst)
}

// Blender shows the joints where the clip has them.
func TestAddedInBlender(t *testing.T) {
	if _, err := exec.LookPath("blender"); err != nil {
		t.Skip("blender is not installed")
	}
	_, after, motions := rewritten(t)
	files, joints, worst := 0, 0, float32(0)
	for i, path := range after {
		if i > 0 && i%8 != 3 { // a sample: to start Blender takes seconds
			continue
		}
		data := must.Get(os.ReadFile(path))(t)
		a := must.Get(newAdder(path, data, nil))(t)
		m := motions[i][len(motions[i])-1]
		nodes, _, err := a.match(&m)
		must.Do(t, err)
		frames := []int{0, m.Clip.Frames / 2, m.Clip.Frames - 1}
		args := []string{"-b", "-P", filepath.Join("testdata", "oracles", "blender_pose.py"), "--", path, m.Name}
		for _, f := range frames {
			args = append(args, fmt.Sprint(float64(f)/m.Clip.FPS))
		}
		out, err := exec.Command("blender", args...).CombinedOutput()
		var poses []map[string][]float32
		for line := range bytes.Lines(out) {
			if text, ok := bytes.CutPrefix(line, []byte("pose ")); ok {
				poses = append(poses, nil)
				must.Do(t, json.Unmarshal(text, &poses[len(poses)-1]))
			}
		}
		if err != nil || len(poses) != len(frames) {
			t.Errorf("%s: %d poses, %v: %.3000s", filepath.Base(path), len(poses), err, out)
			continue
		}
		model := make([]m3.Xform, m.Clip.Skel.Len())
		for k, f := range frames {
			m.Clip.Model(model, f)
			for j, n := range nodes {
				if n < 0 {
					continue
				}
				at, ok := poses[k][a.doc.Nodes[n].Name]
				if !ok {
					continue // Blender gives names that are there twice a number
				}
				d := m3.V(at[0], at[1], at[2]).Dist(model[j].Pos)
				if !(d < 1e-4) {
					t.Errorf("%s, %s, frame %d: %s is off by %.4f mm", filepath.Base(path), m.Name, f, m.Clip.Skel.Names[j], 1000*d)
				}
				worst = max(worst, d)
				joints++
			}
		}
		files++
	}
	t.Logf("%d files, %d joints; the worst is %.5f mm off", files, joints, 1000*worst)
}
