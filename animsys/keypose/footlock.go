package keypose

import (
	"fmt"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// FootLock keeps standing feet in place on level ground. It bends the legs; the rest of the body
// stays. How each foot moves over the ground solves a least-squares problem over all frames: in
// contact it must not slide, it should move little and smoothly, and it does not move where its leg
// is keyed. A FootLock belongs to one goroutine.
type FootLock struct {
	layout   *Layout
	rig      *ik.Rig
	model    []m3.Xform
	clip     *skel.Clip // the motion, and then with bent legs
	replacer replacer
	heel     []m3.Vec3 // (frames) positions of a foot in the motion,
	toe      []m3.Vec3
	slip     []m3.Vec3 // movement of the sole over the ground since the frame before, m
	slides   []float32 // the same after the move, as a share of cauchySpeed
	moves    band      // the moves
}

// Weights of the least squares; sliding of a standing foot weighs 1.
const (
	smoothWeight = 0.02 // change of the move
	swingDecay   = 0.1  // s, after which a swinging foot has lost its offset
	swingEase    = 0.03 // s, of the ease in and out of that
	contactSpeed = 0.1  // m/s, below which heel and toe both count as standing

	// A foot that is marked as standing but steps must step, not slide all the time. So the
	// squares are reweighted by their own size (Cauchy's weights).
	cauchySpeed = 0.5 // m/s at which sliding counts half
	rounds      = 4
)

// NewFootLock returns a foot lock for tracks of the layout. It fails if the skeleton lacks joints
// of [ik.HumanRoles].
func (l *Layout) NewFootLock() (*FootLock, error) {
	if l.Skel == nil {
		return nil, errZeroLayout
	}
	rig, err := ik.NewHumanRig(l.Skel.Names, l.Skel.Parents)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	return &FootLock{layout: l, rig: rig, model: make([]m3.Xform, l.Skel.Len())}, nil
}

// Apply locks the feet of a track that Inbetweener.Fill has filled, in place. stand, (Frames,
// Feet), is Fill's.
func (h *FootLock) Apply(t *Track, stand []float32) error {
	if t.Layout.Skel.Len() != h.layout.Skel.Len() {
		return fmt.Errorf("keypose: a track of %d joints, want %d", t.Layout.Skel.Len(), h.layout.Skel.Len())
	}
	if len(stand) != t.Frames*Feet {
		return fmt.Errorf("keypose: %d contact values for %d frames, want %d", len(stand), t.Frames, t.Frames*Feet)
	}
	h.apply(t, stand)
	return nil
}

// apply is Apply without checks.
func (h *FootLock) apply(t *Track, stand []float32) {
	if h.clip == nil || h.clip.Frames != t.Frames {
		h.clip = skel.NewClip(h.layout.Skel, float64(t.FPS), t.Frames)
	}
	clip := h.clip
	clip.FPS = float64(t.FPS)
	for f := range t.Frames {
		pos, rot := clip.Frame(f)
		t.Pose(f, pos, rot)
	}
	h.heel, h.toe, h.slip = grow(h.heel, t.Frames), grow(h.toe, t.Frames), grow(h.slip, t.Frames)
	h.slides = grow(h.slides, t.Frames)
	for i, leg := range h.rig.Roles.Legs {
		joints := leg[len(leg)-4:]
		for f := range t.Frames {
			clip.Model(h.model, f)
			h.heel[f], h.toe[f] = h.model[joints[2]].Pos, h.model[joints[3]].Pos
		}
		h.solve(t, stand[i:], joints[:3])
		var foot ik.Foot
		for f := range t.Frames {
			clip.Model(h.model, f)
			h.rig.Reach(h.model, i, h.heel[f].Add(h.moves.at(f)), &foot)
			_, rot := clip.Frame(f)
			for _, j := range joints[:3] {
				rot[j] = h.model[h.layout.Skel.Parents[j]].Rot.Conj().Mul(h.model[j].Rot).Normalize()
			}
		}
	}
	h.replacer.run(t, clip)
}

// solve computes the moves of the foot at the end of joints.
func (h *FootLock) solve(t *Track, stand []float32, joints []int) {
	m, dt := &h.moves, 1/t.FPS
	still := contactSpeed * contactSpeed * dt * dt
	for f := 1; f < t.Frames; f++ {
		heel, toe := h.heel[f].Sub(h.heel[f-1]), h.toe[f].Sub(h.toe[f-1])
		// A foot stands on what moves less: first its heel, then its toes.
		a, b := heel.Dot(heel)+still, toe.Dot(toe)+still
		h.slip[f], h.slides[f] = heel.Lerp(toe, a/(a+b)).Flat(), 0
	}
	stay, bend := smoothWeight*(dt/swingDecay)*(dt/swingDecay), smoothWeight*(swingEase/dt)*(swingEase/dt)
	for range rounds {
		m.reset(t.Frames)
		for f := range t.Frames {
			m.place(f, stay)
			if f > 0 {
				on := stand[f*Feet] * stand[(f-1)*Feet] / (1 + h.slides[f]*h.slides[f])
				m.step(f, on, h.slip[f])
				m.step(f, smoothWeight, m3.Vec3{})
			}
			if f > 1 {
				m.turn(f-1, bend)
			}
		}
		h.fix(t, joints)
		m.solve()
		for f := 1; f < t.Frames; f++ {
			h.slides[f] = m.at(f).Sub(m.at(f-1)).Add(h.slip[f]).Len() / (cauchySpeed * dt)
		}
	}
}

// fix fixes the foot in frames with a key of one of its leg's joints.
func (h *FootLock) fix(t *Track, joints []int) {
	groups := h.layout.Groups()
	for _, j := range joints {
		g := h.layout.GroupOf(h.layout.Skel.Names[j])
		for f := range t.Frames {
			if t.Weight[f*groups+g] == 1 {
				h.moves.fix(f)
			}
		}
	}
}
