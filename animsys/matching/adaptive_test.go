package matching_test

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/netruntime"
)

// A mode-adaptive network that does not fit is refused with what is wrong.
func TestAdaptiveRefused(t *testing.T) {
	a := testmatching.Adaptive(t)
	refused(t, &matching.File{Adaptive: a}, map[string]change{
		"greatest of": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"fastest":[`, `"fastest":[1,`)
		},
		"mode-adaptive network: ": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return slices.DeleteFunc(a, func(t netruntime.Tensor) bool { return t.Name == "adaptive.y_std" })
		},
		"schema": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"Schema":"{`, `"Schema":"`)
		},
		"another skeleton": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			m.Skeleton = strings.Replace(m.Skeleton, `"offsets":[[`, `"offsets":[[1`, 1)
			return a
		},
		"unknown array": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return append(a, netruntime.Tensor{Name: "more", Shape: []int{1}, Data: []float32{1}})
		},
	})
	if _, err := matching.NewAdaptive(testmatching.Dogs(t), a.Model()); err == nil || !strings.Contains(err.Error(), "another skeleton") {
		t.Errorf("a person's network is a dog's: %v", err)
	}
}

// A tick of the network allocates nothing.
func TestAdaptiveAllocates(t *testing.T) {
	const n = 50
	s := must.Get(testmatching.Adaptive(t).NewStream(matching.StreamOptions{Capacity: n, Workers: 2}))(t)
	defer s.Close()
	p := testgen.Play(s, testmatching.People(t).Skel.Len())
	for range n {
		must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: 2}))(t)
	}
	must.Do(t, p.Tick(n))
	strides, frozen := slices.Repeat([]uint8{1}, n), make([]bool, n)
	if times := testing.AllocsPerRun(50, func() {
		s.Select(strides)
		s.Plan(0, n)
		s.Gather(0, n)
		must.Do(t, s.Infer())
		s.Scatter(0, n)
		must.Do(t, s.Generate(frozen))
		s.Sample(p.Poses(), 0, n)
	}); times != 0 {
		t.Errorf("a tick allocates %g times", times)
	}
}

// An agent whose network fails stands again, and others do not notice.
func TestAdaptiveRestores(t *testing.T) {
	s := must.Get(testmatching.Adaptive(t).NewStream(matching.StreamOptions{Capacity: 2, Workers: 1}))(t)
	defer s.Close()
	p := testgen.Play(s, testmatching.People(t).Skel.Len())
	for range 2 {
		must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: 1}))(t)
	}
	for tick := range 200 {
		if tick == 100 {
			pos, _ := s.Batch().Bone(0)
			pos[3].Y = 1e20
		}
		must.Do(t, p.Tick(2))
		for row := range 2 {
			if at := s.Root(row); !at.Finite() {
				t.Fatalf("in tick %d agent %d is at %v", tick, row, at)
			}
		}
	}
	if a, b := s.Batch().Restored(0), s.Batch().Restored(1); a == 0 || b != 0 {
		t.Errorf("agents were put back %d and %d times", a, b)
	}
	if z := s.Root(0).Pos.Z; z < 1.5 {
		t.Errorf("the agent that was put back has come %.1f m far", z)
	}
}
