package motion

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/metrics"
)

// actReport is the report of synth on a punch or a kick.
type actReport struct {
	Out     string              `json:"out"`
	Kind    string              `json:"kind"`
	Joints  []string            `json:"given"`
	Seconds float64             `json:"seconds"`
	Took    float64             `json:"took_s"`
	Rate    float64             `json:"frames_per_second"`
	Given   float64             `json:"given_cm"` // mean distance of the given joints from their targets
	Worst   float64             `json:"given_most_cm"`
	Edit    manifold.EditReport `json:"edit"`
	Motion  metrics.People      `json:"motion"`
}

// act makes a punch or a kick.
func (o *synthOptions) act() (*actReport, error) {
	m, err := input.OpenManifold(o.networks.Base)
	if err != nil {
		return nil, err
	}
	given, err := o.openGiven(m)
	if err != nil {
		return nil, err
	}
	columns, err := m.Columns(o.kind)
	if err != nil {
		return nil, err
	}
	n := len(columns)
	if len(given)/n%2 != 0 { // an even number of frames
		given = append(given, given[len(given)-n:]...)
	}
	net := map[string]string{"punch": o.punch, "kick": o.kick}[o.kind]
	p, err := evalmanifold.OpenSynthesizer(m, o.kind, net, len(given)/n, o.threads)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	at := time.Now()
	rows, edit, err := p.Make(given, o.iterations)
	if err != nil {
		return nil, err
	}
	if edit.Failed > 0 {
		return nil, fmt.Errorf("%s: no motion was found: its values leave the range of numbers", o.targets)
	}
	r := &actReport{Out: o.out, Kind: o.kind, Joints: p.Joints(), Took: time.Since(at).Seconds(), Edit: edit}
	r.Rate = float64(len(given)/n) / r.Took
	r.Given, r.Worst = p.Miss(rows, given)
	if r.Motion, err = metrics.MeasurePeople(m, rows, evalmanifold.Rounded(evalmanifold.Contacts(m.Layout, rows)), feature.Place{}, nil); err != nil {
		return nil, err
	}
	clip, err := m.Clip(rows, manifold.Rate, feature.Place{})
	if err != nil {
		return nil, err
	}
	r.Seconds = clip.Seconds()
	return r, writeClip(o.out, clip)
}

func (r *actReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %.1f s of a %s in %.2f s (%.0f frames/s), %d steps of editing\n", r.Out, r.Seconds, r.Kind, r.Took, r.Rate, r.Edit.Steps)
	fmt.Fprintf(w, "%s off their targets: mean %.2f cm, largest %.1f cm\n", strings.Join(r.Joints, ", "), r.Given, r.Worst)
	_, err := fmt.Fprintf(w, "standing feet slide %.3f cm/frame; bones change by %.2f %% (largest %.1f %%)\n", r.Motion.Skate, r.Motion.Bone, r.Motion.BoneMost)
	return err
}

// openGiven reads the positions of the given joints, frame by frame in the body's frame, from a
// recording, a table or targets.
func (o *synthOptions) openGiven(m *manifold.Model) ([]float32, error) {
	columns, err := m.Columns(o.kind)
	if err != nil {
		return nil, err
	}
	ext := strings.ToLower(filepath.Ext(o.targets))
	if o.read.Profile != nil && ext != ".bvh" && ext != ".amc" {
		return nil, command.Usagef("--profile is for --targets of a recording")
	}
	switch ext {
	case ".bvh", ".amc":
		rows, _, err := evalmanifold.OpenPerson(m, o.targets, o.read)
		if err != nil {
			return nil, err
		}
		return evalmanifold.Places(rows, m.Layout.Columns(), columns), nil
	case ".csv":
		text, err := boundedfile.Read(o.targets, maxGivenBytes)
		if err != nil {
			return nil, err
		}
		return givenTable(m, o.targets, text, columns)
	case ".toml":
		return givenTargets(m, o.kind, o.targets, columns, max(int(math.Round(o.seconds*manifold.Rate)), 2))
	}
	return nil, fmt.Errorf("--targets %s: want a table (.csv), targets (.toml) or a recording (.bvh, .amc)", o.targets)
}

// givenTargets returns the joints at their targets, and at rest in between.
func givenTargets(m *manifold.Model, kind, file string, columns []int, frames int) ([]float32, error) {
	g, err := openTargets(file, "body")
	if err != nil {
		return nil, err
	}
	var names []string
	for i := 0; i < len(columns); i += 3 {
		names = append(names, m.Layout.Joints[columns[i]/3])
	}
	for i, t := range g.targets {
		if !slices.Contains(names, t.Joint) {
			return nil, g.tables.wrong(i, fmt.Errorf("a %s is made from %s, not %.40q", kind, strings.Join(names, ", "), t.Joint), "joint")
		}
	}
	if err := g.check(m, frames); err != nil {
		return nil, err
	}
	rest := atEase(m, names)
	given := make([]float32, 0, frames*len(columns))
	for f := range frames {
		for i, name := range names {
			// Joints of the same limb move along.
			var own, along m3.Vec3
			var share, pulled float32
			for _, t := range g.targets {
				s := t.Influence(f)
				way := t.At.Sub(rest[slices.Index(names, t.Joint)]).Scale(s)
				switch {
				case t.Joint == name:
					own, share = own.Add(way), share+s
				case oneLimb(m, t.Joint, name):
					along, pulled = along.Add(way), pulled+s
				}
			}
			at := rest[i].Add(own.Scale(1 / max(1, share)))
			if share == 0 {
				at = rest[i].Add(along.Scale(1 / max(1, pulled)))
			}
			given = append(given, at.X, at.Y, at.Z)
		}
	}
	return given, nil
}

// atEase returns the positions of joints without targets, in the body's frame: those with contacts as
// in the rest pose, others at the mean of all motion.
func atEase(m *manifold.Model, names []string) []m3.Vec3 {
	mean, _ := m.Normalisation()
	rest, low := make([]m3.Vec3, m.Skel.Len()), float32(math.Inf(1))
	for j, p := range m.Skel.Parents {
		if p >= 0 {
			rest[j] = rest[p].Add(m.Skel.Offsets[j])
		}
	}
	for _, c := range m.Layout.Contacts {
		low = min(low, rest[m.Skel.Index(c.Joint)].Y)
	}
	var at []m3.Vec3
	for _, name := range names {
		p := mean[m.Layout.Pos(m.Layout.Joint(name)):]
		v := m3.V(p[0], p[1], p[2])
		if slices.ContainsFunc(m.Layout.Contacts, func(c feature.Contact) bool { return c.Joint == name }) {
			v = rest[m.Skel.Index(name)].Sub(m3.V(0, low, 0))
		}
		at = append(at, v)
	}
	return at
}

// oneLimb reports whether one of two joints hangs on the other.
func oneLimb(m *manifold.Model, a, b string) bool {
	for _, v := range [][2]int{{m.Skel.Index(a), m.Skel.Index(b)}, {m.Skel.Index(b), m.Skel.Index(a)}} {
		for j := v[0]; j >= 0; j = int(m.Skel.Parents[j]) {
			if j == v[1] {
				return true
			}
		}
	}
	return false
}

// maxGiven is the longest table in seconds, maxGivenBytes the largest.
const (
	maxGiven      = 600
	maxGivenBytes = 64 << 20
)

// givenTable reads a table of positions over time from the text of a file: a header "time" and x, y
// and z of each joint, seconds and metres. Between its rows joints move in straight lines.
func givenTable(m *manifold.Model, file string, text []byte, columns []int) ([]float32, error) {
	in := input.NewTable(file, bytes.NewReader(text))
	in.TrimLeadingSpace = true
	row, top, err := in.Next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the table is empty: want a header line", file)
	} else if err != nil {
		return nil, err
	}
	head := slices.Clone(row)
	from := make([]int, len(columns))
	var want []string
	for i, c := range columns {
		want = append(want, m.Layout.Joints[c/3]+"."+string("xyz"[c%3]))
		if from[i] = slices.Index(head, want[i]); from[i] < 0 {
			return nil, fmt.Errorf("%s:%d: no column %q: want time and %s", file, top, want[i], strings.Join(want, ", "))
		}
	}
	clock := slices.Index(head, "time")
	if clock < 0 || len(head) != len(columns)+1 {
		return nil, fmt.Errorf("%s:%d: %d columns, want time and %s", file, top, len(head), strings.Join(want, ", "))
	}
	var times []float64
	var places [][]float32
	values := make([]float64, len(head))
	for {
		cell, line, err := in.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		for i, c := range cell {
			if values[i], err = strconv.ParseFloat(strings.TrimSpace(c), 64); err != nil || !(math.Abs(values[i]) < 1e5) {
				return nil, fmt.Errorf("%s:%d: %s is %.40q, want a number", file, line, head[i], c)
			}
		}
		at := values[clock]
		if k := len(times); k > 0 && !(at > times[k-1] && at-times[0] <= maxGiven) {
			return nil, fmt.Errorf("%s:%d: time is %g s after %g, want times that rise, over at most %d s", file, line, at, times[k-1], maxGiven)
		}
		place := make([]float32, len(from))
		for i, k := range from {
			place[i] = float32(values[k])
		}
		times, places = append(times, at), append(places, place)
	}
	if len(times) < 2 || times[len(times)-1]-times[0] < 1.0/manifold.Rate {
		return nil, fmt.Errorf("%s: %d rows, want at least two that are a frame of 1/%d s apart", file, len(times), manifold.Rate)
	}
	var given []float32
	k := 0
	for f := 0; ; f++ {
		at := times[0] + float64(f)/manifold.Rate
		if at > times[len(times)-1]+1e-6 {
			return given, nil
		}
		for k+2 < len(times) && times[k+1] <= at {
			k++
		}
		t := float32(min((at-times[k])/(times[k+1]-times[k]), 1))
		for i, v := range places[k] {
			given = append(given, v+t*(places[k+1][i]-v))
		}
	}
}
