package mann

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

func TestSchemaErrors(t *testing.T) {
	layout, sk := beetle()
	in, out := layout.Inputs(), layout.Outputs()
	mean := make([]float32, in)
	good := func() *netruntime.Meta {
		meta := &netruntime.Meta{Name: "beetle"}
		if err := Describe(meta, layout, sk, nil); err != nil {
			t.Fatal(err)
		}
		return meta
	}
	p, err := parse(good(), in, out, mean)
	if err != nil {
		t.Fatal(err)
	}
	if p.Layout.Hash() != layout.Hash() || !slices.Equal(p.Skel.Offsets, sk.Offsets) || !slices.Equal(p.Skel.EndSite, sk.EndSite) || len(p.rest) != sk.Len()*feature.BoneChannels {
		t.Error("what was described came back changed")
	}
	other := *layout
	other.Actions = []string{"move", "beg"}
	bent := *sk
	bent.Names = slices.Clone(sk.Names)
	bent.Names[3] = "Wing"
	for name, c := range map[string]struct {
		change  func(*netruntime.Meta)
		in, out int
		want    []string
	}{
		"no schema":     {func(m *netruntime.Meta) { m.Schema = "" }, in, out, []string{"schema is not a layout"}},
		"no skeleton":   {func(m *netruntime.Meta) { m.Skeleton = "{" }, in, out, []string{"skeleton cannot be read"}},
		"hash":          {func(m *netruntime.Meta) { m.SchemaHash = "beef" }, in, out, []string{`hash is "beef"`}},
		"sizes":         {func(m *netruntime.Meta) {}, in + 1, out - 1, []string{fmt.Sprintf("has %d inputs", in+1), fmt.Sprintf("%d outputs, its schema", out-1)}},
		"gating":        {func(m *netruntime.Meta) { m.GatingColumns[0]++ }, in, out, []string{"gating network reads"}},
		"other actions": {func(m *netruntime.Meta) { _ = Describe(m, &other, sk, nil) }, in, out, []string{`lack "idle"`}},
		"other joints":  {func(m *netruntime.Meta) { _ = Describe(m, layout, &bent, nil) }, in, out, []string{"joint 3 is Wing in its skeleton and LeftHand in its schema"}},
		"rest":          {func(m *netruntime.Meta) { m.Extra = map[string]string{KeyRestPose: "[1,2]"} }, in, out, []string{"rest pose has 2 values"}},
		"rest text":     {func(m *netruntime.Meta) { m.Extra = map[string]string{KeyRestPose: "x"} }, in, out, []string{"rest pose cannot be read"}},
		"two roots": {func(m *netruntime.Meta) {
			two := *sk
			two.Parents = slices.Clone(sk.Parents)
			two.Parents[7] = -1
			_ = Describe(m, layout, &two, nil)
		}, in, out, []string{"more than one root"}},
	} {
		meta := good()
		c.change(meta)
		_, err := parse(meta, c.in, c.out, mean)
		var se *feature.SchemaError
		if !errors.As(err, &se) || len(se.Diff) < len(c.want) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q lacks %q", name, err, w)
			}
		}
	}
}

// Whatever a file says of its layout, skeleton and rest pose is refused or makes a model that
// stands in a batch.
func FuzzParse(f *testing.F) {
	layout, sk := beetle()
	for _, describe := range []func(*netruntime.Meta) error{
		func(m *netruntime.Meta) error { return Describe(m, layout, sk, nil) },
		func(m *netruntime.Meta) error { return Describe(m, layout, sk, make([]float32, layout.PoseLen())) },
	} {
		var meta netruntime.Meta
		if err := describe(&meta); err != nil {
			f.Fatal(err)
		}
		f.Add(meta.Schema, meta.Skeleton, meta.Extra[KeyRestPose])
	}
	mean := make([]float32, layout.Inputs())
	f.Fuzz(func(t *testing.T, schema, skeleton, rest string) {
		meta := netruntime.Meta{Schema: schema, Skeleton: skeleton, GatingColumns: layout.Gating()}
		var own feature.MANN
		if json.Unmarshal([]byte(schema), &own) == nil && own.Validate() == nil {
			meta.SchemaHash = own.Hash()
		}
		if rest != "" {
			meta.Extra = map[string]string{KeyRestPose: rest}
		}
		p, err := parse(&meta, layout.Inputs(), layout.Outputs(), mean)
		if err != nil {
			return
		}
		b := NewBatch(p, 1)
		b.Plan([]control.Goal{{}}, 0, 1)
		b.Gather(make([]float32, layout.Inputs()), 0, 1)
		b.Scatter(make([]float32, layout.Outputs()), 0, 1)
	})
}
