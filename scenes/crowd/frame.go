package crowd

import (
	"fmt"

	"mannequin/animsys"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

var help = []string{
	"Space: watch one, and the next   R: watch them all",
	"up, down, left, right or the mouse: how many, and how many come and go",
}

// Stages returns the names of the tick's stages.
func (s *Scene) Stages() []string { return s.Schedule.Names() }

// Trace sets what is called before each stage.
func (s *Scene) Trace(f func(next int)) { s.Schedule.Trace = f }

// rateNames say how often who is watched takes a step.
var rateNames = [...]string{animsys.Frozen: "frozen", animsys.EveryTick: "a step every tick", animsys.Every2: "every second", animsys.Every4: "every fourth"}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.place.field)
	dst.Seat = scenes.Overlook(s.want)
	dst.Help = append(dst.Help, help...)
	var mid m3.Vec3
	line, watching := fmt.Sprintf("%d:", s.Agents()), ""
	var rates [animsys.Every4 + 1]int
	for _, k := range s.kinds {
		c := dst.Cast(k.crowd.Skel)
		c.Bones = k.crowd.Interpolate(c.Bones, alpha)
		for row := range k.crowd.Agents() {
			c.Tint = append(c.Tint, k.tint(&k.minds[row]))
			mid = mid.Add(c.Of(row)[0].Pos.Scale(1 / float32(s.Agents())))
			rates[k.crowd.UpdateRateAt(row)]++
		}
		line += "  " + k.count(c.Len())
		if row := s.watchedRow(k); row >= 0 {
			watching = fmt.Sprintf("watching: %s, %s", k.who(s.watched), rateNames[k.crowd.UpdateRateAt(row)])
			dst.Focus = c.Of(row)[0].Pos
			dst.Heading = k.crowd.Roots[row].Rot.Yaw()
		}
	}
	if s.watched.IsZero() {
		dst.Focus = mid
	}
	for i, k := range s.kinds {
		row := s.watchedRow(k)
		if row >= 0 {
			k.marks.Watched(dst, dst.Casts[i].Bones, row)
		}
		k.marks.Draw(dst, dst.Casts[i].Bones, row, alpha)
	}
	dst.HUD = append(dst.HUD, line, fmt.Sprintf("a step every tick: %d, every second: %d, every fourth: %d, frozen: %d", rates[animsys.EveryTick], rates[animsys.Every2], rates[animsys.Every4], rates[animsys.Frozen]))
	if watching != "" {
		dst.HUD = append(dst.HUD, watching)
	}
	dst.Panel.Copy(&s.panel)
}
