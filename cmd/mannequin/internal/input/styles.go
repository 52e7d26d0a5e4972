package input

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/internal/closest"
	"mannequin/models/styles-free"
	"mannequin/models/styles-gram"
	"mannequin/netruntime"
)

// StyleAction is one action of a database.
type StyleAction struct {
	Action   string       `json:"action"`
	Period   float64      `json:"period_s"` // after which it repeats; 0 if it does not
	Takes    int          `json:"takes"`
	Seconds  float64      `json:"seconds"`
	Styles   []StyleClass `json:"styles"`
	Residual *float64     `json:"residual,omitempty"` // of its registration, mean of its takes; nil for procedural takes
	TwoWay   *float64     `json:"two_way,omitempty"`  // frames
	Warnings []string     `json:"warnings,omitempty"` // of its registration
}

// StyleClass is an action in a style.
type StyleClass struct {
	Style   string  `json:"style"`
	Takes   int     `json:"takes"`
	Seconds float64 `json:"seconds"`
	Windows int     `json:"windows"`
	Speed   float64 `json:"speed_m_s"` // over the ground
}

// ClassesOf lists the actions of a database, each with the styles that have takes of it.
func ClassesOf(db *mar.Database) []StyleAction {
	out := make([]StyleAction, len(db.Actions))
	classes := make([]StyleClass, len(db.Actions)*len(db.Styles))
	for f := range db.Frames() {
		_, a, s, number := db.Of(f)
		c := &classes[a*len(db.Styles)+s]
		c.Seconds += 1 / float64(db.FPS)
		if number == 0 {
			c.Takes++
		}
		if number >= mar.Window-1 {
			c.Windows++
		}
	}
	for a, name := range db.Actions {
		out[a] = StyleAction{Action: name, Period: db.Periods[a] / float64(db.FPS)}
		for s, style := range db.Styles {
			if c := classes[a*len(db.Styles)+s]; c.Takes > 0 {
				c.Style, c.Speed = style, float64(db.Speed(a, s))
				out[a].Styles = append(out[a].Styles, c)
				out[a].Takes, out[a].Seconds = out[a].Takes+c.Takes, out[a].Seconds+c.Seconds
			}
		}
	}
	return out
}

// Names of the embedded styles.
const (
	ShippedStyles    = "styles-free" // a database
	ShippedTransfers = "styles-gram" // of a crowd
)

// OpenStyles opens a shipped database of styles or a file.
func OpenStyles(nameOrPath string) (*mar.Database, error) {
	return openStyles(nameOrPath, ShippedStyles, "database of styles", "style build", stylesfree.Open, mar.Open)
}

// OpenStyleSet opens the shipped styles of a crowd or a file of such styles.
func OpenStyleSet(nameOrPath string) (*manifold.StyleSet, error) {
	return openStyles(nameOrPath, ShippedTransfers, "file of styles of a crowd", "style transfer", stylesgram.Open, manifold.OpenStyleSet)
}

// openStyles opens the shipped styles, or a file that the command by writes.
func openStyles[S any](nameOrPath, shipped, what, by string, embedded func() (S, error), open func(path string) (S, error)) (s S, err error) {
	if nameOrPath == shipped {
		return embedded()
	}
	if _, err := os.Stat(nameOrPath); err != nil && !strings.ContainsAny(nameOrPath, `/\.`) {
		return s, fmt.Errorf("no %s %q: want %s or a file of \"mannequin %s\"%s", what, nameOrPath, shipped, by, closest.Hint(nameOrPath, []string{shipped}))
	}
	s, err = open(nameOrPath)
	var other *netruntime.UnsupportedError
	if errors.As(err, &other) && other.What == "architecture" {
		err = fmt.Errorf("%s: a network (%s), not a %s: make one with \"mannequin %s\"", nameOrPath, other.Got, what, by)
	}
	return s, err
}
