package train

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
)

// A step with shards splits its batch into Job.Shards equal parts. The gradient of each is computed by itself,
// and they are summed along one binary tree: the sum of shards lo to hi is that of the first half and that of
// the second. So neither the number of ranks nor that of workers changes a bit.
//
// Ranks compute neighbouring shards. Parameters are cut into chunks, each of which belongs to a rank. As soon as the
// backward pass is done with a chunk, and it is added to those of the shards before, its sum is on its way to the
// chunk's rank. That rank adds the sums of all, updates its chunks, and sends their new weights to all (ranks.go).
//
// With Job.GradientsBF16 the gradient of each shard and each sum in the tree is rounded, whether it is sent or not. Only
// the whole sum is not: nobody sends it.

// shards is the work space of steps with shards.
type shards struct {
	rank, count int
	bf16        bool
	length      int             // of a sum: for each chunk its values, and how many shards have a gradient of them
	firsts      []int           // (parameters) their first chunks
	parts       []part          // of all ranks, in the tree's order
	memory      [][]float32     // (ranks) that all ranks of this machine see; nil: on other machines
	values      int             // of a rank's chunks, at most
	leaves      []leaf          // (shards) what to do with the gradient of each; only this rank's are set
	now         *leaf           // of the shard in progress
	left        []atomic.Int32  // (chunks) values that are still missing
	spare       [][]float32     // sums of subtrees, by depth
	initial     [][]float32     // values of frozen parameters before the step
	zeros       []float32       // (chunkSize)
	notes       [][]float64     // (ranks) what all must know of each one's step
	decided     decisions       // of all ranks, in the last step
	took        []time.Duration // (ranks) to compute a step, a mean of the last ones
	stale       bool            // the optimiser's slots of other ranks' chunks are not here
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

// part is a subtree that one rank sums. The sum of a rank of this machine holds all chunks, that of another one only this
// rank's, from offset base on.
type part struct {
	node
	rank, base int
	sum        []float32
	wire       []uint16 // what other machines get or send of it in bfloat16; nil: the sum itself
}

// leaf is where a shard's gradient goes, chunk by chunk.
type leaf struct {
	whole  bool      // it is the only shard
	copied []float32 // a place for it; nil: the first sum adds it
	sums   []sum     // that are due when it is there
	ends   int       // index of the part that is complete then, or -1
}

// sum adds one subtree to another one. from is nil for the gradient of the shard itself.
type sum struct {
	into, from []float32
	whole      bool // that is the sum of all shards
}

// Of a rank's notes. The loss of each of its shards and the square of each of its chunks follow.
const (
	noteStop = iota
	noteSave
	noteLimit
	noteSeconds
	noteLosses
)

func newShards(r *run) (*shards, error) {
	s := &shards{count: 1, bf16: r.GradientsBF16, zeros: make([]float32, chunkSize), leaves: make([]leaf, r.Shards), initial: make([][]float32, len(r.Params))}
	if r.Ranks != nil {
		s.rank, s.count = r.Ranks.Rank(), r.Ranks.Count()
	}
	s.left, s.took = make([]atomic.Int32, len(r.chunks)), make([]time.Duration, s.count)
	base, length := s.deal(r)
	for k := range s.count {
		own := s.of(k)
		squares := 0
		for _, c := range r.chunks {
			if c.rank == k {
				squares++
			}
		}
		s.notes = append(s.notes, make([]float64, noteLosses+own.hi-own.lo+squares))
		for _, n := range (node{0, r.Shards}).within(own.lo, own.hi, nil) {
			s.parts = append(s.parts, part{node: n, rank: k})
		}
	}
	if err := s.allot(r.Ranks); err != nil {
		return nil, err
	}
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case p.rank == s.rank:
			s.plan(p.node, p.sum, 0)
			s.leaves[p.hi-1].ends = i
		case p.sum == nil:
			p.base, p.sum = base, make([]float32, length)
		default:
			continue
		}
		if s.bf16 && s.count > 1 {
			p.wire = make([]uint16, len(p.sum))
		}
	}
	return s, nil
}

// allot gives each rank of this machine memory that all of them see: for its chunks' values, then for its parts.
func (s *shards) allot(ranks Ranks) (err error) {
	at, most := slices.Repeat([]int{s.values}, s.count), 0
	for _, p := range s.parts {
		at[p.rank] += s.length
		most = max(most, at[p.rank])
	}
	s.memory = [][]float32{nil}
	if ranks == nil {
		s.memory[0] = make([]float32, most)
	} else if s.memory, err = ranks.Memory(most); err != nil {
		return err
	}
	at = slices.Repeat([]int{s.values}, s.count)
	for i := range s.parts {
		p := &s.parts[i]
		if m := s.memory[p.rank]; m != nil {
			p.sum = m[at[p.rank]:][:s.length]
			at[p.rank] += s.length
		}
	}
	return nil
}

// deal gives each rank a slice of the chunks, and returns where this rank's begins in a sum, and its length.
func (s *shards) deal(r *run) (base, length int) {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.at == 0 {
			s.firsts = append(s.firsts, i)
		}
		c.offset = s.length
		s.length += c.end - c.at + 1
	}
	r.mine = nil
	placed := make([]int, s.count)
	for i := range r.chunks {
		c := &r.chunks[i]
		c.rank = c.offset * s.count / s.length
		c.placed = placed[c.rank]
		placed[c.rank] += c.end - c.at
		s.values = max(s.values, placed[c.rank])
		if c.rank != s.rank {
			continue
		}
		if r.mine == nil {
			base, r.mine = c.offset, r.chunks[i:i]
		}
		r.mine = r.mine[:len(r.mine)+1]
		length += c.end - c.at + 1
	}
	return base, length
}

// of returns the shards of a rank.
func (s *shards) of(rank int) node {
	n := len(s.leaves)
	return node{rank * n / s.count, (rank + 1) * n / s.count}
}

// plan says what to do with the shards of subtree n, so that its sum ends in dst.
func (s *shards) plan(n node, dst []float32, depth int) {
	whole := n.hi-n.lo == len(s.leaves)
	if n.hi-n.lo == 1 {
		s.leaves[n.lo] = leaf{whole: whole, copied: dst, ends: -1}
		return
	}
	a, b := n.halves()
	s.plan(a, dst, depth+1)
	if b.hi-b.lo == 1 {
		s.leaves[b.lo] = leaf{sums: []sum{{dst, nil, whole}}, ends: -1}
		return
	}
	for len(s.spare) <= depth {
		s.spare = append(s.spare, make([]float32, s.length))
	}
	s.plan(b, s.spare[depth], depth+1)
	last := &s.leaves[b.hi-1]
	last.sums = append(last.sums, sum{dst, s.spare[depth], whole})
}

// shardedStep computes the loss of the batch, and the gradients of this rank's chunks over the shards of all ranks.
func (r *run) shardedStep(ctx context.Context) (float64, error) {
	s := r.shards
	r.awaitSums()
	for i, p := range r.Params {
		if p.Frozen { // Loss may change it
			s.initial[i] = append(s.initial[i][:0], p.Val...)
		}
	}
	start := time.Now()
	mine := s.of(s.rank)
	note := append(s.notes[s.rank][:0], make([]float64, noteLosses)...)
	for i := mine.lo; i < mine.hi; i++ {
		note = append(note, float64(r.shard(i)))
	}
	note[noteSeconds] = time.Since(start).Seconds()
	own := r.own(ctx.Err() != nil)
	for i, yes := range [...]bool{noteStop: own.stop, noteSave: own.save, noteLimit: own.limit} {
		if yes {
			note[i] = 1
		}
	}
	if err := r.meet(); err != nil {
		return 0, err
	}
	r.pool.Run(len(r.mine), r.measure)
	for i := range r.mine {
		note = append(note, r.mine[i].squares)
	}
	if err := r.exchangeNotes(); err != nil {
		return 0, err
	}
	return r.readNotes() / float64(r.Shards), nil
}

// readNotes takes what all ranks say of the step, and returns the sum of the shards' losses.
func (r *run) readNotes() (loss float64) {
	s := r.shards
	s.decided = decisions{}
	at := 0 // in the chunks
	for k, note := range s.notes {
		s.decided.stop = s.decided.stop || note[noteStop] > 0
		s.decided.save = s.decided.save || note[noteSave] > 0
		s.decided.limit = s.decided.limit || note[noteLimit] > 0
		took := time.Duration(note[noteSeconds] * float64(time.Second))
		if s.took[k] == 0 {
			s.took[k] = took
		}
		s.took[k] += (took - s.took[k]) / 16
		losses := s.of(k).hi - s.of(k).lo
		for _, l := range note[noteLosses:][:losses] {
			loss += l
		}
		for _, squares := range note[noteLosses+losses:] {
			r.chunks[at].squares = squares
			at++
		}
	}
	return loss
}

// shard computes the gradients of a shard, adds them to those of the shards before, and returns its loss.
func (r *run) shard(i int) float32 {
	s := r.shards
	s.now = &s.leaves[i]
	for k := range r.chunks {
		s.left[k].Store(int32(r.chunks[k].end - r.chunks[k].at))
	}
	for k, p := range r.Params {
		if p.Frozen {
			copy(p.Val, s.initial[k])
		}
	}
	size := len(r.rows) / r.Shards
	r.tape.Reset()
	loss := r.Loss(r.tape, r.rows[i*size:(i+1)*size], false, grad.Hash(r.key(), uint64(i)))
	l := loss.Val[0]
	finite := !math.IsNaN(float64(l)) && !math.IsInf(float64(l), 0)
	if finite {
		r.tape.Backward(loss) // calls put for the parameters that it reaches
	}
	for k, p := range r.Params {
		switch {
		case p.Frozen:
			r.put(k, 0, p.Val, true)
			copy(p.Val, s.initial[k])
		case !finite || !r.tape.Reached(p):
			for at := 0; at < len(p.Val); at += chunkSize {
				r.put(k, at, s.zeros[:min(chunkSize, len(p.Val)-at)], false)
			}
		}
	}
	return l
}

// put takes the gradient of the shard in progress, of parameter i from index at on. Several goroutines may call it.
func (r *run) put(i, at int, g []float32, reached bool) {
	s := r.shards
	for len(g) > 0 {
		k := s.firsts[i] + at/chunkSize
		c := &r.chunks[k]
		n := min(len(g), c.end-at)
		s.add(c, c.offset+at-c.at, g[:n])
		if s.left[k].Add(int32(-n)) == 0 {
			var one [1]float32
			if reached {
				one[0] = 1
			}
			s.add(c, c.offset+c.end-c.at, one[:])
			r.sendSum(k)
		}
		at, g = at+n, g[n:]
	}
}

// add adds a part of a chunk's gradient to the sums that are due, from index at on.
func (s *shards) add(c *chunk, at int, g []float32) {
	end := at + len(g)
	s.round(c, g, s.now.whole)
	if s.now.copied != nil {
		copy(s.now.copied[at:end], g)
	}
	for _, due := range s.now.sums {
		from := g
		if due.from != nil {
			from = due.from[at:end]
		}
		to := due.into[at:end]
		vec.Add(to, to, from)
		s.round(c, to, due.whole)
	}
}

// round rounds a part of a chunk's sum as the job wants it. The frozen parameters that Loss changes stay exact.
func (s *shards) round(c *chunk, sum []float32, whole bool) {
	if s.bf16 && !whole && !c.frozen {
		roundBF16(sum)
	}
}

// collect makes the mean gradient of one of this rank's chunks over all shards.
func (r *run) collect(c *chunk) {
	next := 0
	g := r.shards.combine(node{0, r.Shards}, c, &next)
	c.reached = g[len(g)-1] > 0
	c.g = g[:len(g)-1]
	vec.Scale(c.g, 1/float32(r.Shards), c.g)
}

// combine returns the sum of subtree n for a chunk, in the memory of its first part. next is the first part of n.
func (s *shards) combine(n node, c *chunk, next *int) []float32 {
	if p := &s.parts[*next]; p.node == n {
		*next++
		if s.memory[p.rank] == nil {
			p.unpack(c)
		}
		return p.of(c)
	}
	a, b := n.halves()
	x := s.combine(a, c, next)
	vec.Add(x, x, s.combine(b, c, next))
	s.round(c, x, n.hi-n.lo == len(s.leaves))
	return x
}

// placed returns where the ranks of a machine find the values of a chunk.
func (s *shards) placed(c *chunk) []float32 { return s.memory[c.rank][c.placed:][:c.end-c.at] }

// of returns a chunk's sum.
func (p *part) of(c *chunk) []float32 { return p.sum[c.offset-p.base:][:c.end-c.at+1] }

// packed returns where a chunk's sum is sent from, or received.
func (p *part) packed(c *chunk) []byte {
	if p.wire == nil || c.frozen {
		return bytesOf(p.of(c))
	}
	return bytesOf(p.wire[c.offset-p.base:][:c.end-c.at+1])
}

func (p *part) pack(c *chunk) {
	if p.wire != nil && !c.frozen {
		for i, v := range p.of(c) {
			p.wire[c.offset-p.base+i] = uint16(math.Float32bits(v) >> 16)
		}
	}
}

func (p *part) unpack(c *chunk) {
	if p.wire != nil && !c.frozen {
		to := p.of(c)
		for i := range to {
			to[i] = math.Float32frombits(uint32(p.wire[c.offset-p.base+i]) << 16)
		}
	}
}
