package motion

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

// frameSource is motion that comes frame by frame.
type frameSource interface {
	// Next writes the local transforms of the next frame. After the last its error is io.EOF.
	Next(pos []m3.Vec3, rot []m3.Quat) error
}

// clipFrames are the frames of a clip.
type clipFrames struct {
	clip *skel.Clip
	next int
}

func (c *clipFrames) Next(pos []m3.Vec3, rot []m3.Quat) error {
	if c.next == c.clip.Frames {
		return io.EOF
	}
	p, q := c.clip.Frame(c.next)
	copy(pos, p)
	copy(rot, q)
	c.next++
	return nil
}

// source is motion on the database's skeleton. It converts its unit and its rate to the database's.
type source struct {
	in         frameSource
	scale      float32 // metres per unit
	per        float64 // frames of the source per frame of the result
	floor      float32 // height of the ground in the source, m; 0 in the result
	read, made int
	last, now  transforms
	offsets    []m3.Vec3
}

type transforms struct {
	pos []m3.Vec3
	rot []m3.Quat
}

func newTransforms(joints int) transforms {
	return transforms{make([]m3.Vec3, joints), make([]m3.Quat, joints)}
}

// newSource returns motion at fps on the database's skeleton times 1/scale.
func newSource(in frameSource, db *mar.Database, scale, fps float64) *source {
	n := db.Skeleton().Len()
	return &source{in: in, scale: float32(scale), per: fps / float64(db.FPS), offsets: db.Skeleton().Offsets, last: newTransforms(n), now: newTransforms(n)}
}

// Next interpolates between two frames. It waits for the second only if it needs it: motion at the
// database's rate is passed on at once.
func (s *source) Next(pos []m3.Vec3, rot []m3.Quat) error {
	const slack = 1e-6
	at := float64(s.made) * s.per
	for float64(s.read-1) < at-slack {
		s.last, s.now = s.now, s.last
		if err := s.in.Next(s.now.pos, s.now.rot); err != nil {
			return err
		}
		// Bones are the database's to the bit, roots in metres.
		s.now.pos[0] = s.now.pos[0].Scale(s.scale)
		s.now.pos[0].Y -= s.floor
		copy(s.now.pos[1:], s.offsets[1:])
		s.read++
	}
	s.made++
	if a := float32(at - float64(s.read-2)); a < 1-slack {
		for j := range pos {
			pos[j], rot[j] = s.last.pos[j].Lerp(s.now.pos[j], a), s.last.rot[j].Slerp(s.now.rot[j], a)
		}
		return nil
	}
	copy(pos, s.now.pos)
	copy(rot, s.now.rot)
	return nil
}

// unitOf returns the factor from a skeleton's lengths to the database's, or an error that names the
// difference of the skeletons.
func unitOf(db *mar.Database, s *skel.Skeleton) (float64, error) {
	own := db.Skeleton()
	if !slices.Equal(s.Names, own.Names) || !slices.Equal(s.Parents, own.Parents) {
		return 0, fmt.Errorf("its skeleton of %d joints, %.40q, …, is not the database's of %d, %q, …", s.Len(), s.Names[0], own.Len(), own.Names[0])
	}
	var to, from float64
	for j := 1; j < own.Len(); j++ {
		to, from = to+float64(own.Offsets[j].Len()), from+float64(s.Offsets[j].Len())
	}
	scale := to / from
	for j := 1; j < own.Len(); j++ {
		if d := own.Offsets[j].Dist(s.Offsets[j].Scale(float32(scale))); !(d < 1e-3) {
			return 0, fmt.Errorf("its bone to %s is %.2g m off the database's", own.Names[j], d)
		}
	}
	return scale, nil
}

// translator gives motion a style, frame by frame.
type translator struct {
	db      *mar.Database
	stylist *mar.StyleTranslator
	mix     *styleMix
	timing  bool // the style changes the timing
	retimer *mar.Retimer
	arms    *arms
	feet    *feet // nil: no foot lock

	in, out      int // frames
	spent        time.Duration
	was, raw, is slide  // standing feet of the input, and of the output before and after the foot lock
	looked       func() // called after every lookEvery frames; may be nil
}

// farthest is the largest distance of a root from the origin, m. Half a millimetre is float32's
// resolution there.
const farthest = 4096

// lookEvery is the number of frames between searches for the nearest class.
const lookEvery = 10

// push reads a frame and calls emit for every frame that it completes.
func (t *translator) push(pos []m3.Vec3, rot []m3.Quat, emit func(pos []m3.Vec3, rot []m3.Quat) error) error {
	start := time.Now()
	if p := pos[0]; !(max(m3.Abs(p.X), m3.Abs(p.Y), m3.Abs(p.Z)) < farthest) {
		return fmt.Errorf("frame %d: the root is at (%.4g %.4g %.4g) m, want less than %d from the origin", t.in+1, p.X, p.Y, p.Z, farthest)
	}
	t.mix.fill(t.stylist.Weights, float64(t.in)/float64(t.db.FPS))
	row, step := t.stylist.Step(0, pos, rot)
	stands := t.stylist.Stands(0)
	if t.retimer == nil {
		t.retimer = t.db.NewRetimer(pos[0], m3.WrapAngle(2*m3.Atan2(rot[0].Y, rot[0].W)))
	}
	if !t.timing {
		step = 1
	}
	t.in++
	t.was.add(t.db.Skeleton(), pos, rot, stands)
	var err error
	t.retimer.Push(row, step, func(pos []m3.Vec3, rot []m3.Quat) {
		if err != nil {
			return
		}
		t.out++
		t.raw.add(t.db.Skeleton(), pos, rot, stands)
		t.arms.run(pos, rot)
		if t.feet != nil {
			pos, rot = t.feet.hold(pos, rot)
		}
		t.is.add(t.db.Skeleton(), pos, rot, stands)
		err = emit(pos, rot)
	})
	t.spent += time.Since(start)
	if t.looked != nil && t.in%lookEvery == 0 {
		t.looked()
	}
	return err
}

// slide measures the motion of standing feet over the ground.
type slide struct {
	model []m3.Xform
	last  [2]m3.Vec3 // of the toes, left and right
	on    [2]bool
	sum   float64 // m
	n     int
}

// toesDown is the largest height of toes whose whole foot is on the ground, m. The heel lands
// before them.
const toesDown = 0.05

func (s *slide) add(sk *skel.Skeleton, pos []m3.Vec3, rot []m3.Quat, stands uint8) {
	if s.model == nil {
		s.model = make([]m3.Xform, sk.Len())
	}
	sk.LocalToModel(s.model, pos, rot)
	for i, name := range [...]string{"LeftToeBase", "RightToeBase"} {
		j := sk.Index(name)
		if j < 0 {
			return
		}
		at := s.model[j].Pos
		on := stands>>i&1 == 1 && at.Y < toesDown
		if on && s.on[i] {
			s.sum += float64(at.Sub(s.last[i]).Flat().Len())
			s.n++
		}
		s.on[i], s.last[i] = on, at
	}
}

// mean returns the mean in centimetres per frame.
func (s *slide) mean() float64 { return 100 * s.sum / math.Max(float64(s.n), 1) }

// stream reads all frames, and emits each result as soon as it is made.
func (t *translator) stream(in *source, emit func(pos []m3.Vec3, rot []m3.Quat) error, stop func() error) error {
	f := newTransforms(t.db.Skeleton().Len())
	for {
		if err := stop(); err != nil {
			return err
		}
		switch err := in.Next(f.pos, f.rot); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := t.push(f.pos, f.rot, emit); err != nil {
			return err
		}
	}
}

var _ frameSource = (*mocap.FrameReader)(nil)
