package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
)

// herd is a folder of three recordings: a fast circle, a slow one, and one to hold out.
func herd(t *testing.T) string {
	sk := synthSkeleton()
	return folder(t, map[string]*skel.Clip{
		"fast": circle{r: 4, w: 0.75, frames: 200}.clip(sk),
		"slow": circle{r: 2, w: -0.25, frames: 150}.clip(sk),
		"test": circle{r: 2, w: 0.5, frames: 100}.clip(sk),
		"none": circle{r: 2, w: 0.5, frames: 10}.clip(sk),
	}, map[string]Labels{
		"fast": {Frames: 200, Train: []Range{{20, 29}, {150, 199}}, Segments: walking(200).Segments},
		"slow": walking(150),
		"test": walking(100),
	})
}

func hash(m *MANN) [32]byte {
	h := sha256.New()
	for _, v := range []any{m.X, m.Y, m.Clip, m.Frame, m.Order, m.XMean, m.XStd, m.YMean, m.YStd} {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return [32]byte(h.Sum(nil))
}

func TestBuildMANN(t *testing.T) {
	dir := herd(t)
	train, held := must.Get2(BuildMANN(dir, Options{HeldOut: []string{"test"}, Workers: 1}))(t)
	if !slices.Equal(train.Clips, []string{"fast", "slow"}) || !slices.Equal(held.Clips, []string{"test"}) {
		t.Errorf("clips %v, held out %v", train.Clips, held.Clips)
	}
	// Frames 20–29 and 150–198 of one, 1–148 of the other: the last frame has
	// none after it, the first none before.
	if want := 2 * (10 + 49 + 148); train.Rows != want || held.Rows != 2*98 {
		t.Errorf("%d rows, %d held out, want %d and %d", train.Rows, held.Rows, want, 2*98)
	}
	if train.Frame[0] != 20 || train.Frame[9] != 29 || train.Frame[10] != 150 || train.Frame[59] != 1 || train.Clip[59] != 1 {
		t.Error("rows are not clip by clip, frame by frame")
	}
	// The fast circle runs at 3 m/s: 59 rows and their mirror images, 11 times.
	if want := 11*2*59 + 4*2*148; len(train.Order) != want || !slices.IsSorted(train.Order) {
		t.Errorf("an epoch visits %d rows, want %d", len(train.Order), want)
	}
	in, out, _ := train.Layout.MirrorColumns()
	x, y := make([]float32, len(in)), make([]float32, len(out))
	for r := range train.Rows / 2 {
		feature.Mirror(x, train.Input(r+train.Rows/2), in)
		feature.Mirror(y, train.Output(r+train.Rows/2), out)
		if !slices.Equal(x, train.Input(r)) || !slices.Equal(y, train.Output(r)) {
			t.Fatalf("row %d mirrored twice is not itself", r)
		}
	}
	for _, c := range in {
		if c.Sign < 0 && int(c.From) < train.Layout.InBone(0) && !(math.Abs(float64(train.XMean[c.From])) <= 1e-6) {
			t.Errorf("mean of column %d is %g: left and right are not balanced", c.From, train.XMean[c.From])
		}
	}
	if train.XStd[train.Layout.InSample(feature.TrajNow)+feature.SamplePos] != 1 {
		t.Error("a constant column's deviation is not one")
	}

	again, heldAgain := must.Get2(BuildMANN(dir, Options{HeldOut: []string{"test"}, Workers: 4}))(t)
	if hash(train) != hash(again) || hash(held) != hash(heldAgain) {
		t.Error("four workers and one give different rows")
	}
}

// A row is repeated if its label is a move and the second around it is fast.
func TestOnlyFastMovesRepeat(t *testing.T) {
	// Straight ahead at 1 m/s, from frame 200 on at 3 m/s, a jump in the end.
	const frames, faster, jump = 400, 200, 320
	c := skel.NewClip(synthSkeleton(), 60, frames)
	still := circle{r: 1, w: 1e-9, frames: 1}.clip(c.Skel)
	z := 0.0
	for f := range frames {
		pos, rot := c.Frame(f)
		p, r := still.Frame(0)
		copy(pos, p)
		copy(rot, r)
		if pos[0].Z = float32(z); f < faster {
			z += 1. / 60
		} else {
			z += 3. / 60
		}
	}
	dir := folder(t, map[string]*skel.Clip{"a": c}, map[string]Labels{"a": {Frames: frames, Train: []Range{{100, frames - 40}},
		Segments: map[string][]Range{"Walk": {{0, jump - 1}}, "Jump": {{jump, frames - 1}}}}})
	set, _ := must.Get2(BuildMANN(dir, Options{HeldOut: []string{}, Walk: 3}))(t)
	visits := make([]int, set.Rows)
	for _, r := range set.Order {
		visits[r]++
	}
	for r, n := range visits {
		// The mean over [f−30, f+30) is 1.5 if a quarter of it is fast, at
		// f = faster − 15. The ramp's middle is between the two actions' frames.
		want, f := 1, int(set.Frame[r])
		switch {
		case f < faster-15:
			want = 3
		case f < jump:
			want = 11
		}
		if n != want {
			t.Errorf("row of frame %d, mirrored %v: %d visits, want %d", f, r >= set.Rows/2, n, want)
		}
	}
}

func TestReplayKeepsBones(t *testing.T) {
	set, _ := must.Get2(BuildMANN(herd(t), Options{HeldOut: []string{"test"}}))(t)
	run := set.Runs()[0]
	c := set.Replay(run[0], run[1])
	if c.FPS != fps || c.Frames != run[1]-run[0] {
		t.Errorf("%d frames at %g per second", c.Frames, c.FPS)
	}
	for f := range c.Frames {
		if pos, _ := c.Frame(f); !slices.Equal(pos[1:], set.Skeleton.Offsets[1:]) {
			t.Fatalf("frame %d: bones have other lengths", f)
		}
	}
}

// The pose that a row's output holds is the next row's input, bit for bit:
// what the run-time recursion relies on.
func TestOutputPoseIsNextInputPose(t *testing.T) {
	for _, stride := range []int{1, 3} {
		testOutputPoseIsNextInputPose(t, stride)
	}
}

func testOutputPoseIsNextInputPose(t *testing.T, stride int) {
	layout := feature.Dog()
	layout.Phases, layout.Stride = true, stride
	train, _ := must.Get2(BuildMANN(herd(t), Options{Layout: layout, HeldOut: []string{"test"}}))(t)
	m, seen := train.Layout, 0
	for r := range train.Rows - 1 {
		if train.Frame[r+1] != train.Frame[r]+int32(stride) || train.Clip[r+1] != train.Clip[r] {
			continue
		}
		seen++
		if !slices.Equal(train.Output(r)[m.OutBone(0):m.OutRoot()], train.Input(r + 1)[m.InBone(0):]) {
			t.Fatalf("row %d", r)
		}
	}
	// Each of three ranges has a run per frame of the stride, and its mirror image.
	if ends := 2 * stride * 3; seen != train.Rows-ends {
		t.Errorf("stride %d: of %d rows %d lead to the next, want all but %d", stride, train.Rows, seen, ends)
	}
}

func TestMeanStd(t *testing.T) {
	// Two columns: 0…n−1, and a constant that float32 holds inexactly.
	const n = 3*blockRows + 5
	x := make([]float32, 2*n)
	for r := range n {
		x[2*r], x[2*r+1] = float32(r), 0.1
	}
	for _, workers := range []int{1, 3} {
		mean, std := meanStd(x, 2, workers)
		near(t, "mean", mean, 1e-2, (n-1)/2.0, 0.1)
		near(t, "std", std, 1e-2, math.Sqrt((n*n-1)/12.0), 1) // one for the constant
	}
}

func TestBuildMANNErrors(t *testing.T) {
	write := func(t *testing.T, path, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	labels := func(dir string) string { return filepath.Join(dir, LabelsFile) }
	one := `{"slow": {"frames": 150, "train_range_0based": [[0, 149]], "segments_0based_inclusive": {"Walk": [[0, 149]]}}}`
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string) string // returns the folder to read
		opt   Options
		want  string
	}{
		"no folder":    {func(t *testing.T, dir string) string { return filepath.Join(dir, "gone") }, Options{}, "gone"},
		"not a folder": {func(t *testing.T, dir string) string { return labels(dir) }, Options{}, "not a folder"},
		"no labels":    {func(t *testing.T, dir string) string { os.Remove(labels(dir)); return dir }, Options{}, "labels.json"},
		"no recording": {func(t *testing.T, dir string) string { os.Remove(filepath.Join(dir, "slow.bvh")); return dir }, Options{}, `labels recording "slow"`},
		"a path as name": {func(t *testing.T, dir string) string {
			write(t, labels(dir), strings.Replace(one, "slow", "../slow", 1))
			return dir
		}, Options{}, "not the name of a recording"},
		"wrong frame count": {func(t *testing.T, dir string) string {
			write(t, labels(dir), strings.ReplaceAll(one, "150", "151"))
			return dir
		}, Options{}, "has 150 frames, its labels in labels.json are for 151"},
		"labels are a folder": {func(t *testing.T, dir string) string {
			os.Remove(labels(dir))
			os.Mkdir(labels(dir), 0o755)
			return dir
		}, Options{}, "labels.json: not a regular file"},
		"too many labels": {func(t *testing.T, dir string) string {
			must.Do(t, os.Truncate(labels(dir), maxLabels+1))
			return dir
		}, Options{}, "at most 16777216 are read"},
		"another rate": {func(t *testing.T, dir string) string {
			b, _ := os.ReadFile(filepath.Join(dir, "slow.bvh"))
			_, after, _ := strings.Cut(string(b), "Frame Time: ")
			old, _, _ := strings.Cut(after, "\n")
			write(t, filepath.Join(dir, "slow.bvh"), strings.Replace(string(b), old, "0.00833333", 1))
			return dir
		}, Options{}, "slow.bvh: 120 frames per second, want 60"},
		"unlabelled frame": {func(t *testing.T, dir string) string {
			write(t, labels(dir), strings.Replace(one, `[[0, 149]]}`, `[[0, 99]]}`, 1))
			return dir
		}, Options{}, "frame 100 has no label"},
		"truncated labels": {func(t *testing.T, dir string) string { write(t, labels(dir), one[:60]); return dir }, Options{}, "labels.json: line 1: "},
		"truncated recording": {func(t *testing.T, dir string) string {
			b, _ := os.ReadFile(filepath.Join(dir, "slow.bvh"))
			write(t, filepath.Join(dir, "slow.bvh"), string(b[:len(b)/2]))
			return dir
		}, Options{}, "slow.bvh"},
		"missing joint": {func(t *testing.T, dir string) string {
			b, _ := os.ReadFile(filepath.Join(dir, "slow.bvh"))
			write(t, filepath.Join(dir, "slow.bvh"), strings.Replace(string(b), "JOINT Tail1", "JOINT Tail2", 1))
			return dir
		}, Options{}, `slow: the skeleton has no joint "Tail1"`},
		"another skeleton": {func(t *testing.T, dir string) string {
			sk := synthSkeleton()
			sk.Offsets[sk.Index("Tail1")].X *= 2
			return folder(t, map[string]*skel.Clip{
				"a": circle{r: 2, w: 0.5, frames: 10}.clip(sk), "b": circle{r: 2, w: 0.5, frames: 10}.clip(synthSkeleton()),
			}, map[string]Labels{"a": walking(10), "b": walking(10)})
		}, Options{HeldOut: []string{}}, "joint Tail1 lies 0.12 m from"},
		"another tree": {func(t *testing.T, dir string) string {
			b, _ := os.ReadFile(filepath.Join(dir, "slow.bvh"))
			// Its tail hangs on the head, as far from it as elsewhere from the hips.
			head, tail, ok := strings.Cut(string(b), "JOINT Tail\n")
			if !ok {
				t.Fatal("no tail")
			}
			at := strings.LastIndex(strings.TrimRight(tail, " \n"), "MOTION")
			end := strings.LastIndex(tail[:at], "}") // the root's
			spot := strings.Index(head, "End Site")
			write(t, filepath.Join(dir, "slow.bvh"), head[:spot]+"JOINT Tail\n"+tail[:end]+head[spot:]+tail[end:])
			return dir
		}, Options{}, "slow: joint Tail hangs on Head, in fast on Hips"},
		"metres":      {func(t *testing.T, dir string) string { return dir }, Options{Unit: 1}, "long, with 1 m to a unit"},
		"millimetres": {func(t *testing.T, dir string) string { return dir }, Options{Unit: 1e-4}, "scale the files"},
		"lopsided skeleton": {func(t *testing.T, dir string) string {
			sk := synthSkeleton()
			sk.Offsets[sk.Index("LeftLeg")].X += 0.05
			return folder(t, map[string]*skel.Clip{"a": circle{r: 2, w: 0.5, frames: 10}.clip(sk)}, map[string]Labels{"a": walking(10)})
		}, Options{HeldOut: []string{}}, "joint LeftLeg is 0.05 m off the mirror image of RightLeg"},
		"unknown held out": {func(t *testing.T, dir string) string { return dir }, Options{HeldOut: []string{"wolf"}}, `"wolf"`},
		"nothing left":     {func(t *testing.T, dir string) string { return dir }, Options{HeldOut: []string{"fast", "slow", "test"}}, "no row is left"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.opt.HeldOut == nil {
				c.opt.HeldOut = []string{"test"}
			}
			dir := c.spoil(t, herd(t))
			_, _, err := BuildMANN(dir, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Small differences between the sides are averaged away.
func TestSidesAreAveraged(t *testing.T) {
	sk := synthSkeleton()
	left, right := sk.Index("LeftLeg"), sk.Index("RightLeg")
	length := sk.Offsets[left].X
	sk.Offsets[left].X += 0.004
	dir := folder(t, map[string]*skel.Clip{"a": circle{r: 2, w: 0.5, frames: 10}.clip(sk)}, map[string]Labels{"a": walking(10)})
	set, _ := must.Get2(BuildMANN(dir, Options{HeldOut: []string{}}))(t)
	near(t, "both sides", []float32{set.Skeleton.Offsets[left].X, set.Skeleton.Offsets[right].X}, 1e-5, float64(length)+0.002, float64(length)+0.002)
}

// Only the authors' recordings have a default for the ones to hold out.
func TestHeldOutMustBeNamed(t *testing.T) {
	dir := herd(t)
	want := "name some as held_out in " + filepath.Join(dir, SourceFile)
	if _, _, err := BuildMANN(dir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if _, held, err := BuildMANN(dir, Options{HeldOut: []string{}}); err != nil || held.Rows != 0 {
		t.Errorf("with nothing held out: %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"Unit": {Unit: -1}, "Ramp": {Ramp: -1}, "Fast": {Fast: math.NaN()}, "Repeat": {Repeat: -1}, "Workers": {Workers: -1},
		"tip": {Layout: &feature.MANN{Joints: []string{"Hips"}, Tips: []string{"Paw"}, Actions: []string{"idle"}}},
	} {
		if _, _, err := BuildMANN("nowhere", o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
