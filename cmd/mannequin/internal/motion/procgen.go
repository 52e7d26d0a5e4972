package motion

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/offline/procgen"
)

// ProcgenReport is what procgen prints with --json.
type ProcgenReport struct {
	Out     string  `json:"out"`
	Clips   int     `json:"clips"`
	Frames  int     `json:"frames"`
	Minutes float64 `json:"minutes"`
	Seconds float64 `json:"seconds"` // that it took
	Licence string  `json:"licence"`
}

func newProcgen() *cobra.Command {
	var out string
	var minutes float64
	var seed uint64
	var threads int
	var asJSON bool
	c := &cobra.Command{
		Use:   "procgen --out DIR",
		Short: "Make motion of a dog without any recording, free to use",
		Long: `Make procedural motion of a dog: walk, pace, trot and canter with the footfalls
and speeds of living ones, turns, steps aside and back, idling, sitting, lying,
standing on the hind legs and jumping, and the ways between them. The folder
holds BVH files in centimetres and labels.json, as "mannequin train mann --data"
reads it, and is in the public domain (CC0 1.0). Equal flags give equal bytes.`,
		Example: `  mannequin procgen --out data/dog-free
  mannequin procgen --out quick --minutes 4 --seed 7
  mannequin train mann --data data/dog-free --out dog-free.safetensors --skate 0 --bend 0 --recover 0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !(minutes > 0 && minutes <= 1000):
				return command.Usagef("--minutes is %v, want more than 0, up to 1000", minutes)
			case threads < 1 || threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", threads)
			case seed == 0:
				return command.Usagef("--seed is 0, want at least 1")
			}
			start := time.Now()
			bar := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
			bar.Stage("clips")
			takes, err := procgen.Generate(procgen.Options{Minutes: minutes, Seed: seed, Workers: threads, Progress: bar.Step})
			bar.Finish()
			if err != nil {
				return err
			}
			if err := procgen.Write(out, takes); err != nil {
				return err
			}
			r := ProcgenReport{Out: out, Clips: len(takes), Seconds: time.Since(start).Seconds(), Licence: procgen.License}
			for _, t := range takes {
				r.Frames += t.Clip.Frames
			}
			r.Minutes = float64(r.Frames) / 3600
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), r)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d clips, %.1f minutes, in %.1f s; licence %s\n", out, r.Clips, r.Minutes, r.Seconds, r.Licence)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "`folder` to write")
	f.Float64Var(&minutes, "minutes", procgen.DefaultMinutes, "about how much motion to make, before it is mirrored")
	f.Uint64Var(&seed, "seed", 1, "other seeds give other clips")
	f.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("out"))
	return c
}
