package mann

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// A head that hangs and looks aside comes back to where it is free, at any stride, and the bones keep
// their lengths. A dog that sits may look anywhere.
func TestTurnHead(t *testing.T) {
	sk := &skel.Skeleton{
		Names: []string{"Hips", "Neck", "Head", "HeadSite"}, Parents: []int16{-1, 0, 1, 2},
		Offsets: []m3.Vec3{{Y: 0.5}, {Z: 0.4}, {Z: 0.15}, {Z: 0.15}}, EndSite: []bool{false, false, false, true},
	}
	layout := &feature.MANN{Joints: sk.Names, Actions: []string{"idle", "move", "sit"}}
	m := newModel(layout, sk, make([]float32, layout.PoseLen()))
	for _, stride := range []int32{1, 4} {
		b := NewBatch(m, 1)
		b.agent[0].stride = stride
		b.bonePos[0] = sk.Offsets[0]
		for j := 1; j < sk.Len(); j++ {
			b.bonePos[j] = b.bonePos[j-1].Add(sk.Offsets[j])
		}
		b.turnBones(0, m.neck, m3.YawQuat(-1.2).Mul(m3.AxisAngle(m3.V(1, 0, 0), 1)))
		off := func() (yaw, pitch float32) {
			d := b.bonePos[m.nose].Sub(b.bonePos[m.head])
			return m3.YawOf(d), m3.Atan2(d.Y, d.Flat().Len())
		}
		was := b.bonePos[m.nose]
		b.act[now*b.actions+m.action[control.Idle]] = 0
		b.act[now*b.actions+m.action[control.Sit]] = 1
		if b.turnHead(0); b.bonePos[m.nose] != was {
			t.Error("the head of a dog that sits turns")
		}
		b.act[now*b.actions+m.action[control.Move]] = 1
		length := b.bonePos[m.nose].Dist(b.bonePos[m.head])
		for range Rate / stride {
			b.turnHead(0)
		}
		yaw, pitch := off()
		if m3.Abs(yaw) > headFreeYaw+0.02 || m3.Abs(pitch+headDown) > headFreeUp+0.02 {
			t.Errorf("stride %d: after a second the head looks %g rad aside and %g up", stride, yaw, pitch)
		}
		if d := b.bonePos[m.nose].Dist(b.bonePos[m.head]); m3.Abs(d-length) > 1e-5 {
			t.Errorf("the head is %g m long, was %g", d, length)
		}
	}
}
