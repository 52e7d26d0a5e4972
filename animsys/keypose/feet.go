package keypose

import (
	"fmt"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Holder holds feet that stand in their places on level ground. Legs bend for that, and
// the rest of the body goes where it went. How a foot is moved over the ground solves a
// least-squares problem over all frames: while it stands it shall not slide, it shall
// be moved little and smoothly, and where its leg is keyed not at all. A Holder belongs
// to one goroutine.
type FootLock struct {
	layout *Layout
	rig    *ik.Rig
	model  []m3.Xform
	clip   *skel.Clip // the motion, and then with legs that are bent
	bent   become
	heel   []m3.Vec3 // (frames) where a foot is in the motion,
	toe    []m3.Vec3
	slip   []m3.Vec3 // what its sole goes over the ground from the frame before, m
	slides []float32 // the same as it is moved now, as a share of quick
	moves  band      // and how it is moved
}

// What the least squares weigh, where sliding of a foot that stands weighs 1.
const (
	give = 0.02 // change of how a foot is moved
	fade = 0.1  // s in which a foot that swings forgets where it stood
	ease = 0.03 // s in which it begins to, and ends
	calm = 0.1  // m/s, below which heel and toe are both taken to stand

	// A foot that is taken to stand while it steps shall step, not slide all the time:
	// the squares are weighted anew by what they come to (Cauchy's weights).
	quick  = 0.5 // m/s at which sliding counts half
	rounds = 4
)

// NewHolder returns a holder for tracks of the layout. It is an error where the
// skeleton lacks joints of [ik.HumanRoles].
func (l *Layout) NewFootLock() (*FootLock, error) {
	roles, err := ik.HumanRoles(l.Skel.Names)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	tree, err := ik.NewTree(l.Skel.Parents)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	rig, err := ik.NewRig(tree, roles)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	return &FootLock{layout: l, rig: rig, model: make([]m3.Xform, l.Skel.Len())}, nil
}

// Hold holds the feet of a track that Maker.Fill has filled, in place. stand,
// (Frames, Feet), is what that tells of them.
func (h *FootLock) Apply(t *Track, stand []float32) error {
	if t.Layout.Skel.Len() != h.layout.Skel.Len() {
		return fmt.Errorf("keypose: a track of %d joints to hold, want %d", t.Layout.Skel.Len(), h.layout.Skel.Len())
	}
	if len(stand) != t.Frames*Feet {
		return fmt.Errorf("keypose: %d values say which feet stand in %d frames, want %d", len(stand), t.Frames, t.Frames*Feet)
	}
	h.hold(t, stand)
	return nil
}

// hold is Hold of a track that fits.
func (h *FootLock) hold(t *Track, stand []float32) {
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
	h.bent.run(t, clip)
}

// solve finds how the foot is moved that hangs on joints.
func (h *FootLock) solve(t *Track, stand []float32, joints []int) {
	m, dt := &h.moves, 1/t.FPS
	still := calm * calm * dt * dt
	for f := 1; f < t.Frames; f++ {
		heel, toe := h.heel[f].Sub(h.heel[f-1]), h.toe[f].Sub(h.toe[f-1])
		// A foot stands on what moves less: on its heel, then on its toes.
		a, b := heel.Dot(heel)+still, toe.Dot(toe)+still
		h.slip[f], h.slides[f] = heel.Lerp(toe, a/(a+b)).Flat(), 0
	}
	stay, bend := give*(dt/fade)*(dt/fade), give*(ease/dt)*(ease/dt)
	for range rounds {
		m.reset(t.Frames)
		for f := range t.Frames {
			m.place(f, stay)
			if f > 0 {
				on := stand[f*Feet] * stand[(f-1)*Feet] / (1 + h.slides[f]*h.slides[f])
				m.step(f, on, h.slip[f])
				m.step(f, give, m3.Vec3{})
			}
			if f > 1 {
				m.turn(f-1, bend)
			}
		}
		h.fix(t, joints)
		m.solve()
		for f := 1; f < t.Frames; f++ {
			h.slides[f] = m.at(f).Sub(m.at(f-1)).Add(h.slip[f]).Len() / (quick * dt)
		}
	}
}

// fix has the foot where it is in frames with a key of a joint that it hangs on.
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
