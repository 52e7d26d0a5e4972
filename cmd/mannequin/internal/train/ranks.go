package train

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

// world is the processes that mpirun or srun has started.
type world interface {
	train.Ranks
	Close() error
	Abort(status int)
}

// openWorld returns the processes that were started with this one; nil: this one alone. The build tag mpi sets it.
var openWorld func() (world, error)

// together runs a training, and prints its report, on rank 0 of the processes that train together.
func (f *trainFlags) together(cmd *cobra.Command, run func(show *trainProgress) (*train.Report, error)) error {
	var all world
	if openWorld != nil {
		var err error
		if all, err = openWorld(); err != nil {
			return err
		}
	}
	if all == nil {
		show := newTrainProgress(cmd.ErrOrStderr())
		rep, err := run(show)
		return f.report(cmd, show, rep, err)
	}
	f.ranks = all
	messages := cmd.ErrOrStderr()
	if all.Rank() != 0 {
		messages, f.json = io.Discard, false
		cmd.SetOut(io.Discard)
	}
	show := newTrainProgress(messages)
	var rep *train.Report
	err := f.enoughShards(all.Count())
	if err == nil {
		rep, err = run(show)
	}
	if err = f.report(cmd, show, rep, err); rep == nil {
		// The other ranks may wait for this one.
		fmt.Fprintf(cmd.ErrOrStderr(), "mannequin: rank %d of %d: %v\n", all.Rank(), all.Count(), err)
		all.Abort(1)
	}
	if all.Rank() != 0 {
		err = nil // rank 0 says it
	}
	return errors.Join(err, all.Close())
}

// enoughShards returns an error if a batch has fewer shards than there are processes.
func (f *trainFlags) enoughShards(ranks int) error {
	if ranks > 1 && f.shards < ranks {
		return command.Usagef("%d processes train together: add --shards, at least %d and a divisor of --batch %d; the weights depend on it, and not on the number of processes", ranks, ranks, f.batch)
	}
	return nil
}

// readOnce fills the sets: build does, or, with --rows, it does so on rank 0, and all read the file that this makes.
func (f *trainFlags) readOnce(train, heldOut dataset.Shared, build func() error) error {
	if f.rows == "" || f.ranks == nil {
		return build()
	}
	rest, err := recipes.Once(f.ranks, func() ([]byte, error) {
		if err := build(); err != nil {
			return nil, err
		}
		return dataset.Share(f.rows, train, heldOut)
	})
	if err != nil {
		return err
	}
	return dataset.OpenShared(f.rows, rest, train, heldOut)
}
