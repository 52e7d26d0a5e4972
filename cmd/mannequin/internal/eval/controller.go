package eval

import (
	"cmp"
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
	var walk, run float64
	c := &cobra.Command{
		Use:   "controller CHARACTER|MODEL...",
		Short: "Measure characters that goals steer: one table for every kind",
		Long: `Measures characters that a player steers: files of mannequin make, and mode-adaptive networks by name or file. They
start, turn by 90° and 180° and stop at five speeds, and follow a circle. The table says whether they hold speeds and bend
their legs, how soon they answer, how far they are from the circle, how much feet slide and joints jerk, and what a tick costs. A second
table says how soon they do what they are asked for: over 20 phases of the gait at which the command comes, to both sides.
A third one says how much later their path turns back than a stick that swings, and a fourth which speeds they hold ahead,
aside, backward and crouched. docs/make.md explains the measures.`,
		Example: "  mannequin eval controller hero.character\n  mannequin eval controller dog dog-free --json\n  mannequin eval controller hero.character --walk 1.4 --run 3.5",
		Args:    command.Want("characters", 1, -1),
	}
	cli.JSON(c, &asJSON)
	c.Flags().Float64Var(&walk, "walk", 0, "slow speed of the other tables, m/s (default: the slowest of the first)")
	c.Flags().Float64Var(&run, "run", 0, "fast speed of the other tables, m/s (default: the fastest of the first)")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) {
			ways, err := subjects(args[i])
			if err != nil {
				return nil, err
			}
			out := &controllerReport{File: filepath.Base(args[i])}
			for _, s := range ways {
				r, err := controller.Measure(s.Subject)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", args[i], err)
				}
				slow, fast := cmp.Or(walk, r.Speeds[0].Asked), cmp.Or(run, r.Speeds[len(s.Speeds)-1].Asked)
				answers, err := controller.Respond(s.Subject, float32(slow), float32(fast))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", args[i], err)
				}
				held, err := controller.Hold(s.Subject, float32(slow), float32(fast))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", args[i], err)
				}
				apexes, err := controller.Apexes(s.Subject, float32(slow), float32(fast))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", args[i], err)
				}
				out.Ways = append(out.Ways, way{s.by, r, answers, apexes, held})
			}
			return out, nil
		})
	}
	return c
}

// subject is a character and the way in which it moves.
type subject struct {
	by string
	controller.Subject
}

// subjects opens a character. A file of mannequin make may have several ways.
func subjects(name string) (out []subject, err error) {
	if !slices.Contains(models.Names(), name) {
		f, err := models.OpenCharacter(name)
		if err == nil {
			return ways(f), nil
		}
		if m, other := models.OpenAs(name, mann.NewModel); other == nil {
			return []subject{network(m)}, nil
		}
		return nil, err
	}
	m, err := models.OpenAs(name, mann.NewModel)
	return []subject{network(m)}, err
}

// ways returns the ways of a file of mannequin make.
func ways(f *matching.File) (out []subject) {
	var clips controller.Subject
	if f.Database != nil {
		clips = recorded(f.Database)
	}
	clips.Speeds, clips.Top = f.Character().Speeds(controller.Gaits), f.Character().TopSpeed()
	clips.Size, clips.Action = f.Character().Size, f.Character().Action
	for _, w := range f.Ways() {
		s, only := clips, f.Only(w)
		s.New, s.Memory = controller.Plays(only), only.Bytes()
		out = append(out, subject{w.String(), s})
	}
	return out
}

// recorded returns the clips of a database.
func recorded(d *matching.Database) (s controller.Subject) {
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
func network(m *mann.Model) subject {
	return subject{matching.AdaptiveNetwork.String(), controller.Subject{
		New: func(n int) (generator.Generator[control.Goal], error) {
			return m.NewController(mann.ControllerOptions{Capacity: n, Workers: 1})
		},
		Speeds: []float32{control.WalkSpeed, control.TrotSpeed, control.CanterSpeed},
	}}
}

// controllerReport is the tables of one character.
type controllerReport struct {
	File string `json:"file"`
	Ways []way  `json:"ways"`
}

type way struct {
	By string `json:"by"`
	*controller.Report
	Responses []controller.Response `json:"responses"`
	Apexes    []controller.Apex     `json:"apexes"`
	Held      []controller.Held     `json:"held"`
}

// Print prints each table below the character's name.
func (r *controllerReport) Print(w io.Writer) error {
	for i, way := range r.Ways {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s by %s\n", command.Plain(r.File), way.By)
		if err := way.Report.Print(w); err != nil {
			return err
		}
		if err := controller.PrintResponses(w, way.Responses); err != nil {
			return err
		}
		if err := controller.PrintApexes(w, way.Apexes); err != nil {
			return err
		}
		if err := controller.PrintHeld(w, way.Held); err != nil {
			return err
		}
	}
	return nil
}
