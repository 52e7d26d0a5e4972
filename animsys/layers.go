package animsys

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/layer"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
)

// Play plays a clip on an agent, over the motion of its generator, from the next tick on: a person
// waves and walks on. layer.New prepares the clip for Crowd.Skel, layer.NewOwn one of a character's own skeleton
// for agents that have this character. What plays on the same layer ends.
// With PlayOptions.RootMotion the clip moves the agent instead of its generator, which goes on from
// where the clip ends.
//
// Call Play between ticks or in a system of your own. The first Play of a crowd allocates its layers,
// about 1.7 KB for each agent that it has room for; ticks allocate nothing. Clips blend in and out; see
// PlayOptions. Play fails if e is not in this crowd, if the crowd is closed, if the clip is neither of the crowd's
// skeleton nor of the agent's character's, and for options that PlayOptions.Validate refuses.
func (c *Crowd) Play(e arche.Entity, clip *layer.Clip, opt layer.PlayOptions) error {
	return c.onLayers("Play", e, func(row int) error {
		if err := c.openLayers(); err != nil {
			return err
		}
		if clip != nil && clip.Character() != nil {
			if err := c.cast.canPlay(row, clip); err != nil {
				return err
			}
		}
		return c.layers.Play(row, clip, opt)
	})
}

func (c *Crowd) openLayers() (err error) {
	if c.layers == nil {
		if c.layers, err = layer.NewPlayer(c.Capacity(), c.Skel); err == nil {
			c.layers.SetCharacters(c.cast.all)
		}
	}
	return err
}

// Stop blends out what plays on a layer of an agent, over out seconds. 0 is the PlayOptions.Out of the
// clip, and a negative time none. Without a clip on the layer it does nothing.
func (c *Crowd) Stop(e arche.Entity, layer int, out float32) error {
	return c.onLayers("Stop", e, func(row int) error {
		if c.layers == nil {
			return nil
		}
		return c.layers.Stop(row, layer, out)
	})
}

// SetLayer sets weight, 0 to 1, and speed of the clip that plays on a layer of an agent, at once. Change
// a weight little by little. A speed of 0 pauses the clip.
func (c *Crowd) SetLayer(e arche.Entity, layer int, weight, speed float32) error {
	return c.onLayers("SetLayer", e, func(row int) error {
		if c.layers == nil {
			return nil
		}
		return c.layers.Change(row, layer, weight, speed)
	})
}

// Playing returns the clip that plays on a layer of an agent, and the time in it, s; nil if none does.
func (c *Crowd) Playing(e arche.Entity, layer int) (*layer.Clip, float64) {
	row, ok := c.rows.Row(e)
	if !ok || c.layers == nil {
		return nil, 0
	}
	return c.layers.Playing(row, layer)
}

// onLayers calls do with the row of an agent.
func (c *Crowd) onLayers(what string, e arche.Entity, do func(row int) error) error {
	if err := c.claim(what); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	if err := do(row); err != nil {
		return fmt.Errorf("animsys: %s: %w", what, err)
	}
	return nil
}

// PoseTarget is a pose that an agent takes at a place: a seat, a crouch beside a thing.
type PoseTarget struct {
	Pos     []m3.Vec3 // translations of Crowd.Skel's joints, local; the root's in world space, m
	Rot     []m3.Quat // rotations, local; the root's in world space
	Seconds float32   // until the agent has it, 0.2 to 10
	Layer   int       // that the motion plays on

	// IgnoreWalls lets the agent be nearer to a wall than its body has room, on a seat beside one: see
	// layer.PlayOptions.
	IgnoreWalls bool
}

// At returns the target of a clip's frame, turned to a heading, rad. The clip's joint 0 is above a place on the ground,
// as high as in the clip.
func (p *PoseTarget) At(c *skel.Clip, frame int, place m3.Vec3, heading float32) {
	pos, rot := c.Frame(frame)
	p.Pos, p.Rot = append(p.Pos[:0], pos...), append(p.Rot[:0], rot...)
	turn := m3.YawQuat(heading - rot[0].Yaw())
	p.Pos[0] = m3.V(place.X, place.Y+pos[0].Y, place.Z)
	p.Rot[0] = turn.Mul(rot[0])
}

// PoseOf returns the target of the pose in which an agent is shown, at its place: to come back to it later. Seconds and
// Layer are to be set. It is the zero PoseTarget if e is not in the crowd.
func (c *Crowd) PoseOf(e arche.Entity) (p PoseTarget) {
	if bones := c.Bones(e); bones != nil {
		p.Pos, p.Rot = make([]m3.Vec3, len(bones)), make([]m3.Quat, len(bones))
		c.Skel.ModelToLocal(p.Pos, p.Rot, bones)
	}
	return p
}

const (
	leastPose, mostPose = 0.2, 10 // s
	poseSpeed           = 2.5     // m/s on the way to a pose
	poseMarker          = "there"
)

// TakePose lets a person go from how it is shown into a pose, in a given time, and stay there: sit down on
// a bench, crouch beside a thing. The motion between is the in-betweener's (Lüdi 2016), and
// RootMotion and walls work as for other motion: walls keep the agent off a seat that is nearer to one than its body
// has room, unless the target ignores them. It plays as a clip on a layer, over the whole body. The
// clip's marker "there" is at the moment when the pose is reached. Stop ends the clip at any time, blending, where the
// agent is then: to get up from a seat, take the pose from before (PoseOf) on another layer, and stop both there. The
// crowd's skeleton must have the joints of the in-betweener's.
//
// Call TakePose between ticks: within one it fails. It computes the motion at once, which takes some milliseconds and allocates.
// It fails, and changes nothing, if the pose is not one of the skeleton, is too far away for the time, or
// if the motion is not finite.
func (c *Crowd) TakePose(e arche.Entity, m *keypose.Inbetweener, to PoseTarget) (*layer.Clip, error) {
	if err := c.claimBetween("TakePose"); err != nil {
		return nil, err
	}
	clip, err := c.wayTo(e, m, &to)
	c.registry.release()
	if err != nil {
		return nil, fmt.Errorf("animsys: TakePose: %w", err)
	}
	return clip, c.Play(e, clip, layer.PlayOptions{Layer: to.Layer, RootMotion: true, IgnoreWalls: to.IgnoreWalls, Hold: true, In: 0.2})
}

// height returns the ground's height at a place, for who stands at the height floor near there.
func (c *Crowd) height(at m3.Vec3, floor float32) float32 {
	h := float32(0)
	switch ground := c.Ground.Ground.(type) {
	case nil:
	case ik.Floors:
		h = ground.HeightFrom(at.X, at.Z, floor)
	default:
		h = ground.Height(at.X, at.Z)
	}
	if !m3.Finite(h) {
		return floor
	}
	return h
}

// wayTo returns the motion from how e is shown to a pose.
func (c *Crowd) wayTo(e arche.Entity, m *keypose.Inbetweener, to *PoseTarget) (*layer.Clip, error) {
	row, ok := c.rows.Row(e)
	n := c.joints
	switch {
	case !ok:
		return nil, fmt.Errorf("entity %v is not in this crowd", e)
	case m == nil || m.Layout() == nil:
		return nil, errors.New("the in-betweener is missing")
	case len(to.Pos) != n || len(to.Rot) != n:
		return nil, fmt.Errorf("the pose has %d translations and %d rotations, the skeleton %d joints", len(to.Pos), len(to.Rot), n)
	case !(to.Seconds >= leastPose && to.Seconds <= mostPose):
		return nil, fmt.Errorf("the pose is asked for in %g s: want %g to %g s", to.Seconds, leastPose, float64(mostPose))
	}
	for j := range n {
		if q := to.Rot[j]; !to.Pos[j].Finite() || !q.Finite() || m3.Abs(q.Dot(q)-1) > 0.01 {
			return nil, fmt.Errorf("joint %s of the pose: translation %v, rotation %v: want finite numbers and unit quaternions", c.Skel.Names[j], to.Pos[j], q)
		}
	}
	pos, rot := make([]m3.Vec3, n), make([]m3.Quat, n)
	c.Skel.ModelToLocal(pos, rot, c.now[row*n:(row+1)*n])
	if d := c.in(row, to.Pos[0]).Dist(pos[0]); d > poseSpeed*to.Seconds {
		return nil, fmt.Errorf("the pose is %.1f m away, too far for %.1f s: want at most %.1f m", d*c.units[row], to.Seconds, poseSpeed*to.Seconds*c.units[row])
	}
	l := m.Layout()
	from := make([]int, l.Skel.Len()) // the crowd's joint for each of the in-betweener's
	for j, name := range l.Skel.Names {
		if from[j] = c.Skel.Index(name); from[j] < 0 && !l.Skel.EndSite[j] {
			return nil, fmt.Errorf("the crowd's skeleton has no joint %s, which the in-betweener has", name)
		}
	}
	key := func(t float64, pos []m3.Vec3, rot []m3.Quat) keypose.Key {
		k := keypose.Key{Time: t, Pos: make([]m3.Vec3, len(from)), Rot: make([]m3.Quat, len(from))}
		for j, i := range from {
			k.Pos[j], k.Rot[j] = l.Skel.Offsets[j], m3.Ident
			if i >= 0 {
				k.Pos[j], k.Rot[j] = pos[i], rot[i]
			}
		}
		return k
	}
	// Near the origin, where numbers are exact, and on flat ground, as all motion is before the system Ground.
	floor := c.floor(row)
	pos[0].Y -= floor / c.units[row]
	target := append([]m3.Vec3(nil), to.Pos...)
	target[0] = to.Pos[0]
	target[0].Y -= c.height(to.Pos[0], floor)
	target[0] = c.in(row, target[0])
	// A clip's root is below its hips, and the agent's is not quite: the clip goes from there to there.
	was, is := m3.Xform{Pos: pos[0].Flat(), Rot: m3.YawQuat(rot[0].Yaw())}, c.Roots[row]
	is = m3.Xform{Pos: c.in(row, is.Pos).Flat(), Rot: m3.YawQuat(is.Rot.Yaw())}
	end := was.Mul(is.Inv()).Mul(m3.Xform{Pos: target[0], Rot: to.Rot[0]})
	turned := append([]m3.Quat(nil), to.Rot...)
	target[0], turned[0] = end.Pos, end.Rot
	track, err := l.Track(keypose.Keys{Keys: []keypose.Key{key(0, pos, rot), key(float64(to.Seconds), target, turned)}}, 2*keypose.Rate)
	if err != nil {
		return nil, err
	}
	stand := make([]float32, track.Frames*keypose.Feet)
	if err := m.Fill(track, stand); err != nil {
		return nil, err
	}
	if lock, err := l.NewFootLock(); err == nil {
		if err := lock.Apply(track, stand); err != nil {
			return nil, err
		}
	}
	clip := track.Clip()
	return layer.New(c.Skel, clip, layer.ClipOptions{Name: "pose", Markers: []layer.Marker{{Name: poseMarker, Time: float32(float64(clip.Frames-1) / clip.FPS)}}})
}

// Clips is the system that moves the clips of [Crowd.Play] on in time, and the agents that they move
// over the ground.
type Clips struct{ system }

// Initialize prepares the system.
func (s *Clips) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		c.marks = c.marks[:0]
		if c.layers != nil {
			for row := range c.rows.Len() {
				if c.layers.Busy(row) && !c.frozen[row] {
					c.marks = c.layers.Advance(row, 1.0/TickRate, c.marks)
					c.moveByClip(row)
				}
			}
		}
		return nil
	})
}

// moveByClip puts row where a clip with root motion brings it.
func (c *Crowd) moveByClip(row int) {
	if !c.steps(row) {
		return
	}
	if root, ok := c.layers.Landed(row); ok && !c.layers.Moves(row) {
		turn := m3.WrapAngle(root.Rot.Yaw() - c.Poses.Roots[row].Rot.Yaw())
		if m3.Abs(turn) < landsWithin {
			return
		}
		c.gen.place(row, feature.Place{Pos: root.Pos, Yaw: root.Rot.Yaw()})
		c.restyle.forget(row)
		c.gen.pose(&c.Poses, row)
		c.Restarted[row] = false
		c.Inertial.Put(row)
		return
	}
	if !c.layers.Moves(row) {
		return
	}
	// The generator goes along over the ground. It is turned when the clip ends.
	root, at := c.layers.Root(row), &c.Poses.Roots[row]
	if by := root.Pos.Sub(at.Pos).Flat(); by != (m3.Vec3{}) {
		c.nudge(row, by)
	}
	turn := root.Rot.Mul(at.Rot.Conj()).Normalize()
	hips := row * c.joints
	c.Pos[hips] = at.Pos.Add(turn.Rotate(c.Pos[hips].Sub(at.Pos)))
	c.Rot[hips] = turn.Mul(c.Rot[hips]).Normalize()
	at.Rot = root.Rot
}

// landsWithin is by how much a generator's heading may be beside the one of a clip that ends, rad: then
// it goes on without a stop.
const landsWithin = 1e-3

// Layers is the system that puts clips on the poses; see [Crowd.Play].
type Layers struct{ system }

// Initialize prepares the system.
func (s *Layers) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.layers != nil {
			c.splitRows(c.work.layer)
		}
		return nil
	})
}

// layer puts clips on the poses of those rows from r0 up to r1 that take a step.
func (c *Crowd) layer(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if !c.layers.Busy(r) || !c.steps(r) {
			continue
		}
		below := layer.Below{Root: c.Poses.Roots[r], DT: float32(c.rates[r].span) / TickRate, Last: c.Inertial}
		pos0, rot0 := c.Pos[r*c.joints], c.Rot[r*c.joints]
		c.layers.Pose(r, &c.Pos[r*c.joints], c.Rot[r*c.joints:(r+1)*c.joints], &below)
		if c.Pos[r*c.joints] != pos0 || c.Rot[r*c.joints] != rot0 { // a clip moves the whole body
			c.Poses.Going[r] = ik.Going{}
		}
		if c.Stand != nil {
			c.layers.Stands(r, c.tips, c.Stand[r*c.legs():(r+1)*c.legs()])
		}
	}
}

// layersState writes the state of a row's layers and of its feet's events, or reads it.
func (c *Crowd) layersState(s *generator.State, row int) {
	c.eventsState(s, row)
	some := c.layers != nil
	if s.Bool(&some); !some {
		if c.layers != nil {
			c.layers.Reset(row)
			c.cast.stopTurning(row)
		}
		return
	}
	if err := c.openLayers(); err != nil {
		s.Fail(err)
		return
	}
	c.layers.State(s, row)
	c.cast.turnsState(s, row)
}
