package fbx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
)

// ErrNoAnimation means that a file has none.
var ErrNoAnimation = errors.New("has no animation")

// Motion is an animation of a file.
type Motion struct {
	Name string
	Clip *skel.Clip // in metres, +Y up, on the file's own joints

	// Rest is the joints at rest in the file's space: as its meshes were bound to them, else as its models stand
	// without an animation.
	Rest []m3.Xform

	Notes []string // oddities of the joints
}

// Open reads the animations of an FBX file. Their skeleton has the joints that skins name and all limb
// nodes, or, without these, the models that animations move, and all models in between; models above
// them are applied to the joints without a parent. Offsets are those of the models without an
// animation. Scales, and joints that change their distance to their parents, are in the clip's
// translations. The frame rate is the file's; if that says none, the one of the closest keys, 24 to 120
// per second. Several layers of an animation are combined. A file without animations is an error.
// Errors in the file are *Error.
func Open(path string) ([]Motion, error) {
	data, err := boundedfile.Read(path, MaxFile)
	if err != nil {
		return nil, err
	}
	return Read(path, data)
}

// Read is Open for the contents of a file called name.
func Read(name string, data []byte) ([]Motion, error) {
	s, err := newScene(name, data)
	if err != nil {
		return nil, err
	}
	return s.motions()
}

// motions samples the animations of a scene.
func (s *scene) motions() ([]Motion, error) {
	joints, err := s.joints()
	if err != nil {
		return nil, err
	}
	r := &reader{scene: s, joints: joints, poses: make([]pose, len(s.models)), model: make([]m3.Xform, len(joints))}
	if err := r.skeleton(); err != nil {
		return nil, err
	}
	var out []Motion
	for _, k := range s.stacks {
		m, err := r.motion(k)
		if err != nil {
			return nil, err
		}
		if m.Clip != nil {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, &Error{File: s.name, Msg: ErrNoAnimation.Error() + ": export the armature with its actions", is: ErrNoAnimation}
	}
	return out, nil
}

// reader makes clips of a scene.
type reader struct {
	*scene
	joints []*model
	sk     *skel.Skeleton
	rest   []m3.Xform
	notes  []string
	poses  []pose     // of all models
	model  []m3.Xform // of the joints
	placed int        // transforms so far
}

// skeleton makes the skeleton, in the pose of the models without an animation.
func (r *reader) skeleton() error {
	number := make(map[*model]int16, len(r.joints))
	r.sk = &skel.Skeleton{Names: names(r.joints)}
	for j, name := range r.sk.Names {
		if is := jointName(r.joints[j]); is != name && len(r.notes) < 20 {
			r.notes = append(r.notes, fmt.Sprintf("%s: a second joint %q is called %s here", r.name, is, name))
		}
	}
	for j, m := range r.joints {
		parent := int16(-1)
		if m.parent != nil {
			if k, ok := number[m.parent]; ok {
				parent = k
			}
		}
		number[m] = int16(j)
		r.sk.Parents, r.sk.Offsets, r.sk.EndSite = append(r.sk.Parents, parent), append(r.sk.Offsets, m3.Vec3{}), append(r.sk.EndSite, false)
	}
	if err := r.pose(nil, 0); err != nil {
		return err
	}
	r.rest = slices.Clone(r.model)
	r.sk.ModelToLocal(r.sk.Offsets, make([]m3.Quat, len(r.joints)), r.model)
	if err := r.sk.Validate(); err != nil {
		return r.errorf(-1, "%v", err)
	}
	world, note, err := r.bindWorld(r.poses)
	if note != "" {
		r.notes = append(r.notes, r.name+": "+note)
	}
	if world == nil || err != nil {
		return err
	}
	rest := make([]m3.Xform, len(r.joints))
	for j, m := range r.joints {
		x, ok := r.rigid(&pose{world: world[m.index], rotation: r.poses[m.index].rotation})
		if !ok {
			return nil // as its models stand
		}
		rest[j] = x
	}
	r.rest = rest
	return nil
}

// place computes the transforms of all models at a time in ticks; nil is no animation.
func (r *reader) place(k *stack, t int64) {
	for i, m := range r.models {
		var above *pose
		if m.parent != nil {
			above = &r.poses[m.parent.index]
		}
		at, turn, scale := m.t, euler(m.r, m.order), m.s
		if k != nil && m.moves {
			at, turn, scale = k.local(m, t)
		}
		r.poses[i] = m.place(at, scale, &turn, above)
	}
}

// pose computes the joints' transforms at a time in ticks; nil is no animation.
func (r *reader) pose(k *stack, t int64) error {
	r.place(k, t)
	for j, m := range r.joints {
		x, ok := r.rigid(&r.poses[m.index])
		if !ok {
			return r.errorf(m.at, "the place of %.60q is not finite at %.3f s", m.name, float64(t)/ticks)
		}
		r.model[j] = x
	}
	return nil
}

// rigid returns place and rotation of a pose, in metres with +Y up, without its scale. Mirrored axes are
// mirrored back, so that the joints below keep their offsets. Axes of no length are those that the model
// would have without a scale.
func (r *reader) rigid(p *pose) (m3.Xform, bool) {
	turned := of(&r.up, [3]float64{})
	w := turned.Mul(&p.world)
	linear := linearOf(&w)
	side := 1.0
	if det(&linear) < 0 {
		side = -1
	}
	axis := func(m *[9]float64, c int, by float64) m3.Vec3 { // normalised in float64, since scales may be large
		x, y, z := m[c], m[3+c], m[6+c]
		l := by / math.Sqrt(x*x+y*y+z*z)
		return m3.V(float32(x*l), float32(y*l), float32(z*l))
	}
	x, y := axis(&linear, 0, side), axis(&linear, 1, 1)
	z := x.Cross(y).Normalize(m3.Vec3{})
	if !x.Finite() || !y.Finite() || z == (m3.Vec3{}) {
		plain := mul3(&r.up, &p.rotation)
		x, y = axis(&plain, 0, 1), axis(&plain, 1, 1)
		z = x.Cross(y).Normalize(m3.Vec3{})
	}
	at := m3.V(float32(w[3]*r.metres), float32(w[7]*r.metres), float32(w[11]*r.metres))
	return m3.Xform{Pos: at, Rot: m3.FromAxes(x, z.Cross(x), z)}, at.Finite() && x.Finite() && z.Finite()
}

// span returns when an animation begins, in ticks, its frames per second, and the number of its frames: 0
// for one without keys. sliders: of blend shapes, too.
func (r *reader) span(k *stack, sliders bool) (first int64, fps float64, frames int, err error) {
	first, last, closest, repeats := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), false
	add := func(v *curve) {
		if v == nil {
			return
		}
		first, last = min(first, v.times[0]), max(last, v.times[len(v.times)-1])
		repeats = repeats || v.before.how != 0 || v.after.how != 0
		for i := 1; i < len(v.times); i++ {
			closest = min(closest, v.times[i]-v.times[i-1])
		}
	}
	for _, y := range k.layers {
		for _, tracks := range y.tracks {
			for _, t := range tracks {
				for c := 0; t != nil && c < 3; c++ {
					add(t.curves[c])
				}
			}
		}
		if sliders {
			for _, v := range y.sliders {
				add(v)
			}
		}
	}
	if first > last {
		return 0, 0, 0, nil
	}
	const longest = 60 * ticks                                                // of one that repeats
	if k.stop > k.start && (k.start >= first-ticks && k.stop <= last+ticks || // within what is known
		repeats && k.start > -MaxSeconds*ticks && k.stop < MaxSeconds*ticks && k.stop-k.start <= longest) {
		first, last = k.start, k.stop
	}
	if fps = r.fps; fps == 0 {
		fps = tidyFPS(ticks / float64(closest))
	}
	seconds := float64(last-first) / ticks
	if seconds > MaxSeconds {
		return 0, 0, 0, r.errorf(-1, "the animation %.60q takes %g s, at most %d s are read", k.name, seconds, MaxSeconds)
	}
	frames = int(math.Round(seconds*fps)) + 1
	if r.placed += frames * len(r.models); r.placed > MaxTransforms {
		return 0, 0, 0, r.errorf(-1, "the animation %.60q: with its %d frames of %d models there are too many: at most %d transforms of a file are read", k.name, frames, len(r.models), MaxTransforms)
	}
	return first, fps, frames, nil
}

// frame returns the time of a frame in ticks.
func frame(first int64, f int, fps float64) int64 {
	return first + int64(math.Round(float64(f)*ticks/fps))
}

// motion samples an animation. It returns none for one without keys.
func (r *reader) motion(k *stack) (Motion, error) {
	first, fps, frames, err := r.span(k, false)
	if frames == 0 || err != nil {
		return Motion{}, err
	}
	clip := skel.NewClip(r.sk, fps, frames)
	for f := range frames {
		if err := r.pose(k, frame(first, f, fps)); err != nil {
			return Motion{}, err
		}
		pos, rot := clip.Frame(f)
		r.sk.ModelToLocal(pos, rot, r.model)
	}
	return Motion{Name: boundedfile.Printable(k.name), Clip: clip, Rest: r.rest, Notes: r.notes}, nil
}

// tidyFPS returns a frame rate near x, 24 to 120.
func tidyFPS(x float64) float64 {
	if whole := math.Round(x); math.Abs(x-whole) < 0.01*whole {
		x = whole
	}
	if !(x >= 24) {
		return 24
	}
	return min(x, 120)
}

// local returns a model's translation, rotation and scale at a time, all layers together.
func (k *stack) local(m *model, t int64) (at [3]float64, turn [9]float64, scale [3]float64) {
	at, scale = m.t, m.s
	angles := m.r
	var q quat // instead of angles once two rotations were combined
	combined := false
	base := true
	for _, y := range k.layers {
		if y.mute {
			continue
		}
		weight := y.weightAt(t)
		tracks := y.tracks[m]
		if tracks == nil {
			base = false
			continue
		}
		if v := tracks[0].at(t); v != nil {
			for c := range at {
				at[c] = y.combine(base, weight, at[c], v[c])
			}
		}
		if v := tracks[2].at(t); v != nil {
			for c := range scale {
				if !base && !y.scaleByChannel && scale[c] > 0 && v[c] > 0 {
					scale[c] = math.Exp(y.combine(false, weight, math.Log(scale[c]), math.Log(v[c])))
				} else {
					scale[c] = y.combine(base, weight, scale[c], v[c])
				}
			}
		}
		if v := tracks[1].at(t); v != nil {
			switch {
			case base:
				angles = *v
			case y.byChannel && !combined:
				for c := range angles {
					angles[c] = y.combine(false, weight, angles[c], v[c])
				}
			default:
				if !combined {
					r := euler(angles, m.order)
					q, combined = quatOf(&r), true
				}
				r := euler(*v, m.order)
				own := quatOf(&r)
				if y.mode == 0 {
					a, b := q.matrix(), slerp(quat{3: 1}, own, weight).matrix()
					sum := mul3(&a, &b)
					q = quatOf(&sum)
				} else {
					q = slerp(q, own, weight)
				}
			}
		}
		base = false
	}
	if combined {
		return at, q.matrix(), scale
	}
	return at, euler(angles, m.order), scale
}

// weightAt returns the layer's weight at a time.
func (y *layer) weightAt(t int64) float64 {
	if y.fade != nil {
		return min(max(y.fade.at(t)/100, 0), 1)
	}
	return y.weight
}

// combine returns a value after this layer: the lowest layer replaces it.
func (y *layer) combine(base bool, weight, below, own float64) float64 {
	switch {
	case base:
		return own
	case y.mode == 0:
		return below + weight*own
	}
	return below + weight*(own-below)
}

// at returns the values of a track, or nil if there is none.
func (t *track) at(time int64) *[3]float64 {
	if t == nil {
		return nil
	}
	v := t.base
	for c, k := range t.curves {
		if k != nil {
			v[c] = k.at(time)
		}
	}
	return &v
}
