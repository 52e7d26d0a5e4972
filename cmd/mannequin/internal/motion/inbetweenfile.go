package motion

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/closest"
	"mannequin/offline/dataset"
	"mannequin/offline/retarget"
)

// keyRow is a keyframe in a file.
type keyRow struct {
	Time    *float64
	File    string
	At      float64
	Place   []float64
	Heading *float64
	Joints  []string
	Weight  *float64
	Weights map[string]float64
}

// pathRow is a point of the path.
type pathRow struct {
	Time    *float64
	Place   []float64
	Heading *float64
}

// pathName and rootName are names in joints and weights that are not joints.
const pathName, rootName = "path", "root"

// betweenRate is the rate of the result, frames per second.
const betweenRate = 2 * keypose.Rate

// openKeys reads a file of keyframes and returns them with their track. Each recording is read once,
// relative to the file, and becomes an entry of clips.
func openKeys(file string, l *keypose.Layout, read retarget.Reading, clips map[string]*skel.Clip) (k keypose.Keys, track *keypose.Track, err error) {
	text, err := boundedfile.Read(file, maxTables)
	if err != nil {
		return k, nil, err
	}
	return readKeys(file, text, l, func(path string) (*skel.Clip, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		c := clips[path]
		if c == nil {
			var err error
			if c, err = dataset.OpenStanding(path, feature.Human(), l.Skel, read); err != nil {
				return nil, err
			}
			clips[path] = c
		}
		return c, nil
	})
}

// readKeys reads keyframes from the text of a file, and their recordings by open.
func readKeys(file string, text []byte, l *keypose.Layout, open func(path string) (*skel.Clip, error)) (k keypose.Keys, track *keypose.Track, err error) {
	var f struct {
		Key  []keyRow
		Path []pathRow
	}
	t, err := readTables(file, text, "key", &f)
	if err != nil {
		return k, nil, err
	}
	points := &tables{t.file, "path", t.lines}
	if err := t.count(len(f.Key)); err != nil {
		return k, nil, err
	}
	if len(f.Path) > maxRows {
		return k, nil, fmt.Errorf("%s: %d tables [[path]], want at most %d", file, len(f.Path), maxRows)
	}
	for i, r := range f.Key {
		key, name, err := r.key(l, open)
		if err != nil {
			return k, nil, t.wrong(i, err, name)
		}
		k.Keys = append(k.Keys, key)
	}
	for i, r := range f.Path {
		w, name, err := r.waypoint()
		if err != nil {
			return k, nil, points.wrong(i, err, name)
		}
		k.Path = append(k.Path, w)
	}
	for i := range k.Path { // the default heading is the direction of the path
		if f.Path[i].Heading == nil && len(k.Path) > 1 {
			a, b := k.Path[max(i-1, 0)].Place.Pos, k.Path[min(i+1, len(k.Path)-1)].Place.Pos
			k.Path[i].Place.Yaw = m3.YawOf(b.Sub(a))
		}
	}
	track, err = l.Track(k, betweenRate)
	var bad *keypose.KeyError
	if errors.As(err, &bad) {
		if bad.Path {
			t = points
		}
		return k, nil, t.wrong(bad.Index, bad.Err, "time")
	}
	if err != nil {
		return k, nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, track, nil
}

// key returns the keyframe, or an error and its key.
func (r *keyRow) key(l *keypose.Layout, open func(path string) (*skel.Clip, error)) (k keypose.Key, name string, err error) {
	switch {
	case r.Time == nil:
		return k, "", errors.New("time is missing: the second at which the pose is")
	case r.File == "":
		return k, "", errors.New("file is missing: the recording that shows the pose")
	case r.Place != nil && len(r.Place) != 2:
		return k, "place", fmt.Errorf("place has %d numbers, want x and z in metres", len(r.Place))
	case r.Weight != nil && !(*r.Weight > 0 && *r.Weight <= 1):
		return k, "weight", fmt.Errorf("weight is %g, want above 0, up to 1", *r.Weight)
	}
	c, err := open(r.File)
	if err != nil {
		return k, "file", err
	}
	frame := math.Round(r.At * c.FPS)
	if !(frame >= 0 && frame < float64(c.Frames)) {
		return k, "at", fmt.Errorf("at is %g s, %s is %.3f s long", r.At, r.File, c.Seconds())
	}
	pos, rot := c.Frame(int(frame))
	k = keypose.Key{Time: *r.Time, Pos: slices.Clone(pos), Rot: slices.Clone(rot)}
	if r.Place != nil {
		k.Pos[0].X, k.Pos[0].Z = float32(r.Place[0]), float32(r.Place[1])
	}
	if r.Heading != nil {
		own := 2 * m3.Atan2(rot[0].Y, rot[0].W)
		k.Rot[0] = m3.YawQuat(float32(*r.Heading*math.Pi/180) - own).Mul(rot[0])
	}
	if r.Joints == nil && r.Weight == nil && r.Weights == nil {
		return k, "", nil
	}
	k.Weight = make([]float32, l.Groups())
	weight := float32(1)
	if r.Weight != nil {
		weight = float32(*r.Weight)
	}
	for g := range k.Weight {
		if r.Joints == nil {
			k.Weight[g] = weight
		}
	}
	for _, n := range r.Joints {
		g, err := groupOf(l, n)
		if err != nil {
			return k, "joints", err
		}
		k.Weight[g] = weight
	}
	for n, w := range r.Weights {
		g, err := groupOf(l, n)
		if err != nil {
			return k, "weights", err
		}
		if !(w >= 0 && w <= 1) {
			return k, "weights", fmt.Errorf("the weight of %s is %g, want 0 to 1", n, w)
		}
		k.Weight[g] = float32(w)
	}
	return k, "", nil
}

// groupOf returns the group of a name in a file.
func groupOf(l *keypose.Layout, name string) (int, error) {
	switch name {
	case pathName:
		return keypose.GroupPath, nil
	case rootName:
		return keypose.GroupRoot, nil
	}
	if g := l.GroupOf(name); g > keypose.GroupRoot {
		return g, nil
	}
	var names []string
	for _, j := range l.Joints[1:] {
		names = append(names, l.Skel.Names[j])
	}
	return 0, fmt.Errorf("no joint is called %.40q: want %q (place and heading), %q (height and tilt), or some of %s%s", name, pathName, rootName, strings.Join(names, ", "), closest.Hint(name, names))
}

// waypoint returns the point, or an error and its key.
func (r *pathRow) waypoint() (w keypose.Waypoint, name string, err error) {
	switch {
	case r.Time == nil:
		return w, "", errors.New("time is missing: the second at which the hips are there")
	case len(r.Place) != 2:
		return w, "place", fmt.Errorf("place has %d numbers, want x and z in metres", len(r.Place))
	}
	w = keypose.Waypoint{Time: *r.Time, Place: feature.Place{Pos: m3.V(float32(r.Place[0]), 0, float32(r.Place[1]))}}
	if r.Heading != nil {
		w.Place.Yaw = float32(*r.Heading * math.Pi / 180)
	}
	return w, "", nil
}
