package show

import (
	"time"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

const (
	timesKept = 4 * scenes.TickRate // ticks, or pictures
	// A stage is shown once it has taken that long in so many ticks: most scenes have
	// stages that have nothing to do.
	worthTime  = 3 * time.Microsecond
	worthTicks = 10
	mostStages = 9 // that are shown, those that take longest: there are so many colours
	settling   = 3 // pictures, the first, in which programs and pictures come to the GPU: no times are kept
)

// times measures how long a scene's ticks and a stage's pictures take.
type times struct {
	now    func() time.Duration
	stages []string
	busy   []int           // (stages) ticks in which it was worth showing
	total  []time.Duration // (stages) in all ticks
	spent  []time.Duration // (stages) in the tick under way
	stage  int             // under way, −1 is none,
	since  time.Duration   // and since when

	began   time.Duration // the tick
	tick    []hud.Recent  // all of it, and its stages; ms
	picture []hud.Recent  // from the last to this one, its ticks, and to draw it; ms
	ticks   time.Duration // what those since the last picture took
	drawn   time.Duration // when the last picture began
	begun   int           // pictures

	names  []string
	values [2][][]float32
}

var pictureNames = []string{"from one to the next", "its ticks", "to draw it"}

// newTimes returns those of s by a clock.
func newTimes(now func() time.Duration, s scenes.Scene) *times {
	t := &times{now: now, stage: -1}
	if traced, ok := s.(scenes.Traced); ok {
		t.stages = traced.Stages()
		traced.Trace(t.begin)
	}
	n := len(t.stages)
	t.busy, t.spent, t.total = make([]int, n), make([]time.Duration, n), make([]time.Duration, n)
	for range 1 + n {
		t.tick = append(t.tick, hud.NewRecent(timesKept))
	}
	for range pictureNames {
		t.picture = append(t.picture, hud.NewRecent(timesKept))
	}
	return t
}

// begin is called as a stage begins.
func (t *times) begin(stage int) {
	now := t.now()
	if t.stage >= 0 {
		t.spent[t.stage] += now - t.since
	}
	t.stage, t.since = stage, now
	if stage >= len(t.stages) {
		t.stage = -1
	}
}

// beginTick and endTick are called around a tick.
func (t *times) beginTick() {
	clear(t.spent)
	t.stage, t.began = -1, t.now()
}

func (t *times) endTick() (all time.Duration) {
	all = t.now() - t.began
	t.ticks += all
	if t.settled() {
		t.tick[0].Add(ms(all))
	}
	for i, d := range t.spent {
		t.total[i] += d
		if t.settled() {
			t.tick[1+i].Add(ms(d))
		}
		if d >= worthTime {
			t.busy[i]++
		}
	}
	return all
}

// beginPicture and endPicture are called around a picture.
func (t *times) beginPicture() {
	now := t.now()
	if t.begun++; t.settled() {
		t.picture[0].Add(ms(now - t.drawn))
		t.picture[1].Add(ms(t.ticks))
	}
	t.drawn, t.ticks = now, 0
}

func (t *times) endPicture() {
	if t.settled() {
		t.picture[2].Add(ms(t.now() - t.drawn))
	}
}

func (t *times) settled() bool { return t.begun > settling }

func ms(d time.Duration) float32 { return float32(d.Seconds() * 1000) }

// graphs appends what was measured to f, where it is asked for.
func (t *times) graphs(f *scenes.Frame) {
	f.Has |= hud.Times
	if f.Show&hud.Times == 0 {
		return
	}
	ticks, pictures := &t.values[0], &t.values[1]
	t.names, *ticks, *pictures = append(t.names[:0], "all"), append((*ticks)[:0], t.tick[0].Values()), (*pictures)[:0]
	for i, n := range t.stages {
		if t.shown(i) {
			t.names, *ticks = append(t.names, n), append(*ticks, t.tick[1+i].Values())
		}
	}
	for i := range t.picture {
		*pictures = append(*pictures, t.picture[i].Values())
	}
	f.Graphs = append(f.Graphs,
		hud.Graph{Title: "a tick", Names: t.names, Values: *ticks, Max: axis((*ticks)[0]), Unit: "ms", Seconds: timesKept / scenes.TickRate},
		hud.Graph{Title: "a picture", Names: pictureNames, Values: *pictures, Max: axis((*pictures)[0]), Unit: "ms"})
}

// shown reports whether a stage has a curve.
func (t *times) shown(stage int) bool {
	longer := 0
	for i, d := range t.total {
		if t.busy[i] >= worthTicks && (d > t.total[stage] || d == t.total[stage] && i < stage) {
			longer++
		}
	}
	return t.busy[stage] >= worthTicks && longer < mostStages
}

// axis returns the end of an axis that values fit on, but for one in twenty, which sticks
// out: 0.1 or more, 1, 2 or 5 times a power of ten.
func axis(values []float32) float32 {
	var above [3 * 6]int // how many values are above each end
	known := 0
	for _, v := range values {
		if !m3.Finite(v) {
			continue
		}
		known++
		end := float32(leastAxis)
		for i := 0; i < len(above) && v > end; i++ {
			above[i]++
			end *= axisSteps[i%3]
		}
	}
	end := float32(leastAxis)
	for i := 0; i < len(above) && above[i] > known/20; i++ {
		end *= axisSteps[i%3]
	}
	return end
}

const leastAxis = 0.1 // ms

var axisSteps = [...]float32{2, 2.5, 2}
