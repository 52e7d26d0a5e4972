package latent

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/animsys/skel"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/offline/eval/figure"
)

// startLead is the lead of a leg in figures, in deviations. Without a leading leg a clip hardly walks.
const startLead = -1.5

// draw draws Lüdi's Fig. 5.6 to 5.8, except figures that show components which the model lacks.
func (r *Report) draw(album *figure.Album) error {
	for _, f := range []struct {
		name string
		draw func() (*image.RGBA, error)
	}{{"latent-starts.png", r.starts}, {"latent-sliders.png", r.sliders}, {"latent-chain.png", r.chained}} {
		img, err := f.draw()
		if err == nil && img != nil {
			err = album.Draw(f.name, img)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// component returns the component of this name, −1 if there is none.
func (r *Report) component(name string) int {
	return slices.Index(r.model.Components.Names, name)
}

// with returns components that are 0 except the named ones. Names that the model does not have are
// ignored.
func (r *Report) with(set map[string]float32) []float32 {
	c := make([]float32, r.model.Values)
	for name, v := range set {
		if k := r.component(name); k >= 0 {
			c[k] = v
		}
	}
	return c
}

// clip returns a clip of components c, as rows and as a skeleton's motion.
func (r *Report) clip(c []float32) (rows []float32, clip *skel.Clip, err error) {
	rows = make([]float32, latent.Frames*r.model.Layout.Columns())
	if err := r.decode(rows, c, 1); err != nil {
		return nil, nil, err
	}
	clip, err = r.model.Clip(rows, latent.Rate, feature.Place{})
	return rows, clip, err
}

// signed formats a component's value.
func signed(v float32) string {
	if v == 0 {
		return "0"
	}
	return strings.Replace(fmt.Sprintf("%+g", v), "-", "−", 1)
}

// starts draws Fig. 5.6: the first poses of clips, by the two components of the phase of a step.
func (r *Report) starts() (*image.RGBA, error) {
	const reach, side = 2, 5
	first, second := r.component("lead"), len(r.model.Components.Names)
	if first < 0 || second >= r.model.Values {
		return nil, nil
	}
	at := func(i int) (a, b float32) { return float32(i%side - reach), float32(reach - i/side) }
	var poses [][]m3.Vec3
	for i := range side * side {
		c := make([]float32, r.model.Values)
		c[first], c[second] = at(i)
		_, clip, err := r.clip(c)
		if err != nil {
			return nil, err
		}
		poses = append(poses, figure.Positions(clip, 0))
	}
	names := r.model.Skel.Names
	return draw.ClipSheet(draw.Motion{
		Parents: r.model.Skel.Parents, Frames: len(poses),
		Pose: func(i int) []m3.Vec3 { return poses[i] },
		Colour: func(j int) color.RGBA {
			switch {
			case strings.HasPrefix(names[j], "Left"):
				return draw.Blue
			case strings.HasPrefix(names[j], "Right"):
				return draw.Orange
			}
			return draw.Ink
		},
		Label: func(i int) string {
			a, b := at(i)
			return fmt.Sprintf("lead %s, component %d %s", signed(a), second+1, signed(b))
		},
	}, len(poses), side, 2), nil
}

// sliderView is the view of a component in Fig. 5.7.
type sliderView struct {
	name   string
	frames []int // to draw
	mean   bool  // draw the mean of all clips behind
	cam    draw.Camera
	how    string
}

var sliderViews = []sliderView{
	{"turn", []int{0, 30, 60}, false, draw.Top(m3.V(0, 0, 0.6), 2.2), "a second from above, grid 0.5 m"},
	{"step", []int{0, 20, 40, 60}, false, draw.Side(m3.V(0, 1.1, 1.15), 3.4), "a second"},
	{"lean", []int{30}, true, draw.Front(m3.V(0, 1.05, 0), 1.5), "after ½ s, from ahead"},
	{"bend", []int{0}, true, draw.Side(m3.V(0, 0.85, 0.05), 2.1), "the start"},
}

// sliders draws Fig. 5.7: the effect of each of the other named components on a clip, two deviations to
// both sides.
func (r *Report) sliders() (*image.RGBA, error) {
	const wide, high, by = 320, 330, 2
	views := slices.DeleteFunc(slices.Clone(sliderViews), func(v sliderView) bool { return r.component(v.name) < 0 })
	n := len(views)
	if n == 0 {
		return nil, nil
	}
	_, mean, err := r.clip(r.with(map[string]float32{"lead": startLead}))
	if err != nil {
		return nil, err
	}
	var clips []*skel.Clip
	var titles []string
	for i := range 2 * n {
		v, to := views[i%n], float32(by*(2*(i/n)-1))
		rows, clip, err := r.clip(r.with(map[string]float32{"lead": startLead, v.name: to}))
		if err != nil {
			return nil, err
		}
		title := v.name + " " + signed(to)
		for _, t := range r.traits {
			if t.Name == v.name {
				title += strings.NewReplacer("-", "−", " °", "°").Replace(fmt.Sprintf(": %.2g %s", t.Measure(rows), t.Unit))
			}
		}
		clips, titles = append(clips, clip), append(titles, title)
	}
	return draw.Sheet(n, wide, high, len(clips), func(i int, tile *image.RGBA) {
		v := views[i%n]
		draw.Grid(tile, v.cam, m3.V(0, 0, 0), 4, 0.5)
		show := func(clip *skel.Clip, c color.RGBA) {
			var path []m3.Vec3
			for f := range v.frames[len(v.frames)-1] + 1 {
				path = append(path, clip.Pos[f*clip.Skel.Len()].Flat())
			}
			draw.Path(tile, v.cam, path, 2, c)
			for _, f := range v.frames {
				draw.Skeleton(tile, v.cam, clip.Skel.Parents, figure.Positions(clip, f), c)
			}
		}
		if v.mean {
			show(mean, figure.Recorded)
		}
		show(clips[i], []color.RGBA{draw.Orange, draw.Blue}[i/n])
		draw.Text(tile, 8, 6, 16, draw.Ink, titles[i])
		draw.Text(tile, 8, 27, 14, draw.Ink, v.how)
	}), nil
}

// chainFigure are the sliders of the clips of Fig. 5.8, one after the other.
var chainFigure = []map[string]float32{
	{},
	{"step": 1.5},
	{"turn": 2},
	{"step": 1.5},
	{"turn": -2},
	{"step": 1, "bend": 2},
	{"step": 1},
}

// chained draws Fig. 5.8: chained clips with several settings of the sliders.
func (r *Report) chained() (*image.RGBA, error) {
	if r.component("turn") < 0 || r.component("lead") < 0 {
		return nil, nil
	}
	m := r.model
	fixed := make([]bool, m.Values)
	for k, name := range m.Components.Names {
		fixed[k] = name != "lead" // it follows from the end of the last clip
	}
	var rows []float32
	for i, set := range chainFigure {
		c := r.with(set)
		if i == 0 {
			c[r.component("lead")] = startLead
		}
		var err error
		if rows, _, err = r.coder.Append(rows, c, fixed); err != nil {
			return nil, err
		}
	}
	clip, err := m.Clip(rows, latent.Rate, feature.Place{})
	if err != nil {
		return nil, err
	}
	const hop = latent.Frames - latent.Overlap
	of := func(f int) int { return min(f/hop, len(chainFigure)-1) }
	colours := []color.RGBA{draw.Blue, draw.Orange}
	a := figure.Along{
		Title:  fmt.Sprintf("%d clips of a second, each begins half a second after the one before", len(chainFigure)),
		Frames: figure.Every(latent.Rate/4, clip.Frames-1),
		Colour: func(f int) color.RGBA { return colours[of(f)%len(colours)] },
	}
	if a.Parents, a.Joints, err = figure.Joints(clip, m.Layout.Joints); err != nil {
		return nil, err
	}
	for i, set := range chainFigure {
		var label []string
		for _, name := range m.Components.Names {
			if v := set[name]; v != 0 {
				label = append(label, name+" "+signed(v))
			}
		}
		if len(label) == 0 {
			label = append(label, "all 0")
		}
		a.Keys = append(a.Keys, figure.Key{Joints: a.Joints[i*hop], Label: strings.Join(label, ", "), Colour: a.Colour(i * hop)})
	}
	way := a.Joints[clip.Frames-1][0].Sub(a.Joints[0][0]).Flat()
	aim := m3.YawQuat(m3.YawOf(way)).Rotate(m3.V(1, -0.5, 0)).Normalize(m3.V(1, 0, 0))
	return figure.Sheet(aim, a), nil
}
