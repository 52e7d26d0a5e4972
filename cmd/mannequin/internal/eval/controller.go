package eval

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/eval/controller"
)

func newEvalController() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "controller CHARACTER|MODEL...",
		Short: "Measure characters that goals steer: one table for every kind",
		Long: `Measures characters that a player steers: files of mannequin make, and mode-adaptive networks by name or file. They
start, turn by 90° and 180° and stop at three speeds, and follow a circle. The table says whether they hold speeds, how
soon they answer, how far they are from the circle, how much feet slide and joints jerk, and what a tick costs.
docs/make.md explains the measures.`,
		Example: "  mannequin eval controller hero.character\n  mannequin eval controller dog dog-free --json",
		Args:    command.Want("characters", 1, -1),
	}
	cli.JSON(c, &asJSON)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) {
			s, err := subject(args[i])
			if err != nil {
				return nil, err
			}
			r, err := controller.Measure(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", args[i], err)
			}
			return &controllerReport{filepath.Base(args[i]), r}, nil
		})
	}
	return c
}

// subject opens a character.
func subject(name string) (s controller.Subject, err error) {
	if !slices.Contains(models.Names(), name) {
		d, err := matching.Open(name)
		if err == nil {
			return recorded(d), nil
		}
		if m, other := models.OpenAs(name, mann.NewModel); other == nil {
			return network(m), nil
		}
		return s, err
	}
	m, err := models.OpenAs(name, mann.NewModel)
	return network(m), err
}

// recorded is a character that plays a database, beside the clips in it.
func recorded(d *matching.Database) controller.Subject {
	s := controller.Subject{Size: d.Size, New: func(n int) (generator.Generator[control.Goal], error) {
		return d.NewStream(matching.StreamOptions{Capacity: n})
	}}
	move := matching.Tags(0)
	if i := slices.Index(d.Tags, control.Move.String()); i >= 0 {
		move = 1 << i
	}
	for i := range d.Clips() {
		c, tags := d.Motion(i)
		moves := make([]bool, len(tags))
		for f, t := range tags {
			moves[f] = t&move == move
		}
		s.Clips, s.Moves = append(s.Clips, c), append(s.Moves, moves)
	}
	return s
}

// network is a quadruped, at the speeds of its gaits.
func network(m *mann.Model) controller.Subject {
	return controller.Subject{
		New: func(n int) (generator.Generator[control.Goal], error) {
			return m.NewController(mann.ControllerOptions{Capacity: n, Workers: 1})
		},
		Speeds: []float32{control.WalkSpeed, control.TrotSpeed, control.CanterSpeed},
	}
}

// controllerReport is the table of one character.
type controllerReport struct {
	File string `json:"file"`
	*controller.Report
}

// Print prints the table below the character's name.
func (r *controllerReport) Print(w io.Writer) error {
	fmt.Fprintln(w, command.Plain(r.File))
	return r.Report.Print(w)
}
