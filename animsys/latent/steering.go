package latent

import (
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Steering converts a turn rate and a speed into Sliders: see Model.NewSteering.
type Steering struct{ turn, speed response }

// response is the measured effect of a component, from −steerRange deviations on. It rises.
type response struct {
	component int
	effect    [steerLevels]float32
}

// Constants of the measurement.
const (
	steerRange   = 2   // deviations to either side
	steerStep    = 0.5 // from one level to the next
	steerLevels  = int(2*steerRange/steerStep) + 1
	steerSettle  = 300 // ticks until agents have adapted
	steerMeasure = 300 // ticks of measurement
)

// NewSteering measures the effect of the components "turn" and "step" on agents of a stream. It
// fails if the model has no such components, or if they have no effect.
func (m *Model) NewSteering(next *netruntime.Net, workers int) (*Steering, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	var s Steering
	responses := [...]*response{&s.turn, &s.speed}
	for i, name := range []string{"turn", "step"} {
		if responses[i].component = m.Components.Index(name); responses[i].component < 0 {
			return nil, fmt.Errorf("latent: model %q has no component %q to steer by", m.Net.Meta().Name, name)
		}
	}
	const people = 2 * 2 * steerLevels // each level of both, beginning with either foot
	stream, err := m.NewStream(next, StreamOptions{Capacity: people, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var seen [people]float32
	for r := range people {
		if _, err := stream.Add(feature.Place{}, nil); err != nil {
			return nil, err
		}
		stream.sliders[r].Set(responses[r/2%2].component, float32(r/4)*steerStep-steerRange)
	}
	var before [people]feature.Place
	for tick := range steerSettle + steerMeasure {
		for r := range before {
			before[r] = stream.Root(r)
		}
		if err := stream.Generate(nil); err != nil {
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
			seen[r] += by * Rate / steerMeasure
		}
	}
	for i, of := range responses {
		for k := range of.effect {
			of.effect[k] = (seen[4*k+2*i] + seen[4*k+2*i+1]) / 2
			if k > 0 {
				of.effect[k] = max(of.effect[k], of.effect[k-1])
			}
		}
		if !(of.effect[steerLevels-1] > of.effect[0]) {
			return nil, fmt.Errorf("latent: component %q of model %q does not steer", m.Components.Names[of.component], m.Net.Meta().Name)
		}
	}
	return &s, nil
}

// Steer sets a turn rate, rad/s counter-clockwise from above, and a speed, m/s, within the measured
// range.
func (s *Steering) Steer(to *Sliders, turn, speed float32) {
	to.Set(s.turn.component, s.turn.deviations(turn))
	to.Set(s.speed.component, s.speed.deviations(speed))
}

// deviations returns the component for a value v, within its range.
func (r *response) deviations(v float32) float32 {
	if v != v {
		return 0
	}
	for k := 1; k < steerLevels; k++ {
		if a, b := r.effect[k-1], r.effect[k]; v < b {
			return float32(k-1)*steerStep - steerRange + steerStep*m3.Clamp((v-a)/(b-a), 0, 1)
		}
	}
	return steerRange
}
