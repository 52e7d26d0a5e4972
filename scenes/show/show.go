// Package show plays a scene on a stage: it takes the steps that time calls for, draws
// what the scene describes, and gives keys and gamepads their meaning in it.
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

	Choices bool // whether there is a panel to choose from what Frame.Show has

	// Now, where it is set, tells the time since some moment. Without it there are no
	// hud.Times.
	Now func() time.Duration
	// Stepped, where it is set, is called after each step.
	Stepped func()

	// Free says that the camera never swings behind the focus, which is nobody.
	Free bool

	// Budget, with Now, is the time that a step may take: see Watched. nil is any.
	Budget *clock.Budget
	saving float32

	times  *times       // nil without Now
	traced scenes.Scene // as it was given to New
	clock  *clock.Fixed
	crowds []troupe // of Frame.Casts
	bodies []wardrobe
	skins  []Skin
	ground *terrain.Field

	player player
	pace   pace
	news   news
	bare   bool // without help
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

// New plays s on st from its first frame on, watched from its seat, with pictures at fps per second or slower.
func New(st *stage.Stage, s scenes.Scene, fps int) (*Show, error) {
	w := &Show{Stage: st, Scene: s, traced: s}
	var err error
	// A program that was held up skips what it missed.
	if w.clock, err = clock.New(scenes.TickRate, max(8, scenes.TickRate/max(fps, 1)+1)); err != nil {
		return nil, err
	}
	s.Frame(&w.Frame, 1)
	w.sit()
	return w, nil
}

// Move goes on with the scene on another stage: the one before may have lost its display.
// The camera comes along.
func (w *Show) Move(st *stage.Stage) {
	st.Camera = w.Stage.Camera
	w.Stage, w.crowds, w.ground = st, nil, nil
}

// sit puts the camera where the scene is seen well.
func (w *Show) sit() {
	seat, c := w.Frame.Seat, w.Stage.Camera
	if seat == (scenes.Seat{}) {
		return // the camera's own
	}
	c.Distance, c.Pitch, c.Aside = seat.Distance, seat.Pitch, seat.Aside
	if seat.Overview {
		c.Follow, c.Yaw, w.Free = false, seat.Yaw, true
	}
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

func rigOf(sk *skel.Skeleton) body.Rig {
	return body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}
}

// body returns that of a skeleton.
func (w *Show) body(sk *skel.Skeleton) (*body.Body, error) {
	rig := rigOf(sk)
	for _, have := range w.bodies {
		if slices.Equal(have.rig.Names, rig.Names) && slices.Equal(have.rig.Parents, rig.Parents) && slices.Equal(have.rig.Offsets, rig.Offsets) {
			return have.body, nil
		}
	}
	b, err := w.clad(sk)
	if err != nil {
		return nil, err
	}
	w.bodies = append(w.bodies, wardrobe{rig, b})
	return b, nil
}

// Watched returns in with where the stage's camera is and looks, and with how much trouble
// is to be saved by Budget.
func (w *Show) Watched(in scenes.Input) scenes.Input {
	if c := w.Stage.Camera; c.Placed() {
		in.Watched, in.Eye, in.Ahead = true, c.Eye(), c.Ahead()
	}
	in.Saving = w.saving
	return in
}

// choose turns on and off what the user chooses to see, and with Tab the panel that
// offers it.
func (w *Show) choose(c *stage.Controls) {
	w.Frame.Show ^= c.Toggle & w.Frame.Has
	if c.Hit[stage.KeyTab] {
		w.Choices = !w.Choices
	}
}

// Advance takes the steps that dt calls for.
func (w *Show) Advance(dt time.Duration, input func() scenes.Input) error {
	if w.times == nil && w.Now != nil {
		w.times = newTimes(w.Now, w.traced)
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

// Draw renders the present state, with lines of help and more lines of what is going
// on. dt moves the camera, whatever time does in the scene.
func (w *Show) Draw(dt time.Duration, help []string, hud ...string) error {
	if w.times != nil {
		w.times.beginPicture()
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
	view := stage.View{
		Focus: f.Focus, Path: f.Path, Lines: f.Lines, Graphs: f.Graphs, Caption: f.Caption,
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
		w.times.endPicture()
	}
	return nil
}

// hud returns what the scene says is going on, then more, then what time and gamepads do.
func (w *Show) hud(more []string) []string {
	lines := append(w.Frame.HUD, more...)
	if p := w.pace.String(); p != "" {
		lines = append(lines, p)
	}
	for _, n := range w.news {
		lines = append(lines, n.line)
	}
	return lines
}
