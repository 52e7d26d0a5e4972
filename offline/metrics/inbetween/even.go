package inbetween

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Fill makes what is not keyed of a track: keypose.Maker.Fill, or [Interpolate].
type Fill func(t *keypose.Track) error

// Interpolate is the Fill to beat: places linearly, rotations along the shortest
// arc.
func Interpolate(t *keypose.Track) error {
	t.Interpolate()
	return nil
}

// Errors are how far a motion is from a recording, over frames without a key.
type Errors struct {
	Joints    float64 `json:"joints_cm"`     // mean distance of joints in the world
	Root      float64 `json:"root_cm"`       // mean distance of the root over the ground
	Yaw       float64 `json:"yaw_degrees"`   // mean error of its heading
	Hit       float64 `json:"hit_cm"`        // largest distance of a joint at a key
	Late      float64 `json:"late_cm"`       // Root, from LateFrom on alone; 0 where the recording is shorter
	LateYaw   float64 `json:"late_degrees"`  // Yaw, the same
	Skate     float64 `json:"skate_cm"`      // mean way of a foot that stands in the recording over the ground, per frame of 1/60 s
	Jerk      float64 `json:"jerk"`          // mean magnitude of the joints' third differences, cm per frame³
	TrueSkate float64 `json:"true_skate_cm"` // Skate of the recording
	TrueJerk  float64 `json:"true_jerk"`     // Jerk of the recording
}

// LateFrom is the time from which on drift is measured, s.
const LateFrom = 10

// Score is how a method did on a recording.
type Score struct {
	Clip   string  `json:"clip"`
	Method string  `json:"method"`
	Every  float64 `json:"every_s"` // between keys
	Frames int     `json:"frames"`
	Errors
	Steps     int `json:"steps"`
	TrueSteps int `json:"true_steps"`
	Aside     int `json:"aside_seconds"` // that go backward or sideways in the recording,
	AsideHit  int `json:"aside_right"`   // and do so in the motion, within 45°
}

// Even keys every so many seconds of a recording at 60 frames per second and
// measures what fill makes between. The motion ends with the last key. It is an
// error where there is room for one key only.
func Even(l *keypose.Layout, layout *feature.Motion, name, method string, c *skel.Clip, every float64, fill Fill) (Score, error) {
	hop := int(every*c.FPS + 0.5)
	frames := (c.Frames-1)/hop*hop + 1
	if frames <= hop {
		return Score{}, fmt.Errorf("inbetween: %s has %d frames, no room for keys every %d", name, c.Frames, hop)
	}
	truth, t := l.NewTrack(frames, float32(c.FPS)), l.NewTrack(frames, float32(c.FPS))
	truth.SetClip(c, 0, 1)
	t.SetClip(c, 0, 1)
	for f := 0; f < frames; f += hop {
		for g := range l.Groups() {
			t.Weight[f*l.Groups()+g] = 1
		}
	}
	if err := fill(t); err != nil {
		return Score{}, err
	}
	s := Score{Clip: name, Method: method, Every: every, Frames: frames}
	want, have := placesOf(truth), placesOf(t)
	n := l.Skel.Len()
	var count, late float64
	for f := range frames {
		root := float64(have[f*n].Flat().Dist(want[f*n].Flat()))
		yaw := math.Abs(float64(m3.WrapAngle(t.Place[f].Yaw-truth.Place[f].Yaw))) * 180 / math.Pi
		if f%hop == 0 {
			for j := range n {
				s.Hit = max(s.Hit, 100*float64(have[f*n+j].Dist(want[f*n+j])))
			}
			continue
		}
		count++
		s.Root, s.Yaw = s.Root+100*root, s.Yaw+yaw
		if f >= int(LateFrom*c.FPS) {
			s.Late, s.LateYaw, late = s.Late+100*root, s.LateYaw+yaw, late+1
		}
		for j := range n {
			s.Joints += 100 * float64(have[f*n+j].Dist(want[f*n+j])) / float64(n)
		}
	}
	s.Joints, s.Root, s.Yaw = s.Joints/count, s.Root/count, s.Yaw/count
	s.Late, s.LateYaw = s.Late/max(1, late), s.LateYaw/max(1, late)
	s.Jerk, s.TrueJerk = jerk(have, n), jerk(want, n)
	stand, err := contacts(layout, l.Skel, want, c.FPS)
	if err != nil {
		return s, err
	}
	made, err := contacts(layout, l.Skel, have, c.FPS)
	if err != nil {
		return s, err
	}
	s.Steps, s.TrueSteps = steps(made), steps(stand)
	s.Skate, s.TrueSkate = skate(layout, l.Skel, have, stand), skate(layout, l.Skel, want, stand)
	s.Aside, s.AsideHit = aside(truth, t)
	return s, nil
}

// placesOf returns where the joints of a track are, (frames, joints).
func placesOf(t *keypose.Track) []m3.Vec3 {
	n := t.Layout.Skel.Len()
	pos, rot, model := make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	out := make([]m3.Vec3, 0, t.Frames*n)
	for f := range t.Frames {
		t.Pose(f, pos, rot)
		t.Layout.Skel.LocalToModel(model, pos, rot)
		for _, x := range model {
			out = append(out, x.Pos)
		}
	}
	return out
}

// contacts returns which contacts of a layout stand, frame by frame.
func contacts(l *feature.Motion, sk *skel.Skeleton, places []m3.Vec3, fps float64) ([][]bool, error) {
	n := sk.Len()
	frames := len(places) / n
	world := make([]m3.Vec3, 0, frames*len(l.Joints))
	for f := range frames {
		for _, name := range l.Joints {
			world = append(world, places[f*n+sk.Index(name)])
		}
	}
	rows := make([]float32, frames*l.Columns())
	if _, err := l.FromWorld(rows, world, fps); err != nil {
		return nil, err
	}
	out := make([][]bool, frames)
	for f := range out {
		for i := range l.Contacts {
			out[f] = append(out[f], rows[f*l.Columns()+l.Contact(i)] > 0.5)
		}
	}
	return out, nil
}

// shortest is the least time that a foot stands or swings, frames: contacts that
// flicker are no steps.
const shortest = 6

// steps counts how often a foot, by heel or toe, comes down.
func steps(stand [][]bool) (count int) {
	if len(stand) == 0 {
		return 0
	}
	half := len(stand[0]) / 2
	for foot := range 2 {
		down := func(f int) bool {
			for _, on := range stand[f][foot*half : (foot+1)*half] {
				if on {
					return true
				}
			}
			return false
		}
		now, since := down(0), 0 // what it is taken to do, and for how long it has done otherwise
		for f := range stand {
			if down(f) == now {
				since = 0
				continue
			}
			if since++; since == shortest {
				if now, since = !now, 0; now {
					count++
				}
			}
		}
	}
	return count
}

// skate returns the mean way of contacts that stand, cm per frame.
func skate(l *feature.Motion, sk *skel.Skeleton, places []m3.Vec3, stand [][]bool) float64 {
	n := sk.Len()
	var way, count float64
	for f := 0; f+1 < len(stand); f++ {
		for i, c := range l.Contacts {
			if j := sk.Index(c.Joint); stand[f][i] && stand[f+1][i] {
				way += 100 * float64(places[(f+1)*n+j].Sub(places[f*n+j]).Flat().Len())
				count++
			}
		}
	}
	return way / max(1, count)
}

// aside counts the seconds in which truth goes backward or sideways, more than 60°
// from where it faces, and those of them in which t does within 45° of it.
func aside(truth, t *keypose.Track) (all, right int) {
	const least = 0.3 // m/s: slower is no walk
	hop := int(truth.FPS)
	for a := 0; a+hop < truth.Frames; a += hop {
		way := func(t *keypose.Track) (angle, length float32) {
			var sum m3.Vec3
			for f := a; f < a+hop; f++ {
				sum = sum.Add(m3.YawQuat(-t.Place[f].Yaw).Rotate(t.Place[f+1].Pos.Sub(t.Place[f].Pos)))
			}
			return m3.YawOf(sum), sum.Len()
		}
		want, length := way(truth)
		if length < least || m3.Abs(want) < math.Pi/3 {
			continue
		}
		all++
		if have, l := way(t); l > least/2 && m3.Abs(m3.WrapAngle(have-want)) < math.Pi/4 {
			right++
		}
	}
	return all, right
}

// jerk returns the mean magnitude of third differences of places, (frames, n), cm.
func jerk(places []m3.Vec3, n int) (sum float64) {
	count := 0.0
	for i := 0; i+3*n < len(places); i++ {
		at := func(k int) m3.Vec3 { return places[i+k*n] }
		sum += 100 * float64(at(3).Sub(at(0)).Sub(at(2).Sub(at(1)).Scale(3)).Len())
		count++
	}
	return sum / max(1, count)
}
