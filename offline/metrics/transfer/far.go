package transfer

import (
	"slices"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// FarScore is the result for an input without a known truth.
type FarScore struct {
	Clip   string  `json:"clip"`
	Style  string  `json:"style"`
	Frames int     `json:"frames"`
	Finite bool    `json:"finite"`
	Input  float64 `json:"input_m_s"` // largest speed of a joint in the world
	Output float64 `json:"output_m_s"`
}

// Ratio returns the output's largest speed over the input's, or 0 if nothing moves in the input.
func (f *FarScore) Ratio() float64 {
	if f.Input == 0 {
		return 0
	}
	return f.Output / f.Input
}

// Far translates a clip without labels into a style of a database, plays the output on its own
// time, and measures the speed of joints.
func Far(db *mar.Database, name string, c *skel.Clip, style int, o mar.Options) (FarScore, error) {
	if _, err := db.Rows(c); err != nil { // another skeleton
		return FarScore{}, err
	}
	s, err := db.NewStyleTranslator(mar.StyleTranslatorOptions{Options: o, Characters: 1, Workers: 1})
	if err != nil {
		return FarScore{}, err
	}
	defer s.Close()
	s.Weights[style] = 1
	score := FarScore{Clip: name, Style: db.Styles[style], Frames: c.Frames, Finite: true}
	in, out := newSpeeds(c.Skel, c.FPS), newSpeeds(c.Skel, c.FPS)
	retimer := db.NewRetimer(m3.Vec3{}, 0)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		in.add(pos, rot)
		row, step := s.Step(0, pos, rot)
		for _, v := range row {
			score.Finite = score.Finite && m3.Finite(v)
		}
		retimer.Push(row, step, out.add)
	}
	score.Finite = score.Finite && out.finite
	score.Input, score.Output = in.most, out.most
	return score, nil
}

// speeds finds the largest speed of a joint.
type speeds struct {
	skel      *skel.Skeleton
	fps       float64
	last, now []m3.Xform
	frames    int
	finite    bool
	most      float64 // m/s
}

func newSpeeds(sk *skel.Skeleton, fps float64) *speeds {
	return &speeds{skel: sk, fps: fps, last: make([]m3.Xform, sk.Len()), now: make([]m3.Xform, sk.Len()), finite: true}
}

func (s *speeds) add(pos []m3.Vec3, rot []m3.Quat) {
	s.last, s.now = s.now, s.last
	s.skel.LocalToModel(s.now, pos, rot)
	s.finite = s.finite && !slices.ContainsFunc(s.now, func(x m3.Xform) bool { return !x.Pos.Finite() })
	if s.frames++; s.frames == 1 {
		return
	}
	for j, x := range s.now {
		s.most = max(s.most, s.fps*float64(x.Pos.Dist(s.last[j].Pos)))
	}
}
