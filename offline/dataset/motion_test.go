package dataset

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/retarget"
)

// stepping returns a set of one clip, and its mirror image, whose contacts are square waves: each
// is on the ground for stand frames of a period, lag frames after the first.
func stepping(t *testing.T, frames, period int, stand, lag []int) *MotionSet {
	m := &MotionSet{Layout: feature.Human(), Skeleton: retarget.Human(), Length: 240, Margin: 24}
	cols := m.Layout.Columns()
	clip := MotionClip{Name: "made/steps", Frames: frames, Rows: make([]float32, frames*cols)}
	for f := range frames {
		for i := range stand {
			if (f-lag[i]+10*period)%period < stand[i] {
				clip.Rows[f*cols+m.Layout.Contact(i)] = 1
			}
		}
		for c := range m.Layout.Body() {
			clip.Rows[f*cols+c] = float32(c) + float32(f)/1000
		}
		clip.Rows[f*cols+m.Layout.Body()+feature.MotionZ] = 1.2
	}
	m.Clips = []MotionClip{clip}
	must.Do(t, m.mirror())
	return m
}

// Footsteps and StepLags are exact for steps of a known period, duty and lag.
func TestFootsteps(t *testing.T) {
	const period = 60
	stand, lag := []int{30, 36, 30, 36}, []int{0, 4, 30, 34}
	m := stepping(t, 300, period, stand, lag)
	g := m.Footsteps(0)
	for f := range 300 {
		row := g[f*5:][:5]
		if want := 2 * math.Pi / period; math.Abs(float64(row[4])-want) > 1e-5 {
			t.Fatalf("frame %d: pace %g, want %g", f, row[4], want)
		}
		for i := range stand {
			if want := math.Pi * float64(stand[i]) / period; math.Abs(float64(row[i])-want) > 1e-5 {
				t.Fatalf("frame %d: contact %d has duty angle %g, want %g", f, i, row[i], want)
			}
		}
	}
	for i, got := range m.StepLags() {
		// The middle of standing is later by half the difference in duty, too.
		want := 2 * math.Pi * (float64(lag[i]) + float64(stand[i]-stand[0])/2) / period
		if d := math.Abs(math.Remainder(float64(got)-want, 2*math.Pi)); d > 1e-4 {
			t.Errorf("contact %d is later by %g, want %g", i, got, want)
		}
	}
}

// A person who stands does not step. Without a whole step a moving body's row is unknown.
func TestFootstepsStanding(t *testing.T) {
	m := stepping(t, 250, 60, []int{60, 60, 60, 60}, []int{0, 0, 0, 0})
	if g := m.Footsteps(0); g[0] == g[0] || g[4] == g[4] {
		t.Errorf("a body that glides has duty angle %g and pace %g, want NaN", g[0], g[4])
	}
	for f := range 250 {
		m.Clips[0].Rows[f*m.Layout.Columns()+m.Layout.Body()+feature.MotionZ] = 0.1
	}
	g := m.Footsteps(0)
	for f := range 250 {
		if g[f*5+4] != 0 || math.Abs(float64(g[f*5])-math.Pi) > 1e-6 {
			t.Fatalf("frame %d: pace %g, duty angle %g, want 0 and π", f, g[f*5+4], g[f*5])
		}
	}
}

// Every frame of a clip is learnt from, and none outside of it. Running is visited more often.
func TestWindows(t *testing.T) {
	for _, frames := range []int{30, 192, 193, 240, 700} {
		m := stepping(t, frames, 60, []int{30, 36, 30, 36}, []int{0, 4, 30, 34})
		m.normalise(1)
		m.cut(MotionOptions{Hop: 96, Fast: 2, Repeat: 3})
		learnt := make([]int, frames)
		dst := make([]float32, m.Length*m.Layout.Columns())
		for _, w := range m.Windows {
			first, end := m.Window(dst, int(w.Clip), float64(w.From), 1)
			if w.Clip != 0 {
				continue
			}
			for f := first; f < end; f++ {
				at := f + int(w.From)
				learnt[at]++
				want := (float32(5) + float32(at)/1000 - m.Mean[5]) / m.Std[5]
				if got := dst[f*m.Layout.Columns()+5]; math.Abs(float64(got-want)) > 1e-4 {
					t.Fatalf("%d frames: frame %d of the window from %d is %g, want %g", frames, f, w.From, got, want)
				}
			}
		}
		if f := slices.Index(learnt, 0); f >= 0 {
			t.Errorf("%d frames: frame %d is learnt from by no window", frames, f)
		}
		n := len(m.Windows)
		m.Windows = nil
		m.cut(MotionOptions{Hop: 96, Fast: 1, Repeat: 3})
		if len(m.Windows) != 3*n {
			t.Errorf("%d frames: %d windows, faster than 1 m/s three times as many are %d", frames, n, len(m.Windows))
		}
	}
}

// Before and after a clip its first and last row are repeated.
func TestWindowHolds(t *testing.T) {
	m := stepping(t, 50, 60, []int{30, 36, 30, 36}, []int{0, 4, 30, 34})
	m.normalise(1)
	cols := m.Layout.Columns()
	dst := make([]float32, m.Length*cols)
	m.Window(dst, 0, -24, 1)
	for _, c := range []struct{ f, like int }{{0, 24}, {23, 24}, {74, 73}, {239, 73}} {
		for i := range cols {
			if dst[c.f*cols+i] != dst[c.like*cols+i] {
				t.Fatalf("column %d of frame %d is %g, of frame %d %g", i, c.f, dst[c.f*cols+i], c.like, dst[c.like*cols+i])
			}
		}
	}
	if dst[24*cols] == dst[25*cols] {
		t.Error("the clip itself is held")
	}
}

// A window that is played faster shows places farther on, and the body goes as much faster. Played
// backward it returns the way that it came.
func TestWindowPlays(t *testing.T) {
	m := stepping(t, 300, 60, []int{30, 36, 30, 36}, []int{0, 4, 30, 34})
	m.normalise(1)
	cols, z := m.Layout.Columns(), m.Layout.Body()+feature.MotionZ
	clip := &m.Clips[0]
	for f := range clip.Frames {
		clip.Rows[f*cols], clip.Rows[f*cols+z] = float32(f)/100, float32(f)/50
	}
	dst := make([]float32, m.Length*cols)
	value := func(f, col int) float64 { return float64(dst[f*cols+col]*m.Std[col] + m.Mean[col]) }
	way := func(frames int) (sum float64) {
		for f := range frames {
			sum += value(f, z)
		}
		return sum
	}
	m.Window(dst, 0, 20, 1)
	want := way(160)
	for _, step := range []float64{0.8, 1.25, -1} {
		begin := 20.0
		if step < 0 {
			begin = 180
		}
		first, end := m.Window(dst, 0, begin, step)
		if first != m.Margin || end > m.Length-m.Margin || begin+step*float64(end-1) < 0 {
			t.Errorf("speed %g: frames %d to %d are learnt from", step, first, end)
		}
		for _, f := range []int{0, 7, 100} {
			if got, want := value(f, 0), (begin+step*float64(f))/100; math.Abs(got-want) > 1e-4 {
				t.Errorf("speed %g: frame %d is at %g, want %g", step, f, got, want)
			}
		}
		if got, want := way(int(160/math.Abs(step))), want*step/math.Abs(step); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("speed %g: the way is %g, want %g", step, got, want)
		}
	}
}

// Positions share one deviation, and contacts become −1 and 1.
func TestMotionNormalise(t *testing.T) {
	m := stepping(t, 120, 60, []int{30, 36, 30, 36}, []int{0, 4, 30, 34})
	m.normalise(2)
	if m.Std[0] != m.Std[40] || m.Std[0] == 1 {
		t.Errorf("positions have deviations %g and %g", m.Std[0], m.Std[40])
	}
	z := m.Layout.Body() + feature.MotionZ
	if m.Mean[z] != 0 || math.Abs(float64(m.Std[z])-1.2) > 1e-6 {
		t.Errorf("a constant 1.2 m/s has mean %g and deviation %g, want 0 and 1.2", m.Mean[z], m.Std[z])
	}
	if c := m.Layout.Contact(0); m.Mean[c] != 0.5 || m.Std[c] != 0.5 {
		t.Errorf("contacts have mean %g and deviation %g, want 1/2", m.Mean[c], m.Std[c])
	}
}

// CMU's recordings give the same bytes for any number of workers. Held-out ones are apart,
// and none begins with a rest pose.
func TestBuildMotionCMU(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "cmu-locomotion")
	opt := MotionOptions{Only: []string{"07_0[34]", "09_10", "131_01", "daz43_*"}, Workers: 1}
	train, heldOut := must.Get2(BuildMotion([]string{dir}, opt))(t)
	names := func(m *MotionSet) (s []string) {
		for _, c := range m.Clips {
			s = append(s, c.Name)
		}
		return s
	}
	if got := names(train); !slices.Equal(got[:len(got)/2], []string{"cmu-locomotion/07_03", "cmu-locomotion/131_01", "cmu-locomotion/daz43_143_04"}) {
		t.Errorf("to train on: %v", got)
	}
	if got := names(heldOut); !slices.Equal(got[:len(got)/2], []string{"cmu-locomotion/07_04", "cmu-locomotion/09_10"}) {
		t.Errorf("held out: %v", got)
	}
	if len(train.Warnings) > 0 {
		t.Errorf("good recordings have warnings: %v", train.Warnings)
	}
	for _, m := range []*MotionSet{train, heldOut} {
		for _, c := range m.Clips {
			for f := range c.Frames {
				row := c.Rows[f*m.Layout.Columns():]
				speed := math.Hypot(float64(row[m.Layout.Body()]), float64(row[m.Layout.Body()+1]))
				if hips := row[1]; hips < 0.3 || hips > 1.4 || speed > 6 {
					t.Fatalf("%s, frame %d: hips at %g m, body at %g m/s", c.Name, f, hips, speed)
				}
			}
		}
	}
	opt.Workers = 3
	again, _ := must.Get2(BuildMotion([]string{dir}, opt))(t)
	for c := range train.Clips {
		if !slices.Equal(train.Clips[c].Rows, again.Clips[c].Rows) {
			t.Errorf("%s differs with three workers", train.Clips[c].Name)
		}
	}
	if !slices.Equal(train.Mean, again.Mean) || !slices.Equal(train.Std, again.Std) {
		t.Error("mean or deviation differ with three workers")
	}
}

func TestBuildMotionRefuses(t *testing.T) {
	empty, odd := t.TempDir(), t.TempDir()
	bvh := "HIERARCHY\nROOT Box\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.0166667\n0 0 0\n"
	must.Do(t, os.WriteFile(filepath.Join(odd, "box.bvh"), []byte(bvh), 0o644))
	for name, c := range map[string]struct {
		dirs []string
		opt  MotionOptions
		want string
	}{
		"no folder":   {[]string{filepath.Join(empty, "none")}, MotionOptions{}, "give a folder"},
		"empty":       {[]string{empty}, MotionOptions{}, "no BVH, AMC, FBX or glTF"},
		"no profile":  {[]string{odd}, MotionOptions{}, "no profile fits"},
		"pattern":     {[]string{odd}, MotionOptions{Only: []string{"["}}, "no pattern"},
		"none wanted": {[]string{odd}, MotionOptions{Only: []string{"x*"}}, "no BVH, AMC, FBX or glTF"},
		"length":      {[]string{odd}, MotionOptions{Length: 40}, "Margin"},
		"repeat":      {[]string{odd}, MotionOptions{Repeat: -1}, "Repeat"},
	} {
		if _, _, err := BuildMotion(c.dirs, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Whole windows lie in stretches without jumps of the facing; the last ends with its stretch.
func TestWhole(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	clip := MotionClip{Name: "a", Frames: 300, Rows: make([]float32, 300*cols)}
	for f := range clip.Frames {
		clip.Rows[f*cols] = float32(f)
		clip.Rows[f*cols+l.Body()+feature.MotionYaw] = 1
	}
	clip.Rows[100*cols+l.Body()+feature.MotionYaw] = -50
	m := &MotionSet{Layout: l, Length: 61}
	m.Clips = clip.steady(l, 61)
	m.cut(MotionOptions{Whole: true, Hop: 30, Fast: 2, Repeat: 1})
	if len(m.Clips) != 2 || m.Clips[0].Frames != 80 || m.Clips[1].Frames != 180 || m.Clips[1].Rows[0] != 120 {
		t.Fatalf("%d stretches: %v", len(m.Clips), m.Clips)
	}
	want := []Window{{0, 0}, {0, 19}, {1, 0}, {1, 30}, {1, 60}, {1, 90}, {1, 119}}
	if !slices.Equal(m.Windows, want) {
		t.Errorf("windows %v, want %v", m.Windows, want)
	}
	if got := clip.steady(l, 190); len(got) != 0 {
		t.Errorf("%d stretches of 190 frames in one of 180", len(got))
	}
	// All windows of a stretch that is faster come as often as asked for.
	for f := range m.Clips[0].Frames {
		m.Clips[0].Rows[f*cols+l.Body()+feature.MotionZ] = 3
	}
	m.Windows = nil
	m.cut(MotionOptions{Whole: true, Hop: 30, Fast: 2, Repeat: 3})
	if len(m.Windows) != 2*3+5 {
		t.Errorf("%d windows, two of them three times", len(m.Windows))
	}
}

// Recordings are found below their folders, too, and skip wins over only.
func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.bvh", "a/run.BVH", "a/b/walk.amc", "a/notes.txt"} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, "set", name)), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(dir, "set", name), nil, 0o644))
	}
	names, paths, err := Recordings([]string{filepath.Join(dir, "set")}, nil, nil)
	must.Do(t, err)
	if want := []string{"set/a/b/walk", "set/a/run", "set/b"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
	names, _, err = Recordings([]string{filepath.Join(dir, "set")}, []string{"b", "run"}, []string{"set/a/*"})
	must.Do(t, err)
	if want := []string{"set/b"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if _, _, err := Recordings([]string{filepath.Join(dir, "none")}, nil, nil); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "none")+": no such file") {
		t.Errorf("error %v", err)
	}
}
