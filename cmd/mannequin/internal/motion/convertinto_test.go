package motion

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/internal/testing/testdog"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// A motion goes into a file of the same joints as one more animation, through BVH and back too.
func TestConvertInto(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	bvh := testcli.WriteFile(t, dir, "tiny.bvh", testcli.TinyBVH)
	hero := in("hero.glb")
	if code, out, errs := mannequin("convert", bvh, "--out", hero); code != 0 {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	// Out as BVH, in centimetres, and in again under another name.
	code, out, errs := mannequin("convert", hero, "--scale", "100", "--out", in("moved.bvh"))
	if code != 0 || !strings.Contains(out, "moved.bvh: 4 joints, 3 frames at 30 per second, lengths × 100") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	code, out, errs = mannequin("convert", in("moved.bvh"), "--into", hero, "--name", "again", "--out", in("two.glb"))
	if code != 0 || !strings.Contains(out, "two.glb: "+hero+" with again; 3 joints move\n  again: lengths × 0.01\n") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	all := must.Get(skin.OpenMotions(in("two.glb")))(t)
	if len(all) != 2 || all[1].Name != "again" {
		t.Fatalf("%d animations", len(all))
	}
	for k, p := range all[0].Clip.Pos {
		if d := p.Dist(all[1].Clip.Pos[k]); d > 1e-4 || all[0].Clip.Rot[k].Angle(all[1].Clip.Rot[k]) > 1e-3 {
			t.Errorf("transform %d is %g m off", k, d)
		}
	}
	// Several motions; all animations of a file, or one.
	var r intoReport
	code, out, errs = mannequin("convert", bvh, in("moved.bvh"), "--into", hero, "--out", in("three.glb"), "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || !slices.Equal(r.Animations, []string{"tiny", "moved"}) || len(r.Motions) != 2 || r.Joints != 3 {
		t.Errorf("code %d, %v: %s%s", code, err, out, errs)
	}
	if code, out, errs := mannequin("convert", in("three.glb"), "--into", hero, "--out", in("four.glb"), "--replace"); code != 0 || !strings.Contains(out, "with motion, tiny, moved") || !strings.Contains(out, "replaced: motion") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if code, out, errs := mannequin("convert", in("three.glb"), "--into", hero, "--animation", "tiny", "--fps", "60", "--out", in("five.glb")); code != 0 || !strings.Contains(out, "with tiny; 3") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if all := must.Get(skin.OpenMotions(in("five.glb")))(t); len(all) != 2 || all[1].Clip.FPS != 60 || all[1].Clip.Frames != 5 {
		t.Errorf("%d animations", len(all))
	}
	// An FBX becomes a GLB with its own animation and the new one.
	fbx := testcli.WriteFile(t, dir, "low.fbx", testcli.TinyFBX)
	if code, out, errs := mannequin("convert", fbx, "--into", fbx, "--name", "bend again", "--out", in("low.glb")); code != 0 || !strings.Contains(out, "with bend again; 2 joints move") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if all := must.Get(skin.OpenMotions(in("low.glb")))(t); len(all) != 2 || all[0].Name != "bend" || all[1].Name != "bend again" {
		t.Errorf("%d animations", len(all))
	}
	other := testcli.WriteFile(t, dir, "other.bvh", strings.ReplaceAll(testcli.TinyBVH, "Hips", "Root"))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{bvh, "--into", hero, "--out", in("x.bvh")}, command.ExitUsage, "name the file .glb, or .gltf"},
		{[]string{bvh, "--into", hero, "--out", hero}, command.ExitUsage, "is read and written"},
		{[]string{bvh, "--into", hero, "--out", in("x.gltf")}, command.ExitFailure, "becomes a .glb"},
		{[]string{bvh, "--into", fbx, "--out", in("x.gltf")}, command.ExitUsage, "becomes glTF: name the file .glb"},
		{[]string{bvh, "--into", bvh, "--out", in("x.glb")}, command.ExitFailure, "is not a glTF file"},
		{[]string{bvh, "--into", in("none.glb"), "--out", in("x.glb")}, command.ExitFailure, "no such file"},
		{[]string{other, "--into", hero, "--out", in("x.glb")}, command.ExitFailure, "it moves another skeleton than that of " + hero},
		{[]string{hero, "--into", hero, "--out", in("x.glb")}, command.ExitFailure, `is called "motion" already`},
		{[]string{bvh, in("moved.bvh"), "--into", hero, "--name", "a", "--out", in("x.glb")}, command.ExitUsage, "--name is for one motion, and there are 2"},
		{[]string{bvh, "--into", hero, "--profile", "cmu", "--out", in("x.glb")}, command.ExitFailure, "profile"},
		{[]string{bvh, "--into", hero, "--scale", "2", "--out", in("x.glb")}, command.ExitUsage, "--scale is not for --into"},
		{[]string{bvh, "--into", "", "--out", in("x.glb")}, command.ExitUsage, "want a path"},
		{[]string{bvh, "--name", "a", "--out", in("x.glb")}, command.ExitUsage, "--name is for --into and --out .vrma"},
		{[]string{bvh, "--replace", "--out", in("x.glb")}, command.ExitUsage, "--replace is for --into"},
		{[]string{bvh, "--character", "--out", in("x.bvh")}, command.ExitUsage, "--character is for --out .glb"},
		{[]string{"human", "--out", in("x.bvh")}, command.ExitFailure, "human"},
		{[]string{bvh, "--out", in("x.vrma")}, command.ExitFailure, "no profile fits its skeleton"},
		{[]string{bvh, "--scale", "2", "--out", in("x.vrma")}, command.ExitUsage, "--scale is not for a VRM animation"},
	} {
		if code, _, errs := mannequin(append([]string{"convert"}, c.args...)...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%v: code %d, %s", c.args, code, errs)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 10 {
		t.Errorf("left behind: %v", names)
	}
}

// A motion of the same rig comes onto the file's own bones, whatever its rest pose.
func TestConvertIntoSameRig(t *testing.T) {
	const cases, person = "../../../../offline/character/testdata/", "../../../../animsys/skin/testdata/plain-person.glb"
	want := must.Get(mocap.Open(cases+"rest-tpose-same-motion.bvh", mocap.OpenOptions{}))(t).Clip.Scaled(0.01)
	mixamo := strings.NewReplacer("ROOT ", "ROOT mixamorig:", "JOINT ", "JOINT mixamorig:")
	others := strings.NewReplacer("Hips", "pelvis", "Spine", "back", "Neck", "throat", "Head", "skull", "LeftUpLeg", "thigh_l", "RightUpLeg", "thigh_r",
		"LeftLeg", "calf_l", "RightLeg", "calf_r", "LeftForeArm", "lowerarm_l", "RightForeArm", "lowerarm_r", "LeftArm", "upperarm_l", "RightArm", "upperarm_r",
		"Left", "l_", "Right", "r_")
	for _, c := range []struct {
		file  string
		names *strings.Replacer
		about string
	}{
		{"rest-tpose-same-motion.bvh", mixamo, "lengths × 0.01"},
		{"rest-bones-along-y.bvh", mixamo, "turned to the file's rest pose, 22 joints of the same names"},
		{"rest-tpose-same-motion.bvh", others, "lengths × 0.01"},
		{"rest-bones-along-y.bvh", others, "turned to the file's rest pose, 22 joints of the same body"},
	} {
		text := c.names.Replace(string(must.Get(os.ReadFile(cases + c.file))(t)))
		dir := t.TempDir()
		out := filepath.Join(dir, "out.glb")
		code, told, errs := mannequin("convert", testcli.WriteFile(t, dir, "walk.bvh", text), "--into", person, "--out", out)
		if code != 0 || !strings.Contains(told, c.about) {
			t.Fatalf("%s: code %d: %s%s", c.file, code, told, errs)
		}
		is := must.Get(skin.OpenMotions(out))(t)[0].Clip
		x, y := make([]m3.Xform, is.Skel.Len()), make([]m3.Xform, want.Skel.Len())
		far, turn := float32(0), float32(0)
		for f := range want.Frames {
			is.Model(x, f)
			want.Model(y, f)
			for j, name := range want.Skel.Names {
				if i := is.Skel.Index(name); i >= 0 {
					far, turn = max(far, x[i].Pos.Dist(y[j].Pos)), max(turn, x[i].Rot.Angle(y[j].Rot))
				}
			}
		}
		if is.Frames != want.Frames || far > 2e-3 || turn > 0.35 {
			t.Errorf("%s: %d frames, a joint is %.1f cm off, one %.2f rad", c.file, is.Frames, 100*far, turn)
		}
	}
}

// A dog and a person may have the same names. Their motions are not exchanged.
func TestConvertIntoOtherKind(t *testing.T) {
	dir := t.TempDir()
	walk := map[string]string{"human": "../../../../offline/character/testdata/rest-tpose-same-motion.bvh", "dog": filepath.Join(dir, "dog.bvh")}
	clip := skel.NewClip(testdog.Skeleton(), 30, 10)
	var text bytes.Buffer
	must.Do(t, mocap.WriteClip(&text, clip))
	must.Do(t, os.WriteFile(walk["dog"], text.Bytes(), 0o644))
	for from, to := range map[string]string{"human": "dog", "dog": "human"} {
		own := filepath.Join(dir, to+".glb")
		if code, out, errs := mannequin("convert", to, "--out", own); code != 0 {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
		code, _, errs := mannequin("convert", walk[from], "--into", own, "--out", filepath.Join(dir, "out.glb"))
		want := map[string]string{"dog": "it stands on four legs and has a tail: it is not a person", "human": "it stands upright on two legs, and the motion is of a body that stands on four legs and has a tail"}[to]
		if code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s into %s: code %d: %s", from, to, code, errs)
		}
	}
}

// An animal's motion with names of its own comes onto the dog by roles: a foot that stands stays where it is.
func TestConvertIntoAnimal(t *testing.T) {
	dir := t.TempDir()
	own, out, bvh := filepath.Join(dir, "dog.glb"), filepath.Join(dir, "out.glb"), filepath.Join(dir, "in.bvh")
	if code, out, errs := mannequin("convert", "dog", "--out", own); code != 0 {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	sk := testdog.Skeleton()
	for j, name := range sk.Names {
		sk.Names[j] = strings.NewReplacer("Hips", "pelvis", "Spine", "back", "Left", "l_", "Right", "r_", "UpLeg", "thigh", "Leg", "shin", "ForeArm", "fore_shin",
			"Arm", "fore_thigh", "Hand", "fore_paw", "Foot", "paw", "Shoulder", "blade").Replace(name)
	}
	clip := skel.NewClip(sk, 30, 20)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		pos[0] = m3.V(0, 0.47, 0)
		rot[sk.Index("Head")] = m3.AxisAngle(m3.Up, 0.03*float32(f))
		rot[sk.Index("l_fore_thigh")] = m3.AxisAngle(m3.V(1, 0, 0), -0.04*float32(f))
	}
	var text bytes.Buffer
	must.Do(t, mocap.WriteClip(&text, clip))
	must.Do(t, os.WriteFile(bvh, text.Bytes(), 0o644))
	code, said, errs := mannequin("convert", bvh, "--into", own, "--name", "walk", "--out", out)
	if code != 0 || !strings.Contains(said, "walk: retargeted, ") {
		t.Fatalf("code %d: %s%s", code, said, errs)
	}
	is := must.Get(skin.OpenMotions(out))(t)[0].Clip
	first, last := make([]m3.Xform, is.Skel.Len()), make([]m3.Xform, is.Skel.Len())
	is.Model(first, 0)
	is.Model(last, is.Frames-1)
	moved := func(joint string) float32 {
		j := is.Skel.Index(joint)
		return last[j].Pos.Dist(first[j].Pos)
	}
	if a := last[is.Skel.Index("Head")].Rot.Mul(first[is.Skel.Index("Head")].Rot.Conj()).Yaw(); m3.Abs(a-0.57) > 0.02 {
		t.Errorf("the head turns by %g, want 0.57", a)
	}
	if a, b := moved("LeftHand"), moved("RightHand"); a < 0.15 || b > 1e-3 || moved("LeftFoot") > 1e-3 {
		t.Errorf("the left paw goes %g m, the right one %g, the hind one %g", a, b, moved("LeftFoot"))
	}
}

// The flags of a motion hold for the animations of a glTF, too, and #NAME chooses one.
func TestConvertIntoFlags(t *testing.T) {
	dir := t.TempDir()
	const person = "../../../../animsys/skin/testdata/plain-person.glb"
	moves, out := filepath.Join(dir, "moves.glb"), filepath.Join(dir, "out.glb")
	for _, name := range []string{"Walk", "Run"} {
		from := map[string]string{"Walk": person, "Run": moves}[name]
		if code, said, errs := mannequin("convert", "../../../../offline/character/testdata/rest-tpose-same-motion.bvh", "--into", from, "--name", name, "--force", "--out", moves); code != 0 {
			t.Fatalf("code %d: %s%s", code, said, errs)
		}
	}
	for _, c := range []struct {
		file  string
		flags []string
		fps   float64
		names string
	}{
		{moves, []string{"--frame-rate", "60"}, 60, "Walk Run"},
		{moves + "#Run", nil, 30, "Run"},
		{moves, []string{"--animation", "2"}, 30, "Run"},
	} {
		code, said, errs := mannequin(append([]string{"convert", c.file, "--into", person, "--force", "--out", out}, c.flags...)...)
		if code != 0 {
			t.Fatalf("%s %v: code %d: %s%s", c.file, c.flags, code, said, errs)
		}
		var names []string
		for _, m := range must.Get(skin.OpenMotions(out))(t) {
			names = append(names, m.Name)
			if math.Abs(m.Clip.FPS-c.fps) > 0.01 {
				t.Errorf("%s %v: %g frames per second, want %g", c.file, c.flags, m.Clip.FPS, c.fps)
			}
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s %v: animations %s, want %s", c.file, c.flags, got, c.names)
		}
	}
	usd := testcli.WriteFile(t, dir, "a.usdc", "PXR-USDC\x00")
	if code, _, errs := mannequin("convert", moves, "--into", usd, "--out", out); code != 1 || !strings.Contains(errs, "is a USD scene, which is not read: open it in Blender") {
		t.Errorf("code %d: %s", code, errs)
	}
	still := testcli.WriteFile(t, dir, "still.bvh", "HIERARCHY\nROOT Hips { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition End Site { OFFSET 0 1 0 } }\nMOTION\nFrames: 0\nFrame Time: 0.03\n")
	if code, _, errs := mannequin("convert", still, "--into", person, "--force", "--out", out); code != 1 || !strings.Contains(errs, "still.bvh: the motion has no frames") {
		t.Errorf("code %d: %s", code, errs)
	}
	// What is odd in a motion is told.
	code, said, errs := mannequin("convert", "../../../../offline/mocap/testdata/one-row-too-many.bvh", "--salvage", "--into", person, "--force", "--out", out)
	if code != 0 || !strings.Contains(said, "kept 24 whole frames") {
		t.Errorf("code %d: %s%s", code, said, errs)
	}
}

// Motion of people, and of the dog's skeleton, is retargeted to the file's own bones.
func TestConvertIntoRetargets(t *testing.T) {
	dir := t.TempDir()
	for _, model := range []string{"human", "dog"} {
		own, out, bvh := filepath.Join(dir, model+".glb"), filepath.Join(dir, "out.glb"), filepath.Join(dir, "in.bvh")
		if code, out, errs := mannequin("convert", model, "--out", own); code != 0 {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
		// With names of another program, of the same length in the file.
		data := bytes.ReplaceAll(must.Get(os.ReadFile(own))(t), []byte(`"name":"Left`), []byte(`"name":"l___`))
		data = bytes.ReplaceAll(data, []byte(`"name":"Right`), []byte(`"name":"r____`))
		must.Do(t, os.WriteFile(own, data, 0o644))
		sk := *must.Get(skeletonOf(model))(t)
		sk.Offsets = slices.Clone(sk.Offsets)
		for j, name := range sk.Names {
			if strings.HasSuffix(name, "Foot") { // another body
				sk.Offsets[j] = sk.Offsets[j].Scale(1.2)
			}
		}
		clip := skel.NewClip(&sk, 30, 10)
		for f := range clip.Frames {
			clip.Pos[f*clip.Skel.Len()] = m3.V(0, 0.9, 0.03*float32(f))
		}
		var text bytes.Buffer
		must.Do(t, mocap.WriteClip(&text, clip))
		must.Do(t, os.WriteFile(bvh, text.Bytes(), 0o644))
		code, said, errs := mannequin("convert", bvh, "--into", own, "--name", "walk", "--out", out)
		if code != 0 || !strings.Contains(said, "walk: retargeted, ") {
			t.Errorf("%s: code %d: %s%s", model, code, said, errs)
		}
		if all, err := skin.OpenMotions(out); err != nil || len(all) != 1 || all[0].Clip.Frames != 10 {
			t.Errorf("%s: %d animations, %v", model, len(all), err)
		}
	}
}

// A person's motion becomes a VRM animation: as it is on the uniform skeleton, retargeted with a profile.
func TestConvertVRMA(t *testing.T) {
	dir := t.TempDir()
	bvh := filepath.Join(dir, "wave.bvh")
	clip := skel.NewClip(retarget.Human(), 60, 31)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		pos[0] = m3.V(0, 0.98, 0.01*float32(f))
		rot[clip.Skel.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), 0.02*float32(f))
	}
	var text bytes.Buffer
	must.Do(t, mocap.WriteClip(&text, clip))
	must.Do(t, os.WriteFile(bvh, text.Bytes(), 0o644))
	for i, args := range [][]string{{"--fps", "30"}, {"--fps", "30", "--profile", "cmu"}, {"--fps", "30", "--name", "hello"}} {
		out := filepath.Join(dir, "wave.vrma")
		code, said, errs := mannequin(append([]string{"convert", bvh, "--out", out}, args...)...)
		if code != 0 || !strings.Contains(said, "wave.vrma: 30 joints, 16 frames at 30 per second") || strings.Contains(said, "retargeted: joints are") != (i == 1) {
			t.Errorf("code %d: %s%s", code, said, errs)
		}
		all := must.Get(skin.OpenMotions(out))(t)
		if name := []string{"wave", "wave", "hello"}[i]; len(all) != 1 || all[0].Name != name || all[0].Clip.Frames != 16 {
			t.Fatalf("%d animations, %q", len(all), all[0].Name)
		}
		c := all[0].Clip
		if j := c.Skel.Index("leftUpperArm"); j < 0 || c.Rot[15*c.Skel.Len()+j].Angle(m3.AxisAngle(m3.V(0, 0, 1), 0.6)) > 0.02 {
			t.Errorf("%v: the arm is turned otherwise", args)
		}
	}
}
