package scenes

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 dogs", 1: "1 dog", 2: "2 dogs"} {
		if got := Count(n, "dog", "dogs"); got != want {
			t.Errorf("%d are %q", n, got)
		}
	}
}

func TestGaitSpeed(t *testing.T) {
	speeds := []float32{KeepGait: 0, Walk: 1, Pace: 2, Trot: 3, Canter: 4}
	for _, c := range []struct {
		gait      Gait
		now, want float32
	}{{KeepGait, 1.5, 1.5}, {Trot, 1, 3}, {Faster, 1, 2}, {Faster, 1.5, 2}, {Faster, 4, 4}, {Slower, 2, 1}, {Slower, 1.5, 1}, {Slower, 0, 0}, {99, 1, 1}} {
		if got := c.gait.Speed(speeds, c.now); got != c.want {
			t.Errorf("gait %d at %g m/s asks for %g m/s, want %g", c.gait, c.now, got, c.want)
		}
	}
}
