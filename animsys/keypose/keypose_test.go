package keypose

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/retarget"
)

// swaying returns a motion round a bend in which all joints swing.
func swaying(frames int, seed uint64) *skel.Clip {
	sk := retarget.Human()
	c := skel.NewClip(sk, 60, frames)
	for f := range frames {
		r := rand.New(rand.NewPCG(seed, 1))
		at := float64(f) / 60
		pos, rot := c.Frame(f)
		for j := range rot {
			if sk.EndSite[j] {
				continue
			}
			axis := m3.V(float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())).Normalize(m3.V(1, 0, 0))
			rot[j] = m3.AxisAngle(axis, float32(0.5*math.Sin(2*at+6*r.Float64())))
		}
		rot[0] = m3.YawQuat(float32(3 + 0.8*at)).Mul(rot[0])
		pos[0] = m3.V(float32(math.Sin(at)), 0.95+0.05*float32(math.Sin(6*at)), float32(1.2*at))
	}
	return c
}

func layout(t testing.TB) *Layout {
	t.Helper()
	l := must.Get(NewLayout(retarget.Human()))(t)
	return l
}

// keyed returns a track of the clip with the frames keyed.
func keyed(l *Layout, c *skel.Clip, fps float32, frames ...int) *Track {
	t := l.NewTrack(c.Frames, fps)
	t.SetClip(c, 0, 1)
	for _, f := range frames {
		t.Key(f)
	}
	return t
}

// apart returns the maximum distance of joints in frame f of two tracks, m.
func apart(a, b *Track, f int) (most float32) {
	n := a.Layout.Skel.Len()
	var x [2][]m3.Xform
	for i, t := range []*Track{a, b} {
		pos, rot := make([]m3.Vec3, n), make([]m3.Quat, n)
		x[i] = make([]m3.Xform, n)
		t.Pose(f, pos, rot)
		t.Layout.Skel.LocalToModel(x[i], pos, rot)
	}
	for j := range n {
		most = max(most, x[0][j].Pos.Dist(x[1][j].Pos))
	}
	return most
}

// A track returns the clip that was written into it, at frames and between them.
func TestTrackHoldsClip(t *testing.T) {
	l, c := layout(t), swaying(40, 1)
	track := keyed(l, c, 60)
	back := track.Clip()
	for i := range c.Rot {
		if c.Skel.EndSite[i%c.Skel.Len()] {
			continue
		}
		if a := c.Rot[i].Angle(back.Rot[i]); a > 2e-3 || c.Pos[i].Dist(back.Pos[i]) > 1e-6 {
			t.Fatalf("joint %s of frame %d: %v at %v comes back as %v at %v",
				c.Skel.Names[i%c.Skel.Len()], i/c.Skel.Len(), c.Rot[i], c.Pos[i], back.Rot[i], back.Pos[i])
		}
	}
	half := l.NewTrack(20, 60)
	half.SetClip(c, 0.5, 1)
	a, b, m := c.Pos[0], c.Pos[c.Skel.Len()], half.Place[0].Pos
	if m.Dist(a.Lerp(b, 0.5).Flat()) > 1e-6 {
		t.Errorf("between %v and %v the root is at %v", a, b, m)
	}
	for f := 1; f < track.Frames; f++ {
		if d := track.Place[f].Yaw - track.Place[f-1].Yaw; m3.Abs(d) > 0.2 {
			t.Fatalf("the heading jumps by %g at frame %d", d, f)
		}
	}
}

// Interpolate uses slerp and lerp between the keys of each group, and holds the nearest key outside.
func TestInterpolate(t *testing.T) {
	l, c := layout(t), swaying(50, 2)
	truth := keyed(l, c, 60)
	track := keyed(l, c, 60, 10, 30)
	g, n := l.Groups(), len(l.Joints)
	arm := l.GroupOf("LeftArm")
	track.Weight[30*g+arm] = 0
	track.Weight[20*g+arm] = 0.5
	track.Interpolate()
	near := func(what string, got, want m3.Quat) {
		t.Helper()
		if a := got.Angle(want); a > 2e-3 {
			t.Errorf("%s is %g rad off", what, a)
		}
	}
	i := l.GroupOf("Spine") - groupJoint
	near("Spine in the middle", track.Rot[15*n+i], truth.Rot[10*n+i].Slerp(truth.Rot[30*n+i], 0.25))
	near("Spine before", track.Rot[3*n+i], truth.Rot[10*n+i])
	near("Spine after", track.Rot[44*n+i], truth.Rot[30*n+i])
	i = arm - groupJoint
	near("LeftArm in the middle", track.Rot[15*n+i], truth.Rot[10*n+i].Slerp(truth.Rot[20*n+i], 0.5))
	near("LeftArm after", track.Rot[30*n+i], truth.Rot[20*n+i])
	if want := truth.Place[10].Pos.Lerp(truth.Place[30].Pos, 0.25); track.Place[15].Pos.Dist(want) > 1e-6 {
		t.Errorf("the root is at %v, want %v", track.Place[15].Pos, want)
	}
	if p, nx, u := track.Prev[15*g+arm], track.Next[15*g+arm], track.Between[15*g+arm]; p != 10 || nx != 20 || u != 0.5 {
		t.Errorf("the arm's keys are %d and %d, it is %g between them", p, nx, u)
	}
	if track.Next[44*g] != -1 || track.Prev[3*g] != -1 {
		t.Error("there are keys beyond the ends")
	}
}

// Correction turns a track into another motion, on the tape as well.
func TestCorrection(t *testing.T) {
	l, c := layout(t), swaying(61, 3)
	truth := keyed(l, c, 60)
	track := keyed(l, c, 60, 0, 60)
	track.Interpolate()
	cols := l.Columns()
	correction := make([]float32, 61*cols)
	track.Correction(correction, truth)

	pool := grad.NewPool(1)
	defer pool.Close()
	tape := grad.NewTape(pool)
	tree := l.Tree()
	joints := len(tree.Parents)
	base := make([]float32, 61*joints*4)
	for f := range 61 {
		track.Rotations(base[f*joints*4:][:joints*4], f)
	}
	x, none := tape.Const(61, cols), tape.Const(61, 1)
	copy(x.Val, correction)
	clear(none.Val)
	turned := tape.FK(tape.Gather(tape.Concat(x, none), tree.Turns), base, grad.Skeleton{Parents: tree.Parents, Offsets: tree.Offsets})
	moved := tape.Gather(x, tree.Moves)
	want := make([]float32, 61*3*l.Skel.Len())
	l.NewInputEncoder().Places(want, track, truth)
	for f := range 61 {
		for i := range 3 * l.Skel.Len() {
			got := turned.Val[f*3*joints+3+i] + moved.Val[f*3*joints+3+i]
			if i%3 == 1 {
				got += track.Height[f]
			}
			if d := m3.Abs(got - want[f*3*l.Skel.Len()+i]); d > 2e-5 {
				t.Fatalf("coordinate %d of joint %s in frame %d is %g m off on the tape", i%3, l.Skel.Names[i/3], f, d)
			}
		}
	}
	if d := apart(track, truth, 30); d < 0.05 {
		t.Fatalf("interpolation is %g m off: there is nothing to correct", d)
	}
	for f := range 61 {
		track.Apply(f, correction[f*cols:][:cols])
		if d := apart(track, truth, f); d > 1e-5 {
			t.Fatalf("frame %d is %g m off after its correction", f, d)
		}
	}
}

// The inputs are as documented.
func TestEncode(t *testing.T) {
	l, c := layout(t), swaying(60, 4)
	track := keyed(l, c, 60, 6, 36)
	arm := l.GroupOf("LeftArm")
	track.Weight[20*l.Groups()+arm] = 0.5
	track.Interpolate()
	x := make([]float32, 30*l.Inputs())
	l.NewInputEncoder().Encode(x, track, 2)
	n := l.Skel.Len()
	row := x[15*l.Inputs():][:l.Inputs()] // frame 30
	places := make([]float32, 60*3*n)
	l.NewInputEncoder().Places(places, track, track)
	for i := range 3 * n {
		if row[i] != places[30*3*n+i] {
			t.Fatalf("value %d is %g, the joint is at %g", i, row[i], places[30*3*n+i])
		}
	}
	// The root at the neighbouring keys, seen from this frame.
	for i, f := range []int{20, 36} {
		v := m3.YawQuat(-track.Place[30].Yaw).Rotate(track.Place[f].Pos.Sub(track.Place[30].Pos))
		if got := m3.V(row[3*n*(i+1)], 0, row[3*n*(i+1)+2]); got.Dist(v) > 1e-5 {
			t.Errorf("the root at frame %d is seen at %v, want %v", f, got, v)
		}
	}
	rest := row[9*n:]
	v := m3.YawQuat(-track.Place[30].Yaw).Rotate(track.Place[32].Pos.Sub(track.Place[28].Pos)).Scale(15)
	if m3.Abs(rest[0]-v.X) > 1e-4 || m3.Abs(rest[1]-v.Z) > 1e-4 {
		t.Errorf("it moves at %g, %g m/s, want %v", rest[0], rest[1], v)
	}
	want := func(what string, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-4 {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	rest = rest[3:]
	want("the nearness of the path's last key", rest[0], math.Exp(-24.0/60/reach))
	want("that of the arm's last key", rest[2*arm], 0.5*math.Exp(-10.0/60/reach))
	want("that of its next", rest[2*arm+1], math.Exp(-6.0/60/reach))
	rest = rest[2*l.Groups():]
	want("the time since the last pose", rest[0], 10.0/60)
	want("the time to the next", rest[2], 6.0/60)
	last := x[29*l.Inputs()+l.Inputs()-2:] // frame 58: no key follows
	want("the time to no key", last[0], maxTime)
	want("its nearness", last[1], 0)
}

// model returns a network of one convolution with weights from a seed.
func model(t testing.TB, l *Layout) *Model {
	t.Helper()
	in, out := l.Inputs(), l.Columns()+Feet
	r := rand.New(rand.NewPCG(5, 5))
	w := make([]float32, out*in*9)
	for i := range w {
		w[i] = 0.01 * float32(r.NormFloat64())
	}
	meta := netruntime.Meta{Name: "made", Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: in}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpConv, In: []string{"x"}}},
		Outputs: []string{"y"}}}
	must.Do(t, Describe(&meta, l.Skel))
	net, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{out, in, 9}, Data: w}, {Name: "y.bias", Shape: []int{out}, Data: make([]float32, out)}})
	if err != nil {
		t.Fatal(err)
	}
	m := must.Get(NewModel(net))(t)
	return m
}

func inbetweener(t *testing.T, m *Model, workers int) *Inbetweener {
	t.Helper()
	k := must.Get(m.NewInbetweener(InbetweenerOptions{Workers: workers}))(t)
	t.Cleanup(func() { k.Close() })
	return k
}

// Keys are met exactly, between them the network changes the motion, and keys of less weight are
// followed in part. The result is bit-identical for any number of workers.
func TestFillMeetsKeys(t *testing.T) {
	l, c := layout(t), swaying(121, 6)
	m := model(t, l)
	truth := keyed(l, c, 60)
	fill := func(workers int, weight float32) *Track {
		track := keyed(l, c, 60, 0, 37, 90, 120)
		for g := range l.Groups() {
			track.Weight[37*l.Groups()+g] = weight
		}
		must.Do(t, inbetweener(t, m, workers).Fill(track, nil))
		return track
	}
	made := fill(1, 1)
	for _, f := range []int{0, 37, 90, 120} {
		if d := apart(made, truth, f); d > 2e-6 {
			t.Errorf("the key at frame %d is missed by %g m", f, d)
		}
	}
	interpolated := keyed(l, c, 60, 0, 37, 90, 120)
	interpolated.Interpolate()
	if d := apart(made, interpolated, 60); d < 0.01 {
		t.Errorf("the network changes interpolation by %g m", d)
	}
	again := fill(3, 1)
	if !slices.Equal(made.Rot, again.Rot) || !slices.Equal(made.Place, again.Place) {
		t.Error("three workers make different bits")
	}
	half, free := apart(fill(1, 0.5), truth, 37), apart(fill(1, 1e-9), truth, 37)
	if !(half > 0.2*free && half < 0.8*free) {
		t.Errorf("a key of half weight is missed by %g m, of none by %g", half, free)
	}
}

// A long motion made in segments equals the output for the whole.
func TestFillLong(t *testing.T) {
	l, c := layout(t), swaying(2*3*segment+31, 7)
	m := model(t, l)
	var keys []int
	for f := 0; f < c.Frames; f += 31 {
		keys = append(keys, f)
	}
	k := inbetweener(t, m, 1)
	track := keyed(l, c, 60, keys...)
	must.Do(t, k.Fill(track, nil))
	n := (c.Frames + 1) / 2
	length := (n + 3) / 4 * 4
	s := must.Get(m.Net.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer s.Close()
	in, out := l.Inputs(), l.Columns()+Feet
	x, y := make([]float32, length*in), make([]float32, length*out)
	copy(x, k.read)
	for f := n; f < length; f++ {
		copy(x[f*in:], x[(n-1)*in:n*in])
	}
	must.Do(t, s.RunSequences([][]float32{y}, [][]float32{x}, 1, length))
	for i, v := range y[:n*out] {
		if d := m3.Abs(v - k.all[i]); d > 1e-4 {
			t.Fatalf("value %d of frame %d is %g, as a whole %g", i%out, i/out, k.all[i], v)
		}
	}
}

// A replacer takes a motion over and leaves keys alone.
func TestReplacer(t *testing.T) {
	l, c, other := layout(t), swaying(61, 8), swaying(61, 9)
	track, truth, want := keyed(l, c, 60, 0, 30, 60), keyed(l, c, 60), keyed(l, other, 60)
	track.Interpolate()
	new(replacer).run(track, other)
	for _, f := range []int{0, 30, 60} {
		if d := apart(track, truth, f); d > 2e-6 {
			t.Errorf("the key at frame %d is off by %g m", f, d)
		}
	}
	if a, b := apart(track, want, 15), apart(truth, want, 15); a > b {
		t.Errorf("between keys it is %g m from the motion, before %g", a, b)
	}
}

// Hips bounce more between keys than the network says, the more so the further they are apart, and keys stay.
func TestBounce(t *testing.T) {
	l := layout(t)
	cols := l.Columns()
	for _, v := range []struct {
		keys   []int
		at     int
		factor float32
	}{{[]int{0, 30, 60}, 15, 1.12}, {[]int{0, 45, 60}, 22, 1.22}, {[]int{0, 60}, 30, 1.32}, {[]int{0}, 30, 1.12}} {
		track := keyed(l, swaying(61, 11), 60, v.keys...)
		track.Interpolate()
		was := slices.Clone(track.Height)
		said := make([]float32, track.Frames*(cols+Feet))
		for f := range track.Frames { // the network does not say 0 at keys
			said[f*(cols+Feet)+colHeight] = 0.1
			if f == v.at {
				said[f*(cols+Feet)+colHeight] = 0.14
			}
		}
		track.correct(said, 1, make([]float32, track.Frames*cols), make([]float32, track.Frames*cols), nil)
		for _, f := range v.keys {
			if track.Height[f] != was[f] {
				t.Errorf("keys %v: hips rise by %g m at frame %d", v.keys, track.Height[f]-was[f], f)
			}
		}
		if by, want := track.Height[v.at]-was[v.at], 0.04*v.factor; m3.Abs(by-want) > 1e-5 {
			t.Errorf("keys %v: hips rise by %g m at frame %d, want %g", v.keys, by, v.at, want)
		}
		if by := track.Height[v.at-1] - was[v.at-1]; m3.Abs(by) > 1e-5 {
			t.Errorf("keys %v: hips rise by %g m at frame %d, want 0", v.keys, by, v.at-1)
		}
	}
}

func TestFillRefuses(t *testing.T) {
	l, c := layout(t), swaying(61, 10)
	k := inbetweener(t, model(t, l), 1)
	track := keyed(l, c, 45, 0, 60)
	must.FailWith(t, k.Fill(track, nil), "45 frames per second")
	track = keyed(l, c, 60, 0, 60)
	track.Height[0] = float32(math.NaN())
	must.FailWith(t, k.Fill(track, nil), "not finite")
	must.FailWith(t, k.Fill(keyed(l, c, 60), nil), "where the root is")
	must.FailWith(t, k.Fill(&Track{Layout: l, FPS: 60, Frames: 2}, nil), "another skeleton")
	if err := k.Fill(&Track{Layout: l, FPS: 60}, nil); err == nil {
		t.Error("a track without frames accepted")
	}
}

func TestNewRefuses(t *testing.T) {
	l := layout(t)
	good := model(t, l).Net
	for name, spoil := range map[string]func(m *netruntime.Meta){
		"schema":   func(m *netruntime.Meta) { m.SchemaHash = "0" },
		"skeleton": func(m *netruntime.Meta) { m.Skeleton = "{}" },
		"no JSON":  func(m *netruntime.Meta) { m.Skeleton = "?" },
	} {
		meta := good.Meta()
		spoil(&meta)
		w, _ := good.Tensor("y.weight")
		b, _ := good.Tensor("y.bias")
		net := must.Get(netruntime.New(meta, []netruntime.Tensor{{Name: "y.weight", Shape: w.Shape, Data: w.Data},
			{Name: "y.bias", Shape: b.Shape, Data: b.Data}}))(t)
		var bad *feature.SchemaError
		if _, err := NewModel(net); !errors.As(err, &bad) {
			t.Errorf("%s: %v, want a SchemaError", name, err)
		}
	}
	if _, err := NewLayout(&skel.Skeleton{}); err == nil {
		t.Error("a layout of an empty skeleton accepted")
	}
}

// keysOf returns frames of the clip as keys.
func keysOf(c *skel.Clip, frames ...int) (k Keys) {
	for _, f := range frames {
		pos, rot := c.Frame(f)
		k.Keys = append(k.Keys, Key{Time: 2 + float64(f)/60, Pos: slices.Clone(pos), Rot: slices.Clone(rot)})
	}
	return k
}

func TestKeysTrack(t *testing.T) {
	l, c := layout(t), swaying(61, 11)
	k := keysOf(c, 0, 20, 60)
	k.Keys[1].Weight = make([]float32, l.Groups())
	k.Keys[1].Weight[GroupRoot] = 0.5
	track := must.Get(l.Track(k, 60))(t)
	truth := keyed(l, c, 60)
	if track.Frames != 61 || apart(track, truth, 60) > 1e-6 || track.Weight[20*l.Groups()+GroupRoot] != 0.5 || track.Weight[20*l.Groups()] != 0 {
		t.Errorf("%d frames, weights %v", track.Frames, track.Weight[20*l.Groups():][:3])
	}
	for _, f := range []float64{-10, 0, 1000} { // points may lie beyond the keys
		k.Path = append(k.Path, Waypoint{Time: 2 + f/60})
	}
	for i := range k.Path {
		k.Path[i].Place.Pos.X = float32(k.Path[i].Time)
		k.Path[i].Place.Yaw = 0.1 * float32(k.Path[i].Time)
	}
	track = must.Get(l.Track(k, 60))(t)
	for f := range track.Frames {
		if want := 2 + float32(f)/60; m3.Abs(track.Place[f].Pos.X-want) > 1e-4 || m3.Abs(track.Place[f].Yaw-0.1*want) > 1e-4 ||
			track.Weight[f*l.Groups()] != 1 {
			t.Fatalf("frame %d is at %v, want %g", f, track.Place[f], want)
		}
	}
}

func TestKeysRefused(t *testing.T) {
	l, c := layout(t), swaying(61, 12)
	nan := float32(math.NaN())
	for want, spoil := range map[string]func(k *Keys){
		"key 2: at 1.9 s, before key 1": func(k *Keys) { k.Keys[1].Time = 1.9 },
		"in the same frame":             func(k *Keys) { k.Keys[1].Time = k.Keys[0].Time },
		"is faster than 12 m/s":         func(k *Keys) { k.Keys[2].Pos[0].X += 40 },
		"the skeleton has 30 joints":    func(k *Keys) { k.Keys[1].Pos = k.Keys[1].Pos[:5] },
		"joint Spine is not finite":     func(k *Keys) { k.Keys[1].Rot[l.Skel.Index("Spine")].W = nan },
		"its time is NaN":               func(k *Keys) { k.Keys[1].Time = math.NaN() },
		"want 0 to 1":                   func(k *Keys) { k.Keys[1].Weight = slices.Repeat([]float32{2}, l.Groups()) },
		"want 26":                       func(k *Keys) { k.Keys[1].Weight = make([]float32, 3) },
		"at least 2":                    func(k *Keys) { k.Keys = k.Keys[:1] },
		"at most 600":                   func(k *Keys) { k.Keys[2].Time = 1e6 },
		"where the root is": func(k *Keys) {
			for i := range k.Keys {
				k.Keys[i].Weight = make([]float32, l.Groups())
			}
		},
		"a path without points":       func(k *Keys) { k.Path = []Waypoint{} },
		"want one that covers them":   func(k *Keys) { k.Path = []Waypoint{{Time: 2}, {Time: 2.5}} },
		"point of the path 2: at 2 s": func(k *Keys) { k.Path = []Waypoint{{Time: 2}, {Time: 2}, {Time: 5}} },
		"point of the path 2: 90.00 m": func(k *Keys) {
			k.Path = []Waypoint{{Time: 2}, {Time: 3}, {Time: 5}}
			k.Path[1].Place.Pos.X = 90
		},
		"point of the path 1: it is not finite": func(k *Keys) {
			k.Path = []Waypoint{{Time: 2}, {Time: 5}}
			k.Path[0].Place.Yaw = nan
		},
	} {
		k := keysOf(c, 0, 20, 60)
		spoil(&k)
		must.Fail(l.Track(k, 60))(t, want)
	}
	if _, err := l.Track(keysOf(c, 0, 20), 0); err == nil {
		t.Error("0 frames per second accepted")
	}
}
