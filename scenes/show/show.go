// Package show runs a scene on a stage: it advances time, draws the scene's frames, and maps keys
// and gamepads to the scene's input.
package show

import (
	"errors"
	"slices"
	"time"

	"mannequin/animsys/retarget"
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
	Film  bool         // draws no panel, help or HUD: for recordings that nobody plays

	Choices bool // shows a panel with a button for each overlay in Frame.Has

	// Now returns the time since a fixed moment. If nil, nothing is measured and hud.Times is
	// missing.
	Now func() time.Duration
	// Stepped is called after each step. May be nil.
	Stepped func()

	// Free keeps the camera from turning with the focus.
	Free bool

	// Budget is the time that a step may take; it needs Now. nil is no limit.
	Budget *clock.Budget
	saving float32

	times  *profiler    // nil without Now
	traced scenes.Scene // the scene passed to New
	clock  *clock.Fixed
	crowds []castView // one per cast of Frame.Casts
	far    []castView // one per entry of Frame.Far
	bodies []rigBody
	skins  []Skin
	ground *terrain.Field

	player  player
	pace    pace
	notices notices
	bare    bool // the user hid the help
}

// castView draws one cast.
type castView struct {
	skel  *skel.Skeleton
	crowd *stage.Crowd
	own   *retarget.Character // nil if the body is on the cast's skeleton
	bones []m3.Xform          // (characters, joints of own)
}

// rigBody is the body of a skeleton. Growing one takes a while, so equal skeletons share it.
type rigBody struct {
	rig  body.Rig
	body *body.Body
	own  *retarget.Character // that the body is of; nil: it is on the skeleton
}

// posed returns the bones of the body that draws a cast.
func (t *castView) posed(c *scenes.Cast) []m3.Xform {
	if t.own == nil {
		return c.Bones
	}
	n := t.own.Len()
	t.bones = slices.Grow(t.bones[:0], c.Len()*n)[:c.Len()*n]
	for i := range c.Len() {
		t.own.Pose(t.bones[i*n:(i+1)*n], c.Of(i), [2]float32{}, nil, nil)
	}
	return t.bones
}

// New prepares to play s on st from its first frame, with the camera at the scene's seat. Frames
// are drawn at fps per second or slower.
func New(st *stage.Stage, s scenes.Scene, fps int) (*Show, error) {
	w := &Show{Stage: st, Scene: s, traced: s}
	var err error
	// After a stall the clock skips the steps that it missed.
	if w.clock, err = clock.New(scenes.TickRate, max(8, scenes.TickRate/max(fps, 1)+1)); err != nil {
		return nil, err
	}
	s.Frame(&w.Frame, 1)
	w.placeCamera()
	return w, nil
}

// Move continues the scene on another stage, for example after the display was lost. The camera
// keeps its place.
func (w *Show) Move(st *stage.Stage) {
	st.Camera = w.Stage.Camera
	w.Stage, w.crowds, w.far, w.ground = st, nil, nil, nil
}

// placeCamera puts the camera at the scene's seat.
func (w *Show) placeCamera() {
	seat, c := w.Frame.Seat, w.Stage.Camera
	if seat == (scenes.Seat{}) {
		return // the camera's own
	}
	c.Distance, c.Pitch, c.Aside = seat.Distance, seat.Pitch, seat.Aside
	if seat.Overview {
		c.Follow, c.Yaw, w.Free = false, seat.Yaw, true
	}
}

// updateCrowds makes sure that each cast of the frame has a crowd that draws it.
func (w *Show) updateCrowds() error {
	for i := range w.Frame.Casts {
		c := &w.Frame.Casts[i]
		if i == len(w.crowds) {
			w.crowds = append(w.crowds, castView{})
		}
		t := &w.crowds[i]
		if t.skel == c.Skel {
			continue
		}
		b, err := w.body(c)
		if err != nil {
			return err
		}
		if t.crowd != nil {
			if err := t.crowd.Set(nil, nil); err != nil { // hide the crowd that was drawn here
				return err
			}
		}
		if t.crowd, err = w.Stage.NewCrowd(b.body); err != nil {
			return err
		}
		t.skel, t.own = c.Skel, b.own
	}
	return nil
}

// drawFar poses the crowds of characters that live in the stage's OpenGL.
func (w *Show) drawFar() error {
	for i := range w.Frame.Far {
		c := &w.Frame.Far[i]
		if i == len(w.far) {
			w.far = append(w.far, castView{})
		}
		t := &w.far[i]
		if t.skel != c.Skel {
			if t.crowd != nil {
				if err := t.crowd.Set(nil, nil); err != nil { // hide the crowd that was drawn here
					return err
				}
			}
			b, err := w.body(&scenes.Cast{Skel: c.Skel})
			if err != nil {
				return err
			}
			if b.own != nil {
				return errors.New("show: characters on the GPU are drawn with their own bodies only: take their skin away")
			}
			if t.crowd, err = w.Stage.NewCrowd(b.body); err != nil {
				return err
			}
			t.skel = c.Skel
		}
		if err := t.crowd.SetFrom(c.Matrices, c.Hips, c.Tint); err != nil {
			return err
		}
	}
	for _, t := range w.far[len(w.Frame.Far):] { // those that were there before
		if err := t.crowd.Set(nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func rigOf(sk *skel.Skeleton) body.Rig {
	return body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}
}

// body returns the body of a cast.
func (w *Show) body(c *scenes.Cast) (rigBody, error) {
	rig := rigOf(c.Skel)
	for _, have := range w.bodies {
		if slices.Equal(have.rig.Names, rig.Names) && slices.Equal(have.rig.Parents, rig.Parents) && slices.Equal(have.rig.Offsets, rig.Offsets) {
			return have, nil
		}
	}
	b, err := w.newBody(c)
	if err != nil {
		return rigBody{}, err
	}
	w.bodies = append(w.bodies, b)
	return b, nil
}

// WithCamera returns in with the stage's camera, and with the share of the work to save so that
// ticks stay within Budget.
func (w *Show) WithCamera(in scenes.Input) scenes.Input {
	if c := w.Stage.Camera; c.Placed() {
		in.Watched, in.Eye, in.Ahead = true, c.Eye(), c.Ahead()
	}
	in.Saving = w.saving
	return in
}

// choose turns overlays on and off. Tab shows or hides the panel of choices.
func (w *Show) choose(c *stage.Controls) {
	w.Frame.Show ^= c.Toggle & w.Frame.Has
	if c.Hit[stage.KeyTab] {
		w.Choices = !w.Choices
	}
}

// Advance takes the steps that are due after dt.
func (w *Show) Advance(dt time.Duration, input func() scenes.Input) error {
	if w.times == nil && w.Now != nil {
		w.times = newProfiler(w.Now, w.traced)
	}
	for range w.clock.Advance(w.pace.scale(dt)) + w.pace.takeSteps() {
		if err := w.step(input()); err != nil {
			return err
		}
		if w.Stepped != nil {
			w.Stepped()
		}
	}
	return nil
}

func (w *Show) step(in scenes.Input) error {
	if w.times == nil {
		return w.Scene.Step(in)
	}
	w.times.beginTick()
	if err := w.Scene.Step(in); err != nil {
		return err
	}
	if took := w.times.endTick(); w.Budget != nil {
		w.saving = w.Budget.Spent(took)
	}
	return nil
}

// Draw renders the present state with lines of help and additional HUD lines. The camera moves by
// dt even if the scene is paused.
func (w *Show) Draw(dt time.Duration, help []string, hud ...string) error {
	if w.times != nil {
		w.times.beginFrame()
	}
	f := &w.Frame
	w.Scene.Frame(f, w.clock.Alpha())
	if w.times != nil {
		w.times.graphs(f)
	}
	if f.Terrain != w.ground {
		w.ground = f.Terrain
		w.Stage.SetGround(f.Terrain.Height)
	}
	if err := w.updateCrowds(); err != nil {
		return err
	}
	for i := range w.crowds {
		t := &w.crowds[i]
		var bones []m3.Xform
		var tint [][3]float32
		if i < len(f.Casts) {
			bones, tint = t.posed(&f.Casts[i]), f.Casts[i].Tint
		}
		if err := t.crowd.Set(bones, tint); err != nil {
			return err
		}
	}
	if err := w.drawFar(); err != nil {
		return err
	}
	if f.Shot.On {
		w.Stage.Camera.Place(f.Shot.Eye, f.Shot.Target)
		w.Stage.Camera.FOV = f.Shot.FOV
	} else {
		w.Stage.Camera.Track(f.Focus, f.Heading, float32(dt.Seconds()), f.Height)
		w.Stage.Camera.Raise(over(w.Stage.Camera.Eye(), f.Focus, f.Casts))
	}
	view := stage.View{
		Focus: f.Focus, Blocks: f.Blocks, Path: f.Path, Lines: f.Lines, Graphs: f.Graphs, Caption: f.Caption,
	}
	if !w.Film {
		view.HUD, view.Help, view.Panel = w.hud(hud), help, &f.Panel
	}
	if w.Choices {
		view.Has, view.Show = f.Has, f.Show
	}
	if err := w.Stage.Draw(view); err != nil {
		return err
	}
	if w.times != nil {
		w.times.endFrame()
	}
	return nil
}

// hud returns the scene's status lines, then more, then the playback speed and notices.
func (w *Show) hud(more []string) []string {
	lines := append(w.Frame.HUD, more...)
	if p := w.pace.String(); p != "" {
		lines = append(lines, p)
	}
	for _, n := range w.notices {
		lines = append(lines, n.line)
	}
	return lines
}
