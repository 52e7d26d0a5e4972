package stage

import (
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"

	"mannequin/engine/hud"
	"mannequin/engine/internal/gpu"
	"mannequin/engine/m3"
)

// strokes draws lines of constant width on screen.
type strokes struct {
	geom   *gpu.Geometry
	parts  []*graphic.Mesh // meshes that draw the lines
	v      []float32
	index  []uint32
	matrix math32.Matrix4 // from the lines' space to clip space
	size   [3]float32     // half of the picture's size and of the lines' width, pixels
	nearer float32        // see stroke.vert
}

// strokeVertex is the number of floats per vertex: both ends, corner, colour.
const strokeVertex = 3 + 3 + 2 + 3

func newStrokes() *strokes { return &strokes{geom: gpu.NewGeometry(nil, nil, 3, 3, 2, 3)} }

// add draws the lines into a node with the opacity cover. compare sets the depth test.
func (s *strokes) add(to *core.Node, cover float32, order int, compare func(*shade)) {
	project, size, nearer, share := gpu.Uniform("Project"), gpu.Uniform("Size"), gpu.Uniform("Nearer"), gpu.Uniform("Cover")
	m := newShade("stroke", nil, func(gs *gls.GLS) {
		gs.UniformMatrix4fv(project.Location(gs), 1, false, &s.matrix[0])
		gs.Uniform3f(size.Location(gs), s.size[0], s.size[1], s.size[2])
		gs.Uniform1f(nearer.Location(gs), s.nearer)
		gs.Uniform1f(share.Location(gs), cover)
	})
	m.SetBlending(material.BlendNormal)
	m.SetTransparent(true)
	m.SetDepthMask(false)
	m.SetSide(material.SideDouble)
	compare(m)
	part := gpu.NewMesh(s.geom, m, order)
	part.SetVisible(false)
	s.parts = append(s.parts, part)
	to.Add(part)
}

func (s *strokes) clear() { s.v, s.index = s.v[:0], s.index[:0] }

// line appends a line. It ignores ends that are not finite.
func (s *strokes) line(a, b m3.Vec3, c [3]float32) {
	if !a.Finite() || !b.Finite() {
		return
	}
	k := uint32(len(s.v) / strokeVertex)
	s.v = append(s.v,
		a.X, a.Y, a.Z, b.X, b.Y, b.Z, 0, -1, c[0], c[1], c[2],
		a.X, a.Y, a.Z, b.X, b.Y, b.Z, 0, +1, c[0], c[1], c[2],
		a.X, a.Y, a.Z, b.X, b.Y, b.Z, 1, -1, c[0], c[1], c[2],
		a.X, a.Y, a.Z, b.X, b.Y, b.Z, 1, +1, c[0], c[1], c[2])
	s.index = append(s.index, k, k+1, k+2, k+2, k+1, k+3)
}

// show draws the lines in pictures of w×h pixels, width pixels wide.
func (s *strokes) show(w, h int, width float32) {
	for _, p := range s.parts {
		p.SetVisible(len(s.index) > 0)
	}
	s.size = [3]float32{float32(w) / 2, float32(h) / 2, width / 2}
	if len(s.index) > 0 {
		s.geom.Set(s.v, s.index)
	}
}

// Lines in the scene: opacity where hidden, maximum number, and depth bias towards the eye, m.
const (
	hiddenLine = 0.5
	mostLines  = 1 << 15
	lineNearer = 0.03
)

func newLines(scene *core.Node) *strokes {
	s := newStrokes()
	s.nearer = 2 * near * lineNearer
	s.add(scene, hiddenLine, 1, func(m *shade) { m.SetDepthFunc(gls.GREATER) })
	s.add(scene, 1, 2, func(*shade) {})
	return s
}

func (s *Stage) setLines(lines []hud.Line) {
	w, h := s.Size()
	s.lines.clear()
	for _, l := range lines[:min(len(lines), mostLines)] {
		s.lines.line(l.From, l.To, l.Colour)
	}
	s.lines.matrix = s.eye.clip()
	s.lines.show(w, h, max(2, float32(h)/300))
}

// pathWidth is the width of the planned path on the ground, m.
const pathWidth = 0.045

// ribbon returns vertices (position 3, coordinate 2) and indices of a band along the points,
// slightly above the ground. It ignores points that are not finite.
func ribbon(v []float32, index []uint32, points []m3.Vec3) ([]float32, []uint32) {
	v, index = v[:0], index[:0]
	var last m3.Vec3
	n := 0
	along := float32(0)
	for i, p := range points {
		if !p.Finite() || (n > 0 && p.Dist(last) < 0.01) {
			continue
		}
		ahead := p.Sub(last)
		if n == 0 {
			ahead = m3.V(0, 0, 1)
			for _, q := range points[i+1:] {
				if d := q.Sub(p); d.Finite() && d.Len() >= 0.01 {
					ahead = d
					break
				}
			}
		} else {
			along += ahead.Len()
		}
		side := m3.Up.Cross(ahead.Flat()).Normalize(m3.V(1, 0, 0)).Scale(pathWidth / 2)
		for _, s := range []float32{-1, 1} {
			q := p.Add(side.Scale(s))
			v = append(v, q.X, q.Y+0.015, q.Z, s, along)
		}
		if k := uint32(2 * n); n > 0 {
			index = append(index, k-2, k-1, k, k, k-1, k+1)
		}
		last = p
		n++
	}
	if n < 2 {
		return v[:0], index[:0]
	}
	return v, index
}
