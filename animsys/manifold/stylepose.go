package manifold

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// A style changes a frame of a motion by what the frames around it are as well. But these follow so
// closely from the frame's pose that a linear map of the pose alone gives nearly the same change. So a
// style can be given to one pose at a time, of people whose motion no manifold makes. The map is from the
// places of joints to the move of the hips and the turns of the bones, which keep their lengths.

// FitPoses finds the maps that give the styles of transfers to single poses, as a PoseStyler does. They
// are fitted to what the transfers do to motions, each (frames, columns) raw with an even number of
// frames. These should show all kinds of poses that will get the styles. Call it before the transfers are shared.
func (m *Model) FitPoses(transfers []*StyleTransfer, motions [][]float32, workers int) error {
	if m == nil || m.Net == nil {
		return errZeroModel
	}
	values := 3 * len(m.Layout.Joints)
	n := values + 1
	a, b := make([]float64, n*n), make([][]float64, len(transfers))
	for i, t := range transfers {
		if !t.BelongsTo(m) {
			return fmt.Errorf("manifold: transfer %d is not of model %q", i, m.name)
		}
		b[i] = make([]float64, n*values)
	}
	for i, rows := range motions {
		if err := m.addPoses(a, b, transfers, rows, workers); err != nil {
			return fmt.Errorf("manifold: motion %d: %w", i, err)
		}
	}
	trace := 0.0
	for i := range values {
		trace += a[i*n+i] - a[values*n+i]*a[values*n+i]/max(a[n*n-1], 1)
	}
	for i := range values {
		a[i*n+i] += poseRidge*trace/float64(values) + 1e-12
	}
	if !linsolve.Factor(a, n, 0) {
		return errors.New("manifold: the motions have no poses that a style could be fitted to")
	}
	for i, t := range transfers {
		linsolve.Substitute(a, b[i], n, values)
		poses := make([]float32, n*values)
		for k, v := range b[i] {
			if poses[k] = float32(v); !finite(v) {
				return fmt.Errorf("manifold: the map of poses of transfer %d is not finite: give the style less weight", i)
			}
		}
		t.person, t.poses = m.person, poses
	}
	return nil
}

// poseRidge is the penalty of the squared values of a map of poses, as a share of the mean variance of a coordinate.
const poseRidge = 1e-3

// addPoses adds the frames of a motion to the normal equations of the maps of poses: the lower half of a,
// and b for each transfer.
func (m *Model) addPoses(a []float64, b [][]float64, transfers []*StyleTransfer, rows []float32, workers int) error {
	frames, err := m.frames("a motion", rows, 2)
	if err != nil {
		return err
	}
	l, cols, joints := m.Layout, m.Layout.Columns(), len(m.Layout.Joints)
	length, values := frames+2*margin, 3*joints
	r, err := m.newRestyler(1, length, workers, nil)
	if err != nil {
		return err
	}
	defer r.close()
	n := values + 1
	x, turns := make([]float64, frames*n), make([]m3.Quat, frames)
	points, sides, parents := make([]m3.Vec3, joints), sidesOf(l), parentsOf(m.person)
	for f := range frames {
		for j := range points {
			points[j] = vec(rows[f*cols:], l.Pos(j))
		}
		at := frameOf(points, sides)
		turns[f] = m3.YawQuat(-at.Yaw)
		row := x[f*n:][:n]
		for j, p := range points {
			p = turns[f].Rotate(p.Sub(at.Pos))
			row[3*j], row[3*j+1], row[3*j+2] = float64(p.X), float64(p.Y), float64(p.Z)
		}
		row[values] = 1
		for i, v := range row {
			for k := range i + 1 {
				a[i*n+k] += v * row[k]
			}
		}
	}
	padEnds(r.frames, rows, cols)
	if err := r.encodeFrames(1, length); err != nil {
		return err
	}
	hidden, change := append([]float32(nil), r.hidden...), make([]float32, len(rows))
	for i, t := range transfers {
		copy(r.hidden, hidden)
		t.apply(r.hidden, r.sum[0], 1)
		if err := r.decodeHidden(1, length); err != nil {
			return err
		}
		clear(change)
		r.addChange(change, 0, margin, length)
		for f := range frames {
			row, was, by := x[f*n:][:n], rows[f*cols:], change[f*cols:]
			for j, up := range parents {
				d := vec(by, 0)
				if up >= 0 {
					bone := vec(was, l.Pos(j)).Sub(vec(was, l.Pos(int(up))))
					styled := bone.Add(vec(by, l.Pos(j)).Sub(vec(by, l.Pos(int(up)))))
					d = m3.Between(bone.Normalize(m3.Up), styled.Normalize(m3.Up)).RotationVector()
				}
				d = turns[f].Rotate(d)
				for c, v := range [3]float64{float64(d.X), float64(d.Y), float64(d.Z)} {
					for k, w := range row {
						b[i][k*values+3*j+c] += w * v
					}
				}
			}
		}
	}
	return nil
}

// parentsOf returns the joint of the layout above each; the first has none.
func parentsOf(of *feature.Person) []int16 {
	all := []int16{-1}
	for i := range of.Layout.Joints[1:] {
		all = append(all, int16(max(above(of, i+1), 0)))
	}
	return all
}

// sidesOf returns the pairs of joints, left and right, whose lines give the facing.
func sidesOf(l *feature.Motion) [][2]int {
	pair, _ := feature.Pairs(l.Joints)
	var all [][2]int
	for _, name := range l.Left {
		j := l.Joint(name)
		all = append(all, [2]int{j, pair[j]})
	}
	return all
}

// frameOf returns the frame of one pose: on the ground under the first joint, facing as the pairs say.
func frameOf(points []m3.Vec3, sides [][2]int) feature.Place {
	across := m3.Vec3{}
	for _, s := range sides {
		across = across.Add(points[s[0]].Sub(points[s[1]]))
	}
	return feature.Place{Pos: points[0].Flat(), Yaw: m3.YawOf(across.Cross(m3.Up))}
}

// PoseStyler gives styles to single poses of people, whatever makes their motion. It belongs to one
// goroutine.
//
// As in the motion of crowds on curves, feet keep their places along the way and stand where they stood; knees do not
// cross, and hands stay out of the body. People who lie or roll keep their poses.
type PoseStyler struct {
	styles  []*StyleTransfer
	person  *feature.Person // on the skeleton of the poses
	joints  []int           // of the skeleton, by the layout's joint
	sides   [][2]int
	parents []int16 // joints of the layout above; the first has none
	neck    int
	size    float32   // of this skeleton ÷ the skeleton of the styles
	ground  float32   // height of toes that stand, m
	resting []float32 // (contacts) heights of joints above it when they stand, of the usual size
	hold    *holder

	points                  []m3.Vec3
	was, row, stand, change []float32
	body, plain, styled     []m3.Xform
	pos                     []m3.Vec3
	rot                     []m3.Quat
}

// ErrNoPoses reports that a style is for people on curves only.
var ErrNoPoses = errors.New("the style is for people on curves only: make it again with \"mannequin style transfer\", or call Model.FitPoses")

// NewPoseStyler returns a PoseStyler of styles, all of one model, for people on a skeleton that has the joints
// of that model's layout. They stand on level ground, with toe joints at height ground, m. An ErrNoPoses says
// that a style has no map of poses.
func NewPoseStyler(styles []*StyleTransfer, sk *skel.Skeleton, ground float32) (*PoseStyler, error) {
	if len(styles) == 0 || sk == nil {
		return nil, errors.New("manifold: a PoseStyler needs styles and a skeleton")
	}
	for i, t := range styles {
		switch {
		case t == nil || t.poses == nil:
			return nil, fmt.Errorf("manifold: style %d: %w", i, ErrNoPoses)
		case t.person.Layout.Hash() != styles[0].person.Layout.Hash():
			return nil, fmt.Errorf("manifold: styles %q and %q are of models with other joints", styles[0].Name, t.Name)
		}
	}
	usual := styles[0].person
	if err := sk.Validate(); err != nil {
		return nil, fmt.Errorf("manifold: %w", err)
	}
	person, err := feature.NewPerson(usual.Layout, sk)
	if err != nil {
		return nil, fmt.Errorf("manifold: the styles are for people with other joints: %w", err)
	}
	l, n := usual.Layout, sk.Len()
	p := &PoseStyler{styles: styles, person: person, sides: sidesOf(l), neck: max(l.Joint("Neck1"), 0), ground: ground, hold: newHolder(usual, 1),
		points: make([]m3.Vec3, len(l.Joints)), was: make([]float32, l.Columns()), row: make([]float32, l.Columns()), stand: make([]float32, len(l.Contacts)), change: make([]float32, 3*len(l.Joints)),
		body: make([]m3.Xform, n), plain: make([]m3.Xform, n), styled: make([]m3.Xform, n), pos: make([]m3.Vec3, n), rot: make([]m3.Quat, n)}
	for _, name := range l.Joints {
		p.joints = append(p.joints, sk.Index(name))
	}
	p.parents = parentsOf(usual)
	rest, own := usual.Skel.Rest(), sk.Rest()
	low := float32(math.Inf(1))
	for _, c := range l.Contacts {
		low = min(low, rest[usual.Skel.Index(c.Joint)].Pos.Y)
	}
	for _, c := range l.Contacts {
		p.resting = append(p.resting, rest[usual.Skel.Index(c.Joint)].Pos.Y-low)
	}
	// The size of a skeleton is its height from toes to neck.
	tall := func(all []m3.Xform, sk *skel.Skeleton) float32 {
		foot := 0
		if len(l.Contacts) > 0 {
			foot = sk.Index(l.Contacts[0].Joint)
		}
		return all[sk.Index(l.Joints[p.neck])].Pos.Y - all[foot].Pos.Y
	}
	if p.size = tall(own, sk) / tall(rest, usual.Skel); !(p.size > 1e-3 && p.size < 1e3) {
		return nil, fmt.Errorf("manifold: the skeleton at rest is %g times as tall as the skeleton of the styles: want a person who stands at rest", p.size)
	}
	return p, nil
}

const (
	lifted = 0.06 // m above its height at rest at which a foot no longer stands
	// The share of the way from hips to neck that goes up, below and above which a person lies and stands.
	lies, upright = 0.2, 0.6
	mostTurn      = 2.5 // rad, of a bone
)

// turned returns a bone turned by a rotation vector, by mostTurn at most.
func turned(bone, by m3.Vec3) m3.Vec3 {
	far := by.Dot(by) / (mostTurn * mostTurn)
	return m3.FromRotationVector(by.Scale(1 / m3.Sqrt(m3.Sqrt(1+far*far)))).Rotate(bone)
}

// Run gives a pose a style, by its index, with a weight from 0 to 2. pos and rot are local translations and
// rotations of the skeleton's joints, the root's over level ground. A pose that is not finite stays as it is, as
// it does with an index of no style.
func (p *PoseStyler) Run(pos []m3.Vec3, rot []m3.Quat, style int, weight float32) {
	if style < 0 || style >= len(p.styles) || !(weight > 0) {
		return
	}
	t := p.styles[style]
	weight = min(weight, mostWeight)
	l := p.person.Layout
	p.person.Skel.LocalToModel(p.body, pos, rot)
	for i, j := range p.joints {
		p.points[i] = p.body[j].Pos
	}
	if !p.person.Fit(p.plain, p.pos, p.rot, p.points) {
		return
	}
	at := frameOf(p.points, p.sides)
	at.Pos.Y = p.ground
	into := m3.YawQuat(-at.Yaw)
	clear(p.was)
	for i, v := range p.points {
		put(p.was, l.Pos(i), into.Rotate(v.Sub(at.Pos)).Scale(1/p.size))
	}
	trunk := vec(p.was, l.Pos(p.neck)).Sub(vec(p.was, 0))
	if weight *= m3.SmoothStep(lies, upright, trunk.Y/max(trunk.Len(), 1e-6)); !(weight > 0) {
		return
	}
	values := 3 * len(l.Joints)
	change := p.change
	copy(change, t.poses[values*values:])
	for i, v := range p.was[:values] {
		for k, w := range t.poses[i*values:][:values] {
			change[k] += v * w
		}
	}
	put(p.row, 0, vec(p.was, 0).Add(vec(change, 0).Scale(weight)))
	for i, up := range p.parents[1:] {
		from, to := l.Pos(int(up)), l.Pos(i+1)
		bone := vec(p.was, to).Sub(vec(p.was, from))
		put(p.row, to, vec(p.row, from).Add(turned(bone, vec(change, to).Scale(weight))))
	}
	for i, c := range l.Contacts {
		p.stand[i] = 1 - m3.SmoothStep(0, lifted, p.was[l.Pos(l.Joint(c.Joint))+1]-p.resting[i])
	}
	p.hold.run(p.row, p.was, p.stand)
	turn := into.Conj()
	for i := range p.points {
		p.points[i] = turn.Rotate(vec(p.row, l.Pos(i)).Scale(p.size)).Add(at.Pos)
	}
	if !p.person.Fit(p.styled, p.pos, p.rot, p.points) {
		return
	}
	// Joints turn as the fitted pose does, and keep what places of joints do not show, as bones' twist.
	moved := p.styled[0].Pos.Sub(p.plain[0].Pos)
	for j := range p.body {
		p.body[j].Rot = p.styled[j].Rot.Mul(p.plain[j].Rot.Conj()).Mul(p.body[j].Rot)
	}
	pos[0] = pos[0].Add(moved)
	for j, parent := range p.person.Skel.Parents {
		if rot[j] = p.body[j].Rot; parent >= 0 {
			rot[j] = p.body[parent].Rot.Conj().Mul(rot[j])
		}
	}
}
