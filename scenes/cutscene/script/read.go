package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
)

// Open reads the script file at path: see Read.
func Open(path string) (*Script, error) {
	data, err := boundedfile.Read(path, MaxFile)
	if err != nil {
		return nil, err
	}
	return Read(path, data)
}

// Read reads a script from the contents of the TOML file called name. Its error names
// the file and the line, and tells up to ten faults at once, a line each.
func Read(name string, data []byte) (*Script, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are allowed", name, len(data), MaxFile)
	}
	doc := string(data)
	l := find(doc)
	if l.deep > 0 {
		return nil, fmt.Errorf("%s:%d: nested too deeply", name, l.deep)
	}
	var values map[string]any
	_, err := toml.Decode(doc, &values)
	var at toml.ParseError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%d: %s", name, at.Position.Line, at.Message)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &parser{reader: reader{name: name}, lines: l, Script: &Script{Name: name}}
	p.all(values)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.Script, nil
}

// parser makes a script of a document.
type parser struct {
	reader
	lines *lines
	*Script
	named map[string]int // actors
	left  []leaving      // (actors)
}

// leaving is where an actor's last move so far leaves it.
type leaving struct {
	at   m3.Vec3
	time float32
	line int // of the move; 0: none
}

func (p *parser) all(values map[string]any) {
	top := &table{reader: &p.reader, values: values, line: 1, keys: p.lines.keys, asked: map[string]bool{}}
	p.Title = top.text("title", "", 100, false)
	p.Length = top.number("length", 0, 0.1, MaxLength, true)
	p.Terrain = top.oneOf("terrain", "flat", false, "flat", "hills", "slope", "steps")
	p.Seed = uint64(top.number("seed", 1, 0, 1<<24, false))
	if p.Length == 0 {
		p.Length = MaxLength // that times are no more errors
	}
	p.named = map[string]int{}
	p.each(top, "actor", p.actor)
	if len(p.Actors) > MaxActors {
		p.fail(p.Actors[MaxActors].Line, "%d actors: at most %d", len(p.Actors), MaxActors)
	} else if n := float32(len(p.Actors)) * p.Length; n > MaxActorSeconds && top.has("length") {
		p.fail(top.at("length"), "%d actors for %g s: at most %d actor-seconds fit", len(p.Actors), p.Length, MaxActorSeconds)
	}
	if len(p.Actors) == 0 && len(p.errs) == 0 {
		p.fail(1, "nobody is there: want tables [[actor]]")
	}
	p.each(top, "move", p.move)
	p.each(top, "action", p.action)
	p.each(top, "style", p.style)
	p.each(top, "look", p.look)
	p.each(top, "reach", p.reach)
	p.each(top, "camera", p.camera)
	p.each(top, "caption", p.caption)
	top.unknown()
	p.together()
}

// each reads the tables of an array.
func (p *parser) each(top *table, name string, read func(t *table)) {
	v, ok := top.get(name, false)
	if !ok {
		return
	}
	var all []map[string]any
	switch v := v.(type) {
	case []map[string]any:
		all = v
	case []any: // inline
		for _, v := range v {
			m, ok := v.(map[string]any)
			if !ok {
				p.fail(top.at(name), "%s: want tables [[%s]]", name, name)
				return
			}
			all = append(all, m)
		}
	default:
		p.fail(top.at(name), "%s: want tables [[%s]]", name, name)
		return
	}
	if len(all) > MaxEntries {
		p.fail(top.at(name), "%d tables [[%s]]: at most %d", len(all), name, MaxEntries)
		return
	}
	for i, values := range all {
		t := &table{reader: &p.reader, values: values, line: top.at(name), asked: map[string]bool{}}
		if at := p.lines.tables[name]; i < len(at) {
			t.line, t.keys = at[i].line, at[i].keys
		}
		read(t)
		t.unknown()
	}
}

func (p *parser) actor(t *table) {
	a := Actor{Line: t.line, Name: t.text("name", "", 40, true), Model: t.text("model", "", 1000, false)}
	if t.oneOf("kind", "", true, "dog", "person") == "person" {
		a.Kind = Person
	}
	if v, ok := t.get("at", true); ok {
		a.At = t.ground("at", v)
	}
	a.Yaw = rad(t.number("facing", 0, -360, 360, false))
	a.Colour, a.Coloured = t.colour("colour")
	if strings.Contains(a.Name, ".") {
		t.fail(t.at("name"), "name %q: a dot begins a joint's name", a.Name)
	}
	if first, ok := p.named[a.Name]; ok && a.Name != "" {
		t.fail(t.at("name"), "there is an actor %q already, on line %d", a.Name, p.Actors[first].Line)
	} else {
		p.named[a.Name] = len(p.Actors)
	}
	p.Actors = append(p.Actors, a)
	p.left = append(p.left, leaving{at: a.At})
}

// who returns the actor that a table is about, one of kind only where that is given.
func (p *parser) who(t *table, key string, required bool, only ...Kind) (int, bool) {
	name := t.text(key, "", 100, required)
	if name == "" {
		return -1, false
	}
	i, ok := p.named[name]
	if !ok {
		t.fail(t.at(key), "no actor %q: want %s", name, p.names())
		return -1, false
	}
	if len(only) > 0 && p.Actors[i].Kind != only[0] {
		t.fail(t.at(key), "%q is no person: that is for people", name)
		return -1, false
	}
	return i, true
}

func (p *parser) names() string {
	var out []string
	for _, a := range p.Actors {
		out = append(out, a.Name)
	}
	return strings.Join(out, ", ")
}

// span reads when something is done.
func (p *parser) span(t *table) Span {
	ease := t.number("ease", 0.5, 0, 30, false)
	s := Span{From: t.number("from", 0, 0, p.Length, true), To: t.number("to", p.Length, 0, p.Length, false),
		In: ease, Out: ease, Weight: t.number("weight", 1, 0, 1, false)}
	p.order(t, s.From, s.To)
	return s
}

// order checks that time goes on.
func (p *parser) order(t *table, from, to float32) {
	if !(to > from) && t.has("from") {
		t.fail(t.at("to"), "ends at %g s, but begins at %g s", to, from)
	}
}

// Speeds of gaits and the fastest of all, by kind, m/s.
var (
	gaits = [...]map[string]float32{
		Dog:    {"walk": control.WalkSpeed, "pace": control.PaceSpeed, "trot": control.TrotSpeed, "canter": control.CanterSpeed},
		Person: {"walk": 1.3, "jog": 2.4, "run": 3.4},
	}
	fastest = [...]float32{Dog: 4.5, Person: 4.5}
)

func (p *parser) move(t *table) {
	before := len(p.errs)
	who, known := p.who(t, "actor", true)
	from := t.number("from", 0, 0, p.Length, true)
	var points []m3.Vec3
	if v, ok := t.get("points", true); ok {
		points = list(t, "points", v, t.ground)
	}
	times, timed := t.get("times", false)
	speed, gait := t.number("speed", 0, 0.2, 4.5, false), t.text("gait", "", 40, false)
	if n := count(timed, t.has("speed"), t.has("gait")); n > 1 {
		t.fail(t.line, "want one of speed, gait and times, have %d", n)
		return
	}
	if !known || len(p.errs) > before {
		return
	}
	kind := p.Actors[who].Kind
	was := &p.left[who]
	path, err := control.NewPath(append([]m3.Vec3{was.at}, points...), false)
	if err != nil {
		t.fail(t.at("points"), "no way from (%g, %g), where %q has been left, through these points: %s", was.at.X, was.at.Z, p.Actors[who].Name, strings.TrimPrefix(err.Error(), "control: "))
		return
	}
	m := Move{Line: t.line, Actor: who, Path: path, Arcs: arcs(path, was.at, points), Times: []float32{from}}
	switch {
	case timed:
		n, ok := t.numbers("times", times, len(points), MaxPoints, 0, p.Length)
		if !ok {
			return
		}
		m.Times = append(m.Times, n...)
	default:
		if speed == 0 {
			if gait == "" {
				gait = "walk"
			}
			if speed = gaits[kind][gait]; speed == 0 {
				t.fail(t.at("gait"), "gait = %q: want %s", gait, strings.Join(keys(gaits[kind]), ", "))
				return
			}
		}
		for _, a := range m.Arcs[1:] {
			m.Times = append(m.Times, from+a/speed)
		}
	}
	for i := range m.Times[1:] {
		dt := m.Times[i+1] - m.Times[i]
		switch v := (m.Arcs[i+1] - m.Arcs[i]) / dt; {
		case !(dt > 0):
			t.fail(t.at("times"), "point %d is to be reached at %g s, after %g s: time does not go back", i+1, m.Times[i+1], m.Times[i])
			return
		case v > fastest[kind]:
			t.fail(t.at("times"), "point %d at %g s takes %.1f m/s: at most %g", i+1, m.Times[i+1], v, fastest[kind])
			return
		}
	}
	if m.To() > p.Length+0.01 {
		t.fail(t.line, "ends at %.2f s, the scene at %g s", m.To(), p.Length)
	}
	if was.line > 0 && from < was.time {
		t.fail(t.at("from"), "%q begins to move at %g s, but the move on line %d ends at %.2f s", p.Actors[who].Name, from, was.line, was.time)
	}
	*was = leaving{points[len(points)-1], m.To(), t.line}
	p.Moves = append(p.Moves, m)
}

// arcs returns how far along a path its beginning and the points are.
func arcs(path *control.Path, last m3.Vec3, points []m3.Vec3) []float32 {
	out := []float32{0}
	for i, q := range points {
		chord, from := q.Dist(last), out[i]
		s, _ := path.NearestFrom(q, from+chord, chord/2, chord)
		if i == len(points)-1 {
			s = path.Length()
		}
		out, last = append(out, max(s, from+chord/2)), q
	}
	return out
}

func (p *parser) action(t *table) {
	before := len(p.errs)
	who, known := p.who(t, "actor", true)
	a := Action{Line: t.line, Actor: who, From: t.number("from", 0, 0, p.Length, true), To: t.number("to", p.Length, 0, p.Length, false)}
	p.order(t, a.From, a.To)
	do := t.oneOf("do", "", true, "face", "sit", "lie", "stand", "jump")
	if do == "face" {
		a.Target = p.target(t)
	}
	if !known || len(p.errs) > before {
		return
	}
	if do != "face" {
		if p.Actors[who].Kind != Dog {
			t.fail(t.at("do"), "do = %q: people can only face something; they stand where their moves end", do)
			return
		}
		a.Do, _ = control.ParseAction(do)
	}
	p.Actions = append(p.Actions, a)
}

// target reads a place: [x, y, z], "actor" or "actor.Joint".
func (p *parser) target(t *table) Target {
	out := Target{Actor: -1}
	if v, ok := t.get("offset", false); ok {
		out.Offset = t.point("offset", v)
	}
	v, ok := t.get("target", true)
	if !ok {
		return out
	}
	name, ok := v.(string)
	if !ok {
		out.Point = t.point("target", v)
		return out
	}
	name, out.Joint, _ = strings.Cut(name, ".")
	if out.Actor, ok = p.named[name]; !ok {
		t.fail(t.at("target"), "no actor %q: want a point [x, y, z], or %s, whose joint may follow after a dot", name, p.names())
		out.Actor = -1
	}
	return out
}

func (p *parser) style(t *table) {
	before := len(p.errs)
	s := Style{Line: t.line, Name: t.text("name", "", 40, true)}
	s.Actor, _ = p.who(t, "actor", true, Person)
	s.Span = p.span(t)
	if len(p.errs) == before {
		p.Styles = append(p.Styles, s)
	}
}

func (p *parser) look(t *table) {
	before := len(p.errs)
	l := Look{Line: t.line, Target: p.target(t)}
	l.Actor, _ = p.who(t, "actor", true)
	l.Span = p.span(t)
	if len(p.errs) == before {
		p.Looks = append(p.Looks, l)
	}
}

func (p *parser) reach(t *table) {
	before := len(p.errs)
	r := Reach{Line: t.line, Target: p.target(t), Right: t.oneOf("hand", "", true, "left", "right") == "right"}
	r.Actor, _ = p.who(t, "actor", true, Person)
	r.Span = p.span(t)
	if len(p.errs) == before {
		p.Reaches = append(p.Reaches, r)
	}
}

func (p *parser) camera(t *table) {
	s := Shot{Line: t.line, From: t.number("from", 0, 0, p.Length, true), Ease: t.number("ease", 0, 0, 30, false),
		FOV: rad(t.number("fov", 40, 5, 120, false))}
	s.Follow, _ = p.who(t, "follow", false)
	if v, ok := t.get("eye", true); ok {
		s.Eye.Points = list(t, "eye", v, t.point)
	}
	if v, ok := t.get("times", false); ok {
		s.Eye.Times, _ = t.numbers("times", v, len(s.Eye.Points), MaxPoints, 0, p.Length)
	}
	s.Watch = -1
	if v, ok := t.get("target", true); ok {
		if _, name := v.(string); name {
			s.Watch, _ = p.who(t, "target", true)
		} else {
			s.Target.Points = list(t, "target", v, t.point)
		}
	}
	if n := len(p.Shots); n > 0 && !(s.From > p.Shots[n-1].From) {
		t.fail(t.at("from"), "begins at %g s, after the shot on line %d at %g s: time does not go back", s.From, p.Shots[n-1].Line, p.Shots[n-1].From)
	} else if n == 0 && s.From != 0 {
		t.fail(t.at("from"), "the first shot begins at %g s: want 0", s.From)
	}
	for i := range s.Eye.Times {
		if i > 0 && !(s.Eye.Times[i] > s.Eye.Times[i-1]) {
			t.fail(t.at("times"), "%g s comes after %g s: time does not go back", s.Eye.Times[i], s.Eye.Times[i-1])
		}
	}
	p.Shots = append(p.Shots, s)
}

func (p *parser) caption(t *table) {
	before := len(p.errs)
	c := Caption{Line: t.line, From: t.number("from", 0, 0, p.Length, true), To: t.number("to", p.Length, 0, p.Length, true), Text: t.text("text", "", MaxCaption, true)}
	p.order(t, c.From, c.To)
	if strings.ContainsFunc(c.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.fail(t.at("text"), "text has a line break or another control character")
	}
	if len(p.errs) == before {
		p.Captions = append(p.Captions, c)
	}
}

// together checks what takes the whole script, and fills in what follows from it.
func (p *parser) together() {
	for i := range p.Shots {
		s, end := &p.Shots[i], p.Length
		if i+1 < len(p.Shots) {
			end = p.Shots[i+1].From
		}
		s.Eye.spread(s.From, end)
		if len(s.Target.Points) == len(s.Eye.Points) {
			s.Target.Times = s.Eye.Times
		}
		s.Target.spread(s.From, end)
	}
	slices.SortStableFunc(p.Captions, func(a, b Caption) int { return cmpTime(a.From, b.From) })
	for i := range p.Captions {
		if i > 0 && p.Captions[i].From < p.Captions[i-1].To {
			p.fail(p.Captions[i].Line, "begins at %g s, while the caption on line %d is there until %g s", p.Captions[i].From, p.Captions[i-1].Line, p.Captions[i-1].To)
		}
	}
	for i := range p.Actions {
		a := &p.Actions[i]
		for k := range p.Actions[:i] {
			if b := &p.Actions[k]; a.Actor == b.Actor && a.From < b.To && b.From < a.To {
				p.fail(a.Line, "%q acts already from %g to %g s, on line %d", p.Actors[a.Actor].Name, b.From, b.To, b.Line)
			}
		}
		for k := range p.Moves {
			m := &p.Moves[k]
			if a.Actor == m.Actor && a.Do != control.Jump && a.From < m.To() && m.From() < a.To && (a.Do != control.Idle || p.Actors[a.Actor].Kind == Dog) {
				p.fail(a.Line, "%q moves from %g to %.2f s, on line %d: it can only jump then", p.Actors[a.Actor].Name, m.From(), m.To(), m.Line)
			}
		}
	}
	for i := range p.Reaches {
		for k := range p.Reaches[:i] {
			if a, b := &p.Reaches[i], &p.Reaches[k]; a.Actor == b.Actor && a.Right == b.Right {
				p.oneAtATime(a.Line, b.Line, &a.Span, &b.Span, "that hand is in use")
			}
		}
	}
	for i := range p.Looks {
		for k := range p.Looks[:i] {
			if a, b := &p.Looks[i], &p.Looks[k]; a.Actor == b.Actor {
				p.oneAtATime(a.Line, b.Line, &a.Span, &b.Span, "the actor looks elsewhere")
			}
		}
	}
}

// oneAtATime checks that two spans, on lines la and lb, share no time, and has one take
// over from the other that ends when it begins.
func (p *parser) oneAtATime(la, lb int, a, b *Span, what string) {
	if a.From < b.To && b.From < a.To {
		p.fail(la, "%s from %g to %g s, on line %d", what, b.From, b.To, lb)
		return
	}
	a.follows(b)
	b.follows(a)
}

// spread gives a curve without times ones evenly from from to to.
func (c *Curve) spread(from, to float32) {
	if len(c.Times) > 0 {
		return
	}
	n := len(c.Points)
	for i := range n {
		c.Times = append(c.Times, m3.Lerp(from, to, float32(i)/float32(max(n-1, 1))))
	}
}

func cmpTime(a, b float32) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func count(of ...bool) (n int) {
	for _, b := range of {
		if b {
			n++
		}
	}
	return n
}

func keys(of map[string]float32) []string {
	var out []string
	for k := range of {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func rad(degrees float32) float32 { return degrees * math.Pi / 180 }
