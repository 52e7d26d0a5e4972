package boundedtoml

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"mannequin/internal/testing/growth"
)

// Depth is refused with its line, in whatever form it comes; long texts and many tables are not.
func TestDecode(t *testing.T) {
	many := strings.Repeat
	for _, c := range []struct{ text, want string }{
		{"\n" + many("a.", 30000) + "a = 1", "t.toml:2: nested"},
		{"[[" + many("a.", 30000) + "a]]", "t.toml:1: nested"},
		{"\"x\" = 1 # [\na = " + many("[", 60000), "t.toml:2: nested"},
		{"a = " + many("{a=", 15000), "t.toml:1: nested"},
		{"a = " + many("[\n", 60000), "t.toml:6: nested"},
		{"a = '''\n\n'''\nb = 1" + many(".", 40), "t.toml:4: nested"},
		{"a = \"" + many("[.", 1000) + "\"", ""},
		{"a = '''\n" + many("[.'\n", 1000) + "''' # " + many("[.", 1000), ""},
		{"a = \"\"\"\\\"" + many("\"[.\n", 1000) + "\"\"\"", ""},
		{"a = '[\\'", ""},
		{"a = [\"\"\"a\"\"\"\", " + many("{a=", 9), "t.toml:1: nested"}, // a quote and the end
		{"a = ['''a''''', " + many("{a=", 9), "t.toml:1: nested"},
		{"a = \"" + many("[", 100), "t.toml:1: "},
		{"a = \"\n" + many("[", 100), "t.toml:2: nested"},
		{many("[[a]]\nb.c.d = [[[1.5, 2.5]]]\n", 1000), ""},
		{"a = [" + many("{b = 1.5},", 1000) + "]", ""},
		{"a = 1\na = 2", "t.toml:2: "},
		{many("x", 1000) + " = " + many("y", 1000), "t.toml:1: "},
	} {
		start := time.Now()
		var dst any
		err := Decode("t.toml", []byte(c.text), &dst)
		if (err == nil) != (c.want == "") || err != nil && (!strings.HasPrefix(err.Error(), c.want) || len(err.Error()) > 250) {
			t.Errorf("%.30q: %v, want %q", c.text, err, c.want)
		}
		if took := time.Since(start); took > 3*time.Second { // milliseconds on an idle machine
			t.Errorf("%.30q: took %v", c.text, took)
		}
	}
	// So is a value of another type.
	for text, want := range map[string]string{
		"\na = 'x'":     "t.toml:2: (last key \"a\"): incompatible types",
		"[b]\nc = [1]":  "t.toml:2: (last key \"b.c\"): incompatible types",
		"\n\nb = 3":     "t.toml:3: (last key \"b\"): type mismatch",
		"a = \"\\\n\"":  "t.toml:2: not TOML: invalid escape in string '\\ '", // the message is one line
		"a = 1e99\n# b": "t.toml:1: (last key \"a\"): incompatible types",
	} {
		var dst struct {
			A int
			B struct{ C []string }
		}
		if err := Decode("t.toml", []byte(text), &dst); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	var rows struct {
		Name string
		Row  []struct{ Time, Speed float64 }
	}
	for text, want := range map[string]string{
		"name = 'x'\nnmae = 'y'":                    "t.toml:2: unknown key \"nmae\": want name, row; did you mean name?",
		"[[row]]\ntime = 1\n sped = 2":              "t.toml:3: unknown key \"row.sped\": want time, speed; did you mean speed?",
		"[[row]]\nspeed = 1\n[[row]]\nfeathers = 2": "t.toml:4: unknown key \"row.feathers\": want time, speed",
		"time = 1\n[[row]]\ntime = 1":               "t.toml: unknown key \"time\": want name, row",
		"[[rows]]\ntime = 1":                        "t.toml: unknown key \"rows\": want name, row; did you mean row?",
		"[[row]]\ntime = 1\n[[row]]\nSpeed = 3":     "",
	} {
		if err := Decode("t.toml", []byte(text), &rows); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Whatever the text is like, its decoding takes a multiple of its length.
func TestGrowth(t *testing.T) {
	decode := func(text []byte) error {
		var dst map[string]any
		return Decode("f", text, &dst)
	}
	growth.Check(t, 1000, decode, append(growth.TOML(),
		growth.Accepted("keys", growth.Repeat("", "k@=1\n", "")),
		growth.Accepted("tables", growth.Repeat("", "[k@]\n", "")),
		growth.Accepted("dots", growth.Repeat("", "k@.a.a.a=1\n", "")),
		growth.Accepted("dots and brackets", growth.Repeat("k=[", "{a.a.a.a={a.a.a.a={a.a.a.a={a.a.a.a=1}}}},", "]")),
		growth.Accepted("array", growth.Repeat("k=[", "1,", "]")),
		growth.Accepted("arrays", growth.Repeat("k=[", "[[[[]]]],", "]")),
		growth.Accepted("array of tables", growth.Repeat("", "[[k]]\n[k.a]\nb=1\n", "")),
		growth.Accepted("string", growth.Repeat("k='''", "a'\n", "'''")),
		growth.Accepted("comments", growth.Repeat("k=[", "#\n", "]")),
	)...)
}

// Whatever the text, its depth is bounded: no text of 4 kB decodes slowly. An error is one line that
// begins with the name and a line.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a = '''\n[''' # x\n[[b.c]]\nd = {e = [1, 2.5]}\n\"f.g\" = \"\\\"\""))
	f.Add([]byte(strings.Repeat("a.", 8) + "a = [[[[[[[[]]]]]]]]"))
	oneLine := regexp.MustCompile(`^t\.toml:\d+: \PC*$`)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4<<10 {
			return
		}
		var dst map[string]any
		err := Decode("t.toml", text, &dst)
		if err == nil && depth(dst) > (maxDepth+2)*(maxDots+1) {
			t.Fatalf("depth %d", depth(dst))
		}
		if err != nil && !oneLine.MatchString(err.Error()) {
			t.Fatalf("%q", err)
		}
	})
}

// depth returns the number of tables and arrays around the innermost value.
func depth(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n = max(n, 1+depth(e))
		}
	case []map[string]any:
		for _, e := range v {
			n = max(n, 1+depth(e))
		}
	case []any:
		for _, e := range v {
			n = max(n, 1+depth(e))
		}
	}
	return n
}
