package main

import (
	"bytes"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/ecs"
	"mannequin/engine/body"
	"mannequin/engine/g3n"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/models/person"

	"github.com/g3n/engine/core"
	arche "github.com/mlange-42/arche/ecs"
)

// cast is one crowd whose agents have characters of their own, and a node for each that draws it.
type cast struct {
	schedule *ecs.Schedule
	crowd    *animsys.Crowd
	all      []*skin.Character
	views    []*g3n.Crowd
	bones    []m3.Xform
}

// newCast lets each of the skins walk on a path of its own.
func newCast(scene *core.Node, skins func(sk *skel.Skeleton) ([]*skin.Skin, error)) (*cast, error) {
	world := arche.NewWorld()
	networks, err := person.Open()
	if err != nil {
		return nil, err
	}
	const most = 16
	stream, err := networks.NewStream(manifold.StreamOptions{Capacity: most})
	if err != nil {
		return nil, err
	}
	files, err := skins(networks.Skel)
	if err != nil {
		return nil, err
	}
	c := &cast{}
	opt := animsys.Options{Ground: ik.Level(0)}
	for _, file := range files[:min(len(files), most)] {
		ch, err := file.Character(networks.Skel, skin.CharacterOptions{})
		if err != nil {
			return nil, err
		}
		fmt.Println(ch.Report)
		c.all, opt.Characters = append(c.all, ch), append(opt.Characters, ch.Bones)
	}
	if c.crowd, err = animsys.NewCrowd(&world, stream, opt); err != nil {
		return nil, err
	}
	if c.schedule, err = ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...); err != nil {
		return nil, err
	}
	for i, ch := range c.all {
		path, err := control.NewPath([]m3.Vec3{m3.V(0.9*float32(i), 0, 0), m3.V(0.9*float32(i), 0, 50)}, false)
		if err != nil {
			return nil, err
		}
		at, ahead := path.At(0)
		e, err := animsys.SpawnWith(c.crowd, at, m3.YawOf(ahead), manifold.Curve{Path: path, Speed: 1})
		if err != nil {
			return nil, err
		}
		if err := c.crowd.SetCharacter(e, ch.Bones); err != nil {
			return nil, err
		}
		view, err := g3n.NewCrowd(ch.Body)
		if err != nil {
			return nil, err
		}
		view.SetShadow(ik.Level(0).Height, 0.5)
		scene.Add(view)
		c.views = append(c.views, view)
	}
	return c, nil
}

// step is a tick.
func (c *cast) step() error {
	if err := c.schedule.Step(); err != nil {
		return err
	}
	for i, view := range c.views {
		c.bones = c.crowd.InterpolateCharacter(c.bones, c.all[i].Bones, 1, m3.Vec3{})
		if err := view.Update(c.bones); err != nil {
			return err
		}
	}
	return nil
}

// grown returns characters without files: bodies that are grown around skeletons of other proportions than sk, and
// written and read as a modelling program's file would be.
func grown(sk *skel.Skeleton) ([]*skin.Skin, error) {
	var out []*skin.Skin
	for _, b := range []struct {
		name             string
		size, legs, head float32
		tint             [3]float32
	}{
		{"dwarf.glb", 0.5, 0.75, 1.3, [3]float32{0.4, 0.12, 0.08}},
		{"person.glb", 1, 1, 1, [3]float32{0.1, 0.2, 0.4}},
		{"giant.glb", 1.35, 1.1, 0.9, [3]float32{0.1, 0.3, 0.12}},
		{"toy.glb", 0.55, 0.6, 2, [3]float32{0.5, 0.35, 0.05}},
	} {
		own := &skel.Skeleton{Names: sk.Names, Parents: sk.Parents, EndSite: sk.EndSite}
		for j, d := range sk.Offsets {
			switch sk.Names[j] {
			case "LeftLeg", "RightLeg", "LeftFoot", "RightFoot":
				d = d.Scale(b.legs)
			case "Head", "HeadSite":
				d = d.Scale(b.head)
			}
			own.Offsets = append(own.Offsets, d.Scale(b.size))
		}
		grown, err := body.New(&body.Rig{Names: own.Names, Parents: own.Parents, Offsets: own.Offsets})
		if err != nil {
			return nil, err
		}
		var file bytes.Buffer
		if err := skin.Write(&file, own, grown, b.tint, nil); err != nil {
			return nil, err
		}
		s, err := skin.Read(b.name, file.Bytes())
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
