package matching

import (
	"cmp"
	"fmt"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Character is a body, what it can be asked for, and the features that its frames have: what a [Database] and a [Learned]
// have in common.
type Character struct {
	Name, Data, License, Card string // its name, what it is made of, under which licence, and a text about it

	Size float32 // metres of the character's own size that a unit of the skeleton's is; 0 is 1

	Responsive bool // streams take ResponsiveTuning by default

	Skel  *skel.Skeleton
	Roles ik.Roles
	Tags  []string // names of bits

	legs   int
	weight Weights
	mean   []float32 // (columns)
	scale  []float32 // (columns) what a raw feature less the mean is multiplied by

	upright   bool      // on two legs, the trunk above them
	speeds    []float32 // quantiles of the speeds over the ground, m/s; see Speeds
	actions   [control.NumActions]Tags
	found     Tags                 // of frames that a search finds
	acts      Tags                 // other than idle and move
	idle      Tags                 // idle, if a search finds frames that show it and none of acts; of networks: if they were asked for it
	walk      Tags                 // WalkTag, if a search finds frames with it
	walks     [2]float32           // greatest speeds ahead and backward at which it walks, m/s
	slowest   [maxTags]float32     // m/s, of the clips that go and show each tag
	footAccel float32              // of feet on their way and landing, m/s²
	fastest   [maxTags + 1]float32 // m/s, of frames with each tag; and of frames with none of acts
}

// Weights are by how much the groups of features count: more the larger they are. Those of feet are for two legs;
// more feet count as much together.
type Weights struct {
	FootPlace, FootVelocity, HipsVelocity, Place, Facing float32
}

// DefaultWeights returns those of the released code of Holden et al. 2020.
func DefaultWeights() Weights {
	return Weights{FootPlace: 0.75, FootVelocity: 1, HipsVelocity: 1, Place: 1, Facing: 1.5}
}

// maxTags bounds the number of tags.
const maxTags = 64

// Bounds of weights other than 0: features are float16.
const leastWeight, maxWeight = 1e-3, 100

// The trajectory's samples, in ticks ahead.
var horizon = [...]int{20, 40, 60}

// Columns returns the number of features of a frame: 6 for each leg, and 15.
func (c *Character) Columns() int { return 6*c.legs + 15 }

// Columns of the groups.
func (c *Character) footVelocity() int { return 3 * c.legs }
func (c *Character) hipsVelocity() int { return 6 * c.legs }
func (c *Character) trajectory() int   { return 6*c.legs + 3 }
func (c *Character) facings() int      { return 6*c.legs + 9 }

// groups returns the columns of each group and its weight. All feet together count as much as two.
func (c *Character) groups() [5]group {
	w, feet := &c.weight, m3.Sqrt(2/float32(c.legs))
	return [5]group{
		{0, c.footVelocity(), feet * w.FootPlace}, {c.footVelocity(), c.hipsVelocity(), feet * w.FootVelocity}, {c.hipsVelocity(), c.trajectory(), w.HipsVelocity},
		{c.trajectory(), c.facings(), w.Place}, {c.facings(), c.Columns(), w.Facing},
	}
}

type group struct {
	from, to int
	weight   float32
}

// open checks the skeleton, the weights and the tags, and takes the roles; nil finds them.
func (c *Character) open(roles *ik.Roles) error {
	if c.Skel == nil {
		return fmt.Errorf("matching: a database wants a skeleton")
	}
	if err := c.Skel.Validate(); err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	if len(c.Tags) > maxTags {
		return fmt.Errorf("matching: %d tags, at most %d are allowed", len(c.Tags), maxTags)
	}
	for i, name := range c.Tags {
		if first := slices.Index(c.Tags, name); first < i && name != "" {
			return fmt.Errorf("matching: tags %d and %d are both called %q", first, i, name)
		}
	}
	if roles == nil {
		found, err := ik.DogRoles(c.Skel.Names)
		if err != nil {
			if found, err = ik.HumanRoles(c.Skel.Names); err != nil {
				return fmt.Errorf("matching: %w", err)
			}
		}
		roles = &found
	}
	tree, err := ik.NewTree(c.Skel.Parents)
	if err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	if _, err := ik.NewRig(tree, *roles); err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	c.Roles, c.legs = *roles, len(roles.Legs)
	w := &c.weight
	for _, v := range [...]float32{w.FootPlace, w.FootVelocity, w.HipsVelocity, w.Place, w.Facing} {
		if v != 0 && !(v >= leastWeight && v <= maxWeight) {
			return fmt.Errorf("matching: the weights are %+v: want 0, or %g to %d", c.weight, leastWeight, maxWeight)
		}
	}
	return nil
}

// front finds out where bodies face: along a trunk that is level at rest, or across the roots of their legs. A trunk that
// points elsewhere than legs do, such as a spider's, leaves it to joint 0.
func (c *Character) front() (*facing, error) {
	sk := c.Skel
	model := sk.Rest()
	f := &facing{front: -1}
	for i := 0; i+1 < c.legs; i += 2 {
		f.left, f.right = append(f.left, c.Roles.Legs[i][0]), append(f.right, c.Roles.Legs[i+1][0])
	}
	across := f.ahead(model)
	trunk := model[c.Roles.Neck].Pos.Sub(model[0].Pos)
	level := trunk.Flat().Len() > m3.Abs(trunk.Y)
	const along = 0.7
	switch {
	case c.legs <= 2 && !level && f.left == nil:
		return nil, fmt.Errorf("matching: where a body with one leg and an upright trunk faces is unknown")
	case c.legs <= 2 && !level:
		c.upright = c.legs == 2
	case across == (m3.Vec3{}) || trunk.Flat().Normalize(m3.Vec3{}).Dot(across) > along:
		f.front = c.Roles.Neck
	default:
		f.axis = across
	}
	return f, nil
}

// Sized returns the character in its own size, for animsys.Options.Characters: streams move it in the usual one.
func (c *Character) Sized() (*retarget.Character, error) {
	if c.Skel == nil {
		return nil, errZero
	}
	size, n := cmp.Or(c.Size, 1), c.Skel.Len()
	pose, from := c.Skel.Rest(), make([]int, n)
	low := pose[0].Pos.Y
	for _, x := range pose {
		low = min(low, x.Pos.Y)
	}
	own := &skel.Skeleton{Names: c.Skel.Names, Parents: c.Skel.Parents, EndSite: c.Skel.EndSite}
	rest := make([]m3.Xform, n)
	for j, o := range c.Skel.Offsets {
		from[j] = j
		pose[j].Pos.Y -= low
		rest[j] = m3.Xform{Pos: pose[j].Pos.Scale(size), Rot: m3.Ident}
		own.Offsets = append(own.Offsets, o.Scale(size))
	}
	return retarget.New(retarget.Options{Source: c.Skel, Roles: c.Roles, Pose: pose, Skel: own, Rest: rest, From: from})
}

// WayColumn returns the first feature that says where a body goes; those before it say how it stands.
func (c *Character) WayColumn() int { return c.trajectory() }

// TurnWay turns where a body of features q, as AppendFeatures writes them, goes and faces: by yaw about the vertical, rad.
func (c *Character) TurnWay(q []float32, yaw float32) {
	r := m3.YawQuat(yaw)
	for j := c.trajectory(); j+1 < min(len(q), len(c.mean)); j += 2 {
		v := r.Rotate(m3.V(q[j]/c.scale[j]+c.mean[j], 0, q[j+1]/c.scale[j+1]+c.mean[j+1]))
		q[j], q[j+1] = (v.X-c.mean[j])*c.scale[j], (v.Z-c.mean[j+1])*c.scale[j+1]
	}
}
