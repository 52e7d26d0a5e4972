package registration

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// checkShape checks what holds for any registered take.
func checkShape(t *testing.T, tl *Timeline, takes []*Take, maxSlope float64) {
	t.Helper()
	if len(tl.Stands) != tl.Frames || tl.Frames < 2 {
		t.Errorf("%d contacts on a timeline of %d frames", len(tl.Stands), tl.Frames)
	}
	for _, k := range takes {
		if len(k.Times) != k.Clip.Frames || len(k.Stands) != k.Clip.Frames {
			t.Fatalf("%s: %d times and %d contacts for %d frames", k.Name, len(k.Times), len(k.Stands), k.Clip.Frames)
		}
		if tl.Period > 0 && (k.Times[0] < 0 || k.Times[0] >= tl.Period) {
			t.Errorf("%s begins at %g, not in the first cycle of %g frames", k.Name, k.Times[0], tl.Period)
		}
		for f := 1; f < len(k.Times); f++ {
			if d := k.Times[f] - k.Times[f-1]; !(d >= 0.999/maxSlope && d <= 1.001*maxSlope) {
				t.Fatalf("%s: slope %g at frame %d", k.Name, d, f)
			}
		}
	}
}

func TestWalksAreRecovered(t *testing.T) {
	takes, figures := walkers()
	tl, rep := mustRegister(t, takes, Options{})
	checkShape(t, tl, takes, 3)
	if tl.Reference != "a" || math.Abs(tl.Period-64) > 1 || float64(tl.Frames) != tl.Period || !rep.Cyclic {
		t.Errorf("timeline of %s, %g frames, %d long, cyclic %v: want a's cycle of 64", tl.Reference, tl.Period, tl.Frames, rep.Cyclic)
	}
	for i, a := range takes {
		for j, b := range takes {
			frames, marks := tl.Match(a, b)
			sum, n := 0.0, 0
			for f, g := range frames {
				if marks[f] && g == math.Trunc(g) {
					continue // out of reach
				}
				d := figures[i].phase(float64(f)) - figures[j].phase(g)
				sum += math.Abs(d-math.Round(d)) * 64
				n++
			}
			if mean := sum / float64(n); mean > 1 || n < a.Clip.Frames/2 {
				t.Errorf("%s on %s: %.2f frames off on average, over %d frames", a.Name, b.Name, mean, n)
			}
		}
	}
	checkContacts(t, tl, takes, figures)
	for i, r := range rep.Takes {
		want := figures[i].phase(float64(takes[i].Clip.Frames-1)) - figures[i].phase(0)
		if math.Abs(r.Cycles-want) > 0.06 || r.TwoWay > 1 || r.Contacts < 0.9 || len(r.Warnings) > 0 {
			t.Errorf("%s: %.2f cycles of %.2f, %.2f frames both ways, contacts %.2f, %v", r.Name, r.Cycles, want, r.TwoWay, r.Contacts, r.Warnings)
		}
		if r.MinSlope > r.Slope || r.MaxSlope < r.Slope {
			t.Errorf("%s: slopes %g to %g, mean %g", r.Name, r.MinSlope, r.MaxSlope, r.Slope)
		}
	}
}

// The timeline begins with a landing of the left foot, and contacts are the constructed ones.
func checkContacts(t *testing.T, tl *Timeline, takes []*Take, figures []figure) {
	t.Helper()
	if tl.Stands[0]&LeftStands == 0 || tl.Stands[tl.Frames-1]&LeftStands != 0 {
		t.Errorf("the cycle does not begin where the left foot lands: %v", tl.Stands)
	}
	for i, k := range takes {
		wrong := 0
		for f, s := range k.Stands {
			p := figures[i].phase(float64(f))
			p -= math.Floor(p)
			if margin := math.Abs(math.Mod(p, 0.5) - 0.25); margin > 0.17 {
				continue // about to change
			}
			want := LeftStands
			if p > 0.5 {
				want = RightStands
			}
			if s != want {
				wrong++
			}
		}
		if wrong > len(k.Stands)/50 {
			t.Errorf("%s: the wrong foot stands in %d of %d frames", k.Name, wrong, len(k.Stands))
		}
	}
}

func TestKicksAreRecovered(t *testing.T) {
	takes, figures := kickers()
	tl, rep := mustRegister(t, takes, Options{})
	checkShape(t, tl, takes, 3)
	if tl.Period != 0 || tl.Reference != "a" || tl.Frames != 60 {
		t.Errorf("timeline of %s, %d frames, period %g", tl.Reference, tl.Frames, tl.Period)
	}
	for i, a := range takes {
		for j, b := range takes {
			frames, marks := tl.Match(a, b)
			sum, n := 0.0, 0
			for f, g := range frames {
				p, q := figures[i].phase(float64(f)), figures[j].phase(g)
				if marks[f] || p < 0.08 || p > 0.92 { // still, or almost
					continue
				}
				sum += math.Abs(p-q) * 50
				n++
			}
			if mean := sum / float64(n); mean > 1 || n < 25 {
				t.Errorf("%s on %s: %.2f frames off on average, over %d frames", a.Name, b.Name, mean, n)
			}
		}
	}
	for _, r := range rep.Takes {
		if r.TwoWay > 2 || r.Cycles != 0 || r.Residual > 0.6 {
			t.Errorf("%s: %.2f frames both ways, %g cycles, residual %.2f", r.Name, r.TwoWay, r.Cycles, r.Residual)
		}
	}
}

// Register finds out whether an action repeats if neither takes nor options say so.
func TestCyclicIsFoundOut(t *testing.T) {
	walks, _ := walkers()
	kicks, _ := kickers()
	for _, k := range kicks {
		k.Cyclic = Unknown
	}
	for _, c := range []struct {
		takes []*Take
		says  Cyclic
		want  bool
	}{{walks, Unknown, true}, {kicks, Unknown, false}, {walks[3:], Once, false}} {
		tl, rep := mustRegister(t, c.takes, Options{Cyclic: c.says, Rounds: 1, Alternate: 1})
		if rep.Cyclic != c.want || (tl.Period > 0) != c.want {
			t.Errorf("%s, said to be %d: cyclic %v, want %v", c.takes[0].Action, c.says, rep.Cyclic, c.want)
		}
	}
}

// A neutral take too short to show a cycle is still the reference, once another shows it.
func TestShortNeutral(t *testing.T) {
	takes := []*Take{
		{Take: mar.Take{Name: "old", Style: "old", Clip: figure{frames: 150, phase: steady(0, 64), swing: 0.5, arms: 0.3}.walk()}},
		{Take: mar.Take{Name: "neutral", Style: "Normal", Clip: figure{frames: 58, phase: steady(0.2, 50), swing: 0.6, arms: 0.4}.walk()}},
	}
	if _, alike := mustFeatures(t, takes[1]).period(); alike > 0 {
		t.Fatal("the short take shows its cycle by itself")
	}
	tl, _ := mustRegister(t, takes, Options{Cyclic: Repeats, Rounds: 2, Alternate: 1})
	if tl.Reference != "neutral" || math.Abs(tl.Period-50) > 1 {
		t.Errorf("a cycle of %g frames by %s, want 50 by neutral", tl.Period, tl.Reference)
	}
}

func mustFeatures(t *testing.T, k *Take) *features {
	t.Helper()
	return must.Get(featuresOf(k.Clip, true))(t)
}

// The place and the heading of a walk change nothing.
func TestPlaceAndHeadingDropOut(t *testing.T) {
	here, figures := walkers()
	there, _ := walkers()
	for i, f := range figures {
		f.heading, f.place = 0.7+float64(i), m3.V(3, f.place.Y, float32(-5*i))
		there[i].Clip = f.walk()
	}
	a, ra := mustRegister(t, here, Options{Rounds: 1, Alternate: 1})
	b, rb := mustRegister(t, there, Options{Rounds: 1, Alternate: 1})
	if a.Period != b.Period || !slices.Equal(a.Stands, b.Stands) {
		t.Errorf("periods %g and %g", a.Period, b.Period)
	}
	for i := range here {
		for f := range here[i].Times {
			if d := math.Abs(here[i].Times[f] - there[i].Times[f]); d > 0.05 {
				t.Fatalf("%s, frame %d: %g elsewhere %g", here[i].Name, f, here[i].Times[f], there[i].Times[f])
			}
		}
		if d := math.Abs(ra.Takes[i].Residual - rb.Takes[i].Residual); d > 1e-3 {
			t.Errorf("%s: residuals differ by %g", here[i].Name, d)
		}
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	for _, make := range []func() ([]*Take, []figure){walkers, kickers} {
		one, _ := make()
		tl, rep := mustRegister(t, one, Options{Workers: 1, Rounds: 1, Alternate: 1})
		for _, workers := range []int{3} {
			many, _ := make()
			tl2, rep2 := mustRegister(t, many, Options{Workers: workers, Rounds: 1, Alternate: 1})
			if !reflect.DeepEqual(tl, tl2) || !reflect.DeepEqual(rep, rep2) {
				t.Errorf("%d workers: another timeline or report", workers)
			}
			for i := range one {
				if !slices.Equal(one[i].Times, many[i].Times) || !slices.Equal(one[i].Stands, many[i].Stands) {
					t.Errorf("%d workers: take %s differs", workers, one[i].Name)
				}
			}
		}
	}
}

// The takes' old Times do not matter: registering twice gives the same.
func TestRegisterAgain(t *testing.T) {
	takes, _ := kickers()
	mustRegister(t, takes, Options{Rounds: 1, Alternate: 1})
	first := slices.Clone(takes[1].Times)
	mustRegister(t, takes, Options{Rounds: 1, Alternate: 1})
	if !slices.Equal(first, takes[1].Times) {
		t.Error("the second registration differs from the first")
	}
}

// A take of another action gets a warning.
func TestStrangersAreWarnedOf(t *testing.T) {
	takes, figures := kickers()
	other := figures[0]
	other.phase = uneven(0, 64, 0, 1)
	takes = append(takes, &Take{Take: mar.Take{Name: "stray", Action: "kick", Style: "neutral?", Clip: other.walk()}, Cyclic: Once})
	_, rep := mustRegister(t, takes, Options{Cyclic: Once, Rounds: 1})
	if len(rep.Takes[3].Warnings) == 0 {
		t.Errorf("no warning of a walk among kicks: %+v", rep.Takes[3])
	}
}

// The report names the first faults of a recording, and counts the others.
func TestFaultsAreReported(t *testing.T) {
	takes, _ := kickers()
	for f := range 10 {
		takes[1].Faults = append(takes[1].Faults, mocap.Fault{Frame: 5 + f, What: "Hips moves at 1e+09 m/s"})
	}
	_, rep := mustRegister(t, takes, Options{Cyclic: Once, Rounds: 1})
	want := []string{"frame 5: Hips moves at 1e+09 m/s", "frame 6: Hips moves at 1e+09 m/s", "frame 7: Hips moves at 1e+09 m/s", "7 more frames hardly show a person's motion"}
	if got := rep.Takes[1].Warnings; !slices.Equal(got, want) || len(rep.Takes[0].Warnings) > 0 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRegisterRefuses(t *testing.T) {
	good := func() []*Take { takes, _ := kickers(); return takes }
	for _, c := range []struct {
		name   string
		spoil  func([]*Take) []*Take
		opt    Options
		saying string
	}{
		{"nothing", func([]*Take) []*Take { return nil }, Options{}, "no takes"},
		{"no clip", func(k []*Take) []*Take { k[1].Clip = nil; return k }, Options{}, "take b has no frames"},
		{"no frames", func(k []*Take) []*Take { k[1].Clip = skel.NewClip(k[0].Clip.Skel, 60, 0); return k }, Options{}, "take b has no frames"},
		{"cut", func(k []*Take) []*Take { k[1].Clip.Rot = k[1].Clip.Rot[1:]; return k }, Options{}, "translations"},
		{"rates", func(k []*Take) []*Take { k[2].Clip.FPS = 30; return k }, Options{}, "30 frames per second and a 60: resample"},
		{"actions", func(k []*Take) []*Take { k[2].Action = "punch"; return k }, Options{}, `"punch" and a a "kick"`},
		{"nan", func(k []*Take) []*Take { k[0].Clip.Pos[0].X = float32(math.NaN()); return k }, Options{}, "take a: frame 0, joint Hips"},
		{"skeleton", func(k []*Take) []*Take {
			s := *k[0].Clip.Skel
			s.Names = slices.Clone(s.Names)
			s.Names[0] = "root"
			for _, t := range k {
				t.Clip.Skel = &s
			}
			return k
		}, Options{}, "no joint Hips"},
		{"other skeleton", func(k []*Take) []*Take {
			s := *k[0].Clip.Skel
			s.Names = slices.Clone(s.Names)
			s.Names[5] = "x"
			k[1].Clip.Skel = &s
			return k
		}, Options{}, "another skeleton"},
		{"still", nil, Options{Cyclic: Repeats}, "no take of kick repeats itself"},
		{"slope", nil, Options{MaxSlope: 1}, "MaxSlope is 1"},
		{"smooth", nil, Options{Smooth: math.NaN()}, "Smooth"},
		{"snap", nil, Options{Snap: 2}, "Snap"},
		{"rounds", nil, Options{Rounds: -1}, "Rounds"},
		{"cyclic", nil, Options{Cyclic: 7}, "Cyclic"},
		{"workers", nil, Options{Workers: -1}, "Workers"},
	} {
		takes := good()
		if c.spoil != nil {
			takes = c.spoil(takes)
		}
		if _, _, err := Register(takes, c.opt); err == nil || !strings.Contains(err.Error(), c.saying) || !strings.HasPrefix(err.Error(), "registration: ") {
			t.Errorf("%s: %v, want something with %q", c.name, err, c.saying)
		}
	}
}

// Takes of one frame or a few, and people who do not move, are no errors.
func TestDegenerateTakes(t *testing.T) {
	takes, _ := kickers()
	takes[1].Name = "one frame"
	takes[1].Clip = &skel.Clip{Skel: takes[1].Clip.Skel, FPS: 60, Frames: 1, Pos: takes[1].Clip.Pos[:30], Rot: takes[1].Clip.Rot[:30]}
	takes[2].Clip = skel.NewClip(takes[2].Clip.Skel, 60, 40)
	tl, rep := mustRegister(t, takes, Options{})
	checkShape(t, tl, takes, 3)
	for _, r := range rep.Takes {
		if math.IsNaN(r.Residual) || math.IsNaN(r.TwoWay) || math.IsNaN(r.Slope) {
			t.Errorf("%+v", r)
		}
	}
}
