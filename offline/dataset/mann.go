package dataset

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
)

// DogHeldOut names the six recordings of the authors' dog set that training must not see,
// for measuring the loss on unseen motion. They hold every action and gait in 11 % of the
// rows. Recordings that are the only ones of something stay in training: the turns on the
// spot of 047_KAN01_001, and the canters at the controller's 3.5 m/s of 010_KAN01_001.
var DogHeldOut = []string{
	"D1_006_KAN01_001",  // sit_stand03: idle, sit, lie
	"D1_009_KAN01_001",  // walk03: idle, walk into a trot of 1.9 m/s
	"D1_010_KAN01_002",  // run01: a canter of 4 m/s, half a second
	"D1_047z_KAN01_003", // hop00: slow walk with turns, idle, sit; the shortest of three recordings that stand
	"D1_ex01_KAN01_001", // walk14: idle, pace of 1.1 m/s
	"D1_ex04_KAN02_001", // stepup_jump0: idle, trot, jump
}

// Options says how BuildMANN reads a folder. Zero is right for the authors' dog.
type Options struct {
	Layout  *feature.MANN // nil: feature.Dog()
	HeldOut []string      // recordings, by file name without .bvh, that training must not see; nil: as the folder's SourceFile says, else DogHeldOut if they are there
	Unit    float32       // metres per unit of the files; 0: 0.01 (centimetres)
	Ramp    int           // frames from the end of a labelled run to its key; 0: 15 (a quarter of a second)
	Fast    float64       // a moving row at this speed or faster is trot or canter, m/s; 0: 1.5, midway between the paper's pace (1.1) and trot (1.9)
	Repeat  int           // visits per epoch of a trot or canter row; 0: as the folder's SourceFile says, else 11
	Walk    int           // visits per epoch of any other row that mostly moves; 0: a third of Repeat, rounded up
	Reverse bool          // also train on slow walks backward in time: recorded dogs hardly ever back up
	Workers int           // goroutines; 0: all processors. The result does not depend on it
}

func (o Options) withDefaults(src *Source) Options {
	if src != nil {
		o.Repeat = cmp.Or(o.Repeat, src.Repeat)
		if o.HeldOut == nil {
			o.HeldOut = append([]string{}, src.HeldOut...)
		}
	}
	o.Layout = cmp.Or(o.Layout, feature.Dog())
	o.Unit = cmp.Or(o.Unit, 0.01)
	o.Ramp = cmp.Or(o.Ramp, 15)
	o.Fast = cmp.Or(o.Fast, 1.5)
	o.Repeat = cmp.Or(o.Repeat, 11)
	o.Walk = cmp.Or(o.Walk, (o.Repeat+2)/3)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	return o
}

func (o Options) check() error {
	switch {
	case !(o.Unit > 0):
		return fmt.Errorf("dataset: Unit is %g m, want more than 0", o.Unit)
	case o.Ramp < 0:
		return fmt.Errorf("dataset: Ramp is %d frames, want 0 or more", o.Ramp)
	case !(o.Fast > 0):
		return fmt.Errorf("dataset: Fast is %g m/s, want more than 0", o.Fast)
	case o.Repeat < 1:
		return fmt.Errorf("dataset: Repeat is %d, want at least 1", o.Repeat)
	case o.Walk < 1:
		return fmt.Errorf("dataset: Walk is %d, want at least 1", o.Walk)
	case o.Workers < 1:
		return fmt.Errorf("dataset: Workers is %d, want at least 1", o.Workers)
	}
	return o.Layout.Validate()
}

// MANN is a set of rows for a mode-adaptive network, as the package comment describes.
type MANN struct {
	Layout   *feature.MANN
	Skeleton *skel.Skeleton // of the rows' poses; metres
	Source   *Source        // the folder's description; nil if it has none

	Rows int       // even: row r + Rows/2 is the mirror image of row r
	X    []float32 // (Rows, Layout.Inputs()) raw
	Y    []float32 // (Rows, Layout.Outputs()) raw

	Clips    []string // recordings' names, in the order of their rows
	Reversed int      // how many of Clips, the last ones, are others backward in time (Options.Reverse)
	Clip     []int32  // (Rows) index into Clips
	Frame    []int32  // (Rows) the frame i of the recording

	Order []int32 // the rows of an epoch, ascending: every row once, trot and canter Repeat times, other motion Walk times; see also FromClips

	Warnings []Warning // of all recordings, in a training set alone

	// Mean and standard deviation per column over all training rows, each counted once, as in the
	// authors' release: as Order visits them, canters would treble every velocity's spread. A
	// constant column's deviation is one. A held-out set has its training set's.
	XMean, XStd []float32
	YMean, YStd []float32
}

// Input returns row r of X.
func (m *MANN) Input(r int) []float32 {
	n := m.Layout.Inputs()
	return m.X[r*n : (r+1)*n : (r+1)*n]
}

// Output returns row r of Y.
func (m *MANN) Output(r int) []float32 {
	n := m.Layout.Outputs()
	return m.Y[r*n : (r+1)*n : (r+1)*n]
}

// BuildMANN reads dir/labels.json and the BVH files that it names, and returns
// the rows to train on and those of opt.HeldOut. Files without labels are left
// out. Equal input gives equal bytes for any number of workers.
func BuildMANN(dir string, opt Options) (train, heldOut *MANN, err error) {
	if err := opt.withDefaults(nil).check(); err != nil {
		return nil, nil, err
	}
	if st, err := os.Stat(dir); err != nil {
		return nil, nil, fmt.Errorf("dataset: %w: give the folder of the unpacked recordings", err)
	} else if !st.IsDir() {
		return nil, nil, fmt.Errorf("dataset: %s is not a folder: give the folder of the unpacked recordings", dir)
	}
	src, err := ReadSource(dir)
	if err != nil {
		return nil, nil, err
	}
	opt = opt.withDefaults(src)
	recs, err := readRecordings(dir, opt)
	if err != nil {
		return nil, nil, err
	}
	sk, err := canonical(opt.Layout, recs, opt.Unit)
	if err != nil {
		return nil, nil, err
	}
	seen, unseen, err := opt.split(dir, recs)
	if err != nil {
		return nil, nil, err
	}
	forward := len(seen)
	if opt.Reverse {
		if seen, err = withReversed(seen, sk, opt); err != nil {
			return nil, nil, err
		}
	}
	if train, err = buildRows(sk, seen, opt); err != nil {
		return nil, nil, err
	}
	train.Reversed = len(seen) - forward
	if train.Rows == 0 {
		return nil, nil, fmt.Errorf("dataset: %s: no row is left to train on: every recording is held out or has no train range", dir)
	}
	if heldOut, err = buildRows(sk, unseen, opt); err != nil {
		return nil, nil, err
	}
	train.Source, heldOut.Source = src, src
	for _, r := range recs {
		train.Warnings = append(train.Warnings, r.warnings...)
	}
	train.Warnings = append(train.Warnings, train.unseen(heldOut)...)
	train.normalise(heldOut, opt.Workers)
	return train, heldOut, nil
}

// split returns the recordings to train on, and those to hold out.
func (o Options) split(dir string, recs []recording) (seen, unseen []recording, err error) {
	named := func(name string) bool {
		return slices.ContainsFunc(recs, func(r recording) bool { return r.name == name })
	}
	held := o.HeldOut
	if held == nil {
		if held = DogHeldOut; !named(held[0]) {
			return nil, nil, fmt.Errorf("dataset: nothing says which recordings to hold back from training: name some as held_out in %s", filepath.Join(dir, SourceFile))
		}
	}
	for _, h := range held {
		if !named(h) {
			return nil, nil, fmt.Errorf("dataset: recording %q, which is to be held out, is not in %s", h, filepath.Join(dir, LabelsFile))
		}
	}
	for _, r := range recs {
		if slices.Contains(held, r.name) {
			unseen = append(unseen, r)
		} else {
			seen = append(seen, r)
		}
	}
	return seen, unseen, nil
}
