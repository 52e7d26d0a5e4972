package motion

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/offline/procgen"
)

// ProcgenReport is the report of procgen.
type ProcgenReport struct {
	Out     string  `json:"out"`
	Clips   int     `json:"clips"`
	Frames  int     `json:"frames"`
	Minutes float64 `json:"minutes"`
	Seconds float64 `json:"seconds"` // to make them
	Licence string  `json:"licence"`
}

func newProcgen() *cobra.Command {
	var out string
	var opt procgen.Options
	c := &cobra.Command{
		Use:   "procgen --out DIR",
		Short: "Make procedural motion of a dog, free for any use",
		Long: `Make procedural motion of a dog: walk, pace, trot and canter with the footfalls and speeds of
real dogs, turns, steps sideways and back, idling, sitting, lying, standing on the hind legs and
jumping, and the transitions. The folder holds BVH files in centimetres and labels.json, ready for
"mannequin train mann", in the public domain (CC0 1.0). Equal flags give equal bytes.`,
		Example: `  mannequin procgen --out data/dog-free
  mannequin procgen --out quick --minutes 4 --seed 7
  mannequin train mann data/dog-free --out dog-free.safetensors --skate 0 --bend 0 --recover 0`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		start := time.Now()
		bar := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
		bar.Stage("clips")
		opt.Progress = bar.Step
		takes, err := procgen.Generate(opt)
		bar.Finish()
		if err != nil {
			return nil, err
		}
		if err := procgen.Write(out, takes); err != nil {
			return nil, err
		}
		r := ProcgenReport{Out: out, Clips: len(takes), Seconds: time.Since(start).Seconds(), Licence: procgen.License}
		for _, t := range takes {
			r.Frames += t.Clip.Frames
		}
		r.Minutes = float64(r.Frames) / 3600
		return r, nil
	})
	command.Out(c, &out, command.Folder, "`folder` to write")
	command.Number(c, &opt.Minutes, "minutes", procgen.DefaultMinutes, command.Positive, 1000, "about the length of the motion, before it is mirrored")
	command.Number(c, &opt.Seed, "seed", 1, 1, math.MaxUint64, "seed of the clips")
	cli.Threads(c, &opt.Workers)
	return c
}

// Print writes the report as text.
func (r ProcgenReport) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d clips, %.1f minutes, in %.1f s; licence %s\n", r.Out, r.Clips, r.Minutes, r.Seconds, r.Licence)
	return err
}
