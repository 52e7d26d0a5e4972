package layer

import (
	"fmt"

	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// ownPart is what a clip has of a character's own skeleton: how the joints turn that the crowd's skeleton does not move,
// or not alone.
type ownPart struct {
	ch    *retarget.Character // nil in a clip that was read
	sum   uint64              // its fingerprint
	turns []m3.Quat           // (frames, ch.Further)
}

// NewOwn prepares a clip of a character's own skeleton, for agents that have the character: skin.Character.Motion
// reads it from the character's file. It is in metres, with +Y up and the ground at height 0, and has the joints of
// ch.Skel by name, with the same parents and the same offsets, to 1 cm; joints at the ends may be missing, and others
// may be there. Bones keep the character's lengths.
//
// The same calls play this clip and the clips of New. All joints of the character turn as in the clip,
// fingers and tails too, feet stand on the agent's ground, and masks are of the crowd's skeleton or of ch.Skel.
func NewOwn(ch *retarget.Character, clip *skel.Clip, opt ClipOptions) (*Clip, error) {
	c, err := newOwn(ch, clip, opt)
	if err != nil {
		return nil, failed(err, opt.Name)
	}
	return c, nil
}

func newOwn(ch *retarget.Character, clip *skel.Clip, opt ClipOptions) (*Clip, error) {
	if ch == nil || ch.Source() == nil || clip == nil || clip.Skel == nil {
		return nil, fmt.Errorf("the character or the clip is missing")
	}
	index, err := match(ch.Skel, clip.Skel, ofCharacter)
	if err != nil {
		return nil, err
	}
	if err := size(clip); err != nil {
		return nil, err
	}
	n, further := ch.Len(), len(ch.Further())
	still := make([]m3.Quat, n) // at rest
	ch.Skel.ModelToLocal(make([]m3.Vec3, n), still, ch.Rest)
	from, pose := make([]m3.Xform, clip.Skel.Len()), make([]m3.Xform, n)
	src := make([]m3.Xform, ch.Source().Len())
	shared := skel.NewClip(ch.Source(), clip.FPS, clip.Frames)
	o := &ownPart{ch: ch, sum: ch.Fingerprint(), turns: make([]m3.Quat, clip.Frames*further)}
	for f := range clip.Frames {
		if err := sound(clip, f); err != nil {
			return nil, err
		}
		clip.Model(from, f)
		for j, k := range index {
			if k < 0 {
				pose[j] = pose[ch.Skel.Parents[j]].Mul(m3.Xform{Pos: ch.Skel.Offsets[j], Rot: still[j]})
				continue
			}
			pose[j] = m3.Xform{Pos: from[k].Pos, Rot: from[k].Rot.Normalize()}
			if !(pose[j].Pos.Len() < farthest) {
				return nil, tooFar(f, ch.Skel.Names[j], pose[j].Pos)
			}
		}
		turns := o.turns[f*further : (f+1)*further]
		ch.Invert(src, turns, pose)
		for i := range turns {
			if f > 0 && turns[i].Dot(o.turns[(f-1)*further+i]) < 0 { // neighbours on one half of the sphere
				turns[i] = turns[i].Neg()
			}
		}
		pos, rot := shared.Frame(f)
		ch.Source().ModelToLocal(pos, rot, src)
	}
	c, err := newClip(ch.Source(), shared, opt)
	if err != nil {
		return nil, err
	}
	c.own = o
	for i := range further {
		c.closed = c.closed && o.turns[i].Angle(o.turns[(c.frames-1)*further+i]) < closedAngle
	}
	return c, nil
}

// Character returns the character whose own skeleton the clip is of; nil for a clip of a crowd's skeleton.
func (c *Clip) Character() *retarget.Character {
	if c.own == nil {
		return nil
	}
	return c.own.ch
}

// SetCharacters says which characters agents may have. Call it before Play.
func (p *Player) SetCharacters(all []*retarget.Character) {
	p.cast, p.width = all, 0
	for _, ch := range all {
		p.width = max(p.width, len(ch.Further()))
	}
}

// openOwn makes room for clips of characters' own skeletons.
func (p *Player) openOwn() {
	if p.turns == nil {
		p.turns, p.spin = make([]m3.Quat, len(p.rows)*p.width), make([]offset, len(p.rows)*p.width)
	}
}

// wear says that clips of ch's own skeleton play on row r.
func (p *Player) wear(r int, ch *retarget.Character) {
	p.openOwn()
	if w := &p.rows[r]; w.ch != ch {
		p.stopTurning(r)
		w.ch = ch
		turns := p.Turns(r)
		for i := range turns {
			turns[i] = m3.Ident
		}
	}
}

// known returns the character of the cast with a fingerprint, or nil.
func (p *Player) known(sum uint64) *retarget.Character {
	for _, ch := range p.cast {
		if ch.Fingerprint() == sum {
			return ch
		}
	}
	return nil
}

// Turns returns how the further joints of row r's character turn as of its last pose, see retarget.Character.Pose; nil
// if no clip of its own skeleton plays or fades.
func (p *Player) Turns(r int) []m3.Quat {
	ch := p.rows[r].ch
	if ch == nil {
		return nil
	}
	return p.turns[r*p.width:][:len(ch.Further())]
}

// Character returns the character whose own clips play or fade on row r; nil if none does.
func (p *Player) Character(r int) *retarget.Character { return p.rows[r].ch }

// Undress ends, in the next pose, the clips on row r that are of a character's own skeleton: it has another now.
func (p *Player) Undress(r int) {
	w := &p.rows[r]
	for l := range w.slots {
		if o := &w.orders[l]; o.given && o.clip != nil && o.clip.own != nil {
			*o = order{given: true, in: DefaultBlend}
		}
		if s := &w.slots[l]; s.clip != nil && s.clip.own != nil && !w.orders[l].given {
			w.orders[l] = order{given: true, in: s.fades}
		}
	}
	p.stopTurning(r)
}

// stopTurning forgets the turns of row r.
func (p *Player) stopTurning(r int) {
	p.rows[r].ch = nil
	if p.turns != nil {
		clear(p.spin[r*p.width : (r+1)*p.width])
	}
}

// turn finds the turns of row r's further joints, with what fades.
func (p *Player) turn(r int, v *view) {
	w := &p.rows[r]
	turns, spin := p.Turns(r), p.spin[r*p.width:]
	playing, n := false, len(turns)
	for l := range w.slots {
		s, o := &w.slots[l], &w.orders[l]
		playing = playing || s.clip.of(w.ch) || o.given && o.clip.of(w.ch)
	}
	for i := range turns {
		turns[i] = spin[i].turn(v.turn(w.ch, i), 0)
		playing = playing || spin[i].all > 0
	}
	if !playing {
		p.stopTurning(r)
		for i := range n {
			turns[i] = m3.Ident
		}
	}
}

// changeTurns notes by how much the turns of row r jump, with clips as of old and older before and next and nexter after.
func (p *Player) changeTurns(r int, old, older, next, nexter *view, dt, over float32) {
	ch := p.rows[r].ch
	spin := p.spin[r*p.width:]
	for i := range ch.Further() {
		was, is, was1, is1 := old.turn(ch, i), next.turn(ch, i), older.turn(ch, i), nexter.turn(ch, i)
		if was == is && was1 == is1 {
			continue
		}
		x := spin[i].turn(was, 0).Mul(is.Conj()).RotationVector()
		y := nearest(spin[i].turn(was1, dt).Mul(is1.Conj()).RotationVector(), x)
		spin[i].begin(x, x.Sub(y).Scale(1/dt), over)
	}
}

// of reports whether the clip is of ch's own skeleton.
func (c *Clip) of(ch *retarget.Character) bool { return c != nil && c.own != nil && c.own.ch == ch }

// turn returns how the further joint i of ch turns with the view's clips. Clips of the crowd's skeleton hold it at
// rest, as the joint that it follows.
func (v *view) turn(ch *retarget.Character, i int) m3.Quat {
	q, joint := m3.Ident, ch.Further()[i]
	for k := range v.n {
		s := &v.slots[k]
		mine := s.clip.of(ch)
		w := s.weight
		switch {
		case s.mask == nil:
		case s.ownMask == 0:
			w *= s.mask.at(ch.Covers(joint))
		case mine:
			w *= s.mask.at(joint)
		default: // of a character that the agent had
			w = 0
		}
		switch {
		case w == 0 || !mine && s.add == 1:
		case !mine:
			q = over(q, m3.Ident, w)
		default:
			q = v.at[k].onto(q, s, s.clip.own.turns, i, len(ch.Further()), w)
		}
	}
	return q
}

// share returns the share of the layer in joint j of the crowd's skeleton.
func (s *slot) share(j int) float32 {
	if s.ownMask == 1 {
		j = s.clip.own.ch.Player(j)
	}
	return s.weight * s.mask.at(j)
}

// playable reports whether p can play the slot's clip with its mask.
func (p *Player) playable(s *slot) bool {
	if !same(p.sk, s.clip.sk) || s.clip.own != nil && s.clip.own.ch == nil {
		return false
	}
	switch {
	case s.mask == nil:
		return s.ownMask == 0
	case s.ownMask == 1:
		return s.clip.own != nil && same(s.clip.own.ch.Skel, s.mask.sk)
	}
	return same(p.sk, s.mask.sk)
}

// adoptOwn gives a clip that was read its character, if the crowd has it.
func (c *Clip) adoptOwn(p *Player) {
	if o := c.own; o != nil && o.ch == nil {
		if ch := p.known(o.sum); ch != nil && len(o.turns) == c.frames*len(ch.Further()) {
			o.ch = ch
		}
	}
}

// maskKind is which skeleton a mask is of.
type maskKind int

const (
	foreign maskKind = iota
	ofShared
	ofOwn
)

// maskOf returns whether a mask for the clip is of the crowd's skeleton, or of the character's own.
func (c *Clip) maskOf(m *Mask) maskKind {
	switch {
	case m == nil || same(c.sk, m.sk):
		return ofShared
	case c.own != nil && same(c.own.ch.Skel, m.sk):
		return ofOwn
	}
	return foreign
}
