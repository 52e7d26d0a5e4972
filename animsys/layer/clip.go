// Package layer plays clips over motion that is made elsewhere: a person waves while a network
// walks its legs.
//
//   - [New] checks a clip that an artist made and prepares it for a crowd's skeleton, [NewOwn] one on a character's
//     own: [Clip].
//   - [UpperBody], [Arms], [Head], [Tail] and [Joints] choose joints: [Mask].
//   - [Player] holds the layers of many agents. animsys.Crowd has one: see its Play and Stop.
//
// A clip blends in and out by inertialization (Bollo, "Inertialization", GDC 2018): the pose switches
// at once, and the difference, with its velocity, is added and fades over a given time. See [Player.Pose].
package layer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Limits of clips and of how they are played. New and Play return an error beyond them.
const (
	MaxFrames  = 1 << 17 // of a clip: 36 minutes at 60 frames per second
	MaxFPS     = 1000
	MaxMarkers = 1024 // of a clip
	MaxLayers  = 4    // of an agent: 0 to 3
	MaxSpeed   = 16
	MaxBlend   = 60 // longest blend, s
)

// ClipOptions configure a clip. The zero value is a clip without markers.
type ClipOptions struct {
	Name      string   // for errors; free to choose
	Markers   []Marker // points in time that become events; copied
	Reference int      // the frame that PlayOptions.Additive takes the difference from
}

// Marker is a point in a clip's time, such as the moment a hand hits a door.
type Marker struct {
	Name string
	Time float32 // from the first frame, s; at most the clip's last frame
}

// Clip is a clip that is ready to be played on one skeleton. It is immutable: crowds and agents share it.
type Clip struct {
	name    string
	sk      *skel.Skeleton
	fps     float64
	frames  int
	closed  bool // the last frame shows the pose of the first
	markers []Marker
	ref     int

	// Rotations in the parent's space, (frames, joints). Joint 0 is in the space of the root of frame 0.
	rot  []m3.Quat
	hips []m3.Vec3 // (frames) place of joint 0 in the same space

	// The same of joint 0 in the space of the root of its own frame, for root motion.
	ownRot  []m3.Quat
	ownHips []m3.Vec3
	track   []m3.Vec3 // (frames) the root in the space of frame 0: X, yaw, Z

	tips  []int   // joints whose contact is known
	stand []uint8 // (frames) a bit for each of tips

	skeleton uint64 // fingerprint of sk; a clip that was read has no sk yet

	own *ownPart // of a clip of a character's own skeleton
}

// lengthsDiffer is how far a joint's offset may be from the skeleton's, m.
const lengthsDiffer = 0.01

// New prepares clip, in metres with +Y up and the ground at height 0, for the skeleton sk of a crowd.
// It copies what it needs. The clip has the joints of sk by name, with the same parents and the same
// offsets, to 1 cm; End Sites may be missing, and others may be there. Retarget clips of other skeletons
// first (mannequin import --retarget, or mannequin/offline/retarget when the game starts). New also
// refuses clips that are not finite or exceed the limits.
//
// The root of a clip is the place on the ground below joint 0, with the heading of the hips.
func New(sk *skel.Skeleton, clip *skel.Clip, opt ClipOptions) (*Clip, error) {
	c, err := newClip(sk, clip, opt)
	if err != nil {
		return nil, failed(err, opt.Name)
	}
	return c, nil
}

// failed says which clip an error is of.
func failed(err error, name string) error {
	if name != "" {
		name = fmt.Sprintf(" %q", name)
	}
	return fmt.Errorf("layer: clip%s: %w", name, err)
}

func newClip(sk *skel.Skeleton, clip *skel.Clip, opt ClipOptions) (*Clip, error) {
	if sk == nil || clip == nil || clip.Skel == nil {
		return nil, fmt.Errorf("the skeleton or the clip is missing")
	}
	if err := sk.Validate(); err != nil {
		return nil, err
	}
	index, err := match(sk, clip.Skel, ofCrowd)
	if err != nil {
		return nil, err
	}
	if err := size(clip); err != nil {
		return nil, err
	}
	n, m := sk.Len(), clip.Skel.Len()
	switch {
	case opt.Reference < 0 || opt.Reference >= clip.Frames:
		return nil, fmt.Errorf("the reference is frame %d, it has frames 0 to %d", opt.Reference, clip.Frames-1)
	case len(opt.Markers) > MaxMarkers:
		return nil, fmt.Errorf("%d markers, at most %d are allowed", len(opt.Markers), MaxMarkers)
	}
	c := &Clip{name: opt.Name, sk: sk, skeleton: sk.Fingerprint(), fps: clip.FPS, frames: clip.Frames, ref: opt.Reference,
		rot: slices.Repeat([]m3.Quat{m3.Ident}, clip.Frames*n), hips: make([]m3.Vec3, clip.Frames), markers: slices.Clone(opt.Markers)}
	for f := range c.frames {
		if err := sound(clip, f); err != nil {
			return nil, err
		}
		for j := range n {
			if index[j] < 0 {
				continue
			}
			k, from := f*n+j, f*m+index[j]
			c.rot[k] = clip.Rot[from].Normalize()
			if f > 0 && c.rot[k].Dot(c.rot[k-n]) < 0 { // neighbours on one half of the sphere
				c.rot[k] = c.rot[k].Neg()
			}
		}
		if c.hips[f] = clip.Pos[f*m+index[0]]; !(c.hips[f].Len() < farthest) {
			return nil, tooFar(f, sk.Names[0], c.hips[f])
		}
	}
	for _, m := range c.markers {
		if !(m.Time >= 0) || float64(m.Time) > float64(c.frames-1)/c.fps+1e-6 {
			return nil, fmt.Errorf("marker %q is at %.4g s, the clip's frames are from 0 to %.4g s", m.Name, m.Time, float64(c.frames-1)/c.fps)
		}
	}
	slices.SortStableFunc(c.markers, func(a, b Marker) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	c.findContacts()
	return c, c.findRoot()
}

// farthest is how far from the origin a joint of a clip may be, m.
const farthest = 1e5

func tooFar(frame int, joint string, at m3.Vec3) error {
	return fmt.Errorf("frame %d: %s is at %v, too far away: are lengths in metres?", frame, joint, at)
}

// size returns an error if a clip's length or rate is out of range.
func size(clip *skel.Clip) error {
	m := clip.Skel.Len()
	switch {
	case clip.Frames < 1 || clip.Frames > MaxFrames:
		return fmt.Errorf("it has %d frames, want 1 to %d", clip.Frames, MaxFrames)
	case !(clip.FPS > 0) || clip.FPS > MaxFPS:
		return fmt.Errorf("it has %g frames per second, want more than 0 and at most %d", clip.FPS, MaxFPS)
	case len(clip.Pos) != clip.Frames*m || len(clip.Rot) != clip.Frames*m:
		return fmt.Errorf("it has %d translations and %d rotations for %d frames of %d joints", len(clip.Pos), len(clip.Rot), clip.Frames, m)
	}
	return nil
}

// sound returns an error if a frame of a clip is no pose.
func sound(clip *skel.Clip, f int) error {
	pos, rot := clip.Frame(f)
	for j, q := range rot {
		if !q.Finite() || m3.Abs(q.Dot(q)-1) > 0.01 || !pos[j].Finite() {
			return fmt.Errorf("frame %d, joint %s: rotation %v, translation %v: want finite numbers and unit quaternions", f, clip.Skel.Names[j], q, pos[j])
		}
	}
	return nil
}

// whose is the skeleton that a clip is to be on.
type whose struct{ name, advice string }

var (
	ofCrowd     = whose{"the crowd's skeleton", "retarget the clip to the crowd's skeleton first, see mannequin import --retarget; NewOwn takes clips of a character's own"}
	ofCharacter = whose{"the character's skeleton", "give it a clip of the character's own file, as skin.Character.Motion reads it"}
)

// match returns for each joint of sk the joint of the same name of a clip's skeleton; −1 for End Sites, and
// for joints at the ends of characters, that it does not have. It returns an error that says how they differ.
func match(sk, of *skel.Skeleton, whose whose) ([]int, error) {
	if err := of.Validate(); err != nil {
		return nil, err
	}
	inner := make([]bool, sk.Len())
	for _, p := range sk.Parents {
		if p >= 0 {
			inner[p] = true
		}
	}
	index := make([]int, sk.Len())
	for j, name := range sk.Names {
		k := of.Index(name)
		if index[j] = k; k < 0 {
			if sk.EndSite[j] || whose == ofCharacter && !inner[j] && sk.Parents[j] >= 0 {
				continue
			}
			return nil, fmt.Errorf("it has no joint %s of %s, it has %s, …: %s", name, whose.name, strings.Join(of.Names[:min(4, of.Len())], ", "), whose.advice)
		}
		up, ofUp := int(sk.Parents[j]), int(of.Parents[k])
		switch {
		case j > 0 && up < 0 && whose == ofCrowd:
			return nil, fmt.Errorf("the skeleton has a second root %s", name)
		case up < 0 && ofUp >= 0 || up >= 0 && ofUp != index[up]:
			return nil, fmt.Errorf("its joint %s has another parent than in %s: %s", name, whose.name, whose.advice)
		case up >= 0 && of.Offsets[k].Dist(sk.Offsets[j]) > lengthsDiffer:
			return nil, fmt.Errorf("its joint %s is %.2f m from its place in %s, or lengths are not in metres: %s", name, of.Offsets[k].Dist(sk.Offsets[j]), whose.name, whose.advice)
		}
	}
	return index, nil
}

// same reports whether two skeletons that clips or masks were made for have the same joints.
func same(a, b *skel.Skeleton) bool {
	return a == b || a != nil && b != nil && slices.Equal(a.Names, b.Names) && slices.Equal(a.Parents, b.Parents)
}

// Name returns the clip's name.
func (c *Clip) Name() string { return c.name }

// String returns the clip's name in quotes.
func (c *Clip) String() string { return strconv.Quote(c.name) }

// Seconds returns the time that the clip takes: until its last frame, or, in a loop, until it is back
// at its first. A last frame that shows the pose of the first is the same moment of a loop.
func (c *Clip) Seconds(loop bool) float64 {
	if loop && !c.closed {
		return float64(c.frames) / c.fps
	}
	return float64(c.frames-1) / c.fps
}

// Markers returns the clip's markers in the order of time. They are the clip's own: do not change them.
func (c *Clip) Markers() []Marker { return c.markers }

// Skeleton returns the crowd's skeleton that the clip was prepared for.
func (c *Clip) Skeleton() *skel.Skeleton { return c.sk }

func (c *Clip) joints() int { return c.sk.Len() }

// findRoot finds the track of the root, and takes the hips into its space.
func (c *Clip) findRoot() error {
	raw := make([]m3.Vec3, c.frames) // X, yaw, Z
	left, right := c.sk.Index("LeftUpLeg"), c.sk.Index("RightUpLeg")
	model := make([]m3.Xform, c.joints())
	for f := range raw {
		q := c.rot[f*c.joints()]
		ahead := q.Forward()
		if left > 0 && right > 0 {
			c.model(model, f)
			ahead = model[left].Pos.Sub(model[right].Pos).Cross(m3.Up)
		}
		yaw := float32(0)
		if f > 0 {
			yaw = raw[f-1].Y
		}
		if l := ahead.Flat(); l.Len() > 1e-4 {
			yaw += m3.WrapAngle(m3.YawOf(l) - yaw)
		}
		raw[f] = m3.V(c.hips[f].X, yaw, c.hips[f].Z)
	}
	c.track = smooth(raw, int(math.Round(rootSmooth*c.fps)))
	first := m3.Xform{Pos: m3.V(raw[0].X, 0, raw[0].Z), Rot: m3.YawQuat(raw[0].Y)}.Inv()
	c.ownRot, c.ownHips = make([]m3.Quat, c.frames), make([]m3.Vec3, c.frames)
	for f := range c.track {
		k := f * c.joints()
		at := first.Mul(m3.Xform{Pos: c.hips[f], Rot: c.rot[k]})
		root := m3.Xform{Pos: m3.V(c.track[f].X, 0, c.track[f].Z), Rot: m3.YawQuat(c.track[f].Y)}
		own := root.Inv().Mul(m3.Xform{Pos: c.hips[f], Rot: c.rot[k]})
		from := first.Mul(root)
		c.track[f] = m3.V(from.Pos.X, c.track[f].Y-raw[0].Y, from.Pos.Z)
		c.hips[f], c.rot[k] = at.Pos, at.Rot.Normalize()
		c.ownHips[f], c.ownRot[f] = own.Pos, own.Rot.Normalize()
		if f > 0 {
			if c.rot[k].Dot(c.rot[k-c.joints()]) < 0 {
				c.rot[k] = c.rot[k].Neg()
			}
			if c.ownRot[f].Dot(c.ownRot[f-1]) < 0 {
				c.ownRot[f] = c.ownRot[f].Neg()
			}
		}
	}
	last := c.frames - 1
	c.closed = c.frames > 2 && c.ownHips[0].Dist(c.ownHips[last]) < 0.01 && c.ownRot[0].Angle(c.ownRot[last]) < closedAngle
	for j := 1; j < c.joints() && c.closed; j++ {
		c.closed = c.rot[j].Angle(c.rot[last*c.joints()+j]) < closedAngle
	}
	return nil
}

const (
	rootSmooth  = 0.25 // half the width over which the root's way is averaged, s
	closedAngle = 0.02 // rad
)

// smooth averages each value with half neighbours on both sides, and with fewer at the ends.
func smooth(v []m3.Vec3, half int) []m3.Vec3 {
	out := make([]m3.Vec3, len(v))
	for f := range v {
		var sum m3.Vec3
		h := min(half, f, len(v)-1-f)
		for k := f - h; k <= f+h; k++ {
			sum = sum.Add(v[k])
		}
		out[f] = sum.Scale(1 / float32(2*h+1))
	}
	return out
}

// model writes the joints of frame f in the clip's space.
func (c *Clip) model(dst []m3.Xform, f int) {
	n := c.joints()
	for j, p := range c.sk.Parents {
		l := m3.Xform{Pos: c.sk.Offsets[j], Rot: c.rot[f*n+j]}
		if p < 0 {
			l.Pos = c.hips[f]
		} else {
			l = dst[p].Mul(l)
		}
		dst[j] = l
	}
}

// Feet have contact that are lower than this over the clip's lowest, and slower.
const (
	contactHeight = 0.06 // m
	contactSpeed  = 0.5  // m/s
)

// findContacts finds in which frames the toes of people have contact.
func (c *Clip) findContacts() {
	for j, name := range c.sk.Names {
		if strings.HasSuffix(name, "ToeBase") && len(c.tips) < 8 {
			c.tips = append(c.tips, j)
		}
	}
	c.stand = make([]uint8, c.frames)
	if len(c.tips) == 0 {
		return
	}
	at := make([]m3.Vec3, c.frames*len(c.tips))
	model, low := make([]m3.Xform, c.joints()), float32(math.Inf(1))
	for f := range c.frames {
		c.model(model, f)
		for i, j := range c.tips {
			at[f*len(c.tips)+i] = model[j].Pos
			low = min(low, model[j].Pos.Y)
		}
	}
	for f := range c.frames {
		for i := range c.tips {
			k, before := f*len(c.tips)+i, max(f-1, 0)*len(c.tips)+i
			after := min(f+1, c.frames-1)*len(c.tips) + i
			span := float32(min(f+1, c.frames-1)-max(f-1, 0)) / float32(c.fps)
			v := float32(0)
			if span > 0 {
				v = at[after].Dist(at[before]) / span
			}
			if at[k].Y < low+contactHeight && v < contactSpeed {
				c.stand[f] |= 1 << i
			}
		}
	}
}
