package matching_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/netruntime"
)

func encoded(t testing.TB, d *matching.Database) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, d.Encode(&b))
	return b.Bytes()
}

// A database that was written and read plays the same motion, to the bit.
func TestFile(t *testing.T) {
	d := testmatching.Dogs(t)
	path := filepath.Join(t.TempDir(), "dogs.safetensors")
	must.Do(t, os.WriteFile(path, encoded(t, d), 0o644))
	e := must.Get(matching.Open(path))(t)
	if d.Fingerprint() != e.Fingerprint() || d.Frames() != e.Frames() || !slices.Equal(d.Tags, e.Tags) {
		t.Errorf("%d frames, fingerprint %x, tags %v came back as %d, %x, %v", d.Frames(), d.Fingerprint(), d.Tags, e.Frames(), e.Fingerprint(), e.Tags)
	}
	goal := func(_, tick int, at feature.Place) control.Goal {
		if tick > 100 {
			return control.Goal{Action: control.Sit}
		}
		return toward(at, m3.V(1, 0, 1), m3.V(1, 0, 1))
	}
	_, a := play(t, d, 1, 200, goal)
	if _, b := play(t, e, 1, 200, goal); !slices.Equal(a, b) {
		t.Error("the file's database moves otherwise")
	}
	if _, err := matching.Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file is opened")
	}
}

// All that Build takes is read again: clips that stand but for rounding, too.
func TestFileOfStill(t *testing.T) {
	sk := testdog.Skeleton()
	c := skel.NewClip(sk, 60, 60)
	loud := matching.Weights{FootPlace: 1, HipsVelocity: 100}
	for f := range c.Frames {
		c.Pos[f*sk.Len()].X = float32(f%3) * 1.5e-6
	}
	d := must.Get(matching.Build(sk, []matching.Clip{{Motion: c}}, matching.Options{Tags: []string{"sit"}, Weights: loud}))(t)
	must.Get(matching.Decode(encoded(t, d)))(t)
	if named := must.Get(matching.Build(sk, []matching.Clip{{Motion: c}}, matching.Options{Tags: []string{"lie"}, Weights: loud}))(t); named.Fingerprint() == d.Fingerprint() {
		t.Error("databases with other names of tags have one fingerprint")
	}
}

// Files with faults are refused with what is wrong.
func TestFileRefused(t *testing.T) {
	sk := testdog.Skeleton()
	whole := encoded(t, must.Get(matching.Build(sk, []matching.Clip{{Name: "still", Motion: skel.NewClip(sk, 60, 40)}}, matching.Options{}))(t))
	meta, arrays, err := netruntime.DecodeArrays(whole)
	must.Do(t, err)
	for want, change := range map[string]func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor{
		"architecture":   func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { m.Arch = "style"; return a },
		"metadata clips": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { m.Extra["clips"] = "{"; return a },
		"no clips": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"clips":[{`, `"clip":[{`)
		},
		"clip 0 has 0 frame": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"frames":40`, `"frames":0`)
		},
		"array features of": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"frames":40`, `"frames":39`)
		},
		"weights": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"Facing":1.5`, `"Facing":-1`)
		},
		"Roles.Legs": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"Legs":[[`, `"Legs":[[9,`)
		},
		"metadata skeleton": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { m.Skeleton = "7"; return a },
		"is missing":        func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { return a[1:] },
		"unknown array": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return append(a, netruntime.Tensor{Name: "more", Shape: []int{1}, Data: []float32{1}})
		},
		"has length": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { clear(named(a, "rot")); return a },
		"value 3 is 0.5": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			named(a, "tags")[3] = 0.5
			return a
		},
	} {
		m, a := meta, slices.Clone(arrays)
		m.Extra = map[string]string{"clips": meta.Extra["clips"]}
		for i := range a {
			a[i].Data = slices.Clone(a[i].Data)
		}
		var b bytes.Buffer
		a = change(&m, a)
		must.Do(t, netruntime.EncodeArrays(&b, m, a, nil))
		if _, err := matching.Decode(b.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := matching.Decode(whole[:len(whole)-1]); err == nil {
		t.Error("a file that is cut off is read")
	}
}

func swap(m *netruntime.Meta, a []netruntime.Tensor, from, to string) []netruntime.Tensor {
	m.Extra["clips"] = strings.Replace(m.Extra["clips"], from, to, 1)
	return a
}

func named(a []netruntime.Tensor, name string) []float32 {
	return a[slices.IndexFunc(a, func(t netruntime.Tensor) bool { return t.Name == name })].Data
}

// The reader allocates a multiple of the file.
func TestGrowth(t *testing.T) {
	sk := testdog.Skeleton()
	growth.Check(t, 30, func(b []byte) error { _, err := matching.Decode(b); return err },
		growth.Accepted("frames", func(n int) []byte {
			return encoded(t, must.Get(matching.Build(sk, []matching.Clip{{Motion: skel.NewClip(sk, 60, n)}}, matching.Options{}))(t))
		}),
		growth.Refused("clips", func(n int) []byte {
			var b bytes.Buffer
			meta := netruntime.Meta{Arch: matching.Arch, Extra: map[string]string{"clips": string(growth.Repeat(`{"clips":[{}`, ",{}", "]}")(n))}}
			must.Do(t, netruntime.EncodeArrays(&b, meta, nil, nil))
			return b.Bytes()
		}, "skeleton"),
	)
}

// What is read plays without NaN.
func FuzzDecode(f *testing.F) {
	sk := testdog.Skeleton()
	whole := encoded(f, must.Get(matching.Build(sk, []matching.Clip{{Motion: skel.NewClip(sk, 60, 25)}, {Motion: skel.NewClip(sk, 60, 3), Loop: true}}, matching.Options{Tags: []string{"sit"}}))(f))
	f.Add(whole)
	f.Add(bytes.Replace(whole, []byte("checksum"), []byte("comments"), 1)) // changed bytes get further
	var networks bytes.Buffer
	must.Do(f, (&matching.File{Learned: testmatching.Untrained(f, testmatching.People(f), 4)}).Encode(&networks))
	f.Add(networks.Bytes())
	f.Add(bytes.Replace(networks.Bytes(), []byte("checksum"), []byte("comments"), 1))
	var adaptive bytes.Buffer
	must.Do(f, (&matching.File{Adaptive: testmatching.TinyAdaptive(f)}).Encode(&adaptive))
	f.Add(bytes.Replace(adaptive.Bytes(), []byte("checksum"), []byte("comments"), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := matching.DecodeFile(b)
		if err != nil {
			return
		}
		s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		defer s.Close()
		must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Turn: 0.5}))(t)
		p := testgen.Play[control.Goal](s, d.Character().Skel.Len())
		for range 3 {
			must.Do(t, p.Tick(1))
		}
		if !s.Root(0).Finite() {
			t.Fatalf("the agent is at %v", s.Root(0))
		}
	})
}
