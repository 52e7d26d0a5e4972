package crowd

import (
	"fmt"

	"mannequin/animsys"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

var help = []string{
	"Space: select the next agent   R: select none",
	"up, down, left, right or the mouse: number of agents, and of those replaced",
}

// rateNames are the names of update rates.
var rateNames = [...]string{
	animsys.Frozen: "frozen", animsys.EveryTick: "a step every tick", animsys.Every2: "every second", animsys.Every4: "every fourth",
}

// Frame describes what to draw. The focus is the watched agent, or the middle of all.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.place.field)
	dst.Seat = scenes.Overlook(s.want)
	dst.Help = append(dst.Help, help...)
	s.Draw(dst, alpha)
	var mid m3.Vec3
	line, watching := fmt.Sprintf("%d:", s.Agents()), ""
	var rates [animsys.Every4 + 1]int
	of, watched := -1, -1
	for i, p := range s.populations {
		c := &dst.Casts[i]
		if p.far != nil {
			p.far.Draw(dst)
			c = &dst.Casts[i]
		}
		for row := range c.Len() {
			mid = mid.Add(c.Of(row)[0].Pos.Scale(1 / float32(s.Agents())))
			rates[p.UpdateRateAt(row)]++
		}
		line += "  " + p.count(p.size())
		if row := s.watchedRow(p); row >= 0 {
			of, watched = i, row
			watching = fmt.Sprintf("watching: %s, %s", p.agent(s.watched), rateNames[p.UpdateRateAt(row)])
			dst.Focus, dst.Heading = c.Of(row)[0].Pos, p.Roots[row].Rot.Yaw()
		}
	}
	for i := len(s.populations); i < len(dst.Casts); i++ { // on the GPU
		for k := range dst.Casts[i].Len() {
			mid = mid.Add(dst.Casts[i].Of(k)[0].Pos.Scale(1 / float32(s.Agents())))
		}
	}
	for i := range dst.Far {
		for _, hips := range dst.Far[i].Hips {
			if hips.Pos.Finite() {
				mid = mid.Add(hips.Pos.Scale(1 / float32(s.Agents())))
			}
		}
	}
	if s.watched.IsZero() {
		dst.Focus = mid
	}
	s.DrawOverlays(dst, of, watched, true, alpha)
	dst.HUD = append(dst.HUD, line, fmt.Sprintf("a step every tick: %d, every second: %d, every fourth: %d, frozen: %d",
		rates[animsys.EveryTick], rates[animsys.Every2], rates[animsys.Every4], rates[animsys.Frozen]))
	switch away, device := s.OnGPU(); {
	case device != "":
		dst.HUD = append(dst.HUD, fmt.Sprintf("on the GPU: %d far ones, %s", away, device))
	case s.asked:
		dst.HUD = append(dst.HUD, "all on the processor: none of those far away can live on a GPU here")
	}
	if watching != "" {
		dst.HUD = append(dst.HUD, watching)
	}
	dst.Panel.Copy(&s.panel)
}
