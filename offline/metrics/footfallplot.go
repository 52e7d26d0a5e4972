package metrics

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/draw"
	"mannequin/offline/dataset"
)

// RecordedFootfalls returns the recordings' footfall in each gait, and a stretch of each to look
// at: of two seconds in the gait (or the longest there is) the one closest to the gait's speed.
func RecordedFootfalls(gaits []Gait, sets ...*dataset.MANN) ([]Footfall, []*skel.Clip, error) {
	sums, best := make([]footfalls, len(gaits)), make([]stretch, len(gaits))
	if err := checkLayouts(sets); err != nil {
		return nil, nil, err
	}
	for set, run := range runs(sets) {
		c := set.Replay(run[0], run[1])
		v := Speed(c, 0)
		for g, keep := range inGaits(gaits, set, run) {
			if err := sums[g].add(c, keep); err != nil {
				return nil, nil, err
			}
			best[g].look(c, v, keep, float64(gaits[g].Goals[0].Speed))
		}
	}
	out, clips := make([]Footfall, len(gaits)), make([]*skel.Clip, len(gaits))
	for g := range gaits {
		out[g], clips[g] = sums[g].footfall(), best[g].clip
	}
	return out, clips, nil
}

// stretch is the best stretch so far.
type stretch struct {
	clip *skel.Clip
	off  float64 // m/s from the speed that is wanted
}

const stretchFrames = 120

func (s *stretch) look(c *skel.Clip, speed []float64, keep []bool, want float64) {
	for from := 0; from < c.Frames; from++ {
		sum, f := 0.0, from
		for ; f < c.Frames && keep[f] && f-from < stretchFrames; f++ {
			sum += speed[f]
		}
		n := f - from
		if n < 30 || s.clip != nil && n < s.clip.Frames {
			continue
		}
		if off := math.Abs(sum/float64(n) - want); s.clip == nil || n > s.clip.Frames || off < s.off {
			s.clip, s.off = c.Section(from, f), off
		}
	}
}

// Strip is one row of a footfall picture.
type Strip struct {
	Title string
	Clip  *skel.Clip // cut to two seconds; nil: an empty row
	Fall  Footfall   // its figures are written beside the bars; may cover more than the clip
}

// FootfallPicture draws a bar per paw and contact for each strip of two seconds (paper, Fig. 2).
func FootfallPicture(strips []Strip) (image.Image, error) {
	const (
		left, right = 96, 300
		span        = stretchFrames
		step        = 5 // pixels per frame
		bar, gap    = 14, 4
		head, foot  = 26, 16
		high        = head + numPaws*(bar+gap) + foot
		wide        = left + span*step + right
	)
	colours := [numPaws]color.RGBA{draw.Blue, draw.Green, draw.Blue, draw.Green}
	img := draw.New(wide, high*len(strips)+24, draw.Paper)
	for i, s := range strips {
		y := i * high
		draw.Text(img, 8, y+4, 16, draw.Ink, s.Title)
		if s.Clip == nil {
			draw.Text(img, left, y+head, 14, draw.Ink, "no such stretch")
			continue
		}
		stands, err := Contacts(s.Clip)
		if err != nil {
			return nil, err
		}
		frames := min(s.Clip.Frames, span)
		for p := range numPaws {
			top := y + head + p*(bar+gap)
			draw.Text(img, 8, top-2, 13, draw.Ink, PawNames[p])
			draw.Fill(img, image.Rect(left, top+bar/2, left+frames*step, top+bar/2+1), draw.Faint)
			for f := range frames {
				if stands[p][f] {
					draw.Fill(img, image.Rect(left+f*step, top, left+(f+1)*step, top+bar), colours[p])
				}
			}
			draw.Text(img, left+span*step+12, top-2, 13, draw.Ink,
				fmt.Sprintf("duty %.2f   phase %.2f   steady %.2f", s.Fall.Duty[p], s.Fall.Phase[p], s.Fall.Steady[p]))
		}
		draw.Text(img, left+span*step+12, y+4, 14, draw.Ink,
			fmt.Sprintf("%s: %.2f strides/s, %d strides", s.Fall.Gait, s.Fall.Rate, s.Fall.Strides))
	}
	for t := range span/60*2 + 1 {
		x := left + t*30*step
		for i := range strips {
			draw.Fill(img, image.Rect(x, i*high+head, x+1, (i+1)*high-foot), draw.Faint)
		}
		draw.Text(img, x-8, high*len(strips)+2, 13, draw.Ink, fmt.Sprintf("%.1f s", float64(t)/2))
	}
	return img, nil
}
