package mocap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// rig is a character's skeleton with names of all kinds, leaves and a joint that moves in its parent.
func rig() *skel.Clip {
	s := &skel.Skeleton{
		Names:   []string{"Bip01 Pelvis", "Bein {links} 左", "Bein_(links)_左", "ns:Hand.L", "", "Tip", "Prop\tA", "Prop A"},
		Parents: []int16{-1, 0, 1, 0, 3, 3, -1, 6},
		Offsets: []m3.Vec3{{Y: 1}, {X: 0.1}, {Y: -0.4}, {X: -0.1, Z: 0.2}, {}, {Z: 0.2}, {X: 3}, {X: 0.3}},
		EndSite: []bool{5: true, 6: false, 7: false},
	}
	c := skel.NewClip(s, 30, 20)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		for j := range rot {
			if x := float32(f)*0.3 + float32(j); !s.EndSite[j] {
				rot[j] = m3.FromRotationVector(m3.V(2*m3.Sin(x), 3*m3.Cos(x), x))
			}
		}
		pos[0] = m3.V(0.1*float32(f), 1, -2)
		pos[6].Y = 0.2 * float32(f)
		pos[7].X = 0.3 + 0.01*float32(f)
	}
	return c
}

// What is written of any rig is read with the same places of joints, and so again.
func TestPortable(t *testing.T) {
	want := rig()
	c, renamed := Portable(want)
	if len(renamed) != 6 || renamed["Bip01 Pelvis"] != "Bip01_Pelvis" || renamed["Prop A"] != "Prop_A_2" || renamed["Bein_(links)_左"] != "Bein_(links)_左_2" {
		t.Errorf("%v", renamed)
	}
	var text bytes.Buffer
	must.Do(t, WriteClip(&text, c))
	b := must.Get(ReadBVH("rig.bvh", text.Bytes()))(t)
	names := []string{"Bip01_Pelvis", "Bein_(links)_左", "Bein_(links)_左_2", "Bein_(links)_左_2Site", "ns:Hand.L", "joint", "jointSite", "Tip", "Prop_A", "Prop_A_2", "Prop_A_2Site"}
	wantNames := slices.Clone(names)
	wantNames[7] = "ns:Hand.LSite" // an End Site has its parent's name
	if !slices.Equal(c.Skel.Names, names) || !slices.Equal(b.Clip.Skel.Names, wantNames) || len(b.Notes) > 0 {
		t.Fatalf("%q, read as %q; %v", c.Skel.Names, b.Clip.Skel.Names, b.Notes)
	}
	if o := b.Clip.Skel.Offsets; o[0] != (m3.Vec3{}) || o[8] != (m3.Vec3{}) || o[3].Dist(m3.V(0, -0.2, 0)) > 1e-6 || o[6].Len() == 0 {
		t.Errorf("offsets %v", o)
	}
	samePlaces(t, want, b.Clip, []int{0, 1, 2, 4, 5, 7, 8, 9})
	again, renamed := Portable(b.Clip)
	if len(renamed) > 0 || again.Skel.Len() != b.Clip.Skel.Len() {
		t.Errorf("again: %v, %d joints", renamed, again.Skel.Len())
	}
}

// samePlaces compares the places of joints in two clips; at[j] is the second's joint.
func samePlaces(t *testing.T, a, b *skel.Clip, at []int) {
	t.Helper()
	x, y := make([]m3.Xform, a.Skel.Len()), make([]m3.Xform, b.Skel.Len())
	for f := range a.Frames {
		a.Model(x, f)
		b.Model(y, f)
		for j, k := range at {
			if d := x[j].Pos.Dist(y[k].Pos); d > 1e-4 {
				t.Errorf("frame %d: %q is %g m off", f, a.Skel.Names[j], d)
			}
		}
	}
}

// Blender shows the joints of a rig's BVH where the clip has them.
func TestPortableInBlender(t *testing.T) {
	if _, err := exec.LookPath("blender"); err != nil {
		t.Skip("blender is not installed")
	}
	c, _ := Portable(rig())
	path := filepath.Join(t.TempDir(), "rig.bvh")
	var text bytes.Buffer
	must.Do(t, WriteClip(&text, c))
	must.Do(t, os.WriteFile(path, text.Bytes(), 0o644))
	frames := []int{0, 7, 19}
	args := []string{"-b", "-P", filepath.Join("testdata", "blender_bvh.py"), "--", path}
	for _, f := range frames {
		args = append(args, fmt.Sprint(f))
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
		t.Fatalf("%d poses, %v: %s", len(poses), err, out)
	}
	model := make([]m3.Xform, c.Skel.Len())
	for k, f := range frames {
		c.Model(model, f)
		for j, name := range c.Skel.Names {
			at, ok := poses[k][name]
			if c.Skel.EndSite[j] {
				continue
			}
			if !ok {
				t.Fatalf("no bone %q: %v", name, poses[k])
			}
			if d := m3.V(at[0], at[1], at[2]).Dist(model[j].Pos); d > 1e-4 {
				t.Errorf("frame %d: %s is %g m off", f, name, d)
			}
		}
	}
}

// A name that is too long is cut.
func TestPortableLongName(t *testing.T) {
	c := rig()
	c.Skel.Names[1] = strings.Repeat("左", 1000)
	c, _ = Portable(c)
	must.Do(t, WriteClip(&bytes.Buffer{}, c))
}
