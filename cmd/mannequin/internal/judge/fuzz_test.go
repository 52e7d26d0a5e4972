package judge

import (
	"strings"
	"testing"
)

// A form has sides only, or an error that names it.
func FuzzForm(f *testing.F) {
	f.Add([]byte("pair,recorded\npair-01,left\npair-02, Right \npair-03,\n"))
	f.Add([]byte("pair-01,up\n"))
	f.Add([]byte("pair-01\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		sides, err := readSides("form.csv", text)
		if err != nil && !strings.HasPrefix(err.Error(), "form.csv:") {
			t.Fatal(err)
		}
		for name, side := range sides {
			if side != "left" && side != "right" && side != "" {
				t.Fatalf("%q is on the side %q", name, side)
			}
		}
	})
}
