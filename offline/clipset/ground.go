package clipset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/label"
)

// ground puts all clips on a floor at height 0, and finds their motion over it and which of them are loops.
func (s *Set) ground() error {
	var floors, heights []float64
	feet := make([][]m3.Vec3, len(s.Clips)) // (frames, legs)
	for i := range s.Clips {
		c := s.Clips[i].Motion
		feet[i] = s.feet(c)
		low := s.lowest(feet[i])
		floors = append(floors, quantile(low, 0.1))
		for f := range c.Frames {
			pos, _ := c.Frame(f)
			heights = append(heights, float64(pos[0].Y)-floors[i])
		}
	}
	if len(floors) == 0 {
		return errors.New("no clips")
	}
	common := quantile(floors, 0.5)
	s.leg = quantile(heights, 0.6)
	if !(s.leg > 0.02) {
		return fmt.Errorf("the hips are %.3g m above the feet: is another axis up (--up), or another joint the hips (--skin-map)?", s.leg)
	}
	var lifted []string
	for i := range s.Clips {
		c := &s.Clips[i]
		floor := floors[i]
		switch apart := math.Abs(floor - common); {
		case aloft(c.Name) || apart < 0.01*s.leg:
			floor = common
		case apart > 0.05*s.leg:
			lifted = append(lifted, fmt.Sprintf("%s by %.0f cm", c.Name, 100*(common-floor)))
		}
		for f := range c.Motion.Frames {
			pos, _ := c.Motion.Frame(f)
			pos[0].Y -= float32(floor)
		}
		for k := range feet[i] {
			feet[i][k].Y -= float32(floor)
		}
	}
	if len(lifted) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d clips have another floor than the rest and were moved up or down: %s", len(lifted), few(lifted)))
	}
	s.resize(feet)
	var inPlace []string
	for i := range s.Clips {
		c := &s.Clips[i]
		var v m3.Vec3
		if !c.stays() {
			v = s.treadmill(c.Motion, feet[i])
		}
		c.InPlace = v != m3.Vec3{}
		if s.close(c); c.InPlace {
			inPlace = append(inPlace, fmt.Sprintf("%s at %.2f m/s", c.Name, v.Len()*s.Size))
			for f := range c.Motion.Frames {
				pos, _ := c.Motion.Frame(f)
				pos[0] = pos[0].Add(v.Scale(float32(f) / FPS))
			}
		}
	}
	if len(inPlace) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d clips walk in place, and move as their feet say: %s", len(inPlace), few(inPlace)))
	}
	var err error
	if s.symmetric, err = s.mirror(); err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("the skeleton has no mirror image (%s): clips are not mirrored", strings.TrimPrefix(err.Error(), "skel: ")))
	}
	return nil
}

// mirror returns how the skeleton maps onto its mirror image.
func (s *Set) mirror() (*skel.Mirror, error) {
	var motions []*skel.Clip
	for _, c := range s.Clips {
		motions = append(motions, c.Motion)
	}
	m, err := skel.NewMirror(s.Skel, motions...)
	if err != nil {
		return nil, err
	}
	for _, l := range s.Roles.Legs {
		if m.Pair[l[0]] == int16(l[0]) {
			return nil, fmt.Errorf("joint %q of a leg has no partner on the other side", s.Skel.Names[l[0]])
		}
	}
	return m, nil
}

// resize gives the set its usual size.
func (s *Set) resize(feet [][]m3.Vec3) {
	const (
		person, other = 0.95, 0.47 // heights of the hips in standing
		near          = 0.05       // share by which a body may be off that stays as it is, with its bones
	)
	usual, sole := other, ik.DefaultDog().Sole
	if s.Kind == anatomy.TwoLegs {
		usual, sole = person, ik.DefaultHuman().Sole
	}
	if math.Abs(s.leg/usual-1) < near {
		usual = s.leg
	}
	s.Size = float32(s.leg / usual)
	s.leg = usual
	by := 1 / s.Size
	scale := func(v []m3.Vec3) {
		for i := range v {
			v[i] = v[i].Scale(by)
		}
	}
	scale(s.Skel.Offsets)
	for i, c := range s.Clips {
		scale(c.Motion.Pos)
		scale(feet[i])
		// The tips of legs that stand are as high as the ground solver has them.
		for f := range c.Motion.Frames {
			pos, _ := c.Motion.Frame(f)
			pos[0].Y += sole + tipHeight
		}
	}
}

// tipHeight is how high ik.Legged has standing tips above their soles.
const tipHeight = 0.004

// few names the first of many.
func few(all []string) string {
	const most = 4
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// aloft reports whether a clip may not touch the ground.
func aloft(name string) bool {
	a := label.Named(name)
	return a == label.Jump || a == "fly" || a == "swim" || a == "climb"
}

// stays reports whether the name of a clip, or its label, says that it stays where it is: feet that move are no steps.
func (c *Clip) stays() bool {
	says := c.label
	if says == "" {
		says = label.Named(c.Name)
	}
	switch says {
	case "attack", "block", "hit", "death", "eat", "gesture", label.Sit, label.Lie, label.Pose:
		return !label.Says(c.Name, label.Move)
	}
	return false
}

// feet returns the tips of all legs, (frames, legs).
func (s *Set) feet(c *skel.Clip) []m3.Vec3 {
	model := make([]m3.Xform, s.Skel.Len())
	var out []m3.Vec3
	for f := range c.Frames {
		c.Model(model, f)
		for _, l := range s.Roles.Legs {
			out = append(out, model[l[len(l)-1]].Pos)
		}
	}
	return out
}

// lowest returns the height of the lowest foot in each frame.
func (s *Set) lowest(feet []m3.Vec3) (low []float64) {
	n := len(s.Roles.Legs)
	for f := 0; f < len(feet); f += n {
		y := feet[f].Y
		for _, p := range feet[f : f+n] {
			y = min(y, p.Y)
		}
		low = append(low, float64(y))
	}
	return low
}

// close finds out whether a clip is a loop, which ends in the pose in which it begins, moving likewise, and makes its
// last frame that pose. Packs have clips whose last frame is the first one, clips whose last frame comes before it, and
// clips that lack a few frames. Clips that walk in place are loops if no more than these are missing.
func (s *Set) close(c *Clip) {
	const (
		least   = 12   // frames
		near    = 0.03 // of the hips' height, by which joints may be elsewhere
		alike   = 0.4  // share by which fast joints may be faster or slower
		missing = 6    // frames
		turns   = 0.2  // rad from which on a clip in place turns on the spot
	)
	m := c.Motion
	if m.Frames < least {
		return
	}
	first, second, before, last := s.seen(m, 0), s.seen(m, 1), s.seen(m, m.Frames-2), s.seen(m, m.Frames-1)
	var apart float32 // over all joints
	same := true
	for j := range first {
		v := last[j].Sub(before[j])
		off, change := first[j].Dist(last[j]), second[j].Sub(first[j]).Dist(v)
		apart += off
		most := near*s.leg + alike*float64(v.Len())
		same = same && math.Min(float64(off), float64(first[j].Dist(last[j].Add(v)))) < most && float64(change) < most
	}
	if !same && !c.InPlace {
		return
	}
	gap := 0 // frames from the last to the first, at the clip's mean speed
	if step := s.step(m); step > 0 {
		gap = int(apart/step + 0.5)
	}
	if !same && gap > missing {
		return
	}
	c.Loop = true
	begin, end := root(m, 0), root(m, m.Frames-1)
	if gap > 0 { // the root goes on as it did
		end = end.Mul(root(m, m.Frames-2).Inv().Mul(end))
	}
	if c.InPlace || float64(begin.Pos.Dist(end.Pos)) < still*s.leg { // or comes back to where it was
		if end.Pos = begin.Pos; math.Abs(float64(m3.WrapAngle(end.Rot.Yaw()-begin.Rot.Yaw()))) < turns {
			end = begin
		}
	}
	n := s.Skel.Len()
	hips := end.Mul(begin.Inv()).Mul(m3.Xform{Pos: m.Pos[0], Rot: m.Rot[0]})
	pos, rot := m.Frame(m.Frames - 1)
	pos, rot = slices.Clone(pos), slices.Clone(rot)
	if gap == 0 { // the last frame is the first
		m.Frames--
	}
	m.Pos, m.Rot = m.Pos[:m.Frames*n], m.Rot[:m.Frames*n]
	gap = max(gap, 1)
	for k := 1; k <= gap; k++ {
		share := float32(k) / float32(gap)
		for j := range n {
			to, turn := m.Pos[j], m.Rot[j]
			if j == 0 {
				to, turn = hips.Pos, hips.Rot
			}
			m.Pos, m.Rot = append(m.Pos, pos[j].Lerp(to, share)), append(m.Rot, rot[j].Slerp(turn, share))
		}
	}
	m.Frames += gap
}

// step returns by how much all joints together move in a frame, seen from the root.
func (s *Set) step(c *skel.Clip) (mean float32) {
	before := s.seen(c, 0)
	for f := 1; f < c.Frames; f++ {
		now := s.seen(c, f)
		for j, p := range now {
			mean += p.Dist(before[j]) / float32(c.Frames-1)
		}
		before = now
	}
	return mean
}

// still is the way of the hips in a whole clip, of their height, up to which it is in place.
const still = 0.25

// root returns where the hips of a frame are over the ground, and face.
func root(c *skel.Clip, f int) m3.Xform {
	pos, rot := c.Frame(f)
	return m3.Xform{Pos: pos[0].Flat(), Rot: m3.YawQuat(rot[0].Yaw())}
}

// seen returns the places of the joints in a frame, seen from the root.
func (s *Set) seen(c *skel.Clip, f int) []m3.Vec3 {
	model := make([]m3.Xform, s.Skel.Len())
	c.Model(model, f)
	out, back := places(model), root(c, f).Inv()
	for j, p := range out {
		out[j] = back.Apply(p)
	}
	return out
}

// treadmill returns the velocity of a clip that walks in place: against that of the feet on the ground. It is zero
// for clips that stand, or that move by themselves.
func (s *Set) treadmill(c *skel.Clip, feet []m3.Vec3) m3.Vec3 {
	const (
		slow  = 0.3  // speed of the feet, such heights a second, up to which it stands
		stand = 0.06 // height of a foot on the ground over its lowest, of the hips'
	)
	first, _ := c.Frame(0)
	for f := range c.Frames {
		if pos, _ := c.Frame(f); float64(pos[0].Flat().Dist(first[0].Flat())) > still*s.leg {
			return m3.Vec3{}
		}
	}
	legs := len(s.Roles.Legs)
	var vx, vz []float64
	for k := range legs {
		var heights []float64
		for f := range c.Frames {
			heights = append(heights, float64(feet[f*legs+k].Y))
		}
		low := quantile(heights, 0.05)
		for f := range c.Frames - 1 {
			a, b := feet[f*legs+k], feet[(f+1)*legs+k]
			if float64(max(a.Y, b.Y)) < low+stand*s.leg {
				v := b.Sub(a).Scale(FPS)
				vx, vz = append(vx, float64(v.X)), append(vz, float64(v.Z))
			}
		}
	}
	if len(vx) == 0 {
		return m3.Vec3{}
	}
	v := m3.V(float32(-quantile(vx, 0.5)), 0, float32(-quantile(vz, 0.5)))
	if float64(v.Len()) < slow*s.leg {
		return m3.Vec3{}
	}
	return v
}
