package eval

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Tables prints the sections of a report.
type Tables struct {
	W   io.Writer
	Err error
}

// Section prints a title and the rows, whose cells are separated by tabs.
func (t *Tables) Section(title string, rows ...string) {
	t.Table(title, tabwriter.AlignRight, rows)
}

func (t *Tables) Table(title string, flags uint, rows []string) {
	if t.Err != nil {
		return
	}
	fmt.Fprintf(t.W, "%s\n", title)
	tw := tabwriter.NewWriter(t.W, 0, 0, 2, ' ', flags)
	for _, r := range rows {
		if flags&tabwriter.AlignRight != 0 {
			r += "\t"
		}
		fmt.Fprintln(tw, r)
	}
	fmt.Fprintln(tw)
	t.Err = tw.Flush()
}

func Cells(v ...string) string { return strings.Join(v, "\t") }

func OrNever(format string, v *float64) string {
	if v == nil {
		return "never"
	}
	return fmt.Sprintf(format, *v)
}
