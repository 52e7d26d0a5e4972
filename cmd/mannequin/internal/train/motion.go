package train

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

// motionFlags are those of the networks that learn from people's motion.
type motionFlags struct {
	trainFlags
	more          []string
	only, heldOut []string
	repeat        int
	stand         float64
	rate          float64
	keep          float32

	options dataset.MotionOptions // of which the flags above are set
}

// add adds the flags with their defaults; keep 0 is for a network without dropout.
func (f *motionFlags) add(c *cobra.Command, epochs, batch int, rate float64, keep float32, repeat int) {
	f.trainFlags.add(c, epochs, batch)
	p := c.Flags()
	p.StringSliceVar(&f.more, "and", nil, "more `folders` of recordings")
	p.StringSliceVar(&f.only, "only", nil, "`patterns` of the recordings to read, by file name without extension (default: all)")
	p.IntVar(&f.repeat, "repeat", repeat, "visits per epoch of a window faster than 2 m/s")
	p.StringSliceVar(&f.heldOut, "held-out", nil, "`patterns` of the recordings to hold back from training (default: those that dataset.toml names; 33 of CMU's)")
	p.Float64Var(&f.rate, "rate", rate, "learning rate")
	if f.keep = 1; keep > 0 {
		p.Float32Var(&f.keep, "keep", keep, "dropout's retention `probability`")
	}
}

func (f *motionFlags) check() error {
	switch {
	case !(f.keep > 0 && f.keep <= 1):
		return command.Usagef("--keep is %v, want a probability above 0, up to 1", f.keep)
	case f.repeat < 1 || f.repeat > 1000:
		return command.Usagef("--repeat is %d, want 1 to 1000", f.repeat)
	case !(f.rate > 0 && f.rate <= 1):
		return command.Usagef("--rate is %v, want a value above 0, up to 1", f.rate)
	}
	return f.trainFlags.check()
}

// train reads the recordings into l, which the flags fill, and runs.
func (f *motionFlags) train(cmd *cobra.Command, l *recipes.Training, run func(ctx context.Context) (*train.Report, error)) error {
	opt := f.options
	opt.Only, opt.HeldOut, opt.Repeat, opt.Stand, opt.Workers = f.only, f.heldOut, f.repeat, int(f.stand*dataset.Rate), f.threads
	return f.trainOn(cmd, opt, l, run)
}

// trainOn is train, with recordings that are read as opt says.
func (f *motionFlags) trainOn(cmd *cobra.Command, opt dataset.MotionOptions, l *recipes.Training, run func(ctx context.Context) (*train.Report, error)) error {
	show := newTrainProgress(cmd.ErrOrStderr())
	var err error
	if l.Train, l.HeldOut, err = dataset.BuildMotion(append([]string{f.data}, f.more...), opt); err != nil {
		return err
	}
	show.log.Info("data", "clips", len(l.Train.Clips)/2, "windows", len(l.Train.Windows), "held_out_clips", len(l.HeldOut.Clips)/2)
	l.Epochs, l.Batch, l.Seed, l.AdamW.Rate, l.RunOptions = f.epochs, f.batch, f.seed, f.rate, f.running(show)
	rep, err := run(cmd.Context())
	return f.report(cmd, show, rep, err)
}

func newTrainManifold() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultManifold()
	c := &cobra.Command{
		Use:   "manifold --data DIR --out FILE",
		Short: "Train the motion manifold: an autoencoder of people's motion",
		Long: `Train the motion manifold of Holden, Saito and Komura 2016 from folders of BVH or
AMC recordings of people: a convolutional autoencoder whose hidden values motion
is then made in and edited in. Every recording is put on one skeleton first (see
mannequin import --retarget), and mirrored.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train manifold --data data/cmu-locomotion --and data/cmu-actions --out human.safetensors
  mannequin train manifold --data data/mine --held-out 'walk_07,run_*' --out mine.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !(r.Random >= 0 && r.Random <= 1):
				return command.Usagef("--random is %v, want a share from 0 to 1", r.Random)
			case !(r.L1 >= 0 && r.L1 <= 1e6):
				return command.Usagef("--sparsity is %v, want 0 to 1000000", r.L1)
			}
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.IntVar(&r.Hidden, "hidden", r.Hidden, "hidden units")
	p.IntVar(&r.Width, "width", r.Width, "`frames` of a filter, odd")
	p.Float32Var(&r.Random, "random", r.Random, "`share` of the steps in which hidden values go whole to one of their two frames, at random")
	p.Float32Var(&r.Smooth, "smooth", r.Smooth, "weight in the loss of the error in how positions bend over time")
	p.BoolVar(&r.Jitter, "jitter", r.Jitter, "let windows begin elsewhere in every epoch")
	p.Float64Var(&r.L1, "sparsity", r.L1, "weight in the loss of the mean magnitude of the filters' weights")
	return c
}

func newTrainFootstep() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultFootstep()
	c := &cobra.Command{
		Use:   "footstep --data DIR --out FILE",
		Short: "Train the network that tells when feet stand",
		Long: `Train the network that tells from a body's motion over the ground how fast it
steps and how long its feet stand (Holden, Saito and Komura 2016, sec. 6.3), from
folders of BVH or AMC recordings of people who walk and run.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train footstep --data data/cmu-locomotion --out footstep.safetensors`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 4)
	p := c.Flags()
	p.IntVar(&r.Hidden, "hidden", r.Hidden, "channels between the two layers")
	p.Float32Var(&r.Stretch, "stretch", r.Stretch, "how much faster or slower recordings are played at most, as a `share`")
	return c
}

func newTrainSynth() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultSynth()
	var base string
	c := &cobra.Command{
		Use:   "synth --kind KIND --manifold FILE --data DIR --out FILE",
		Short: "Train a network that makes motion from a curve, or from hands or feet",
		Long: `Train a network that makes people's motion from a few parameters of each frame, in
the hidden values of a motion manifold (Holden, Saito and Komura 2016, sec. 6).
The kinds are

  locomotion   from the body's motion over the ground and the contacts of its feet
  punch        from the places of the hands
  kick         from the places of the feet

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train synth --kind locomotion --manifold human.safetensors --data data/cmu-locomotion --out locomotion.safetensors
  mannequin train synth --kind kick --manifold human.safetensors --data data/hdm05 --out kick.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(recipes.Kinds, r.Kind) {
				return command.Usagef("--kind is %q, want %s", r.Kind, strings.Join(recipes.Kinds, ", "))
			}
			if err := f.check(); err != nil {
				return err
			}
			if !(f.stand >= 0 && f.stand <= 600) {
				return command.Usagef("--stand is %v, want 0 to 600", f.stand)
			}
			if !cmd.Flags().Changed("stand") && r.Kind != "locomotion" {
				f.stand = 0
			}
			var err error
			if r.Manifold, err = netruntime.Open(base); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 3)
	p := c.Flags()
	p.StringVar(&r.Kind, "kind", r.Kind, "what the parameters are: "+strings.Join(recipes.Kinds, ", "))
	p.StringVar(&base, "manifold", "", "model `file` of the motion manifold")
	p.Float64Var(&f.stand, "stand", 10, "seconds for which each posture of who stands is held, as more to learn from (punch, kick: none unless given)")
	p.BoolVar(&r.Jitter, "jitter", r.Jitter, "let windows begin elsewhere in every epoch")
	p.Float64Var(&r.L1, "sparsity", r.L1, "weight in the loss of the mean magnitude of the filters' weights")
	c.MarkFlagRequired("manifold")
	return c
}

func newTrainKeypose() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultKeypose()
	f.options = dataset.MotionOptions{Length: 192, Margin: 1, Poses: true}
	c := &cobra.Command{
		Use:   "keypose --data DIR --out FILE",
		Short: "Train the network that makes motion between poses",
		Long: `Train the network that makes motion between keys, whole or partial poses at any
times (after Lüdi 2016, sec. 4.1), from folders of BVH or AMC recordings of people.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train keypose --data data/cmu-locomotion --and data/cmu-actions --out keypose.safetensors`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 3)
	p := c.Flags()
	p.Float32Var(&r.Stretch, "stretch", r.Stretch, "how much faster or slower recordings are played at most, as a `share`")
	p.Float32Var(&r.Reverse, "reverse", r.Reverse, "`share` of what is learnt from that is played backward: few people are recorded as they walk so")
	return c
}

func newTrainSparse() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultSparse()
	f.options = recipes.SparseWindow()
	c := &cobra.Command{
		Use:   "sparse --data DIR --out FILE",
		Short: "Train the network that makes motion from evenly spaced poses alone",
		Long: `Train the network that makes people's motion from poses at even times, one or two
a second (Lüdi 2016, sec. 4.1), from folders of BVH or AMC recordings of people.
The poses say how fast the body moves over the ground, and nothing else says where
it goes: the result drifts. The network of train keypose meets its keys.

The learning rate falls to a tenth after every quarter of --epochs. Files,
checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train sparse --data data/cmu-locomotion --out sparse.safetensors
  mannequin train sparse --poses 1 --epochs 40 --data data/cmu-locomotion --out sparse1.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case r.Poses != 1 && r.Poses != 2:
				return command.Usagef("--poses is %d, want 1 or 2 a second", r.Poses)
			case !(r.L1 >= 0 && r.L1 <= 1e6):
				return command.Usagef("--sparsity is %v, want 0 to 1000000", r.L1)
			}
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.IntVar(&r.Poses, "poses", r.Poses, "poses a second: 1 or 2")
	p.Float64Var(&r.L1, "sparsity", r.L1, "weight in the loss of the mean magnitude of the network's parameters")
	p.BoolVar(&r.Jitter, "jitter", r.Jitter, "let windows begin elsewhere in every epoch")
	return c
}
