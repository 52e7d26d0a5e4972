package keypose

import (
	"encoding/json"
	"errors"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// changed returns net with other metadata, or nil if package netruntime refuses it.
func changed(net *netruntime.Net, schema, hash, skeleton string) *netruntime.Net {
	meta := net.Meta()
	meta.Schema, meta.SchemaHash, meta.Skeleton = schema, hash, skeleton
	net, err := netruntime.New(meta, net.Tensors())
	if err != nil {
		return nil
	}
	return net
}

// A file's skeleton and schema are refused with a *feature.SchemaError, or make a model that reads
// keys.
func FuzzNewModel(f *testing.F) {
	was := model(f, layout(f)).Net
	meta := was.Meta()
	w, _ := was.Tensor("y.weight")
	b, _ := was.Tensor("y.bias")
	size := w.Shape[0] * w.Shape[1]
	was = must.Get(netruntime.New(meta, []netruntime.Tensor{{Name: w.Name, Shape: []int{w.Shape[0], w.Shape[1], 1}, Data: w.Data[:size]}, b}))(f) // a small one
	f.Add(meta.Schema, meta.Skeleton, false)
	f.Fuzz(func(t *testing.T, schema, skeleton string, own bool) {
		hash := schemaHash([]byte(schema))
		var sk skel.Skeleton
		if own && json.Unmarshal([]byte(skeleton), &sk) == nil { // the schema that fits the skeleton
			if l, err := NewLayout(&sk); err == nil {
				text, h, err := l.schema()
				must.Do(t, err)
				schema, hash = string(text), h
			}
		}
		net := changed(was, schema, hash, skeleton)
		if net == nil {
			return
		}
		m, err := NewModel(net)
		var bad *feature.SchemaError
		if err == nil {
			track := m.Layout.NewTrack(2, Rate)
			track.Interpolate()
			m.Layout.NewInputEncoder().Encode(make([]float32, 2*m.Layout.Inputs()), track, 1)
		} else if !errors.As(err, &bad) || len(bad.Diff) == 0 {
			t.Fatal(err)
		}
	})
}

// The same for models of sparse poses, which make a segment.
func FuzzNewSparseModel(f *testing.F) {
	l, sk := sparseLayout()
	meta, tensors := sparseNet(f, l, sk, Segments{Poses: 2, Every: 4}, []int{12, 12}, []int{1}, []int{4}, func(string, []int) float32 { return 0.1 })
	net := must.Get(netruntime.New(meta, tensors))(f)
	f.Add(meta.Schema, meta.Skeleton)
	f.Fuzz(func(t *testing.T, schema, skeleton string) {
		net := changed(net, schema, schemaHash([]byte(schema)), skeleton)
		if net == nil {
			return
		}
		m, err := NewSparseModel(net)
		var bad *feature.SchemaError
		if err != nil {
			if !errors.As(err, &bad) || len(bad.Diff) == 0 {
				t.Fatal(err)
			}
			return
		}
		if m.Segments.Poses > 100 {
			return // it runs, but too slowly for a fuzzer
		}
		in := must.Get(m.NewInbetweener(InbetweenerOptions{Workers: 1}))(t)
		defer in.Close()
		must.Do(t, in.Make(make([]float32, m.Segments.Frames(2)*l.Columns()), make([]float32, 2*l.Columns())))
	})
}
