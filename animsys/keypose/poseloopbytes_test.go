package keypose

import (
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func loopOf(t testing.TB, l *Layout) *PoseLoop {
	rot := make([]m3.Quat, l.Skel.Len())
	for j := range rot {
		rot[j] = m3.AxisAngle(m3.Up, float32(j)/9)
	}
	return must.Get(l.NewPoseLoop([]Key{{Pos: l.Skel.Offsets, Rot: rot}, {Time: 1, Pos: l.Skel.Offsets, Rot: rot}}, 2.5))(t)
}

// A loop comes back from its bytes as it was, and a stream of another skeleton does not take it.
func TestPoseLoopBytes(t *testing.T) {
	l := layout(t)
	loop := loopOf(t, l)
	b := must.Get(loop.AppendBinary(nil))(t)
	var again PoseLoop
	must.Do(t, again.UnmarshalBinary(b))
	if !again.Equal(loop) || !loop.Equal(&again) || again.fits(l) || again.Equal(nil) || again.Seconds() != loop.Seconds() {
		t.Errorf("another loop came back")
	}
	other := *l
	other.sum++
	if again.adopt(&other); again.fits(l) {
		t.Error("a loop of another skeleton fits")
	}
	if again.adopt(l); !again.fits(l) {
		t.Error("the loop does not fit its own skeleton")
	}
}

func FuzzPoseLoop(f *testing.F) {
	l := layout(f)
	f.Add(must.Get(loopOf(f, l).AppendBinary(nil))(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again PoseLoop
		if r.UnmarshalBinary(b) != nil {
			return
		}
		if must.Do(t, again.UnmarshalBinary(must.Get(r.AppendBinary(nil))(t))); !again.Equal(&r) {
			t.Fatal("another loop came back")
		}
	})
}
