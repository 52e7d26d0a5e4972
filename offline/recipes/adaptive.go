package recipes

import (
	"fmt"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/offline/dataset"
)

// adaptivePace is the number of windows of one tick that train in a minute on two cores, times the weights of the network.
const adaptivePace = 2.6e11

// Sizes of an adaptive network.
const (
	adaptiveExperts = 8
	adaptiveHidden  = 192
	leastEpochs     = 4 // of some of the rows, if time does not suffice for all
	mostEpochs      = 60
	leastSteps      = 8 // of an epoch
)

// NewAdaptive returns the recipe of a mode-adaptive network for a character, for about so many minutes on two cores of a common
// PC. clips are recordings and motion of package augment, and some are held out. mirror says how the skeleton maps onto its mirror
// image.
func NewAdaptive(c *matching.Character, clips []dataset.Clip, mirror *skel.Mirror, minutes float64, workers int) (*MANN, error) {
	layout := &feature.MANN{Joints: unique(c.Skel.Names), Phases: true, Actions: []string{control.Idle.String(), control.Move.String()}}
	for j, p := range mirror.Pair {
		layout.Mirror, layout.Lateral = append(layout.Mirror, int(p)), append(layout.Lateral, int(mirror.Axis[j]))
	}
	for _, leg := range c.Roles.Legs {
		layout.Tips = append(layout.Tips, layout.Joints[leg[len(leg)-1]])
	}
	for _, clip := range clips {
		for _, a := range clip.Actions {
			if !slices.Contains(layout.Actions, a) {
				layout.Actions = append(layout.Actions, a)
			}
		}
	}
	slices.Sort(layout.Actions)
	sk := *c.Skel
	sk.Names = layout.Joints
	m := DefaultMANN()
	var err error
	if m.Train, m.HeldOut, err = dataset.FromClips(layout, &sk, clips, workers); err != nil {
		return nil, err
	}
	m.Train.Source = &dataset.Source{Name: c.Name, Data: c.Data, License: c.License}
	m.HeldOut.Source = m.Train.Source
	m.Follows = true
	m.Experts, m.Hidden = adaptiveExperts, adaptiveHidden
	weights := m.Experts * m.Hidden * (layout.Inputs() + m.Hidden + layout.Outputs())
	visits := int(minutes * adaptivePace / float64(weights))
	m.Epochs = min(max((visits+len(m.Train.Order)/2)/len(m.Train.Order), leastEpochs), mostEpochs)
	m.Train.Order = thinned(m.Train.Order, max(visits/m.Epochs, leastSteps*m.Batch*m.Ticks))
	return &m, nil
}

// thinned returns at most n values of v, as far from each other as may be.
func thinned(v []int32, n int) (out []int32) {
	if n >= len(v) {
		return v
	}
	for i := range n {
		out = append(out, v[i*len(v)/n])
	}
	return out
}

// unique returns names of which no two are the same.
func unique(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		for k := 2; out[i] == "" || slices.Contains(out[:i], out[i]); k++ {
			out[i] = fmt.Sprintf("%s %d", name, k)
		}
	}
	return out
}
