package strnn

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Rate is the frame rate, per second.
const Rate = 30

// Names of the values in the network's graph.
const (
	ValueX        = "x"            // frames to continue, raw, (Encode, columns)
	ValueClock    = "clock"        // 0 for each reconstructed frame, (Encode, 1)
	ValueLatent   = "latent"       // latent values and the manner's code for each predicted frame, (Predict, max(1, Latent+Manner))
	ValueH        = "state"        // a state h and the manner's code, (any, units+Manner)
	ValuePrior    = "prior"        // a layer before
	ValueMean     = "prior.mean"   // the means of the latent values, (any, Latent)
	ValueLogVar   = "prior.logvar" // and the logarithms of their variances
	ValueBefore   = "before"       // reconstructed frames of x, (Encode, columns)
	ValueAfter    = "after"        // the next ones, (Predict, columns)
	ValueZ        = "z"            // predicted frames, after FilterNear frames before them, (any, columns)
	ValueFiltered = "filtered"     // the same, denoised
	ValuePast     = "past"         // past frames of a column, (any, Encode)
	ValueLinear   = "linear"       // output of the linear filters of all columns, (any, (Encode+Predict)·columns): see Linear. If a file has it, before and after are differences from it
	ValueManner   = "manner"       // how a person moves: see MannerOf, (any, 2·columns); if a file has manners
	ValueCode     = "manner.code"  // its code, (any, Manner)
	ValueBase     = "base"         // the filters' output for the frames of a part, raw, (Encode, columns) or (Predict, columns); if a file has filters
)

// ValueState are the last states of the temporal network's encoder, h and c.
var ValueState = [2]string{"encoder.h", "encoder.c"}

// FilterNear is the maximum number of frames that the filter sees before the predicted ones.
const FilterNear = 4

// Keys of the extra metadata.
const (
	KeyEncode  = "encode"  // frames
	KeyPredict = "predict" // frames
	KeyLatent  = "latent"  // values
	KeyManner  = "manner"  // values of a manner's code; files without this key have none
	KeyScale   = "scale"   // Linear.Scale, as a JSON list, if the file has linear filters
)

// Model is a motion predictor. It is immutable and safe to share.
type Model struct {
	*feature.Person // the layout of its frames, and the skeleton that they pose

	Net             *netruntime.Net
	Encode, Predict int     // number of frames seen and predicted
	Latent          int     // number of latent values, which select one of the possible futures, in standard deviations; all 0 is the mean
	Manner          int     // number of values that say how a person moves, as far back as MannerFrames; 0: the file knows only what it sees
	Linear          *Linear // filters from which predicted frames are differences; nil: none
	Guide           *Guide  // latent values for steering; nil: the file has none

	encode    *netruntime.Net // frames to the state of the temporal network
	decode    *netruntime.Net // state to the frames that led to it
	predict   *netruntime.Net // state to the following frames
	prior     *netruntime.Net // h to the distribution of latent values; nil: no latent values
	manner    *netruntime.Net // how a person moves to its code; nil: none
	filter    *netruntime.Net // nil: none
	units     int             // of a state, h or c
	mean      []float32       // (columns) mean that the filters subtract
	deviation []float32       // (columns) deviations of the training data, by which manners are compared; 1 if the file does not say
}

// Describe writes the metadata that NewModel reads into meta.
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

// maxFrames bounds Encode, Predict and Latent.
const maxFrames = 1024

var errZeroModel = errors.New("strnn: the zero Model has no network: make one with NewModel")

// NewModel returns a model of a network. A *feature.SchemaError lists every difference between its
// metadata, its shapes and this package.
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
	}{{KeyEncode, &m.Encode, 1, maxFrames}, {KeyPredict, &m.Predict, 1, maxFrames}, {KeyLatent, &m.Latent, 0, maxFrames}, {KeyManner, &m.Manner, 0, maxFrames}} {
		v, err := strconv.Atoi(meta.Extra[n.key])
		if _, ok := meta.Extra[n.key]; !ok && n.key == KeyManner {
			continue
		}
		if err != nil || v < n.least || v > n.max {
			differ("its metadata %q is %.20q, want a number from %d to %d", n.key, meta.Extra[n.key], n.least, n.max)
		}
		*n.to = v
	}
	part := func(to **netruntime.Net, inputs []string, outputs ...string) {
		var err error
		if *to, err = net.Part(inputs, outputs); err != nil {
			differ("it has no part from %s to %s: %v", strings.Join(inputs, " and "), strings.Join(outputs, " and "), err)
		}
	}
	part(&m.encode, []string{ValueX}, ValueState[0], ValueState[1])
	part(&m.decode, m.inputs(ValueClock, ValueState[0], ValueState[1]), ValueBefore)
	part(&m.predict, m.inputs(ValueLatent, ValueState[0], ValueState[1]), ValueAfter)
	if m.Latent > 0 {
		part(&m.prior, []string{ValueH}, ValueMean, ValueLogVar)
	}
	if m.Manner > 0 {
		part(&m.manner, []string{ValueManner}, ValueCode)
	}
	for _, in := range net.Graph().Inputs {
		switch {
		case in.Name == ValueZ:
			part(&m.filter, []string{ValueZ}, ValueFiltered)
		case in.Name == ValueLatent && in.Channels != m.latents():
			differ("its input %q has %d values, want %d", ValueLatent, in.Channels, m.latents())
		case in.Name == ValueManner && in.Channels != 2*m.Layout.Columns():
			differ("its input %q has %d values, want two for each of the %d of its schema", ValueManner, in.Channels, m.Layout.Columns())
		case in.Name == ValueBase && in.Channels != m.Layout.Columns():
			differ("its input %q has %d values, its schema has %d", ValueBase, in.Channels, m.Layout.Columns())
		}
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	for _, p := range []*netruntime.Net{m.decode, m.predict, m.filter} {
		if p != nil && p.Outputs() != m.Layout.Columns() {
			differ("its frames have %d values, its schema has %d", p.Outputs(), m.Layout.Columns())
		}
	}
	for _, in := range m.decode.Graph().Inputs {
		if in.Once {
			m.units = in.Channels
		}
	}
	if m.manner != nil && m.manner.Outputs() != m.Manner {
		differ("its output %q has %d values, want %d", ValueCode, m.manner.Outputs(), m.Manner)
	}
	if m.prior != nil && m.prior.Graph().Inputs[0].Channels != m.units+m.Manner {
		differ("its input %q has %d values, want %d", ValueH, m.prior.Graph().Inputs[0].Channels, m.units+m.Manner)
	}
	m.deviation = slices.Repeat([]float32{1}, m.Layout.Columns())
	if std, ok := net.Tensor("std"); ok && len(std.Data) == len(m.deviation) {
		m.deviation = std.Data
	}
	m.readLinear(differ)
	m.readGuide(differ)
	if len(e.Diff) > 0 {
		return nil, e
	}
	return m, nil
}

// latents returns the number of values of ValueLatent.
func (m *Model) latents() int { return max(1, m.Latent+m.Manner) }

// inputs returns names, followed by ValueBase if the file has linear filters.
func (m *Model) inputs(names ...string) []string {
	if _, ok := m.Net.Tensor(linearWeight); ok {
		names = append(names, ValueBase)
	}
	return names
}

// linearWeight is the tensor of the linear filters.
const linearWeight = ValueLinear + ".weight"

// readLinear reads the linear filters, if the file has them.
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
	m.Linear, m.mean = newLinear(w.Data, scale, m.Encode, cols), mean.Data
}
