package recipes

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
)

// A head and back from elsewhere sit on the window's own hips, each bone as long as
// it is; what is
// wanted of it comes back to the recorded one by halves, in places, velocities and
// changes alike, and of everything else is what it was.
func TestHeads(t *testing.T) {
	set, _ := moving(t, 60)
	l := set.Layout
	u := newRollout(set, nil, set.Order, 8, 0, 1, newChange(set, false, 1))
	h, err := newHeads(l, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	const windows = 2000
	in, out := l.Inputs(), l.Outputs()
	var first []int
	feet := 0
	for i := range windows {
		first = append(first, int(u.first[i*len(u.first)/windows]))
		if onFeet(set, first[i]) {
			feet++
		}
	}
	x, was := make([]float32, windows*in), make([]float32, windows*in)
	for i, r := range first {
		u.set.input(x[i*in:], r)
	}
	copy(was, x)
	h.begin(x, in, u, first, 7)

	const hips, nose = 0, 5
	ours := map[int]bool{}
	for _, c := range h.pose {
		ours[u.before+c] = true
	}
	place := func(x []float32, bone int) m3.Vec3 {
		var v [3]float32
		for k := range v {
			c := l.InBone(bone) + feature.BonePos + k
			v[k] = x[c]*set.XStd[c] + set.XMean[c]
		}
		return m3.V(v[0], v[1], v[2])
	}
	swapped, turned := 0, 0.0
	for i := range windows {
		a, b := x[i*in:][:in], was[i*in:][:in]
		other := false
		for c := range a {
			if a[c] != b[c] {
				other = true
				if !ours[c] {
					t.Fatalf("window %d: column %d is not of a head", i, c)
				}
			}
		}
		if !other {
			continue
		}
		swapped++
		if !onFeet(set, first[i]) {
			t.Errorf("window %d does not stand on its feet", i)
		}
		for bone := hips + 1; bone <= nose; bone++ {
			got, want := place(a, bone).Dist(place(a, bone-1)), place(b, bone).Dist(place(b, bone-1))
			if math.Abs(float64(got-want)) > 1e-3 {
				t.Fatalf("window %d: bone %d is %v m long, want %v", i, bone, got, want)
			}
		}
		if place(a, hips) != place(b, hips) {
			t.Errorf("window %d: the hips have moved", i)
		}
		turned = max(turned, float64(place(a, nose).Dist(place(b, nose))))
	}
	if share := float64(swapped) / float64(feet); math.Abs(share-0.25) > 0.05 || turned < 0.05 {
		t.Errorf("%.2f of the windows have another head, the farthest %.2f m off", share, turned)
	}

	wanted := func(tick int) []float32 {
		y := make([]float32, windows*out)
		h.want(y, out, u, tick)
		return y
	}
	n := len(h.pose)
	before := make([]float32, windows*out)
	for tick := range easing {
		y, change := wanted(tick), make([]float32, windows*l.PoseLen())
		h.change(change, l.PoseLen(), u.change.std[u.columns[0]:], tick)
		for i := range windows {
			for k, c := range h.pose {
				o := i*out + l.OutBone(0) + c
				std := set.YStd[l.OutBone(0)+c]
				now, last := y[o]*std, before[o]*std
				if tick == 0 {
					last = h.off[i*n+k]
				}
				if tick == easing-1 && math.Abs(float64(now-h.off[i*n+k]/2)) > 1e-5 {
					t.Fatalf("%v is left of %v", now, h.off[i*n+k])
				}
				if d := change[i*l.PoseLen()+c] * u.change.std[l.OutBone(0)+c]; math.Abs(float64(now-last-d)) > 1e-5 {
					t.Fatalf("tick %d: changes by %v, want %v", tick, d, now-last)
				}
				if k < h.places {
					v := y[o+feature.BoneVel] * set.YStd[l.OutBone(0)+c+feature.BoneVel]
					faster := v - before[o+feature.BoneVel]*set.YStd[l.OutBone(0)+c+feature.BoneVel] // recorded heads do not ease: it begins from 0
					if d := change[i*l.PoseLen()+c+feature.BoneVel] * u.change.std[l.OutBone(0)+c+feature.BoneVel]; math.Abs(float64(faster-d)) > 1e-4 {
						t.Fatalf("tick %d: goes on faster by %v, want %v", tick, d, faster)
					}
					if math.Abs(float64(now-last-v/mann.Rate)) > 1e-5 {
						t.Fatalf("tick %d: goes on by %v, at %v m/s", tick, now-last, v)
					}
				}
			}
		}
		before = y
	}

	// The same key draws the same heads.
	again := slices.Clone(was)
	h.begin(again, in, u, first, 7)
	if !slices.Equal(again, x) {
		t.Error("drawn anew")
	}
	if _, err := newHeads(small(8, 0, "walk").Layout, 1); err == nil {
		t.Error("a head is found on who has none")
	}
}
