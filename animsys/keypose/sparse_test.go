package keypose

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// sparseLayout is a body of three joints: 12 columns.
func sparseLayout() (*feature.Motion, *skel.Skeleton) {
	names := []string{"Hips", "LeftUpLeg", "RightUpLeg"}
	return &feature.Motion{Joints: names, Left: []string{"LeftUpLeg"}}, &skel.Skeleton{
		Names: names, Parents: []int16{-1, 0, 0}, EndSite: make([]bool, 3),
		Offsets: []m3.Vec3{m3.V(0, 1, 0), m3.V(0.1, 0, 0), m3.V(-0.1, 0, 0)}}
}

// sparseNet returns a model file of segments s: convolutions whose weights and biases fill returns,
// with upsampling between them.
func sparseNet(tb testing.TB, layout *feature.Motion, sk *skel.Skeleton, s Segments, channels, widths, by []int,
	fill func(tensor string, at []int) float32) (netruntime.Meta, []netruntime.Tensor) {
	tb.Helper()
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: channels[0]}}}
	var tensors []netruntime.Tensor
	from := "x"
	for l, width := range widths {
		name := fmt.Sprint("conv", l)
		node := netruntime.Node{Name: name, Op: netruntime.OpConv, In: []string{from}}
		in, out := channels[l], channels[l+1]
		w, b := make([]float32, out*in*width), make([]float32, out)
		for i := range w {
			w[i] = fill(name, []int{i / in / width, i / width % in, i % width})
		}
		for i := range b {
			b[i] = fill(name+".bias", []int{i})
		}
		tensors = append(tensors, netruntime.Tensor{Name: name + ".weight", Shape: []int{out, in, width}, Data: w},
			netruntime.Tensor{Name: name + ".bias", Shape: []int{out}, Data: b})
		if from = name; l < len(by) {
			node.Act, from = "relu", fmt.Sprint("spread", l)
			g.Nodes = append(g.Nodes, node, netruntime.Node{Name: from, Op: netruntime.OpDepool, In: []string{name}, Factor: by[l]})
			continue
		}
		g.Nodes = append(g.Nodes, node)
	}
	g.Outputs = []string{from}
	meta := netruntime.Meta{Name: "sparse", Arch: "graph", Graph: g}
	must.Do(tb, DescribeSparseModel(&meta, layout, sk, s))
	return meta, tensors
}

func mustSparse(tb testing.TB, layout *feature.Motion, sk *skel.Skeleton, s Segments, channels, widths, by []int,
	fill func(tensor string, at []int) float32) *SparseModel {
	tb.Helper()
	meta, tensors := sparseNet(tb, layout, sk, s, channels, widths, by, fill)
	net := must.Get(netruntime.New(meta, tensors))(tb)
	model := must.Get(NewSparseModel(net))(tb)
	return model
}

func (s *SparseModel) mustMake(tb testing.TB, poses []float32) []float32 {
	tb.Helper()
	m := must.Get(s.NewInbetweener(InbetweenerOptions{Workers: 2}))(tb)
	defer m.Close()
	cols := s.Layout.Columns()
	dst := make([]float32, s.Segments.Frames(len(poses)/cols)*cols)
	for i := range dst {
		dst[i] = 99 // previous values do not count
	}
	must.Do(tb, m.Make(dst, poses))
	return dst
}

func randomPoses(n int) []float32 {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// sparseLengths are lengths in poses around those of a segment of 5 and of chunks.
var sparseLengths = []int{2, 4, 5, 6, chunk + 3, chunk + 4, chunk + 5, 2*chunk + 9}

// If a network always makes the same frame, so does the mean of its segments, bit for bit.
func TestSparseConstant(t *testing.T) {
	layout, sk := sparseLayout()
	cols := layout.Columns()
	s := mustSparse(t, layout, sk, Segments{5, 30}, []int{cols, 4, 4, 4, cols}, []int{3, 7, 13, 21}, []int{2, 5, 3},
		func(tensor string, at []int) float32 {
			if tensor == "conv3.bias" {
				return float32(1+at[0]) / 4 // their sums are exact
			}
			return 0
		})
	for _, n := range sparseLengths {
		made := s.mustMake(t, randomPoses(n*cols))
		if got, want := len(made), ((n-1)*30+1)*cols; got != want {
			t.Fatalf("%d poses make %d values, want %d", n, got, want)
		}
		for i, v := range made {
			if want := float32(1+i%cols) / 4; v != want {
				t.Fatalf("%d poses: frame %d, column %d is %g, want %g", n, i/cols, i%cols, v, want)
			}
		}
	}
}

// A network that repeats every pose shows where each pose falls: in the middle of its frames.
func TestSparsePosesFallOnTheirFrames(t *testing.T) {
	layout, sk := sparseLayout()
	cols := layout.Columns()
	for _, c := range []struct {
		s  Segments
		by []int
	}{{Segments{5, 30}, []int{2, 5, 3}}, {Segments{3, 60}, []int{4, 5, 3}}, {Segments{2, 4}, []int{4}}} {
		widths := []int{1, 1, 1, 1}[:len(c.by)+1]
		channels := []int{cols, cols, cols, cols, cols}[:len(c.by)+2]
		s := mustSparse(t, layout, sk, c.s, channels, widths, c.by, func(tensor string, at []int) float32 {
			for l, by := range c.by { // undoes the scale of the upsampling before it
				if tensor == fmt.Sprint("conv", l+1) && at[0] == at[1] {
					return float32(by)
				}
			}
			if tensor == "conv0" && at[0] == at[1] {
				return 1
			}
			return 0
		})
		const n = 9
		poses := randomPoses(n * cols)
		for i, v := range poses {
			poses[i] = float32(math.Abs(float64(v))) // because of the rectifiers
		}
		made := s.mustMake(t, poses)
		for i, v := range made {
			f := i / cols
			key := (f + c.s.Every/2) / c.s.Every
			if want := poses[min(key, n-1)*cols+i%cols]; math.Abs(float64(v-want)) > 1e-5 {
				t.Fatalf("a pose every %d: column %d of frame %d is %g, that of pose %d is %g", c.s.Every, i%cols, f, v, key, want)
			}
		}
	}
}

func randomSparse(tb testing.TB, s Segments, by []int) *SparseModel {
	layout, sk := sparseLayout()
	rng := rand.New(rand.NewPCG(5, 6))
	return mustSparse(tb, layout, sk, s, []int{12, 9, 10, 8, 12}, []int{3, 7, 13, 21}, by,
		func(string, []int) float32 { return float32(0.3 * rng.NormFloat64()) })
}

// Every frame is the mean of the segments that contain it, run one by one.
func TestSparseBlends(t *testing.T) {
	for _, s := range []*SparseModel{randomSparse(t, Segments{5, 30}, []int{2, 5, 3}), randomSparse(t, Segments{3, 60}, []int{4, 5, 3})} {
		every, cols := s.Segments.Every, s.Layout.Columns()
		session := must.Get(s.Net.NewSession(netruntime.SessionOptions{Batch: 1, Length: s.Segments.Poses, Workers: 1}))(t)
		defer session.Close()
		for _, n := range sparseLengths {
			poses := randomPoses(n * cols)
			made := s.mustMake(t, poses)
			sum, count := make([]float64, len(made)), make([]float64, len(made))
			seen := min(n, s.Segments.Poses)
			y := make([]float32, seen*every*cols)
			for from := range n - seen + 1 {
				must.Do(t, session.RunSequences([][]float32{y}, [][]float32{poses[from*cols:][:seen*cols]}, 1, seen))
				for f := range (seen-1)*every + 1 {
					for c := range cols {
						i := (from*every+f)*cols + c
						sum[i] += float64(y[(every/2+f)*cols+c])
						count[i]++
					}
				}
			}
			spread := 0.0
			for i, v := range made {
				if want := sum[i] / count[i]; math.Abs(float64(v)-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("%d poses, one every %d: frame %d, column %d is %g, want %g", n, every, i/cols, i%cols, v, want)
				}
				spread = max(spread, math.Abs(float64(v)))
			}
			if spread < 0.1 {
				t.Fatalf("%d poses make nothing above %g", n, spread)
			}
		}
	}
}

// The result is bit-identical for any number of workers, and making it does not allocate.
func TestSparseMakesInPlace(t *testing.T) {
	s := randomSparse(t, Segments{5, 30}, []int{2, 5, 3})
	cols, n := s.Layout.Columns(), 2*chunk+9
	poses := randomPoses(n * cols)
	want := s.mustMake(t, poses)
	m := must.Get(s.NewInbetweener(InbetweenerOptions{Workers: 1}))(t)
	defer m.Close()
	got := make([]float32, len(want))
	if allocs := testing.AllocsPerRun(3, func() {
		if err := m.Make(got, poses); err != nil {
			panic(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("value %d is %g with one worker, %g with two", i, got[i], want[i])
		}
	}
}

func TestSparseRefusesPoses(t *testing.T) {
	s := randomSparse(t, Segments{5, 30}, []int{2, 5, 3})
	m := must.Get(s.NewInbetweener(InbetweenerOptions{}))(t)
	defer m.Close()
	cols := s.Layout.Columns()
	must.FailWith(t, m.Make(make([]float32, cols), make([]float32, cols)), "want at least 2")
	poses := randomPoses(4 * cols)
	poses[2*cols+7] = float32(math.NaN())
	dst := make([]float32, s.Segments.Frames(4)*cols)
	must.FailWith(t, m.Make(dst, poses), "value 7 of pose 2")
	defer func() {
		if recover() == nil {
			t.Error("a destination that is too short: no panic")
		}
	}()
	m.Make(dst[cols:], randomPoses(4*cols))
}

// NewSparseModel reports how an unusable file differs.
func TestNewSparseRefuses(t *testing.T) {
	layout, sk := sparseLayout()
	schema := func(meta *netruntime.Meta, change func(s *sparseSchema)) {
		s := sparseSchema{}
		must.Do(t, json.Unmarshal([]byte(meta.Schema), &s))
		change(&s)
		text := must.Get(json.Marshal(s))(t)
		meta.Schema, meta.SchemaHash = string(text), schemaHash(text)
	}
	for want, spoil := range map[string]func(meta *netruntime.Meta){
		"schema cannot be read":    func(m *netruntime.Meta) { m.Schema = "{" },
		"no model of sparse poses": func(m *netruntime.Meta) { m.Schema = `{"rate":30}` },
		"layout has no joints":     func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Layout = &feature.Motion{} }) },
		"segments of 1 poses":      func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Segments.Poses = 1 }) },
		"segments of 65 poses":     func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Segments.Poses = 65 }) },
		"every 31 frames":          func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Segments.Every = 31 }) },
		"every 242 frames":         func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Segments.Every = 242 }) },
		"not make 60 frames":       func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Segments.Every = 60 }) },
		"makes 30 frames per sec":  func(m *netruntime.Meta) { schema(m, func(s *sparseSchema) { s.Rate = 30 }) },
		"its schema has 15": func(m *netruntime.Meta) {
			schema(m, func(s *sparseSchema) { s.Layout.Joints = append(s.Layout.Joints, "Tail") })
		},
		`has no joint "Tail"`: func(m *netruntime.Meta) {
			schema(m, func(s *sparseSchema) { s.Layout.Joints = append(s.Layout.Joints, "Tail") })
		},
		`schema hash is "else"`:       func(m *netruntime.Meta) { m.SchemaHash = "else" },
		"its skeleton cannot be read": func(m *netruntime.Meta) { m.Skeleton = "" },
		"2 outputs": func(m *netruntime.Meta) {
			m.Graph.Outputs = append(m.Graph.Outputs, "conv0")
		},
	} {
		meta, tensors := sparseNet(t, layout, sk, Segments{5, 30}, []int{12, 9, 10, 8, 12}, []int{3, 7, 13, 21},
			[]int{2, 5, 3}, func(string, []int) float32 { return 0 })
		spoil(&meta)
		net := must.Get(netruntime.New(meta, tensors))(t)
		_, err := NewSparseModel(net)
		var e *feature.SchemaError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a *feature.SchemaError with %s", err, want)
		}
	}
}

// BenchmarkSparse makes ten seconds with a network as large as the thesis's.
func BenchmarkSparse(b *testing.B) {
	layout := feature.Human()
	_, sk := sparseLayout()
	for _, name := range layout.Joints[3:] {
		sk.Names, sk.Parents, sk.EndSite, sk.Offsets = append(sk.Names, name), append(sk.Parents, 0), append(sk.EndSite, false),
			append(sk.Offsets, m3.V(0, 1, 0))
	}
	copy(sk.Names, layout.Joints)
	for _, c := range []struct {
		s  Segments
		by []int
	}{{Segments{5, 30}, []int{2, 5, 3}}, {Segments{3, 60}, []int{4, 5, 3}}} {
		b.Run(fmt.Sprintf("every=%d", c.s.Every), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(5, 6))
			cols := layout.Columns()
			s := mustSparse(b, layout, sk, c.s, []int{cols, 256, 512, 256, cols}, []int{3, 7, 13, 21}, c.by,
				func(string, []int) float32 { return float32(0.02 * rng.NormFloat64()) })
			m := must.Get(s.NewInbetweener(InbetweenerOptions{}))(b)
			defer m.Close()
			n := 600/c.s.Every + 1
			poses, dst := randomPoses(n*cols), make([]float32, s.Segments.Frames(n)*cols)
			for b.Loop() {
				must.Do(b, m.Make(dst, poses))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/10, "µs/s-of-motion")
		})
	}
}
