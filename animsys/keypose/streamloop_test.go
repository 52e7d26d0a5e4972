package keypose_test

import (
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// span returns the mean and the maximum distance of the joints of two poses.
func span(a, b []m3.Xform) (mean, most float32) {
	for j := range a {
		d := a[j].Pos.Dist(b[j].Pos)
		mean += d / float32(len(a))
		most = max(most, d)
	}
	return mean, most
}

// A stream makes the same motion window by window as an Inbetweener in one piece, except for rounded
// corners: with keys farther apart than a window's lookahead, keys of parts, and several rounds.
func TestStreamEqualsInbetweener(t *testing.T) {
	m := shipped(t)
	const n, apart, rounds = 5, 0.9, 3
	of := keys(m, 1, n, apart)
	arms := make([]float32, m.Layout.Groups())
	for _, joint := range []string{"LeftArm", "LeftForeArm", "RightArm"} {
		arms[m.Layout.GroupOf(joint)] = 1
	}
	of[2].Weight = arms
	of[4].Weight = arms
	r := must.Get(m.Layout.NewPoseLoop(of, n*apart))(t)
	var all keypose.Keys
	for k := range rounds {
		for _, key := range of {
			key.Time += float64(k) * n * apart
			all.Keys = append(all.Keys, key)
		}
	}
	track := must.Get(m.Layout.Track(all, 60))(t)
	inbetweener := must.Get(m.NewInbetweener(keypose.InbetweenerOptions{}))(t)
	defer inbetweener.Close()
	stand := make([]float32, keypose.Feet*track.Frames)
	track.Interpolate()
	linear := track.Clip()
	must.Do(t, inbetweener.Fill(track, stand))
	lock := must.Get(m.Layout.NewFootLock())(t)
	must.Do(t, lock.Apply(track, stand))
	want := track.Clip()
	p := newGroup(t, m, keypose.StreamOptions{Capacity: 1, Workers: 1})
	p.add(feature.Place{}, keypose.Performance{Loop: r}, 0)
	is, whole, straight := make([]m3.Xform, len(p.pos)), make([]m3.Xform, len(p.pos)), make([]m3.Xform, len(p.pos))
	var off, does float32
	frames := 0
	for f := 1; f < want.Frames-100; f++ {
		p.tick()
		if f < 100 {
			continue
		}
		p.model(is, 0)
		want.Model(whole, f)
		linear.Model(straight, f)
		mean, most := span(is, whole)
		if most > 0.12 {
			t.Errorf("frame %d: a joint is %.3f m from the motion in one piece", f, most)
		}
		off += mean
		mean, _ = span(straight, whole)
		does += mean
		frames++
	}
	if off /= float32(frames); off > 0.0085 || off > 0.5*does/float32(frames) {
		t.Errorf("joints are %.4f m off on average, the network moves them by %.4f m", off, does/float32(frames))
	}
	t.Logf("%.4f m off, the network moves joints by %.4f m", off, does/float32(frames))
	if got := p.Loops(0); got < rounds-2 {
		t.Errorf("after %d frames %d rounds are complete", want.Frames-100, got)
	}
}

// A new performance takes effect within Latency: from the next key on the agent plays the other loop
// at its speed, without jumps.
func TestStreamChangesPerformance(t *testing.T) {
	m := shipped(t)
	const apart, long = 0.5, 2.5 // s, the longest transition
	a, b := poseLoop(t, m, 2, 4, apart, 4*apart), poseLoop(t, m, 3, 2, apart, 0)
	last := keys(m, 3, 2, apart)[1]
	p := newGroup(t, m, keypose.StreamOptions{Capacity: 3, Workers: 1})
	for i := range 3 {
		p.add(feature.Place{}, keypose.Performance{Loop: a}, float64(i))
	}
	n := len(p.pos)
	goal, is, was := make([]m3.Xform, n), make([]m3.Xform, n), make([]m3.Xform, 3*n)
	p.m.Layout.Skel.LocalToModel(goal, last.Pos, last.Rot)
	for tick := range 480 {
		if tick == 130 {
			p.Controls()[1] = keypose.Performance{Loop: b}
			p.Controls()[2].Speed = 2
		}
		p.tick()
		for r := range 3 {
			p.model(is, r)
			if _, most := span(is, was[r*n:][:n]); tick > 0 && most > 0.06 {
				t.Fatalf("tick %d: a joint of person %d moves %.3f m", tick, r, most)
			}
			copy(was[r*n:], is)
		}
		if float64(tick-130)/60 > keypose.Latency+apart+long+apart+0.2 {
			p.model(is, 1)
			if mean, _ := span(is, goal); mean > 0.02 {
				t.Fatalf("tick %d: an agent in its last key is %.3f m from it", tick, mean)
			}
		}
	}
	if got := p.Loops(1); got != 1 {
		t.Errorf("a loop that plays once has been completed %d times", got)
	}
	if slow, quick := p.Loops(0), p.Loops(2); quick < slow+2 {
		t.Errorf("an agent at double speed has completed %d rounds, another %d", quick, slow)
	}
}

// The transition to another loop begins and ends slowly.
func TestStreamEasesTransitions(t *testing.T) {
	m := shipped(t)
	of := keys(m, 15, 2, 1)
	of[1].Rot[m.Layout.Skel.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.4)
	var r [2]*keypose.PoseLoop
	for i := range r {
		of[i].Time = 0
		r[i] = must.Get(m.Layout.NewPoseLoop(of[i:i+1], 0.5))(t)
	}
	p := newGroup(t, m, keypose.StreamOptions{Capacity: 1, Workers: 1})
	p.add(feature.Place{}, keypose.Performance{Loop: r[0]}, 0)
	var speeds []float32
	is, was, hand := make([]m3.Xform, len(p.pos)), m3.Vec3{}, m.Layout.Skel.Index("LeftHand")
	for tick := range 300 {
		if tick == 80 {
			p.Controls()[0].Loop = r[1]
		}
		p.tick()
		p.model(is, 0)
		if v := is[hand].Pos.Dist(was) * 60; tick > 80 && v > 0.2 {
			speeds = append(speeds, v)
		}
		was = is[hand].Pos
	}
	const ends = 8 // ticks at either end
	if len(speeds) < 30 {
		t.Fatalf("the hand moves for %d ticks", len(speeds))
	}
	sum := func(v []float32) (sum float32) {
		for _, x := range v {
			sum += x
		}
		return sum
	}
	begin, end, most := sum(speeds[:ends])/ends, sum(speeds[len(speeds)-ends:])/ends, slices.Max(speeds)
	if begin > 0.45*most || end > 0.45*most {
		t.Errorf("the hand begins at %.2f and ends at %.2f m/s, and is at most %.2f m/s fast", begin, end, most)
	}
}
