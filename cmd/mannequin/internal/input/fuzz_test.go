package input

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A table ends or fails with its name, however its bytes come. Of two faults either may be told.
func FuzzTable(f *testing.F) {
	f.Add([]byte("\ufeffa,b\n# no row\n\n1,\"2,\n3\"\n3,4"))
	f.Add([]byte("a,b\r\n1,2\r\n1\n"))
	f.Add([]byte(strings.Repeat(",", maxCells)))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(r io.Reader) (rows int, err error) {
			table, before := NewTable("t.csv", r), 0
			for {
				row, line, err := table.Next()
				if err != nil {
					return rows, err
				}
				if line <= before || len(row) > maxCells {
					t.Fatalf("%d cells in line %d, after line %d", len(row), line, before)
				}
				before = line
				rows++
			}
		}
		rows, err := read(bytes.NewReader(text))
		again, err2 := read(iotest.OneByteReader(bytes.NewReader(text)))
		if (err == io.EOF) != (err2 == io.EOF) || err == io.EOF && rows != again {
			t.Fatalf("%d rows and %v, byte by byte %d and %v", rows, err, again, err2)
		}
		if err != io.EOF && !strings.HasPrefix(err.Error(), "t.csv:") {
			t.Fatal(err)
		}
	})
}
