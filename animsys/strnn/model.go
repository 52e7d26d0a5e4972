// Package strnn predicts people's motion, 30 frames per second: a spatio-temporal
// recurrent network goes on from some frames by some more, again and again (Wang, Ho,
// Shum and Zhu 2019).
package strnn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Rate is the rate of frames, per second.
const Rate = 30

// Names of the values that the network's graph must have.
const (
	ValueX        = "x"            // frames to go on from, raw, (Encode, columns)
	ValueClock    = "clock"        // 0 for each frame that is made again, (Encode, 1)
	ValueLatent   = "latent"       // latent values for each frame that is made, (Predict, max(1, Latent))
	ValueH        = "state"        // a state h, (any, units)
	ValuePrior    = "prior"        // a layer on the way to
	ValueMean     = "prior.mean"   // the means of the latent values after it, (any, Latent)
	ValueLogVar   = "prior.logvar" // and the logarithms of their variances
	ValueBefore   = "before"       // the frames of x again, (Encode, columns)
	ValueAfter    = "after"        // the next ones, (Predict, columns)
	ValueZ        = "z"            // frames made, after FilterNear frames before them, (any, columns)
	ValueFiltered = "filtered"     // the same without noise
	ValuePast     = "past"         // a column's frames that were seen, (any, Encode)
	ValueLinear   = "linear"       // what the linear filters of all columns make of it, (any, (Encode+Predict)·columns): see Linear. Where a file has it, before and after are differences from it
	ValueBase     = "base"         // what the filters say of the frames that are made, raw, (Encode, columns) or (Predict, columns); where a file has them
)

// ValueState are the last states of the temporal network's encoder, h and c.
var ValueState = [2]string{"encoder.h", "encoder.c"}

// FilterNear is how many frames the filter sees before those that are made, at most.
const FilterNear = 4

// Keys of the extra metadata.
const (
	KeyEncode  = "encode"  // frames
	KeyPredict = "predict" // frames
	KeyLatent  = "latent"  // values
	KeyScale   = "scale"   // Linear.Scale, as a JSON list, where the file has linear filters
)

// Model is a predictor. It is immutable and safe to share.
type Model struct {
	*feature.Person // the layout of its frames, and the skeleton that they pose

	Net             *netruntime.Net
	Encode, Predict int    // frames seen, and made
	Latent          int    // values that say in which of the ways it may go on a motion does, in deviations from what is likely; all 0 is the middle of all ways
	Guide           *Guide // which of them lead people as they are asked; nil: the file has none

	encode  *netruntime.Net // frames to the state of the temporal network
	decode  *netruntime.Net // a state to the frames that led to it
	predict *netruntime.Net // a state to those that follow
	prior   *netruntime.Net // h to likely latent values; nil: there are none
	filter  *netruntime.Net // nil: none
	units   int             // of a state, h or c
	linear  *Linear         // what frames that are made are differences from; nil: from nothing
	mean    []float32       // (columns) what frames differ from there
}

// Describe writes into meta what New reads.
func Describe(meta *netruntime.Meta, p *feature.Person, encode, predict, latent int) error {
	var err error
	if meta.Schema, meta.SchemaHash, meta.Skeleton, err = feature.DescribePerson(p.Layout, p.Skel); err != nil {
		return fmt.Errorf("strnn: %w", err)
	}
	if meta.Extra == nil {
		meta.Extra = map[string]string{}
	}
	meta.Extra[KeyEncode], meta.Extra[KeyPredict], meta.Extra[KeyLatent] = strconv.Itoa(encode), strconv.Itoa(predict), strconv.Itoa(latent)
	return nil
}

// maxFrames bounds the frames that a network sees or makes at a time.
const maxFrames = 1024

// New returns the network as a predictor. A *feature.SchemaError lists everything in which its
// metadata, its shapes and this package differ.
func NewModel(net *netruntime.Net) (*Model, error) {
	meta := net.Meta()
	e := &feature.SchemaError{Package: "strnn", Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	m := &Model{Net: net}
	if m.Person, e.Diff = feature.ReadPerson(meta.Schema, meta.SchemaHash, meta.Skeleton); m.Person == nil {
		return nil, e
	}
	for _, n := range []struct {
		key        string
		to         *int
		least, max int
	}{{KeyEncode, &m.Encode, 1, maxFrames}, {KeyPredict, &m.Predict, 1, maxFrames}, {KeyLatent, &m.Latent, 0, maxFrames}} {
		v, err := strconv.Atoi(meta.Extra[n.key])
		if err != nil || v < n.least || v > n.max {
			differ("its metadata %q is %.20q, want a number from %d to %d", n.key, meta.Extra[n.key], n.least, n.max)
		}
		*n.to = v
	}
	part := func(to **netruntime.Net, inputs []string, outputs ...string) {
		var err error
		if *to, err = net.Part(inputs, outputs); err != nil {
			differ("it makes no %s of %s: %v", strings.Join(outputs, " and "), strings.Join(inputs, " and "), err)
		}
	}
	part(&m.encode, []string{ValueX}, ValueState[0], ValueState[1])
	part(&m.decode, m.inputs(ValueClock, ValueState[0], ValueState[1]), ValueBefore)
	part(&m.predict, m.inputs(ValueLatent, ValueState[0], ValueState[1]), ValueAfter)
	if m.Latent > 0 {
		part(&m.prior, []string{ValueH}, ValueMean, ValueLogVar)
	}
	for _, in := range net.Graph().Inputs {
		switch {
		case in.Name == ValueZ:
			part(&m.filter, []string{ValueZ}, ValueFiltered)
		case in.Name == ValueLatent && in.Channels != max(1, m.Latent):
			differ("its input %q has %d values, want %d", ValueLatent, in.Channels, max(1, m.Latent))
		case in.Name == ValueBase && in.Channels != m.Layout.Columns():
			differ("its input %q has %d values, its schema's frames %d", ValueBase, in.Channels, m.Layout.Columns())
		}
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	for _, p := range []*netruntime.Net{m.decode, m.predict, m.filter} {
		if p != nil && p.Outputs() != m.Layout.Columns() {
			differ("its frames have %d values, those of its schema %d", p.Outputs(), m.Layout.Columns())
		}
	}
	for _, in := range m.decode.Graph().Inputs {
		if in.Once {
			m.units = in.Channels
		}
	}
	m.readLinear(differ)
	m.readGuide(differ)
	if len(e.Diff) > 0 {
		return nil, e
	}
	return m, nil
}

// inputs returns names and, where the file has linear filters, what they say, last.
func (m *Model) inputs(names ...string) []string {
	if _, ok := m.Net.Tensor(linearWeight); ok {
		names = append(names, ValueBase)
	}
	return names
}

// linearWeight is the tensor of the linear filters.
const linearWeight = ValueLinear + ".weight"

// readLinear reads the linear filter, where the file has one.
func (m *Model) readLinear(differ func(format string, args ...any)) {
	w, ok := m.Net.Tensor(linearWeight)
	if !ok {
		return
	}
	cols := m.Layout.Columns()
	if want := []int{(m.Encode + m.Predict) * cols, m.Encode}; !slices.Equal(w.Shape, want) {
		differ("its tensor %q has the shape %v, want %v", w.Name, w.Shape, want)
		return
	}
	mean, ok := m.Net.Tensor("mean")
	if !ok || len(mean.Data) != cols {
		differ("its tensor \"mean\" has %d values, want %d", len(mean.Data), cols)
		return
	}
	var scale []float32
	if err := json.Unmarshal([]byte(m.Net.Meta().Extra[KeyScale]), &scale); err != nil || len(scale) != m.Encode+m.Predict {
		differ("its metadata %q is %.40q, want a list of %d numbers", KeyScale, m.Net.Meta().Extra[KeyScale], m.Encode+m.Predict)
		return
	}
	m.linear, m.mean = newLinear(w.Data, scale, m.Encode, cols), mean.Data
}
