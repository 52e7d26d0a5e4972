// Package person opens the shipped networks of people who walk and run along curves: models/human,
// human-footstep and human-locomotion, trained on motion capture of CMU, O3DE and ReActIdle (MIT).
package person

import (
	"errors"
	"sync"

	"mannequin/animsys/manifold"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
)

// Open returns the networks. They are decoded once and shared, so that styles made for their
// model fit whoever opens them.
func Open() (*manifold.Networks, error) { return open() }

var open = sync.OnceValues(func() (*manifold.Networks, error) {
	m, e1 := human.Open()
	footsteps, e2 := humanfootstep.Open()
	locomotion, e3 := humanlocomotion.Open()
	if err := errors.Join(e1, e2, e3); err != nil {
		return nil, err
	}
	return manifold.NewNetworks(m, footsteps, locomotion)
})
