package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Ranks are the processes that train one network together, as in MPI. All of them run the same Job on the same
// data, with their own share of each step's shards. An error ends the run: the others may never come.
type Ranks interface {
	Rank() int  // of this process, from 0; rank 0 writes the files
	Count() int // of all

	// Send begins to send b to a rank, and Receive to fill b with what a rank sends here with the same tag, in the
	// order of the calls. Both return at once, and b must stay as it is until Wait returns. Several goroutines may
	// call Send.
	Send(to, tag int, b []byte)
	Receive(from, tag int, b []byte)
	// Wait returns when all that this rank has begun is done.
	Wait() error
	// Share returns rank 0's bytes on all ranks.
	Share(b []byte) ([]byte, error)
	// Memory returns n values for each rank of this machine, this one included, which all of them read and write,
	// and nil for the others. All ranks call it with the same n.
	Memory(n int) ([][]float32, error)
}

// leads reports whether this process writes files.
func (r *run) leads() bool { return r.Ranks == nil || r.Ranks.Rank() == 0 }

// agree returns rank 0's answer on all ranks.
func (r *run) agree(yes bool) (bool, error) {
	if r.Ranks == nil {
		return yes, nil
	}
	b, err := r.Ranks.Share(fmt.Append(nil, yes))
	return string(b) == "true", err
}

// begin takes the lock and the checkpoint, which rank 0 reads for all.
func (r *run) begin() (free func(), err error) {
	if r.Ranks == nil {
		if free, err = r.lock(); err != nil {
			return nil, err
		}
		if err := r.load(); err != nil {
			free()
			return nil, err
		}
		return free, nil
	}
	free = func() {}
	var message struct {
		Err   string
		State []byte // a checkpoint; empty: a new run
	}
	if r.leads() {
		if lock, failed := r.lock(); failed != nil {
			err = failed
		} else if free, err = lock, r.load(); err == nil && len(r.state.History) > 0 {
			var b bytes.Buffer
			err = r.state.encode(&b, r.Job)
			message.State = b.Bytes()
		}
		if err != nil {
			message.Err = err.Error()
		}
	}
	text, _ := json.Marshal(&message)
	text, shared := r.Ranks.Share(text)
	if err := errors.Join(err, shared); err != nil {
		free()
		return nil, err
	}
	if err := json.Unmarshal(text, &message); err != nil {
		return nil, err
	}
	switch {
	case r.leads():
	case message.Err != "":
		return nil, errors.New(message.Err)
	case len(message.State) > 0:
		if err := r.state.decode(bytes.NewReader(message.State), int64(len(message.State)), r.Job); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r.Ranks.Rank(), err)
		}
	}
	return free, nil
}

// interrupted reports whether the run should end. Ranks end after the same step.
func (r *run) interrupted(ctx context.Context) bool {
	if r.Ranks == nil {
		return ctx.Err() != nil
	}
	return r.shards.decided.stop
}

// decisions are what ranks must do after the same step. The time is rank 0's.
type decisions struct {
	stop  bool // some rank is to end
	save  bool // a checkpoint is due
	limit bool // the time is over
}

// decide returns what is to be done after this step.
func (r *run) decide() decisions {
	if r.Ranks != nil {
		return r.shards.decided
	}
	return r.own(false)
}

// own returns what this process would do.
func (r *run) own(stop bool) (d decisions) {
	d.stop = stop
	if r.leads() {
		d.save, d.limit = r.checkpointDue(), r.Limit > 0 && r.state.Elapsed >= r.Limit
	}
	return d
}

// wait waits until all messages that have begun are done.
func (r *run) wait() error {
	if r.Ranks == nil {
		return nil
	}
	return r.Ranks.Wait()
}

// others calls f for all ranks except this one.
func (s *shards) others(f func(rank int)) {
	for k := range s.count {
		if k != s.rank {
			f(k)
		}
	}
}

// awaitSums begins to receive the sums of this rank's chunks from other machines. A message's tag is the chunk.
func (r *run) awaitSums() {
	s := r.shards
	for i := range r.mine {
		for k := range s.parts {
			if p := &s.parts[k]; s.memory[p.rank] == nil {
				r.Ranks.Receive(p.rank, r.mine[i].index, p.packed(&r.mine[i]))
			}
		}
	}
}

// sendSum begins to send the sum of a chunk to its rank on another machine, if the shard in progress completes it.
func (r *run) sendSum(index int) {
	s, c := r.shards, &r.chunks[index]
	if s.now.ends >= 0 && s.memory[c.rank] == nil {
		p := &s.parts[s.now.ends]
		p.pack(c)
		r.Ranks.Send(c.rank, index, p.packed(c))
	}
}

// meet waits until all messages have come, and all ranks of this machine are here: what they have written to their memory
// may be read.
func (r *run) meet() error {
	s, tag := r.shards, len(r.chunks)+1
	s.others(func(k int) {
		if s.memory[k] != nil {
			r.Ranks.Receive(k, tag, nil)
			r.Ranks.Send(k, tag, nil)
		}
	})
	return r.wait()
}

// exchangeNotes sends this rank's notes to all, and gets theirs.
func (r *run) exchangeNotes() error {
	s, tag := r.shards, len(r.chunks)
	s.others(func(k int) {
		r.Ranks.Receive(k, tag, bytesOf(s.notes[k]))
		r.Ranks.Send(k, tag, bytesOf(s.notes[s.rank]))
	})
	return r.wait()
}

// exchangeLosses sends the losses of a rank's share of the held-out batches to all, and gets theirs.
func (r *run) exchangeLosses(losses [][]float64) error {
	s, tag := r.shards, len(r.chunks)+2
	s.others(func(k int) {
		r.Ranks.Receive(k, tag, bytesOf(losses[k]))
		r.Ranks.Send(k, tag, bytesOf(losses[s.rank]))
	})
	return r.wait()
}

// gather brings the values of each chunk from its rank to all. Nobody of this machine may still read those of the last call.
func (r *run) gather(values func(c *chunk) []float32) error {
	s := r.shards
	for i := range r.chunks {
		c := &r.chunks[i]
		switch {
		case c.rank == s.rank:
			copy(s.placed(c), values(c))
			s.others(func(k int) {
				if s.memory[k] == nil {
					r.Ranks.Send(k, i, bytesOf(values(c)))
				}
			})
		case s.memory[c.rank] == nil:
			r.Ranks.Receive(c.rank, i, bytesOf(values(c)))
		}
	}
	if err := r.meet(); err != nil {
		return err
	}
	for i := range r.chunks {
		if c := &r.chunks[i]; c.rank != s.rank && s.memory[c.rank] != nil {
			copy(values(c), s.placed(c))
		}
	}
	return nil
}

// gatherWeights brings the updated weights to all ranks. The optimiser's slots stay with the chunk's rank.
func (r *run) gatherWeights() error {
	if r.shards == nil || r.shards.count == 1 {
		return nil
	}
	r.shards.stale = true
	return r.gather(func(c *chunk) []float32 { return r.Params[c.param].Val[c.at:c.end] })
}

// gatherSlots brings the optimiser's slots to all ranks, so that the state is whole.
func (r *run) gatherSlots() error {
	if r.shards == nil || !r.shards.stale {
		return nil
	}
	for _, slot := range r.state.slots {
		if err := r.meet(); err != nil {
			return err
		}
		if err := r.gather(func(c *chunk) []float32 { return slot[c.param][c.at:c.end] }); err != nil {
			return err
		}
	}
	r.shards.stale = false
	return nil
}
