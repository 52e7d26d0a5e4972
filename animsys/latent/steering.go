package latent

import (
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Steering says which Sliders have somebody turn so fast, and go so fast: see
// Model.NewSteering.
type Steering struct{ turn, speed response }

// response is what a component does: by so many deviations, from −steerMost on. It
// rises.
type response struct {
	component int
	does      [steerLevels]float32
}

// How it is found out what components do.
const (
	steerMost   = 2   // deviations to either side
	steerEach   = 0.5 // from one level to the next
	steerLevels = int(2*steerMost/steerEach) + 1
	steerSettle = 300 // ticks until people go as they are asked to
	steerSee    = 300 // ticks in which they are watched
)

// NewSteering finds out what the components "turn" and "step" do, from people of a
// stream who are asked for more and less of them. It is an error if the model has no
// such components, or if they do not do that.
func (m *Model) NewSteering(next *netruntime.Net, workers int) (*Steering, error) {
	var s Steering
	responses := [...]*response{&s.turn, &s.speed}
	for i, name := range []string{"turn", "step"} {
		if responses[i].component = m.Components.Index(name); responses[i].component < 0 {
			return nil, fmt.Errorf("latent: model %q has no component %q to steer by", m.Net.Meta().Name, name)
		}
	}
	const people = 2 * 2 * steerLevels // each level of both, by who begins with the left foot and the right one ahead
	stream, err := m.NewStream(next, StreamOptions{People: people, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var seen [people]float32
	for r := range people {
		if _, err := stream.Add(feature.Place{}, nil); err != nil {
			return nil, err
		}
		stream.sliders[r].Set(responses[r/2%2].component, float32(r/4)*steerEach-steerMost)
	}
	var before [people]feature.Place
	for tick := range steerSettle + steerSee {
		for r := range before {
			before[r] = stream.Root(r)
		}
		if err := stream.Generate(stream.frozen); err != nil {
			return nil, err
		}
		stream.advance(0, people)
		if tick < steerSettle {
			continue
		}
		for r, was := range before {
			is := stream.Root(r)
			by := is.Pos.Sub(was.Pos).Flat().Len()
			if r/2%2 == 0 {
				by = m3.WrapAngle(is.Yaw - was.Yaw)
			}
			seen[r] += by * Rate / steerSee
		}
	}
	for i, of := range responses {
		for k := range of.does {
			of.does[k] = (seen[4*k+2*i] + seen[4*k+2*i+1]) / 2
			if k > 0 {
				of.does[k] = max(of.does[k], of.does[k-1])
			}
		}
		if !(of.does[steerLevels-1] > of.does[0]) {
			return nil, fmt.Errorf("latent: component %q of model %q does not steer", m.Components.Names[of.component], m.Net.Meta().Name)
		}
	}
	return &s, nil
}

// Steer asks for a turn, rad/s counter-clockwise from above, and a speed, m/s: as far
// as people turn and go.
func (s *Steering) Steer(to *Sliders, turn, speed float32) {
	to.Set(s.turn.component, s.turn.deviations(turn))
	to.Set(s.speed.component, s.speed.deviations(speed))
}

// deviations returns those that do v, or the most or the least that there are.
func (r *response) deviations(v float32) float32 {
	if v != v {
		return 0
	}
	for k := 1; k < steerLevels; k++ {
		if a, b := r.does[k-1], r.does[k]; v < b {
			return float32(k-1)*steerEach - steerMost + steerEach*m3.Clamp((v-a)/(b-a), 0, 1)
		}
	}
	return steerMost
}
