package fbx

import (
	"math"
	"slices"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/engine/m3"
)

// mesh is the polygons of a geometry. A corner is a polygon's use of a point.
type mesh struct {
	id       int64
	name     string
	at       int
	points   []float64 // x, y, z
	corners  []int32   // of all polygons: the index of its point
	polygons []int32   // of each polygon: its first corner; then the number of corners
	normal   *element
	colour   *element
	uv       []*record // sets of texture coordinates
	material *element
	binding  *binding // nil: no skin
	channels []blendChannel
}

// element is values of a mesh's parts.
type element struct {
	name   string
	at     int
	of     mapping
	width  int // numbers of a value
	values []float64
	index  []int64 // of the value; nil: the part's own
}

// mapping says which parts of a mesh have values.
type mapping uint8

const (
	byCorner mapping = iota
	byPoint
	byPolygon
	allSame
	byOther // edges, or none: not read
)

var mappings = map[string]mapping{"ByPolygonVertex": byCorner, "ByVertice": byPoint, "ByVertex": byPoint, "ByPolygon": byPolygon, "AllSame": allSame}

// value returns the number of a part's value, or −1 if it has none.
func (e *element) value(corner, point, polygon int) int {
	if e == nil {
		return -1
	}
	i := [...]int{corner, point, polygon, 0}[e.of]
	if e.index != nil {
		if i >= len(e.index) || e.index[i] < 0 || e.index[i] > math.MaxInt32 {
			return -1
		}
		i = int(e.index[i])
	}
	if (i+1)*e.width > len(e.values) {
		return -1
	}
	return i
}

// readMesh reads the polygons of a record, or returns nil if it has none.
func (s *scene) readMesh(id int64, name string, r *record) (*mesh, error) {
	points, polygons := r.child("Vertices"), r.child("PolygonVertexIndex")
	if points == nil || polygons == nil {
		return nil, nil
	}
	m := &mesh{id: id, name: name, at: r.at}
	var err error
	if m.points, err = s.numbers(points, 3*maxPoints); err != nil {
		return nil, err
	}
	for i, x := range m.points {
		if !(math.Abs(x) <= 1e9) {
			return nil, s.errorf(points.at, "the mesh %.60q: coordinate %d is %g", name, i, x)
		}
	}
	index, err := s.wholes(polygons, maxCorners)
	if err != nil {
		return nil, err
	}
	if len(index) > 0 && index[len(index)-1] >= 0 {
		return nil, s.errorf(polygons.at, "the mesh %.60q: its last polygon has no end: the file is damaged or cut off", name)
	}
	m.corners, m.polygons = make([]int32, len(index)), []int32{0}
	for i, x := range index {
		p := x
		if x < 0 { // the last corner of a polygon
			p = ^x
			m.polygons = append(m.polygons, int32(i+1))
		}
		if p >= int64(len(m.points)/3) {
			return nil, s.errorf(polygons.at, "the mesh %.60q: corner %d is at point %d, there are %d", name, i, p, len(m.points)/3)
		}
		m.corners[i] = int32(p)
	}
	for i := range r.below {
		if err := s.layerElement(m, &r.below[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// polygonNormal returns the direction of a polygon's front by Newell's formula, not of length 1.
func (m *mesh) polygonNormal(from, to int) m3.Vec3 {
	n := newell(to-from, func(i int) [3]float64 {
		k := 3 * m.corners[from+i]
		return [3]float64(m.points[k : k+3])
	})
	largest := max(math.Abs(n[0]), math.Abs(n[1]), math.Abs(n[2]))
	if largest == 0 {
		return m3.Vec3{}
	}
	return m3.V(float32(n[0]/largest), float32(n[1]/largest), float32(n[2]/largest))
}

// Limits of a mesh. A triangle has three corners, and a polygon of n corners becomes n−2 triangles.
const (
	maxPoints  = 1 << 21
	maxCorners = 3 * skin.MaxTriangles

	maxCornersAll = 8 * maxCorners // of all models, with their texture coordinates
)

// layerElement reads the values of a record below a mesh that we know.
func (s *scene) layerElement(m *mesh, r *record) error {
	var err error
	switch r.name {
	case "LayerElementNormal":
		if m.normal == nil {
			m.normal, err = s.element(m, r, 3, "Normals", "NormalsIndex", "NormalIndex")
		}
	case "LayerElementUV":
		m.uv = append(m.uv, r)
	case "LayerElementColor":
		if m.colour == nil {
			m.colour, err = s.element(m, r, 4, "Colors", "ColorIndex")
		}
	case "LayerElementMaterial":
		if m.material == nil {
			if m.material, err = s.element(m, r, 1, "Materials"); m.material != nil {
				m.material.index = nil // they are indices
			}
		}
	}
	return err
}

// coordinates reads a mesh's texture coordinates: the set of that name, or else the first that is read. It
// returns nil if there are none.
func (s *scene) coordinates(m *mesh, set string) (*element, error) {
	for _, byName := range []bool{true, false} {
		for _, r := range m.uv {
			if byName {
				name := r.child("Name")
				if name == nil || set == "" {
					continue
				}
				v, err := s.all(name, 1)
				if err != nil {
					return nil, err
				}
				if text(v, 0) != set {
					continue
				}
			}
			if e, err := s.element(m, r, 2, "UV", "UVIndex"); e != nil || err != nil {
				return e, err
			}
		}
	}
	return nil, nil
}

// element reads values of a mesh's parts, or returns nil if they are none that we use.
func (s *scene) element(m *mesh, r *record, width int, values string, index ...string) (*element, error) {
	var err error
	said := func(name string) (string, error) {
		if c := r.child(name); c != nil {
			v, err := s.all(c, 1)
			return text(v, 0), err
		}
		return "", nil
	}
	e := &element{at: r.at, width: width}
	if e.name, err = said("Name"); err != nil {
		return nil, err
	}
	how, err := said("MappingInformationType")
	if err != nil {
		return nil, err
	}
	var known bool
	if e.of, known = mappings[how]; !known {
		return nil, nil
	}
	list := r.child(values)
	if list == nil {
		return nil, nil
	}
	if e.values, err = s.numbers(list, 4*maxCorners); err != nil || len(e.values) < width {
		return nil, err
	}
	if slices.ContainsFunc(e.values, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat32) }) {
		return nil, s.errorf(list.at, "the mesh %.60q: %s has a number that is not finite", m.name, values)
	}
	ref, err := said("ReferenceInformationType")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(ref, "Index") { // Direct; otherwise IndexToDirect or its old name Index
		return e, nil
	}
	for _, name := range index {
		if c := r.child(name); c != nil {
			e.index, err = s.wholes(c, maxCorners)
			return e, err
		}
	}
	return e, nil
}
