package clipset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
)

// gesture returns a clip of a body in the pose of a recording's first frame that sways, with a root that goes as path says at
// 0 to 1 of the clip: metres ahead and up.
func gesture(of *skel.Clip, frames int, path func(share float32) (ahead, up float32)) *skel.Clip {
	c := skel.NewClip(of.Skel, FPS, frames)
	stand, turns := of.Frame(0)
	front := m3.YawQuat(turns[0].Yaw()).Forward()
	for f := range frames {
		share := float32(f) / float32(frames-1)
		pos, rot := c.Frame(f)
		copy(pos, stand)
		copy(rot, turns)
		ahead, up := path(share)
		pos[0] = pos[0].Add(front.Scale(ahead))
		pos[0].Y += up
		neck := of.Skel.Index("Neck")
		rot[neck] = rot[neck].Mul(m3.AxisAngle(m3.V(1, 0, 0), 0.3*m3.Sin(share*2*math.Pi)))
	}
	return c
}

func pack(t testing.TB) *Set {
	of := made(t)[0].Clip
	gesture := func(frames int, path func(share float32) (ahead, up float32)) *skel.Clip {
		return gesture(of, frames, path)
	}
	going := func(speed float32) func(float32) (float32, float32) {
		return func(share float32) (float32, float32) { return speed * share, 0 }
	}
	return must.Get(Open(folder(t, map[string]*skel.Clip{
		"Idle": gesture(61, going(0)), "Walk": gesture(61, going(0.8)), "Sneaking": gesture(61, going(0.5)),
		"Roll":  gesture(50, func(share float32) (float32, float32) { return share, -0.2 * m3.Sin(math.Pi*share) }),
		"Punch": gesture(40, going(0)), "Death": gesture(50, func(share float32) (float32, float32) { return 0, -0.35 * share }),
		"T-Pose": gesture(30, going(0)),
	}), Options{}))(t)
}

// All that a pack shows can be asked for: crouches stand, walk and turn, other actions play once. Poses are left out.
func TestAsksForAll(t *testing.T) {
	s := pack(t)
	s.Bend()
	s.Stand()
	d := must.Get(s.Database())(t)
	for _, tag := range []string{"idle", "move", "crouch", "roll", "attack", "death"} {
		if _, ok := d.Action(tag); !ok {
			t.Errorf("no goal can ask for %s, of the tags %v", tag, d.Tags)
		}
	}
	if _, ok := d.Action("pose"); ok {
		t.Error("a goal can ask for the pose at rest")
	}
	var standing, bent bool
	for _, c := range s.Clips {
		standing = standing || c.Name == "Sneaking, still" && c.Actions[0] == "crouch" && c.Loop
		bent = bent || strings.HasPrefix(c.Name, "Sneaking, turn") && c.Actions[0] == "crouch"
		once, holds := s.once(&c)
		if want := c.Name == "Roll" || c.Name == "Punch" || c.Name == "Death"; once != want || holds != (c.Name == "Death") {
			t.Errorf("%s plays once %t, and holds its end %t", c.Name, once, holds)
		}
	}
	if !standing || !bent {
		t.Errorf("a crouch stands %t and turns %t", standing, bent)
	}
	crouch, _ := d.Action("crouch")
	for _, speed := range []float32{0, 0.5} {
		stream := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		p := testgen.Play(stream, d.Skel.Len())
		must.Get(stream.Add(feature.Place{}, nil))(t)
		for range 180 {
			stream.Controls()[0] = control.Goal{Action: crouch, Move: m3.V(0, 0, 1), Speed: speed}
			must.Do(t, p.Tick(1))
		}
		if z := stream.Root(0).Pos.Z; math.Abs(float64(z-3*speed)) > 0.4 {
			t.Errorf("asked to crouch at %g m/s it went %.2f m in 3 s", speed, z)
		}
	}
}

// A recorded crouch that never stays gets a pose that does: of the frames in which feet are low and below the hips. One that stays needs none.
func TestCrouchesStand(t *testing.T) {
	of := made(t)[0].Clip
	for name, c := range map[string]struct {
		way    func(share float32) float32
		stands bool
	}{
		"goes":  {func(share float32) float32 { return 1 + 2*share*share + share }, true},
		"stays": {func(share float32) float32 { return max(0, 3*share-1.5) }, false},
	} {
		s := must.Get(Open(folder(t, map[string]*skel.Clip{
			"Walk":      gesture(of, 61, func(share float32) (float32, float32) { return 0.8 * share, 0 }),
			"Crouching": gesture(of, 240, func(share float32) (float32, float32) { return c.way(share), 0 }),
		}), Options{}))(t)
		clips := len(s.Clips)
		added := s.Stand()
		if (added == 1) != c.stands || len(s.Clips) != clips+added {
			t.Fatalf("a crouch that %s: %d poses are added", name, added)
		}
		if added == 0 {
			continue
		}
		still := s.Clips[clips]
		least := slices.Min(s.unsteady(s.Clips[slices.IndexFunc(s.Clips, func(k Clip) bool { return k.Name == "Crouching" })].Motion))
		if off := s.unsteady(still.Motion)[0]; still.Actions[0] != "crouch" || !still.Loop || math.Abs(off-least) > 1e-6 {
			t.Errorf("the pose shows %s, and its feet are %.3f m off, want %.3f", still.Actions[0], off, least)
		}
	}
}

// Clips of attacks are no steps: feet that slide in them do not move the body.
func TestAttacksStay(t *testing.T) {
	for name, want := range map[string]bool{"Punch": true, "Hit_A": true, "Lie_Down": true, "Running_Shoot": false, "Walk": false, "Take 1": false} {
		if c := (Clip{Name: name}); c.stays() != want {
			t.Errorf("%s stays where it is: %t", name, !want)
		}
	}
	if c := (Clip{Name: "Take 1", label: "attack"}); !c.stays() {
		t.Error("a clip with the label attack moves")
	}
}
