package show

import (
	"time"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

const (
	timesKept = 4 * scenes.TickRate // ticks, or frames
	// A stage gets a curve after it took minStageTime in minBusyTicks ticks: in most scenes some
	// stages do nothing.
	minStageTime = 3 * time.Microsecond
	minBusyTicks = 10
	maxStages    = 9 // the longest stages, as many as a graph has colours
	warmUpFrames = 3 // the first frames upload programs and textures: they are not measured
)

// profiler measures the duration of a scene's ticks and of a stage's frames.
type profiler struct {
	now    func() time.Duration
	stages []string
	busy   []int           // (stages) ticks that took at least minStageTime
	total  []time.Duration // (stages) over all ticks
	spent  []time.Duration // (stages) in the current tick
	stage  int             // current, −1 is none
	since  time.Duration   // start of the current stage

	began time.Duration // start of the tick
	tick  []hud.Recent  // the whole tick, then its stages; ms
	frame []hud.Recent  // interval between frames, ticks, drawing; ms
	ticks time.Duration // duration of the ticks since the last frame
	drawn time.Duration // start of the last frame
	begun int           // frames

	names  []string
	values [2][][]float32
}

var frameNames = []string{"interval", "ticks", "drawing"}

// newProfiler returns a profiler of s that reads the clock now.
func newProfiler(now func() time.Duration, s scenes.Scene) *profiler {
	t := &profiler{now: now, stage: -1}
	if traced, ok := s.(scenes.Traced); ok {
		t.stages = traced.Stages()
		traced.Trace(t.begin)
	}
	n := len(t.stages)
	t.busy, t.spent, t.total = make([]int, n), make([]time.Duration, n), make([]time.Duration, n)
	for range 1 + n {
		t.tick = append(t.tick, hud.NewRecent(timesKept))
	}
	for range frameNames {
		t.frame = append(t.frame, hud.NewRecent(timesKept))
	}
	return t
}

// begin is called when a stage begins.
func (t *profiler) begin(stage int) {
	now := t.now()
	if t.stage >= 0 {
		t.spent[t.stage] += now - t.since
	}
	t.stage, t.since = stage, now
	if stage >= len(t.stages) {
		t.stage = -1
	}
}

// beginTick is called before a tick, endTick after it.
func (t *profiler) beginTick() {
	clear(t.spent)
	t.stage, t.began = -1, t.now()
}

func (t *profiler) endTick() (all time.Duration) {
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
		if d >= minStageTime {
			t.busy[i]++
		}
	}
	return all
}

// beginFrame is called before drawing, endFrame after it.
func (t *profiler) beginFrame() {
	now := t.now()
	if t.begun++; t.settled() {
		t.frame[0].Add(ms(now - t.drawn))
		t.frame[1].Add(ms(t.ticks))
	}
	t.drawn, t.ticks = now, 0
}

func (t *profiler) endFrame() {
	if t.settled() {
		t.frame[2].Add(ms(t.now() - t.drawn))
	}
}

func (t *profiler) settled() bool { return t.begun > warmUpFrames }

// TickTime returns how long ticks took in the mean of the last second, ms, as far as they are measured: 0 before, and without Now.
func (w *Show) TickTime() (mean float32) {
	if w.times == nil {
		return 0
	}
	all := w.times.tick[0].Values()
	n := 0
	for _, v := range all[len(all)-scenes.TickRate:] {
		if m3.Finite(v) {
			mean, n = mean+v, n+1
		}
	}
	return mean / float32(max(n, 1))
}

func ms(d time.Duration) float32 { return float32(d.Seconds() * 1000) }

// graphs appends the measurements to f if hud.Times is on.
func (t *profiler) graphs(f *scenes.Frame) {
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
	for i := range t.frame {
		*pictures = append(*pictures, t.frame[i].Values())
	}
	f.Graphs = append(f.Graphs,
		hud.Graph{Title: "tick", Names: t.names, Values: *ticks, Max: axis((*ticks)[0]), Unit: "ms", Seconds: timesKept / scenes.TickRate},
		hud.Graph{Title: "frame", Names: frameNames, Values: *pictures, Max: axis((*pictures)[0]), Unit: "ms"})
}

// shown reports whether a stage has a curve.
func (t *profiler) shown(stage int) bool {
	longer := 0
	for i, d := range t.total {
		if t.busy[i] >= minBusyTicks && (d > t.total[stage] || d == t.total[stage] && i < stage) {
			longer++
		}
	}
	return t.busy[stage] >= minBusyTicks && longer < maxStages
}

// axis returns the upper end of an axis: 0.1 or more, 1, 2 or 5 times a power of ten. One in twenty
// values may lie above it.
func axis(values []float32) float32 {
	var above [3 * 6]int // number of values above each end
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
