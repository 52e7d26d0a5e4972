package input

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// Table reads a CSV file row by row. Lines that begin with # are comments.
type Table struct {
	*csv.Reader
	file string
}

// maxCells is the largest number of cells in a row of a table.
const maxCells = 1000

// NewTable returns the table in r, for errors that name the file.
func NewTable(file string, r io.Reader) *Table {
	in := bufio.NewReader(r)
	if b, _ := in.Peek(3); string(b) == "\ufeff" {
		in.Discard(3)
	}
	t := &Table{csv.NewReader(&narrow{r: in, line: 1}), file}
	t.Comment, t.ReuseRecord = '#', true
	return t
}

// Next returns the next row, up to the next call, and its line in the file. The error is io.EOF at
// the end. Other errors name the file and, if known, the line.
func (t *Table) Next() (row []string, line int, err error) {
	row, err = t.Read()
	var bad *csv.ParseError
	var wide *wideError
	switch {
	case err == io.EOF:
		return nil, 0, err
	case errors.As(err, &bad):
		return nil, 0, fmt.Errorf("%s:%d: %w", t.file, bad.Line, bad.Err)
	case errors.As(err, &wide):
		return nil, 0, fmt.Errorf("%s:%w", t.file, wide)
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %w", t.file, err)
	}
	line, _ = t.FieldPos(0)
	return row, line, nil
}

// narrow fails at a line of too many commas, before a cell is made of each.
type narrow struct {
	r            io.Reader
	line, commas int
}

type wideError struct{ line int }

func (e *wideError) Error() string {
	return fmt.Sprintf("%d: more than %d cells in a row", e.line, maxCells)
}

func (n *narrow) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	for rest := p[:k]; ; {
		text, after, more := bytes.Cut(rest, []byte("\n"))
		if n.commas += bytes.Count(text, []byte(",")); n.commas >= maxCells {
			return 0, &wideError{n.line}
		}
		if !more {
			return k, err
		}
		rest, n.commas = after, 0
		n.line++
	}
}
