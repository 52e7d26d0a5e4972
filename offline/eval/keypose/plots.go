package keypose

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"math"
	"path/filepath"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
	"mannequin/offline/eval/figure"
)

// keyposeFigures keeps the data of Lüdi's Fig. 5.1 to 5.4: every recording, and the motion made from
// its poses.
type keyposeFigures struct{ of []*shownRecording }

// shownRecording is a recording, and the motion that each method makes from a pose in every few of
// its frames, in world space.
type shownRecording struct {
	name    string
	every   int
	parents []int16
	layout  *feature.Motion
	ground  float32         // height in the recording, m; 0 in joints
	course  []feature.Place // (frames) place of the body
	joints  [][]m3.Vec3     // (frames, joints)
	made    map[string][][]m3.Vec3
}

// recording adds a recording. Without figures it returns nil, whose methods do nothing.
func (f *keyposeFigures) recording(l *feature.Motion, c *dataset.MotionClip, every int) (*shownRecording, error) {
	if f == nil {
		return nil, nil
	}
	s := &shownRecording{name: c.Name, every: every, layout: l, made: map[string][][]m3.Vec3{}}
	var err error
	if s.parents, s.joints, err = figure.Joints(c.Poses, l.Joints); err != nil {
		return nil, err
	}
	rows := make([]float32, len(s.joints)*l.Columns())
	at, err := l.FromWorld(rows, slices.Concat(s.joints...), dataset.Rate)
	if err != nil {
		return nil, err
	}
	s.joints = s.joints[:(len(s.joints)-1)/every*every+1]
	s.ground, at.Pos.Y = at.Pos.Y, 0
	s.stand(s.joints)
	for i := range s.joints {
		s.course = append(s.course, at)
		at = at.Advance(rows[i*l.Columns()+l.Body():], 1.0/dataset.Rate)
	}
	f.of = append(f.of, s)
	return s, nil
}

// rows keeps a method's motion, (frames, columns) raw, which starts at the recording's place.
func (s *shownRecording) rows(method string, made []float32) {
	if s == nil {
		return
	}
	n := len(s.layout.Joints)
	world := make([]m3.Vec3, len(made)/s.layout.Columns()*n)
	s.layout.ToWorld(world, made, dataset.Rate, s.course[0])
	s.made[method] = slices.Collect(slices.Chunk(world, n))
}

// clip keeps a method's motion.
func (s *shownRecording) clip(method string, c *skel.Clip) (err error) {
	if s != nil {
		_, s.made[method], err = figure.Joints(c, s.layout.Joints)
		s.stand(s.made[method])
	}
	return err
}

// stand moves poses to a ground at height 0.
func (s *shownRecording) stand(poses [][]m3.Vec3) {
	for _, pose := range poses {
		for j := range pose {
			pose[j].Y -= s.ground
		}
	}
}

// drift returns the distance of the hips from the recorded ones in the last frame, on the ground, m.
func (s *shownRecording) drift(method string) float32 {
	made := s.made[method]
	end := len(made) - 1
	return made[end][0].Flat().Dist(s.joints[end][0].Flat())
}

// off returns the mean distance of joints from the recorded ones between the poses, cm.
func (s *shownRecording) off(method string) float32 {
	sum, n := float32(0), 0
	for f, pose := range s.made[method] {
		if f%s.every == 0 {
			continue
		}
		for j, p := range pose {
			sum += 100 * p.Dist(s.joints[f][j])
			n++
		}
	}
	return sum / float32(max(1, n))
}

// way returns the length of the body's path on the ground, m.
func (s *shownRecording) way() (sum float32) {
	for i := range s.course[1:] {
		sum += s.course[i].Pos.Dist(s.course[i+1].Pos)
	}
	return sum
}

// turn returns the difference of the body's heading at the end from the start, radians.
func (s *shownRecording) turn() float32 {
	return m3.Abs(s.course[len(s.course)-1].Yaw - s.course[0].Yaw)
}

// aside returns the speed backward or to a side, more than 60° from the heading, m/s.
func (s *shownRecording) aside() (sum float32) {
	for i := range s.course[1:] {
		d := m3.YawQuat(-s.course[i].Yaw).Rotate(s.course[i+1].Pos.Sub(s.course[i].Pos))
		if m3.Abs(m3.YawOf(d)) > math.Pi/3 {
			sum += d.Len()
		}
	}
	return sum * dataset.Rate / float32(len(s.course))
}

// Colours and names of the methods in figures.
var (
	shownColours = map[string]color.RGBA{"": figure.Recorded, methodSparse: draw.Orange, methodCorrected: draw.Green, methodKeypose: draw.Blue}
	shownNames   = map[string]string{"": "recorded", methodSparse: "as published", methodCorrected: "corrected on the manifold", methodKeypose: "ours"}
)

// Bounds of the recordings in figures.
const (
	longestShown = 15  // s
	walkBelow    = 2.0 // m/s
)

// most returns the recording with a pose in every given number of frames whose value of by is largest
// and above least, or nil if there is none.
func (f *keyposeFigures) most(every int, least float32, by func(s *shownRecording) float32) *shownRecording {
	of := slices.DeleteFunc(slices.Clone(f.of), func(s *shownRecording) bool {
		return s.every != every || len(s.course) > longestShown*dataset.Rate || !(by(s) > least)
	})
	if len(of) == 0 {
		return nil
	}
	return slices.MaxFunc(of, func(a, b *shownRecording) int { return cmp.Compare(by(a), by(b)) })
}

// walk returns the length of a walk's path, m, or 0 if it is no walk.
func walk(s *shownRecording) float32 {
	if s.way()*dataset.Rate/float32(len(s.course)) > walkBelow || s.aside() > 0.1 {
		return 0
	}
	return s.way()
}

// longWalk returns the duration of a walk, frames, or 0 if it is no walk.
func longWalk(s *shownRecording) float32 {
	if walk(s) == 0 {
		return 0
	}
	return float32(len(s.course))
}

// draw draws the figures, for each number of poses a second.
func (f *keyposeFigures) draw(album *figure.Album) error {
	var everies []int
	for _, s := range f.of {
		if !slices.Contains(everies, s.every) {
			everies = append(everies, s.every)
		}
	}
	for _, every := range everies {
		per := fmt.Sprintf("-%g.png", dataset.Rate/float64(every))
		for _, row := range []struct {
			name  string
			shown *shownRecording
		}{
			{"keypose-walk", f.most(every, 1, walk)},
			{"keypose-backward", f.most(every, 0.3, (*shownRecording).aside)},
		} {
			if row.shown == nil {
				continue
			}
			if err := album.Draw(row.name+per, row.shown.row(methodSparse, methodKeypose)); err != nil {
				return err
			}
		}
		var shown []*shownRecording
		for _, by := range []func(s *shownRecording) float32{walk, (*shownRecording).turn, longWalk} {
			if s := f.most(every, 0, by); s != nil && !slices.Contains(shown, s) {
				shown = append(shown, s)
			}
		}
		if len(shown) > 0 {
			if err := album.Draw("keypose-paths"+per, shownPaths(shown)); err != nil {
				return err
			}
		}
	}
	return nil
}

// poses returns the rate of the given poses in words.
func (s *shownRecording) poses() string {
	if s.every == dataset.Rate {
		return "a pose a second"
	}
	return fmt.Sprintf("%g poses a second", dataset.Rate/float64(s.every))
}

// row draws the methods' motions below the recording, from the side. The body moves to the right if
// it walks forward.
func (s *shownRecording) row(methods ...string) *image.RGBA {
	last := len(s.course) - 1
	way := s.course[last].Pos.Sub(s.course[0].Pos)
	if way.Dot(m3.YawQuat(s.course[0].Yaw).Forward()) < 0 {
		way = way.Neg()
	}
	aim := m3.YawQuat(m3.YawOf(way)).Rotate(m3.V(1, -0.2, 0)).Normalize(m3.V(1, 0, 0))
	var keys []figure.Key
	for f := 0; f <= last; f += s.every {
		keys = append(keys, figure.Key{Joints: s.joints[f], Label: fmt.Sprintf("%g s", float64(f)/dataset.Rate), Colour: draw.Red})
	}
	rows := []figure.Along{{Title: s.name + ", recorded; in red what is given, " + s.poses(), Joints: s.joints}}
	for _, m := range methods {
		rows = append(rows, figure.Along{Title: fmt.Sprintf("%s: joints %.1f cm off between these, in the end %.0f cm", shownNames[m], s.off(m), 100*s.drift(m)), Joints: s.made[m]})
	}
	for i := range rows {
		r := &rows[i]
		c := shownColours[append([]string{""}, methods...)[i]]
		r.Parents, r.Frames, r.Keys, r.Colour = s.parents, figure.Every(dataset.Rate/4, last), keys, func(int) color.RGBA { return c }
	}
	return figure.Sheet(aim, rows...)
}

// shownPaths draws the paths of the hips on the ground, from above.
func shownPaths(of []*shownRecording) *image.RGBA {
	const wide, high, text = 480, 520, 15
	methods := []string{"", methodSparse, methodCorrected, methodKeypose}
	return draw.Sheet(len(of), wide, high, len(of), func(i int, tile *image.RGBA) {
		s := of[i]
		var paths [][]m3.Vec3
		lo, hi := s.joints[0][0].Flat(), s.joints[0][0].Flat()
		for _, m := range methods {
			motion := s.made[m]
			if m == "" {
				motion = s.joints
			}
			var path []m3.Vec3
			for _, pose := range motion {
				p := pose[0].Flat()
				lo, hi = m3.V(min(lo.X, p.X), 0, min(lo.Z, p.Z)), m3.V(max(hi.X, p.X), 0, max(hi.Z, p.Z))
				path = append(path, p)
			}
			paths = append(paths, path)
		}
		size := max((hi.X-lo.X)/(wide-60), (hi.Z-lo.Z)/(high-150), 0.002)
		cam := draw.Top(lo.Lerp(hi, 0.5).Add(m3.V(0, 0, 45*size)), size*high)
		draw.Grid(tile, cam, cam.Target, size*high, 0.5)
		for k, path := range paths {
			// Paths that are close to each other lie on top of each other.
			draw.Path(tile, cam, path, []float32{12, 3, 7, 3}[k], shownColours[methods[k]])
			draw.Dot(tile, cam, path[len(path)-1], 9, shownColours[methods[k]])
		}
		for f := 0; f < len(s.joints); f += s.every {
			draw.Dot(tile, cam, paths[0][f], 7, draw.Red)
		}
		draw.Text(tile, 10, 6, text, draw.Ink, fmt.Sprintf("%s, %.1f s, grid 0.5 m", filepath.Base(s.name), float64(len(s.course)-1)/dataset.Rate))
		for k, m := range methods {
			label := shownNames[m]
			if m != "" {
				label += fmt.Sprintf(": in the end %.0f cm off", 100*s.drift(m))
			}
			draw.Text(tile, 10, 28+19*k, text, shownColours[m], label)
		}
	})
}
