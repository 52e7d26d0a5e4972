package mar

import (
	"fmt"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// The columns of a row before those of the joints.
const (
	colHeight = 0 // of the root, m
	colTiltX  = 1 // rotation vector of the root about its heading, rad; it has no Y
	colTiltZ  = 2
	colVelX   = 3 // of the root in its heading frame, leftward, m/s
	colVelZ   = 4 // forward
	colYaw    = 5 // rate of the heading, rad/s counter-clockwise from above
	colJoints = 6
)

// layout is the meaning of a row: the degrees of freedom of one frame, each of which is translated
// by itself. The root has its height, its tilt, and its motion over the ground in the frame of its
// heading, the rotation about the vertical. Every other joint has a rotation vector (Grassia 1998).
//
// Joints turn from a posture in the middle of the data. That keeps vectors far from half a turn,
// where they wrap.
type layout struct {
	skel   *skel.Skeleton
	joints []int16   // that turn, without the root
	middle []m3.Quat // (joints) the posture from which they turn
}

func newLayout(sk *skel.Skeleton) (*layout, error) {
	if err := sk.Validate(); err != nil {
		return nil, fmt.Errorf("mar: %w", err)
	}
	l := &layout{skel: sk}
	for j, p := range sk.Parents {
		switch {
		case p < 0 && j > 0:
			return nil, fmt.Errorf("mar: the skeleton has a second root, %q: want one", sk.Names[j])
		case p >= 0 && !sk.EndSite[j]:
			l.joints = append(l.joints, int16(j))
		}
	}
	if len(l.joints) == 0 {
		return nil, fmt.Errorf("mar: no joint turns in a skeleton of %d joints: want the root and others", sk.Len())
	}
	l.middle = make([]m3.Quat, len(l.joints))
	for i := range l.middle {
		l.middle[i].W = 1
	}
	return l, nil
}

// columns returns the length of a row.
func (l *layout) columns() int { return colJoints + 3*len(l.joints) }

// names returns a name for each column, for errors and plots.
func (l *layout) names() []string {
	names := []string{"root height", "root tilt x", "root tilt z", "root velocity left", "root velocity forward", "root yaw rate"}
	for _, j := range l.joints {
		for _, axis := range [...]string{" x", " y", " z"} {
			names = append(names, l.skel.Names[j]+axis)
		}
	}
	return names
}

// place is the position of a root on the ground, m, and its heading, rad.
type place struct{ x, z, yaw float32 }

// placeOf returns the place of a root. A root that hangs head down has no heading and keeps the one
// before.
func placeOf(pos m3.Vec3, rot m3.Quat, before float32) place {
	if rot.Y*rot.Y+rot.W*rot.W < 1e-6 {
		return place{pos.X, pos.Z, before}
	}
	return place{pos.X, pos.Z, m3.WrapAngle(2 * m3.Atan2(rot.Y, rot.W))}
}

// encode writes the row of a frame, 1/fps seconds after the root was at was, and returns the root's
// place. Of a joint's equivalent rotation vectors it writes the one nearest to before, a row or
// nil.
func (l *layout) encode(row []float32, pos []m3.Vec3, rot []m3.Quat, was place, fps float32, before []float32) place {
	at := placeOf(pos[0], rot[0], was.yaw)
	heading := m3.YawQuat(at.yaw)
	tilt := heading.Conj().Mul(rot[0]).RotationVector()
	row[colHeight], row[colTiltX], row[colTiltZ] = pos[0].Y, tilt.X, tilt.Z
	v := heading.Conj().Rotate(m3.Vec3{X: at.x - was.x, Z: at.z - was.z}).Scale(fps)
	row[colVelX], row[colVelZ], row[colYaw] = v.X, v.Z, m3.WrapAngle(at.yaw-was.yaw)*fps
	for i, j := range l.joints {
		v := l.middle[i].Conj().Mul(rot[j]).RotationVector()
		c := colJoints + 3*i
		if before != nil {
			v = nearest(v, m3.V(before[c], before[c+1], before[c+2]))
		}
		row[c], row[c+1], row[c+2] = v.X, v.Y, v.Z
	}
	return at
}

// nearest returns the vector for v's rotation, along v's axis, that is nearest to ref.
func nearest(v, ref m3.Vec3) m3.Vec3 {
	angle := v.Len()
	if angle < 1e-3 {
		return v
	}
	other := v.Scale((angle - 2*math.Pi) / angle)
	if other.Dist(ref) < v.Dist(ref) {
		return other
	}
	return v
}

// decode writes the local transforms of a row's frame into pos and rot, dt seconds after the root
// was at was, and returns the root's place.
func (l *layout) decode(pos []m3.Vec3, rot []m3.Quat, row []float32, was place, dt float32) place {
	at := was
	at.yaw = m3.WrapAngle(was.yaw + row[colYaw]*dt)
	heading := m3.YawQuat(at.yaw)
	v := heading.Rotate(m3.Vec3{X: row[colVelX] * dt, Z: row[colVelZ] * dt})
	at.x, at.z = was.x+v.X, was.z+v.Z
	copy(pos, l.skel.Offsets)
	for j := range rot {
		rot[j] = m3.Quat{W: 1}
	}
	pos[0] = m3.V(at.x, row[colHeight], at.z)
	rot[0] = heading.Mul(m3.FromRotationVector(m3.V(row[colTiltX], 0, row[colTiltZ])))
	for i, j := range l.joints {
		c := colJoints + 3*i
		rot[j] = l.middle[i].Mul(m3.FromRotationVector(m3.V(row[c], row[c+1], row[c+2])))
	}
	return at
}

// centre sets the posture from which joints turn to the middle of the clips.
func (l *layout) centre(clips []*skel.Clip) {
	for i, j := range l.joints {
		var sum [4]float64
		first := m3.Quat{}
		for _, c := range clips {
			for f := range c.Frames {
				q := c.Rot[f*c.Skel.Len()+int(j)]
				if first == (m3.Quat{}) {
					first = q
				}
				if q.Dot(first) < 0 {
					q = q.Neg()
				}
				sum[0] += float64(q.X)
				sum[1] += float64(q.Y)
				sum[2] += float64(q.Z)
				sum[3] += float64(q.W)
			}
		}
		q := m3.Quat{X: float32(sum[0]), Y: float32(sum[1]), Z: float32(sum[2]), W: float32(sum[3])}
		if n := q.Dot(q); n > 0 && m3.Finite(n) {
			l.middle[i] = q.Normalize()
		}
	}
}
