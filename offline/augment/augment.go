// Package augment makes motion that recordings lack, for networks to learn from: motion matching plays a character along random
// ways, with its starts, stops, turns and actions (Agrawal, Chung, Kim, Shin and Park 2024).
package augment

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/clipset"
	"mannequin/offline/dataset"
)

// Options say what is played.
type Options struct {
	Seconds float64           // of motion in all
	Actions []string          // that are asked for, besides idle and move
	Seed    uint64            //
	Step    func(done, n int) // called now and then; may be nil
}

// heldShare is the share of all motion that is held out.
const heldShare = 0.1

// Clips returns what a network learns of a character: its recordings, and what matching plays, of which a tenth is held out. The
// recordings are those of the set before Bend and Mirror that go on for some seconds and show no other actions than idle, move
// and opt.Actions.
func Clips(recorded *clipset.Set, db *matching.Database, opt Options) ([]dataset.Clip, error) {
	played, err := Play(db, opt)
	if err != nil {
		return nil, err
	}
	test := opt
	test.Seconds, test.Step, test.Seed = heldShare*opt.Seconds, nil, opt.Seed+1
	held, err := Play(db, test)
	if err != nil {
		return nil, err
	}
	for i := range held {
		held[i].Name, held[i].HeldOut = held[i].Name+", held out", true
	}
	out := append(played, held...)
	rig, err := rigOf(db)
	if err != nil {
		return nil, err
	}
	parts := recorded.Split(20)
	isHeld, _ := parts.HoldOut(heldShare)
	for i, c := range parts.Clips {
		other := func(a string) bool {
			return a != control.Idle.String() && a != control.Move.String() && !slices.Contains(opt.Actions, a)
		}
		if c.Loop || c.Motion.Seconds() < leastRecorded || slices.ContainsFunc(c.Actions, other) {
			continue
		}
		// Their feet stand as high as those of played motion.
		motion, err := animsys.GroundClip(c.Motion, rig, nil)
		if err != nil {
			return nil, fmt.Errorf("augment: %s: %w", c.Name, err)
		}
		roots, err := db.Roots(motion)
		if err != nil {
			return nil, fmt.Errorf("augment: %s: %w", c.Name, err)
		}
		out = append(out, dataset.Clip{Name: c.Name, Motion: motion, Roots: roots, Actions: c.Actions, HeldOut: isHeld[i]})
	}
	return out, nil
}

// rigOf returns the rig of a database's character.
func rigOf(db *matching.Database) (generator.Rig, error) {
	stream, err := db.NewStream(matching.StreamOptions{Capacity: 1})
	if err != nil {
		return generator.Rig{}, err
	}
	rig, err := stream.Rig(nil)
	return rig, errors.Join(err, stream.Close())
}

// leastRecorded is the time of a recording of which a network learns how motion goes on, s: its first and its last second have no
// whole past and future.
const leastRecorded = 4

// agents play at once.
const agents = 12

// Play plays a database along random ways. A clip per agent has its feet held on flat ground, as games show them.
// Equal input gives equal clips.
func Play(db *matching.Database, opt Options) ([]dataset.Clip, error) {
	if db.Skel == nil || !(opt.Seconds > 0) {
		return nil, fmt.Errorf("augment: %g s of a database: want some of both", opt.Seconds)
	}
	stream, err := db.NewStream(matching.StreamOptions{Capacity: agents})
	if err != nil {
		return nil, err
	}
	w := arche.NewWorld()
	crowd, err := animsys.NewCrowd(&w, stream, animsys.Options{Ground: ik.Level(0), Workers: 1})
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		return nil, err
	}
	goals := generic.NewMap1[control.Goal](&w)
	players, out := make([]player, agents), make([]dataset.Clip, agents)
	joints := db.Skel.Len()
	for i := range players {
		e, err := crowd.Spawn(m3.Vec3{}, 0)
		if err != nil {
			return nil, err
		}
		players[i] = newPlayer(db, e, opt, uint64(i))
		out[i] = dataset.Clip{Name: fmt.Sprintf("played %d", i+1), Motion: &skel.Clip{Skel: db.Skel, FPS: animsys.TickRate}, Played: true}
	}
	ticks := int(opt.Seconds * animsys.TickRate / agents)
	pos, rot := make([]m3.Vec3, joints), make([]m3.Quat, joints)
	for tick := range ticks {
		if opt.Step != nil && tick%60 == 0 {
			opt.Step(tick, ticks)
		}
		for i := range players {
			p := &players[i]
			*goals.Get(p.entity) = p.goal(crowd.Root(p.entity))
		}
		if err := schedule.Step(); err != nil {
			return nil, err
		}
		for i, p := range players {
			c := &out[i]
			db.Skel.ModelToLocal(pos, rot, crowd.Bones(p.entity))
			root := crowd.Root(p.entity)
			c.Motion.Pos, c.Motion.Rot = append(c.Motion.Pos, pos...), append(c.Motion.Rot, rot...)
			c.Motion.Frames++
			c.Roots = append(c.Roots, feature.Place{Pos: root.Pos.Flat(), Yaw: root.Rot.Yaw()})
			c.Actions = append(c.Actions, p.shown(db, stream, i, opt.Actions))
		}
	}
	return out, nil
}

// shown returns the action of the agent in a row of the stream: one of actions that its frame shows, or otherwise move if the agent goes
// or turns or is asked to go, as a stream of the network will say it.
func (p *player) shown(db *matching.Database, stream *matching.Stream, row int, actions []string) string {
	if i := db.TagsOf(stream.Frame(row)).First(); i < len(db.Tags) && slices.Contains(actions, db.Tags[i]) {
		return db.Tags[i]
	}
	if p.velocity == (m3.Vec3{}) && stream.Weight(row, control.Idle) > 0 {
		return control.Idle.String()
	}
	return control.Move.String()
}

// player draws what an agent is asked for.
type player struct {
	entity arche.Entity
	rng    *rand.Rand
	speeds []float32
	top    float32 // the largest speed that is asked for, m/s
	acts   []control.Action

	left           int     // ticks of the present wish
	velocity, face m3.Vec3 // world space, m/s
	turn           float32 // of both, rad per tick
	action         control.Action
}

func newPlayer(db *matching.Database, e arche.Entity, opt Options, i uint64) player {
	p := player{entity: e, rng: rand.New(rand.NewPCG(opt.Seed, i)), speeds: db.Speeds(5), top: db.TopSpeed(), face: m3.V(0, 0, 1)}
	for _, name := range opt.Actions {
		if a, ok := db.Action(name); ok {
			p.acts = append(p.acts, a)
		}
	}
	return p
}

// Shares of what is asked for, and its time in seconds.
const (
	standShare = 0.2
	actShare   = 0.2 // if there are actions
	curveShare = 0.4 // of ways
	asideShare = 0.3 // of ways, facing elsewhere
	slowShare  = 0.6 // of these, at the slower half of the speeds
	shortest   = 0.5
	longest    = 3
)

// goal returns what is asked for in a tick, of an agent whose root is given.
func (p *player) goal(root m3.Xform) control.Goal {
	if p.left--; p.left < 0 {
		p.wish()
	}
	q := m3.YawQuat(p.turn)
	p.velocity, p.face = q.Rotate(p.velocity), q.Rotate(p.face)
	back := root.Rot.Conj()
	return control.Goal{Move: back.Rotate(p.velocity.Normalize(m3.Vec3{})), Speed: p.velocity.Len(), Face: back.Rotate(p.face), Action: p.action}
}

// wish draws the next wish.
func (p *player) wish() {
	rng := p.rng
	p.left = int(animsys.TickRate * (shortest + (longest-shortest)*rng.Float64()))
	p.action, p.velocity, p.turn = control.Idle, m3.Vec3{}, 0
	at := rng.Float64()
	if len(p.acts) > 0 {
		if at -= actShare; at < 0 {
			p.action = p.acts[rng.IntN(len(p.acts))]
			if p.action == control.Sit || p.action == control.Lie || p.action == control.Stand {
				return
			}
			at = rng.Float64()
		}
	}
	if at < standShare || len(p.speeds) == 0 {
		if rng.Float64() < 0.5 { // it turns on the spot
			p.face = m3.YawQuat(2 * math.Pi * rng.Float32()).Forward()
		}
		return
	}
	slow, fast := 0.7*p.speeds[0], p.top
	way := m3.YawQuat(2 * math.Pi * rng.Float32()).Forward()
	if rng.Float64() < 0.5 { // about where it faces
		way = m3.YawQuat(rng.Float32() - 0.5).Rotate(p.face)
	}
	p.velocity, p.face = way.Scale(slow+(fast-slow)*rng.Float32()), way
	if p.velocity.Len() > p.speeds[len(p.speeds)-1] { // it takes time to get there
		p.left = animsys.TickRate * longest
	}
	if rng.Float64() < asideShare {
		p.velocity = p.velocity.Scale(0.5)
		if most := p.speeds[len(p.speeds)/2]; rng.Float64() < slowShare && most > slow { // few clips step aside or backward faster
			p.velocity = way.Scale(slow + (most-slow)*rng.Float32())
		}
		p.face = m3.YawQuat(2 * math.Pi * rng.Float32()).Forward()
	}
	if rng.Float64() < curveShare {
		p.turn = (2*rng.Float32() - 1) * 1.5 / animsys.TickRate
	}
}
