package mocap

import (
	"slices"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/internal/boundedfile"
)

// ASF is the content of an Acclaim skeleton file, the skeleton of AMC files.
type ASF struct {
	Skel *skel.Skeleton // at rest, in the file's unit of length

	// MetresPerUnit turns lengths of the skeleton and of its motions into metres if the
	// file counts in inches and scales them by ":units length", as CMU's and HDM05's do:
	// 0.0254/0.45 = 0.056444. It is 0 if the file has no ":units length".
	MetresPerUnit float64

	name     string
	size     int // bytes of the file
	degrees  bool
	channels [][]Channel // per joint of Skel, for a BVH
	bones    []*asfBone  // the root first, then depth first
	index    map[string]int
}

// dof is a degree of freedom: a channel, or a change of the bone's length.
type dof uint8

const stretch = dof(Zrotation) + 1

var dofNames = [...]string{"tx", "ty", "tz", "rx", "ry", "rz", "l"}

func (d dof) rotation() bool { return d >= dof(Xrotation) && d < stretch }

// asfBone is one bone, or the root, which has no length.
type asfBone struct {
	name      string     // as the file spells it
	at        int        // the offset of its description
	position  [3]float64 // of the root, at rest
	direction [3]float64 // at rest, of length 1 or 0
	length    float64
	angles    [3]float64 // about x, y and z, in the file's unit
	order     []int      // axes in the order in which angles turn
	dofs      []dof      // in the order of an AMC's values
	axes      quat64     // from the bone's axes to the world's, at rest: the format's C
	has       uint8      // which of the required fields were read

	parent   *asfBone
	children []*asfBone
	childAt  int // the offset of its mention as a child
	joint    int // of the skeleton, at the bone's start
	ends     []int
}

const (
	hasName = 1 << iota
	hasDirection
	hasLength
	hasDOF
	hasOrder
)

const asfRoot = "root"

// maxSkeletonSize is the largest ASF that is loaded, in bytes.
const maxSkeletonSize = 16 << 20

// OpenASF reads the ASF file at path.
func OpenASF(path string) (*ASF, error) {
	data, err := boundedfile.Read(path, maxSkeletonSize)
	if err != nil {
		return nil, err
	}
	return ReadASF(path, data)
}

// ReadASF parses the text of an ASF file; name is for messages. It returns a
// *SyntaxError that names the line for any text that is not a complete skeleton:
//
//   - a missing section :root, :bonedata or :hierarchy;
//   - a bone without a name, a direction or a length;
//   - a bone that does not hang on the root in exactly one place;
//   - more than skel.MaxJoints joints or a depth of skel.MaxDepth;
//   - a number that is not finite or beyond ±1e9.
//
// Sections may come in any order. Sections that say nothing about bones are skipped, and
// so are the masses and limits of bones.
func ReadASF(name string, data []byte) (*ASF, error) {
	r := asfReader{parser: newParser(name, data), byName: map[string]*asfBone{}, parents: map[string]asfLink{},
		asf: &ASF{name: name, size: len(data), degrees: true}}
	if err := r.sections(); err != nil {
		return nil, err
	}
	if err := r.connect(); err != nil {
		return nil, err
	}
	return r.asf, nil
}

// asfLink is a line of :hierarchy as seen from a child.
type asfLink struct {
	parent string
	at     int
}

// asfReader collects the sections' content; connect makes the skeleton from it.
type asfReader struct {
	*parser
	asf      *ASF
	root     *asfBone
	open     *asfBone // the bone whose description has not ended
	byName   map[string]*asfBone
	list     []*asfBone // in the order of the file
	children []string   // in the order of the file
	parents  map[string]asfLink
}

func (r *asfReader) sections() error {
	section := ""
	for r.nextLine() {
		w, at := r.word()
		if w[0] == ':' {
			if r.open != nil {
				return r.fail(at, "expected \"end\" of bone %s, found the section %s", quote(r.open.name), quoteWord(w))
			}
			section = strings.ToLower(string(w[1:]))
			if section == "root" {
				if r.root != nil {
					return r.fail(at, "a second :root")
				}
				r.root = &asfBone{name: asfRoot, at: at, order: []int{0, 1, 2}}
			}
			continue
		}
		var err error
		switch section {
		case "":
			err = r.fail(at, "expected a section of an ASF, such as :root or :bonedata, found %s", quoteWord(w))
		case "units":
			err = r.units(w)
		case "root":
			err = r.rootField(w, at)
		case "bonedata":
			err = r.bonedata(w, at)
		case "hierarchy":
			err = r.hierarchyLine(w, at)
		}
		if err != nil {
			return err
		}
	}
	at := len(r.data)
	switch {
	case r.open != nil:
		return r.fail(at, "the file ends before the \"end\" of bone %s", quote(r.open.name))
	case r.root == nil:
		return r.fail(at, "the file ends without the section :root")
	case r.root.has&hasOrder == 0:
		return r.fail(r.root.at, "expected \"order\", the order of the root's values, in :root")
	case len(r.list) == 0:
		return r.fail(at, "the file ends without a bone in the section :bonedata")
	case len(r.children) == 0:
		return r.fail(at, "the file ends without bones in the section :hierarchy")
	}
	return nil
}

func (r *asfReader) units(key []byte) error {
	switch strings.ToLower(string(key)) {
	case "length":
		_, at := r.word()
		r.pos = at
		v, err := r.lineNumber("the length of :units")
		if err != nil {
			return err
		}
		if !(v >= 1e-9) {
			return r.fail(at, "the length of :units is %g: expected a factor of at least 1e-9, 0.45 in CMU's files", v)
		}
		r.asf.MetresPerUnit = 0.0254 / v
	case "angle":
		w, at := r.word()
		switch strings.ToLower(string(w)) {
		case "deg", "degree", "degrees":
			r.asf.degrees = true
		case "rad", "radian", "radians":
			r.asf.degrees = false
		default:
			return r.fail(at, "expected deg or rad, the angle of :units, found %s", quoteWord(w))
		}
	default:
		return nil // mass, or a unit that is not needed
	}
	return r.endLine("the unit")
}

func (r *asfReader) rootField(key []byte, at int) (err error) {
	b := r.root
	switch field := strings.ToLower(string(key)); field {
	case "order":
		if b.has&hasOrder != 0 {
			return r.fail(at, "a second order of the root")
		}
		b.has |= hasOrder
		if b.dofs, err = r.dofList("the root"); err != nil {
			return err
		}
		if slices.Contains(b.dofs, stretch) {
			return r.fail(at, "the root has no length: expected an order of TX, TY, TZ, RX, RY and RZ")
		}
	case "axis":
		b.order, err = r.axisOrder("the root")
	case "position":
		err = r.triple(&b.position, "the position of the root")
	case "orientation":
		err = r.triple(&b.angles, "the orientation of the root")
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return r.endLine("the root's " + strings.ToLower(string(key)))
}

func (r *asfReader) bonedata(key []byte, at int) (err error) {
	field := strings.ToLower(string(key))
	b := r.open
	switch {
	case field == "begin" && b == nil:
		if len(r.list) >= skel.MaxJoints {
			return r.fail(at, "more than %d bones", skel.MaxJoints)
		}
		r.open = &asfBone{at: at, order: []int{0, 1, 2}}
		return r.endLine("\"begin\"")
	case field == "begin":
		return r.fail(at, "expected \"end\" of bone %s, found another \"begin\"", quote(b.name))
	case b == nil:
		return r.fail(at, "expected \"begin\", the begin of a bone, found %s", quoteWord(key))
	case field == "end":
		return r.closeBone(at)
	}
	where := "bone " + quote(b.name)
	if b.name == "" {
		where = "a bone"
	}
	switch field {
	case "name":
		err = r.boneName(b)
	case "direction":
		b.has |= hasDirection
		err = r.triple(&b.direction, "the direction of "+where)
	case "length":
		b.has |= hasLength
		if b.length, err = r.lineNumber("the length of " + where); err == nil && b.length < 0 {
			err = r.fail(at, "the length of %s is %g: expected none below 0", where, b.length)
		}
	case "axis":
		if err = r.triple(&b.angles, "the axis of "+where); err == nil {
			b.order, err = r.axisOrder(where)
		}
	case "dof":
		if b.has&hasDOF != 0 {
			return r.fail(at, "a second dof of %s", where)
		}
		b.has |= hasDOF
		b.dofs, err = r.dofList(where)
	default:
		return nil // id, limits and the lines that go on with them, masses
	}
	if err != nil {
		return err
	}
	return r.endLine("the " + field + " of " + where)
}

func (r *asfReader) boneName(b *asfBone) error {
	w, at := r.word()
	name := string(w)
	switch {
	case b.has&hasName != 0:
		return r.fail(at, "a second name of bone %s", quote(b.name))
	case name == "":
		return r.fail(at, "expected the name of a bone, found the end of the line")
	case len(name) > maxName:
		return r.fail(at, "a bone name of %d bytes, at most %d are allowed", len(name), maxName)
	case isFrameNumber(w) || name[0] == ':' || strings.EqualFold(name, asfRoot):
		return r.fail(at, "a bone cannot be called %s: in an AMC file that is no bone", quote(name))
	case r.byName[name] != nil:
		return r.fail(at, "a second bone %s", quote(name))
	}
	b.name, b.has = name, b.has|hasName
	r.byName[name] = b
	return nil
}

// closeBone checks the open bone.
func (r *asfReader) closeBone(at int) error {
	b := r.open
	for _, f := range [...]struct {
		has  uint8
		name string
	}{{hasName, "name"}, {hasDirection, "direction"}, {hasLength, "length"}} {
		if b.has&f.has == 0 {
			return r.fail(at, "expected the %s of bone %q before its \"end\"", f.name, short40(b.name))
		}
	}
	r.list, r.open = append(r.list, b), nil
	return r.endLine("\"end\"")
}

// hierarchyLine takes a line of :hierarchy: a parent and its children.
func (r *asfReader) hierarchyLine(w []byte, at int) error {
	parent := string(w)
	first := true
	for ; ; first = false {
		w, at := r.word()
		child := string(w)
		if child == "" {
			break
		}
		if old, ok := r.parents[child]; ok {
			return r.fail(at, "%s hangs on %s already, it cannot hang on %s too", quote(child), quote(old.parent), quote(parent))
		}
		if len(r.children) >= skel.MaxJoints {
			return r.fail(at, "more than %d bones", skel.MaxJoints)
		}
		r.parents[child] = asfLink{parent, at}
		r.children = append(r.children, child)
	}
	if word := strings.ToLower(parent); first && word != "begin" && word != "end" {
		return r.fail(at, "expected the bones that hang on %s, found the end of the line", quote(parent))
	}
	return nil
}

func (r *asfReader) triple(dst *[3]float64, what string) (err error) {
	for k := range dst {
		if dst[k], err = r.lineNumber(what + ", " + string("xyz"[k])); err != nil {
			return err
		}
	}
	return nil
}

// axisOrder takes an order of rotations such as XYZ.
func (r *asfReader) axisOrder(where string) ([]int, error) {
	w, at := r.word()
	var order []int
	var seen [3]bool
	for _, c := range strings.ToLower(string(w)) {
		k := strings.IndexRune("xyz", c)
		if k < 0 || seen[k] {
			order = nil
			break
		}
		seen[k] = true
		order = append(order, k)
	}
	if len(order) != 3 {
		return nil, r.fail(at, "expected the order of the axes of %s, such as XYZ, found %s", where, quoteWord(w))
	}
	return order, nil
}

// dofList takes the names of degrees of freedom up to the end of the line.
func (r *asfReader) dofList(where string) ([]dof, error) {
	var list []dof
	var seen [len(dofNames)]bool
	for {
		w, at := r.word()
		if len(w) == 0 {
			return list, nil
		}
		d := slices.IndexFunc(dofNames[:], func(name string) bool { return strings.EqualFold(string(w), name) })
		if d < 0 {
			return nil, r.fail(at, "expected a degree of freedom of %s, one of %s, found %s", where, strings.Join(dofNames[:], " "), quoteWord(w))
		}
		if seen[d] {
			return nil, r.fail(at, "the degree of freedom %s of %s is listed twice", dofNames[d], where)
		}
		seen[d] = true
		list = append(list, dof(d))
	}
}
