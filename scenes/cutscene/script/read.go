package script

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
)

// Open reads the script file at path: see Read.
func Open(path string) (*Script, error) {
	data, err := boundedfile.Read(path, MaxFile)
	if err != nil {
		return nil, err
	}
	return Read(path, data)
}

// Read reads a script from the contents of the TOML file called name. Its error names the file and
// the line, and lists up to ten faults, a line each.
func Read(name string, data []byte) (*Script, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are allowed", name, len(data), MaxFile)
	}
	var values map[string]any
	if _, err := boundedtoml.Decode(name, data, &values); err != nil {
		return nil, err
	}
	l := find(string(data))
	p := &parser{reader: reader{name: name}, lines: l, Script: &Script{Name: name, Checksum: fmt.Sprintf("sha256:%x", sha256.Sum256(data))}}
	p.all(values)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.Script, nil
}

// parser converts a document to a script.
type parser struct {
	reader
	lines *lines
	*Script
	named map[string]int // actors
	left  []leaving      // (actors)
}

// leaving is the place at which an actor's last move so far ends.
type leaving struct {
	at   m3.Vec3
	time float32
	line int // of the move; 0 if there is none
}

func (p *parser) all(values map[string]any) {
	top := &table{reader: &p.reader, values: values, line: 1, keys: p.lines.keys, asked: map[string]bool{}}
	p.Title = top.text("title", "", 100, false)
	p.Length = top.number("length", 0, 0.1, MaxLength, true)
	p.Terrain = top.oneOf("terrain", "flat", false, "flat", "hills", "slope", "steps")
	p.Seed = uint64(top.number("seed", 1, 0, 1<<24, false))
	p.Length = cmp.Or(p.Length, MaxLength) // avoids errors of all times
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
	collect(p, top, "action", &p.Actions, p.action)
	collect(p, top, "style", &p.Styles, p.style)
	collect(p, top, "look", &p.Looks, p.look)
	collect(p, top, "reach", &p.Reaches, p.reach)
	p.each(top, "camera", p.camera)
	collect(p, top, "caption", &p.Captions, p.caption)
	top.unknown()
	p.together()
}

// each reads the tables of an array.
func (p *parser) each(top *table, name string, read func(t *table)) {
	v, ok := top.get(name, false)
	if !ok {
		return
	}
	all, ok := v.([]map[string]any)
	if inline, is := v.([]any); is {
		ok = true
		for _, v := range inline {
			m, is := v.(map[string]any)
			all, ok = append(all, m), ok && is
		}
	}
	if !ok {
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

// collect reads the tables of an array, and appends those without a fault to dst.
func collect[T any](p *parser, top *table, name string, dst *[]T, read func(t *table) T) {
	p.each(top, name, func(t *table) {
		before := len(p.errs)
		if v := read(t); len(p.errs) == before {
			*dst = append(*dst, v)
		}
	})
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

// who returns the actor of a table. If kind is given, only an actor of that kind is right.
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
	for i, a := range p.Actors {
		if p.named[a.Name] == i { // not a second actor with that name
			out = append(out, a.Name)
		}
	}
	return strings.Join(out, ", ")
}
