package motion

import (
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/mocap"
)

// stylizeFlags are the flags of the command.
type stylizeFlags struct {
	method, content, style, out, base string
	amount                            float64
	iterations, edit, threads         int
	seed                              uint64
	asJSON                            bool
	mar                               marFlags
}

func newStylize() *cobra.Command {
	var o stylizeFlags
	c := &cobra.Command{
		Use:   "stylize --content A.bvh --style STYLE --out C.bvh",
		Short: "Give a motion another style, at once or as it comes",
		Long: `Give the motion of a person another style, and write it as BVH on the human
skeleton: metres, 60 frames per second, world space.

With --method mar (Xia, Wang, Chai and Hodgins 2015) motion is translated frame by
frame into styles of a database, styles-free or one of "mannequin style build".
--style says which, by their names in it:

  proud                              a style
  proud:0.7,old:0.3                  a blend; what is missing to 1 is the content's own
  0:proud,3:old,5:own                over time, in seconds of the content: from one
  0:proud,4:proud:0.5+angry:0.5      time to the next weights change evenly; "own" is
                                     the content's own style

Nothing need be known of the content; --action and --from-style say what is. Slow
styles take longer than the content did, fast ones less, unless --timing=false.

With --content - frames come from the standard input and go to the standard output,
each as soon as it is made: BVH, a line per frame, on the uniform skeleton (mannequin
import --retarget). "Frames:" may be 0 or missing on the way in and is 0 on the way
out; mannequin reads such files, and import --out counts their frames. The report
goes to the standard error.

With --method gram (Holden, Saito and Komura 2016) --style is a recording. The hidden
values of a motion manifold are sought that are near to those of the content and
whose Gram matrix is near to the style's. Then the motion is edited: the body moves
as the content's, feet stand where and when they did, bones keep their length.
--style FILE:NAME is a style of "mannequin style transfer", or of the shipped
styles-gram: a crowd's, found before, which costs next to nothing. --amount is then
its weight, up to 2; it suits walks and runs.

Recordings are BVH or AMC files of any skeleton that a retargeting profile fits
(mannequin import --retarget). With gram content and style need not do the same,
but the style shows best where they do: a walk for a walk, at about its speed.`,
		Example: `  mannequin stylize --method mar --content walk.bvh --style proud --out proud-walk.bvh
  mannequin stylize --method mar --content walk.bvh --style 0:own,2:old --action walk --out older.bvh
  capture | mannequin stylize --method mar --content - --style angry:0.5 --timing=false | show
  mannequin stylize --content walk.bvh --style old.bvh --out old-walk.bvh
  mannequin stylize --content walk.bvh --style styles-gram:sneaking --out sneak.bvh
  mannequin stylize --content 07_04.bvh --style angry.bvh --amount 0.1 --out a-little.bvh --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			others := marOnly
			if o.method == "mar" {
				others = gramOnly
			}
			for _, name := range others {
				if cmd.Flags().Changed(name) && (o.method == "mar" || o.method == "gram") {
					return command.Usagef("--%s is not for --method %s", name, o.method)
				}
			}
			if o.content == "-" && o.out == "" {
				o.out = "-"
			}
			switch {
			case o.method != "gram" && o.method != "mar":
				return command.Usagef("--method is %q, want gram or mar", o.method)
			case o.out == "":
				return command.Usagef("no --out: want the BVH file to write")
			case o.method == "mar":
				return o.printMar(cmd)
			case o.content == "-" || o.out == "-":
				return command.Usagef("streams (-) are for --method mar")
			case !(o.amount > 0 && o.amount <= 1000):
				return command.Usagef("--amount is %v, want more than 0 and at most 1000", o.amount)
			case o.iterations < 1 || o.iterations > 10000:
				return command.Usagef("--iterations is %d, want 1 to 10000", o.iterations)
			case o.edit < 0 || o.edit > 10000:
				return command.Usagef("--edit is %d, want 0 to 10000", o.edit)
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			}
			if file, name, ok := transferOf(o.style); ok {
				if cmd.Flags().Changed("iterations") || cmd.Flags().Changed("seed") {
					return command.Usagef("--iterations and --seed are for a recording of a style, %s is found already", o.style)
				}
				return o.restyle(cmd.OutOrStdout(), file, name)
			}
			rep, err := o.run()
			if err != nil {
				return err
			}
			if o.asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), rep)
			}
			rep.Print(cmd.OutOrStdout())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.method, "method", "gram", "how: gram or mar")
	f.StringVar(&o.content, "content", "", "the motion to change, BVH or AMC; with mar - for the standard input")
	f.StringVar(&o.style, "style", "", "the style it gets: with gram a recording, BVH or AMC, or FILE:NAME of \"style transfer\", with mar styles of the database")
	f.StringVarP(&o.out, "out", "o", "", "the BVH file to write; with mar - for the standard output")
	f.Float64Var(&o.amount, "amount", 1, "how much style: scales the weight of the style's term, or with mar those of the styles")
	f.IntVar(&o.iterations, "iterations", manifold.StyleIterations, "most steps towards the style")
	f.IntVar(&o.edit, "edit", manifold.DefaultIterations, "steps of the edit that holds standing feet and bones; 0 leaves it out")
	f.Uint64Var(&o.seed, "seed", 1, "of the white noise to start from")
	f.StringVar(&o.base, "manifold", "human", "a shipped model's name, or a model file: the motion manifold")
	f.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&o.asJSON, "json", false, "print the report as one JSON object")
	o.mar.add(c)
	for _, name := range []string{"content", "style"} {
		cli.Must(c.MarkFlagRequired(name))
	}
	return c
}

func (o *stylizeFlags) run() (*evalmanifold.Stylized, error) {
	m, err := input.OpenManifold(o.base)
	if err != nil {
		return nil, err
	}
	content, start, err := evalmanifold.OpenPerson(m, o.content)
	if err != nil {
		return nil, err
	}
	clip, _, err := evalmanifold.OpenPerson(m, o.style)
	if err != nil {
		return nil, err
	}
	rep, rows, err := evalmanifold.Stylize(m, content, start, clip, evalmanifold.Styling{Content: o.content, Style: o.style, Amount: o.amount,
		Iterations: o.iterations, Edit: o.edit, Threads: o.threads, Seed: o.seed})
	if err != nil {
		return nil, err
	}
	rep.Out = o.out
	made, err := m.Clip(rows, manifold.Rate, start)
	if err != nil {
		return nil, err
	}
	return rep, atomicfile.Write(o.out, func(w io.Writer) error { return mocap.WriteClip(w, made) })
}
