package train

import (
	"context"
	"math"
	"time"

	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
)

// A step with shards splits its batch into Job.Shards equal parts. The gradient of each is computed by itself,
// and they are summed along one binary tree: the sum of shards lo to hi is that of the first half and that of
// the second. Ranks compute neighbouring shards. Each sends the sums of the largest whole subtrees that it has,
// slice by slice, to the rank that adds up that slice, and gets the other slices' sums back. So neither the number
// of ranks nor that of workers changes a bit.

// shards is the work space of steps with shards.
type shards struct {
	values  int         // of all parameters
	length  int         // of a sum: values, and the tail
	tail    []float32   // of the total
	total   []float32   // the sum over all shards
	nodes   [][]node    // (ranks) the subtrees that each computes
	sums    [][]float32 // of this rank's
	spare   [][]float32 // by depth
	initial [][]float32 // values of frozen parameters before the step
	bounds  []int       // (ranks + 1) of the slices
	send    [][]float32 // (ranks) slices of this rank's sums
	got     [][]float32 // (ranks) what each has sent of this rank's slice
	back    [][]float32 // (ranks) slices of the total
	mine    [][]float32 // (ranks) this rank's slice of the total
	next    []int       // (ranks) subtrees that are added
	scratch []float32   // of adding up a slice, by depth
	reached []bool      // (parameters) some shard has their gradient

	decided decisions       // of all ranks, in the last step
	took    []time.Duration // (ranks) to compute a step, a mean of the last ones
}

// node is the subtree of shards lo up to hi.
type node struct{ lo, hi int }

func (n node) halves() (a, b node) {
	mid := (n.lo + n.hi + 1) / 2
	return node{n.lo, mid}, node{mid, n.hi}
}

// within appends the largest subtrees of n whose shards are all of lo up to hi.
func (n node) within(lo, hi int, to []node) []node {
	switch {
	case n.hi <= lo || hi <= n.lo:
		return to
	case lo <= n.lo && n.hi <= hi:
		return append(to, n)
	}
	a, b := n.halves()
	return b.within(lo, hi, a.within(lo, hi, to))
}

// Values in the tail of a sum, after a loss for each shard, a flag for each parameter that is reached, and the seconds
// that each rank has computed.
const (
	tailStop = iota
	tailSave
	tailLimit
	tailFlags
)

func newShards(r *run) *shards {
	s := &shards{reached: make([]bool, len(r.Params))}
	for _, p := range r.Params {
		s.values += len(p.Val)
		s.initial = append(s.initial, nil)
	}
	rank, count := 0, 1
	if r.Ranks != nil {
		rank, count = r.Ranks.Rank(), r.Ranks.Count()
	}
	s.length = s.values + r.Shards + len(r.Params) + count + tailFlags
	s.total = make([]float32, s.length)
	s.tail = s.total[s.values:]
	s.took = make([]time.Duration, count)
	root := node{0, r.Shards}
	for k := range count {
		s.nodes = append(s.nodes, root.within(k*r.Shards/count, (k+1)*r.Shards/count, nil))
		s.bounds = append(s.bounds, k*s.length/count)
	}
	s.bounds = append(s.bounds, s.length)
	for range s.nodes[rank] {
		s.sums = append(s.sums, make([]float32, s.length))
	}
	if slice := s.bounds[rank+1] - s.bounds[rank]; count > 1 {
		for k := range count {
			s.got = append(s.got, make([]float32, slice*len(s.nodes[k])))
		}
		s.scratch = make([]float32, slice*depth(r.Shards))
		s.send, s.next = make([][]float32, count), make([]int, count)
		for k := range count {
			s.back = append(s.back, s.total[s.bounds[k]:s.bounds[k+1]])
			s.mine = append(s.mine, s.total[s.bounds[rank]:s.bounds[rank+1]])
		}
	}
	return s
}

// depth returns the number of levels of a tree of n leaves below its root.
func depth(n int) (d int) {
	for ; n > 1; n = (n + 1) / 2 {
		d++
	}
	return d
}

// shardedStep computes the loss of the batch and the gradients of all parameters, over all ranks.
func (r *run) shardedStep(ctx context.Context) (float64, error) {
	s := r.shards
	for i, p := range r.Params {
		if p.Frozen { // Loss may change it
			s.initial[i] = append(s.initial[i][:0], p.Val...)
		}
	}
	rank := 0
	if r.Ranks != nil {
		rank = r.Ranks.Rank()
	}
	start := time.Now()
	for i, n := range s.nodes[rank] {
		r.sumShards(n, s.sums[i], 0)
	}
	s.sums[0][s.length-tailFlags-len(s.took)+rank] += float32(time.Since(start).Seconds())
	own := r.own(ctx.Err() != nil)
	asked := s.sums[0][s.length-tailFlags:]
	for i, yes := range [tailFlags]bool{tailStop: own.stop, tailSave: own.save, tailLimit: own.limit} {
		if yes {
			asked[i]++
		}
	}
	if err := r.addUp(); err != nil {
		return 0, err
	}
	flags := s.tail[len(s.tail)-tailFlags:]
	s.decided = decisions{stop: flags[tailStop] > 0, save: flags[tailSave] > 0, limit: flags[tailLimit] > 0}
	for k, seconds := range s.tail[len(s.tail)-tailFlags-len(s.took):][:len(s.took)] {
		now := time.Duration(float64(seconds) * float64(time.Second))
		if s.took[k] == 0 {
			s.took[k] = now
		}
		s.took[k] += (now - s.took[k]) / 16
	}
	var loss float64
	for _, l := range s.tail[:r.Shards] {
		loss += float64(l)
	}
	share, at := 1/float32(r.Shards), 0
	for i, p := range r.Params {
		from := s.total[at : at+len(p.Val)]
		at += len(p.Val)
		s.reached[i] = s.tail[r.Shards+i] > 0
		switch {
		case p.Frozen:
			vec.Scale(p.Val, share, from)
		case s.reached[i]:
			vec.Scale(p.Grad, share, from)
		}
	}
	return loss / float64(r.Shards), nil
}

// sumShards writes the sum of a subtree to dst. Depth counts from the subtree's root.
func (r *run) sumShards(n node, dst []float32, depth int) {
	if n.hi-n.lo == 1 {
		r.shard(n.lo, dst)
		return
	}
	s := r.shards
	a, b := n.halves()
	r.sumShards(a, dst, depth+1)
	for len(s.spare) <= depth {
		s.spare = append(s.spare, make([]float32, s.length))
	}
	r.sumShards(b, s.spare[depth], depth+1)
	add(r.pool, dst, s.spare[depth])
}

// add adds b to a.
func add(pool *grad.Pool, a, b []float32) {
	const size = 1 << 15
	pool.Run((len(a)+size-1)/size, func(_, i int) {
		end := min((i+1)*size, len(a))
		vec.Add(a[i*size:end], a[i*size:end], b[i*size:end])
	})
}

// shard writes the gradients of a shard, the frozen parameters as its loss leaves them, and its tail to dst.
func (r *run) shard(i int, dst []float32) {
	s := r.shards
	size := len(r.rows) / r.Shards
	for k, p := range r.Params {
		if p.Frozen {
			copy(p.Val, s.initial[k])
		}
	}
	r.tape.Reset()
	loss := r.Loss(r.tape, r.rows[i*size:(i+1)*size], false, grad.Hash(r.key(), uint64(i)))
	l := loss.Val[0]
	tail := dst[s.values:]
	clear(tail)
	tail[i] = l
	finite := !math.IsNaN(float64(l)) && !math.IsInf(float64(l), 0)
	if finite {
		r.tape.Backward(loss)
	}
	at := 0
	for k, p := range r.Params {
		to := dst[at : at+len(p.Val)]
		at += len(p.Val)
		switch {
		case p.Frozen:
			copy(to, p.Val)
			copy(p.Val, s.initial[k])
		case finite && r.tape.Reached(p):
			copy(to, p.Grad)
			tail[r.Shards+k] = 1
		default:
			clear(to)
		}
	}
}

// addUp makes total the sum over all shards of all ranks.
func (r *run) addUp() error {
	s := r.shards
	if r.Ranks == nil || r.Ranks.Count() == 1 {
		copy(s.total, s.sums[0])
		return nil
	}
	for k := range s.send {
		s.send[k], s.next[k] = s.send[k][:0], 0
		for _, sum := range s.sums {
			s.send[k] = append(s.send[k], sum[s.bounds[k]:s.bounds[k+1]]...)
		}
	}
	if err := r.Ranks.Exchange(s.send, s.got); err != nil {
		return err
	}
	s.combine(node{0, r.Shards}, s.mine[0], 0)
	return r.Ranks.Exchange(s.mine, s.back)
}

// combine writes this rank's slice of the sum of subtree n to dst. The subtrees of each rank are used in order.
func (s *shards) combine(n node, dst []float32, depth int) {
	for k, i := range s.next {
		if i < len(s.nodes[k]) && s.nodes[k][i] == n {
			copy(dst, s.got[k][i*len(dst):])
			s.next[k]++
			return
		}
	}
	a, b := n.halves()
	s.combine(a, dst, depth+1)
	spare := s.scratch[depth*len(dst):][:len(dst)]
	s.combine(b, spare, depth+1)
	vec.Add(dst, dst, spare)
}
