package train

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
	"mannequin/offline/retarget"
	"mannequin/offline/train"
)

// motionFlags are the flags of the networks that learn from people's motion.
type motionFlags struct {
	trainFlags
	only, skip, heldOut []string
	read                retarget.Reading
	repeat              int
	stand               float64
	rate                float64

	options dataset.MotionOptions // without the values of the flags above
}

// add adds the flags with their defaults. keep is nil for a network without dropout.
func (f *motionFlags) add(c *cobra.Command, epochs, batch int, rate float64, keep *float32, repeat int) {
	f.trainFlags.add(c, epochs, batch)
	c.Args = f.folders("folders of recordings", -1)
	p := c.Flags()
	p.StringSliceVar(&f.only, "only", nil, "`patterns` of the recordings to read, file names without extension (default: all)")
	p.StringSliceVar(&f.skip, "skip", nil, "`patterns` of the recordings to leave out")
	command.Number(c, &f.repeat, "repeat", repeat, 1, 1000, "visits per epoch of a window faster than 2 m/s")
	cli.HeldOut(c, &f.heldOut, "those that dataset.toml names; some of CMU, O3DE and ReActIdle")
	input.Reading(c, &f.read)
	command.Number(c, &f.rate, "rate", rate, command.Positive, 1, "learning rate")
	if keep != nil {
		command.Number(c, keep, "keep", *keep, command.Positive, 1, "dropout's retention `probability`")
	}
}

// openStart opens the network of --start, nil if it is not given.
func openStart(name string) (*netruntime.Net, error) {
	if name == "" {
		return nil, nil
	}
	return models.Open(name)
}

// jitter adds the flag --jitter.
func jitter(c *cobra.Command, v *bool) {
	c.Flags().BoolVar(v, "jitter", *v, "begin windows at other frames in every epoch")
}

// sparsity adds the flag --sparsity.
func sparsity(c *cobra.Command, v *float64) {
	command.Number(c, v, "sparsity", *v, 0, 1e6, "weight in the loss: mean magnitude of the weights")
}

// tempo adds the flags --stretch and --reverse.
func tempo(c *cobra.Command, v *recipes.Tempo) {
	command.Number(c, &v.Stretch, "stretch", v.Stretch, 0, 0.99, "largest change of a recording's speed, as a `share`")
	command.Number(c, &v.Reverse, "reverse", v.Reverse, 0, 1, "`share` of the windows that are played backward")
}

// train reads the recordings into l, sets l by the flags, and runs.
func (f *motionFlags) train(cmd *cobra.Command, l *recipes.Training, run func(ctx context.Context) (*train.Report, error)) error {
	opt := f.options
	opt.Only, opt.HeldOut, opt.Repeat, opt.Stand, opt.Workers = f.only, f.heldOut, f.repeat, int(f.stand*dataset.Rate), f.threads
	return f.trainOn(cmd, opt, l, run)
}

// latentClips returns how recordings are read for a latent space.
func (f *motionFlags) latentClips() (dataset.MotionOptions, error) {
	return recipes.LatentClips(f.data, f.only, f.heldOut, f.repeat, f.threads)
}

// trainOn is train with recordings that are read by opt.
func (f *motionFlags) trainOn(cmd *cobra.Command, opt dataset.MotionOptions, l *recipes.Training, run func(ctx context.Context) (*train.Report, error)) error {
	return f.together(cmd, func(show *trainProgress) (*train.Report, error) {
		opt.Read, opt.Skip = f.read, f.skip
		l.Train, l.HeldOut = new(dataset.MotionSet), new(dataset.MotionSet)
		if err := f.readOnce(l.Train, l.HeldOut, func() error {
			train, heldOut, err := dataset.BuildMotion(f.data, opt)
			if err == nil {
				*l.Train, *l.HeldOut = *train, *heldOut
			}
			return err
		}); err != nil {
			return nil, err
		}
		show.log.Info("data", "clips", len(l.Train.Clips)/2, "windows", len(l.Train.Windows), "held_out_clips", len(l.HeldOut.Clips)/2)
		l.Epochs, l.Batch, l.Seed, l.AdamW.Rate, l.RunOptions = f.epochs, f.batch, f.seed, f.rate, f.running(show)
		return run(cmd.Context())
	})
}

func newTrainManifold() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultManifold()
	c := &cobra.Command{
		Use:   "manifold DIR... --out FILE",
		Short: "Train the motion manifold: an autoencoder of people's motion",
		Long: `Train the motion manifold of Holden, Saito and Komura 2016 on folders of BVH, AMC, FBX or glTF
recordings of people: a convolutional autoencoder. Motion is made and edited in its hidden
values. Every recording is retargeted to one skeleton (see mannequin import --retarget) and
mirrored.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train manifold data/cmu-locomotion data/cmu-actions --out human.safetensors
  mannequin train manifold data/mine --held-out 'walk_07,run_*' --out mine.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 1)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return f.train(cmd, &r.Training, r.Run) }
	command.Number(c, &r.Hidden, "hidden", r.Hidden, 1, math.MaxInt, "hidden units")
	command.Number(c, &r.Width, "width", r.Width, 1, math.MaxInt, "`frames` of a filter, odd")
	command.Number(c, &r.Random, "random", r.Random, 0, 1, "`share` of the steps in which depooling gives a hidden value to one of its two frames at random")
	command.Number(c, &r.Smooth, "smooth", r.Smooth, 0, math.MaxFloat32, "weight in the loss: error in the second differences of positions")
	jitter(c, &r.Jitter)
	sparsity(c, &r.L1)
	return c
}

func newTrainFootstep() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultFootstep()
	c := &cobra.Command{
		Use:   "footstep DIR... --out FILE",
		Short: "Train the network of footsteps",
		Long: `Train the network that computes the step frequency and the duration of contacts from a
body's motion over the ground (Holden, Saito and Komura 2016, sec. 6.3), on folders of BVH or
AMC recordings of people walking and running.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train footstep data/cmu-locomotion --out footstep.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 4)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return f.train(cmd, &r.Training, r.Run) }
	command.Number(c, &r.Hidden, "hidden", r.Hidden, 1, math.MaxInt, "channels between the two layers")
	command.Number(c, &r.Manner, "manner", r.Manner, 0, 32, "values that say how the person moves; as many as the network of locomotion has")
	tempo(c, &r.Tempo)
	return c
}

func newTrainSynth() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultSynth()
	var base, start string
	c := &cobra.Command{
		Use:   "synth DIR... --kind KIND --manifold FILE --out FILE",
		Short: "Train a network that makes motion from a curve, or from hands or feet",
		Long: `Train a network that makes people's motion from a few parameters of each frame, in the
hidden values of a motion manifold (Holden, Saito and Komura 2016, sec. 6), on folders of BVH or
AMC recordings. The kinds are

  locomotion   from the body's motion over the ground and the contacts of its feet
  punch        from the positions of the hands
  kick         from the positions of the feet

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train synth data/cmu-locomotion --kind locomotion --manifold human.safetensors --out locomotion.safetensors
  mannequin train synth data/hdm05 --kind kick --manifold human.safetensors --out kick.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 3)
	c.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if r.Kind != "locomotion" {
			r.Manner = 0
			for flag, v := range map[string]*float64{"stand": &f.stand, "stretch": &r.Stretch, "reverse": &r.Reverse} {
				if !cmd.Flags().Changed(flag) {
					*v = 0
				}
			}
		}
		if r.Manifold, err = netruntime.Open(base); err != nil {
			return err
		}
		if r.Start, err = openStart(start); err != nil {
			return err
		}
		return f.train(cmd, &r.Training, r.Run)
	}
	cli.Model(c, &start, "start", "", "weights to start from (default: random)")
	command.Choice(c, &r.Kind, "kind", r.Kind, recipes.Kinds, "motion to make")
	c.Flags().StringVar(&base, "manifold", "", "model `file` of the motion manifold")
	command.Number(c, &r.Manner, "manner", r.Manner, 0, 32, "values that say how the person moves (locomotion)")
	command.Number(c, &f.stand, "stand", 10, 0, 600, "seconds for which each standing posture is held, as more data (punch, kick: none unless given)")
	tempo(c, &r.Tempo)
	jitter(c, &r.Jitter)
	sparsity(c, &r.L1)
	cli.Must(c.MarkFlagRequired("manifold"))
	return c
}

func newTrainKeypose() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultKeypose()
	f.options = dataset.MotionOptions{Length: 192, Margin: 1, Poses: true}
	c := &cobra.Command{
		Use:   "keypose DIR... --out FILE",
		Short: "Train the network that makes motion between keyframes",
		Long: `Train the network that makes motion between keyframes, whole or partial poses at any times
(after Lüdi 2016, sec. 4.1), on folders of BVH, AMC, FBX or glTF recordings of people.

Files, checkpoints and --resume are as in train mann. --start continues a network on other data.`,
		Example: `  mannequin train keypose data/cmu-locomotion data/cmu-actions --out keypose.safetensors
  mannequin train keypose data/mine --start keypose.safetensors --rate 3e-4 --epochs 10 --out mine.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 3)
	var start string
	c.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if r.Start, err = openStart(start); err != nil {
			return err
		}
		return f.train(cmd, &r.Training, r.Run)
	}
	cli.Model(c, &start, "start", "", "weights to start from (default: random)")
	command.Number(c, &r.Posture, "posture", r.Posture, 0, 1, "deviation in `radians` by which upper arms are turned in half of the data: other people hold themselves otherwise")
	command.Number(c, &r.Stretch, "stretch", r.Stretch, 0, math.MaxFloat32, "largest change of a recording's speed, as a `share`")
	command.Number(c, &r.Reverse, "reverse", r.Reverse, 0, 1, "`share` of the data that is played backward: few recordings show people walking backward")
	return c
}

func newTrainSparse() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultSparse()
	f.options = recipes.SparseWindow()
	c := &cobra.Command{
		Use:   "sparse DIR... --out FILE",
		Short: "Train the network that makes motion from evenly spaced poses alone",
		Long: `Train the network that makes people's motion from evenly spaced poses, one or two a second
(Lüdi 2016, sec. 4.1), on folders of BVH, AMC, FBX or glTF recordings of people. The poses hold the body's
speed over the ground, but not its place: the result drifts. The network of train keypose meets
its keyframes.

The learning rate falls to a tenth after every quarter of --epochs. Files, checkpoints and
--resume are as in train mann.`,
		Example: `  mannequin train sparse data/cmu-locomotion --out sparse.safetensors
  mannequin train sparse data/cmu-locomotion --poses 1 --epochs 40 --out sparse1.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 1)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return f.train(cmd, &r.Training, r.Run) }
	command.Number(c, &r.Poses, "poses", r.Poses, 1, 2, "poses a second")
	sparsity(c, &r.L1)
	jitter(c, &r.Jitter)
	return c
}
