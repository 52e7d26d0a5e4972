package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/models"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
	"github.com/zeebo/xxh3"
)

const (
	deep    = 100 // m, of the ground from south to north
	perFox  = 8   // m² of ground
	roam    = 25  // m, from west to east, of the part of the ground where a fox is at home
	arrived = 1   // m, from that place
	fast    = 1.6 // m/s
	slow    = 0.8 // m/s
)

// Fox is the game's own state of an agent, which goes with it to another process.
type Fox struct {
	ID    uint32
	Place uint32 // how many places it has been to
}

// world is the foxes of one process.
type world struct {
	ecs           arche.World
	crowd         *animsys.Crowd
	schedule      *ecs.Schedule
	foxes         generic.Map1[Fox]
	goals         generic.Map1[control.Goal]
	shard, shards int
	wide          float32 // m, of the ground from west to east
	came          []arche.Entity
	crossed       int // foxes that came in the last tick
	bytes         []byte
}

func newWorld(shard, shards, foxes int) (*world, error) {
	file, err := models.OpenCharacter("fox")
	if err != nil {
		return nil, err
	}
	// Each crowd has room for all: saves go from one to another only if they are of the same size.
	workers := max(1, runtime.NumCPU()/shards)
	stream, err := file.NewStream(matching.StreamOptions{Capacity: foxes, Workers: workers})
	if err != nil {
		return nil, err
	}
	w := &world{ecs: arche.NewWorld(), shard: shard, shards: shards, wide: float32(foxes) * perFox / deep}
	if w.crowd, err = animsys.NewCrowd(&w.ecs, stream, animsys.Options{Ground: ik.Level(0), Workers: workers}); err != nil {
		return nil, err
	}
	w.foxes, w.goals = generic.NewMap1[Fox](&w.ecs), generic.NewMap1[control.Goal](&w.ecs)
	if w.schedule, err = ecs.NewSchedule(&w.ecs, 1.0/animsys.TickRate, animsys.Systems()...); err != nil {
		return nil, err
	}
	// All begin everywhere, because an agent's searches begin in a tick that depends on how many were
	// there before it. Then each process keeps its own.
	for id := range uint32(foxes) {
		at := m3.V(chance(id, 0, 0)*w.wide, 0, chance(id, 0, 1)*deep)
		e, err := animsys.SpawnWith(w.crowd, at, chance(id, 0, 2)*2*math.Pi, control.Goal{})
		if err != nil {
			return nil, err
		}
		w.foxes.Assign(e, &Fox{ID: id})
	}
	for row := w.crowd.Agents() - 1; row >= 0; row-- {
		if e := w.crowd.Entity(row); w.owner(w.crowd.Root(e).Pos) != shard {
			if err := w.crowd.Despawn(e); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

func (w *world) close() { w.crowd.Close() }

// owner returns which process owns a place.
func (w *world) owner(at m3.Vec3) int {
	return max(0, min(int(at.X/w.wide*float32(w.shards)), w.shards-1))
}

// step plays one tick. What a fox does follows from itself alone, wherever it is.
func (w *world) step() error {
	for row := range w.crowd.Agents() {
		e := w.crowd.Entity(row)
		fox, goal, root := w.foxes.Get(e), w.goals.Get(e), w.crowd.Root(e)
		to := w.place(fox).Sub(root.Pos).Flat()
		if to.Len() < arrived {
			fox.Place++
			to = w.place(fox).Sub(root.Pos).Flat()
		}
		*goal = control.Goal{Move: to.Normalize(m3.V(0, 0, 1)), Speed: slow + (fast-slow)*chance(fox.ID, fox.Place, 2), Action: control.Move}
	}
	return w.schedule.Step()
}

// place returns where a fox goes to: one place after the other in the part of the ground where it is at home, which
// may be far from where it began.
func (w *world) place(fox *Fox) m3.Vec3 {
	home := chance(fox.ID, 0, 5) * max(0, w.wide-roam)
	return m3.V(home+chance(fox.ID, fox.Place, 3)*min(roam, w.wide), 0, chance(fox.ID, fox.Place, 4)*deep)
}

// chance returns a number from 0 to 1 that depends on a fox, on how many places it has been to, and on what the number is for.
func chance(id, place, what uint32) float32 {
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], id)
	binary.LittleEndian.PutUint32(b[4:], place)
	binary.LittleEndian.PutUint32(b[8:], what)
	return float32(xxh3.Hash(b[:])>>40) / (1 << 24)
}

// leave takes the foxes that have crossed a border out of the world, and returns a message to each process, this one too.
func (w *world) leave(tick int, hashes bool) ([]message, error) {
	leaving := make([][]arche.Entity, w.shards)
	all := message{Tick: uint32(tick), From: uint32(w.shard), Crossed: w.crossed, Foxes: w.crowd.Agents()}
	for row := range w.crowd.Agents() {
		e := w.crowd.Entity(row)
		if hashes {
			all.Hash += w.hash(e)
		}
		if to := w.owner(w.crowd.Root(e).Pos); to != w.shard {
			leaving[to] = append(leaving[to], e)
		}
	}
	messages := make([]message, w.shards)
	for to, foxes := range leaving {
		m := all
		for _, e := range foxes {
			m.Game = append(m.Game, *w.foxes.Get(e))
		}
		if len(foxes) > 0 {
			var err error
			if m.Save, err = w.crowd.SaveAgents(nil, foxes...); err != nil {
				return nil, err
			}
			for _, e := range foxes {
				if err := w.crowd.Despawn(e); err != nil {
					return nil, err
				}
			}
		}
		messages[to] = m
	}
	w.crossed = 0
	return messages, nil
}

// enter takes in the foxes of a message.
func (w *world) enter(m message) (err error) {
	if len(m.Game) == 0 {
		return nil
	}
	if w.came, err = w.crowd.AddSaved(w.came[:0], m.Save); err != nil {
		return err
	}
	if len(w.came) != len(m.Game) {
		return fmt.Errorf("%d foxes came with the state of %d", len(w.came), len(m.Game))
	}
	for i, e := range w.came {
		w.foxes.Assign(e, &m.Game[i])
	}
	w.crossed += len(w.came)
	return nil
}

// hash returns a checksum of a fox. Sums of these do not depend on who has which.
func (w *world) hash(e arche.Entity) uint64 {
	fox := w.foxes.Get(e)
	w.bytes = binary.LittleEndian.AppendUint32(w.bytes[:0], fox.ID)
	w.bytes = binary.LittleEndian.AppendUint32(w.bytes, fox.Place)
	w.bytes = appendXform(w.bytes, w.crowd.Root(e))
	for _, x := range w.crowd.Bones(e) {
		w.bytes = appendXform(w.bytes, x)
	}
	return xxh3.Hash(w.bytes)
}

func appendXform(b []byte, x m3.Xform) []byte {
	for _, v := range []float32{x.Pos.X, x.Pos.Y, x.Pos.Z, x.Rot.X, x.Rot.Y, x.Rot.Z, x.Rot.W} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
