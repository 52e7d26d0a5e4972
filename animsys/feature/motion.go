package feature

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Motion is a frame of joint positions, seen from the body (Holden, Saito, Komura 2016, sec. 4.2):
//
//   - x, y, z in metres for every joint. The body's frame is on the ground under the first
//     joint, smoothed, with +Z where the body faces;
//   - the body's motion to the next frame, seen from this one: x and z in m/s and yaw in rad/s,
//     counter-clockwise from above;
//   - for every contact 1 if the joint is on the ground, else 0.
//
// For the paper's 21 joints and four contacts it has 70 columns.
type Motion struct {
	Joints   []string  // the first is the root, the hips; no End Sites
	Left     []string  // joints on the left; the lines to their partners on the right give the facing
	Contacts []Contact // left before right
	Bends    []Bend    `json:",omitempty"` // joints that bend about one axis
}

// Bend is a joint that bends about one axis, in its own frame at rest: a knee or an elbow. It shows
// the twist of the bone above it, which positions of joints leave open.
type Bend struct {
	Joint string
	Axis  [3]float32
}

// Contact is a joint that touches the ground while it is lower than Height and slower than Speed.
type Contact struct {
	Joint  string
	Height float32 // m above the ground
	Speed  float32 // m/s
}

// Offsets inside the body's motion.
const (
	MotionX   = 0 // m/s, leftward
	MotionZ   = 1 // m/s, forward
	MotionYaw = 2 // rad/s, counter-clockwise from above
	MotionLen = 3
)

// Human returns the layout for people: the joints of CMU's recordings that the paper keeps, and
// contacts of heels and toes with the authors' bounds. At rest the arms are held out to the sides.
func Human() *Motion {
	return &Motion{
		Joints: []string{"Hips",
			"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase",
			"RightUpLeg", "RightLeg", "RightFoot", "RightToeBase",
			"Spine", "Spine1", "Neck1", "Head",
			"LeftArm", "LeftForeArm", "LeftHand", "LeftHandIndex1",
			"RightArm", "RightForeArm", "RightHand", "RightHandIndex1"},
		Left: []string{"LeftArm", "LeftUpLeg"},
		Contacts: []Contact{
			{"LeftFoot", 0.17, 0.76}, {"LeftToeBase", 0.11, 0.76},
			{"RightFoot", 0.17, 0.76}, {"RightToeBase", 0.11, 0.76}},
		Bends: []Bend{
			{"LeftLeg", [3]float32{1, 0, 0}}, {"RightLeg", [3]float32{1, 0, 0}},
			{"LeftForeArm", [3]float32{0, -1, 0}}, {"RightForeArm", [3]float32{0, 1, 0}}},
	}
}

// Pos returns the first column of joint j.
func (m *Motion) Pos(j int) int { return 3 * j }

// Body returns the first column of the body's motion; add MotionX, MotionZ or MotionYaw.
func (m *Motion) Body() int { return 3 * len(m.Joints) }

// Contact returns the column of contact i.
func (m *Motion) Contact(i int) int { return m.Body() + MotionLen + i }

// Columns returns the length of a frame.
func (m *Motion) Columns() int { return m.Contact(len(m.Contacts)) }

// Joint returns the index of the joint called name, or −1.
func (m *Motion) Joint(name string) int { return slices.Index(m.Joints, name) }

// MeanSpeed returns the mean speed of the body over the ground, m/s. Rows are (frames, columns) raw.
func (m *Motion) MeanSpeed(rows []float32) (sum float64) {
	cols := m.Columns()
	frames := len(rows) / cols
	for f := range frames {
		body := rows[f*cols+m.Body():]
		sum += math.Hypot(float64(body[MotionX]), float64(body[MotionZ]))
	}
	return sum / float64(max(1, frames))
}

// Validate reports the first fault that makes m unusable.
func (m *Motion) Validate() error {
	switch {
	case len(m.Joints) == 0:
		return fmt.Errorf("feature: layout has no joints")
	case len(m.Left) == 0:
		return fmt.Errorf("feature: layout has no joints on the left to find the facing from")
	}
	for i, j := range m.Joints {
		if slices.Contains(m.Joints[:i], j) {
			return fmt.Errorf("feature: layout names %q twice", j)
		}
	}
	pair, err := Pairs(m.Joints)
	if err != nil {
		return err
	}
	for _, l := range m.Left {
		if j := m.Joint(l); j < 0 {
			return fmt.Errorf("feature: the facing needs %q, which is not among the layout's joints", l)
		} else if pair[j] == j {
			return fmt.Errorf("feature: the facing needs %q, which has no partner on the right", l)
		}
	}
	for i, c := range m.Contacts {
		switch {
		case m.Joint(c.Joint) < 0:
			return fmt.Errorf("feature: contact %q is not among the layout's joints", c.Joint)
		case m.ContactOf(c.Joint) != i:
			return fmt.Errorf("feature: layout names contact %q twice", c.Joint)
		case m.ContactOf(m.Joints[pair[m.Joint(c.Joint)]]) < 0:
			return fmt.Errorf("feature: contact %q has no partner on the other side", c.Joint)
		case !(c.Height > 0) || !(c.Speed > 0):
			return fmt.Errorf("feature: contact %q has bounds of %g m and %g m/s, want more than 0", c.Joint, c.Height, c.Speed)
		}
	}
	for _, b := range m.Bends {
		if m.Joint(b.Joint) < 0 {
			return fmt.Errorf("feature: %q, which bends about an axis, is not among the layout's joints", b.Joint)
		}
	}
	return nil
}

// ContactOf returns the index of the contact of a joint, or −1.
func (m *Motion) ContactOf(joint string) int {
	return slices.IndexFunc(m.Contacts, func(c Contact) bool { return c.Joint == joint })
}

// Hash identifies the layout: equal hashes mean equal frames.
func (m *Motion) Hash() string {
	b, err := json.Marshal(m)
	if err != nil { // a bound is NaN or infinite
		b = fmt.Appendf(nil, "%v", *m)
	}
	h := sha256.Sum256(append([]byte("motion "), b...))
	return hex.EncodeToString(h[:16])
}

// MirrorColumns returns the map that mirrors a frame in the plane x = 0.
func (m *Motion) MirrorColumns() ([]Column, error) {
	pair, err := Pairs(m.Joints)
	if err != nil {
		return nil, err
	}
	cols := identity(m.Columns())
	for j, p := range pair {
		for k := range 3 {
			cols[m.Pos(j)+k].From = int32(m.Pos(p) + k)
		}
		cols[m.Pos(j)].Sign = -1
	}
	cols[m.Body()+MotionX].Sign = -1
	cols[m.Body()+MotionYaw].Sign = -1
	for i, c := range m.Contacts {
		k := m.ContactOf(m.Joints[pair[m.Joint(c.Joint)]])
		if k < 0 {
			return nil, fmt.Errorf("feature: contact %q has no partner on the other side", c.Joint)
		}
		cols[m.Contact(i)].From = int32(m.Contact(k))
	}
	return cols, nil
}
