package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// stepper is a clip of a body that moves ahead at speed m/s on four paws, each a joint of its own.
// A paw stands for its duty factor of each stride from its phase, and then swings ahead 10 cm high.
func stepper(seconds, speed, rate float64, duty, phase [numPaws]float64) *skel.Clip {
	sk := &skel.Skeleton{Names: []string{"Hips"}, Parents: []int16{-1}, Offsets: []m3.Vec3{{}}, EndSite: []bool{false}}
	for _, n := range pawJoints {
		sk.Names, sk.Parents, sk.Offsets, sk.EndSite = append(sk.Names, n), append(sk.Parents, 0), append(sk.Offsets, m3.Vec3{}), append(sk.EndSite, true)
	}
	c := skel.NewClip(sk, 60, int(60*seconds))
	for f := range c.Frames {
		t := float64(f) / 60
		pos, _ := c.Frame(f)
		pos[0] = m3.V(0, 0.5, float32(speed*t))
		for p := range numPaws {
			stride, u := math.Modf(t*rate - phase[p] + 8)
			way := speed / rate
			z, y := (stride-8+phase[p]+duty[p]/2)*way, 0.01
			if u > duty[p] {
				w := (u - duty[p]) / (1 - duty[p])
				z += way * (1 - math.Cos(math.Pi*w)) / 2
				y += 0.1 * math.Sin(math.Pi*w)
			}
			pos[1+p] = m3.V(0, float32(y), float32(z)).Sub(pos[0])
		}
	}
	return c
}

func TestFootfalls(t *testing.T) {
	same := func(v float64) [numPaws]float64 { return [numPaws]float64{v, v, v, v} }
	for _, c := range []struct {
		name        string
		speed, rate float64
		duty, phase [numPaws]float64 // left hind, left fore, right hind, right fore
	}{
		{"walk", 0.5, 1.1, [numPaws]float64{0.7, 0.62, 0.7, 0.66}, [numPaws]float64{0, 0.2, 0.5, 0.7}},
		{"amble", 1.1, 1.6, same(0.42), [numPaws]float64{0, 0.25, 0.5, 0.75}},
		{"pace", 1.1, 1.5, same(0.55), [numPaws]float64{0, 0.05, 0.5, 0.55}},
		{"pace", 1.1, 1.5, same(0.55), [numPaws]float64{0, 0.95, 0.5, 0.45}},
		{"trot", 1.9, 2, same(0.4), [numPaws]float64{0, 0.48, 0.5, 0.98}},
		{"diagonal walk", 0.5, 1, same(0.65), [numPaws]float64{0, 0.75, 0.5, 0.25}},
		// Left hind; right hind with left fore; right fore.
		{"canter", 3.3, 2.2, same(0.33), [numPaws]float64{0, 0.33, 0.3, 0.6}},
		{"gallop", 3.3, 2.2, same(0.3), [numPaws]float64{0, 0.49, 0.16, 0.3}},
		{"bound", 3, 2.2, same(0.3), [numPaws]float64{0, 0.5, 0.03, 0.47}},
	} {
		f := must.Get(FootfallOf(stepper(6, c.speed, c.rate, c.duty, c.phase)))(t)
		if f.Gait != c.name {
			t.Errorf("%s at phases %v is found to be a %s: %+v", c.name, c.phase, f.Gait, f)
		}
		if want := int(6*c.rate) - 1; f.Strides < want-1 || f.Strides > want+1 {
			t.Errorf("%s: %d strides, want about %d", c.name, f.Strides, want)
		}
		close(t, c.name+" rate", f.Rate, c.rate, 0.05)
		for p := range numPaws {
			// A paw that lifts off or lands slowly still stands; a frame to either side.
			close(t, c.name+" duty of "+PawNames[p], f.Duty[p], c.duty[p], 0.04+3.0/60*c.rate)
			if d := apart(f.Phase[p], c.phase[p]); d > 0.04 {
				t.Errorf("%s: phase of %s is %.3f, want %.3f", c.name, PawNames[p], f.Phase[p], c.phase[p])
			}
			if f.Steady[p] < 0.98 {
				t.Errorf("%s: %s steady by %.2f", c.name, PawNames[p], f.Steady[p])
			}
		}
	}
}

// Both leads of an asymmetrical gait look the same.
func TestLeads(t *testing.T) {
	duty := [numPaws]float64{0.3, 0.32, 0.34, 0.36}
	left := must.Get(FootfallOf(stepper(6, 3.3, 2.2, duty, [numPaws]float64{0, 0.49, 0.16, 0.3})))(t)
	right := must.Get(FootfallOf(stepper(6, 3.3, 2.2, [numPaws]float64{duty[2], duty[3], duty[0], duty[1]}, [numPaws]float64{0.16, 0.3, 0, 0.49})))(t)
	if left.Gait != "gallop" || right.Gait != "gallop" {
		t.Errorf("%+v, %+v", left, right)
	}
	for p := range numPaws {
		close(t, "duty", right.Duty[p], left.Duty[p], 0.02)
		if d := apart(left.Phase[p], right.Phase[p]); d > 0.03 {
			t.Errorf("phase of %s: %.2f and %.2f", PawNames[p], left.Phase[p], right.Phase[p])
		}
	}
}

// Standing and sliding have no strides. A stride partly in frames that do not count is left out.
func TestNoFootfalls(t *testing.T) {
	for name, c := range map[string]*skel.Clip{
		"standing": stepper(4, 0, 1, [numPaws]float64{1, 1, 1, 1}, [numPaws]float64{}),
		"sliding":  stepper(4, 2, 1, [numPaws]float64{0, 0, 0, 0}, [numPaws]float64{}),
	} {
		if name == "sliding" {
			for f := range c.Frames {
				pos, _ := c.Frame(f)
				for p := range numPaws {
					pos[1+p] = m3.V(0, -0.5, 0)
				}
			}
		}
		f := must.Get(FootfallOf(c))(t)
		if f.Gait != "none" || f.Strides != 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	c := stepper(8, 0.5, 1, [numPaws]float64{.6, .6, .6, .6}, [numPaws]float64{0, .2, .5, .7})
	keep := make([]bool, c.Frames)
	for f := range keep {
		keep[f] = f%120 != 90
	}
	var all, some footfalls
	must.Do(t, all.add(c, nil))
	must.Do(t, some.add(c, keep))
	if all.strides != 6 || some.strides != 3 {
		t.Errorf("%d strides, %d of them whole", all.strides, some.strides)
	}
	if _, err := FootfallOf(leg(10)); err == nil {
		t.Error("a leg has four paws")
	}
}

// Each bar of the picture is as long as its paw stands.
func TestFootfallPicture(t *testing.T) {
	c := stepper(2, 0.5, 1, [numPaws]float64{.6, .6, .6, .6}, [numPaws]float64{0, .2, .5, .7})
	img := must.Get(FootfallPicture([]Strip{{Title: "walk", Clip: c}, {Title: "none"}}))(t)
	stands := must.Get(Contacts(c))(t)
	for p := range numPaws {
		for f := range c.Frames {
			_, _, b, _ := img.At(96+5*f+2, 26+18*p+3).RGBA()
			r, _, _, _ := img.At(96+5*f+2, 26+18*p+3).RGBA()
			if dark := b < 0xe000 && r < 0xa000; dark != stands[p][f] {
				t.Fatalf("%s, frame %d: stands %v, the picture says %v", PawNames[p], f, stands[p][f], dark)
			}
		}
	}
}
