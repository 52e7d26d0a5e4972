package clipset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/label"
	"mannequin/offline/procgen/human"
)

// walker is a set of one walk, as a loop or as a recording of six rounds, and of standing.
func walker(t *testing.T, loop bool) *Set {
	s := pack(t)
	walk := gait(t, s, 0.5, 0)
	if !loop {
		walk = rounds(walk, 6)
	}
	stand := s.Clips[slices.IndexFunc(s.Clips, func(c Clip) bool { return c.Name == "Idle" })]
	s.Clips = []Clip{stand, {Name: "Walk", Motion: walk, Loop: loop, Actions: slices.Repeat([]string{label.Move}, walk.Frames)}}
	return s
}

// rounds returns a loop that is played some times.
func rounds(c *skel.Clip, n int) *skel.Clip {
	out := skel.NewClip(c.Skel, FPS, 0)
	lap, move, joints := root(c, c.Frames-1).Mul(root(c, 0).Inv()), m3.Identity, c.Skel.Len()
	for range n {
		for f := range c.Frames - 1 {
			pos, rot := c.Frame(f)
			x := move.Mul(m3.Xform{Pos: pos[0], Rot: rot[0]})
			out.Pos, out.Rot = append(append(out.Pos, x.Pos), pos[1:]...), append(append(out.Rot, x.Rot), rot[1:joints]...)
			out.Frames++
		}
		move = lap.Mul(move)
	}
	return out
}

// A set of one walk gets loops backward, aside and on the spot, in which the feet stand where they are while the body goes that
// way, at the heights of the walk. A set that has them gets no more.
func TestSteps(t *testing.T) {
	for _, loop := range []bool{true, false} {
		s := walker(t, loop)
		before := len(s.Clips)
		added := must.Get(s.Steps())(t)
		if len(added) != len(s.Clips)-before || len(added) < 9 {
			t.Fatalf("loop %t: %d clips, said to be %q", loop, len(s.Clips)-before, added)
		}
		var back, aside, turns int
		for i := range s.Clips[before:] {
			c := &s.Clips[before+i]
			if c.Name != added[i] || !c.Loop || len(c.Actions) != c.Motion.Frames {
				t.Fatalf("%+v", c)
			}
			ways, _, err := s.ways(c)
			must.Do(t, err)
			switch way := ways[0]; {
			case way == wayBack:
				back++
			case way == wayLeft || way == wayRight:
				aside++
			case way == wayTurnLeft || way == wayTurnRight:
				turns++
			case s.goes(c) > goes*s.leg:
				t.Errorf("%s goes the way %d", c.Name, way)
			}
			// Feet that touch the floor move little: over three rounds, seen in the world.
			m := rounds(c.Motion, 3)
			feet, legs := s.feet(m), len(s.Roles.Legs)
			low, slid, way, worst := 0, float32(0), float32(0), float32(0)
			for f := 1; f < m.Frames; f++ {
				for leg := range legs {
					a, b := feet[(f-1)*legs+leg], feet[f*legs+leg]
					moved := b.Sub(a).Flat().Len() * FPS
					way += moved
					if max(a.Y, b.Y) < 0.012 {
						low++
						slid += moved
					}
					worst = max(worst, moved)
				}
			}
			mean, all := slid/float32(low), way/float32(legs*(m.Frames-1))
			if low < m.Frames*legs/4 || mean > 0.02+all/4 || worst > 3 {
				t.Errorf("%s: %d of %d feet are low, and slide at %.3f m/s; feet move at %.2f m/s, at most %.2f", c.Name, low, m.Frames*legs, mean, all, worst)
			}
		}
		if back == 0 || aside == 0 || turns == 0 {
			t.Errorf("loop %t: %d clips go backward, %d aside, %d turn: %q", loop, back, aside, turns, added)
		}
		if more := must.Get(s.Steps())(t); more != nil {
			t.Errorf("loop %t: %q are added again", loop, more)
		}
	}
	if added := must.Get(pack(t).Steps())(t); added != nil { // it glides
		t.Errorf("steps of no walk: %q", added)
	}
}

// The legs of a person who is made to go aside do not pass through each other, and the feet stand.
func TestStepsAsidePart(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Stand}, Styles: []string{"neutral"}})
	must.Do(t, err)
	clips := map[string]*skel.Clip{}
	for _, k := range takes {
		clips[k.Name] = k.Clip
	}
	s := must.Get(Open(folder(t, clips), Options{}))(t)
	aside := 0
	for _, name := range must.Get(s.Steps())(t) {
		if !strings.Contains(name, "aside") {
			continue
		}
		aside++
		c := s.Clips[slices.IndexFunc(s.Clips, func(c Clip) bool { return c.Name == name })].Motion
		feet, apart := s.feet(c), float32(1)
		for f := range c.Frames {
			apart = min(apart, root(c, f).Rot.Conj().Rotate(feet[2*f].Sub(feet[2*f+1])).X)
		}
		if apart < 0.09*float32(s.leg) {
			t.Errorf("%s: the left foot comes to %.2f m of the right one", name, apart)
		}
		if slides, stands := sliding(s, c, s.stances(c)); slides > 0.4 || !stands {
			t.Errorf("%s: feet that stand slide at up to %.2f m/s; all stand: %t", name, slides, stands)
		}
	}
	if aside == 0 {
		t.Error("no steps aside were made")
	}
}

// Where the clips go backward only fast, slow loops backward are added, and loops of the directions that are missing.
func TestSlowSteps(t *testing.T) {
	s := walker(t, true)
	back := s.Clips[1]
	back.Name, back.Motion = "Back", reversed(back.Motion)
	s.Clips = append(s.Clips, back)
	var backward, aside []string
	for _, name := range must.Get(s.Steps())(t) {
		if strings.Contains(name, "backward") {
			backward = append(backward, name)
		} else if strings.Contains(name, "aside") {
			aside = append(aside, name)
		}
	}
	if len(backward) != 6 || len(aside) == 0 || slices.ContainsFunc(backward, func(name string) bool { return strings.Contains(name, "at 1.0") }) {
		t.Errorf("added: %q, %q", backward, aside)
	}
	if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "goes backward slowly or goes aside") }) {
		t.Errorf("notes: %q", s.Notes)
	}
}

// Where the slowest walk is fast, there are faster steps backward and aside, too.
func TestBriskSteps(t *testing.T) {
	for _, walks := range []float64{1.2, 2} { // times a slow walk
		s := walker(t, true)
		s.Clips[1].Motion = gait(t, s, float32(walks*s.slowWalk()), 0)
		fastest := map[way]float64{}
		must.Get(s.Steps())(t)
		for i := range s.Clips {
			c := &s.Clips[i]
			ways, _, err := s.ways(c)
			must.Do(t, err)
			fastest[ways[0]] = max(fastest[ways[0]], s.goes(c)/s.slowWalk())
		}
		want := 1.0
		if walks > 1.5 {
			want = 1.5
		}
		for _, way := range []way{wayBack, wayLeft} {
			if got := fastest[way]; math.Abs(got-want) > 0.05 {
				t.Errorf("a walk at %g times a slow one has steps that way %d at up to %.2f, want %.1f", walks, way, got, want)
			}
		}
	}
}

// The head looks where a body that turns will face, and bones keep their lengths.
func TestLook(t *testing.T) {
	s := walker(t, true)
	walk := s.Clips[1].Motion
	turning := s.led(walk, m3.Vec3{}, 0.6)
	head := s.Roles.Head
	if len(head) < 2 {
		t.Fatal("the body has no head")
	}
	aims := func(c *skel.Clip, f int) float64 {
		model := make([]m3.Xform, s.Skel.Len())
		c.Model(model, f)
		way := model[head[len(head)-1]].Pos.Sub(model[head[len(head)-2]].Pos)
		return float64(m3.YawOf(root(c, f).Rot.Conj().Rotate(way)))
	}
	for f := range walk.Frames {
		if by := aims(turning, f) - aims(walk, f); math.Abs(by-0.6*0.75) > 0.05 {
			t.Fatalf("frame %d: the head turns by %.2f rad, want %.2f", f, by, 0.6*0.75)
		}
	}
	if !slices.Equal(turning.Pos[1:s.Skel.Len()], walk.Pos[1:s.Skel.Len()]) {
		t.Error("joints have moved against their parents")
	}
}

// Frames of a recording become a loop: its last pose is its first one, and it goes straight.
func TestClosed(t *testing.T) {
	s := walker(t, false)
	c := s.closed(s.curve(s.Clips[1].Motion, 0.2), 7, 50)
	n, end := s.Skel.Len(), c.Frames-1
	for j := 1; j < n; j++ {
		if c.Pos[j].Dist(c.Pos[end*n+j]) > 1e-5 || m3.Abs(c.Rot[j].Dot(c.Rot[end*n+j])) < 1-1e-5 {
			t.Errorf("joint %s ends elsewhere", s.Skel.Names[j])
		}
	}
	if m3.Abs(c.Rot[0].Dot(c.Rot[end*n])) < 1-1e-5 || m3.Abs(c.Pos[0].Y-c.Pos[end*n].Y) > 1e-5 {
		t.Error("the hips end otherwise than they begin")
	}
	if roots := must.Get(matching.Roots(s.Skel, &s.Roles, c))(t); m3.Abs(m3.WrapAngle(roots[0].Yaw-roots[end].Yaw)) > 0.05 {
		t.Errorf("it turns from %.2f to %.2f rad", roots[0].Yaw, roots[end].Yaw)
	}
}

// Recordings that only walk straight, and no loops, are bent into curves of a stride.
func TestBendRecordings(t *testing.T) {
	s := walker(t, false)
	before := len(s.Clips)
	if n := s.Bend(); n < 20 || len(s.Clips) != before+n || !s.bent {
		t.Fatalf("%d clips, said to be %d; want a stride and its curves", len(s.Clips)-before, n)
	}
	var most float64
	for _, c := range s.Clips[before:] {
		if !c.Loop || len(c.Actions) != c.Motion.Frames {
			t.Fatalf("%+v", c)
		}
		most = max(most, s.turned(c.Motion, 0, c.Motion.Frames-1))
	}
	if most < bends[len(bends)-1] {
		t.Errorf("they turn by at most %.2f rad/s", most)
	}
}

// A stride of a walk that is faster than a slow one does.
func TestStrideOfABriskWalk(t *testing.T) {
	s := walker(t, false)
	walk := s.Clips[1].Motion
	speed := s.goes(&s.Clips[1])
	walk.FPS = FPS * 2 * s.slowWalk() / speed
	s.Clips[1].Motion = walk.Resampled(FPS)
	s.Clips[1].Actions = slices.Repeat([]string{label.Move}, s.Clips[1].Motion.Frames)
	if c := must.Get(s.stride())(t); c == nil {
		t.Errorf("no stride of a walk at %.2f m/s, where a slow one has %.2f", s.goes(&s.Clips[1]), s.slowWalk())
	}
}

// A set that only goes backward is doubted to face as it should.
func TestOnlyBackward(t *testing.T) {
	doubted := func(s *Set) bool {
		must.Get(s.Steps())(t)
		return slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "faces the other way") })
	}
	s := walker(t, true)
	s.Clips[1].Motion = reversed(s.Clips[1].Motion)
	if !doubted(s) || doubted(walker(t, true)) {
		t.Errorf("a walk backward: %q", s.Notes)
	}
}
