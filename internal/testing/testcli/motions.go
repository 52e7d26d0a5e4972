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

// TinyFBX is a triangle on two joints, in centimetres, whose upper one bends in a second.
const TinyFBX = `; FBX 7.4.0 project file
FBXHeaderExtension:  {
	FBXVersion: 7400
}
Objects:  {
	Model: 1, "Model::Low", "LimbNode" {
	}
	Model: 2, "Model::High", "LimbNode" {
		Properties70:  {
			P: "RotationActive", "bool", "", "",1
			P: "Lcl Translation", "Lcl Translation", "", "A",0,50,0
		}
	}
	Model: 3, "Model::Mesh", "Mesh" {
	}
	Geometry: 4, "Geometry::", "Mesh" {
		Vertices: *9 {
			a: 0,0,0,10,0,0,0,100,0
		}
		PolygonVertexIndex: *3 {
			a: 0,1,-3
		}
	}
	Deformer: 5, "Deformer::", "Skin" {
	}
	Deformer: 6, "SubDeformer::", "Cluster" {
		Indexes: *2 {
			a: 0,1
		}
		Weights: *2 {
			a: 1,1
		}
		Transform: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
		TransformLink: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
	}
	Deformer: 7, "SubDeformer::", "Cluster" {
		Indexes: *1 {
			a: 2
		}
		Weights: *1 {
			a: 1
		}
		Transform: 1,0,0,0,0,1,0,0,0,0,1,0,0,-50,0,1
		TransformLink: 1,0,0,0,0,1,0,0,0,0,1,0,0,50,0,1
	}
	AnimationStack: 8, "AnimStack::bend", "" {
	}
	AnimationLayer: 9, "AnimLayer::", "" {
	}
	AnimationCurveNode: 10, "AnimCurveNode::R", "" {
	}
	AnimationCurve: 11, "AnimCurve::", "" {
		KeyTime: *2 {
			a: 0,46186158000
		}
		KeyValueFloat: *2 {
			a: 0,90
		}
		KeyAttrFlags: *1 {
			a: 4
		}
		KeyAttrDataFloat: *4 {
			a: 0,0,0,0
		}
		KeyAttrRefCount: *1 {
			a: 2
		}
	}
}
Connections:  {
	C: "OO",1,0
	C: "OO",2,1
	C: "OO",3,0
	C: "OO",4,3
	C: "OO",5,4
	C: "OO",6,5
	C: "OO",7,5
	C: "OO",1,6
	C: "OO",2,7
	C: "OO",9,8
	C: "OO",10,9
	C: "OP",10,2, "Lcl Rotation"
	C: "OP",11,10, "d|X"
}
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
