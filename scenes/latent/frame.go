package latent

import (
	"fmt"

	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.field)
	dst.Seat = scenes.Seat{Distance: 5, Pitch: 0.2, Aside: 0.9} // steps are seen from the side
	c := dst.Cast(s.Model.Skel)
	c.Add(s.body.last, s.body.now, alpha, [3]float32{0.06, 0.16, 0.42})
	dst.Focus, dst.Heading = c.Bones[0].Pos, s.body.place.Yaw
	bones := c.Bones
	if s.others != nil {
		s.others.Draw(dst, alpha)
	}
	dst.Path = s.path(dst.Path, 0)
	for i, p := range dst.Path {
		dst.Path[i].Y = s.field.Height(p.X, p.Z)
	}
	s.overlay.Draw(dst, bones, 0, alpha)
	if s.others != nil {
		s.others.DrawOverlays(dst, 0, -1, false, alpha)
	}
	dst.HUD, dst.Help = append(dst.HUD, s.status()), append(dst.Help, help...)
	dst.GamepadHelp = append(dst.GamepadHelp, gamepadHelp...)
	dst.Panel.Copy(&s.panel)
}

// status returns the status line.
func (s *Scene) status() string {
	if s.hud != "" {
		return s.hud
	}
	q := s.sequence
	s.hud = "no clips yet: A adds the present one"
	if n := len(q.undo); n > 0 {
		s.hud = fmt.Sprintf("%s, %.1f s", scenes.Count(n, "clip", "clips"), float64(q.frames()-1)/latent.Rate)
	}
	if q.frames() > 0 && q.miss > 0 {
		s.hud += fmt.Sprintf("; the last begins %.1f cm off", 100*q.miss)
	}
	if q.due > 0 {
		s.hud += "; adding …"
	}
	return s.hud
}

// path appends the places where the person is about to go, on flat ground.
func (s *Scene) path(dst []m3.Vec3, _ int) []m3.Vec3 {
	l, rows, p := s.Model.Layout, s.rows(), s.body.place
	cols := l.Columns()
	for f := range ahead * latent.Rate {
		if f%waypoint == 0 {
			dst = append(dst, p.Pos)
		}
		p = onward(l, p, rows[(s.frame+f)*cols%len(rows):][:cols])
	}
	return dst
}

// Stages returns the names of the systems of the others' tick: see scenes.Traced.
func (s *Scene) Stages() []string {
	if s.others == nil {
		return nil
	}
	return s.others.Stages()
}

// Trace sets a function that is called when one of them begins: see scenes.Traced.
func (s *Scene) Trace(f func(stage int)) {
	if s.others != nil {
		s.others.Trace(f)
	}
}
