package registration

import (
	"path/filepath"
	"slices"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
)

// readSet reads the takes of a set whose names fit.
func readSet(t *testing.T, set string, only ...string) []*Take {
	t.Helper()
	if testing.Short() {
		t.Skip("recordings take a while")
	}
	takes, _ := must.Get2(Read([]string{filepath.Join(mocapdata.Dir(t), set)}, ReadOptions{Only: only}))(t)
	return takes
}

// ownContacts returns the contacts detected in a take alone.
func ownContacts(t *testing.T, k *Take) []uint8 {
	t.Helper()
	b := must.Get(newBody(k.Clip))(t)
	own, _ := b.contacts()
	return own
}

// agreement returns the share of matched frames, over all pairs of takes in different
// styles, in which the contacts detected in each take alone are the same.
func agreement(t *testing.T, tl *Timeline, takes []*Take) float64 {
	t.Helper()
	own := make([][]uint8, len(takes))
	for i, k := range takes {
		own[i] = ownContacts(t, k)
	}
	same, all := 0, 0
	for i, a := range takes {
		for j, b := range takes {
			if a.Style == b.Style {
				continue
			}
			frames, marks := tl.Match(a, b)
			for f, g := range frames {
				if marks[f] {
					continue
				}
				if all++; own[i][f] == own[j][int(g+0.5)] {
					same++
				}
			}
		}
	}
	return float64(same) / float64(all)
}

// ahead returns the distance of the left foot in front of the right, m.
func ahead(k *Take) []float64 {
	out := make([]float64, k.Clip.Frames)
	model := make([]m3.Xform, k.Clip.Skel.Len())
	at := func(name string) m3.Vec3 { return model[k.Clip.Skel.Index(name)].Pos }
	for f := range out {
		k.Clip.Model(model, f)
		forward := at("LeftUpLeg").Sub(at("RightUpLeg")).Flat().Normalize(m3.V(1, 0, 0)).Cross(m3.Up)
		out[f] = float64(at("LeftFoot").Sub(at("RightFoot")).Dot(forward))
	}
	return out
}

func median(v []float64) float64 { return percentile(v, 0.5) }

// Recorded walks and runs in all styles: legs do the same at the same time.
func TestRecordedGaits(t *testing.T) {
	for _, c := range []struct {
		set      string
		only     []string
		contacts float64 // agreement
	}{
		{"xia", []string{"*_01_000"}, 0.9},
		{"xia", []string{"*_13_*"}, 0.8},
		{"bandai2", []string{"dataset-2_walk_*_00[12]"}, 0.85},
		{"bandai2", []string{"dataset-2_walk-turn-left_*_00[1-3]"}, 0.85},
		{"bandai2", []string{"dataset-2_run_*_001"}, 0.7}, // old people do not fly
		{"bandai1", []string{"dataset-1_walk-left_*_001"}, 0.8},
	} {
		if race.Enabled && c.only[0] != "*_01_000" {
			continue
		}
		takes := readSet(t, c.set, c.only...)
		for _, k := range takes {
			k.Cyclic = Unknown // to be found out
		}
		tl, rep := mustRegister(t, takes, Options{})
		checkShape(t, tl, takes, 3)
		if !rep.Cyclic || !slices.Contains([]string{"neutral", "normal"}, takes[slices.IndexFunc(takes, func(k *Take) bool { return k.Name == tl.Reference })].Style) {
			t.Errorf("%s %s: cyclic %v, reference %s", c.set, c.only, rep.Cyclic, tl.Reference)
		}
		agree := agreement(t, tl, takes)
		var two, direct []float64
		for _, r := range rep.Takes {
			two, direct = append(two, r.TwoWay), append(direct, r.Direct)
		}
		same, all := 0, 0
		legs := make([][]float64, len(takes))
		for i, k := range takes {
			legs[i] = ahead(k)
		}
		for i, a := range takes {
			for j, b := range takes {
				frames, marks := tl.Match(a, b)
				for f, g := range frames {
					if x, y := legs[i][f], legs[j][int(g+0.5)]; !marks[f] && max(x, -x) > 0.2 && max(y, -y) > 0.2 {
						if all++; x*y > 0 {
							same++
						}
					}
				}
			}
		}
		front := float64(same) / float64(max(all, 1))
		t.Logf("%s %s: %d takes, contacts agree in %.3f, the same foot in front in %.4f of %d, two ways %.2f frames, direct %.2f", c.set, c.only, len(takes), agree, front, all, median(two), median(direct))
		if agree < c.contacts || median(two) > 1 || median(direct) > 1 || all > 0 && front < 0.995 {
			t.Errorf("%s %s: contacts agree in %.3f, want %g; the same foot in front in %.4f; two ways %.2f frames, direct %.2f", c.set, c.only, agree, c.contacts, front, median(two), median(direct))
		}
	}
}

// Recorded jumps, punches, kicks and bows.
func TestRecordedActions(t *testing.T) {
	for _, c := range []struct {
		set, only string
		contacts  float64
	}{{"xia", "*_16_*", 0.85}, {"xia", "*_18_*", 0.85}, {"xia", "*_22_*", 0.85}, {"bandai1", "dataset-1_bow_*", 0.85}, {"bandai1", "dataset-1_bye_*", 0.85}} {
		if race.Enabled && c.only != "*_18_*" {
			continue
		}
		takes := readSet(t, c.set, c.only)
		for _, k := range takes {
			k.Cyclic = Unknown
		}
		tl, rep := mustRegister(t, takes, Options{})
		checkShape(t, tl, takes, 3)
		var two []float64
		for _, r := range rep.Takes {
			two = append(two, r.TwoWay)
			if r.Residual > 1 {
				t.Errorf("%s: residual %.2f", r.Name, r.Residual)
			}
		}
		agree := agreement(t, tl, takes)
		t.Logf("%s %s: %d takes, contacts agree in %.3f, two ways %.2f frames", c.set, c.only, len(takes), agree, median(two))
		if rep.Cyclic || agree < c.contacts || median(two) > 2 {
			t.Errorf("%s %s: cyclic %v, contacts agree in %.3f, two ways %.2f frames", c.set, c.only, rep.Cyclic, agree, median(two))
		}
	}
}

// A jump is in the air for a while, and a run between steps.
func TestRecordedFlights(t *testing.T) {
	for _, only := range []string{"*_13_*", "*_16_*"} {
		if race.Enabled && only != "*_13_*" {
			continue
		}
		takes := readSet(t, "xia", only)
		tl, _ := mustRegister(t, takes, Options{Rounds: 1, Alternate: 1})
		if !slices.Contains(tl.Stands, 0) || !slices.ContainsFunc(tl.Stands, func(s uint8) bool { return s != 0 }) {
			t.Errorf("%s: %v", only, tl.Stands)
		}
	}
}
