// Package judge has the commands that compare made motion with recordings.
package judge

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	"mannequin/offline/judge"
	"mannequin/offline/retarget"
)

// Commands returns the commands.
func Commands() []*cobra.Command { return []*cobra.Command{newJudge(), newCompare()} }

// judgeOptions are the flags of judge.
type judgeOptions struct {
	refs, without []string
	from          string
	read          retarget.Reading
	threads       int
}

func newJudge() *cobra.Command {
	var o judgeOptions
	c := &cobra.Command{
		Use:   "judge FILE... {--ref RECORDINGS | --from CLIP}",
		Short: "Measure people's motion against recordings of its kind",
		Long: `Measure motions of people and compare them with recordings: sliding feet, jerk, bent knees, sway,
bounce, arms, variety and more. Frames are sorted by kind (stand, slow, walk, run, side, back,
bends, straight, stops), and each kind is compared with its like. The table has made ÷ recorded,
where recorded is the mean of the sets given with --ref, weighted by the square roots of their
frames: files or folders of any skeleton that mannequin import --retarget can read. Recordings on
uneven ground are left out. A file that is on the uniform skeleton is taken as it is, so recordings
that were retargeted once are read faster.
--from compares with the clip that a motion was made from, alone or beside --ref. A classifier also
tries to tell made from recorded seconds, and the report has what gives the motion away.
docs/judge.md defines every measure.`,
		Example: `  mannequin judge walk.bvh --ref data/human-o3de --ref data/cmu-locomotion --ref data/lafan1
  mannequin judge made/*.bvh --ref data/human-o3de --without 'Jumps*,Crouching*,Pushes*' --json
  mannequin judge edited.bvh --from walk.bvh`,
		Args: command.Want("a motion file", 1, -1),
	}
	cli.Reports(c, func(_ *cobra.Command, args []string) (cli.Report, error) { return run(args, o) })
	c.Flags().StringArrayVar(&o.refs, "ref", nil, "`recordings` to compare with, a file or a folder; each is a set; may be repeated")
	c.Flags().StringSliceVar(&o.without, "without", nil, "`patterns` of the recordings to leave out, file names without extension")
	c.Flags().StringVar(&o.from, "from", "", "the `clip` that the motion was made from")
	input.Reading(c, &o.read)
	cli.Threads(c, &o.threads)
	return c
}

func run(files []string, o judgeOptions) (*judge.Report, error) {
	if len(o.refs) == 0 && o.from == "" {
		return nil, command.Usagef("nothing to compare with: give --ref or --from")
	}
	made, err := judge.Read("made", files, judge.ReadOptions{Reading: o.read, Workers: o.threads})
	if err != nil {
		return nil, err
	}
	var own *judge.Set
	var sets []*judge.Set
	if o.from != "" {
		if own, err = judge.Read(o.from, []string{o.from}, judge.ReadOptions{Reading: o.read, Workers: o.threads}); err != nil {
			return nil, err
		}
		if len(o.refs) == 0 {
			sets = append(sets, own)
		}
	}
	for _, ref := range o.refs {
		paths, err := judge.Expand(ref, o.without)
		if err != nil {
			return nil, err
		}
		set, err := judge.Read(ref, paths, judge.ReadOptions{Reading: o.read, Recorded: true, Workers: o.threads})
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return judge.Compare(made, own, sets...), nil
}
