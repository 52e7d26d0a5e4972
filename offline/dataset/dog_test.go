package dataset

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// built holds what dog has built: the race detector makes that slow.
var built struct{ train, held *MANN }

// dog returns the authors' recordings as rows, and their folder. Tests must not change the rows.
func dog(t *testing.T) (train, held *MANN, dir string) {
	t.Helper()
	dir = filepath.Join(mocapdata.Dir(t), "dog")
	if built.train == nil {
		var err error
		if built.train, built.held, err = BuildMANN(dir, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return built.train, built.held, dir
}

// The recordings come back from Y, places and poses, and so do their mirror images.
func TestDogReplays(t *testing.T) {
	train, held, dir := dog(t)
	for _, set := range []*MANN{train, held} {
		var clip *skel.Clip
		var worst float32
		last := int32(-1)
		for _, run := range set.Runs() {
			if c := set.Clip[run[0]]; c != last {
				b := must.Get(mocap.OpenBVH(filepath.Join(dir, set.Clips[c]+".bvh")))(t)
				clip, last = b.Clip.Scaled(0.01), c
			}
			replay, mirror := set.Replay(run[0], run[1]), set.Replay(run[0]+set.Rows/2, run[1]+set.Rows/2)
			got, img, want := make([]m3.Xform, set.Skeleton.Len()), make([]m3.Xform, set.Skeleton.Len()), make([]m3.Xform, clip.Skel.Len())
			clip.Model(want, int(set.Frame[run[0]]))
			place := recordedRoot(clip.Skel, want)
			for k := 0; k < replay.Frames; k += 7 {
				clip.Model(want, int(set.Frame[run[0]])+1+k)
				replay.Model(got, k)
				mirror.Model(img, k)
				for b, j := range set.Layout.Joints {
					w := want[clip.Skel.Index(j)].Pos
					worst = max(worst, place.Apply(got[b].Pos).Dist(w))
					p := img[slices.Index(set.Layout.Joints, otherSide(j))].Pos
					worst = max(worst, place.Apply(m3.V(-p.X, p.Y, p.Z)).Dist(w))
				}
			}
		}
		t.Logf("%d rows: joints off by at most %.2g m", set.Rows, worst)
		if !(worst <= 1e-3) {
			t.Errorf("a joint is off by %g m", worst)
		}
	}
	// The places of a mirrored row's bones are those that its axes and the skeleton give.
	var worst float32
	m := train.Layout
	model := make([]m3.Xform, len(m.Joints))
	for r := train.Rows / 2; r < train.Rows; r += 131 {
		train.Replay(r, r+1).Model(model, 0)
		for b, x := range model {
			p := train.Output(r)[m.OutBone(b):]
			worst = max(worst, x.Pos.Dist(m3.V(p[0], p[1], p[2])))
		}
	}
	if !(worst <= 1e-4) {
		t.Errorf("mirrored: a joint is off by %g m", worst)
	}
}

func otherSide(j string) string {
	if s, ok := strings.CutPrefix(j, "Left"); ok {
		return "Right" + s
	}
	if s, ok := strings.CutPrefix(j, "Right"); ok {
		return "Left" + s
	}
	return j
}

// recordedRoot returns the root under a recorded pose.
func recordedRoot(sk *skel.Skeleton, model []m3.Xform) m3.Xform {
	h := model[sk.Index("Hips")].Pos
	return m3.Xform{Pos: h.Flat(), Rot: m3.YawQuat(m3.YawOf(model[sk.Index("Neck")].Pos.Sub(h)))}
}

// Means and deviations agree with those that the authors published for their
// recordings of the same dog, of which these are the greater part. Theirs are
// of April 2018: no desired speed, and the pose seen from its own root.
func TestDogAgreesWithReference(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	set, _ := must.Get2(BuildMANN(dir, Options{HeldOut: []string{}}))(t)
	ref := feature.Dog()
	ref.NoSpeed = true
	read := func(name string) []float32 {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "reference", "mann-2018-04", name))
		if err != nil {
			t.Skip(err)
		}
		v := make([]float32, len(b)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return v
	}
	rm, rs, rym, rys := read("Xmean.bin"), read("Xstd.bin"), read("Ymean.bin"), read("Ystd.bin")
	m := set.Layout
	turned := map[string]bool{"Head": true, "HeadSite": true, "LeftShoulder": true, "RightShoulder": true} // the authors' frames of these differ

	// Their set holds more idling and less sitting and lying. Weighed by action
	// as theirs, ours must come nearer still.
	weights := make([]float64, len(m.Actions))
	for a := range weights {
		weights[a] = float64(rm[ref.InActions(feature.TrajNow)+a] / set.XMean[m.InActions(feature.TrajNow)+a])
	}
	wm, ws := weighted(set, weights)
	for _, c := range []struct {
		what             string
		mean, std        []float32
		pos, posStd      float64
		within2cm        int
		vel, velStd, dir float64
	}{
		{"as recorded", set.XMean, set.XStd, 0.045, 0.04, 12, 0.02, 0.035, 0.15},
		{"weighed by action", wm, ws, 0.031, 0.025, 26, 0.02, 0.03, 0.11},
	} {
		within := 0
		for b, j := range m.Joints {
			o, r := m.InBone(b), ref.InBone(b)
			off := func(a, b []float32, from, to int) (d float64) {
				for k := from; k < to; k++ {
					if b[r+k] != 1 { // constant in theirs
						d = max(d, math.Abs(float64(a[o+k]-b[r+k])))
					}
				}
				return d
			}
			const v, f = feature.BoneVel, feature.BoneForward
			p := off(c.mean, rm, 0, 3)
			if p <= 0.02 {
				within++
			}
			if d := off(c.std, rs, 0, 3); !(p <= c.pos) || !(d <= c.posStd) {
				t.Errorf("%s: %s: position off by %.3f m, its deviation by %.3f", c.what, j, p, d)
			}
			if dm, ds := off(c.mean, rm, v, v+3), off(c.std, rs, v, v+3); !(dm <= c.vel) || !(ds <= c.velStd) {
				t.Errorf("%s: %s: velocity off by %.3f m/s, its deviation by %.3f", c.what, j, dm, ds)
			}
			if d := off(c.mean, rm, f, f+6); !turned[j] && !(d <= c.dir) {
				t.Errorf("%s: %s: axes off by %.2f", c.what, j, d)
			}
		}
		if within < c.within2cm {
			t.Errorf("%s: %d joints within 2 cm, want %d", c.what, within, c.within2cm)
		}
	}
	for s := range feature.TrajSamples {
		for k := range feature.SampleOut {
			o, r := m.InSample(s)+k, ref.InSample(s)+k
			if d := math.Abs(float64(set.XMean[o] - rm[r])); !(d <= 0.03) {
				t.Errorf("sample %d value %d: mean off by %.3f", s, k, d)
			}
			if d := math.Abs(float64(set.XStd[o] - rs[r])); !(d <= 0.04) {
				t.Errorf("sample %d value %d: deviation off by %.3f", s, k, d)
			}
		}
	}
	// Theirs are dx, dz, yaw, per frame.
	for k, j := range map[int]int{feature.RootX: 0, feature.RootZ: 1, feature.RootYaw: 2} {
		o, r := m.OutRoot()+k, ref.OutRoot()+j
		if d := math.Abs(float64(set.YMean[o] - 60*rym[r])); !(d <= 0.02) {
			t.Errorf("root output %d: mean %g, theirs %g", k, set.YMean[o], 60*rym[r])
		}
		if d := math.Abs(float64(set.YStd[o]/(60*rys[r]) - 1)); !(d <= 0.1) {
			t.Errorf("root output %d: deviation %g, theirs %g", k, set.YStd[o], 60*rys[r])
		}
	}
	t.Logf("shares of actions %.3f, theirs %.3f", set.XMean[m.InActions(feature.TrajNow):][:6], rm[ref.InActions(feature.TrajNow):][:6])
}

// weighted returns mean and deviation with each row weighed by its actions.
func weighted(set *MANN, byAction []float64) (mean, std []float32) {
	n := set.Layout.Inputs()
	sum, sq := make([]float64, n), make([]float64, n)
	var total float64
	for r := range set.Rows {
		x := set.Input(r)
		var w float64
		for a, k := range byAction {
			w += k * float64(x[set.Layout.InActions(feature.TrajNow)+a])
		}
		total += w
		for c, v := range x {
			sum[c] += w * float64(v)
			sq[c] += w * float64(v) * float64(v)
		}
	}
	mean, std = make([]float32, n), make([]float32, n)
	for c := range n {
		mu := sum[c] / total
		mean[c], std[c] = float32(mu), float32(math.Sqrt(max(0, sq[c]/total-mu*mu)))
	}
	return mean, std
}

func TestDogSets(t *testing.T) {
	train, held, _ := dog(t)
	if len(train.Clips) != 33 || len(held.Clips) != 6 {
		t.Errorf("%d clips to train on, %d held out", len(train.Clips), len(held.Clips))
	}
	if len(train.Warnings) > 0 {
		t.Errorf("good recordings have warnings: %v", train.Warnings)
	}
	if share := float64(held.Rows) / float64(held.Rows+train.Rows); share > 0.12 {
		t.Errorf("%.0f %% of the rows are held out", 100*share)
	}
	for _, set := range []*MANN{train, held} {
		for i, v := range append(append([]float32(nil), set.XMean...), set.YStd...) {
			if !m3.Finite(v) {
				t.Fatalf("statistic %d is not finite", i)
			}
		}
		top := make([]float32, len(set.Layout.Actions))
		for r := range set.Rows {
			x := set.Input(r)
			for a := range top {
				top[a] = max(top[a], x[set.Layout.InActions(feature.TrajNow)+a])
			}
		}
		for a, v := range top {
			if v != 1 {
				t.Errorf("action %s never reaches full weight", set.Layout.Actions[a])
			}
		}
	}

	// The rest pose is a standing dog: level, square, still.
	p := train.RestPose()
	at := func(name string) []float32 {
		for b, j := range train.Layout.Joints {
			if j == name {
				return p[b*feature.BoneChannels:]
			}
		}
		t.Fatal(name)
		return nil
	}
	if h := at("Hips")[1]; h < 0.4 || h > 0.55 {
		t.Errorf("hips at %g m", h)
	}
	for _, tip := range train.Layout.Tips {
		b := at(tip)
		if b[1] < 0 || b[1] > 0.03 {
			t.Errorf("%s is %g m above the ground", tip, b[1])
		}
		if v := m3.V(b[9], b[10], b[11]).Len(); v > 0.05 {
			t.Errorf("%s moves at %g m/s", tip, v)
		}
	}
	for _, pair := range [][2]string{{"LeftHandSite", "RightHandSite"}, {"LeftFootSite", "RightFootSite"}} {
		l, r := at(pair[0]), at(pair[1])
		if d := math.Hypot(float64(l[0]+r[0]), float64(l[2]-r[2])); !(d <= 0.05) {
			t.Errorf("%v are %g m from standing square", pair, d)
		}
	}
}
