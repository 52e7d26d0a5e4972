package eval

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Tables prints the sections of a report.
type Tables struct {
	w           io.Writer
	title, head string            // of the section under way
	rows        *tabwriter.Writer // nil before the first row
	err         error
}

// NewTables returns a printer to w.
func NewTables(w io.Writer) *Tables { return &Tables{w: w} }

// Section begins a section with a title and a head, whose cells are separated by tabs. A section
// without rows is not printed.
func (t *Tables) Section(title, head string) {
	t.End()
	t.title, t.head = title, head
}

// Row prints a row, whose cells are separated by tabs.
func (t *Tables) Row(format string, cells ...any) {
	if t.rows == nil {
		fmt.Fprintln(t.w, t.title)
		t.rows = tabwriter.NewWriter(t.w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t.rows, t.head+"\t")
	}
	fmt.Fprintf(t.rows, format+"\t\n", cells...)
}

// InShort prints the bars. They come last, so that they stay on the screen of a terminal.
func (t *Tables) InShort(name string, b Bars, note string) error {
	t.End()
	fmt.Fprintf(t.w, "%s in short: %d of %d bars missed, marked *%s\n", name, b.Missed(), len(b), note)
	t.rows = tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, row := range b.Rows() {
		fmt.Fprintln(t.rows, row)
	}
	return t.End()
}

// End ends the section under way and returns the first error of all.
func (t *Tables) End() error {
	if t.rows == nil {
		return t.err
	}
	fmt.Fprintln(t.rows)
	if err := t.rows.Flush(); t.err == nil {
		t.err = err
	}
	t.rows = nil
	return t.err
}

// Cells prints a row with any number of cells.
func (t *Tables) Cells(cells ...string) { t.Row("%s", strings.Join(cells, "\t")) }

// OrNever formats a figure, or returns "never" if it is not finite.
func OrNever(format string, v float64) string {
	if !finite(v) {
		return "never"
	}
	return fmt.Sprintf(format, v)
}
