package registration

import (
	"math"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/retarget"
)

// figure is a synthetic person with known motion.
type figure struct {
	frames  int
	phase   func(f float64) float64 // cycles of a walk, or how far an action is, 0 to 1
	swing   float64                 // of the legs, rad
	lean    float64                 // of the trunk, rad
	crouch  float64                 // of the knees, rad
	arms    float64                 // swing, rad
	heading float64                 // rad
	place   m3.Vec3
}

// pitch turns about the body's left: positive leans forward, or takes a hanging leg back.
func pitch(angle float64) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), float32(angle)) }

// walk is a clip of f walking: in the first half of a cycle the left foot stands,
// in the second the right. The standing foot stays in place, at height 0.
func (f figure) walk() *skel.Clip {
	return f.clip(func(c *skel.Clip, frame int, p float64) (stands int) {
		_, rot := c.Frame(frame)
		joint := c.Skel.Index
		for i, side := range [2]string{"Left", "Right"} {
			q := p + 0.5*float64(i)
			q -= math.Floor(q)
			knee := 0.1 + f.crouch
			if q > 0.5 {
				knee += 0.9 * math.Pow(math.Sin(2*math.Pi*(q-0.5)), 2)
			}
			thigh := -f.swing*math.Cos(2*math.Pi*q) - knee/2
			rot[joint(side+"UpLeg")] = pitch(thigh)
			rot[joint(side+"Leg")] = pitch(knee)
			rot[joint(side+"Foot")] = pitch(-thigh - knee)
			rot[joint(side+"Arm")] = m3.AxisAngle(m3.V(0, 1, 0), float32((1-2*float64(i))*f.arms*math.Cos(2*math.Pi*q)))
			if q <= 0.5 {
				stands = i
			}
		}
		return stands
	})
}

// kick is a clip of f bending its knees, then kicking with the right leg and
// throwing the left arm up; before and after it stands.
func (f figure) kick() *skel.Clip {
	bump := func(x, mid, width float64) float64 {
		if x = (x - mid) / width; math.Abs(x) >= 1 {
			return 0
		}
		return 0.5 * (1 + math.Cos(math.Pi*x))
	}
	return f.clip(func(c *skel.Clip, frame int, p float64) int {
		_, rot := c.Frame(frame)
		joint := c.Skel.Index
		knee := f.crouch + 0.8*bump(p, 0.25, 0.25)
		for i, side := range [2]string{"Left", "Right"} {
			thigh := -knee / 2
			if i == 1 {
				thigh -= f.swing * 2 * bump(p, 0.6, 0.25)
			}
			rot[joint(side+"UpLeg")], rot[joint(side+"Leg")] = pitch(thigh), pitch(knee)
			rot[joint(side+"Foot")] = pitch(-thigh - knee)
		}
		rot[joint("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), float32(-1.3+f.arms*4*bump(p, 0.75, 0.25)))
		return 0
	})
}

// clip poses all frames, and moves each so that the foot that pose returns does not slide.
func (f figure) clip(pose func(c *skel.Clip, frame int, phase float64) int) *skel.Clip {
	c := skel.NewClip(retarget.Human(), 60, f.frames)
	model := make([]m3.Xform, c.Skel.Len())
	turn := m3.YawQuat(float32(f.heading))
	var foot [2]m3.Vec3 // where the feet are, seen from the hips
	at, before := f.place, -1
	for frame := range f.frames {
		pos, rot := c.Frame(frame)
		stands := pose(c, frame, f.phase(float64(frame)))
		rot[0] = turn
		rot[c.Skel.Index("LowerBack")] = pitch(f.lean)
		pos[0] = m3.Vec3{}
		c.Model(model, frame)
		was := foot
		for i, side := range [2]string{"Left", "Right"} {
			foot[i] = model[c.Skel.Index(side+"ToeBase")].Pos
		}
		if frame > 0 {
			at = at.Sub(foot[before].Sub(was[before]).Flat())
		}
		before = stands
		pos[0] = m3.V(at.X, at.Y-foot[stands].Y+0.02, at.Z)
	}
	return c
}

// steady is a phase that goes on at one rate.
func steady(start, frames float64) func(float64) float64 {
	return func(f float64) float64 { return start + f/frames }
}

// uneven is one that speeds up and slows down.
func uneven(start, frames, by, every float64) func(float64) float64 {
	return func(f float64) float64 {
		return start + f/frames + by/(2*math.Pi)*every/frames*math.Sin(2*math.Pi*f/every)
	}
}

// walkers returns people out of step, each with own cycles, first foot, pace and posture.
func walkers() ([]*Take, []figure) {
	figures := []figure{
		{frames: 150, phase: steady(0, 64), swing: 0.5, arms: 0.4},
		{frames: 130, phase: steady(0.5, 60), swing: 0.6, arms: 0.7, lean: 0.2, place: m3.V(0, 0.2, 0)}, // on a stage
		{frames: 145, phase: uneven(0.3, 76, 0.25, 150), swing: 0.35, crouch: 0.5, lean: 0.5},
		{frames: 90, phase: uneven(0.8, 50, 0.15, 80), swing: 0.7, lean: -0.1, arms: 1},
	}
	var takes []*Take
	for i, f := range figures {
		takes = append(takes, &Take{Take: mar.Take{Name: string(rune('a' + i)), Action: "walk", Style: []string{"neutral", "proud", "old", "angry"}[i], Clip: f.walk()}})
	}
	return takes, figures
}

// kickers returns people who kick at different times and speeds.
func kickers() ([]*Take, []figure) {
	ease := func(start, frames, by float64) func(float64) float64 {
		return func(f float64) float64 {
			x := min(max((f-start)/frames, 0), 1)
			return x + by*math.Sin(2*math.Pi*x)/(2*math.Pi)
		}
	}
	figures := []figure{
		{frames: 60, phase: ease(5, 50, 0), swing: 0.5, arms: 0.4},
		{frames: 50, phase: ease(3, 40, 0.3), swing: 0.7, arms: 0.5, lean: 0.3},
		{frames: 90, phase: ease(10, 75, -0.3), swing: 0.4, arms: 0.3, lean: -0.1, crouch: 0.2},
	}
	var takes []*Take
	for i, f := range figures {
		takes = append(takes, &Take{Take: mar.Take{Name: string(rune('a' + i)), Action: "kick", Style: []string{"neutral", "proud", "old"}[i], Clip: f.kick()}, Cyclic: Once})
	}
	return takes, figures
}

// mustRegister registers takes.
func mustRegister(tb testing.TB, takes []*Take, opt Options) (*Timeline, *Report) {
	tb.Helper()
	tl, rep, err := Register(takes, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return tl, rep
}
