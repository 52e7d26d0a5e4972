package mocap

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// The error per joint above which channels are added to a joint's list.
const (
	posTolerance = 5e-5 // units of length
	rotTolerance = 5e-6 // radians
)

// Write writes b as a BVH file with b.Channels. If the clip was changed after reading, a joint gets
// the channels that its motion needs, so that positions are exact to 1e-4 units and rotations to
// 1e-3 degrees. A BVH does not store the names of End Sites: reading makes them again.
//
// It returns an error for a skeleton that breaks its rules, joint names that a
// BVH cannot hold, End Sites that move, and values that are not finite.
func (b *Recording) Write(w io.Writer) error {
	wr, err := newWriter(b)
	if err != nil {
		return fmt.Errorf("bvh: %w", err)
	}
	if err := wr.hierarchy(w); err != nil {
		return err
	}
	return wr.motion(w)
}

// WriteClip writes c as a BVH file: roots with XYZ positions and ZXY rotations,
// other joints with ZXY rotations, and XYZ positions if a joint moves in its parent.
func WriteClip(w io.Writer, c *skel.Clip) error {
	return usual(c).Write(w)
}

// usual returns c with the channels that WriteClip gives it.
func usual(c *skel.Clip) *Recording {
	b := &Recording{Clip: c, Channels: make([][]Channel, c.Skel.Len())}
	for j := range b.Channels {
		switch {
		case c.Skel.EndSite[j]:
		case c.Skel.Parents[j] < 0:
			b.Channels[j] = []Channel{Xposition, Yposition, Zposition, Zrotation, Xrotation, Yrotation}
		default:
			b.Channels[j] = []Channel{Zrotation, Xrotation, Yrotation}
		}
	}
	return b
}

// writer writes a recording. Its lists are computed before the first byte is written.
type writer struct {
	*Recording
	children  [][]int // per joint, then the roots
	order     []int   // joints in the order of the file, without End Sites
	channels  [][]Channel
	axes      [][]int // per joint, the rotation axes in file order
	frameTime float64
	prev      [][3]float64 // per joint, the angles of the last frame
	buf       []byte
}

func newWriter(b *Recording) (*writer, error) {
	c := b.Clip
	s := c.Skel
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n := s.Len()
	if len(b.Channels) != n || len(c.Pos) != n*c.Frames || len(c.Rot) != n*c.Frames {
		return nil, fmt.Errorf("%d joints and %d frames, but %d channel lists, %d positions and %d rotations",
			n, c.Frames, len(b.Channels), len(c.Pos), len(c.Rot))
	}
	w := &writer{Recording: b, children: make([][]int, n+1), axes: make([][]int, n), frameTime: b.FrameTime, prev: make([][3]float64, n)}
	if b.FrameTime <= 0 || tidyRate(b.FrameTime) != c.FPS {
		w.frameTime = 1 / c.FPS
	}
	if !(w.frameTime >= minFrameTime && w.frameTime <= maxFrameTime) {
		return nil, fmt.Errorf("%g frames per second: expected a frame time between %g and %g s", c.FPS, minFrameTime, float64(maxFrameTime))
	}
	for j, p := range s.Parents {
		up := int(p)
		if p < 0 {
			up = n
		}
		w.children[up] = append(w.children[up], j)
		switch name := s.Names[j]; {
		case s.EndSite[j] && p < 0:
			return nil, fmt.Errorf("the End Site %q has no parent", name)
		case p >= 0 && s.EndSite[p]:
			return nil, fmt.Errorf("the End Site %q has a child, %q", s.Names[p], name)
		case !s.EndSite[j] && (name == "" || len(name) > maxName || strings.ContainsAny(name, "{\r\n") || name != strings.TrimFunc(name, isSpace)):
			return nil, fmt.Errorf("joint %d: a BVH cannot hold the name %q", j, name)
		}
	}
	var err error
	w.channels, err = w.widened()
	return w, err
}

// widened returns the channel lists with the channels that the motion needs beyond them.
func (w *writer) widened() ([][]Channel, error) {
	c := w.Clip
	n := c.Skel.Len()
	out := make([][]Channel, n)
	for j, list := range w.Channels {
		name := c.Skel.Names[j]
		if c.Skel.EndSite[j] && len(list) > 0 {
			return nil, fmt.Errorf("the End Site %q has channels", name)
		}
		var has [6]bool
		for _, ch := range list {
			if int(ch) >= len(has) || has[ch] {
				return nil, fmt.Errorf("joint %q: bad channel list %v", name, list)
			}
			has[ch] = true
		}
		out[j], w.axes[j] = list, rotationAxes(list)
		var need [6]bool
		for f := range c.Frames {
			p, q := c.Pos[f*n+j], c.Rot[f*n+j]
			if !p.Finite() || !q.Finite() || q.Dot(q) < 1e-12 || max(m3.Abs(p.X), m3.Abs(p.Y), m3.Abs(p.Z)) > maxValue {
				return nil, fmt.Errorf("frame %d of joint %q: not a finite transform: %v %v", f, name, p, q)
			}
			d := p.Sub(c.Skel.Offsets[j])
			for k, v := range [3]float32{d.X, d.Y, d.Z} {
				need[k] = need[k] || m3.Abs(v) > posTolerance
			}
			if c.Skel.EndSite[j] {
				if need[0] || need[1] || need[2] {
					return nil, fmt.Errorf("frame %d: the End Site %q moves in its parent, which a BVH cannot express", f, name)
				}
				continue
			}
			if len(w.axes[j]) < 3 && !need[Xrotation] {
				q := toQuat64(q)
				if compose(w.axes[j], fit(q, w.axes[j], [3]float64{})).angle(q) > rotTolerance {
					need[Xrotation], need[Yrotation], need[Zrotation] = true, true, true
				}
			}
		}
		// Positions first, rotations last, as usual.
		out[j] = slices.Clone(list)
		for k := len(need) - 1; k >= 0; k-- {
			switch ch := Channel(k); {
			case !need[k] || has[k]:
			case ch.Rotation():
				out[j] = append(out[j], ch)
			default:
				out[j] = slices.Insert(out[j], 0, ch)
			}
		}
		w.axes[j] = rotationAxes(out[j])
	}
	return out, nil
}

func rotationAxes(list []Channel) []int {
	var axes []int
	for _, ch := range list {
		if ch.Rotation() {
			axes = append(axes, ch.Axis())
		}
	}
	return axes
}

// hierarchy writes everything before MOTION and fills w.order.
func (w *writer) hierarchy(out io.Writer) error {
	w.line(0, "HIERARCHY")
	for _, r := range w.children[w.Clip.Skel.Len()] {
		w.joint(r, 0)
	}
	w.line(0, "MOTION")
	w.line(0, "Frames: ", strconv.Itoa(w.Clip.Frames))
	w.line(0, "Frame Time: ", strconv.FormatFloat(w.frameTime, 'f', -1, 64))
	return w.flush(out)
}

func (w *writer) joint(j, depth int) {
	s := w.Clip.Skel
	switch {
	case s.EndSite[j]:
		w.line(depth, "End Site")
	case depth == 0:
		w.line(depth, "ROOT ", s.Names[j])
	default:
		w.line(depth, "JOINT ", s.Names[j])
	}
	w.line(depth, "{")
	o := s.Offsets[j]
	w.line(depth+1, "OFFSET ", short(o.X), " ", short(o.Y), " ", short(o.Z))
	if !s.EndSite[j] {
		w.order = append(w.order, j)
		text := "CHANNELS " + strconv.Itoa(len(w.channels[j]))
		for _, ch := range w.channels[j] {
			text += " " + ch.String()
		}
		w.line(depth+1, text)
	}
	for _, k := range w.children[j] {
		w.joint(k, depth+1)
	}
	w.line(depth, "}")
}

func (w *writer) line(depth int, parts ...string) {
	w.buf = append(w.buf, bytes.Repeat([]byte{'\t'}, depth)...)
	for _, p := range parts {
		w.buf = append(w.buf, p...)
	}
	w.buf = append(w.buf, '\n')
}

func (w *writer) flush(out io.Writer) error {
	_, err := out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *writer) motion(out io.Writer) error {
	for f := range w.Clip.Frames {
		w.frame(w.Clip.Frame(f))
		if len(w.buf) > 1<<15 || f == w.Clip.Frames-1 {
			if err := w.flush(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) frame(pos []m3.Vec3, rot []m3.Quat) {
	for _, j := range w.order {
		p := [3]float32{pos[j].X, pos[j].Y, pos[j].Z}
		if len(w.axes[j]) > 0 {
			w.prev[j] = fit(toQuat64(rot[j]), w.axes[j], w.prev[j])
		}
		k := 0
		for _, ch := range w.channels[j] {
			if ch.Rotation() {
				w.buf = appendDegrees(w.buf, w.prev[j][k])
				k++
			} else {
				w.buf = appendShort(w.buf, p[ch])
			}
			w.buf = append(w.buf, ' ')
		}
	}
	if n := len(w.buf); n > 0 && w.buf[n-1] == ' ' {
		w.buf[n-1] = '\n'
	} else {
		w.buf = append(w.buf, '\n')
	}
}

// appendShort appends the shortest decimal that reads back as v.
func appendShort(b []byte, v float32) []byte {
	if v == 0 {
		return append(b, '0') // also for −0
	}
	return strconv.AppendFloat(b, float64(v), 'f', -1, 32)
}

func short(v float32) string { return string(appendShort(nil, v)) }

// appendDegrees appends an angle of at most ±1e9 degrees with up to five
// decimals: the sixth is below the resolution of a float32 quaternion.
func appendDegrees(b []byte, v float64) []byte {
	const unit = 1e5
	n := int64(math.Round(v * unit))
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/unit, 10)
	if n %= unit; n == 0 {
		return b
	}
	b = append(b, '.')
	for d := int64(unit / 10); n > 0; d /= 10 {
		b = append(b, byte('0'+n/d))
		n %= d
	}
	return b
}
