package human

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen/internal/smooth"
	"mannequin/offline/registration"
)

// round returns one take of everything, made once, and its timelines.
func round(t testing.TB) ([]*registration.Take, map[string]registration.Timeline) {
	t.Helper()
	if made.takes == nil {
		var err error
		if made.takes, made.lines, err = Generate(Options{Minutes: DefaultMinutes / 2, Styles: Styles()}); err != nil {
			t.Fatal(err)
		}
	}
	return made.takes, made.lines
}

var made struct {
	takes []*registration.Take
	lines map[string]registration.Timeline
}

func take(t testing.TB, content, style string) *registration.Take {
	t.Helper()
	takes, _ := round(t)
	for _, tk := range takes {
		if tk.Content == content && tk.Style == style {
			return tk
		}
	}
	t.Fatalf("no take of %s in the style %s", content, style)
	return nil
}

// model returns the joints in world space, by frame, made once.
func model(tk *registration.Take) [][]m3.Xform {
	if m, ok := models[tk]; ok {
		return m
	}
	n := tk.Clip.Skel.Len()
	out, all := make([][]m3.Xform, tk.Clip.Frames), make([]m3.Xform, n*tk.Clip.Frames)
	for f := range out {
		out[f] = all[f*n : (f+1)*n]
		tk.Clip.Model(out[f], f)
	}
	models[tk] = out
	return out
}

var models = map[*registration.Take][][]m3.Xform{}

func hash(takes []*registration.Take) [32]byte {
	h := sha256.New()
	for _, t := range takes {
		h.Write([]byte(t.Name + t.Action + t.Style + t.Content))
		for _, x := range []any{t.Clip.Pos, t.Clip.Rot, t.Times, t.Stands} {
			if err := binary.Write(h, binary.LittleEndian, x); err != nil {
				panic(err)
			}
		}
	}
	return [32]byte(h.Sum(nil))
}

func generate(t *testing.T, o Options) []*registration.Take {
	t.Helper()
	takes, _ := must.Get2(Generate(o))(t)
	return takes
}

// Equal options give equal bytes, other seeds others. Takes do not depend on each other.
func TestSeeds(t *testing.T) {
	o := Options{Seed: 3, Minutes: 0.1, Actions: []string{Walk}, Styles: []string{"neutral", "old"}}
	a := generate(t, o)
	if hash(a) != hash(generate(t, o)) {
		t.Error("equal options give other takes")
	}
	o.Workers, o.Styles = 1, []string{"old"}
	var old []*registration.Take
	for _, tk := range a {
		if tk.Style == "old" {
			old = append(old, tk)
		}
	}
	if hash(old) != hash(generate(t, o)) {
		t.Error("takes depend on others")
	}
	o.Seed = 4
	if hash(old) == hash(generate(t, o)) {
		t.Error("another seed gives the same takes")
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"Minutes": {Minutes: -1},
		"Workers": {Workers: -1},
		"action":  {Actions: []string{"fly"}},
		"style":   {Styles: []string{"invisible"}},
	} {
		if _, _, err := Generate(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one about %s", o, err, want)
		}
	}
	if _, _, err := Generate(Options{Minutes: math.NaN()}); err == nil {
		t.Error("Minutes that are no number are taken")
	}
}

// Every content has a take in every style, of four to nine seconds or so. The default, the styles of
// Xia et al., has the documented length.
func TestRound(t *testing.T) {
	takes, lines := round(t)
	if want := len(scripts()) * len(styleRows); len(takes) != want {
		t.Fatalf("%d takes, want %d", len(takes), want)
	}
	names := map[string]bool{}
	seconds := 0.0
	for _, tk := range takes {
		if names[tk.Name] {
			t.Errorf("two takes are called %s", tk.Name)
		}
		names[tk.Name] = true
		s := tk.Clip.Seconds()
		if slices.Contains(XiaStyles(), tk.Style) {
			seconds += s
		}
		if s < 3 || s > 9 {
			t.Errorf("%s takes %.1f s", tk.Name, s)
		}
		if l, ok := lines[tk.Action]; !ok || l.Action != tk.Action || l.Frames != len(l.Stands) || l.Period != Period {
			t.Errorf("%s: timeline %+v", tk.Name, l)
		}
	}
	if m := 2 * seconds / 60; math.Abs(m-DefaultMinutes) > 0.06*DefaultMinutes {
		t.Errorf("two rounds are %.1f minutes, DefaultMinutes %d", m, DefaultMinutes)
	}
}

// Minutes say how many takes there are of everything; without them it is two.
func TestMinutes(t *testing.T) {
	for want, minutes := range map[int]float64{1: 0.2, 2: 0, 4: 6} {
		takes := generate(t, Options{Minutes: minutes, Actions: []string{Stand}})
		if want *= 2 * len(XiaStyles()); len(takes) != want {
			t.Errorf("%g minutes are %d takes, want %d", minutes, len(takes), want)
		}
	}
}

// Two takes of one content and style are two persons, but nearly of one tempo.
func TestPersons(t *testing.T) {
	takes := generate(t, Options{Minutes: 0.5, Actions: []string{Stand}, Styles: []string{"proud"}})
	if len(takes) < 4 || takes[0].Content != takes[1].Content || takes[0].Name == takes[1].Name {
		t.Fatalf("%d takes", len(takes))
	}
	a, b := takes[0].Clip, takes[1].Clip
	if r := float64(a.Frames) / float64(b.Frames); r < 0.8 || r > 1.25 {
		t.Errorf("%d and %d frames", a.Frames, b.Frames)
	}
	if slices.Equal(a.Rot[:30], b.Rot[:30]) {
		t.Error("two persons stand exactly alike")
	}
}

// Canonical time rises, and feet land at its marks.
func TestTimes(t *testing.T) {
	takes, _ := round(t)
	for _, tk := range takes {
		n := tk.Clip.Frames
		if len(tk.Times) != n || len(tk.Stands) != n {
			t.Fatalf("%s: %d frames, %d times, %d stands", tk.Name, n, len(tk.Times), len(tk.Stands))
		}
		if math.Abs(tk.Times[0]) > 1e-6 {
			t.Errorf("%s begins at %g", tk.Name, tk.Times[0])
		}
		for f := 1; f < n; f++ {
			if !(tk.Times[f] > tk.Times[f-1]) {
				t.Fatalf("%s: times %g, %g in frames %d, %d", tk.Name, tk.Times[f-1], tk.Times[f], f-1, f)
			}
			for foot := range 2 {
				if bit := uint8(1) << foot; tk.Stands[f]&bit != 0 && tk.Stands[f-1]&bit == 0 {
					a, b := tk.Times[f-1]/Period-landsAt(foot), tk.Times[f]/Period-landsAt(foot)
					if math.Ceil(a) > b+1e-9 {
						t.Fatalf("%s: foot %d lands between cycles %g and %g", tk.Name, foot, a, b)
					}
				}
			}
		}
	}
}

// At equal times two styles do the same: feet stand, except for duty factors; headings agree.
func TestPairs(t *testing.T) {
	for _, sc := range scripts() {
		ref := take(t, sc.name, "neutral")
		yaw := heading(ref)
		for _, st := range styleRows[1:] {
			tk := take(t, sc.name, st.name)
			own := heading(tk)
			if d := math.Abs(ref.Times[len(ref.Times)-1] - tk.Times[len(tk.Times)-1]); d > 3 {
				t.Errorf("%s ends %.1f frames of canonical time from neutral", tk.Name, d)
			}
			f, other := 0, 0
			for c := 0.0; c < sc.cycles*Period-3; c++ {
				for tk.Times[f] < c {
					f++
				}
				for ref.Times[other] < c {
					other++
				}
				if d := math.Abs(own[f] - yaw[other]); d > rad(25) {
					t.Fatalf("%s: at %g it has turned %.0f degrees from neutral", tk.Name, c, d/rad(1))
				}
				for foot := range 2 {
					bit := uint8(1) << foot
					if tk.Stands[f]&bit == ref.Stands[other]&bit {
						continue
					}
					// A difference of duty factors, or of the next frame's time.
					in := c/Period - landsAt(foot)
					in -= math.Floor(in)
					lo, hi := 0.23, 0.44
					if sc.action == Walk {
						lo, hi = 0.57, 0.71
					}
					if (in < lo || in > hi) && in > 0.03 && in < 0.96 {
						t.Fatalf("%s: foot %d at phase %.2f: stands %b, neutral %b", tk.Name, foot, in, tk.Stands[f], ref.Stands[other])
					}
				}
			}
		}
	}
}

// heading returns where the hips face, without a cycle's oscillation, rad.
func heading(tk *registration.Take) []float64 {
	m := model(tk)
	raw := make([]float64, len(m))
	for f := range m {
		raw[f] = float64(m[f][0].Rot.Yaw())
		if f > 0 {
			raw[f] += smooth.Tau * math.Round((raw[f-1]-raw[f])/smooth.Tau)
		}
	}
	out := make([]float64, len(m))
	for f := range raw {
		n := 0.0
		for k := max(0, f-20); k <= min(len(raw)-1, f+20); k += 4 {
			out[f] += raw[k]
			n++
		}
		out[f] /= n
	}
	return out
}
