package registration

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"

	"mannequin/animsys/mar"
	"mannequin/offline/dataset"
	"mannequin/offline/retarget"
)

// ReadOptions says how Read reads recordings. Zero is right for ParseName's families.
type ReadOptions struct {
	Table    *Table                          // labels of recordings; files without a label in it, or all if it is nil, are labelled by their names
	Reading  retarget.Reading                // how the recordings are read
	Only     []string                        // patterns (path.Match) of folder/file or file names, without extension, to read; nil: all
	FPS      float64                         // frames per second of the takes; 0: 60
	Lenient  bool                            // leave out recordings without a label and list them, instead of an error
	Workers  int                             // goroutines; 0: all processors. The result does not depend on it
	Progress func(done, all int)             // called after each file, by one goroutine at a time; may be nil
	Keep     func(name string, l Label) bool // reports whether to read a recording called folder/file; nil: all
}

// Read reads the BVH and AMC recordings in dirs, each with its label, and puts them on the human
// skeleton (retarget.Human) without the frames at the start that show a rest pose. Takes are in the
// order of dirs and then of file names; their Times and Stands are nil. left lists the recordings
// that were left out for lack of a label, as folder/file.
func Read(dirs []string, opt ReadOptions) (takes []*Take, left []string, err error) {
	opt.FPS, opt.Workers = cmp.Or(opt.FPS, 60), cmp.Or(opt.Workers, runtime.GOMAXPROCS(0))
	switch {
	case !(opt.FPS >= 10 && opt.FPS <= 1000):
		return nil, nil, fmt.Errorf("registration: FPS is %g, want 10 to 1000", opt.FPS)
	case opt.Workers < 1:
		return nil, nil, fmt.Errorf("registration: Workers is %d, want at least 1", opt.Workers)
	}
	names, files, err := dataset.Recordings(dirs, opt.Only, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("registration: %w", err)
	}
	var paths []string
	for i, name := range names {
		l, skip, ok, err := label(opt.Table, name)
		switch {
		case err != nil:
			return nil, nil, err
		case !ok:
			left = append(left, name)
			continue
		case skip || opt.Keep != nil && !opt.Keep(name, l):
			continue
		}
		paths = append(paths, files[i])
		takes = append(takes, &Take{Take: mar.Take{Name: path.Base(name), Action: l.Action, Style: l.Style, Content: l.Content}, Cyclic: l.Cyclic})
	}
	switch {
	case len(left) > 0 && !opt.Lenient:
		return nil, nil, fmt.Errorf("registration: no label for %s%s: give their action and style in a table (see Table), or leave them out (Lenient)",
			strings.Join(left[:min(3, len(left))], ", "), more(len(left)-3))
	case len(takes) == 0:
		return nil, left, fmt.Errorf("registration: none of the %d recordings in %s is to be read: see Keep, and skip in the table", len(names), strings.Join(dirs, ", "))
	}
	opt.Reading.Note = nil
	sk := retarget.Human()
	var mu sync.Mutex
	done := 0
	err = dataset.Parallel(opt.Workers, len(takes), func(i int) error {
		clip, fit, err := retarget.Open(paths[i], retarget.OpenOptions{Reading: opt.Reading, Target: sk, FPS: opt.FPS, Workers: 1})
		if err != nil {
			err = fmt.Errorf("registration: %w", err)
		} else {
			takes[i].Clip, takes[i].Faults = clip, fit.Faults
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; opt.Progress != nil {
			opt.Progress(done, len(takes))
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return takes, left, nil
}

func label(t *Table, name string) (l Label, skip, ok bool, err error) {
	if t != nil {
		if l, skip, ok, err = t.Label(name); ok || err != nil {
			return l, skip, ok, err
		}
	}
	l, ok = ParseName(path.Base(name))
	return l, false, ok, nil
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// Actions returns the takes of each action, in the order in which the actions
// first appear: what to call Register with.
func Actions(takes []*Take) [][]*Take {
	var out [][]*Take
	at := map[string]int{}
	for _, t := range takes {
		k, ok := at[t.Action]
		if !ok {
			k = len(out)
			at[t.Action], out = k, append(out, nil)
		}
		out[k] = append(out[k], t)
	}
	return out
}
