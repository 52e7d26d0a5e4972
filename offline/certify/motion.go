package certify

import (
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Motion is a test motion: poses of a crowd's skeleton on level ground, 60 a second.
type Motion struct {
	Skel  *skel.Skeleton
	Roles ik.Roles
	Poses [][]m3.Xform // (frames, joints) world space, m
	Stand [][]bool     // (frames, legs) which feet stand
	Hands bool         // it has arms and hands

	own *retarget.Character // its skeleton as a character; see character
}

// seconds is the length of each part of a test motion.
const seconds = 5

// People returns a test motion of a person: it stands, walks, turns, runs, walks sideways and stops.
func People(networks *manifold.Networks) (*Motion, error) {
	stream, err := networks.NewStream(manifold.StreamOptions{Capacity: 1})
	if err != nil {
		return nil, err
	}
	path, err := control.Circle(5)
	if err != nil {
		return nil, err
	}
	return record(stream, manifold.Curve{}, []manifold.Curve{{}, {Path: path, Speed: 1.3}, {Path: path, Speed: 3}, {Path: path, Speed: 0.8, Facing: 1.5}, {}})
}

// Dogs returns a test motion of a dog: it stands, walks, trots, turns, canters and sits.
func Dogs(model *mann.Model) (*Motion, error) {
	c, err := model.NewController(mann.ControllerOptions{Capacity: 1})
	if err != nil {
		return nil, err
	}
	ahead := m3.V(0, 0, 1)
	m, err := record(c, control.Goal{}, []control.Goal{
		{}, {Move: ahead, Speed: control.WalkSpeed, Action: control.Move}, {Move: ahead, Turn: 0.4, Speed: control.TrotSpeed, Action: control.Move},
		{Move: ahead, Speed: control.CanterSpeed, Action: control.Move}, {Action: control.Sit},
	})
	return m, err
}

// record plays the parts one after another.
func record[C any](g generator.Generator[C], begin C, parts []C) (*Motion, error) {
	world := arche.NewWorld()
	crowd, err := animsys.NewCrowd(&world, g, animsys.Options{Ground: ik.Level(0), Workers: 1})
	if err != nil {
		return nil, err
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		return nil, err
	}
	defer schedule.Close()
	e, err := animsys.SpawnWith(crowd, m3.Vec3{}, 0, begin)
	if err != nil {
		return nil, err
	}
	wanted := generic.NewMap1[C](&world)
	m := &Motion{Skel: crowd.Skel, Roles: crowd.Ground.Rig.Roles}
	for _, j := range m.Skel.Names {
		m.Hands = m.Hands || j == "LeftHandIndex1"
	}
	for _, part := range parts {
		*wanted.Get(e) = part
		for range seconds * animsys.TickRate {
			if err := schedule.Step(); err != nil {
				return nil, fmt.Errorf("certify: %w", err)
			}
			m.Poses = append(m.Poses, append([]m3.Xform(nil), crowd.Bones(e)...))
			var stand []bool
			for i := range m.Roles.Legs {
				stand = append(stand, crowd.Ground.Feet[i].Contact())
			}
			m.Stand = append(m.Stand, stand)
		}
	}
	m.own, err = m.character()
	return m, err
}

// character returns the motion's skeleton as a character of its own, as it stands in the first frame.
func (m *Motion) character() (*retarget.Character, error) {
	o := retarget.Options{Source: m.Skel, Roles: m.Roles, Pose: m.Poses[0], Skel: m.Skel, Rest: m.Poses[0], From: make([]int, m.Skel.Len())}
	for k := range o.From {
		o.From[k] = k
	}
	return retarget.New(o)
}
