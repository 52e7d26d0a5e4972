package inspect

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mannequin/animsys/mann"
	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	dogfree "mannequin/models/dog-free"
	"mannequin/models/person"
	"mannequin/offline/certify"
	"mannequin/offline/character"
)

// Certify returns the command certify.
func Certify() *cobra.Command {
	var asJSON bool
	var mapFile, picture string
	c := &cobra.Command{
		Use:   "certify FILE...",
		Short: "Does this character work here? A table of gates, and what to mend",
		Long: `Puts test motions of the shipped networks on a character's own bones, and judges the result: are its joints
found, is it symmetrical, of a plausible size, weighted; do its feet stand and not slide; does it go through itself;
what does it cost. Each gate has a measure, a bar, and what to mend in the modelling program. The exit code is 1 if a
gate is missed. Files are glTF, VRM or FBX. --picture draws the character at rest and in the test motion, or, if its
joints are not found, those that are, in test poses and in a motion of its file.`,
		Example: "  mannequin certify hero.glb --picture hero.png\n  mannequin certify *.fbx --json",
		Args:    command.Want("files", 1, -1),
	}
	cli.JSON(c, &asJSON)
	const about = "TOML `FILE` that maps our joint names to the file's, where their roles are not right (docs/rigs.md)"
	c.Flags().StringVar(&mapFile, "profile", "", about)
	c.Flags().StringVar(&mapFile, "skin-map", "", "the same as --profile")
	c.MarkFlagsMutuallyExclusive("profile", "skin-map")
	command.Path(c, &picture, "picture", "PNG `file` to draw the character to, at rest and in the test motion")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if picture != "" && len(args) > 1 {
			return command.Usagef("--picture is for one file, and %d are given", len(args))
		}
		var as map[string]string
		if mapFile != "" {
			var err error
			if as, err = skin.OpenMap(mapFile); err != nil {
				return err
			}
		}
		var motions motions
		var failed []string
		err := cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) {
			s, err := character.Open(args[i])
			if err != nil {
				return nil, err
			}
			m, err := motions.of(s, as)
			if err != nil {
				return nil, err
			}
			r := &certificate{certify.Run(s, m, as, func(m skin.Motion) ([]byte, error) {
				glb, _, err := character.AddMotions(args[i], []skin.Motion{m}, skin.AddOptions{})
				return glb, err
			})}
			if !r.Pass() {
				failed = append(failed, args[i])
			}
			switch {
			case picture == "":
				return r, nil
			case r.Character == nil: // what was found shows what is wrong
				own, err := character.Motions(args[i])
				if err != nil {
					return r, err
				}
				return r, writePicture(picture, skinScene(s, s.Roles(as), ownMotion(own)).draw(filepath.Base(args[i])))
			}
			return r, writePicture(picture, playScene(s.Roles(as), r.Character, m).draw(filepath.Base(args[i])))
		})
		if len(failed) > 0 {
			err = errors.Join(err, fmt.Errorf("%s: not certified", strings.Join(failed, ", ")))
		}
		return err
	}
	return c
}

// motions are the test motions, made when they are needed first.
type motions struct{ people, dogs *certify.Motion }

// of returns the test motion for a skin, whose joints as maps: a person's for two legs, a dog's for four.
func (m *motions) of(s *skin.Skin, as map[string]string) (*certify.Motion, error) {
	if upright, err := s.Roles(as).Upright(); err == nil && !upright {
		if m.dogs == nil {
			net, err := dogfree.Open()
			if err != nil {
				return nil, err
			}
			model, err := mann.NewModel(net)
			if err != nil {
				return nil, err
			}
			if m.dogs, err = certify.Dogs(model); err != nil {
				return nil, err
			}
		}
		return m.dogs, nil
	}
	if m.people == nil {
		networks, err := person.Open()
		if err != nil {
			return nil, err
		}
		if m.people, err = certify.People(networks); err != nil {
			return nil, err
		}
	}
	return m.people, nil
}

// certificate is the report of certify.
type certificate struct{ *certify.Certificate }

// Print prints the table.
func (r *certificate) Print(w io.Writer) error {
	verdict := "passes"
	if !r.Pass() {
		verdict = "does not pass"
	}
	if r.Character != nil {
		fmt.Fprintf(w, "%s %s: a %s, %.2f m high, legs %.2f of the motion's\n", command.Plain(r.File), verdict, r.Kind, r.High, r.Size)
	} else {
		fmt.Fprintf(w, "%s %s\n", command.Plain(r.File), verdict)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range r.Gates {
		mark := "pass"
		if !g.Pass {
			mark = "FAIL"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t(%s)\n", mark, g.Name, command.Plain(g.Measure), g.Bar)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, g := range r.Gates {
		if g.Mend != "" {
			fmt.Fprintf(w, "  %s: %s\n", g.Name, g.Mend)
		}
	}
	return nil
}
