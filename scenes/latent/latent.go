// Package latent is the scene of one person whose walk is made with sliders: the
// components of an autoencoder of clips of a second, or its latent values as they
// are (Lüdi 2016, sec. 5.2). Clips can be chained to a sequence.
package latent

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/animsys/skel"
	"mannequin/engine/hud"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

// Options configure the scene. Agents are other people, who walk about by themselves; none is
// usual. A nil Terrain is flat. Workers chain clips, besides the tick's.
type Options struct {
	world.Options
	Model *latent.Model   // required
	Next  *netruntime.Net // predicts the others' next clips, required for them: see latent.Model.NewNext
}

const (
	reach      = 3  // of the sliders to either side, in deviations
	components = 5  // least number of components with a slider: the others do little
	batch      = 24 // clips decoded at a time while chaining
	ahead      = 2  // duration of the path that is drawn, s
	waypoint   = 6  // frames from one of its points to the next
)

// The buttons, in order.
const (
	play = iota
	whole
	add
	undoAdd
	reset
	values
	export
)

var buttons = []hud.Button{
	play:    {Label: "play", Key: 'K'},
	whole:   {Label: "sequence", Key: 'V'},
	add:     {Label: "add clip", Key: 'A'},
	undoAdd: {Label: "undo", Key: 'U'},
	reset:   {Label: "reset", Key: 'R'},
	values:  {Label: "latent values", Key: 'L'},
	export:  {Label: "export BVH", Key: 'E'},
}

var help = []string{
	"up, down: another slider   left, right: move it   or the mouse",
	"K, V, A … as on the buttons; V: all clips added, or the one of the sliders",
}

var gamepadHelp = []string{"cross: another slider, and move it"}

// Scene is the running scene; it is a scenes.Scene and a scenes.Exporter.
type Scene struct {
	Model *latent.Model

	coder      *latent.Coder
	body       *body
	field      *terrain.Field
	sequence   *sequence
	others     *others // nil: none
	overlay    *overlay.Overlay
	start      []float32 // (values) the components after a reset
	components []float32 // (values) of the present clip
	z          []float32 // (values) its latent values
	fixed      []bool    // (values) components that an added clip keeps
	clip       []float32 // (Frames, columns) raw
	dirty      bool      // the clip is not yet decoded

	frame  int  // that the next tick shows
	jump   bool // the frame does not continue the last
	wanted bool // the player asked for an export

	panel  hud.Panel
	labels [2][]string // of the sliders: components, latent values
	hud    string      // status line; "" if it has changed
}

var (
	_ scenes.Scene    = (*Scene)(nil)
	_ scenes.Exporter = (*Scene)(nil)
	_ scenes.Traced   = (*Scene)(nil)
)

// New builds the scene: the person walks as the mean of all clips, with the right foot first.
func New(opt Options) (*Scene, error) {
	if opt.Model == nil {
		return nil, fmt.Errorf("latent: Options.Model is missing")
	}
	if opt.Terrain == nil {
		var err error
		if opt.Terrain, err = terrain.Flat(terrain.Grid{Size: 80, Cell: 0.5}); err != nil {
			return nil, err
		}
	}
	if err := opt.Complete("latent", 0, nil); err != nil {
		return nil, err
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	m := opt.Model
	n, cols := m.Values, m.Layout.Columns()
	s := &Scene{
		Model: m, field: opt.Terrain, clip: make([]float32, latent.Frames*cols),
		start: make([]float32, n), components: make([]float32, n), z: make([]float32, n), fixed: m.Components.Controllable(),
	}
	var err error
	if s.body, err = newBody(m.Person, opt.Terrain); err != nil {
		return nil, err
	}
	b := s.body
	s.overlay = overlay.New(overlay.Agents{
		Skel: m.Skel, Terrain: opt.Terrain, Ground: &b.ground, Roots: b.root[:], Last: b.last, Now: b.now, Ahead: s.path,
	})
	if s.coder, err = m.NewCoder(latent.CoderOptions{Batch: 1, Workers: 1, Open: opt.Open, BF16: opt.BF16}); err != nil {
		return nil, err
	}
	chaining, err := m.NewCoder(latent.CoderOptions{Batch: batch, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16})
	if err != nil {
		s.coder.Close()
		return nil, err
	}
	s.sequence = newSequence(chaining, cols)
	for k := range n {
		name := fmt.Sprintf("component %d", k+1)
		if k < len(m.Components.Names) {
			name = m.Components.Names[k]
		}
		if k < max(components, len(m.Components.Names)) {
			s.labels[0] = append(s.labels[0], name)
		}
		s.labels[1] = append(s.labels[1], fmt.Sprintf("value %d", k+1))
	}
	s.panel.Buttons = slices.Clone(buttons)
	s.panel.Buttons[play].Lit = true
	if k := m.Components.Index(latent.Lead); k >= 0 {
		s.start[k] = -latent.StartLead // the right foot
	}
	if opt.Agents > 0 {
		if s.others, err = newOthers(&opt, s.body); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.choose(s.start)
	s.show(false)
	if err := s.Step(scenes.Input{}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	copy(s.body.last, s.body.now)
	return s, nil
}

// show makes the sliders show all latent values, or components.
func (s *Scene) show(all bool) {
	p := &s.panel
	p.Buttons[values].Lit, p.Title = all, "components, in deviations"
	labels := s.labels[0]
	if all {
		p.Title, labels = "latent values", s.labels[1]
	}
	p.Sliders, p.Selected = p.Sliders[:0], 0
	for _, name := range labels {
		p.Sliders = append(p.Sliders, hud.Slider{Label: name, Min: -reach, Max: reach})
	}
	s.put()
}

// put sets the sliders to the clip, and the buttons that work.
func (s *Scene) put() {
	p := &s.panel
	of := s.components
	if p.Buttons[values].Lit {
		of = s.z
	}
	for i := range p.Sliders {
		p.Sliders[i].Value = of[i]
	}
	q := s.sequence
	none, busy := q.frames() == 0, q.due > 0
	p.Buttons[whole].Off, p.Buttons[export].Off = none, none
	p.Buttons[add].Off, p.Buttons[undoAdd].Off = busy, none || busy
	s.hud = ""
}

// choose sets the components of the clip.
func (s *Scene) choose(components []float32) {
	copy(s.components, components)
	s.Model.Components.ToLatent(s.z, s.components)
	s.dirty = true
}

// view plays the sequence, or the clip of the sliders, starting at a frame.
func (s *Scene) view(sequence bool, frame int) {
	s.panel.Buttons[whole].Lit, s.frame, s.jump = sequence, frame, true
}

// Step runs one tick: it handles the input and shows the next frame. A clip whose slider moves is
// shown at once; the pose is blended into it.
func (s *Scene) Step(in scenes.Input) error {
	added, err := s.sequence.take()
	if err != nil {
		return err
	}
	if added != nil {
		if slices.Equal(s.components, s.sequence.asked()) { // or the player has moved a slider since
			s.choose(added)
		}
		s.view(true, s.sequence.frames()-latent.Frames)
		s.put()
	}
	p := &s.panel
	if k := p.Turn(in.Touch); k >= 0 {
		if p.Buttons[values].Lit {
			s.z[k] = p.Sliders[k].Value
			s.Model.Components.FromLatent(s.components, s.z)
		} else {
			s.components[k] = p.Sliders[k].Value
			s.Model.Components.ToLatent(s.z, s.components)
		}
		s.dirty = true
		if p.Buttons[whole].Lit {
			s.view(false, 0)
		}
	}
	if key := p.Pressed(in.Touch); key != 0 {
		s.press(slices.IndexFunc(p.Buttons, func(b hud.Button) bool { return b.Key == key }))
		s.put()
	}
	if s.dirty {
		if err := s.coder.Decode(s.clip, s.z, 1); err != nil {
			return err
		}
		s.dirty, s.jump = false, true
	}
	if s.others != nil {
		if err := s.others.Tick(); err != nil {
			return err
		}
	}
	if err := s.advance(); err != nil {
		return err
	}
	s.overlay.Step(1)
	return nil
}

// press handles button i.
func (s *Scene) press(i int) {
	b, q := s.panel.Buttons, s.sequence
	switch i {
	case play:
		b[play].Lit = !b[play].Lit
	case whole:
		s.view(!b[whole].Lit, 0)
	case add:
		q.add(s.components, s.fixed)
	case undoAdd:
		s.choose(q.back())
		s.view(b[whole].Lit && q.frames() > 0, 0)
	case reset:
		s.choose(s.start)
		if b[whole].Lit {
			s.view(false, 0)
		}
	case values:
		s.show(!b[values].Lit)
	case export:
		s.wanted = true
	}
}

// rows returns the frames that are played, (frames, columns).
func (s *Scene) rows() []float32 {
	if s.panel.Buttons[whole].Lit {
		return s.sequence.rows
	}
	return s.clip
}

// advance shows the next frame and moves on by one while playing. The first frame follows the last,
// at the place where the person is.
func (s *Scene) advance() error {
	l, rows := s.Model.Layout, s.rows()
	cols := l.Columns()
	row := rows[s.frame*cols:][:cols]
	if err := s.body.show(row, s.jump); err != nil {
		return err
	}
	s.jump = false
	if !s.panel.Buttons[play].Lit {
		return nil
	}
	s.body.place = onward(l, s.body.place, row)
	if s.frame++; s.frame == len(rows)/cols {
		s.frame, s.jump = 0, true
	}
	return nil
}

// Hash returns the hash of all people and of the panel.
func (s *Scene) Hash() uint64 {
	p := &s.panel
	h := statehash.New.Xforms(s.body.now).Floats(s.components...).Int(s.frame).Int(p.Selected)
	for i := range p.Buttons {
		h = h.Bool(p.Buttons[i].Lit).Bool(p.Buttons[i].Off)
	}
	if s.others != nil {
		h = h.Uint(s.others.Populations[0].Hash())
	}
	return uint64(h)
}

// Export returns the sequence, on flat ground and starting at the origin, if the player has asked
// for it since the last call; else nil.
func (s *Scene) Export() (*skel.Clip, error) {
	if !s.wanted {
		return nil, nil
	}
	s.wanted = false
	return s.Model.Clip(s.sequence.rows, latent.Rate, feature.Place{})
}

// Close stops the scene's workers.
func (s *Scene) Close() error {
	err := errors.Join(s.sequence.close(), s.coder.Close())
	if s.others != nil {
		err = errors.Join(err, s.others.Close())
	}
	return err
}

// Autopilot returns the input of a recording without a player: it moves sliders and chains clips.
func Autopilot() scenes.Script {
	const tap = 1.0 / scenes.TickRate
	type touch = hud.Touch
	cue := func(seconds float64, t touch) scenes.Cue {
		return scenes.Cue{Seconds: seconds, Input: scenes.Input{Touch: t}}
	}
	return scenes.Script{
		cue(1, touch{}), cue(0.4, touch{Move: 1}), cue(1, touch{}), cue(tap, touch{Press: 'A'}), cue(3, touch{}),
		cue(0.8, touch{Move: -1}), cue(tap, touch{Press: 'A'}), cue(4, touch{}),
		cue(tap, touch{Select: 1}), cue(0.6, touch{Move: 1}), cue(1, touch{}), cue(tap, touch{Press: 'A'}), cue(5, touch{}),
		cue(tap, touch{Press: 'L'}), cue(1, touch{Move: 1}), cue(2, touch{}), cue(tap, touch{Press: 'L'}), cue(tap, touch{Press: 'R'}),
		cue(tap, touch{Select: -9}), cue(1, touch{}), cue(tap, touch{Press: 'U'}), cue(tap, touch{Press: 'U'}), cue(tap, touch{Press: 'U'}),
	}
}
