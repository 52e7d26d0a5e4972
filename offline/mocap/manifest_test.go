package mocap

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mannequin/internal/testing/mocapdata"
)

// manifestRow is one line of the data sets' own listing.
type manifestRow struct {
	path                           string // relative to the data folder
	frames, joints, ends, channels int
	fps                            float64
	roundTrip                      bool // also write it and read that
}

// manifest lists every BVH of the data sets, or skips the test.
func manifest(tb testing.TB) (dir string, rows []manifestRow) {
	dir = mocapdata.Dir(tb)
	f, err := os.Open(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		tb.Skip("no MANIFEST.tsv in the data folder: ", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	lines, err := r.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	col := map[string]int{}
	for i, n := range lines[0] {
		col[n] = i
	}
	// The folders are named after the archives, without what they leave out.
	folder := map[string]string{
		"bandai1-all": "bandai1", "bandai2-locomotion": "bandai2", "dog-bvh": "dog",
		"h21-style-clips": "h21-styles", "lafan1-locomotion-145": "lafan1", "xia-all-53.zip": "xia",
	}
	for i, l := range lines[1:] {
		num := func(name string) int {
			v, err := strconv.Atoi(l[col[name]])
			if err != nil {
				tb.Fatal(err)
			}
			return v
		}
		set := l[col["archive"]]
		if s, ok := folder[set]; ok {
			set = s
		}
		fps, err := strconv.ParseFloat(l[col["fps"]], 64)
		if err != nil {
			tb.Fatal(err)
		}
		rows = append(rows, manifestRow{filepath.Join(set, l[col["file"]]),
			num("declared"), num("joints"), num("ends"), num("channels"), fps,
			set == "odd-bvh" || i%40 == 0})
	}
	return dir, rows
}

// Every real file reads with the frames, joints, End Sites, channels and rate
// that an independent checker counted.
func TestManifest(t *testing.T) {
	dir, rows := manifest(t)
	if len(rows) < 1000 {
		t.Errorf("the manifest lists only %d files", len(rows))
	}
	var wg sync.WaitGroup
	next := make(chan manifestRow)
	for range 4 {
		wg.Go(func() {
			for row := range next {
				b, err := OpenBVH(filepath.Join(dir, row.path))
				if err != nil {
					t.Error(err)
					continue
				}
				ends := 0
				for _, e := range b.Clip.Skel.EndSite {
					if e {
						ends++
					}
				}
				got := manifestRow{row.path, b.Clip.Frames, b.Clip.Skel.Len() - ends, ends, b.NumChannels(), b.Clip.FPS, row.roundTrip}
				if math.Abs(got.fps-row.fps) < 1e-9 {
					got.fps = row.fps
				}
				if got != row {
					t.Errorf("%+v, the manifest says %+v", got, row)
				}
				if err := b.Clip.Skel.Validate(); err != nil {
					t.Errorf("%s: %v", row.path, err)
				}
				seen := map[string]bool{}
				for _, n := range b.Clip.Skel.Names {
					if seen[n] || strings.TrimSpace(n) == "" {
						t.Errorf("%s: joint name %q", row.path, n)
					}
					seen[n] = true
				}
				if row.roundTrip {
					var out bytes.Buffer
					if err := b.Write(&out); err != nil {
						t.Errorf("%s: %v", row.path, err)
						continue
					}
					again, err := ReadBVH("rewritten "+row.path, out.Bytes())
					if err != nil {
						t.Error(err)
						continue
					}
					if err := sameClip(b.Clip, again.Clip, 0, 1e-4); err != nil {
						t.Errorf("%s: %v", row.path, err)
					}
				}
			}
		})
	}
	for _, r := range rows {
		next <- r
	}
	close(next)
	wg.Wait()
}
