package motion

import (
	"fmt"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/retarget"
)

// stylizeFlags are the flags of stylize.
type stylizeFlags struct {
	method, style, base       string
	read                      retarget.Reading
	amount                    float64
	iterations, edit, threads int
	seed                      uint64
	mar                       marFlags
}

// methods are the values of --method.
var methods = []string{"gram", "mar"}

func newStylize() *cobra.Command {
	var o stylizeFlags
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "stylize CONTENT... --style STYLE --out OUT.bvh",
		Short: "Give a motion another style, as a whole or frame by frame",
		Long: `Give the motion of a person another style and write it as BVH on the human skeleton: metres, 60
frames per second, world space. CONTENT is a BVH, FBX, glTF, AMC or TXT file of any skeleton with a
retargeting profile (mannequin import --retarget).

--method mar (Xia, Wang, Chai and Hodgins 2015) translates frame by frame into styles of a
database, styles-free or one of "mannequin style build". --style names them:

  proud                              a style
  proud:0.7,old:0.3                  a blend; the rest to 1 is the content's own style
  0:proud,3:old,5:own                over time, in seconds of the content; weights change
  0:proud,4:proud:0.5+angry:0.5      linearly in between; "own" is the content's own style

--action and --from-style say what the content is, but need not be given. Slow styles take
longer than the content and fast ones less, unless --timing=false.

With the content - frames come from the standard input, and each goes to the standard output as
soon as it is made: BVH, a line per frame, on the uniform skeleton (mannequin import --retarget).
"Frames:" may be 0 or missing in the input and is 0 in the output; mannequin reads such files, and
import --out counts their frames. The report goes to the standard error.

--method gram (Holden, Saito and Komura 2016) takes the --style from a recording. It looks for
hidden values of a motion manifold that are close to the content's and whose Gram matrix is close
to the style's. Then the motion is edited: the body moves as the content's, feet stand where and
when they did, bones keep their length. Content and style may differ, but the style shows best on
the same activity: a walk for a walk, at about its speed.
--style FILE:NAME is a style of "mannequin style transfer", or of the shipped styles-gram. It
costs almost nothing and suits walks and runs. --amount is its weight, up to 2.`,
		Example: `  mannequin stylize walk.bvh --method mar --style proud --out proud-walk.bvh
  mannequin stylize walk.bvh --method mar --style 0:own,2:old --action walk --out older.bvh
  capture | mannequin stylize - --method mar --style angry:0.5 --timing=false | show
  mannequin stylize walk.bvh --style old.bvh --out old-walk.bvh
  mannequin stylize takes/*.bvh --style styles-gram:sneaking --out sneaking
  mannequin stylize 07_04.bvh --style angry.bvh --amount 0.1 --out a-little.bvh --json`,
		Args: command.Want("a motion file, or - for the standard input", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if len(args) == 1 && args[0] == "-" {
				return o.stream(cmd, out, asJSON)
			}
			if out == "" {
				return command.Usagef("no --out: want the BVH file to write")
			}
			if out == "-" {
				return command.Usagef("--out - is for the content -")
			}
			outs, err := cli.Outputs(cmd, args, out, ".bvh")
			if err != nil {
				return err
			}
			return cli.ReportFiles(cmd.OutOrStdout(), args, asJSON, func(i int) (cli.Report, error) { return o.run(cmd, args[i], outs[i]) })
		},
	}
	f := c.Flags()
	cli.JSON(c, &asJSON)
	command.Choice(c, &o.method, "method", "gram", methods, "method")
	f.StringVar(&o.style, "style", "", "the `style`: with gram a recording or FILE:NAME of \"style transfer\", with mar styles of the database")
	command.Output(c, &out, "out", command.Either, "the BVH `file` to write; a folder if several are read")
	command.Number(c, &o.amount, "amount", 1, 0, 1000, "amount of style: scales the weight of the style's term, or with mar those of the styles")
	command.Number(c, &o.iterations, "iterations", manifold.StyleIterations, 1, 10000, "gram: largest number of steps towards the style")
	command.Number(c, &o.edit, "edit", manifold.DefaultIterations, 0, 10000, "gram: steps of the edit that locks standing feet and keeps bones; 0 is none")
	cli.Seed(c, &o.seed, "the white noise that gram starts from")
	cli.Model(c, &o.base, "manifold", "human", "gram: the motion manifold")
	input.Reading(c, &o.read)
	cli.Threads(c, &o.threads)
	o.mar.add(c)
	cli.Must(c.MarkFlagRequired("style"))
	return c
}

// check returns an error for flags that cannot be combined.
func (o *stylizeFlags) check(cmd *cobra.Command) error {
	others, most := marOnly, 1000.0
	if o.method == "mar" {
		others, most = gramOnly, 1
	}
	if err := cli.Unused(cmd, "is not for --method "+o.method, others...); err != nil {
		return err
	}
	if o.amount > most || o.amount == 0 && o.method == "gram" {
		return command.Usagef("--amount is %v, want 0 to 1 with --method mar, above 0 with gram", o.amount)
	}
	return nil
}

// run gives the motion in a file the style.
func (o *stylizeFlags) run(cmd *cobra.Command, content, out string) (cli.Report, error) {
	if content == "-" {
		return nil, command.Usagef("- is for the only content")
	}
	if o.method == "mar" {
		return o.runMar(cmd.Context(), content, out, nil, nil)
	}
	if file, name, ok := transferOf(o.style); ok {
		if cmd.Flags().Changed("iterations") || cmd.Flags().Changed("seed") {
			return nil, command.Usagef("--iterations and --seed are for recordings of a style, %s is ready-made", o.style)
		}
		return o.restyle(content, out, file, name)
	}
	m, err := input.OpenManifold(o.base)
	if err != nil {
		return nil, err
	}
	rows, start, err := evalmanifold.OpenPerson(m, content, o.read)
	if err != nil {
		return nil, err
	}
	clip, _, err := evalmanifold.OpenPerson(m, o.style, o.read)
	if err != nil {
		return nil, err
	}
	rep, rows, err := evalmanifold.Stylize(m, rows, start, clip, evalmanifold.Styling{Content: content, Style: o.style, Amount: o.amount,
		Iterations: o.iterations, Edit: o.edit, Threads: o.threads, Seed: o.seed})
	if err != nil {
		return nil, err
	}
	rep.Out = out
	made, err := m.Clip(rows, manifold.Rate, start)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", content, err)
	}
	return rep, writeClip(out, made)
}
