package input

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A table is read to its end or to an error that names the file and the line.
func TestTable(t *testing.T) {
	wide := strings.Repeat(",", maxCells)
	broken := errors.New("broken")
	for _, c := range []struct {
		text string
		rows int
		want string // the error, or empty
	}{
		{"\ufeffa,b\n# no row\n\n1,2\n3,4", 3, ""},
		{"a,b\n1,2\n1\n", 2, "t.csv:3: wrong number of fields"},
		{"a,b\n1,\"2\n", 1, "t.csv:2: extraneous"},
		{"a,b\n\n" + wide + "\n", 1, "t.csv:3: more than 1000 cells"},
		{wide[1:] + "\n" + wide[1:], 2, ""},
		{strings.Repeat("a,b\n", 5000), 5000, ""},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.text), "bytes": iotest.OneByteReader(strings.NewReader(c.text))} {
			table, rows := NewTable("t.csv", r), 0
			row, line, err := table.Next()
			for ; err == nil; row, line, err = table.Next() {
				rows++
			}
			if err == io.EOF {
				err = nil
			}
			if rows != c.rows && c.want == "" || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.20q, %s: %d rows, %v", c.text, name, rows, err)
			}
			_, _ = row, line
		}
	}
	table := NewTable("t.csv", io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)))
	table.Next()
	if _, _, err := table.Next(); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "t.csv: ") {
		t.Error(err)
	}
	table = NewTable("t.csv", strings.NewReader("\ufeffa\n#\n\nb\n"))
	table.Next()
	if row, line, err := table.Next(); line != 4 || err != nil || row[0] != "b" {
		t.Errorf("%q in line %d, %v", row, line, err)
	}
}
