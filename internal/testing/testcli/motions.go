package testcli

import (
	"bytes"
	"math"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

const TinyBVH = `HIERARCHY
ROOT Hips
{
	OFFSET 0 0 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT Leg
	{
		OFFSET 0 -50 0
		CHANNELS 3 Zrotation Xrotation Yrotation
		End Site
		{
			OFFSET 0 -50 0
		}
	}
}
MOTION
Frames: 3
Frame Time: 0.0333333
0 100 0 0 0 0 0 0 0
0 100 10 0 0 0 0 0 0
0 100 20 0 0 30 0 0 0
`

// Walk writes a clip of a person with stiff legs: steps per second, arms in degrees below the
// horizontal, and frames at 60 per second.
func Walk(t *testing.T, dir, name string, steps, arms float64, frames int) string {
	t.Helper()
	s := retarget.Human()
	c := skel.NewClip(s, 60, frames)
	const stride = 0.35 // radians to either side
	for f := range frames {
		pos, rot := c.Frame(f)
		phase := math.Pi * steps * float64(f) / 60
		swing := stride * math.Sin(phase)
		// The standing leg carries the hips over the foot at the speed of its swing.
		pos[0] = m3.V(0, float32(0.9*math.Cos(swing)+0.08), float32(0.9*2*stride/math.Pi*phase))
		rot[s.Index("LeftUpLeg")] = m3.AxisAngle(m3.V(1, 0, 0), float32(swing))
		rot[s.Index("RightUpLeg")] = m3.AxisAngle(m3.V(1, 0, 0), float32(-swing))
		// The swinging leg is bent.
		for side, up := range map[string]float64{"Left": -math.Cos(phase), "Right": math.Cos(phase)} {
			rot[s.Index(side+"Leg")] = m3.AxisAngle(m3.V(1, 0, 0), float32(0.9*max(0, up)))
		}
		rot[s.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), float32(-arms*math.Pi/180))
		rot[s.Index("RightArm")] = m3.AxisAngle(m3.V(0, 0, 1), float32(arms*math.Pi/180))
	}
	var b bytes.Buffer
	must.Do(t, mocap.WriteClip(&b, c.Scaled(100)))
	return WriteFile(t, dir, name, b.String())
}
