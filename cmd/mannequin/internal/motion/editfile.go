package motion

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
	"mannequin/internal/closest"
	"mannequin/internal/command"
)

// tables is a TOML file of tables [[name]], which can name the lines of errors.
type tables struct {
	file, name string
	lines      []string
}

// maxTables is the largest size of such a file in bytes, maxRows the largest number of tables.
const maxTables, maxRows = 64 << 10, 1000

// readTables decodes the text of a file into dst, whose first key is name.
func readTables(file string, text []byte, name string, dst any) (*tables, error) {
	t := &tables{file, name, strings.Split(string(text), "\n")}
	meta, err := boundedtoml.Decode(file, text, dst)
	if err != nil {
		return nil, err
	}
	if keys := meta.Undecoded(); len(keys) > 0 {
		k := keys[0]
		for i, line := range t.lines {
			if key, _, _ := strings.Cut(line, "="); strings.TrimSpace(key) == k[len(k)-1] {
				return nil, fmt.Errorf("%s:%d: unknown key %.60q", file, i+1, k.String())
			}
		}
		return nil, fmt.Errorf("%s: unknown key %.60q: want tables [[%s]]", file, k.String(), name)
	}
	return t, nil
}

// wrong returns an error in table i, with the line of the first of the keys that it has, or else its
// first line.
func (t *tables) wrong(i int, err error, keys ...string) error {
	at, line, best, mine := -1, 0, len(keys), false
	for k, text := range t.lines {
		text = strings.ReplaceAll(text, " ", "")
		if strings.HasPrefix(text, "[") {
			if mine = strings.HasPrefix(text, "[["+t.name+"]]"); mine {
				if at++; at == i {
					line = k + 1
				}
			}
		}
		key, _, _ := strings.Cut(text, "=")
		if n := slices.Index(keys, key); mine && at == i && key != "" && n >= 0 && n < best {
			line, best = k+1, n
		}
	}
	if line > 0 {
		return fmt.Errorf("%s:%d: %w", t.file, line, err)
	}
	return fmt.Errorf("%s: [[%s]] %d: %w", t.file, t.name, i+1, err)
}

// count returns an error for too few tables, or too many.
func (t *tables) count(n int) error {
	if n == 0 || n > maxRows {
		return fmt.Errorf("%s: %d tables [[%s]], want 1 to %d", t.file, n, t.name, maxRows)
	}
	return nil
}

// goals are the targets of a file.
type goals struct {
	tables  *tables
	targets []manifold.Target
}

// openTargets reads targets in one of the spaces, by default the first. Without a file there are no
// targets.
func openTargets(file string, spaces ...string) (*goals, error) {
	if file == "" {
		return &goals{}, nil
	}
	text, err := boundedfile.Read(file, maxTables)
	if err != nil {
		return nil, err
	}
	return readTargets(file, text, spaces...)
}

// readTargets reads targets from the text of a file: see openTargets.
func readTargets(file string, text []byte, spaces ...string) (*goals, error) {
	var f struct {
		Target []struct {
			Joint, Space string
			At           []float64
			From         *float64
			To           *float64
			Ease, Weight *float64
		}
	}
	t, err := readTables(file, text, "target", &f)
	if err != nil {
		return nil, err
	}
	g := &goals{tables: t}
	for i, r := range f.Target {
		if r.Space == "" {
			r.Space = spaces[0]
		}
		v := manifold.Target{Joint: r.Joint, Body: r.Space == "body", Ease: 0.3}
		switch {
		case r.Joint == "":
			return nil, t.wrong(i, errors.New("joint is missing"))
		case !slices.Contains(spaces, r.Space):
			return nil, t.wrong(i, fmt.Errorf("space is %.20q, want %s", r.Space, strings.Join(spaces, " or ")), "space")
		case len(r.At) != 3:
			return nil, t.wrong(i, fmt.Errorf("at has %d numbers, want x, y and z in metres", len(r.At)), "at")
		case r.From == nil:
			return nil, t.wrong(i, errors.New("from is missing: the second at which the joint reaches the target"))
		case r.Weight != nil && !(*r.Weight > 0 && *r.Weight <= 1000):
			return nil, t.wrong(i, fmt.Errorf("weight is %g, want above 0, up to 1000", *r.Weight), "weight")
		}
		if v.From, v.To = *r.From, *r.From; r.To != nil {
			v.To = *r.To
		}
		if r.Ease != nil {
			v.Ease = *r.Ease
		}
		if r.Weight != nil {
			v.Weight = float32(*r.Weight)
		}
		v.At = m3.V(float32(r.At[0]), float32(r.At[1]), float32(r.At[2]))
		g.targets = append(g.targets, v)
	}
	return g, t.count(len(f.Target))
}

// check returns an error for the first target that does not fit a motion of the given frames.
func (g *goals) check(m *manifold.Model, frames int) error {
	rows := make([]float32, frames*m.Layout.Columns())
	return g.aim(m, &manifold.Edit{Batch: 1, Length: frames, Rows: rows}, feature.Place{})
}

func (g *goals) aim(m *manifold.Model, job *manifold.Edit, start feature.Place) error {
	if len(g.targets) == 0 {
		return nil
	}
	err := m.AddTargets(job, 0, start, g.targets)
	var bad *manifold.TargetError
	if !errors.As(err, &bad) {
		return err
	}
	t, key := g.targets[bad.Index], []string{"from"}
	switch {
	case m.Layout.Joint(t.Joint) < 0:
		bad.Err = fmt.Errorf("%w: want one of %s%s", bad.Err, strings.Join(m.Layout.Joints, ", "), closest.Hint(t.Joint, m.Layout.Joints))
		key = []string{"joint"}
	case !t.At.Finite():
		key = []string{"at"}
	case !(t.Ease >= 0) || math.IsInf(t.Ease, 0):
		key = []string{"ease"}
	case t.From >= 0 && !(t.To*manifold.Rate < float64(job.Length)):
		key = []string{"to", "from"}
	}
	return g.tables.wrong(bad.Index, bad.Err, key...)
}

// measure returns the distances of joints from their targets in rows as the clip made, whose body
// begins at start, and in the motion was before, on the same path.
func (g *goals) measure(m *manifold.Model, rows, was []float32, made *skel.Clip, start feature.Place) ([]editTarget, error) {
	if len(g.targets) == 0 {
		return nil, nil
	}
	l, course, model := m.Layout, m.Trajectory(rows, start), make([]m3.Xform, made.Skel.Len())
	var out []editTarget
	for _, t := range g.targets {
		e, n := editTarget{Joint: t.Joint, From: t.From, To: t.To}, 0.0
		for f := min(frameOf(t.From), made.Frames-1); f <= min(frameOf(t.To), made.Frames-1); f++ {
			made.Model(model, f)
			at := t.In(course[f])
			to := m3.YawQuat(course[f].Yaw).Rotate(at).Add(course[f].Pos)
			e.Is += 100 * float64(model[made.Skel.Index(t.Joint)].Pos.Dist(to))
			p := was[f*l.Columns()+l.Pos(l.Joint(t.Joint)):]
			e.Was += 100 * float64(m3.V(p[0], p[1], p[2]).Dist(at))
			n++
		}
		e.Is, e.Was = e.Is/n, e.Was/n
		out = append(out, e)
	}
	return out, nil
}

// openGaps reads the values of --fill, for a motion of the given frames.
func openGaps(fill []string, l *feature.Motion, frames int) (gaps []manifold.Gap, err error) {
	for _, text := range fill {
		if strings.EqualFold(filepath.Ext(text), ".toml") {
			b, err := boundedfile.Read(text, maxTables)
			if err != nil {
				return nil, err
			}
			more, err := readGaps(text, b, l, frames)
			if err != nil {
				return nil, err
			}
			gaps = append(gaps, more...)
			continue
		}
		g := missingRow{}
		names, times, timed := strings.Cut(text, "@")
		g.Joints = strings.Split(names, ",")
		if timed {
			from, to, ok := strings.Cut(times, ":")
			a, errA := strconv.ParseFloat(from, 64)
			b, errB := strconv.ParseFloat(to, 64)
			if !ok || errA != nil || errB != nil {
				return nil, command.Usagef("--fill %q: %q are no times, want FROM:TO in seconds", text, times)
			}
			g.From, g.To = &a, &b
		}
		gap, _, err := g.gap(l, frames)
		if err != nil {
			return nil, command.Usagef("--fill %q: %w", text, err)
		}
		gaps = append(gaps, gap)
	}
	return gaps, nil
}

// missingRow is a gap in a file.
type missingRow struct {
	Joints   []string
	From, To *float64
}

func readGaps(file string, text []byte, l *feature.Motion, frames int) (gaps []manifold.Gap, err error) {
	var f struct{ Missing []missingRow }
	t, err := readTables(file, text, "missing", &f)
	if err != nil {
		return nil, err
	}
	for i, r := range f.Missing {
		g, key, err := r.gap(l, frames)
		if err != nil {
			return nil, t.wrong(i, err, key)
		}
		gaps = append(gaps, g)
	}
	return gaps, t.count(len(f.Missing))
}

// gap returns the gap in frames, or an error and its key.
func (r *missingRow) gap(l *feature.Motion, frames int) (g manifold.Gap, key string, err error) {
	end := float64(frames) / manifold.Rate
	from, to := 0.0, end
	if r.From != nil {
		from = *r.From
	}
	if r.To != nil {
		to = *r.To
	}
	switch {
	case !(from >= 0 && from < end):
		return g, "from", fmt.Errorf("from is %g s, the motion is %.3f s long", from, end)
	case !(to > from && to <= end+0.5/manifold.Rate):
		return g, "to", fmt.Errorf("to is %g s, want more than from, %g, and at most the motion's %.3f s", to, from, end)
	case len(r.Joints) == 0:
		return g, "joints", errors.New(`joints are missing: want names, or "all"`)
	}
	g.From, g.To = frameOf(from), min(max(frameOf(to), frameOf(from)+1), frames)
	if g.From == frames {
		g.From--
	}
	if len(r.Joints) == 1 && r.Joints[0] == "all" {
		if g.From == 0 && g.To == frames {
			return g, "joints", errors.New("all joints of the whole motion are missing: nothing is left to fill them from")
		}
		return g, "", nil
	}
	for _, name := range r.Joints {
		switch l.Joint(name) {
		case -1:
			return g, "joints", fmt.Errorf(`no joint is called %.40q: want "all", or some of %s%s`, name, strings.Join(l.Joints, ", "), closest.Hint(name, l.Joints))
		case 0:
			return g, "joints", fmt.Errorf(`%s place the body: if they are missing say "all"`, name)
		}
	}
	g.Joints = r.Joints
	return g, "", nil
}
