package human

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
	"mannequin/offline/procgen/internal/clips"
	"mannequin/offline/registration"
)

// look holds the visible measures of a style.
type look struct {
	cadence, stride  float64 // cycles per second, m per cycle
	head, lean       float64 // pitch ahead and down of head and chest, rad
	swing, elbow     float64 // range of an upper arm, mean bend of the elbow, rad
	list, bounce     float64 // ranges of the pelvis' roll and height, rad and m
	track, knee, off float64 // m between the balls of standing feet; least bend of knees, rad; share of the cycle in the air
}

// see measures whole cycles of a straight take.
func see(tk *registration.Take) look {
	b := newBody()
	m := model(tk)
	from, to := 0, 0
	for f, c := range tk.Times {
		if c < Period {
			from = f
		}
		if c < 3*Period {
			to = f
		}
	}
	n := float64(to - from)
	var l look
	l.cadence = (tk.Times[to] - tk.Times[from]) / Period / n * FPS
	l.stride = float64(m[to][0].Pos.Z-m[from][0].Pos.Z) / ((tk.Times[to] - tk.Times[from]) / Period)
	pitch := func(q m3.Quat) float64 {
		up := q.Rotate(m3.Up)
		return math.Atan2(float64(up.Z), float64(up.Y))
	}
	span := func(x func(f int) float64) float64 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for f := from; f < to; f++ {
			lo, hi = min(lo, x(f)), max(hi, x(f))
		}
		return hi - lo
	}
	arm := b.shoulder[0] + 1
	l.swing = span(func(f int) float64 {
		d := m[f][arm].Rot.Rotate(m3.V(1, 0, 0))
		return math.Atan2(float64(d.Z), -float64(d.Y))
	})
	l.list = span(func(f int) float64 { return math.Asin(float64(m[f][0].Rot.Rotate(m3.V(1, 0, 0)).Y)) })
	l.bounce = span(func(f int) float64 { return float64(m[f][0].Pos.Y) })
	l.knee = math.Inf(1)
	var sides [2][2]float64 // sum and count of the balls' x
	for f := from; f < to; f++ {
		_, rot := tk.Clip.Frame(f)
		l.head += pitch(m[f][b.neck+2].Rot) / n
		l.lean += pitch(m[f][b.chest].Rot) / n
		l.elbow += float64(rot[arm+1].RotationVector().Len()) / n
		for foot := range 2 {
			l.knee = min(l.knee, float64(rot[b.upLeg[foot]+1].RotationVector().Len()))
			if tk.Stands[f]>>foot&1 == 1 {
				sides[foot][0] += float64(m[f][b.upLeg[foot]+3].Pos.X)
				sides[foot][1]++
			}
		}
		if tk.Stands[f] == 0 {
			l.off += 1 / n
		}
	}
	l.track = sides[0][0]/sides[0][1] - sides[1][0]/sides[1][1]
	return l
}

// Styles differ as one would say of them.
func TestStyles(t *testing.T) {
	for _, action := range []string{Walk, Run} {
		seen := map[string]look{}
		for _, s := range Styles() {
			seen[s] = see(take(t, action+"-straight", s))
			t.Logf("%s %s: %.2f", action, s, seen[s])
		}
		n := seen["neutral"]
		for what, ok := range map[string]bool{
			"angry is faster, in longer strides":    seen["angry"].cadence > 1.06*n.cadence && seen["angry"].stride > 1.03*n.stride,
			"angry leans ahead":                     seen["angry"].lean > n.lean+rad(3),
			"angry swings its arms wide":            seen["angry"].swing > 1.3*n.swing,
			"depressed is slower, in short strides": seen["depressed"].cadence < 0.92*n.cadence && seen["depressed"].stride < 0.88*n.stride,
			"depressed bows its head":               seen["depressed"].head > n.head+rad(22),
			"depressed hardly swings its arms":      seen["depressed"].swing < 0.55*n.swing,
			"proud carries its head high":           seen["proud"].head < n.head-rad(4),
			"proud stands upright":                  seen["proud"].lean < n.lean-rad(6),
			"strutting bounces":                     seen["strutting"].bounce > 1.3*n.bounce,
			"childlike steps fast and short":        seen["childlike"].cadence > 1.12*n.cadence && seen["childlike"].stride < 0.92*n.stride,
			"old takes the shortest strides":        seen["old"].stride < 0.8*n.stride && seen["old"].stride < seen["depressed"].stride,
			"old stoops, with bent knees":           seen["old"].lean > n.lean+rad(15) && seen["old"].knee > n.knee,
			"old has a wide track":                  seen["old"].track > n.track+0.03,
			"sexy sways its hips":                   seen["sexy"].list > 2*n.list,
			"sexy walks a line":                     seen["sexy"].track < n.track-0.05,
			"sneaking bends its knees":              seen["sneaking"].knee > n.knee+rad(12) && seen["sneaking"].lean > n.lean+rad(15),
			"marching swings straight arms":         seen["marching"].swing > 1.5*n.swing && (action == Run || seen["marching"].elbow < n.elbow-rad(3)), // elbows of runs are bent
			"drunk has a wide track":                seen["drunk"].track > n.track+0.05,
			"limping takes short strides":           seen["limping"].stride < 0.9*n.stride,
			"cold holds its arms before the chest":  seen["cold"].elbow > n.elbow+rad(10) && seen["cold"].swing < 0.5*n.swing,
			"stooped leans far ahead":               seen["stooped"].lean > n.lean+rad(25),
			"striding takes the longest strides":    seen["striding"].stride > 1.1*n.stride && seen["striding"].swing > 1.3*n.swing,
			"hurried is fast":                       seen["hurried"].cadence > 1.1*n.cadence && seen["hurried"].lean > n.lean+rad(5),
			"relaxed is slow, and leans back":       seen["relaxed"].cadence < 0.95*n.cadence && seen["relaxed"].lean < n.lean,
		} {
			if !ok {
				t.Errorf("%s: not so: %s", action, what)
			}
		}
		if action == Walk && n.off > 0 || action == Run && n.off < 0.15 {
			t.Errorf("%s: in the air for %.2f of the cycle", action, n.off)
		}
	}
	// A usual walk and run of somebody 1.62 m tall.
	walk, run := see(take(t, "walk-straight", "neutral")), see(take(t, "run-straight", "neutral"))
	if v := walk.cadence * walk.stride; v < 1 || v > 1.5 {
		t.Errorf("the walk has %.2f m/s", v)
	}
	slow, fast := see(take(t, "walk-slow", "neutral")), see(take(t, "walk-fast", "neutral"))
	if fast.cadence < 1.15*slow.cadence || fast.stride < 1.25*slow.stride {
		t.Errorf("a fast walk has %.2f cycles of %.2f m a second, a slow one %.2f of %.2f m", fast.cadence, fast.stride, slow.cadence, slow.stride)
	}
	if v := run.cadence * run.stride; v < 2.3 || v > 3.3 {
		t.Errorf("the run has %.2f m/s", v)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "people")
	takes := []*registration.Take{take(t, "walk-stop", "old"), take(t, "stand-still", "proud")}
	for range 2 { // again, too
		must.Do(t, Write(dir, takes))
	}
	for _, tk := range takes {
		b := must.Get(mocap.OpenBVH(filepath.Join(dir, tk.Name+".bvh")))(t)
		c := b.Clip.Scaled(0.01)
		if c.Frames != tk.Clip.Frames || c.FPS != FPS || c.Skel.Len() != tk.Clip.Skel.Len() {
			t.Fatalf("%s: read %d frames of %d joints at %g", tk.Name, c.Frames, c.Skel.Len(), c.FPS)
		}
		x, y := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
		for f := range c.Frames {
			c.Model(x, f)
			tk.Clip.Model(y, f)
			for j := range x {
				if x[j].Pos.Dist(y[j].Pos) > 1e-4 {
					t.Fatalf("%s frame %d joint %d: %v, wrote %v", tk.Name, f, j, x[j].Pos, y[j].Pos)
				}
			}
		}
	}
	var src dataset.Source
	if _, err := toml.DecodeFile(filepath.Join(dir, dataset.SourceFile), &src); err != nil || src.License != "CC0-1.0" || src.Name != ModelName {
		t.Errorf("source %+v, error %v", src, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, clips.LicenceFile)); err != nil || !strings.Contains(string(text), "CC0 1.0") {
		t.Errorf("licence %q, error %v", text, err)
	}
	other := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(other, dataset.SourceFile), []byte("x"), 0o666))
	if err := Write(other, takes); err == nil || !strings.Contains(err.Error(), "other recordings") {
		t.Errorf("a folder of other recordings: error %v", err)
	}
}
