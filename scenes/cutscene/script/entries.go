package script

import (
	"cmp"
	"math"
	"strings"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// span reads the time of an entry.
func (p *parser) span(t *table) Span {
	ease := t.number("ease", 0.5, 0, 30, false)
	s := Span{From: t.number("from", 0, 0, p.Length, true), To: t.number("to", p.Length, 0, p.Length, false),
		In: ease, Out: ease, Weight: t.number("weight", 1, 0, 1, false)}
	p.order(t, s.From, s.To)
	return s
}

// order checks that times ascend.
func (p *parser) order(t *table, from, to float32) {
	if !(to > from) && t.has("from") {
		t.fail(t.at("to"), "ends at %g s, but begins at %g s", to, from)
	}
}

// The speeds of gaits and the highest speed, by kind, m/s.
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
		points = t.list("points", v, t.ground)
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
	if timed {
		n, ok := t.numbers("times", times, len(points), 0, p.Length)
		if !ok {
			return
		}
		m.Times = append(m.Times, n...)
	} else {
		if speed == 0 {
			gait = cmp.Or(gait, "walk")
			if speed = gaits[kind][gait]; speed == 0 {
				t.fail(t.at("gait"), "gait = %q: want %s%s", gait, names(gaits[kind]), hint(gait, gaits[kind]))
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

// arcs returns the distances along a path of its beginning and of the points.
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

func (p *parser) action(t *table) Action {
	who, known := p.who(t, "actor", true)
	a := Action{Line: t.line, Actor: who, From: t.number("from", 0, 0, p.Length, true), To: t.number("to", p.Length, 0, p.Length, false)}
	p.order(t, a.From, a.To)
	switch do := t.oneOf("do", "", true, "face", "sit", "lie", "stand", "jump"); {
	case do == "face":
		a.Target = p.target(t)
	case do != "" && known && p.Actors[who].Kind != Dog:
		t.fail(t.at("do"), "do = %q: people can only face something; they stand where their moves end", do)
	default:
		a.Do, _ = control.ParseAction(do)
	}
	return a
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

func (p *parser) style(t *table) Style {
	s := Style{Line: t.line, Name: t.text("name", "", 40, true)}
	s.Actor, _ = p.who(t, "actor", true, Person)
	s.Span = p.span(t)
	return s
}

func (p *parser) look(t *table) Look {
	l := Look{Line: t.line, Target: p.target(t)}
	l.Actor, _ = p.who(t, "actor", true)
	l.Span = p.span(t)
	return l
}

func (p *parser) reach(t *table) Reach {
	r := Reach{Line: t.line, Target: p.target(t), Right: t.oneOf("hand", "", true, "left", "right") == "right"}
	r.Actor, _ = p.who(t, "actor", true, Person)
	r.Span = p.span(t)
	return r
}

func (p *parser) camera(t *table) {
	s := Shot{Line: t.line, From: t.number("from", 0, 0, p.Length, true), Ease: t.number("ease", 0, 0, 30, false),
		FOV: rad(t.number("fov", 40, 5, 120, false))}
	s.Follow, _ = p.who(t, "follow", false)
	if v, ok := t.get("eye", true); ok {
		s.Eye.Points = t.list("eye", v, t.point)
	}
	if v, ok := t.get("times", false); ok {
		s.Eye.Times, _ = t.numbers("times", v, len(s.Eye.Points), 0, p.Length)
	}
	s.Watch = -1
	if v, ok := t.get("target", true); ok {
		if _, name := v.(string); name {
			s.Watch, _ = p.who(t, "target", true)
		} else {
			s.Target.Points = t.list("target", v, t.point)
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

func (p *parser) caption(t *table) Caption {
	c := Caption{Line: t.line, From: t.number("from", 0, 0, p.Length, true), To: t.number("to", p.Length, 0, p.Length, true), Text: t.text("text", "", MaxCaption, true)}
	p.order(t, c.From, c.To)
	if strings.ContainsFunc(c.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.fail(t.at("text"), "text has a line break or another control character")
	}
	return c
}

func count(of ...bool) (n int) {
	for _, b := range of {
		if b {
			n++
		}
	}
	return n
}

func rad(degrees float32) float32 { return degrees * math.Pi / 180 }
