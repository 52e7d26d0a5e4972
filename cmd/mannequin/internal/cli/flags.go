package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
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
	*r.v = v
	return nil
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

// Choice adds the flag of a name out of some. The help lists them.
func Choice(c *cobra.Command, v *string, name, def string, of []string, usage string) {
	*v = def
	c.Flags().Var(&choice{v, of}, name, usage+": "+strings.Join(of, ", "))
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

// Path adds the flag of a file or a folder. Its usage names it in backquotes.
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

// Out adds the flag --out, which is required. Its usage names what is written in backquotes.
func Out(c *cobra.Command, v *string, usage string) {
	c.Flags().VarP(path{v}, "out", "o", usage)
	Must(c.MarkFlagRequired("out"))
}

// Threads adds the flag --threads.
func Threads(c *cobra.Command, v *int) {
	Number(c, v, "threads", runtime.GOMAXPROCS(0), 1, 1024, "worker goroutines; results do not depend on their number")
}

// Seed adds the flag --seed.
func Seed(c *cobra.Command, v *uint64, of string) {
	Number(c, v, "seed", 1, 0, math.MaxUint64, "seed of "+of)
}

// HeldOut adds the flag --held-out. def says which recordings are held out without it.
func HeldOut(c *cobra.Command, v *[]string, def string) {
	c.Flags().StringSliceVar(v, "held-out", nil, "`patterns` of the recordings that the network does not learn from, file names without extension (default: "+def+")")
}

// Model adds the flag of a network, which is a shipped model's name or a model file.
func Model(c *cobra.Command, v *string, name, def, what string) {
	c.Flags().StringVar(v, name, def, what+": a shipped model's `name` or a model file")
}

// People adds the flags of the networks of people on curves.
func People(c *cobra.Command, manifold, footstep, locomotion *string) {
	Model(c, manifold, "manifold", "human", "the motion manifold")
	Model(c, footstep, "footstep", "human-footstep", "the network of footsteps")
	Model(c, locomotion, "locomotion", "human-locomotion", "the network of locomotion")
}

// Acts adds the flags of the networks of punches and kicks.
func Acts(c *cobra.Command, punch, kick *string) {
	Model(c, punch, "punch", "human-punch", "the network of punches")
	Model(c, kick, "kick", "human-kick", "the network of kicks")
}

// JSON adds the flag --json.
func JSON(c *cobra.Command, v *bool) {
	c.Flags().BoolVar(v, "json", false, "print the report as one JSON object")
}

// Report is what a command prints.
type Report interface{ Print(w io.Writer) error }

// Reports makes c print the report that run returns, and adds the flag --json.
func Reports(c *cobra.Command, run func(cmd *cobra.Command, args []string) (Report, error)) {
	var asJSON bool
	JSON(c, &asJSON)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := run(cmd, args)
		if err != nil {
			return err
		}
		return PrintReport(cmd.OutOrStdout(), r, asJSON)
	}
}
