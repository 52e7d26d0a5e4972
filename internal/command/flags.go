package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/internal/closest"
)

// Positive is the lower end of a range that leaves out 0.
const Positive = 1e-40

// ranged is a number in a range, as the value of a flag.
type ranged[T int | int64 | uint64 | float32 | float64] struct {
	v      *T
	lo, hi T
}

// Number adds the flag of a number from lo to hi. A hi of the type's greatest number is no limit.
// The default may lie outside, such as 0 if it means that something else decides.
func Number[T int | int64 | uint64 | float32 | float64](c *cobra.Command, v *T, name string, def, lo, hi T, usage string) {
	*v = def
	r := &ranged[T]{v, lo, hi}
	c.Flags().Var(r, name, fmt.Sprintf("%s [%s]", usage, r.span()))
}

func (r *ranged[T]) Set(text string) error {
	var err error
	v := *r.v
	switch p := any(&v).(type) {
	case *int:
		*p, err = strconv.Atoi(text)
	case *int64:
		*p, err = strconv.ParseInt(text, 10, 64)
	case *uint64:
		*p, err = strconv.ParseUint(text, 10, 64)
	case *float32:
		var wide float64
		wide, err = strconv.ParseFloat(text, 32)
		*p = float32(wide)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	}
	if err != nil || !(v >= r.lo && v <= r.hi) {
		return errors.New("want " + r.span())
	}
	if v == 0 && !zero(text) {
		return errors.New("want " + r.span() + ": so small a number is rounded to 0")
	}
	*r.v = v
	return nil
}

// zero reports whether a number that is rounded to 0 was written as 0.
func zero(text string) bool {
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	return !strings.ContainsAny(digits, "123456789")
}

func (r *ranged[T]) String() string {
	if r.v == nil { // of the zero value, which package pflag asks
		return ""
	}
	return fmt.Sprint(*r.v)
}

func (r *ranged[T]) Type() string {
	if name := fmt.Sprintf("%T", r.lo); name != "float32" {
		return name
	}
	return "float64" // which help shows as float
}

// span describes the range.
func (r *ranged[T]) span() string {
	number := func(v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
	lo, hi := float64(r.lo), float64(r.hi)
	positive, limited := lo > 0 && lo < 1e-30, hi < math.MaxInt64
	switch {
	case positive && limited:
		return "above 0, up to " + number(r.hi)
	case positive:
		return "above 0"
	case limited:
		return number(r.lo) + " to " + number(r.hi)
	}
	return number(r.lo) + " or more"
}

// choice is a name out of some, as the value of a flag.
type choice struct {
	v  *string
	of []string
}

// Choice adds the flag of a name out of some. The help lists them, unless the usage does.
func Choice(c *cobra.Command, v *string, name, def string, of []string, usage string) {
	*v = def
	if !strings.Contains(usage, of[0]) {
		usage += ": " + strings.Join(of, ", ")
	}
	c.Flags().Var(&choice{v, of}, name, usage)
}

func (c *choice) Set(text string) error {
	i := slices.IndexFunc(c.of, func(name string) bool { return strings.EqualFold(name, text) })
	if i < 0 {
		return fmt.Errorf("want %s%s", strings.Join(c.of, ", "), closest.Hint(text, c.of))
	}
	*c.v = c.of[i]
	return nil
}

func (c *choice) String() string {
	if c.v == nil {
		return ""
	}
	return *c.v
}

func (c *choice) Type() string { return "name" }

// path is a path, as the value of a flag, which may not be empty.
type path struct{ v *string }

// Path adds the flag of a file or a folder that the command reads. Its usage names it in backquotes.
func Path(c *cobra.Command, v *string, name, usage string) { c.Flags().Var(path{v}, name, usage) }

func (p path) Set(text string) error {
	if text == "" {
		return errors.New("want a path")
	}
	*p.v = text
	return nil
}

func (p path) String() string {
	if p.v == nil {
		return ""
	}
	return *p.v
}

func (p path) Type() string { return "path" }

// chosen is some names out of others, as the value of a flag.
type chosen struct {
	v  *[]string
	of []string
}

// Choices adds the flag of some names out of others, with commas between them or repeated. The help
// lists them, unless the usage does.
func Choices(c *cobra.Command, v *[]string, name string, of []string, usage string) {
	if !strings.Contains(usage, of[0]) {
		usage += ": some of " + strings.Join(of, ", ")
	}
	c.Flags().Var(&chosen{v, of}, name, usage)
}

func (c *chosen) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		if !slices.Contains(c.of, name) {
			return fmt.Errorf("want some of %s%s", strings.Join(c.of, ", "), closest.Hint(name, c.of))
		}
		*c.v = append(*c.v, name)
	}
	return nil
}

func (c *chosen) String() string {
	if c.v == nil {
		return ""
	}
	return strings.Join(*c.v, ",")
}

func (c *chosen) Type() string { return "names" }
