package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
)

// Converts makes c a command that reads files and writes one for each, with the extension ext, and
// reports on them. The flag --out names the file, or the folder if several are read. what describes
// the arguments.
func Converts(c *cobra.Command, what, ext string, run func(cmd *cobra.Command, in, out string) (Report, error)) {
	var out string
	var asJSON bool
	JSON(c, &asJSON)
	command.Out(c, &out, command.Either, "`file` to write ("+ext+"); a folder if several are read")
	c.Args = command.Want(what, 1, -1)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		outs, err := Outputs(cmd, args, out, ext)
		if err != nil {
			return err
		}
		return ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (Report, error) { return run(cmd, args[i], outs[i]) })
	}
}

// Outputs returns the file to write for each of the files that are read: out itself, or a file with
// the extension ext in out if that is a folder or several are read. It makes the folder. None may be
// a file that cmd reads.
func Outputs(cmd *cobra.Command, in []string, out, ext string) ([]string, error) {
	st, err := os.Stat(out)
	folder := err == nil && st.IsDir()
	if len(in) == 1 && !folder {
		return []string{out}, nil
	}
	if !folder && strings.EqualFold(filepath.Ext(out), ext) {
		return nil, command.Usagef("--out %s: %d files are read, want a folder for what is made of them", out, len(in))
	}
	outs, of := make([]string, len(in)), map[string]string{}
	for i, file := range in {
		outs[i] = filepath.Join(out, Stem(filepath.Base(file))+ext)
		if other := of[outs[i]]; other != "" {
			return nil, command.Usagef("%s and %s would both be written to %s: rename one of them", other, file, outs[i])
		}
		of[outs[i]] = file
	}
	if err := command.Check(cmd, outs, nil); err != nil {
		return nil, err
	}
	return outs, os.MkdirAll(out, 0o777)
}

// ReportFiles reports on each file, by its index. Several reports as JSON are one object with an
// array. A file that cannot be read is an error in the end, after the other reports.
func ReportFiles(w io.Writer, files []string, asJSON bool, read func(i int) (Report, error)) error {
	var reports []any
	var errs []error
	for i, file := range files {
		r, err := read(i)
		if err != nil {
			if len(files) == 1 {
				return err
			}
			errs = append(errs, err)
			reports = append(reports, map[string]string{"file": file, "error": err.Error()})
			continue
		}
		reports = append(reports, r)
		if asJSON {
			continue
		}
		if err := r.Print(w); err != nil {
			return err
		}
		if len(files) > 1 {
			fmt.Fprintln(w)
		}
	}
	if asJSON {
		var v any = map[string]any{"files": reports}
		if len(reports) == 1 {
			v = reports[0]
		}
		if err := printJSON(w, v); err != nil {
			return err
		}
	}
	return Failed(errs, len(files))
}

// Failed returns the errors of some of the files as one, or nil if there are none.
func Failed(errs []error, files int) error {
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d files failed: %w", len(errs), files, errors.Join(errs...))
}

// PrintReport prints a report, or encodes it as one JSON object.
func PrintReport(w io.Writer, r Report, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	return r.Print(w)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// List prints rows of a name and a value. Rows without a value are left out. Call end after the last.
func List(w io.Writer) (row func(name, format string, args ...any), end func() error) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	return func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(t, "%s\t%s\n", command.Plain(name), command.Plain(text))
		}
	}, t.Flush
}

// OrNone returns s, or that it is not stated.
func OrNone(s string) string {
	if s == "" {
		return "not stated"
	}
	return s
}

// OrDash formats a number that may be missing.
func OrDash(v *float64, format string) string {
	if v == nil || *v == 0 {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}
