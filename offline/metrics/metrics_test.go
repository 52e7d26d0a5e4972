package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// leg is a hip with a knee and a foot's tip straight below.
func leg(frames int) *skel.Clip {
	return skel.NewClip(&skel.Skeleton{
		Names: []string{"Hip", "Knee", "Tip"}, Parents: []int16{-1, 0, 1},
		Offsets: []m3.Vec3{{Y: 0.5}, {Y: -0.25}, {Y: -0.25}}, EndSite: []bool{false, false, true},
	}, 60, frames)
}

func close(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// mean of the frames that have a value: all but the first.
func mean(v []float64) (m float64) {
	for _, x := range v[1:] {
		m += x / float64(len(v)-1)
	}
	return m
}

func TestSkate(t *testing.T) {
	for _, c := range []struct{ height, weight float64 }{
		{-0.01, 1}, {0, 1}, {0.0125, 2 - math.Sqrt2}, {0.0249999, 0}, {0.025, 0}, {0.03, 0},
	} {
		clip := leg(11)
		for f := range clip.Frames {
			pos, _ := clip.Frame(f)
			// 5 mm per frame on the ground, along (3, 4) / 5.
			pos[0] = m3.V(0.003*float32(f), 0.5+float32(c.height), 0.004*float32(f))
		}
		s := Skate(clip, []int{2})
		if s[0] != 0 {
			t.Error("frame 0 slides")
		}
		close(t, "skate", mean(s), 0.5*c.weight, 1e-4)
		if len(s) != 11 {
			t.Errorf("%d values", len(s))
		}
		close(t, "speed", mean(Speed(clip, 1)), 0.005*60, 1e-4)
		// With a paw that is out of reach the mean halves.
		close(t, "mean of two", mean(Skate(clip, []int{2, 1})), 0.25*c.weight, 1e-4)
	}
}

// Rising straight up is no slide; the height that counts is the later one.
func TestSkateIsHorizontal(t *testing.T) {
	clip := leg(2)
	pos, _ := clip.Frame(1)
	pos[0].Y += 0.02
	close(t, "rise", Skate(clip, []int{2})[1], 0, 0)
	pos[0].X += 0.01
	close(t, "rise and slide", Skate(clip, []int{2})[1], 2-math.Exp2(0.8), 1e-5)
}

func TestBend(t *testing.T) {
	clip := leg(21)
	axis := m3.V(1, -2, 2).Scale(1 / 3.0)
	for f := range clip.Frames {
		_, rot := clip.Frame(f)
		rot[1] = m3.AxisAngle(axis, float32(f)*3*math.Pi/180)
		if f%2 == 1 {
			rot[1] = rot[1].Neg() // the same rotation
		}
	}
	b := Bend(clip, []int{1})
	for _, v := range b[1:] {
		close(t, "3° per frame", v, 3, 1e-3)
	}
	close(t, "mean over a still joint too", mean(Bend(clip, []int{0, 1})), 1.5, 1e-3)
	// Turning the whole body bends nothing.
	for f := range clip.Frames {
		_, rot := clip.Frame(f)
		rot[0], rot[1] = m3.YawQuat(float32(f)), m3.Ident
	}
	close(t, "turning body", mean(Bend(clip, []int{1})), 0, 1e-6)
}

func TestPathDeviation(t *testing.T) {
	line := must.Get(control.NewPath([]m3.Vec3{{X: 1, Z: -1}, {X: 1, Z: 1}}, false))(t)
	yaw := func(deg float64) m3.Vec3 {
		s, c := math.Sincos(deg * math.Pi / 180)
		return m3.V(float32(s), 0, float32(c))
	}
	for _, c := range []struct {
		what        string
		p, f        m3.Vec3
		dist, angle float64
	}{
		{"on it", m3.V(1, 5, 0), yaw(0), 0, 0},
		{"beside it, 30° off", m3.V(1.25, 0, 0.5), yaw(30), 0.25, 30},
		{"the other way", m3.V(0.75, 0, 0.5), yaw(-170), 0.25, 170},
		{"past the end", m3.V(1.3, 0, 1.4), yaw(0), 0.5, 0},
	} {
		d := PathDeviation(line, []m3.Vec3{c.p}, []m3.Vec3{c.f})
		close(t, c.what+": distance", d.Distance, c.dist, 1e-6)
		close(t, c.what+": angle", d.Angle*180/math.Pi, c.angle, 1e-4)
	}
	// A circle walked at 1 m more than its radius, from +Z towards +X, half of
	// it facing along and half facing out.
	var pos, facing []m3.Vec3
	for k := range 360 {
		a := float64(k)
		pos = append(pos, yaw(a).Scale(2.5))
		if k%2 == 0 {
			a += 90
		}
		facing = append(facing, yaw(a))
	}
	d := PathDeviation(must.Get(control.Circle(1.5))(t), pos, facing)
	close(t, "circle distance", d.Distance, 1, 1e-3)
	close(t, "circle angle", d.Angle*180/math.Pi, 45, 0.1)
}

// On a figure eight, a walk straight over the crossing does not change branches.
func TestPathDeviationStaysOnItsBranch(t *testing.T) {
	eight := must.Get(control.NewPath([]m3.Vec3{{Z: -4}, {}, {Z: 4}, {X: 4, Z: 4}, {X: 4}, {}, {X: -4}, {X: -4, Z: -4}}, true))(t)
	var pos, facing []m3.Vec3
	for k := range 81 {
		p, dir := eight.At(2.5 + 0.04*float32(k)) // over the crossing
		pos, facing = append(pos, p.Add(m3.V(-0.02*dir.Z, 0, 0.02*dir.X))), append(facing, dir)
	}
	d := PathDeviation(eight, pos, facing)
	close(t, "distance", d.Distance, 0.02, 1e-3)
	close(t, "angle", d.Angle*180/math.Pi, 0, 0.5)
}

// A paw is low while it is below 2.5 cm, moving or not.
func TestLow(t *testing.T) {
	clip := leg(8)
	for f := range clip.Frames {
		pos, _ := clip.Frame(f)
		pos[0].Y = 0.5 + 0.01*float32(f) // the tip is f cm high
	}
	for f, v := range Height(clip, 2) {
		close(t, "height", v, 0.01*float64(f), 1e-6)
	}
	sum := 0.0
	for _, v := range Low(clip, []int{2, 1}) {
		sum += v
	}
	close(t, "low", sum, 3./2, 1e-9)
}

// The joint of three that leaps 10 cm once has a jerk of 10, 20 and 10 cm per cubed frame.
func TestJerk(t *testing.T) {
	clip := leg(10)
	for f := 3; f < 10; f++ {
		pos, _ := clip.Frame(f)
		pos[2].Z = 0.1
	}
	j := Jerk(clip)
	for f, want := range []float64{1, 1, 1, 1, 2, 1, 0, 0, 0, 0} {
		close(t, "jerk", j[f], want*0.1*216000/3, 1)
	}
}

// A body turns at 60 degrees per second, with its head 30 degrees ahead of it. It looks 30 degrees
// into the turn, in either direction. Without a turn it looks nowhere.
func TestLook(t *testing.T) {
	sk := &skel.Skeleton{
		Names: []string{"Hips", "Neck", "Head", "Nose"}, Parents: []int16{-1, 0, 1, 2},
		Offsets: []m3.Vec3{{Y: 0.5}, {Z: 0.4}, {Z: 0.1}, {Y: -0.02, Z: 0.1}}, EndSite: []bool{false, false, false, true},
	}
	for _, c := range []struct{ rate, head, want float64 }{{60, 30, 30}, {-60, -30, 30}, {60, -30, -30}, {0, 30, 0}, {19, 30, 0}, {60, 0, 0}} {
		clip := skel.NewClip(sk, 60, 240)
		for f := range clip.Frames {
			pos, rot := clip.Frame(f)
			pos[0] = m3.V(0, 0.5, 0)
			rot[0] = m3.YawQuat(float32(c.rate * math.Pi / 180 * float64(f) / 60))
			rot[2] = m3.YawQuat(float32(c.head * math.Pi / 180))
		}
		// In its first and last half second the window is cut; a third of it is left.
		for f, v := range Look(clip, 1, 2, 3) {
			if math.Abs(c.rate) < 60 || f >= 20 && f < clip.Frames-20 {
				close(t, "look", v, c.want, 0.01)
			}
		}
		for _, v := range Pitch(clip, 2, 3) {
			close(t, "pitch", v, -math.Atan(0.2)*180/math.Pi, 0.01)
		}
	}
}
