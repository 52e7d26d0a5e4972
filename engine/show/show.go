// Package show plays a scene on a stage: it takes the steps that time calls for, draws
// what the scene describes, and gives keys their meaning in it.
package show

import (
	"slices"
	"time"

	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/clock"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
	"mannequin/terrain"
)

// Show is a scene on a stage. It belongs to the stage's goroutine.
type Show struct {
	Stage *stage.Stage
	Scene scenes.Scene
	Frame scenes.Frame // as of the last Draw
	Film  bool         // pictures are for those who only watch: without panel, help and HUD

	// Stepped, where it is set, is called after each step.
	Stepped func()

	clock  *clock.Fixed
	crowds []troupe // of Frame.Casts
	bodies []wardrobe
	ground *terrain.Field
}

// troupe draws one cast.
type troupe struct {
	skel  *skel.Skeleton
	crowd *stage.Crowd
}

// wardrobe keeps a body for all who have the same skeleton: to grow one takes a while.
type wardrobe struct {
	rig  body.Rig
	body *body.Body
}

// New plays s on st from its first frame on, with pictures at fps per second or slower.
func New(st *stage.Stage, s scenes.Scene, fps int) (*Show, error) {
	w := &Show{Stage: st, Scene: s}
	var err error
	// A program that was held up skips what it missed.
	if w.clock, err = clock.New(scenes.TickRate, max(8, scenes.TickRate/max(fps, 1)+1)); err != nil {
		return nil, err
	}
	s.Frame(&w.Frame, 1)
	return w, w.cast()
}

// cast sees to it that every cast of the frame has a crowd that draws it.
func (w *Show) cast() error {
	for i := range w.Frame.Casts {
		c := &w.Frame.Casts[i]
		if i == len(w.crowds) {
			w.crowds = append(w.crowds, troupe{})
		}
		t := &w.crowds[i]
		if t.skel == c.Skel {
			continue
		}
		b, err := w.body(c.Skel)
		if err != nil {
			return err
		}
		if t.crowd != nil {
			if err := t.crowd.Set(nil, nil); err != nil { // who was drawn here is gone
				return err
			}
		}
		if t.crowd, err = w.Stage.NewCrowd(b); err != nil {
			return err
		}
		t.skel = c.Skel
	}
	return nil
}

// body returns that of a skeleton.
func (w *Show) body(sk *skel.Skeleton) (*body.Body, error) {
	rig := body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}
	for _, have := range w.bodies {
		if slices.Equal(have.rig.Names, rig.Names) && slices.Equal(have.rig.Parents, rig.Parents) && slices.Equal(have.rig.Offsets, rig.Offsets) {
			return have.body, nil
		}
	}
	b, err := body.New(&rig)
	if err != nil {
		return nil, err
	}
	w.bodies = append(w.bodies, wardrobe{rig, b})
	return b, nil
}

// Advance takes the steps that dt calls for.
func (w *Show) Advance(dt time.Duration, input func() scenes.Input) error {
	for range w.clock.Advance(dt) {
		if err := w.Scene.Step(input()); err != nil {
			return err
		}
		if w.Stepped != nil {
			w.Stepped()
		}
	}
	return nil
}

// Draw renders the present state, with lines of help and more lines of what is going
// on. dt moves the camera.
func (w *Show) Draw(dt time.Duration, help []string, hud ...string) error {
	f := &w.Frame
	w.Scene.Frame(f, w.clock.Alpha())
	if f.Terrain != w.ground {
		w.ground = f.Terrain
		w.Stage.SetGround(f.Terrain.Height)
	}
	if err := w.cast(); err != nil {
		return err
	}
	for i, t := range w.crowds {
		var bones []m3.Xform
		var tint [][3]float32
		if i < len(f.Casts) {
			bones, tint = f.Casts[i].Bones, f.Casts[i].Tint
		}
		if err := t.crowd.Set(bones, tint); err != nil {
			return err
		}
	}
	if f.Shot.On {
		w.Stage.Camera.Place(f.Shot.Eye, f.Shot.Target)
		w.Stage.Camera.FOV = f.Shot.FOV
	} else {
		w.Stage.Camera.Track(f.Focus, f.Heading, float32(dt.Seconds()), f.Terrain.Height)
	}
	view := stage.View{Focus: f.Focus, Path: f.Path}
	if !w.Film {
		view.HUD, view.Help, view.Panel = append(f.HUD, hud...), help, &f.Panel
	}
	return w.Stage.Draw(view)
}

// Input gives keys their meaning in scenes. hit has those that were pressed since the
// last tick.
func Input(c stage.Controls, hit [stage.Keys]bool) scenes.Input {
	held := func(k ...stage.Key) float32 {
		for _, k := range k {
			if c.Held[k] || hit[k] {
				return 1
			}
		}
		return 0
	}
	key := func(l byte) bool { return held(stage.Letter(l)) > 0 }
	in := scenes.Input{
		Forward: held(stage.Letter('W'), stage.KeyUp) - held(stage.Letter('S'), stage.KeyDown),
		Turn:    held(stage.Letter('A'), stage.KeyLeft) - held(stage.Letter('D'), stage.KeyRight),
		Side:    held(stage.Letter('Q')) - held(stage.Letter('E')),
		Sit:     key('X'), Lie: key('C'), Stand: key('V'),
		Jump: held(stage.KeySpace) > 0, Reset: hit[stage.Letter('R')] || hit[stage.KeyHome],
	}
	for i, g := range []scenes.Gait{scenes.Walk, scenes.Pace, scenes.Trot, scenes.Canter} {
		if hit[stage.Digit(i+1)] {
			in.Gait = g
		}
	}
	return in
}

// Touch gives keys their meaning for a panel, beside what the mouse does to it. hit
// has those that were pressed since the last tick.
func Touch(p *scenes.Panel, mouse scenes.Touch, c stage.Controls, hit [stage.Keys]bool) scenes.Touch {
	t := mouse
	for _, k := range []struct {
		key  stage.Key
		step int
	}{{stage.KeyUp, -1}, {stage.KeyDown, 1}} {
		if hit[k.key] {
			t.Select += k.step
		}
	}
	for _, k := range []struct {
		key stage.Key
		by  float32
	}{{stage.KeyLeft, -1}, {stage.KeyRight, 1}} {
		if c.Held[k.key] || hit[k.key] {
			t.Move += k.by
		}
	}
	for _, b := range p.Buttons {
		if hit[stage.Letter(b.Key)] {
			t.Press = b.Key
		}
	}
	return t
}
