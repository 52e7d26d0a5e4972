package manifold

import (
	"encoding/json"
	"errors"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Whatever the files of a manifold and of its footsteps say is refused with a *feature.SchemaError,
// or makes a walker.
func FuzzNewModel(f *testing.F) {
	was := made(f, 4, 3)
	steps, locomotion := was.steady(f, 0.1, duty, lags), was.drift(f)
	meta := was.Net.Meta()
	f.Add(meta.Schema, meta.Skeleton, steps.Meta().Extra[KeyLags])
	f.Fuzz(func(t *testing.T, schema, skeleton, lags string) {
		hash := ""
		var own feature.Motion
		if json.Unmarshal([]byte(schema), &own) == nil {
			hash = own.Hash()
		}
		change := func(n *netruntime.Net) *netruntime.Net {
			meta := n.Meta()
			meta.Schema, meta.SchemaHash, meta.Skeleton = schema, hash, skeleton
			if _, ok := meta.Extra[KeyLags]; ok {
				meta.Extra = map[string]string{KeyLags: lags}
			}
			n, err := netruntime.New(meta, n.Tensors())
			if err != nil {
				t.Skip(err)
			}
			return n
		}
		m, err := NewModel(change(was.Net))
		if err == nil {
			var w *Walker
			n := &Networks{Model: m, Footsteps: change(steps), Locomotion: change(locomotion)}
			if w, err = n.NewWalker(WalkerOptions{Batch: 1, Length: 2, Workers: 1}); err == nil {
				defer w.Close()
			}
		}
		var bad *feature.SchemaError
		if err != nil && (!errors.As(err, &bad) || len(bad.Diff) == 0) {
			t.Fatal(err)
		}
	})
}
