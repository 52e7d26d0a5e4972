package mocap

import (
	"bytes"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// H36MRate is the rate of Human3.6M's files, frames per second. The files do not say it.
const H36MRate = 50

// h36mJoints is the files' skeleton, in millimetres. The files do not hold it: it is that
// of the public code that reads them, with its names. At rest a person faces +z with +x
// to the left, arms up. NeckSite is the head.
var h36mJoints = [...]struct {
	name   string
	parent int16
	offset m3.Vec3
}{
	{"Hip", -1, m3.Vec3{}},
	{"RHip", 0, m3.Vec3{X: -132.948591}},
	{"RKnee", 1, m3.Vec3{Y: -442.894612}},
	{"RFoot", 2, m3.Vec3{Y: -454.206447}},
	{"RToe", 3, m3.Vec3{Z: 162.767078}},
	{"RToeSite", 4, m3.Vec3{Z: 74.999437}},
	{"LHip", 0, m3.Vec3{X: 132.948826}},
	{"LKnee", 6, m3.Vec3{Y: -442.894413}},
	{"LFoot", 7, m3.Vec3{Y: -454.20659}},
	{"LToe", 8, m3.Vec3{Z: 162.767426}},
	{"LToeSite", 9, m3.Vec3{Z: 74.999948}},
	{"LowerBack", 0, m3.Vec3{Y: 0.1}},
	{"Spine", 11, m3.Vec3{Y: 233.383263}},
	{"Thorax", 12, m3.Vec3{Y: 257.077681}},
	{"Neck", 13, m3.Vec3{Y: 121.134938}},
	{"NeckSite", 14, m3.Vec3{Y: 115.002227}},
	{"LCollar", 12, m3.Vec3{Y: 257.077681}},
	{"LShoulder", 16, m3.Vec3{Y: 151.034226}},
	{"LElbow", 17, m3.Vec3{Y: 278.882773}},
	{"LWrist", 18, m3.Vec3{Y: 251.733451}},
	{"LThumb", 19, m3.Vec3{}},
	{"LThumbSite", 20, m3.Vec3{Z: 99.999627}},
	{"LHand", 19, m3.Vec3{Y: 100.000188}},
	{"LHandSite", 22, m3.Vec3{}},
	{"RCollar", 12, m3.Vec3{Y: 257.077681}},
	{"RShoulder", 24, m3.Vec3{Y: 151.031437}},
	{"RElbow", 25, m3.Vec3{Y: 278.892924}},
	{"RWrist", 26, m3.Vec3{Y: 251.72868}},
	{"RThumb", 27, m3.Vec3{}},
	{"RThumbSite", 28, m3.Vec3{Z: 99.999888}},
	{"RHand", 27, m3.Vec3{Y: 137.499922}},
	{"RHandSite", 30, m3.Vec3{}},
}

const (
	h36mColumns = 3 + 3*len(h36mJoints) // how the body moved, and how each joint is turned
	h36mRToe    = 4
	h36mLToe    = 9
	// maxTravel, mm, keeps positions below maxValue once they are levelled.
	maxTravel = maxValue / 10
)

// H36MSkeleton returns a new skeleton of Human3.6M's files, in millimetres.
func H36MSkeleton() *skel.Skeleton {
	s := &skel.Skeleton{}
	for i, j := range h36mJoints {
		tip := true
		for _, k := range h36mJoints[i+1:] {
			tip = tip && int(k.parent) != i
		}
		s.Names = append(s.Names, j.name)
		s.Parents = append(s.Parents, j.parent)
		s.Offsets = append(s.Offsets, j.offset)
		s.EndSite = append(s.EndSite, tip)
	}
	return s
}

// ReadH36M parses the text of a file of exponential maps of Human3.6M, as used to measure
// motion prediction; name is for messages. The result is in millimetres, at H36MRate.
//
// A line is a frame: 99 numbers separated by commas. It says how the body moves, and not how it
// stands at first. So the toes of the lower foot are put on level ground at height 0. The motion
// begins over the origin and faces about +z.
//
// It returns a *SyntaxError that names the line for a line of more or fewer numbers, a number that
// is not finite or beyond ±1e9, a body that goes farther than 1e8, and a file without frames.
func ReadH36M(name string, data []byte) (*Recording, error) { return readH36M(name, data, false) }

func readH36M(name string, data []byte, salvage bool) (*Recording, error) {
	p := newParser(name, data)
	// A value takes a digit and a separator, whatever the lines say.
	frames := min(1+bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r")), (len(data)+1)/(2*h36mColumns))
	c := skel.NewClip(H36MSkeleton(), H36MRate, frames)
	n := c.Skel.Len()
	var row [h36mColumns]float64
	var at [3]float64
	turn, f := quat64{1}, 0
	var lost []error
	for ; p.nextLine(); f++ {
		if err := p.h36mRow(&row); err != nil {
			if !salvage {
				return nil, err
			}
			lost = append(lost, err)
			f--
			continue
		}
		// The move is seen from the body as it was in the frame before.
		move := turn.rotate([3]float64(row[:3]))
		for k := range at {
			at[k] += move[k]
			if !(math.Abs(at[k]) <= maxTravel) {
				return nil, p.fail(p.eol, "the body has moved beyond ±%g", float64(maxTravel))
			}
		}
		turn = turn.mul(h36mTurn(row[3:6])).unit()
		pos, rot := c.Frame(f)
		pos[0], rot[0] = m3.V(float32(at[0]), float32(at[1]), float32(at[2])), turn.quat()
		for j := 1; j < n; j++ {
			if !c.Skel.EndSite[j] {
				rot[j] = h36mTurn(row[3+3*j:]).quat()
			}
		}
	}
	switch {
	case f == 0 && len(lost) > 0:
		return nil, lost[0]
	case f == 0:
		return nil, p.fail(len(data), "expected a line of %d numbers with commas between them, a frame of exponential maps of Human3.6M, found the end of the file", h36mColumns)
	}
	c.Frames, c.Pos, c.Rot = f, c.Pos[:f*n:f*n], c.Rot[:f*n:f*n]
	level(c)
	b := usual(c)
	b.Format, b.FrameTime = FormatH36M, 1.0/H36MRate
	if len(lost) > 0 {
		b.Notes = []string{lostNote(f, lost)}
	}
	return b, nil
}

// h36mRow takes the numbers of a line.
func (p *parser) h36mRow(row *[h36mColumns]float64) error {
	line := p.data[p.pos:p.eol]
	if n := 1 + bytes.Count(line, []byte(",")); n != len(row) {
		return p.fail(p.pos, "expected %d numbers with commas between them, a frame of exponential maps of Human3.6M, found %d", len(row), n)
	}
	for i := range row {
		word, rest, _ := bytes.Cut(line, []byte(","))
		line, word = rest, bytes.TrimFunc(word, isSpace)
		v, n := scanNumber(word)
		switch {
		case n == 0 || n < len(word):
			return p.fail(p.pos, "expected number %d of the frame, found %q", i+1, short40(string(word)))
		case !(math.Abs(v) <= maxValue):
			return p.fail(p.pos, "number %d of the frame is %s: beyond ±%g", i+1, short40(string(word)), float64(maxValue))
		}
		row[i] = v
	}
	return nil
}

// h36mTurn returns the rotation of an exponential map, the axis times the angle. The
// files' matrices multiply row vectors, so the rotation is the inverse one.
func h36mTurn(r []float64) quat64 {
	angle := math.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2])
	if angle < 1e-12 {
		return quat64{1}
	}
	s, c := math.Sincos(angle / 2)
	s /= -angle
	return quat64{c, s * r[0], s * r[1], s * r[2]}
}

const (
	// levelWeight is the weight of a frame's lower foot in the ground's slope, 1/mm², beside
	// the weight 1 of upright hips: a slope's deviation of 0.1 against a foot's of 30 mm,
	// shared by the frames of half a second.
	levelWeight = 0.1 * 0.1 / (30 * 30) / 25
	levelPasses = 4
)

// level turns and lifts a motion so that the ground is level, at height 0. Up is near to
// the hips' mean up, and such that the toes of the lower foot are nearest to a plane.
func level(c *skel.Clip) {
	model := make([]m3.Xform, c.Skel.Len())
	var sum m3.Vec3
	for f := range c.Frames {
		_, rot := c.Frame(f)
		sum = sum.Add(rot[0].Rotate(m3.Up))
	}
	turn := m3.Between(sum.Normalize(m3.Up), m3.Up)
	toes := make([][2]m3.Vec3, c.Frames)
	for f := range c.Frames {
		c.Model(model, f)
		toes[f] = [2]m3.Vec3{turn.Rotate(model[h36mRToe].Pos), turn.Rotate(model[h36mLToe].Pos)}
	}
	// The ground is y = ground + a·x + b·z; which foot is the lower one depends on it.
	var a, b, ground float64
	for range levelPasses {
		low := func(f int) (x, y, z float64) {
			height := func(p m3.Vec3) float64 { return float64(p.Y) - a*float64(p.X) - b*float64(p.Z) }
			p := toes[f][0]
			if height(toes[f][1]) < height(p) {
				p = toes[f][1]
			}
			return float64(p.X), float64(p.Y), float64(p.Z)
		}
		var mx, my, mz float64
		for f := range c.Frames {
			x, y, z := low(f)
			mx, my, mz = mx+x/float64(c.Frames), my+y/float64(c.Frames), mz+z/float64(c.Frames)
		}
		xx, zz, xz, xy, zy := 1.0, 1.0, 0.0, 0.0, 0.0
		for f := range c.Frames {
			x, y, z := low(f)
			x, y, z = x-mx, y-my, z-mz
			xx, zz, xz = xx+levelWeight*x*x, zz+levelWeight*z*z, xz+levelWeight*x*z
			xy, zy = xy+levelWeight*x*y, zy+levelWeight*z*y
		}
		det := xx*zz - xz*xz
		a, b = (xy*zz-zy*xz)/det, (zy*xx-xy*xz)/det
		ground = my - a*mx - b*mz
	}
	normal := 1 / math.Sqrt(1+a*a+b*b)
	up := m3.V(float32(-a*normal), float32(normal), float32(-b*normal))
	turn = m3.Between(up, m3.Up).Mul(turn)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[0], rot[0] = turn.Rotate(pos[0]), turn.Mul(rot[0]).Normalize()
		pos[0].Y -= float32(ground * normal)
	}
}
