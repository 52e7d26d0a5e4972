package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Ranks are the processes that train one network together, as in MPI. All of them run the same Job on the same
// data, with their own share of each step's shards. A call returns when all ranks have made it. An error ends
// the run: the others may never come.
type Ranks interface {
	Rank() int  // of this process, from 0; rank 0 writes the files
	Count() int // of all

	// Exchange sends send[i] to rank i, and fills receive[i] with what rank i sends here.
	Exchange(send, receive [][]float32) error
	// Share returns rank 0's bytes on all ranks.
	Share(b []byte) ([]byte, error)
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
