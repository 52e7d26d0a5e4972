package inspect

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"mannequin/internal/testing/must"
	"mannequin/models/dog"
)

// Whatever a file says, its report has no control characters but tabs and the ends of lines.
func FuzzPrint(f *testing.F) {
	m := must.Get(dog.Open())(f).Meta()
	f.Add(m.Name, m.Schema, m.SchemaHash, m.Metrics, m.Card)
	f.Add("\x1b[2J", "{}", "\x00", "\"\u009b\"", "a\r\nb\tc")
	f.Fuzz(func(t *testing.T, name, schema, hash, metrics, card string) {
		r := modelReport{Architecture: "mann", Name: name, Schema: rawJSON(schema), SchemaHash: hash, Metrics: rawJSON(metrics), Card: card, Extra: map[string]string{name: card}}
		var out bytes.Buffer
		must.Do(t, r.Print(&out))
		if i := strings.IndexFunc(out.String(), func(c rune) bool { return c != '\n' && c != '\t' && unicode.IsControl(c) }); i >= 0 {
			t.Fatalf("%q at byte %d", out.String()[i:min(i+20, out.Len())], i)
		}
	})
}
