package latent

import (
	"fmt"

	"mannequin/animsys/blend"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/scenes"
	"mannequin/terrain"
)

// body is the person of the sliders. It blends each frame with the one before and stands it on the
// ground, as the tick of animsys does.
type body struct {
	person   *feature.Person
	place    feature.Place // of the frame that is shown, on flat ground
	inertial *blend.Inertial
	ground   ik.Legged
	contact  []int // (legs) columns of the contacts

	points    []m3.Vec3  // (joints of the layout) in the world
	fit       []m3.Xform // (joints) scratch
	root      [1]m3.Xform
	last, now []m3.Xform // (joints) published poses, world space
}

// halflife is the half-life of the blend, s. It is short: a slider shows at once.
const halflife = 0.05

// newBody returns a body at the origin that has no pose yet.
func newBody(p *feature.Person, field *terrain.Field) (*body, error) {
	legs, err := generator.Person(p.Layout, p.Skel, nil)
	if err != nil {
		return nil, err
	}
	n := p.Skel.Len()
	b := &body{
		person: p, inertial: blend.NewInertial(1, p.Skel.Parents), ground: legs.Ground,
		points: make([]m3.Vec3, len(p.Layout.Joints)), fit: make([]m3.Xform, n), last: make([]m3.Xform, n), now: make([]m3.Xform, n),
	}
	b.inertial.Halflife = halflife
	b.ground.Ground, b.ground.DT = field, 1.0/scenes.TickRate
	b.ground.Pos, b.ground.Rot, b.ground.Model = make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	b.ground.Feet, b.ground.Body, b.ground.Contacts = make([]ik.Foot, len(legs.Contacts)), make([]ik.Body, 1), make([]bool, len(legs.Contacts))
	for _, c := range legs.Contacts {
		b.contact = append(b.contact, p.Layout.Contact(int(c)))
	}
	return b, b.ground.Validate()
}

// show poses a frame, (columns) raw, at the place of the body. jump: it does not continue the last
// frame.
func (b *body) show(row []float32, jump bool) error {
	b.place.Joints(b.points, row)
	if !b.person.Fit(b.fit, b.ground.Pos, b.ground.Rot, b.points) {
		return fmt.Errorf("latent: the model's frame leaves the range of numbers")
	}
	for i, c := range b.contact {
		b.ground.Contacts[i] = row[c] > 0.5
	}
	b.root[0] = m3.Xform{Pos: b.place.Pos, Rot: m3.YawQuat(b.place.Yaw)}
	if jump {
		b.inertial.Jump(0)
	}
	b.inertial.Run(b.ground.Pos, b.ground.Rot, b.root[:], 0, 1)
	b.ground.Run(0, 1)
	copy(b.last, b.now)
	copy(b.now, b.ground.Model)
	return nil
}

// walks returns where the body is.
func (b *body) walks() m3.Xform { return b.root[0] }

// onward returns the place one frame after p, where the frame is row.
func onward(l *feature.Motion, p feature.Place, row []float32) feature.Place {
	p = p.Advance(row[l.Body():], 1.0/latent.Rate)
	p.Yaw = m3.WrapAngle(p.Yaw)
	return p
}
