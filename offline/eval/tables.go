package eval

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Tables writes a report as tables with titles. Tables without rows are left out.
type Tables struct {
	w     io.Writer
	title string            // of the table whose first row is not written yet
	heads string            // of its columns
	rows  *tabwriter.Writer // nil before the first row
	err   error
}

// NewTables returns Tables that write to w.
func NewTables(w io.Writer) *Tables { return &Tables{w: w} }

// Table begins a table. The heads of its columns are separated by tabs.
func (t *Tables) Table(title, heads string) {
	t.end()
	t.title, t.heads = title, heads
}

// Row adds a row. The format has the columns, separated by tabs.
func (t *Tables) Row(format string, args ...any) {
	if t.err != nil {
		return
	}
	if t.rows == nil {
		fmt.Fprintln(t.w, t.title)
		t.rows = tabwriter.NewWriter(t.w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t.rows, t.heads+"\t")
	}
	fmt.Fprintf(t.rows, format+"\t\n", args...)
}

// Cells adds a row of any number of columns.
func (t *Tables) Cells(cells ...string) { t.Row("%s", strings.Join(cells, "\t")) }

// Lines adds lines that are no table.
func (t *Tables) Lines(lines ...string) {
	t.end()
	for _, line := range lines {
		fmt.Fprintln(t.w, line)
	}
}

// Bars ends the report with the bars, which a terminal leaves on the screen.
func (t *Tables) Bars(of string, bars Bars) error {
	t.end()
	if t.err != nil {
		return t.err
	}
	fmt.Fprintf(t.w, "%s in short: %d of %d bars missed, marked *\n", of, bars.Missed(), len(bars))
	rows := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, row := range bars.Rows() {
		fmt.Fprintln(rows, row)
	}
	fmt.Fprintln(rows)
	return rows.Flush()
}

// end ends the table that has begun.
func (t *Tables) end() {
	if t.rows != nil {
		fmt.Fprintln(t.rows)
		t.err = t.rows.Flush()
		t.rows = nil
	}
}

// OrNever formats a figure, which is not finite if something never happens.
func OrNever(format string, v float64) string {
	if !finite(v) {
		return "never"
	}
	return fmt.Sprintf(format, v)
}
