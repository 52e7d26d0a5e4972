package fbx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mannequin/internal/boundedfile"
)

// scene is what a file says of models and of how they move.
type scene struct {
	*file
	up        [9]float64                    // from the file's axes to +Y up and +Z ahead, row-major
	metres    float64                       // per unit of the file
	fps       float64                       // 0: not said
	templates map[string]map[string][]value // per class: properties that its objects leave out

	models  []*model // parents before children
	byID    map[int64]*model
	ids     map[string]int64 // version 6 knows objects by their names: their numbers
	stacks  []*stack
	objects map[int64]*record
	kinds   map[int64]string // of objects that are no models
	links   []link           // each once
	linked  map[link]bool
	into    map[int64][]link // by parent
}

// model is a node of the scene.
type model struct {
	id      int64
	name    string
	class   string // LimbNode, Root, Null, Mesh, …
	at      int
	record  *record
	parent  *model
	below   []*model
	skinned bool // a cluster of a skin names it
	moves   bool // an animation moves it
	index   int  // in scene.models

	t, r, s        [3]float64
	pre, post      [9]float64 // rotations before its own, and after, inverse
	order, inherit int
	roff, rpiv     [3]float64
	soff, spiv     [3]float64
}

// stack is an animation.
type stack struct {
	id          int64
	name        string
	start, stop int64 // ticks; equal: not said
	layers      []*layer
}

// layer is a layer of an animation: tracks of models' properties.
type layer struct {
	id             int64
	mode           int // 0 adds, 1 overrides, 2 overrides and lets later ones through
	weight         float64
	fade           *curve // of the weight, percent; nil: does not change
	mute           bool
	byChannel      bool // rotations are added as angles, not as rotations
	scaleByChannel bool // scales are added, not multiplied
	tracks         map[*model]*[3]*track
	sliders        map[int64]*curve // of the blend shapes' channels
}

// track moves one property of a model: translation, rotation or scale.
type track struct {
	base   [3]float64
	curves [3]*curve
}

// Properties of models that animations move, by their track.
var moved = map[string]int{"Lcl Translation": 0, "Lcl Rotation": 1, "Lcl Scaling": 2}

func newScene(name string, data []byte) (*scene, error) {
	f, err := newFile(name, data)
	if err != nil {
		return nil, err
	}
	s := &scene{file: f, templates: map[string]map[string][]value{}, byID: map[int64]*model{}, ids: map[string]int64{}, objects: map[int64]*record{}, kinds: map[int64]string{}, linked: map[link]bool{}, into: map[int64][]link{}}
	if err := s.settings(); err != nil {
		return nil, err
	}
	if err := s.definitions(); err != nil {
		return nil, err
	}
	if f.version >= 7000 {
		err = s.read7()
	} else {
		err = s.read6()
	}
	if err != nil {
		return nil, err
	}
	if len(s.byID) == 0 {
		return nil, f.errorf(-1, "has no models: export the armature with its animation")
	}
	return s, s.arrange()
}

// properties returns the values of a record's property list by name.
func (s *scene) properties(r *record) (map[string][]value, error) {
	out := map[string][]value{}
	list, entry, skip := r.child("Properties70"), "P", 4
	if list == nil {
		list, entry, skip = r.child("Properties60"), "Property", 3
	}
	if list == nil {
		return out, nil
	}
	for i := range list.below {
		p := &list.below[i]
		if p.name != entry {
			continue
		}
		values, err := s.all(p, skip+16)
		if err != nil {
			return nil, err
		}
		if len(values) >= skip {
			out[text(values, 0)] = values[skip:]
		}
	}
	return out, nil
}

// axes of a file by their number.
func axis(k, sign int) (v [3]float64) {
	if k >= 0 && k < 3 {
		v[k] = float64(sign)
	}
	return v
}

// frameRates are FBX's time modes, frames per second.
var frameRates = [...]float64{0, 120, 100, 60, 50, 48, 30, 30, 29.97002997, 29.97002997, 25, 24, 0, 23.976023976, 0, 96, 72, 59.94005994, 119.88011988}

// settings reads axes, unit and frame rate.
func (s *scene) settings() error {
	r := s.root.child("GlobalSettings")
	if r == nil {
		r = s.root.child("Objects").child("GlobalSettings")
	}
	p := map[string][]value{}
	if r != nil {
		var err error
		if p, err = s.properties(r); err != nil {
			return err
		}
	}
	get := func(name string, otherwise float64) float64 {
		if x, ok := number(p[name], 0); ok {
			return x
		}
		return otherwise
	}
	up := axis(int(get("UpAxis", 1)), int(get("UpAxisSign", 1)))
	front := axis(int(get("FrontAxis", 2)), int(get("FrontAxisSign", 1)))
	coord := axis(int(get("CoordAxis", 0)), int(get("CoordAxisSign", 1)))
	s.up = [9]float64{coord[0], coord[1], coord[2], up[0], up[1], up[2], front[0], front[1], front[2]}
	if det(&s.up) < 0.5 { // left-handed or not three axes
		if s.up = [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}; r != nil {
			return s.errorf(r.at, "the axes %v, %v, %v are not right-handed, which is not read", coord, up, front)
		}
	}
	unit := get("UnitScaleFactor", 1)
	if !(unit > 1e-6 && unit < 1e9) {
		return s.errorf(r.at, "the unit is %g cm", unit)
	}
	s.metres = unit / 100
	mode := int(get("TimeMode", 0))
	if mode == 14 {
		s.fps = get("CustomFrameRate", 0)
	} else if mode > 0 && mode < len(frameRates) {
		s.fps = frameRates[mode]
	}
	if !(s.fps >= 1 && s.fps <= 1000) {
		s.fps = 0
	}
	return nil
}

// definitions reads the values of properties that objects leave out.
func (s *scene) definitions() error {
	d := s.root.child("Definitions")
	if d == nil {
		return nil
	}
	for i := range d.below {
		r := &d.below[i]
		values, err := s.all(r, 1)
		if err != nil {
			return err
		}
		if class := text(values, 0); r.name == "ObjectType" && (class == "Model" || class == "Material") {
			if t := r.child("PropertyTemplate"); t != nil {
				if s.templates[class], err = s.properties(t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addModel reads a model.
func (s *scene) addModel(id int64, name, class string, r *record) (*model, error) {
	if len(s.models) >= MaxModels {
		return nil, s.errorf(r.at, "more than %d models", MaxModels)
	}
	props, err := s.properties(r)
	if err != nil {
		return nil, err
	}
	m := &model{id: id, name: cleanName(name), class: class, at: r.at, record: r}
	find := func(name string) []value {
		if v, ok := props[name]; ok {
			return v
		}
		return s.templates["Model"][name]
	}
	three := func(name string, otherwise float64) (v [3]float64) {
		list := find(name)
		for c := range v {
			v[c] = otherwise
			if x, ok := number(list, c); ok {
				v[c] = x
			}
			if !(v[c] > -1e12 && v[c] < 1e12) && err == nil {
				err = s.errorf(r.at, "the model %.60q has %s %g", m.name, name, v[c])
			}
		}
		return v
	}
	one := func(name string) int {
		x, _ := number(find(name), 0)
		return int(toWhole(x))
	}
	m.t, m.r, m.s = three("Lcl Translation", 0), three("Lcl Rotation", 0), three("Lcl Scaling", 1)
	m.roff, m.rpiv = three("RotationOffset", 0), three("RotationPivot", 0)
	m.soff, m.spiv = three("ScalingOffset", 0), three("ScalingPivot", 0)
	var pre, post [3]float64
	if one("RotationActive") != 0 {
		pre, post = three("PreRotation", 0), three("PostRotation", 0)
		m.order = one("RotationOrder")
	}
	m.pre, m.post = euler(pre, 0), euler(post, 0)
	m.post = transpose(&m.post)
	if m.inherit = one("InheritType"); m.order < 0 || m.order >= len(orders) {
		return nil, s.errorf(r.at, "the model %.60q has the unknown rotation order %d", m.name, m.order)
	}
	s.models = append(s.models, m)
	return m, err
}

// link is a connection: a child, its parent, and the parent's property or "".
type link struct {
	child, parent int64
	property      string
}

// read7 reads objects and connections of version 7.
func (s *scene) read7() error {
	objects := s.root.child("Objects")
	if objects == nil {
		return s.errorf(-1, "has no objects")
	}
	for i := range objects.below {
		r := &objects.below[i]
		values, err := s.all(r, 3)
		if err != nil {
			return err
		}
		if len(values) < 1 || values[0].kind != 'n' {
			continue
		}
		id := values[0].whole
		if r.name == "Model" {
			m, err := s.addModel(id, text(values, 1), text(values, 2), r)
			if err != nil {
				return err
			}
			s.byID[id] = m
			continue
		}
		s.objects[id], s.kinds[id] = r, r.name+"/"+text(values, 2)
		if r.name == "AnimationStack" {
			if err := s.addStack(id, text(values, 1), r); err != nil {
				return err
			}
		}
	}
	err := s.named(s.root.child("Connections"), "C", 4, func(_ *record, values []value) error {
		if len(values) >= 3 && values[1].kind == 'n' && values[2].kind == 'n' {
			s.connect(values[1].whole, values[2].whole, text(values, 3))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.animations7()
}

// connect keeps a connection, and gives models their parents and clusters.
func (s *scene) connect(child, parent int64, property string) {
	l := link{child, parent, property}
	if s.linked[l] {
		return
	}
	s.linked[l] = true
	s.links, s.into[parent] = append(s.links, l), append(s.into[parent], l)
	m, above := s.byID[child], s.byID[parent]
	switch {
	case m != nil && above != nil && property == "" && m.parent == nil:
		m.parent = above
	case m != nil && s.kinds[parent] == "Deformer/Cluster":
		m.skinned = true
	}
}

// below returns the objects of a kind that are connected to an object's property, or "".
func (s *scene) below(id int64, property, kind string) (out []int64) {
	for _, l := range s.into[id] {
		if l.property == property && strings.HasPrefix(s.kinds[l.child], kind) {
			out = append(out, l.child)
		}
	}
	return out
}

// named calls f with each record below r that has a name, and with its first n values. r may be nil.
func (s *scene) named(r *record, name string, n int, f func(r *record, values []value) error) error {
	for i := 0; r != nil && i < len(r.below); i++ {
		of := &r.below[i]
		if of.name != name {
			continue
		}
		values, err := s.all(of, n)
		if err != nil {
			return err
		}
		if err := f(of, values); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) addStack(id int64, name string, r *record) error {
	p, err := s.properties(r)
	if err != nil {
		return err
	}
	k := &stack{id: id, name: cleanName(name)}
	if v := p["LocalStart"]; len(v) > 0 {
		k.start = v[0].whole
	}
	if v := p["LocalStop"]; len(v) > 0 {
		k.stop = v[0].whole
	}
	s.stacks = append(s.stacks, k)
	return nil
}

// animations7 puts layers, curve nodes and curves together.
func (s *scene) animations7() error {
	stacks, layers := map[int64]*stack{}, map[int64]*layer{}
	for _, k := range s.stacks {
		stacks[k.id] = k
	}
	for _, l := range s.links {
		if k := stacks[l.parent]; k != nil && strings.HasPrefix(s.kinds[l.child], "AnimationLayer/") {
			y, err := s.newLayer(l.child)
			if err != nil {
				return err
			}
			k.layers = append(k.layers, y)
			layers[l.child] = y
		}
	}
	type node struct {
		layer *layer
		model *model
		which int
		track *track
		fades *layer // whose weight it moves
		slide int64  // the channel of a blend shape that it moves
	}
	nodes := map[int64]*node{}
	get := func(id int64) *node {
		if nodes[id] == nil {
			nodes[id] = &node{which: -1}
		}
		return nodes[id]
	}
	for _, l := range s.links {
		if !strings.HasPrefix(s.kinds[l.child], "AnimationCurveNode/") {
			continue
		}
		if y := layers[l.parent]; y != nil && l.property == "Weight" {
			get(l.child).fades = y
		} else if y != nil {
			get(l.child).layer = y
		}
		if l.property == "DeformPercent" && s.kinds[l.parent] == "Deformer/BlendShapeChannel" {
			get(l.child).slide = l.parent
		}
		if m := s.byID[l.parent]; m != nil {
			if which, ok := moved[l.property]; ok {
				get(l.child).model, get(l.child).which = m, which
			}
		}
	}
	ids := make([]int64, 0, len(nodes))
	for id := range nodes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		n := nodes[id]
		if n.layer == nil || n.model == nil {
			continue
		}
		p, err := s.properties(s.objects[id])
		if err != nil {
			return err
		}
		n.track = &track{base: [][3]float64{n.model.t, n.model.r, n.model.s}[n.which]}
		for c, name := range [3]string{"d|X", "d|Y", "d|Z"} {
			if x, ok := number(p[name], 0); ok {
				n.track.base[c] = x
			}
		}
		if n.layer.tracks[n.model] == nil {
			n.layer.tracks[n.model] = &[3]*track{}
		}
		n.layer.tracks[n.model][n.which] = n.track
		n.model.moves = true
	}
	for _, l := range s.links {
		n := nodes[l.parent]
		if n != nil && n.fades != nil && strings.HasPrefix(s.kinds[l.child], "AnimationCurve/") {
			k, err := s.curve7(s.objects[l.child])
			if err != nil {
				return err
			}
			n.fades.fade = k
			continue
		}
		if n != nil && n.slide != 0 && n.layer != nil && strings.HasPrefix(s.kinds[l.child], "AnimationCurve/") {
			k, err := s.curve7(s.objects[l.child])
			if err != nil {
				return err
			}
			n.layer.sliders[n.slide] = k
			continue
		}
		c := slices.Index([]string{"d|X", "d|Y", "d|Z"}, l.property)
		if n == nil || n.track == nil || c < 0 || !strings.HasPrefix(s.kinds[l.child], "AnimationCurve/") {
			continue
		}
		k, err := s.curve7(s.objects[l.child])
		if err != nil {
			return err
		}
		n.track.curves[c] = k
	}
	return nil
}

func (s *scene) newLayer(id int64) (*layer, error) {
	p, err := s.properties(s.objects[id])
	if err != nil {
		return nil, err
	}
	get := func(name string, otherwise float64) float64 {
		if x, ok := number(p[name], 0); ok {
			return x
		}
		return otherwise
	}
	return &layer{id: id, mode: int(toWhole(get("BlendMode", 0))), weight: min(max(get("Weight", 100)/100, 0), 1), mute: get("Mute", 0) != 0,
		byChannel: get("RotationAccumulationMode", 0) == 1, scaleByChannel: get("ScaleAccumulationMode", 0) == 1, tracks: map[*model]*[3]*track{}, sliders: map[int64]*curve{}}, nil
}

// arrange sorts the models: parents before children, in the order of the file. Models in a circle have
// no parent.
func (s *scene) arrange() error {
	for _, m := range s.models {
		m.index = -1
		for k, p := 0, m.parent; p != nil; k, p = k+1, p.parent {
			if k > len(s.models) {
				return s.errorf(m.at, "the model %.60q is above itself", m.name)
			}
		}
	}
	var roots []*model
	for _, m := range s.models {
		if m.parent == nil {
			roots = append(roots, m)
		} else {
			m.parent.below = append(m.parent.below, m)
		}
	}
	// Depth first, without recursion.
	var order []*model
	todo := slices.Clone(roots)
	slices.Reverse(todo)
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		m.index = len(order)
		order = append(order, m)
		for _, c := range slices.Backward(m.below) {
			todo = append(todo, c)
		}
	}
	s.models = order
	return nil
}

// joints returns the models that are joints: those that a skin names and limbs, or without any the
// models that animations move; and all between two joints.
func (s *scene) joints() ([]*model, error) {
	is := make([]bool, len(s.models))
	found := false
	for i, m := range s.models {
		is[i] = m.skinned || m.class == "LimbNode" || m.class == "Limb" || m.class == "Root"
		found = found || is[i]
	}
	for i, m := range s.models {
		is[i] = is[i] || !found && m.moves
	}
	below := make([]bool, len(is))
	for i, m := range s.models {
		if p := m.parent; p != nil {
			below[i] = below[p.index] || is[p.index]
		}
	}
	for i, m := range slices.Backward(s.models) {
		if p := m.parent; p != nil && is[i] && below[i] {
			is[p.index] = true
		}
	}
	var out []*model
	for i, m := range s.models {
		if is[i] {
			out = append(out, m)
		}
	}
	switch {
	case len(out) == 0:
		return nil, s.errorf(-1, "has no joints and nothing that moves: export the armature with its animation")
	case len(out) > MaxJoints:
		return nil, s.errorf(-1, "has %d joints, at most %d are read", len(out), MaxJoints)
	}
	return out, nil
}

// jointName returns a model's name as the file has it.
func jointName(m *model) string {
	return boundedfile.Printable(cmp.Or(m.name, fmt.Sprintf("node%d", m.index)))
}

// names returns the joints' names, each once.
func names(joints []*model) []string {
	out, seen := make([]string, len(joints)), map[string]int{}
	for i, m := range joints {
		name := jointName(m)
		unique := name
		for seen[unique] > 0 {
			seen[name]++
			unique = fmt.Sprintf("%s_%d", name, seen[name])
		}
		seen[unique] = 1
		out[i] = unique
	}
	return out
}
