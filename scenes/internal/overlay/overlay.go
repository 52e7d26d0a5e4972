// Package overlay draws how characters move: past and planned trajectories, contacts, the targets
// of the ground solver, velocities, skeletons, roots, and the experts of a network.
package overlay

import (
	"mannequin/animsys"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/scenes"
	"mannequin/terrain"
)

// Agents are the characters of an overlay: slices that their tick writes, one entry per row.
type Agents struct {
	Skel      *skel.Skeleton
	Terrain   *terrain.Field
	Ground    *ik.Legged
	Roots     []m3.Xform // (rows) on flat ground
	Last, Now []m3.Xform // (rows, joints) poses of the last two ticks, world space

	// Ahead appends the places where row is about to go to dst, on flat ground. May be nil.
	Ahead func(dst []m3.Vec3, row int) []m3.Vec3
}

// Of returns the agents of a crowd.
func Of(b *animsys.Crowd, ground *terrain.Field, ahead func(dst []m3.Vec3, row int) []m3.Vec3) Agents {
	last, now := b.Published()
	return Agents{Skel: b.Skel, Terrain: ground, Ground: &b.Ground, Roots: b.Roots, Last: last, Now: now, Ahead: ahead}
}

// Places makes an Agents.Ahead of a stream's Ahead, with n frames from one place to the next.
func Places(ahead func(dst []feature.Place, row, n int) []feature.Place, n int) func(dst []m3.Vec3, row int) []m3.Vec3 {
	var room []feature.Place
	return func(dst []m3.Vec3, row int) []m3.Vec3 {
		room = ahead(room[:0], row, n)
		for _, p := range room {
			dst = append(dst, p.Pos)
		}
		return dst
	}
}

// All are the overlays that this package draws, except hud.Activations, which Experts draws.
const All = hud.Trajectories | hud.Contacts | hud.Targets | hud.Velocities | hud.Skeletons | hud.Roots

const (
	most    = 40  // largest number of characters with an overlay, besides the selected one
	within  = 15  // their largest distance from the frame's focus, m
	samples = 10  // places of a past trajectory
	every   = 6   // ticks from one of them to the next
	leap    = 1   // longest way in a tick, m: a character that goes farther was placed there
	span    = 0.2 // duration of motion that the arrow of a velocity shows, s
)

// Colours, linear RGB.
var (
	pastColour     = [3]float32{0.55, 0.60, 0.70}
	aheadColour    = [3]float32{1.00, 0.45, 0.03}
	heldColour     = [3]float32{0.05, 0.90, 0.15}
	standColour    = [3]float32{0.95, 0.85, 0.05}
	targetColour   = [3]float32{1.00, 0.05, 0.55}
	velocityColour = [3]float32{0.05, 0.75, 1.00}
	boneColour     = [3]float32{0.75, 0.75, 0.70}
	selectedColour = [3]float32{1.00, 0.90, 0.35}
	rootColour     = [3]float32{1.00, 0.10, 0.05}
	facingColour   = [3]float32{0.10, 0.25, 1.00}
)

// Overlay draws the overlays of agents.
type Overlay struct {
	Agents

	n         int        // rows of the last Step
	was, now  []m3.Xform // (rows) roots of the last two ticks
	aim, aim0 []m3.Vec3  // (rows, legs) targets of the last tick, and of the one before
	past      []m3.Vec3  // (samples, rows) a ring of roots
	ticks     int
	way       []m3.Vec3
}

// New returns the overlay of a.
func New(a Agents) *Overlay {
	n, legs := len(a.Roots), len(a.Ground.Feet)
	return &Overlay{
		Agents: a, was: make([]m3.Xform, n), now: make([]m3.Xform, n), aim: make([]m3.Vec3, legs), aim0: make([]m3.Vec3, legs),
		past: make([]m3.Vec3, samples*n),
	}
}

// Step records the last tick of the rows below n. Call it after each tick.
func (m *Overlay) Step(n int) {
	copy(m.was, m.now[:n])
	copy(m.now, m.Roots[:n])
	legs := m.legs()
	copy(m.aim0, m.aim[:n*legs])
	for i := range m.Ground.Feet[:n*legs] {
		m.aim[i] = m.Ground.Feet[i].Target()
	}
	sample := m.past[m.ticks/every%samples*len(m.Roots):]
	for r := range n {
		at := m.now[r].Pos
		if r >= m.n || !(at.Dist(m.was[r].Pos) <= leap) {
			m.was[r] = m.now[r]
			copy(m.aim0[r*legs:(r+1)*legs], m.aim[r*legs:])
			for k := range samples {
				m.past[k*len(m.Roots)+r] = at
			}
		}
		if m.ticks%every == 0 {
			sample[r] = at
		}
	}
	m.n = n
	m.ticks++
}

func (m *Overlay) legs() int { return len(m.Ground.Rig.Roles.Legs) }

// Draw appends the lines that f.Show asks for to f. bones, (rows, joints), are the poses in f, a
// fraction alpha of the way from the last tick but one to the last. Only agents near f.Focus have
// overlays, and the selected row, which has more; −1 is none.
func (m *Overlay) Draw(f *scenes.Frame, bones []m3.Xform, selected int, alpha float32) {
	f.Has |= All
	if f.Show&All == 0 {
		return
	}
	joints := m.Skel.Len()
	n, drawn := min(len(bones)/joints, m.n), 0
	for r := range n {
		near := m.now[r].Pos.Dist(f.Focus.Flat()) < within && drawn < most
		if r == selected || near {
			m.draw(f, bones[r*joints:(r+1)*joints], r, r == selected, alpha)
			drawn++
		}
	}
}

// Ring draws a ring on the ground around the selected row. bones are those of Draw.
func (m *Overlay) Ring(f *scenes.Frame, bones []m3.Xform, row int) {
	const radius = 0.6 // m: about a person's arm and a dog
	var mid m3.Vec3
	joints := m.Skel.Len()
	for _, b := range bones[row*joints : (row+1)*joints] {
		mid = mid.Add(b.Pos.Scale(1 / float32(joints)))
	}
	if mid.Finite() {
		ring(f, m3.V(radius, 0, 0), m3.V(0, 0, radius), selectedCorners, selectedColour, func(p m3.Vec3) m3.Vec3 { return m.onGround(mid.Add(p)) })
	}
}

// draw draws the overlays of a row.
func (m *Overlay) draw(f *scenes.Frame, bones []m3.Xform, row int, selected bool, alpha float32) {
	root := m3.Xform{Pos: m.was[row].Pos.Lerp(m.now[row].Pos, alpha), Rot: m.was[row].Rot.Slerp(m.now[row].Rot, alpha)}
	if !root.Pos.Finite() {
		return
	}
	at := m.onGround(root.Pos)
	if f.Show&hud.Trajectories != 0 {
		m.trajectory(f, row, at)
	}
	if f.Show&hud.Roots != 0 {
		m.root(f, at, root.Rot)
	}
	if f.Show&hud.Skeletons != 0 {
		colour := boneColour
		if selected {
			colour = selectedColour
		}
		for j, p := range m.Skel.Parents {
			if p >= 0 {
				line(f, bones[p].Pos, bones[j].Pos, colour)
			}
		}
	}
	if f.Show&hud.Velocities != 0 {
		count := 1 // only the root's
		if selected {
			count = len(bones)
		}
		last, now := m.Last[row*len(bones):], m.Now[row*len(bones):]
		for j := range count {
			v := now[j].Pos.Sub(last[j].Pos).Scale(scenes.TickRate)
			arrow(f, bones[j].Pos, bones[j].Pos.Add(v.Scale(span)), velocityColour)
		}
	}
	if f.Show&(hud.Contacts|hud.Targets) != 0 {
		m.feet(f, bones, row, alpha)
	}
}

// trajectory draws the past and planned trajectory of row, which is at a place.
func (m *Overlay) trajectory(f *scenes.Frame, row int, at m3.Vec3) {
	n := len(m.Roots)
	oldest := (m.ticks + every - 1) / every % samples
	from := m.onGround(m.past[oldest*n+row])
	for k := 1; k < samples; k++ {
		to := m.onGround(m.past[(oldest+k)%samples*n+row])
		line(f, from, to, pastColour)
		from = to
	}
	line(f, from, at, pastColour)
	if m.Ahead == nil {
		return
	}
	m.way = m.Ahead(m.way[:0], row)
	from = at
	for i, p := range m.way {
		to := m.onGround(p)
		if i == len(m.way)-1 {
			arrow(f, from, to, aheadColour)
		} else {
			line(f, from, to, aheadColour)
		}
		from = to
	}
}

// root draws a cross at a root on the ground, and an arrow to where it faces.
func (m *Overlay) root(f *scenes.Frame, at m3.Vec3, rot m3.Quat) {
	const arm, ahead = 0.12, 0.45 // m
	x, z := rot.Rotate(m3.V(1, 0, 0)), rot.Rotate(m3.V(0, 0, 1))
	line(f, m.onGround(at.Sub(x.Scale(arm))), m.onGround(at.Add(x.Scale(arm))), rootColour)
	line(f, m.onGround(at.Sub(z.Scale(arm))), at, rootColour)
	arrow(f, at, m.onGround(at.Add(z.Scale(ahead))), facingColour)
}

// feet draws a disc under each foot that has contact, and a cross at the ground solver's target for
// it.
func (m *Overlay) feet(f *scenes.Frame, bones []m3.Xform, row int, alpha float32) {
	const radius, arm = 0.06, 0.035 // m
	for i, leg := range m.Ground.Rig.Roles.Legs {
		k := row*m.legs() + i
		foot, tip := &m.Ground.Feet[k], bones[leg[len(leg)-1]].Pos
		if f.Show&hud.Contacts != 0 && foot.Contact() {
			colour := standColour
			if foot.Locked() {
				colour = heldColour
			}
			sole := m.onGround(tip)
			disc(f, sole, m.Terrain.Normal(sole.X, sole.Z), radius, colour)
		}
		if to := m.aim0[k].Lerp(m.aim[k], alpha); f.Show&hud.Targets != 0 && to != (m3.Vec3{}) {
			star(f, to, arm, targetColour)
			line(f, tip, to, targetColour)
		}
	}
}

// onGround returns the place on the terrain above or below p, a little higher so that lines are
// visible.
func (m *Overlay) onGround(p m3.Vec3) m3.Vec3 {
	const lift = 0.01 // m
	return m3.V(p.X, m.Terrain.Height(p.X, p.Z)+lift, p.Z)
}
