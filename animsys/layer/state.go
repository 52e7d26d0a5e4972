package layer

import (
	"errors"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// State writes the layers of row r, or reads them: see [generator.State]. Clips and masks are assets.
// A row that was not read well, for which s.Err returns the error, is empty.
func (p *Player) State(s *generator.State, r int) {
	w := &p.rows[r]
	n := p.sk.Len()
	off := p.off[r*n : (r+1)*n]
	if s.Reading() {
		p.Reset(r)
	}
	s.Kind("layers", n, MaxLayers)
	s.Bool(&w.busy)
	if !w.busy { // nothing plays; an order to stop that is left means nothing
		return
	}
	s.Bool(&w.fading)
	s.Bool(&w.landed)
	generator.Value(s, &w.root)
	p.characterState(s, r)
	for l := range w.slots {
		w.slots[l].state(s, p)
		o := &w.orders[l]
		o.state(s, p)
		s.Bool(&o.given)
		generator.Value(s, &o.in)
		s.Fail(o.check())
	}
	if w.fading {
		generator.Values(s, off)
		generator.Value(s, &p.hips[r])
		if w.ch != nil {
			generator.Values(s, p.spin[r*p.width:][:len(w.ch.Further())])
		}
	}
	if w.ch != nil {
		generator.Values(s, p.Turns(r))
	}
	if s.Reading() && s.Err() == nil {
		sound := w.root.Pos.Finite() && w.root.Rot.Finite() && p.hips[r].sound()
		for j := range off {
			sound = sound && off[j].sound()
		}
		if w.ch != nil {
			for i, q := range p.Turns(r) {
				sound = sound && p.spin[r*p.width+i].sound() && unit(q)
			}
		}
		if !sound {
			s.Fail(errors.New("the state of the layers is not finite"))
		}
	}
	if s.Reading() && s.Err() != nil {
		p.Reset(r)
	}
}

func (t *slot) state(s *generator.State, p *Player) {
	if generator.Asset(s, &t.clip); t.clip != nil {
		t.clip.adopt(p.sk, p.sum)
		t.clip.adoptOwn(p)
	}
	if generator.Asset(s, &t.mask); t.mask != nil {
		t.mask.adopt(p.sk, p.sum)
		if t.mask.sk == nil && t.clip != nil && t.clip.own != nil && t.clip.own.ch != nil {
			t.mask.adopt(t.clip.own.ch.Skel, t.clip.own.ch.Skel.Fingerprint())
		}
	}
	generator.Value(s, &t.slotState)
	if !s.Reading() || s.Err() != nil || t.clip == nil {
		return
	}
	if t.ownMask > 1 || !p.playable(t) {
		s.Fail(errors.New("a clip or a mask of the state is of another skeleton"))
		return
	}
	inside := func(x, least, most float64) bool { return x >= least && x <= most }
	far := 4*t.clip.Seconds(true) + MaxBlend
	if !inside(t.time, -far, far) || !inside(t.was, -far, far) || !inside(float64(t.weight), 0, 1) || !inside(float64(t.speed), 0, MaxSpeed) ||
		!inside(float64(t.fades), 0, MaxBlend) || t.loop|t.hold|t.add|t.root|t.fresh|t.ended|t.held|t.passes > 1 {
		s.Fail(errors.New("the state of a layer is none"))
	}
}

// characterState writes or reads which character's own clips play on row r.
func (p *Player) characterState(s *generator.State, r int) {
	w, sum := &p.rows[r], uint64(0)
	if w.ch != nil {
		sum = w.ch.Fingerprint()
	}
	has := w.ch != nil
	if s.Bool(&has); !has {
		return
	}
	generator.Value(s, &sum)
	if !s.Reading() || s.Err() != nil {
		return
	}
	if ch := p.known(sum); ch == nil {
		s.Fail(errors.New("the state has clips of a character that the crowd has not"))
	} else {
		p.wear(r, ch)
	}
}

func unit(q m3.Quat) bool { return q.Finite() && m3.Abs(q.Dot(q)-1) < 0.01 }

func (o *order) check() error {
	if !(o.in >= 0 && o.in <= MaxBlend) {
		return errors.New("the state of a layer is none")
	}
	return nil
}

func (o *offset) sound() bool {
	return o.x.Finite() && o.v.Finite() && m3.Finite(o.t) && o.all >= 0 && o.all <= MaxBlend && o.t >= 0
}
