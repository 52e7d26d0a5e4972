package transfer

import (
	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
)

// Rate is the cost of a frame of unlabelled input on one core, s (Table 2 of Xia et al. 2015).
type Rate struct {
	Frames int     `json:"frames"` // timed
	Total  float64 `json:"total_s"`
	// Enter is the cost of reading a frame and finding contacts: the rest when no style is wanted.
	Enter float64 `json:"enter_s"`
	Known float64 `json:"known_s"` // Total with known action and style
	// Blend is Total into three styles at once.
	Blend float64 `json:"blend_s"`
}

// Time measures a database on clips. now is a clock in seconds.
func Time(db *mar.Database, clips []*skel.Clip, label mar.Label, now func() float64) (r Rate, err error) {
	time := func(styles int, l mar.Label) (float64, error) {
		s, err := db.NewStyleTranslator(mar.StyleTranslatorOptions{Characters: 1, Workers: 1})
		if err != nil {
			return 0, err
		}
		defer s.Close()
		for i := range styles {
			s.Weights[(i+1)%len(db.Styles)] = 1 / float32(styles)
		}
		s.Labels[0] = l
		r.Frames = 0
		begin := now()
		for _, c := range clips {
			s.Reset(0)
			for f := range c.Frames {
				pos, rot := c.Frame(f)
				s.Step(0, pos, rot)
			}
			r.Frames += c.Frames
		}
		return (now() - begin) / float64(r.Frames), nil
	}
	for _, t := range []struct {
		into   *float64
		styles int
		label  mar.Label
	}{{&r.Enter, 0, label}, {&r.Total, 1, mar.Label{}}, {&r.Known, 1, label}, {&r.Blend, 3, mar.Label{}}} {
		if *t.into, err = time(t.styles, t.label); err != nil {
			return r, err
		}
	}
	return r, nil
}
