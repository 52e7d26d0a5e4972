package latent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Steering says which Sliders have somebody turn so fast, and go so fast: see
// Model.NewSteering.
type Steering struct{ turn, speed line }

// line is what a component does: at + per·deviations.
type line struct {
	component int
	at, per   float32
}

// How it is found out what components do.
const (
	steerMost   = 2   // deviations to either side
	steerEach   = 0.5 // from one to the next
	steerSettle = 300 // ticks until people go as they are asked to
	steerSee    = 300 // ticks in which they are watched
)

// NewSteering finds out what the components "turn" and "step" do, from people of a
// stream who are asked for more and less of them. It is an error if the model has no
// such components, or if they do not do that.
func (m *Model) NewSteering(next *netruntime.Net, workers int) (*Steering, error) {
	var s Steering
	for _, of := range []struct {
		name string
		to   *line
	}{{"turn", &s.turn}, {"step", &s.speed}} {
		of.to.component = m.Components.Index(of.name)
		if of.to.component < 0 {
			return nil, fmt.Errorf("latent: model %q has no component %q to steer by", m.Net.Meta().Name, of.name)
		}
	}
	const levels = int(2*steerMost/steerEach) + 1
	people := 2 * 2 * levels // each level of both, by who began with the left foot and the right one ahead
	stream, err := m.NewStream(next, StreamOptions{People: people, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	asked, turned, went := make([]float64, people), make([]float64, people), make([]float64, people)
	for r := range people {
		asked[r] = float64(r/4)*steerEach - steerMost
		if _, err := stream.Add(feature.Place{}); err != nil {
			return nil, err
		}
		k := s.turn.component
		if r/2%2 == 1 {
			k = s.speed.component
		}
		stream.Sliders[r].Ask(k, float32(asked[r]))
	}
	for tick := range steerSettle + steerSee {
		before := make([]feature.Place, people)
		for r := range before {
			before[r] = stream.Where(r)
		}
		if err := stream.Continue(); err != nil {
			return nil, err
		}
		stream.Advance(0, people)
		if tick < steerSettle {
			continue
		}
		for r, was := range before {
			is := stream.Where(r)
			turned[r] += float64(m3.WrapAngle(is.Yaw-was.Yaw)) * Rate / steerSee
			went[r] += float64(is.Pos.Sub(was.Pos).Flat().Len()) * Rate / steerSee
		}
	}
	for _, of := range []struct {
		to    *line
		first int
		does  []float64
	}{{&s.turn, 0, turned}, {&s.speed, 2, went}} {
		var x, y []float64
		for r := of.first; r < people; r += 4 {
			x, y = append(x, asked[r], asked[r+1]), append(y, of.does[r], of.does[r+1])
		}
		at, per := stat.LinearRegression(x, y, nil, false)
		if !(per > 0) || math.IsInf(per, 0) {
			return nil, fmt.Errorf("latent: component %q of model %q does not steer: a deviation changes it by %g", m.Components.Names[of.to.component], m.Net.Meta().Name, per)
		}
		of.to.at, of.to.per = float32(at), float32(per)
	}
	return &s, nil
}

// Steer asks for a turn, rad/s counter-clockwise from above, and a speed, m/s: as far
// as people turn and go.
func (s *Steering) Steer(to *Sliders, turn, speed float32) {
	to.Ask(s.turn.component, s.turn.deviations(turn))
	to.Ask(s.speed.component, s.speed.deviations(speed))
}

func (l *line) deviations(v float32) float32 {
	return m3.Clamp((v-l.at)/l.per, -steerMost, steerMost)
}
