// Package mar measures realtime style transfer (Xia, Wang, Chai and Hodgins 2015).
package mar

import (
	"context"
	"path/filepath"
	"runtime"
	"time"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics/transfer"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
	"mannequin/offline/retarget"
)

// Speed is the cost of a database and of a frame with it.
type Speed struct {
	Database string  `json:"database"`
	Frames   int     `json:"frames"`
	Classes  int     `json:"classes"`
	MiB      float64 `json:"mib"` // of memory in use by it
	transfer.Rate
}

// Far is the far input of one style.
type Far struct {
	Database string `json:"database"`
	transfer.FarScore
}

// farSeconds is the length of a far clip that is translated.
const farSeconds = 20

// costs measures the cost of a frame, and far input, with the named database or a procedural one.
func (r *Report) costs(ctx context.Context, o Options) error {
	before := heapInUse()
	var db *mar.Database
	var err error
	name := "free"
	if o.Database != "" {
		name = filepath.Base(o.Database)
		db, err = mar.Open(o.Database)
	} else {
		db, err = freeDatabase(o.Threads)
	}
	if err != nil {
		return err
	}
	mib := (heapInUse() - before) / (1 << 20)
	var clips []*skel.Clip
	takes, _, err := human.Generate(human.Options{Seed: 2, Minutes: 1, Styles: []string{"neutral"}, Workers: o.Threads})
	if err != nil {
		return err
	}
	for _, t := range takes {
		clips = append(clips, t.Clip)
	}
	label, ok := known(db, "walk", "neutral")
	if !ok {
		label, _ = known(db, db.Actions[0], db.Styles[0])
	}
	if ctx.Err() != nil {
		return eval.ErrInterrupted
	}
	if _, err := db.Rows(clips[0]); err == nil { // a database of another skeleton is not timed
		begin := time.Now()
		rate, err := transfer.Time(db, clips, label, func() float64 { return time.Since(begin).Seconds() })
		if err != nil {
			return err
		}
		r.Speed = &Speed{name, db.Frames(), len(db.Actions) * len(db.Styles), mib, rate}
	}
	for _, dir := range o.Far {
		if err := r.farFolder(ctx, db, name, dir, o.Reading); err != nil {
			return err
		}
	}
	return nil
}

// freeDatabase makes a procedural database: two takes of everything, 108,000 frames. The paper has
// 80,000.
func freeDatabase(workers int) (*mar.Database, error) {
	takes, lines, err := human.Generate(human.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	return registration.Database(takes, lines)
}

// heapInUse returns the reachable bytes.
func heapInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers release
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// farFolder translates the recordings of a folder, in turn into each style of the
// database.
func (r *Report) farFolder(ctx context.Context, db *mar.Database, name, dir string, read retarget.Reading) error {
	_, paths, err := dataset.Recordings([]string{dir}, nil, nil)
	if err != nil {
		return err
	}
	for n, path := range paths {
		if ctx.Err() != nil {
			return eval.ErrInterrupted
		}
		c, _, err := retarget.Open(path, retarget.OpenOptions{Reading: read, Target: db.Skeleton(), FPS: float64(db.FPS)})
		if err != nil {
			return err
		}
		c = c.Section(0, min(c.Frames, int(farSeconds*c.FPS)))
		s, err := transfer.Far(db, filepath.Base(path), c, n%len(db.Styles), mar.Options{})
		if err != nil {
			return err
		}
		r.Far = append(r.Far, Far{name, s})
	}
	return nil
}
