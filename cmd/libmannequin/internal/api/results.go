package api

import (
	"encoding/binary"
	"math"

	"mannequin/animsys"
	"mannequin/engine/m3"
)

// Event is an animsys.Event in the host's space.
type Event struct {
	Agent                                 ID
	Kind, Tick, Leg, Joint, Layer, Marker int32
	Clip                                  ID
	At, Normal                            m3.Vec3
	Speed                                 float32
}

// see notes where agents are and what has happened in a tick.
func (c *Crowd) see(tick int) {
	for row := range c.crowd.Agents() {
		c.now[row] = c.root(row)
	}
	a := &c.world.axes
	for _, e := range c.crowd.Events() {
		out := Event{Agent: c.world.byEntity[e.Entity.ID()].id, Clip: idOf(e.Clip), Kind: int32(e.Kind), Tick: int32(tick), Leg: int32(e.Leg), Joint: int32(e.Joint),
			Layer: int32(e.Layer), Marker: -1, At: a.point(e.Pos), Normal: a.dir(e.Normal), Speed: e.Speed * a.unit}
		if e.Kind == animsys.ClipMarker {
			for i, m := range e.Clip.Markers() {
				if m.Name == e.Marker {
					out.Marker = int32(i)
				}
			}
		}
		c.events = append(c.events, out)
	}
}

// Events calls f with what happened in the last Tick or Step.
func Events(id ID, f func(all []Event)) error {
	return inCrowd(id, func(c *Crowd) error {
		f(c.events)
		return nil
	})
}

// Agents calls f with the number of a crowd's agents, and a function that returns the id of a row.
func Agents(id ID, f func(n int, at func(row int) ID)) error {
	return inCrowd(id, func(c *Crowd) error {
		f(c.crowd.Agents(), func(row int) ID { return c.at(row).id })
		return nil
	})
}

// Root is where an agent stands and faces, in the host's space.
type Root struct {
	Agent   ID
	At      m3.Vec3
	Heading float32
	Moved   m3.Vec3
	Turned  float32
}

// between returns the root of a row, a share of the way from the tick before the last to the last.
func (c *Crowd) between(row int, alpha float32) m3.Xform {
	from, to := &c.last[row], &c.now[row]
	if alpha == 1 {
		return *to
	}
	return m3.Xform{Pos: from.Pos.Lerp(to.Pos, alpha), Rot: from.Rot.Slerp(to.Rot, alpha)}
}

func validAlpha(alpha float32) error {
	if !(alpha >= 0 && alpha <= 1) {
		return Errorf(Argument, "alpha is %g: want 0 to 1", alpha)
	}
	return nil
}

// Roots calls f with the number of a crowd's agents, and a function that returns the root of a row.
func Roots(id ID, alpha float32, f func(n int, at func(row int) Root)) error {
	if err := validAlpha(alpha); err != nil {
		return err
	}
	return inCrowd(id, func(c *Crowd) error {
		a := &c.world.axes
		f(c.crowd.Agents(), func(row int) Root {
			x, before, now := c.between(row, alpha), &c.before[row], &c.now[row]
			return Root{Agent: c.at(row).id, At: a.point(x.Pos), Heading: a.turn * x.Rot.Yaw(), Moved: a.point(now.Pos.Sub(before.Pos)),
				Turned: a.turn * m3.WrapAngle(now.Rot.Yaw()-before.Rot.Yaw())}
		})
		return nil
	})
}

// Hash returns a checksum of a crowd.
func Hash(id ID) (hash uint64, err error) {
	err = inCrowd(id, func(c *Crowd) error {
		hash = c.crowd.Hash()
		return nil
	})
	return hash, err
}

// What the bones of a Layout are relative to, and their formats.
const (
	BonesWorld = iota
	BonesRoot
	BonesLocal
)

const (
	FormatTransform = iota
	FormatRows3x4
	FormatRows4x4
	FormatColumns4x4
)

// Layout says where the bones of a crowd are written; see mqBoneLayout.
type Layout struct {
	RelativeTo, Format             int32
	BoneStride, AgentStride        int32
	PositionOffset, RotationOffset int32
	RealFirst                      int32 // 0 is no
}

// most bounds strides and offsets, so that no sum of them overflows.
const most = 1 << 24

// size checks the layout, fills in its strides, and returns the bytes of n agents.
func (l *Layout) size(joints, n int) (int, error) {
	for _, v := range [...]int32{l.BoneStride, l.AgentStride} {
		if v < 0 || v > most {
			return 0, Errorf(Argument, "a stride of %d bytes: want 0 to %d", v, most)
		}
	}
	if l.PositionOffset > most || l.RotationOffset > most {
		return 0, Errorf(Argument, "the offsets %d and %d: want at most %d", l.PositionOffset, l.RotationOffset, most)
	}
	if l.RelativeTo < BonesWorld || l.RelativeTo > BonesLocal {
		return 0, Errorf(Argument, "bones relative to %d: want 0 to %d", l.RelativeTo, BonesLocal)
	}
	var bone int
	switch l.Format {
	case FormatTransform:
		if l.PositionOffset >= 0 {
			bone = int(l.PositionOffset) + 12
		}
		if l.RotationOffset >= 0 {
			bone = max(bone, int(l.RotationOffset)+16)
		}
		if l.PositionOffset >= 0 && l.RotationOffset >= 0 && l.PositionOffset < l.RotationOffset+16 && l.RotationOffset < l.PositionOffset+12 {
			return 0, Errorf(Argument, "positions at %d and rotations at %d overlap", l.PositionOffset, l.RotationOffset)
		}
		if bone == 0 {
			return 0, Errorf(Argument, "neither positions nor rotations are written")
		}
	case FormatRows3x4:
		bone = 48
	case FormatRows4x4, FormatColumns4x4:
		bone = 64
	default:
		return 0, Errorf(Argument, "the format of bones is %d: want 0 to %d", l.Format, FormatColumns4x4)
	}
	if l.BoneStride == 0 {
		l.BoneStride = int32(bone)
	}
	if int(l.BoneStride) < bone {
		return 0, Errorf(Argument, "the stride of bones is %d bytes: a bone has %d", l.BoneStride, bone)
	}
	if l.AgentStride == 0 {
		agent := joints * int(l.BoneStride)
		if agent > most {
			return 0, Errorf(Argument, "an agent of %d bytes: want at most %d", agent, most)
		}
		l.AgentStride = int32(agent)
	}
	if least := (joints-1)*int(l.BoneStride) + bone; int(l.AgentStride) < least {
		return 0, Errorf(Argument, "the stride of agents is %d bytes: an agent has %d", l.AgentStride, least)
	}
	if n == 0 {
		return 0, nil
	}
	return (n-1)*int(l.AgentStride) + (joints-1)*int(l.BoneStride) + bone, nil
}

// Bones writes the bones of a crowd's agents, and returns their number.
func Bones(id ID, l Layout, alpha float32, dst []byte) (n int, err error) {
	if err := validAlpha(alpha); err != nil {
		return 0, err
	}
	err = inCrowd(id, func(c *Crowd) error {
		joints := c.model.bones.Len()
		n = c.crowd.Agents()
		need, err := l.size(joints, n)
		if err != nil {
			return err
		}
		if len(dst) < need {
			return Errorf(Size, "the bones of %d agents have %d bytes, and there is room for %d", n, need, len(dst))
		}
		if c.model.own != nil {
			c.bones = c.crowd.InterpolateCharacter(c.bones, c.model.own, alpha, m3.Vec3{})
		} else {
			c.bones = c.crowd.Interpolate(c.bones, alpha)
		}
		for row := range n {
			bones := c.bones[row*joints : (row+1)*joints]
			if l.RelativeTo != BonesWorld {
				back := c.between(row, alpha).Inv()
				for b := range bones {
					bones[b] = back.Mul(bones[b])
				}
			}
			if l.RelativeTo == BonesLocal {
				c.model.bones.ModelToLocal(c.pos, c.rot, bones)
				for b := range bones {
					bones[b] = m3.Xform{Pos: c.pos[b], Rot: c.rot[b]}
				}
			}
			for b := range bones {
				l.write(dst[row*int(l.AgentStride)+b*int(l.BoneStride):], &c.world.axes, &bones[b])
			}
		}
		return nil
	})
	return n, err
}

func put(dst []byte, v ...float32) {
	for i, x := range v {
		binary.NativeEndian.PutUint32(dst[4*i:], math.Float32bits(x))
	}
}

// write writes a bone.
func (l *Layout) write(dst []byte, a *axes, x *m3.Xform) {
	p, q := a.point(x.Pos), a.rot(x.Rot)
	if l.Format == FormatTransform {
		if l.PositionOffset >= 0 {
			put(dst[l.PositionOffset:], p.X, p.Y, p.Z)
		}
		switch {
		case l.RotationOffset < 0:
		case l.RealFirst != 0:
			put(dst[l.RotationOffset:], q.W, q.X, q.Y, q.Z)
		default:
			put(dst[l.RotationOffset:], q.X, q.Y, q.Z, q.W)
		}
		return
	}
	i, j, k := q.Rotate(m3.V(1, 0, 0)), q.Rotate(m3.V(0, 1, 0)), q.Rotate(m3.V(0, 0, 1))
	switch l.Format {
	case FormatColumns4x4:
		put(dst, i.X, i.Y, i.Z, 0, j.X, j.Y, j.Z, 0, k.X, k.Y, k.Z, 0, p.X, p.Y, p.Z, 1)
	case FormatRows4x4:
		put(dst, i.X, j.X, k.X, p.X, i.Y, j.Y, k.Y, p.Y, i.Z, j.Z, k.Z, p.Z, 0, 0, 0, 1)
	case FormatRows3x4:
		put(dst, i.X, j.X, k.X, p.X, i.Y, j.Y, k.Y, p.Y, i.Z, j.Z, k.Z, p.Z)
	}
}

// LODPolicy is an animsys.LODPolicy in the host's space.
type LODPolicy = animsys.LODPolicy

// ApplyLOD sets the update rates of a crowd by distance.
func ApplyLOD(id ID, p LODPolicy, eye, ahead m3.Vec3, saving float32) error {
	return inCrowd(id, func(c *Crowd) error {
		a := &c.world.axes
		for _, v := range [...]*float32{&p.EveryTick, &p.Every2, &p.Every4, &p.Behind, &p.Unseen} {
			if *v /= a.unit; !(*v >= 0) {
				return Errorf(Argument, "a distance of a policy is %g: want at least 0", *v*a.unit)
			}
		}
		own := a.fromPoint(eye)
		if !own.Finite() || !ahead.Finite() || !(saving >= 0 && saving <= 1) || !(p.Sight >= -1 && p.Sight <= 1) {
			return Errorf(Argument, "a camera at %v that looks along %v, sight %g, saving %g: want finite numbers, sight from -1 to 1, saving from 0 to 1", eye, ahead, p.Sight, saving)
		}
		c.crowd.ApplyLOD(&p, own, a.fromDir(ahead).Normalize(m3.Vec3{}), saving)
		return nil
	})
}
