package metrics

import (
	"github.com/mlange-42/arche/generic"

	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// LatentCrowd is what people on sliders do for one request of a turn and a speed.
type LatentCrowd struct {
	Turn   float64 `json:"turn_rad_s"`
	Speed  float64 `json:"speed_m_s"`
	Turned float64 `json:"turned_rad_s"`
	Went   float64 `json:"went_m_s"`
	Apart  float64 `json:"apart_cm"`      // RMS distance of joints between a clip and the next over their overlap
	Most   float64 `json:"apart_most_cm"` // the largest of them
	Slide  float64 `json:"slide_cm"`      // of standing toes as shown, per frame
	Stand  float64 `json:"stand"`         // share of the time with foot lock
}

// LatentCrowdSize is the number of people per request of MeasureLatentCrowd.
const LatentCrowdSize = 10

const (
	latentSettle = 5  // s
	latentWatch  = 20 // s
)

// MeasureLatentCrowd lets people walk on level ground, LatentCrowdSize for each of asks. Turn and Speed
// are given; it fills in the rest. next is the network that chooses the next clip.
func MeasureLatentCrowd(m *latent.Model, next *netruntime.Net, asks []LatentCrowd, workers int) error {
	n := LatentCrowdSize * len(asks)
	stream, err := m.NewStream(next, latent.StreamOptions{Capacity: n, Workers: workers})
	if err != nil {
		return err
	}
	flat, err := newFlatWorld(stream, workers)
	if err != nil {
		return err
	}
	defer flat.close()
	s := flat.crowd
	steering, err := m.NewSteering(next, workers)
	if err != nil {
		return err
	}
	sliders := generic.NewMap1[latent.Sliders](&flat.world)
	asked := make([]latent.Sliders, n)
	for i := range n {
		e, err := s.Spawn(m3.V(0, 0, 0), 0)
		if err != nil {
			return err
		}
		ask := asks[i/LatentCrowdSize]
		steering.Steer(sliders.Get(e), float32(ask.Turn), float32(ask.Speed))
		asked[i] = *sliders.Get(e)
	}
	if err := seams(m, next, asks, asked, workers); err != nil {
		return err
	}
	tips := s.Ground.Rig.Roles.Legs
	last, stands := make([]m3.Vec3, n*len(tips)), make([]float64, len(asks))
	roots := make([]m3.Xform, n)
	for tick := range (latentSettle + latentWatch) * latent.Rate {
		copy(roots, s.Roots)
		if err := flat.schedule.Step(); err != nil {
			return err
		}
		for i := range n {
			w := &asks[i/LatentCrowdSize]
			if tick >= latentSettle*latent.Rate {
				w.Turned += float64(m3.WrapAngle(s.Roots[i].Rot.Yaw()-roots[i].Rot.Yaw())) / latentWatch / LatentCrowdSize
				w.Went += float64(s.Roots[i].Pos.Dist(roots[i].Pos)) / latentWatch / LatentCrowdSize
			}
			for k, leg := range tips {
				at, was := s.BonesAt(i)[leg[len(leg)-1]].Pos, &last[i*len(tips)+k]
				if tick >= latentSettle*latent.Rate && s.Ground.Feet[i*len(tips)+k].Contact() {
					w.Slide += 100 * float64(at.Dist(*was))
					stands[i/LatentCrowdSize]++
				}
				*was = at
			}
		}
	}
	for i := range asks {
		w := &asks[i]
		w.Slide /= max(1, stands[i])
		w.Stand = stands[i] / float64(latentWatch*latent.Rate*LatentCrowdSize*len(tips))
	}
	return nil
}

// seams measures the distance between clips and the clips that next chooses to follow them.
func seams(m *latent.Model, net *netruntime.Net, asks []LatentCrowd, asked []latent.Sliders, workers int) error {
	const clips = 12
	n := len(asked)
	next, err := m.NewNextClip(net, latent.CoderOptions{Batch: n, Workers: workers})
	if err != nil {
		return err
	}
	defer next.Close()
	coder, err := m.NewCoder(latent.CoderOptions{Batch: n, Workers: workers})
	if err != nil {
		return err
	}
	defer coder.Close()
	v, cols := m.Values, m.Layout.Columns()
	size := latent.Frames * cols
	c, then, z := make([]float32, n*v), make([]float32, n*v), make([]float32, n*v)
	was, is := make([]float32, n*size), make([]float32, n*size)
	decode := func(rows, components []float32) error {
		for i := range n {
			m.Components.ToLatent(z[i*v:][:v], components[i*v:][:v])
		}
		return coder.Decode(rows, z, n)
	}
	if lead := m.Components.Index(latent.Lead); lead >= 0 {
		for i := range n {
			c[i*v+lead] = latent.StartLead * float32(1-2*(i%2))
		}
	}
	if err := decode(was, c); err != nil {
		return err
	}
	for range clips {
		if err := next.Run(then, c, asked); err != nil {
			return err
		}
		if err := decode(is, then); err != nil {
			return err
		}
		for i := range n {
			apart := JointRMS(m.Layout, was[(i+1)*size-latent.Overlap*cols:][:latent.Overlap*cols], is[i*size:])
			w := &asks[i/LatentCrowdSize]
			w.Apart += apart / clips / LatentCrowdSize
			w.Most = max(w.Most, apart)
		}
		c, then, was, is = then, c, is, was
	}
	return nil
}
