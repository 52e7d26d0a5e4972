//go:build webgpu

package webgpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// nearest searches points, as kernels/nearest.wgsl does.
type nearest struct {
	part
	points *netruntime.Points // until they are on the device
	count  int                // of the points
	cols   int
	groups int // workgroups along the tiles
	most   int // most queries at a time

	memory, ops *buffer
	bindings    *group
	called      *group

	wants   []uint32  // (queries, wantWords)
	queries []float32 // (queries / tileQueries, columns, tileQueries)
	costs   []float32 // (queries, groups, 3)
	job     job
	closed  bool
}

// job is what a Find searches at a time.
type job struct {
	found   []netruntime.Found
	queries []float32
	wants   []netruntime.Want
}

const (
	wantWords   = 8
	searchWords = 8 // of the operation
	mostQueries = 1 << 12
	mostPoints  = 1 << 24 // which float32 counts
)

// NewNearest returns a search of points on the GPU, for o.Batch queries at a time, or nil if there is none. A Find that the GPU does not answer counts
// as one of Fallbacks.
func NewNearest(p *netruntime.Points, o Options) (netruntime.Nearest, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if err := checkPoints(p, o.Batch); err != nil {
		return nil, err
	}
	n := &nearest{points: p, count: len(p.Features) / p.Columns, cols: p.Columns, most: program.RoundUp(min(o.Batch, mostQueries), tileQueries)}
	if !n.place(&o, "a search", n) {
		return nil, nil
	}
	n.points = nil
	return n, nil
}

// open writes the points to the device, and makes what a search needs.
func (n *nearest) open() (err error) {
	p := n.points
	tiles := (n.count + tilePoints - 1) / tilePoints
	n.groups = min(tiles, searchGroups)
	results := 4 * n.most * n.groups * 3
	queries := 4 * n.most * n.cols
	tags := searchWords + n.most*wantWords // word
	sizes := [...]int{results + queries, 4 * tiles * tilePoints * n.cols, 4 * (tags + 2*n.count*len(p.Tags))}
	if n.count >= mostPoints || int64(max(sizes[0], sizes[1], sizes[2])) > n.device.most {
		return fmt.Errorf("webgpu: a search of %d points takes %d bytes, the device binds at most %d: %w", n.count, max(sizes[0], sizes[1], sizes[2]), n.device.most, errPlan)
	}
	if n.memory, err = n.part.memory("values", int64(sizes[0]), storage); err != nil {
		return err
	}
	features, err := n.part.memory("points", int64(sizes[1]), input)
	if err != nil {
		return err
	}
	if n.ops, err = n.part.memory("operations", int64(sizes[2]), input); err != nil {
		return err
	}
	args, err := n.part.memory("arguments", callBytes, uniform)
	if err != nil {
		return err
	}
	run, err := n.part.memory("run", runBytes, uniform)
	if err != nil {
		return err
	}
	if n.results, err = n.part.memory("results", int64(results), readable); err != nil {
		return err
	}
	if n.bindings, err = n.group(false, binding{bindMemory, n.memory, 0, 0}, binding{bindConstants, features, 0, 0},
		binding{bindOps, n.ops, 0, 0}, binding{bindRun, run, 0, runBytes}); err != nil {
		return err
	}
	if n.called, err = n.group(true, binding{bindCall, args, 0, callBytes}); err != nil {
		return err
	}
	words := make([]byte, 0, sizes[2])
	for _, v := range [searchWords]int{n.cols, n.count, tiles, n.groups, results / 4, searchWords, tags} {
		words = binary.LittleEndian.AppendUint32(words, uint32(v))
	}
	words = words[:4*tags]
	for _, set := range p.Tags {
		for _, v := range set {
			words = binary.LittleEndian.AppendUint64(words, v)
		}
	}
	tiled := make([]float32, tiles*tilePoints*n.cols)
	for i := range n.count {
		at := i/tilePoints*tilePoints*n.cols + i%tilePoints
		for c, v := range p.Features[i*n.cols:][:n.cols] {
			tiled[at+c*tilePoints] = v
		}
	}
	n.wants, n.queries, n.costs = make([]uint32, n.most*wantWords), make([]float32, n.most*n.cols), make([]float32, results/4)
	for _, b := range []struct {
		to   *buffer
		data []byte
	}{{args, make([]byte, callBytes)}, {run, make([]byte, runBytes)}, {n.memory, make([]byte, sizes[0])}, {n.ops, words}, {features, asBytes(tiled)}} {
		if err := n.device.upload(b.to, b.data); err != nil {
			return err
		}
	}
	return nil
}

// Find implements netruntime.Nearest.
func (n *nearest) Find(found []netruntime.Found, queries []float32, wants []netruntime.Want) bool {
	if n.closed || len(found) < len(wants) || len(queries) < len(wants)*n.cols {
		panic("webgpu: Find of a closed search, or of too few values")
	}
	if len(wants) == 0 {
		return true
	}
	if state.Lost.Load() || !n.finds(found, queries, wants) {
		state.Fallbacks.Add(1)
		return false
	}
	return true
}

func (n *nearest) finds(found []netruntime.Found, queries []float32, wants []netruntime.Want) bool {
	for len(wants) > 0 {
		k := min(n.most, len(wants))
		n.job = job{found[:k], queries[:k*n.cols], wants[:k]}
		err := n.do(n)
		n.job = job{}
		if err != nil {
			fail(n.opt.Log, err)
			return false
		}
		found, queries, wants = found[k:], queries[k*n.cols:], wants[k:]
	}
	return true
}

// send submits a search, and asks for the results.
func (n *nearest) send() (m mapping, err error) {
	j := &n.job
	for i := range j.wants {
		w, to := &j.wants[i], n.wants[i*wantWords:][:wantWords]
		to[0], to[1], to[2], to[3] = uint32(w.Must), uint32(w.Must>>32), uint32(w.Never), uint32(w.Never>>32)
		to[4], to[5], to[6] = uint32(w.Set), uint32(w.First), uint32(w.End)
		at := i/tileQueries*tileQueries*n.cols + i%tileQueries
		for c, v := range j.queries[i*n.cols:][:n.cols] {
			n.queries[at+c*tileQueries] = v
		}
	}
	k := program.RoundUp(len(j.wants), tileQueries)
	wants := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(n.wants))), 4*k*wantWords)
	if err := n.device.write(n.ops, 4*searchWords, wants); err != nil {
		return m, err
	}
	if err := n.device.write(n.memory, int64(4*len(n.costs)), asBytes(n.queries[:k*n.cols])); err != nil {
		return m, err
	}
	c, err := n.device.begin(n.results)
	if err != nil {
		return m, err
	}
	c.kernel(n.device.nearest)
	c.bind(0, n.bindings)
	c.bind(1, n.called)
	c.dispatch(n.groups, k/tileQueries)
	if err := c.endKernels(); err != nil {
		return m, err
	}
	c.copy(n.memory, 0, n.results, 0, int64(4*3*n.groups*len(j.wants)))
	return n.device.run(&c, n.results)
}

// receive takes the best of all workgroups for each query.
func (n *nearest) receive(m mapping) error {
	results, err := n.device.mapped(n.results, m)
	if err != nil {
		return err
	}
	costs := n.costs[:3*n.groups*len(n.job.wants)]
	results.read(asBytes(costs), 0)
	if err := results.unmap(); err != nil {
		return err
	}
	const farthest = 3e38 // as in the kernel
	for i := range n.job.found {
		f := netruntime.Found{Point: -1, Cost: farthest, Next: farthest}
		for g := range n.groups {
			v := costs[3*(i*n.groups+g):][:3]
			if v[0] < f.Cost {
				f = netruntime.Found{Point: int(v[2]), Cost: v[0], Next: min(f.Cost, v[1])}
			} else {
				f.Next = min(f.Next, v[0])
			}
		}
		if f.Point < 0 {
			f.Cost = float32(math.Inf(1))
		}
		if f.Next >= farthest {
			f.Next = float32(math.Inf(1))
		}
		n.job.found[i] = f
	}
	return nil
}

// Close implements netruntime.Nearest.
func (n *nearest) Close() error {
	if !n.closed {
		n.closed = true
		n.Free()
	}
	return nil
}

// Free frees what is on the GPU.
func (n *nearest) Free() { n.free(n, func() {}) }
