package stage

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// ridge is a wall of earth across the way, high and about wide metres from foot to foot.
func ridge(high, wide, at float32) HeightFunc {
	return func(_, z float32) float32 {
		d := min(m3.Abs(z-at)/(wide/2), 1)
		return high * (1 + m3.Cos(d*math.Pi)) / 2
	}
}

// hiddenBy is how far the ground reaches over the line from the target to the eye, m.
func hiddenBy(c *Camera, height HeightFunc) float32 {
	var most float32
	for i := range 101 {
		p := c.target.Lerp(c.eye, float32(i)/100)
		most = max(most, height(p.X, p.Z)-p.Y)
	}
	return most
}

// A character walks over ridges, from gentle to steep, and turns behind them: it stays in
// view, and the camera neither jumps nor enters the ground.
func TestCameraSeesOverRidges(t *testing.T) {
	const dt = 1.0 / 60
	for _, c := range []struct {
		high, wide, speed float32
		hidden            int     // frames, at most
		jolt              float32 // m
	}{
		{1.5, 8, 1.1, 0, 0.02}, // 31° at its steepest
		{2, 8, 2, 0, 0.02},     // 38°
		{3, 6, 1.1, 0, 0.1},    // 57°
		{6, 4, 2, 15, 0.4},     // a cliff, of 78°
	} {
		height := ridge(c.high, c.wide, 6)
		cam := newCamera()
		place := func(z float32) m3.Vec3 { return m3.V(0, height(0, z)+0.5, z) }
		cam.Track(place(0), 0, dt, height)
		before, way := cam.eye, m3.Vec3{}
		var lift float32
		hidden := 0
		z, heading := float32(0), float32(0)
		for i := range 60 * 30 {
			if z < 12 {
				z += c.speed * dt
			} else {
				heading += dt // it turns on the spot
			}
			cam.Track(place(z), heading, dt, height)
			if over := cam.eye.Y - height(cam.eye.X, cam.eye.Z); over < overGround-1e-4 {
				t.Fatalf("ridge of %g m: frame %d: the eye is %g m over the ground", c.high, i, over)
			}
			if hiddenBy(cam, height) > 0.05 {
				hidden++
			}
			now := cam.eye.Sub(before)
			if jolt := now.Dist(way); i > 0 && jolt > c.jolt {
				t.Fatalf("ridge of %g m: frame %d: the eye's way in a frame changes by %g m", c.high, i, jolt)
			}
			before, way = cam.eye, now
			lift = max(lift, cam.clear.lift)
		}
		if lift < 0.02 || hidden > c.hidden {
			t.Errorf("ridge of %g m: the camera was lifted by %g rad, %d frames were hidden", c.high, lift, hidden)
		}
	}
}

// The camera sinks back more slowly than it rose.
func TestCameraComesBack(t *testing.T) {
	const dt = 1.0 / 60
	var wall float32
	height := func(_, z float32) float32 { return wall * max(min(-1-z, 1), 0) } // behind
	cam := newCamera()
	cam.Track(m3.V(0, 0.5, 0), 0, dt, height)
	usual := cam.eye
	wait := func(done func() bool) (frames int) {
		for frames = 0; !done() && frames < 2000; frames++ {
			cam.Track(m3.V(0, 0.5, 0), 0, dt, height)
		}
		return frames
	}
	wall = 1.5
	up := wait(func() bool { return hiddenBy(cam, height) == 0 })
	wait(func() bool { return cam.clear.rising == 0 })
	wall = 0
	down := wait(func() bool { return cam.eye.Dist(usual) < 0.05 })
	if up < 2 || up > 30 || down < 60 || down > 600 {
		t.Errorf("up in %d frames, down in %d", up, down)
	}
}

// In front of a slope that is too steep to look over, the camera comes closer.
func TestCameraComesNearer(t *testing.T) {
	height := func(_, z float32) float32 { return 20 * m3.Clamp((-1.5-z)/0.3, 0, 1) }
	cam := newCamera()
	for range 100 {
		cam.Track(m3.V(0, 0.5, 0), 0, 1.0/60, height)
	}
	if d := cam.eye.Dist(cam.target); d > 2.6 || d < minDistance || hiddenBy(cam, height) > 0 {
		t.Errorf("%g m away, hidden by %g m", d, hiddenBy(cam, height))
	}
}

// The camera follows a jump at once.
func TestCameraCuts(t *testing.T) {
	cam := newCamera()
	cam.Track(m3.V(0, 0.5, 0), 0, 0.1, nil)
	cam.Track(m3.V(30, 0.5, 0), 1, 1.0/60, nil)
	if cam.target.Dist(m3.V(30, 0.5+cam.Lift, 0)) > 1e-4 || cam.Yaw != 1 {
		t.Errorf("it looks at %v along %g", cam.target, cam.Yaw)
	}
}

// With Swing 0 the camera stays on its side of a turning character.
func TestCameraSwing(t *testing.T) {
	cam := newCamera()
	cam.Track(m3.V(0, 0.5, 0), 0, 0, nil)
	cam.Swing = 0
	for range 120 {
		cam.Track(m3.V(0, 0.5, 0), 2, 1.0/60, nil)
	}
	if cam.Yaw > 0.02 {
		t.Errorf("it turned by %g", cam.Yaw)
	}
}
