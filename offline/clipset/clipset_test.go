package clipset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/label"
	"mannequin/offline/mocap"
	"mannequin/offline/procgen"
)

// folder writes clips as BVH files, and returns their folder.
func folder(t testing.TB, clips map[string]*skel.Clip) string {
	t.Helper()
	dir := t.TempDir()
	for name, c := range clips {
		var b bytes.Buffer
		must.Do(t, mocap.WriteClip(&b, c))
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".bvh"), b.Bytes(), 0o644))
	}
	return dir
}

func made(t testing.TB) []*procgen.Take {
	return must.Get(procgen.Generate(procgen.Options{Minutes: 3}))(t)
}

func byName(takes []*procgen.Take) map[string]*skel.Clip {
	out := map[string]*skel.Clip{}
	for _, k := range takes {
		out[k.Name] = k.Clip
	}
	return out
}

// A folder of a dog's clips becomes a set in which frames show what their labels say, and a database.
func TestOpen(t *testing.T) {
	takes := made(t)
	s := must.Get(Open(folder(t, byName(takes)), Options{}))(t)
	if s.Kind != anatomy.FourLegs || len(s.Roles.Legs) != 4 || len(s.Clips) != len(takes) || math.Abs(float64(s.Size)-1) > 0.15 {
		t.Fatalf("a %s on %d legs in %d clips, %.2f of a dog's size; want four legs in %d", s.Kind, len(s.Roles.Legs), len(s.Clips), s.Size, len(takes))
	}
	same, all := 0, 0
	for _, c := range s.Clips {
		i := slices.IndexFunc(takes, func(k *procgen.Take) bool { return k.Name == c.Name })
		for f, a := range takes[i].Labels().Actions() {
			if all++; f < len(c.Actions) && (c.Actions[f] == a) {
				same++
			}
		}
	}
	if share := float64(same) / float64(all); share < 0.85 {
		t.Errorf("%.1f %% of frames show what their labels say, want 85 %%", 100*share)
	}
	n := len(s.Clips)
	if !s.Mirror() || len(s.Clips) != 2*n {
		t.Errorf("%d clips, mirrored %d", n, len(s.Clips))
	}
	d := must.Get(s.Database())(t)
	frames := 0
	for _, c := range s.Clips {
		frames += c.Motion.Frames
	}
	if d.Frames() != frames || !slices.Contains(d.Tags, "sit") {
		t.Errorf("a database of %d frames with the tags %v, want %d", d.Frames(), d.Tags, frames)
	}
}

// beside returns a clip with two characters, of which only the moving ones move.
func beside(c *skel.Clip, first, second bool) *skel.Clip {
	n := c.Skel.Len()
	sk := &skel.Skeleton{}
	for i := range 2 {
		for j, p := range c.Skel.Parents {
			if p >= 0 {
				p += int16(i * n)
			}
			sk.Names, sk.Parents = append(sk.Names, strings.Repeat("Other", i)+c.Skel.Names[j]), append(sk.Parents, p)
			sk.Offsets, sk.EndSite = append(sk.Offsets, c.Skel.Offsets[j]), append(sk.EndSite, c.Skel.EndSite[j])
		}
	}
	out := skel.NewClip(sk, c.FPS, c.Frames)
	for f := range c.Frames {
		pos, rot := out.Frame(f)
		for i, moving := range []bool{first, second} {
			k := 0
			if moving {
				k = f
			}
			p, r := c.Frame(k)
			copy(pos[i*n:], p)
			copy(rot[i*n:], r)
		}
		for j := n; j < 2*n; j++ {
			if sk.Parents[j] < 0 {
				pos[j].X += 2
			}
		}
	}
	return out
}

// Of two characters in a file the clips are those of the first, and the others are told.
func TestTwoCharacters(t *testing.T) {
	c := made(t)[0].Clip
	dir := folder(t, map[string]*skel.Clip{"a": beside(c, true, true), "b": beside(c, false, true), "c": beside(c, true, false)})
	s := must.Get(Open(dir, Options{}))(t)
	if s.Kind != anatomy.FourLegs || len(s.Clips) != 2 || s.Skel.Index("Other"+c.Skel.Names[0]) >= 0 || s.Skel.Index(c.Skel.Names[0]) < 0 {
		t.Errorf("a %s in %d clips with the joints %v", s.Kind, len(s.Clips), s.Skel.Names)
	}
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, "a.bvh has 2 characters") || !strings.Contains(notes, "--root takes another") || !strings.Contains(notes, "1 clips move another character only, and are left out: b") {
		t.Errorf("notes %q", notes)
	}
	s = must.Get(Open(dir, Options{OpenOptions: mocap.OpenOptions{Root: "Other" + c.Skel.Names[0]}}))(t)
	if s.Skel.Index("Other"+c.Skel.Names[0]) < 0 || s.Skel.Index(c.Skel.Names[0]) >= 0 {
		t.Errorf("joints %v", s.Skel.Names)
	}
}

// The same motion of a larger skeleton in other units and axes, with other names and under joints above the hips,
// is the same within a centimetre for each metre of leg.
func TestDialects(t *testing.T) {
	takes := slices.DeleteFunc(made(t), func(k *procgen.Take) bool {
		return !strings.HasPrefix(k.Name, "walk") && !strings.HasPrefix(k.Name, "trot")
	})
	plain := must.Get(Open(folder(t, byName(takes)), Options{}))(t)
	names := strings.NewReplacer("UpLeg", "Thigh", "Leg", "Calf", "ForeArm", "LowerForeleg", "Arm", "UpperForeleg", "Hand", "FrontPaw", "Foot", "HindPaw", "Left", "L_", "Right", "R_", "Hips", "pelvis")
	for name, change := range map[string]func(c *skel.Clip) *skel.Clip{
		"names": func(c *skel.Clip) *skel.Clip {
			sk := *c.Skel
			sk.Names = slices.Clone(sk.Names)
			for j, n := range sk.Names {
				sk.Names[j] = "rig_" + names.Replace(n)
			}
			c.Skel = &sk
			return c
		},
		"2.5 times as large": func(c *skel.Clip) *skel.Clip { return c.Scaled(2.5) },
		"half as large, cm":  func(c *skel.Clip) *skel.Clip { return c.Scaled(50) },
		"z up": func(c *skel.Clip) *skel.Clip {
			turn := m3.AxisAngle(m3.V(1, 0, 0), math.Pi/2)
			return turned(c, turn)
		},
		"facing aside":      func(c *skel.Clip) *skel.Clip { return turned(c, m3.YawQuat(math.Pi/2)) },
		"another rest pose": restingOtherwise,
	} {
		clips := byName(takes)
		for n, c := range clips {
			copied := *c
			clips[n] = change(&copied)
		}
		s, err := Open(folder(t, clips), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		worst := 0.0
		a, b := make([]m3.Xform, plain.Skel.Len()), make([]m3.Xform, s.Skel.Len())
		for i, c := range plain.Clips {
			// Where a clip begins and faces does not matter.
			var back, there m3.Xform
			for f := range c.Motion.Frames {
				c.Motion.Model(a, f)
				s.Clips[i].Motion.Model(b, f)
				if f == 0 {
					back, there = start(a, plain), start(b, s)
				}
				for _, l := range [][]int{{0, 0}, {plain.Roles.Neck, s.Roles.Neck}, {tip(plain, 0), tip(s, 0)}, {tip(plain, 3), tip(s, 3)}} {
					worst = max(worst, float64(back.Apply(a[l[0]].Pos).Dist(there.Apply(b[l[1]].Pos))))
				}
			}
		}
		if worst > 0.01*plain.leg {
			t.Errorf("%s: joints are up to %.1f mm elsewhere, want %.1f", name, 1000*worst, 10*plain.leg)
		}
	}
}

func tip(s *Set, leg int) int { l := s.Roles.Legs[leg]; return l[len(l)-1] }

// start returns what moves a pose to the origin, facing +Z.
func start(model []m3.Xform, s *Set) m3.Xform {
	ahead := model[s.Roles.Neck].Pos.Sub(model[0].Pos)
	return m3.Xform{Pos: model[0].Pos.Flat(), Rot: m3.YawQuat(m3.YawOf(ahead))}.Inv()
}

// turned returns a clip whose world is turned.
func turned(c *skel.Clip, by m3.Quat) *skel.Clip {
	sk := *c.Skel
	sk.Offsets = slices.Clone(sk.Offsets)
	out := *c
	out.Skel, out.Pos, out.Rot = &sk, slices.Clone(c.Pos), slices.Clone(c.Rot)
	for j, o := range sk.Offsets {
		sk.Offsets[j] = by.Rotate(o)
	}
	for i := range out.Pos {
		out.Pos[i], out.Rot[i] = by.Rotate(out.Pos[i]), by.Mul(out.Rot[i]).Mul(by.Conj())
	}
	return &out
}

// restingOtherwise returns the same motion of a skeleton whose joints are turned at rest, by up to 23°.
func restingOtherwise(c *skel.Clip) *skel.Clip {
	sk := *c.Skel
	n := sk.Len()
	sk.Offsets = slices.Clone(sk.Offsets)
	by := slices.Repeat([]m3.Quat{m3.Ident}, n)
	out := *c
	out.Skel, out.Pos, out.Rot = &sk, slices.Clone(c.Pos), slices.Clone(c.Rot)
	for j, p := range sk.Parents {
		if p < 0 {
			continue
		}
		by[j] = m3.AxisAngle(m3.V(float32(j%3-1), float32(j%2), float32(j%5-2)).Normalize(m3.Up), 0.4*float32(j%7-3)/3)
		back := by[p].Conj()
		sk.Offsets[j] = back.Rotate(sk.Offsets[j])
		for f := range c.Frames {
			pos, rot := out.Frame(f)
			pos[j], rot[j] = back.Rotate(pos[j]), back.Mul(rot[j]).Mul(by[j])
		}
	}
	return &out
}

// A clip in place gets the speed that its feet say.
func TestInPlace(t *testing.T) {
	takes := slices.DeleteFunc(made(t), func(k *procgen.Take) bool { return !strings.HasPrefix(k.Name, "trot") })
	clips := map[string]*skel.Clip{}
	var want float64
	for _, k := range takes[:1] {
		p := k.Parts[slices.IndexFunc(k.Parts, func(p procgen.Part) bool { return p.Name == "trot" })]
		c := k.Clip.Section(p.From, min(p.From+120, p.To))
		first, last := c.Pos[0], c.Pos[(c.Frames-1)*c.Skel.Len()]
		v := last.Sub(first).Flat().Scale(1 / float32(c.Frames-1))
		want = float64(v.Len()) * FPS
		c.Pos = slices.Clone(c.Pos)
		for f := range c.Frames {
			c.Pos[f*c.Skel.Len()] = c.Pos[f*c.Skel.Len()].Sub(v.Scale(float32(f)))
		}
		clips["Trot_InPlace"] = c
	}
	s := must.Get(Open(folder(t, clips), Options{}))(t)
	c := s.Clips[0]
	way := c.Motion.Pos[(c.Motion.Frames-1)*s.Skel.Len()].Sub(c.Motion.Pos[0]).Flat()
	got := float64(way.Len()*s.Size) * FPS / float64(c.Motion.Frames-1)
	if !c.InPlace || math.Abs(got/want-1) > 0.1 {
		t.Errorf("in place %v, at %.2f m/s, want %.2f", c.InPlace, got, want)
	}
}

// Clips that end as they begin are loops.
func TestLoops(t *testing.T) {
	sk := procgen.Skeleton()
	c := skel.NewClip(sk, FPS, 61)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[0].Y += 0.05 * m3.Sin(float32(f)*2*math.Pi/60)
		pos[0].Z += 0.01 * float32(f)
		rot[sk.Index("Spine")] = m3.AxisAngle(m3.V(1, 0, 0), 0.3*m3.Sin(float32(f)*2*math.Pi/60))
	}
	half := c.Section(0, 45) // its hips are at their lowest, and turn back
	half.Pos = slices.Clone(half.Pos)
	s := must.Get(Open(folder(t, map[string]*skel.Clip{"a": c, "b": half}), Options{}))(t)
	if !s.Clips[0].Loop || s.Clips[1].Loop {
		t.Errorf("loops: %v and %v, want the first alone", s.Clips[0].Loop, s.Clips[1].Loop)
	}
}

// Files of the same skeleton may come from formats without End Sites and in another unit: the clips are as large.
func TestMixedFormats(t *testing.T) {
	takes := made(t)
	walk := takes[slices.IndexFunc(takes, func(k *procgen.Take) bool { return strings.HasPrefix(k.Name, "walk") })].Clip
	sk, keep := &skel.Skeleton{}, []int{}
	at := make([]int16, walk.Skel.Len())
	for j, p := range walk.Skel.Parents {
		if walk.Skel.EndSite[j] {
			continue
		}
		if p >= 0 {
			p = at[p]
		}
		at[j] = int16(sk.Len())
		sk.Names, sk.Parents = append(sk.Names, walk.Skel.Names[j]), append(sk.Parents, p)
		sk.Offsets, sk.EndSite, keep = append(sk.Offsets, walk.Skel.Offsets[j]), append(sk.EndSite, false), append(keep, j)
	}
	bare := skel.NewClip(sk, walk.FPS, walk.Frames)
	for f := range walk.Frames {
		pos, rot := walk.Frame(f)
		to, turned := bare.Frame(f)
		for i, j := range keep {
			to[i], turned[i] = pos[j], rot[j]
		}
	}
	of := must.Get(newRig(&mocap.Recording{Clip: walk}, Options{}))(t)
	b := &mocap.Recording{Clip: bare.Scaled(100)}
	if missing := of.fits(b); missing != "" {
		t.Fatalf("it lacks %q", missing)
	}
	want, got := of.clip(source{"a", "a", &mocap.Recording{Clip: walk}}).Motion, of.clip(source{"b", "b", b}).Motion
	x, y := make([]m3.Xform, want.Skel.Len()), make([]m3.Xform, want.Skel.Len())
	for f := range want.Frames {
		want.Model(x, f)
		got.Model(y, f)
		for j := range x {
			if d := x[j].Pos.Dist(y[j].Pos); d > 1e-3 {
				t.Fatalf("frame %d: %s is %.1f cm off", f, want.Skel.Names[j], 100*d)
			}
		}
	}
}

// Some exporters say that a skeleton rests as it stands in the first frame of each file: clips are the same, whatever the rest.
func TestRestOfEachFile(t *testing.T) {
	takes := made(t)
	walk := takes[slices.IndexFunc(takes, func(k *procgen.Take) bool { return strings.HasPrefix(k.Name, "walk") })].Clip
	resting := func(f int) *mocap.Recording {
		rest := make([]m3.Xform, walk.Skel.Len())
		walk.Model(rest, f)
		return &mocap.Recording{Clip: walk, Rest: rest}
	}
	first, other := resting(0), resting(20)
	of := must.Get(newRig(first, Options{}))(t)
	want, got := of.clip(source{"a", "a", first}).Motion, of.clip(source{"b", "b", other}).Motion
	x, y := make([]m3.Xform, want.Skel.Len()), make([]m3.Xform, want.Skel.Len())
	for f := range want.Frames {
		want.Model(x, f)
		got.Model(y, f)
		for j := range x {
			if d := x[j].Pos.Dist(y[j].Pos); d > 1e-3 {
				t.Fatalf("frame %d: %s is %.1f cm off", f, want.Skel.Names[j], 100*d)
			}
		}
	}
}

// A body without a neck, whose head ends at its joint, as an insect's may, has a trunk all the same.
func TestBareHead(t *testing.T) {
	sk := &skel.Skeleton{}
	add := func(name string, parent int16, o m3.Vec3) int16 {
		sk.Names, sk.Parents, sk.Offsets, sk.EndSite = append(sk.Names, name), append(sk.Parents, parent), append(sk.Offsets, o), append(sk.EndSite, false)
		return int16(sk.Len() - 1)
	}
	add("Root", -1, m3.V(0, 0.5, 0))
	for i := range 3 {
		for side, x := range map[string]float32{"Left": 1, "Right": -1} {
			z := 0.4 - 0.4*float32(i)
			j := add(fmt.Sprintf("%sLeg%d_1", side, i), 0, m3.V(0.1*x, 0, z/2))
			j = add(fmt.Sprintf("%sLeg%d_2", side, i), j, m3.V(0.5*x, 0.3, z/2))
			add(fmt.Sprintf("%sLeg%d_3", side, i), j, m3.V(0.6*x, -0.8, z/2))
		}
	}
	add("Head", 0, m3.V(0, 0.05, 0.3))
	of := must.Get(newRig(&mocap.Recording{Clip: skel.NewClip(sk, FPS, 60)}, Options{}))(t)
	if len(of.roles.Spine) != 2 || of.roles.Neck < 0 || of.skel.Validate() != nil || of.skel.Offsets[of.roles.Neck].Z < 0.1 {
		t.Errorf("%+v of %v", of.roles, of.skel.Names)
	}
}

func TestRefuses(t *testing.T) {
	takes := made(t)
	walk := takes[slices.IndexFunc(takes, func(k *procgen.Take) bool { return strings.HasPrefix(k.Name, "walk") })].Clip
	other := *walk
	sk := *walk.Skel
	sk.Names = slices.Clone(sk.Names)
	sk.Names[3] = "Throat"
	other.Skel = &sk
	still := skel.NewClip(walk.Skel, FPS, 120)
	for want, dir := range map[string]string{
		"no clips":      t.TempDir(),
		"no such file":  filepath.Join(t.TempDir(), "none"),
		"two skeletons": folder(t, map[string]*skel.Clip{"a": walk, "b": &other}),
		"no legs were":  folder(t, map[string]*skel.Clip{"a": skel.NewClip(&skel.Skeleton{Names: []string{"a", "b"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, m3.V(0, 1, 0)}, EndSite: []bool{false, true}}, FPS, 60)}),
	} {
		_, err := Open(dir, Options{})
		must.FailWith(t, err, want)
	}
	millis := folder(t, map[string]*skel.Clip{"a": walk})
	text := must.Get(os.ReadFile(filepath.Join(millis, "a.bvh")))(t)
	must.Do(t, os.WriteFile(filepath.Join(millis, "a.bvh"), regexp.MustCompile("Frame Time: .*").ReplaceAll(text, []byte("Frame Time: 16.7")), 0o644))
	_, err := Open(millis, Options{})
	must.FailWith(t, err, "is improbable: in milliseconds it is")
	must.Get(Open(millis, Options{OpenOptions: mocap.OpenOptions{FrameRate: 60}}))(t)
	s := must.Get(Open(folder(t, map[string]*skel.Clip{"idle": still}), Options{}))(t)
	if _, err := s.Database(); !errors.Is(err, ErrNoMotion) {
		t.Errorf("standing alone: %v", err)
	}
}

// Folders of public packs become databases with nothing typed.
func TestPacks(t *testing.T) {
	dir := mocapdata.Dir(t)
	for _, c := range []struct {
		path string
		kind anatomy.Kind
		legs int
	}{
		{"human-o3de", anatomy.TwoLegs, 2}, {"dog", anatomy.FourLegs, 4}, {"kaykit", anatomy.TwoLegs, 2},
		{"mesh2motion/animations/fox-animations.glb", anatomy.FourLegs, 4}, {"mesh2motion/animations/horse-animations.glb", anatomy.FourLegs, 4},
		{"mesh2motion/animations/spider-animations.glb", anatomy.EightLegs, 8}, {"mesh2motion/human/human-base-animations.2025-08-10.glb", anatomy.TwoLegs, 2},
		{"quaternius-glb/animals/Horse.glb", anatomy.FourLegs, 4}, {"quaternius-fbx/Wolf.fbx", anatomy.FourLegs, 4}, {"quaternius-fbx/Animated Human.fbx", anatomy.TwoLegs, 2},
	} {
		path := filepath.Join(dir, filepath.FromSlash(c.path))
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not here", c.path)
			continue
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		d, err := s.Database()
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		names, seconds := s.Actions()
		for _, a := range names {
			if _, ok := d.Action(a); !ok && a != label.Pose && seconds[a] > 0.5 {
				t.Errorf("%s: %.1f s show %s, which no goal can ask for", c.path, seconds[a], a)
			}
		}
		line := ""
		for _, n := range names {
			line += fmt.Sprintf(" %s %.0f s", n, seconds[n])
		}
		t.Logf("%s: %s, %d clips, %d frames, %.2f times a usual size:%s", c.path, s.Kind, len(s.Clips), d.Frames(), s.Size, line)
		if s.Kind != c.kind || len(s.Roles.Legs) != c.legs || seconds[label.Move] == 0 || seconds[label.Idle] == 0 {
			t.Errorf("%s: a %s on %d legs,%s", c.path, s.Kind, len(s.Roles.Legs), line)
		}
	}
}
