package strnn_test

import (
	"encoding/json"
	"errors"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
)

// Whatever a file says of its person, frames, filters and guide is refused with a
// *feature.SchemaError, or makes a model that predicts.
func FuzzNewModel(f *testing.F) {
	was := teststrnn.Net(f, teststrnn.Options{Guide: true})
	tensors := was.Tensors()
	meta := was.Meta()
	x := meta.Extra
	f.Add(meta.Schema, meta.Skeleton, x[strnn.KeyEncode], x[strnn.KeyPredict], x[strnn.KeyLatent], x[strnn.KeyScale], x[strnn.KeyGuide])
	f.Fuzz(func(t *testing.T, schema, skeleton, encode, predict, latent, scale, guide string) {
		meta := was.Meta()
		meta.Schema, meta.Skeleton = schema, skeleton
		meta.Extra = map[string]string{strnn.KeyEncode: encode, strnn.KeyPredict: predict, strnn.KeyLatent: latent, strnn.KeyScale: scale, strnn.KeyGuide: guide}
		var own feature.Motion
		if json.Unmarshal([]byte(schema), &own) == nil {
			meta.SchemaHash = own.Hash()
		}
		net, err := netruntime.New(meta, tensors)
		if err != nil {
			return
		}
		m, err := strnn.NewModel(net)
		var bad *feature.SchemaError
		if err != nil && (!errors.As(err, &bad) || len(bad.Diff) == 0) || err == nil && (m.Encode < 1 || m.Predict < 1 || m.Latent < 0) {
			t.Fatal(m, err)
		}
	})
}
