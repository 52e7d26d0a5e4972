package clipset

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
)

// numbered writes the clips of made dogs under names that say nothing.
func numbered(t testing.TB) string {
	clips := map[string]*skel.Clip{}
	for i, k := range made(t) {
		clips[fmt.Sprintf("T%02d", i)] = k.Clip
	}
	return folder(t, clips)
}

// mostlyShows returns the action of most moments of a cluster, and its share.
func mostlyShows(s *Set, c *Cluster) (action string, share float64) {
	var all Clip
	for _, m := range c.Moments {
		all.Actions = append(all.Actions, s.Clips[m.Clip].Actions[m.From:m.To]...)
	}
	action = all.mostly()
	n := 0
	for _, a := range all.Actions {
		if a == action {
			n++
		}
	}
	return action, float64(n) / float64(max(len(all.Actions), 1))
}

// Moments of clips without telling names are in groups of one posture each. A group that is named gives all its moments that
// action, of all clips, and nothing else. What is written again is the same.
func TestClusters(t *testing.T) {
	dir := numbered(t)
	s := must.Get(Open(dir, Options{}))(t)
	all := s.Clusters()
	if len(all) < 3 || len(all) > clusters {
		t.Fatalf("%d groups", len(all))
	}
	sits := -1
	for i, c := range all {
		a, share := mostlyShows(s, &c)
		t.Logf("%s: %d moments, %.0f %% %s", c.Name, len(c.Moments), 100*share, a)
		if share < 0.7 {
			t.Errorf("%s: %.0f %% show %s", c.Name, 100*share, a)
		}
		if sits < 0 && a == "sit" {
			sits = i
		}
		if c.Action != Auto {
			t.Errorf("%s has the action %q", c.Name, c.Action)
		}
	}
	if sits < 0 {
		t.Fatal("no group sits")
	}
	var b strings.Builder
	must.Do(t, s.WriteLabels(&b))
	labels := must.Get(ReadLabels("labels.toml", []byte(b.String())))(t)
	if len(labels.Clusters) != len(all) {
		t.Fatalf("%d groups are written of %d:\n%s", len(labels.Clusters), len(all), b.String())
	}
	labels.Clusters[all[sits].Name] = "beg"
	for n := range labels.Clips {
		labels.Clips[n] = Auto
	}
	e := must.Get(Open(dir, Options{Labels: labels}))(t)
	beg := map[Moment]bool{}
	for _, m := range all[sits].Moments {
		beg[m] = true
		for f := m.From; f < m.To; f++ {
			if a := e.Clips[m.Clip].Actions[f]; a != "beg" {
				t.Fatalf("frame %d of %s shows %s", f, e.Clips[m.Clip].Name, a)
			}
		}
	}
	for _, m := range s.moments {
		for f := m.From; f < m.To; f++ {
			if a := e.Clips[m.Clip].Actions[f]; !beg[m] && a != s.Clips[m.Clip].Actions[f] {
				t.Fatalf("frame %d of %s shows %s, before %s", f, e.Clips[m.Clip].Name, a, s.Clips[m.Clip].Actions[f])
			}
		}
	}
	if d := must.Get(e.Database())(t); true {
		if _, ok := d.Action("beg"); !ok {
			t.Errorf("a goal cannot ask for beg, of the tags %v", d.Tags)
		}
	}
	var again strings.Builder
	must.Do(t, e.WriteLabels(&again))
	twice := must.Get(ReadLabels("labels.toml", []byte(again.String())))(t)
	for n, a := range labels.Clusters {
		if twice.Clusters[n] != a {
			t.Errorf("written again, the group %s is %q, want %q", n, twice.Clusters[n], a)
		}
	}
	// Clips whose names say what they show have no groups, nor clips with labels.
	if all := pack(t).Clusters(); len(all) != 0 {
		t.Errorf("%d groups of clips with names", len(all))
	}
	for n := range labels.Clips {
		labels.Clips[n] = "move"
	}
	if all := must.Get(Open(dir, Options{Labels: Labels{Clips: labels.Clips}}))(t).Clusters(); len(all) != 0 {
		t.Errorf("%d groups of clips with labels", len(all))
	}
}

func TestClustersRefuse(t *testing.T) {
	dir := numbered(t)
	for want, c := range map[string][2]string{
		"mean \"sit\"":         {"T00 @ 0.50", "Sit"},
		"is empty":             {"T00 @ 0.50", ""},
		"cannot be left out":   {"T00 @ 0.50", Skip},
		"and a second in it":   {"T00", "sit"},
		"a second from 0 to":   {"T00 @ 5000", "sit"},
		"second from 0 to":     {"T00 @ NaN", "sit"},
		"; did you mean T00?":  {"T00x @ 1", "sit"},
		"is of a clip that is": {"nothing @ 1", "sit"},
	} {
		_, err := Open(dir, Options{Labels: Labels{Clusters: map[string]string{c[0]: c[1]}}})
		must.FailWith(t, err, want)
	}
	// Groups of clips that are not asked for do no harm.
	must.Get(Open(dir, Options{Only: []string{"T00", "T01"}, Labels: Labels{Clusters: map[string]string{"T02 @ 1": "sit"}}}))(t)
}

// Of the paper's recordings, most moments of a group show one action, and a dozen names make labels as good as those that are found.
func TestClustersRecorded(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	var authors map[string]dataset.Labels
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, dataset.LabelsFile)))(t), &authors))
	s := must.Get(Open(dir, Options{}))(t)
	agree := func(s *Set) (share float64) {
		same, n := 0, 0
		for _, c := range s.Clips {
			for f, a := range authors[c.Name].Actions() {
				if f >= len(c.Actions) {
					break
				}
				if a == "" {
					continue
				}
				if n++; a == c.Actions[f] {
					same++
				}
			}
		}
		return float64(same) / float64(n)
	}
	labels, pure, frames := Labels{Clusters: map[string]string{}}, 0, 0
	for _, c := range s.Clusters() {
		count := map[string]int{}
		for _, m := range c.Moments {
			clip := &s.Clips[m.Clip]
			truth := authors[clip.Name].Actions()
			for f := m.From; f < min(m.To, len(truth)); f++ {
				if truth[f] != "" { // labelled
					count[truth[f]]++
					frames++
				}
			}
		}
		if len(count) == 0 {
			continue
		}
		best := ""
		for a, n := range count {
			if best == "" || n > count[best] || n == count[best] && a < best {
				best = a
			}
		}
		labels.Clusters[c.Name], pure = best, pure+count[best]
	}
	before, after := agree(s), agree(must.Get(Open(dir, Options{Labels: labels}))(t))
	purity := float64(pure) / float64(frames)
	t.Logf("%d groups of %d frames, %.1f %% of which show what most of their group do; labels agree in %.1f %% of frames, with groups named %.1f %%",
		len(labels.Clusters), frames, 100*purity, 100*before, 100*after)
	if purity < 0.85 || after < before-0.005 {
		t.Errorf("%.3f of frames show what most of their group do; labels agree in %.3f of frames, before in %.3f", purity, after, before)
	}
}
