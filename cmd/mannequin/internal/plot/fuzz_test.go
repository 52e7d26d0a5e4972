package plot

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/offline/chart"
)

// A table is refused with its name, or makes curves of numbers that can be drawn.
func FuzzTable(f *testing.F) {
	f.Add([]byte("x,y,z\n0,1,\n1,-2.5,nan\n2,inf,1e300\n"), false)
	f.Add([]byte("x,y\n0,1e308\n"), true)
	f.Add([]byte("\ufeffx,\"y\n\"\n# no row\n1e-320,1e-301\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, log bool) {
		c, err := readTable("t.csv", text, log)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "t.csv:") {
				t.Fatal(err)
			}
			return
		}
		for _, s := range c.Series {
			if len(s.X) != len(s.Y) {
				t.Fatalf("%d places, %d values", len(s.X), len(s.Y))
			}
			for i, y := range s.Y {
				for _, v := range []float64{s.X[i], y} {
					if math.Abs(v) > chart.Limit && !math.IsInf(v, 0) {
						t.Fatalf("%g is too large", v)
					}
				}
			}
		}
	})
}

// The layout of a model names all its inputs, or none.
func FuzzRowNames(f *testing.F) {
	f.Add(string(must.Get(json.Marshal(feature.Human()))(f)))
	f.Fuzz(func(t *testing.T, schema string) {
		inputs := 73
		var own feature.Motion
		if json.Unmarshal([]byte(schema), &own) == nil {
			inputs = own.Columns()
		}
		next := 0
		for _, s := range rowNames(schema, inputs) {
			if s.Start != next || s.Len < 0 {
				t.Fatalf("%+v, want it to start at %d", s, next)
			}
			next += s.Len
		}
		if next != inputs {
			t.Fatalf("%d of %d inputs have names", next, inputs)
		}
	})
}
