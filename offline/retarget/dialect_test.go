package retarget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// dialect is a way of writing one and the same motion into a file.
type dialect struct {
	rest     string  // pose at rest: T, A, down, palms ahead, or bones: each along an axis of its joint; random
	bone     m3.Vec3 // the axis of bones
	up       string  // y or z
	unit     float32 // of length, metres
	faces    float32 // turn about the vertical axis, rad
	flip     string  // the axis that is turned round, for left-handed files: x, z or none
	names    func(string) string
	reversed bool // children in reverse order
	seed     uint64
}

func (d dialect) String() string {
	return fmt.Sprintf("rest %s %v, up %s, unit %g, facing %.0f°, flipped %q, reversed %v, seed %d", d.rest, d.bone, d.up, d.unit, d.faces*180/math.Pi, d.flip, d.reversed, d.seed)
}

// frames returns the rotation of each joint's frame against the frame it has in a T-pose whose frames
// have the world's axes.
func (d dialect) frames(s *skel.Skeleton) []m3.Quat {
	out := make([]m3.Quat, s.Len())
	rng := rand.New(rand.NewPCG(d.seed, 6))
	for j, name := range s.Names {
		p := s.Parents[j]
		out[j] = m3.Ident
		switch d.rest {
		case "random":
			v := func() float32 { return float32(rng.NormFloat64()) }
			out[j] = m3.Quat{X: v(), Y: v(), Z: v(), W: v()}.Normalize()
		case "bones":
			// Along the bone to the first child; ends are their parents'.
			if k := slices.Index(s.Parents, int16(j)); k >= 0 && s.Offsets[k].Len() > 0 {
				out[j] = m3.Between(d.bone, s.Offsets[k].Normalize(m3.Up))
			} else if p >= 0 {
				out[j] = out[p]
			}
		case "T":
		default:
			if p >= 0 {
				out[j] = out[p]
			}
			side := float32(1)
			if strings.HasPrefix(name, "Right") {
				side = -1
			}
			// Rotations about z lower the left arm if they are negative; at rest the frames have the
			// world's axes again.
			lower := map[string]float32{"A": 0.8, "down": 1.4}[d.rest]
			switch strings.TrimPrefix(strings.TrimPrefix(name, "Left"), "Right") {
			case "Arm":
				out[j] = m3.AxisAngle(m3.V(0, 0, 1), side*lower).Mul(out[j])
				if d.rest == "palms ahead" {
					out[j] = m3.AxisAngle(m3.V(1, 0, 0), math.Pi/2)
				}
			case "UpLeg":
				if d.rest == "A" {
					out[j] = m3.AxisAngle(m3.V(0, 0, 1), -side*0.15).Mul(out[j])
				}
			}
		}
		if s.EndSite[j] {
			out[j] = m3.Ident
		}
	}
	return out
}

// write returns c, whose frames have the world's axes in a T-pose, in the dialect.
func (d dialect) write(c *skel.Clip) *skel.Clip {
	out := disguise(c, d.frames(c.Skel), 1/d.unit)
	turn := m3.YawQuat(d.faces)
	if _, up, ok := mocap.UpAxis(d.up); ok {
		turn = up.Conj().Mul(turn)
	}
	n := out.Skel.Len()
	for j, p := range out.Skel.Parents {
		if p >= 0 {
			continue
		}
		out.Skel.Offsets[j] = turn.Rotate(out.Skel.Offsets[j])
		for f := range out.Frames {
			out.Pos[f*n+j], out.Rot[f*n+j] = turn.Rotate(out.Pos[f*n+j]), turn.Mul(out.Rot[f*n+j])
		}
	}
	// At rest a file stands as its motion does.
	if d.rest != "random" && d.rest != "bones" {
		out = disguise(out, slices.Repeat([]m3.Quat{turn.Conj()}, n), 1)
	}
	switch d.flip {
	case "x":
		out = mirrored(out)
	case "z":
		out = flipZ(out)
	}
	if d.reversed {
		out = reversed(out)
	}
	s := *out.Skel
	s.Names = make([]string, n)
	for j, name := range out.Skel.Names {
		s.Names[j] = d.names(name)
	}
	out.Skel = &s
	return out
}

// flipZ returns c with z turned round.
func flipZ(c *skel.Clip) *skel.Clip {
	out := mirrored(c)
	half := m3.YawQuat(math.Pi)
	n := out.Skel.Len()
	// A mirror image in z is one in x that is turned by half, frames and all.
	return disguise(turned(out, half), slices.Repeat([]m3.Quat{half.Conj()}, n), 1)
}

// turned returns c turned about the origin.
func turned(c *skel.Clip, q m3.Quat) *skel.Clip {
	out := disguise(c, nil, 1)
	n := out.Skel.Len()
	for i := range out.Pos {
		if out.Skel.Parents[i%n] < 0 {
			out.Pos[i], out.Rot[i] = q.Rotate(out.Pos[i]), q.Mul(out.Rot[i])
		}
	}
	return out
}

// reversed returns c with the children of each joint in reverse order.
func reversed(c *skel.Clip) *skel.Clip {
	n := c.Skel.Len()
	var order []int
	var visit func(j int)
	visit = func(j int) {
		order = append(order, j)
		for k := n - 1; k > j; k-- {
			if int(c.Skel.Parents[k]) == j {
				visit(k)
			}
		}
	}
	visit(0)
	s, at := &skel.Skeleton{}, make([]int16, n)
	for i, j := range order {
		at[j] = int16(i)
		parent := int16(-1)
		if p := c.Skel.Parents[j]; p >= 0 {
			parent = at[p]
		}
		s.Names, s.Parents = append(s.Names, c.Skel.Names[j]), append(s.Parents, parent)
		s.Offsets, s.EndSite = append(s.Offsets, c.Skel.Offsets[j]), append(s.EndSite, c.Skel.EndSite[j])
	}
	out := skel.NewClip(s, c.FPS, c.Frames)
	for f := range c.Frames {
		for i, j := range order {
			out.Pos[f*n+i], out.Rot[f*n+i] = c.Pos[f*n+j], c.Rot[f*n+j]
		}
	}
	return out
}

// numbered returns names that tell nothing.
func numbered() func(string) string {
	n := 0
	return func(string) string {
		n++
		return fmt.Sprintf("joint_%d", n)
	}
}

func same(name string) string   { return name }
func mixamo(name string) string { return "mixamorig:" + name }
func unreal(name string) string {
	for _, side := range []string{"Left", "Right"} {
		if limb, ok := strings.CutPrefix(name, side); ok {
			limb, site := strings.CutSuffix(limb, "Site")
			limb = map[string]string{"UpLeg": "thigh", "Leg": "calf", "Foot": "foot", "ToeBase": "ball", "Shoulder": "clavicle", "Arm": "upperarm", "ForeArm": "lowerarm", "Hand": "hand"}[limb] + "_" + strings.ToLower(side[:1])
			if site {
				limb += "_end"
			}
			return limb
		}
	}
	return map[string]string{"Hips": "pelvis", "Spine": "spine_01", "Spine1": "spine_02", "Spine2": "spine_03", "Neck": "neck_01", "Head": "head", "HeadSite": "head_end"}[name]
}

// opened reads a file of testdata.
func opened(t *testing.T, name string) *skel.Clip {
	t.Helper()
	return must.Get(mocap.Open("../character/testdata/"+name, mocap.OpenOptions{}))(t).Clip
}

// guessed retargets c without a profile.
func guessed(t *testing.T, c *skel.Clip) (*skel.Clip, *Report) {
	t.Helper()
	p, _ := must.Get2(ProfileFor(&mocap.Recording{Clip: c}))(t)
	return run(t, job(c, p))
}

// One walk in many dialects is one motion: every joint within 1 cm in every frame, and within a few
// degrees.
func TestDialects(t *testing.T) {
	plain := opened(t, "rest-tpose-same-motion.bvh").Scaled(0.01)
	base, _ := guessed(t, plain)
	var all []dialect
	add := func(d dialect) {
		if d.up == "" {
			d.up = "y"
		}
		if d.unit == 0 {
			d.unit = 0.01
		}
		if d.names == nil {
			d.names = same
		}
		all = append(all, d)
	}
	for _, rest := range []string{"T", "A", "down", "palms ahead", "bones", "random"} {
		for _, up := range []string{"y", "z"} {
			for quarter := range 4 {
				add(dialect{rest: rest, bone: m3.Up, up: up, faces: float32(quarter) * math.Pi / 2, seed: uint64(quarter)})
			}
			add(dialect{rest: rest, bone: m3.V(1, 0, 0), up: up, unit: 0.0254, flip: "x", names: mixamo, seed: 5})
			add(dialect{rest: rest, bone: m3.V(0, 0, -1), up: up, unit: 1, reversed: true, names: unreal, seed: 6})
			add(dialect{rest: rest, bone: m3.V(-1, 0, 0), up: up, unit: 0.001, faces: 1, reversed: true, flip: "x", names: unreal, seed: 7})
		}
		add(dialect{rest: rest, bone: m3.V(0, -1, 0), flip: "z", faces: math.Pi / 2, seed: 8})
	}
	for seed := range uint64(20) {
		add(dialect{rest: "random", seed: 100 + seed, names: mixamo})
		add(dialect{rest: "random", seed: 200 + seed, names: numbered(), reversed: seed%2 > 0})
	}
	for _, rest := range []string{"T", "A", "down", "bones"} {
		for i, axis := range []m3.Vec3{m3.Up, m3.V(1, 0, 0), m3.V(0, 0, -1), m3.V(-1, 0, 0), m3.V(0, -1, 0)} {
			add(dialect{rest: rest, bone: axis, up: []string{"y", "z"}[i%2], unit: 1, names: numbered(), faces: float32(i%4) * math.Pi / 2, reversed: i%3 > 0})
		}
	}
	for i, up := range mocap.Ups[2:] {
		for _, rest := range []string{"T", "A", "down", "bones", "random"} {
			add(dialect{rest: rest, bone: m3.Up, up: up, unit: []float32{0.01, 1}[i%2], names: mixamo, seed: uint64(i)})
		}
	}
	worst := float32(0)
	for _, d := range all {
		out, rep := guessed(t, d.write(plain))
		want := turned(base, m3.YawQuat(d.faces))
		if d.flip == "z" {
			want = turned(base, m3.YawQuat(math.Pi+d.faces))
		}
		dist, angle := apart(t, out, want)
		worst = max(worst, dist)
		if dist > 0.01 || angle > 0.25 {
			t.Errorf("%s: %.1f cm and %.0f° off; mean %.2f cm, %+v %s %v", d, 100*dist, angle*180/math.Pi, rep.MeanCM, rep.Up, rep.Basis, rep.Mirrored)
		}
		ahead := map[float32]string{0: "z", math.Pi / 2: "x", math.Pi: "-z", 3 * math.Pi / 2: "-x", 1: "x"}[d.faces]
		if d.up == "z" {
			ahead = map[string]string{"z": "-y", "-z": "y"}[ahead] + map[string]string{"x": "x", "-x": "-x"}[ahead]
		}
		if d.flip == strings.TrimPrefix(ahead, "-") {
			ahead = strings.TrimPrefix("-"+ahead, "--")
		}
		if rep.Ahead != ahead && (d.up == "y" || d.up == "z") {
			t.Errorf("%s: faces %s, want %s", d, rep.Ahead, ahead)
		}
		if rep.Up != d.up || rep.Mirrored != (d.flip != "") {
			t.Errorf("%s: up is %s, mirrored %v", d, rep.Up, rep.Mirrored)
		}
	}
	t.Logf("%d dialects within %.2f cm", len(all), 100*worst)
}

// A recording whose joints' frames are turned at random is the same motion: within 8 cm at the tips of
// the head and the hands, elsewhere closer.
func TestDialectsOfRecordings(t *testing.T) {
	dir := mocapdata.Dir(t)
	for _, name := range []string{"cmu-locomotion/02_01.bvh", "cmu-locomotion/09_10.bvh", "cmu-actions/05_14.bvh", "cmu-actions/h21_walk.bvh", "xia/sexy_16_000.bvh", "human-o3de/bvh/Jog1.bvh", "cmu-amc/35_01.amc", "cmu-locomotion/daz43_143_04.bvh"} {
		c := openAny(t, filepath.Join(dir, name))
		c = thin(c.Section(20, c.Frames), 4) // without a rest pose at the start
		base, _ := guessed(t, c)
		d := dialect{rest: "random", up: "z", unit: 1, names: same, flip: "x", seed: 3}
		out, rep := guessed(t, d.write(c))
		if dist, _ := apart(t, out, base); dist > 0.08 || rep.Basis != "motion" || rep.Up != "z" || !rep.Mirrored {
			t.Errorf("%s: %.1f cm off, frames by %s, up %s, mirrored %v", name, 100*dist, rep.Basis, rep.Up, rep.Mirrored)
		}
	}
}

// Files whose rest pose is no pose of a person, made by other code.
func TestRestBonesAlongY(t *testing.T) {
	want, _ := guessed(t, opened(t, "rest-tpose-same-motion.bvh"))
	out, rep := guessed(t, opened(t, "rest-bones-along-y.bvh"))
	if d, a := apart(t, out, want); d > 0.01 || a > 0.1 || rep.Basis != "motion" {
		t.Errorf("%.1f cm and %.2f rad off, by %s", 100*d, a, rep.Basis)
	}
}
