package retarget_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	. "mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	tc "mannequin/internal/testing/testcharacter"
	"mannequin/models/person"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// builds are the characters of the tests.
var builds = map[string]tc.Build{
	"same":         {},
	"random axes":  {Frames: 7},
	"dwarf":        {Size: 0.35, Legs: 0.6, Head: 1.5},
	"giant":        {Size: 1.5, Legs: 1.1, Arms: 1.2},
	"toy":          {Size: 0.4, Legs: 0.5, Arms: 0.6, Head: 2.5, Hips: 2, Feet: 1.5},
	"long feet":    {Feet: 1.6},
	"short feet":   {Feet: 0.6},
	"long thighs":  {Thighs: 1.2},
	"legs on root": {LegsOnRoot: true, FeetOnRoot: true, Frames: 3},
	"no toes":      {NoToes: true, Size: 1.1},
	"pelvis above": {PelvisAbove: true, Frames: 4},
	"more spine":   {ExtraInSpine: true, Trunk: 1.5},
}

// recording is the poses of a person of a network, and which feet have contact.
type recording struct {
	sk    *skel.Skeleton
	poses [][]m3.Xform
	stand [][2]bool
}

// walk is a person who walks, runs and stands.
var walk = sync.OnceValues(func() (w recording, err error) {
	world := arche.NewWorld()
	networks, err := person.Open()
	if err != nil {
		return w, err
	}
	stream, err := networks.NewStream(manifold.StreamOptions{Capacity: 1})
	if err != nil {
		return w, err
	}
	people, err := animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)})
	if err != nil {
		return w, err
	}
	defer people.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		return w, err
	}
	path, err := control.Circle(6)
	if err != nil {
		return w, err
	}
	at, ahead := path.At(0)
	e, err := animsys.SpawnWith(people, at, m3.YawOf(ahead), manifold.Curve{Path: path, Speed: 1.4})
	if err != nil {
		return w, err
	}
	curves := generic.NewMap1[manifold.Curve](&world)
	for tick := range 20 * animsys.TickRate {
		switch tick {
		case 480:
			curves.Get(e).Speed = 3
		case 840:
			curves.Get(e).Path = nil
		}
		if err := schedule.Step(); err != nil {
			return w, err
		}
		w.poses = append(w.poses, append([]m3.Xform(nil), people.Bones(e)...))
		w.stand = append(w.stand, [2]bool{people.Ground.Feet[0].Contact(), people.Ground.Feet[1].Contact()})
	}
	w.sk = people.Skel
	return w, nil
})

// each runs a test for each build.
func each(t *testing.T, do func(t *testing.T, w recording, o Options, c *Character)) {
	w := must.Get(walk())(t)
	for name, b := range builds {
		t.Run(name, func(t *testing.T) {
			o := tc.Options(t, w.sk, tc.Stands(w.sk), b)
			do(t, w, o, must.Get(New(o))(t))
		})
	}
}

// No bone changes its length, in any pose or between two.
func TestBonesKeepTheirLengths(t *testing.T) {
	each(t, func(t *testing.T, w recording, o Options, c *Character) {
		now, last, between := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
		for f, pose := range w.poses {
			copy(last, now)
			c.Pose(now, pose, [2]float32{float32(f%3) / 2, 1}, nil, nil)
			c.Interpolate(between, last, now, 0.4)
			for j, p := range c.Skel.Parents {
				if p < 0 || o.Skel.Names[p] == "root" {
					continue // hips, and what hangs on the ground and not on what it follows
				}
				want := c.Rest[j].Pos.Dist(c.Rest[p].Pos)
				for _, m := range [2][]m3.Xform{now, between} {
					if d := m[j].Pos.Dist(m[p].Pos); f > 0 && m3.Abs(d-want) > 2e-5*(1+want) {
						t.Fatalf("frame %d: the bone to %s is %g m long, at rest %g m", f, c.Skel.Names[j], d, want)
					}
				}
			}
		}
	})
}

// standing is the height at which the tips of people's feet stand, m.
const standing = 0.031

// Feet that stand slide by no more than those of the source, in proportion, and stand as high.
func TestFeetStand(t *testing.T) {
	each(t, func(t *testing.T, w recording, o Options, c *Character) {
		now, last := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
		var slide, slideOwn, off float64
		frames, feet := 0, make([]Foot, c.Legs())
		for f, pose := range w.poses {
			copy(last, now)
			c.Pose(now, pose, [2]float32{}, feet, nil)
			for i, leg := range o.Roles.Legs {
				if f == 0 || !w.stand[f][i] || !w.stand[f-1][i] {
					continue
				}
				tip := leg[len(leg)-1]
				if o.From[tip] < 0 {
					continue
				}
				own := o.From[tip]
				frames++
				slide += float64(pose[tip].Pos.Sub(w.poses[f-1][tip].Pos).Flat().Len() * c.Scale)
				slideOwn += float64(now[own].Pos.Sub(last[own].Pos).Flat().Len())
				high := (pose[tip].Pos.Y - o.Pose[tip].Pos.Y) * c.Scale
				if m3.Abs(pose[tip].Pos.Y-standing) > 0.005 {
					continue // it stands on its heel
				}
				off = math.Max(off, math.Abs(float64(now[own].Pos.Y-c.Rest[own].Pos.Y-high)))
			}
		}
		if frames == 0 {
			return // without toes
		}
		n := float64(frames) / 100 / 60
		t.Logf("size %.2f: %d frames, feet slide by %.2f cm/s, scaled source %.2f; heights within %.2f cm", c.Scale, frames, slideOwn/n, slide/n, 100*off)
		if slideOwn > 1.2*slide {
			t.Errorf("feet slide by %.2f cm/s, those of the scaled source by %.2f", slideOwn/n, slide/n)
		}
		if off > 0.01 {
			t.Errorf("a foot stands %.1f cm too high or too low", 100*off)
		}
	})
}

// Bodies of the same build move alike, whatever the frames, names and parents of their joints.
func TestSameBody(t *testing.T) {
	w := must.Get(walk())(t)
	plain := tc.New(t, w.sk, tc.Stands(w.sk), tc.Build{Frames: 7})
	want := make([]m3.Xform, plain.Len())
	for name, b := range map[string]tc.Build{"other axes": {Frames: 8}, "legs on root": {LegsOnRoot: true}, "feet on root": {FeetOnRoot: true, Frames: 9}} {
		c := tc.New(t, w.sk, tc.Stands(w.sk), b)
		got := make([]m3.Xform, c.Len())
		worst := float32(0)
		for _, pose := range w.poses {
			plain.Pose(want, pose, [2]float32{}, nil, nil)
			c.Pose(got, pose, [2]float32{}, nil, nil)
			for j, own := range plain.Skel.Names {
				worst = max(worst, got[c.Skel.Index(own)].Pos.Dist(want[j].Pos))
			}
		}
		if worst > 1e-4 {
			t.Errorf("%s: joints are up to %g m elsewhere", name, worst)
		}
	}
	// Nor does it move much differently from the source, and not at all if it has the source's frames.
	for name, c := range map[string]struct {
		b    tc.Build
		most float32
	}{"own axes": {tc.Build{Frames: 7}, 0.06}, "the source's": {tc.Build{}, 0.015}} {
		ch, worst, joint := tc.New(t, w.sk, tc.Stands(w.sk), c.b), float32(0), 0
		for _, pose := range w.poses {
			ch.Pose(want, pose, [2]float32{}, nil, nil)
			for j := range pose {
				if d := want[j].Pos.Dist(pose[j].Pos); d > worst {
					worst, joint = d, j
				}
			}
		}
		if t.Logf("%s: within %.2f cm of the source", name, 100*worst); worst > c.most {
			t.Errorf("%s: %s is %g m from the source", name, w.sk.Names[joint], worst)
		}
	}
}

// A turn and a way of the source turn and move the character.
func TestTurned(t *testing.T) {
	each(t, func(t *testing.T, w recording, _ Options, c *Character) {
		by := m3.Xform{Pos: m3.V(3, 0, -2), Rot: m3.YawQuat(2)}
		to := m3.Xform{Pos: by.Pos.Scale(c.Scale), Rot: by.Rot}
		src, a, b := make([]m3.Xform, c.Source().Len()), make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
		for f := 0; f < len(w.poses); f += 100 {
			for j, x := range w.poses[f] {
				src[j] = by.Mul(x)
			}
			c.Pose(a, w.poses[f], [2]float32{}, nil, nil)
			c.Pose(b, src, [2]float32{}, nil, nil)
			for j := range a {
				if want := to.Mul(a[j]); want.Pos.Dist(b[j].Pos) > 1e-4 || want.Rot.Angle(b[j].Rot) > 1e-3 {
					t.Fatalf("frame %d: %s is at %v, want %v", f, c.Skel.Names[j], b[j], want)
				}
			}
		}
	})
}

// A hand that reaches is where the source's is, unless the arm is too short; half of the way it is between.
func TestHands(t *testing.T) {
	each(t, func(t *testing.T, w recording, o Options, c *Character) {
		dst := make([]m3.Xform, c.Len())
		knuckles, hand := w.sk.Index("LeftHandIndex1"), w.sk.Index("LeftHand")
		for f := 0; f < len(w.poses); f += 30 {
			place := func(share float32) m3.Vec3 {
				c.Pose(dst, w.poses[f], [2]float32{share, 0}, nil, nil)
				return dst[o.From[knuckles]].Pos
			}
			want, free, half, there := w.poses[f][knuckles].Pos.Scale(c.Scale), place(0), place(0.5), place(1)
			arm := dst[o.From[w.sk.Index("LeftArm")]].Pos
			long := dst[o.From[w.sk.Index("LeftForeArm")]].Pos.Dist(arm) + dst[o.From[w.sk.Index("LeftForeArm")]].Pos.Dist(dst[o.From[hand]].Pos)
			wrist := want.Sub(there).Add(dst[o.From[hand]].Pos)
			if wrist.Dist(arm) < 0.98*long && there.Dist(want) > 1e-3 {
				t.Fatalf("frame %d: the hand is %g m from its place", f, there.Dist(want))
			}
			if half.Dist(there) > free.Dist(there)+1e-4 {
				t.Fatalf("frame %d: half of the way it is further off, %g m, than before, %g m", f, half.Dist(there), free.Dist(there))
			}
		}
	})
}

// Joints do not jerk that do not jerk in the source: knees and elbows do not flip.
func TestNoFlips(t *testing.T) {
	each(t, func(t *testing.T, w recording, o Options, c *Character) {
		now, last := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
		feet := make([]Foot, c.Legs())
		for f, pose := range w.poses {
			copy(last, now)
			c.Pose(now, pose, [2]float32{1, 0}, feet, nil)
			for j, k := range o.From {
				if f == 0 || k < 0 {
					continue
				}
				source, own := pose[j].Rot.Angle(w.poses[f-1][j].Rot), now[k].Rot.Angle(last[k].Rot)
				if own > 2*source+0.15 {
					t.Fatalf("frame %d: %s turns by %g rad, that of the source by %g", f, c.Skel.Names[k], own, source)
				}
			}
		}
	})
}

// Options that do not fit are refused with the reason.
func TestNewErrors(t *testing.T) {
	w := must.Get(walk())(t)
	for want, spoil := range map[string]func(o *Options){
		"is missing":             func(o *Options) { o.Source = nil },
		"transforms in Pose":     func(o *Options) { o.Pose = o.Pose[1:] },
		"transforms for":         func(o *Options) { o.Rest = o.Rest[1:] },
		"no pair of legs":        func(o *Options) { o.Roles.Legs = nil },
		"no joint plays LeftLeg": func(o *Options) { o.From[w.sk.Index("LeftLeg")] = -1 },
		"and there are":          func(o *Options) { o.From[2] = 900 },
		"plays two":              func(o *Options) { o.From[2] = o.From[3] },
		"not finite":             func(o *Options) { o.Rest[3].Pos.X = float32(math.NaN()) },
		"has no length":          func(o *Options) { o.Rest[o.From[w.sk.Index("LeftLeg")]] = o.Rest[o.From[w.sk.Index("LeftFoot")]] },
		"is above and below": func(o *Options) {
			a, b := w.sk.Index("LeftUpLeg"), w.sk.Index("LeftFoot")
			o.From[a], o.From[b] = o.From[b], o.From[a]
		},
	} {
		o := tc.Options(t, w.sk, tc.Stands(w.sk), tc.Build{})
		spoil(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A source that is not finite does not panic, and the next pose is sound.
func TestNotFinite(t *testing.T) {
	each(t, func(t *testing.T, w recording, _ Options, c *Character) {
		bad, dst := append([]m3.Xform(nil), w.poses[0]...), make([]m3.Xform, c.Len())
		for j := range bad {
			bad[j].Pos.X, bad[j].Rot.W = float32(math.NaN()), float32(math.Inf(1))
			c.Pose(dst, bad, [2]float32{1, 1}, nil, nil)
		}
		c.Pose(dst, w.poses[0], [2]float32{}, nil, nil)
		for j, x := range dst {
			if !x.Pos.Finite() || !x.Rot.Finite() {
				t.Fatalf("%s is at %v", c.Skel.Names[j], x)
			}
		}
	})
}

// A clip is the poses of its frames.
func TestClip(t *testing.T) {
	w := must.Get(walk())(t)
	c := tc.New(t, w.sk, tc.Stands(w.sk), builds["toy"])
	clip := skel.NewClip(w.sk, 60, 20)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		w.sk.ModelToLocal(pos, rot, w.poses[300+f])
	}
	out := must.Get(c.Clip(clip))(t)
	got, want, feet := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len()), make([]Foot, c.Legs())
	for f := range clip.Frames {
		out.Model(got, f)
		c.Pose(want, w.poses[300+f], [2]float32{}, feet, nil)
		for j := range got {
			if d := got[j].Pos.Dist(want[j].Pos); d > 1e-4 {
				t.Fatalf("frame %d: %s is %g m elsewhere", f, c.Skel.Names[j], d)
			}
		}
	}
	if _, err := c.Clip(out); err == nil {
		t.Error("a clip of another skeleton: accepted")
	}
}

func BenchmarkPose(b *testing.B) {
	w := must.Get(walk())(b)
	for _, n := range []string{"same", "toy", "legs on root"} {
		c := tc.New(b, w.sk, tc.Stands(w.sk), builds[n])
		dst := make([]m3.Xform, c.Len())
		b.Run(fmt.Sprintf("%s/joints=%d", strings.ReplaceAll(n, " ", "-"), c.Len()), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				c.Pose(dst, w.poses[i%len(w.poses)], [2]float32{1, 1}, nil, nil)
			}
		})
	}
}
