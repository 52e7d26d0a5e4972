package input

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/internal/closest"
	"mannequin/offline/retarget"
)

// profileFlag is the value of the flag --profile.
type profileFlag struct {
	name string
	v    **retarget.Profile
}

// profile adds the flag --profile, which opens a retargeting profile. Without the flag v stays nil:
// each recording has the built-in profile that fits, or a guess.
func profile(c *cobra.Command, v **retarget.Profile) {
	c.Flags().Var(&profileFlag{v: v}, "profile", "how the recordings' joints map to ours: "+strings.Join(retarget.ProfileNames(), ", ")+", or a TOML `file` of import --suggest (default: the one that fits, or a guess from the names)")
}

func (p *profileFlag) Set(name string) (err error) {
	if name == "" {
		return errors.New("want the name of a profile or a file")
	}
	p.name = name
	if *p.v = retarget.Named(name); *p.v != nil {
		return nil
	}
	if *p.v, err = retarget.OpenProfile(name); errors.Is(err, fs.ErrNotExist) {
		return errors.New("want " + strings.Join(retarget.ProfileNames(), ", ") + " or a file that exists" + closest.Hint(name, retarget.ProfileNames()))
	}
	return err
}

func (p *profileFlag) String() string { return p.name }
func (p *profileFlag) Type() string   { return "name" }
