package inbetween

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Fill makes the frames of a track without keys: keypose.Inbetweener.Fill, or [Interpolate].
type Fill func(t *keypose.Track) error

// Interpolate is the simplest Fill: positions linearly, rotations along the shortest arc.
func Interpolate(t *keypose.Track) error {
	t.Interpolate()
	return nil
}

// Errors are the differences of a motion from a recording, in frames without a key.
type Errors struct {
	Joints    float64 `json:"joints_cm"`         // mean distance of joints in the world
	Root      float64 `json:"root_cm"`           // mean distance of the root over the ground
	Yaw       float64 `json:"yaw_degrees"`       // mean error of its heading
	Hit       float64 `json:"hit_cm"`            // largest distance of a joint at a key
	Drift     float64 `json:"drift_cm"`          // length of the root's mean error over the ground in the last second; 0 if the motion is shorter than 10 s
	Turn      float64 `json:"drift_degrees"`     // the same of its heading
	AnyDrift  float64 `json:"any_drift_cm"`      // the same as Drift, mean over all seconds; if Drift is not larger, nothing drifts
	AnyTurn   float64 `json:"any_drift_degrees"` // the same of Turn
	Skate     float64 `json:"skate_cm"`          // mean slide of feet that stand in the recording, per frame of 1/60 s
	Jerk      float64 `json:"jerk"`              // mean magnitude of the joints' third differences, cm per frame³
	TrueSkate float64 `json:"true_skate_cm"`     // Skate of the recording
	TrueJerk  float64 `json:"true_jerk"`         // Jerk of the recording
}

// driftLeast is the shortest recording with a drift, which is measured over its last second.
const driftLeast = 10 // s

// Score is the result of a method on a recording.
type Score struct {
	Clip   string  `json:"clip"`
	Method string  `json:"method"`
	Every  float64 `json:"every_s"` // between keys
	Frames int     `json:"frames"`
	Errors
	Steps      int  `json:"steps"` // touchdowns
	TrueSteps  int  `json:"true_steps"`
	StepsRight bool `json:"steps_right"`   // as many as in the recording; steps close to the ends may count or not
	Aside      int  `json:"aside_seconds"` // backward or sideways in the recording
	AsideHit   int  `json:"aside_right"`   // of these, within 45° in the motion

	made, recorded *samples
}

// Even sets keys at multiples of every seconds in a recording at 60 frames per second and measures
// what fill makes between. The motion ends with the last key. Room for only one key is an error.
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
		t.Key(f)
	}
	if err := fill(t); err != nil {
		return Score{}, err
	}
	s := Score{Clip: name, Method: method, Every: every, Frames: frames}
	want, have := placesOf(truth), placesOf(t)
	n := l.Skel.Len()
	made := l.NewTrack(frames, float32(c.FPS)) // the tilt of the root, as fill has it, may contain heading
	made.SetClip(t.Clip(), 0, 1)
	s.distances(truth, made, want, have, hop)
	s.drift(truth, made, hop)
	s.Jerk, s.TrueJerk = jerk(have, n), jerk(want, n)
	stand, err := contacts(layout, l.Skel, want, c.FPS)
	if err != nil {
		return s, err
	}
	stood, err := contacts(layout, l.Skel, have, c.FPS)
	if err != nil {
		return s, err
	}
	inner, all := steps(stood)
	trueInner, trueAll := steps(stand)
	s.Steps, s.TrueSteps, s.StepsRight = all, trueAll, inner <= trueAll && trueInner <= all
	s.Skate, s.TrueSkate = skate(layout, l.Skel, have, stand), skate(layout, l.Skel, want, stand)
	s.Aside, s.AsideHit = aside(truth, made)
	kind := kindsOf(truth)
	s.made, s.recorded = measureBody(l.Skel, have, c.FPS, kind), measureBody(l.Skel, want, c.FPS, kind)
	return s, nil
}

// distances sets the distances at and between keys. want and have are the joints' positions.
func (e *Errors) distances(truth, made *keypose.Track, want, have []m3.Vec3, hop int) {
	n := len(want) / truth.Frames
	var count float64
	for f := range truth.Frames {
		if f%hop == 0 {
			for j := range n {
				e.Hit = max(e.Hit, 100*float64(have[f*n+j].Dist(want[f*n+j])))
			}
			continue
		}
		count++
		e.Root += 100 * float64(have[f*n].Flat().Dist(want[f*n].Flat()))
		e.Yaw += math.Abs(float64(m3.WrapAngle(made.Place[f].Yaw-truth.Place[f].Yaw))) * 180 / math.Pi
		for j := range n {
			e.Joints += 100 * float64(have[f*n+j].Dist(want[f*n+j])) / float64(n)
		}
	}
	e.Joints, e.Root, e.Yaw = e.Joints/count, e.Root/count, e.Yaw/count
}

// drift sets the drifts of recordings that are long enough.
func (e *Errors) drift(truth, made *keypose.Track, hop int) {
	frames, second := truth.Frames, int(float64(truth.FPS)+0.5)
	if frames < driftLeast*second {
		return
	}
	e.Drift, e.Turn = astray(truth, made, frames-second, frames, hop)
	seconds := frames / second
	for i := range seconds {
		end := frames - i*second
		drift, turn := astray(truth, made, end-second, end, hop)
		e.AnyDrift, e.AnyTurn = e.AnyDrift+drift/float64(seconds), e.AnyTurn+turn/float64(seconds)
	}
}

// astray returns the length of the root's mean error over the ground, cm, and of its heading,
// degrees, in frames first to end−1 without a key.
func astray(truth, made *keypose.Track, first, end, hop int) (cm, degrees float64) {
	var way m3.Vec3
	var turn, count float32
	for f := first; f < end; f++ {
		if f%hop == 0 {
			continue
		}
		way = way.Add(made.Place[f].Pos.Sub(truth.Place[f].Pos))
		turn += m3.WrapAngle(made.Place[f].Yaw - truth.Place[f].Yaw)
		count++
	}
	count = max(1, count)
	return float64(100 * way.Len() / count), float64(m3.Abs(turn)/count) * 180 / math.Pi
}

// modelOf returns the joints of a track in the world, (frames, joints).
func modelOf(t *keypose.Track) []m3.Xform {
	n := t.Layout.Skel.Len()
	pos, rot, out := make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, t.Frames*n)
	for f := range t.Frames {
		t.Pose(f, pos, rot)
		t.Layout.Skel.LocalToModel(out[f*n:][:n], pos, rot)
	}
	return out
}

func placesOf(t *keypose.Track) (out []m3.Vec3) {
	for _, x := range modelOf(t) {
		out = append(out, x.Pos)
	}
	return out
}

// Rows returns a track's motion as raw frames of a layout. The skeleton has the layout's joints.
func Rows(l *feature.Motion, t *keypose.Track) ([]float32, error) {
	return rowsOf(l, t.Layout.Skel, placesOf(t), float64(t.FPS))
}

func rowsOf(l *feature.Motion, sk *skel.Skeleton, places []m3.Vec3, fps float64) ([]float32, error) {
	n := sk.Len()
	world := make([]m3.Vec3, 0, len(places)/n*len(l.Joints))
	for at := 0; at < len(places); at += n {
		for _, name := range l.Joints {
			world = append(world, places[at+sk.Index(name)])
		}
	}
	rows := make([]float32, len(places)/n*l.Columns())
	_, err := l.FromWorld(rows, world, fps)
	return rows, err
}

func contacts(l *feature.Motion, sk *skel.Skeleton, places []m3.Vec3, fps float64) ([][]bool, error) {
	rows, err := rowsOf(l, sk, places, fps)
	if err != nil {
		return nil, err
	}
	out := make([][]bool, len(rows)/l.Columns())
	for f := range out {
		for i := range l.Contacts {
			out[f] = append(out[f], rows[f*l.Columns()+l.Contact(i)] > 0.5)
		}
	}
	return out, nil
}

// shortest is the shortest time that a foot stands or swings, frames: no flickering contacts.
const shortest = 6

// edge is the distance from an end of the motion, in frames, within which a touchdown may count or
// not: a centimetre decides whether it is seen.
const edge = 9

// steps counts the touchdowns of feet, by heel or toe: away from the ends, and all.
func steps(stand [][]bool) (inner, all int) {
	if len(stand) == 0 {
		return 0, 0
	}
	half := len(stand[0]) / 2
	for foot := range 2 {
		down := func(f int) bool { return slices.Contains(stand[f][foot*half:(foot+1)*half], true) }
		now, since := down(0), 0 // the accepted state, and the number of frames since it differs
		for f := range stand {
			if down(f) == now {
				since = 0
				continue
			}
			if since++; since == shortest {
				if now, since = !now, 0; now {
					all++
					if at := f - shortest + 1; at >= edge && at < len(stand)-edge {
						inner++
					}
				}
			}
		}
	}
	return inner, all
}

// skate returns the mean slide of contacts that stand, cm per frame.
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

// aside counts the seconds with backward or sideways motion in truth, more than 60° from its
// heading. right counts the ones with t moving within 45° of it.
func aside(truth, t *keypose.Track) (all, right int) {
	const least = 0.3 // m/s: the slowest walk
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
