package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/internal/boundedfile"
	"mannequin/internal/closest"
)

// LabelsFile is the name of the file beside the recordings that labels their frames.
const LabelsFile = "labels.json"

// maxLabels bounds the size of a label file in bytes.
const maxLabels = 16 << 20

// Labels is one recording's entry in labels.json, which is a JSON object with
// the recordings' names, without .bvh, as its keys. Ranges may overlap.
type Labels struct {
	Frames   int                `json:"frames"`                    // of the recording
	Train    []Range            `json:"train_range_0based"`        // frames to make rows of
	Segments map[string][]Range `json:"segments_0based_inclusive"` // by label, see LabelNames; every frame needs one

	// Other fields of the authors' file, which nothing reads.
	Clip      string          `json:"clip,omitempty"`
	PhaseKeys json.RawMessage `json:"phase_keys_0based,omitempty"`
}

// Range is the first and the last frame of a stretch of a recording, counted from 0.
type Range [2]int

// UnmarshalJSON reads a list of two numbers. A plain array would drop a third.
func (r *Range) UnmarshalJSON(b []byte) error {
	var v []int
	if err := json.Unmarshal(b, &v); err != nil || len(v) != 2 {
		return fmt.Errorf("range %.40s is not a pair of frames", b)
	}
	*r = Range(v)
	return nil
}

// labelAction maps labels to actions.
var labelAction = map[string]string{
	"Idle": "idle", "Walk": "move", "Sprint": "move", "Jump": "jump",
	"Sit": "sit", "Lie": "lie", "Sleep": "lie", "Stand": "stand",
}

// LabelNames returns the labels that a recording's frames may have.
func LabelNames() []string { return slices.Sorted(maps.Keys(labelAction)) }

// precedence lists the actions from the strongest to the weakest where segments overlap.
// The rarer action is the one that the overlap was labelled for (a jump within a walk).
var precedence = []string{"jump", "stand", "sit", "lie", "move", "idle"}

func readLabels(dir string) (map[string]Labels, error) {
	path := filepath.Join(dir, LabelsFile)
	b, err := boundedfile.Read(path, maxLabels)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("dataset: %w: the folder of recordings needs a %s", err, LabelsFile)
	} else if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	l, err := parseLabels(b)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", path, err)
	}
	return l, nil
}

// parseLabels decodes a label file and checks every entry by itself.
func parseLabels(b []byte) (map[string]Labels, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(b, &entries); err != nil {
		var syn *json.SyntaxError
		if errors.As(err, &syn) {
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(b[:syn.Offset], []byte("\n")), err)
		}
		return nil, errors.New("want an object with the recordings' names as its keys")
	}
	if len(entries) == 0 {
		return nil, errors.New("no recording is labelled")
	}
	all := make(map[string]Labels, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		var l Labels
		dec := json.NewDecoder(bytes.NewReader(entries[name]))
		dec.DisallowUnknownFields() // a misspelt train range would leave the recording out
		err := dec.Decode(&l)
		var typ *json.UnmarshalTypeError
		if errors.As(err, &typ) {
			err = fmt.Errorf("%s is a JSON %s", typ.Field, typ.Value)
		} else if key, ok := strings.CutPrefix(fmt.Sprint(err), "json: unknown field "); ok {
			err = fmt.Errorf("unknown key %s%s", key, closest.KeyHint([]string{strings.Trim(key, `"`)}, l))
		} else if err == nil {
			err = l.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = l
	}
	return all, nil
}

// check reports the first range that is not inside the recording.
func (c Labels) check() error {
	// A recording of a day at 60 Hz is 5.2 million frames.
	if c.Frames < 1 || c.Frames > 1<<24 {
		return fmt.Errorf("frames is %d, want 1 to %d", c.Frames, 1<<24)
	}
	ok := func(r Range) bool { return 0 <= r[0] && r[0] <= r[1] && r[1] < c.Frames }
	for _, r := range c.Train {
		if !ok(r) {
			return fmt.Errorf("train range %v is not inside the recording's %d frames", r, c.Frames)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Segments)) {
		if labelAction[name] == "" {
			return fmt.Errorf("unknown label %q, want one of %s%s", name, strings.Join(LabelNames(), ", "), closest.Hint(name, LabelNames()))
		}
		for _, r := range c.Segments[name] {
			if !ok(r) {
				return fmt.Errorf("%s segment %v is not inside the recording's %d frames", name, r, c.Frames)
			}
		}
	}
	return nil
}

// Actions returns the action of every frame, "" without a label. Where labels overlap it is the rarer one.
func (c Labels) Actions() []string {
	out := make([]string, c.Frames)
	// From the weakest action to the strongest, each overwriting the last.
	for _, act := range slices.Backward(precedence) {
		for name, a := range labelAction {
			if a != act || len(c.Segments[name]) == 0 {
				continue
			}
			for f, in := range covered(c.Segments[name], c.Frames) {
				if in {
					out[f] = act
				}
			}
		}
	}
	return out
}

// weights returns the action weights of every frame, (frames, actions).
func (c Labels) weights(actions []string, ramp int) ([]float32, error) {
	for name := range c.Segments {
		if act := labelAction[name]; len(c.Segments[name]) > 0 && !slices.Contains(actions, act) {
			return nil, fmt.Errorf("label %s means action %q, which the layout %v lacks", name, act, actions)
		}
	}
	hard := make([]int, c.Frames)
	for f, act := range c.Actions() {
		if hard[f] = slices.Index(actions, act); act == "" {
			return nil, fmt.Errorf("frame %d has no label", f)
		}
	}
	return ramps(hard, len(actions), ramp), nil
}

// covered reports for each frame whether one of the ranges holds it. A label file may repeat a
// range a million times: the time is proportional to ranges plus frames, not to their product.
func covered(ranges []Range, frames int) []bool {
	change := make([]int32, frames+1)
	for _, r := range ranges {
		change[r[0]]++
		change[r[1]+1]--
	}
	in := make([]bool, frames)
	var depth int32
	for f := range in {
		depth += change[f]
		in[f] = depth > 0
	}
	return in
}

// rowFrames returns the frames to train on that have a frame a stride before and one
// a stride after. They are in the order of strides: every stride-th frame from the first
// on, then from the second, and so on.
func (c Labels) rowFrames(stride int) []int {
	var out []int
	in := covered(c.Train, c.Frames)
	for first := range stride {
		for f := first + stride; f < c.Frames-stride; f += stride {
			if in[f] {
				out = append(out, f)
			}
		}
	}
	return out
}

// ramps turns the hard action of each frame into weights, as the package comment says.
func ramps(hard []int, actions, ramp int) []float32 {
	w := make([]float32, len(hard)*actions)
	key, action := 0, -1 // the last key before the present run, and its action
	for from := 0; from < len(hard); {
		to := from
		for to+1 < len(hard) && hard[to+1] == hard[from] {
			to++
		}
		r := min(ramp, (to-from+1)/4)
		first, last := from+r, to-r
		if action < 0 {
			first = 0
		}
		if to == len(hard)-1 {
			last = to
		}
		for f := key + 1; action >= 0 && f < first; f++ {
			t := float32(f-key) / float32(first-key)
			w[f*actions+action] += 1 - t
			w[f*actions+hard[from]] += t
		}
		for f := first; f <= last; f++ {
			w[f*actions+hard[from]] = 1
		}
		key, action, from = last, hard[from], to+1
	}
	return w
}
