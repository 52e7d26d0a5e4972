package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// ReportFiles reports each file. Several files in JSON become one object with
// an array; a file that cannot be read does not keep the others from their
// report, but makes an error in the end.
func ReportFiles[R any](w io.Writer, files []string, asJSON bool, read func(string) (R, error), print func(io.Writer, R) error) error {
	var reports []any
	var errs []error
	for _, file := range files {
		r, err := read(file)
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
		if err := print(w, r); err != nil {
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
		if err := PrintJSON(w, v); err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d files failed: %w", len(errs), len(files), errors.Join(errs...))
	}
	return nil
}

// Plain returns s without the control characters that would speak to the
// terminal; line ends and tabs stay.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

func OrNone(s string) string {
	if s == "" {
		return "not stated"
	}
	return s
}

// PrintJSON writes v as one indented object.
// PrintReport prints a report, as one JSON object if that is asked for.
func PrintReport(w io.Writer, r interface{ Print(io.Writer) error }, asJSON bool) error {
	if asJSON {
		return PrintJSON(w, r)
	}
	return r.Print(w)
}

func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// EachFile prints a row for each file; one that cannot be read does not keep the
// others from theirs.
func EachFile[R any](w io.Writer, files []string, read func(string) (R, error), row func(io.Writer, R) error) error {
	var errs []error
	for _, file := range files {
		r, err := read(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := row(w, r); err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d files failed: %w", len(errs), len(files), errors.Join(errs...))
	}
	return nil
}

// OrDash formats a number that may not be there.
func OrDash(v *float64, format string) string {
	if v == nil || *v == 0 {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}
