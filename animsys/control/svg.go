package control

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"mannequin/engine/m3"
)

// svgScale is the length of an SVG's user unit, m: a sheet of about 800 units is a field of 40 m.
const svgScale = 0.05

// svgChord is the distance between the control points into which curves are cut, m.
const svgChord = 0.25

// readSVG reads the first path, polyline or polygon of an SVG file as a map: up on the page is +Z,
// left is +X, and the middle of the curve is the origin.
func readSVG(name string, data []byte) ([]m3.Vec3, bool, error) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil, false, fmt.Errorf("%s: has no path, polyline or polygon", name)
		case err != nil:
			return nil, false, fmt.Errorf("%s: %w", name, err)
		}
		el, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		line, _ := dec.InputPos()
		p := svgPath{}
		switch el.Name.Local {
		case "path":
			err = p.read(attribute(el, "d"))
		case "polyline", "polygon":
			d := "M" + attribute(el, "points")
			if el.Name.Local == "polygon" {
				d += "Z"
			}
			err = p.read(d)
		default:
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		pts, closed := p.ground()
		return pts, closed, nil
	}
}

func attribute(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// svgPath is a path's data (SVG 1.1, section 8.3) cut into points, in user units.
type svgPath struct {
	points [][2]float64
	closed bool
}

// svgCommands are the commands of path data with their numbers of arguments.
var svgCommands = map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'S': 4, 'Q': 4, 'T': 2, 'Z': 0}

// read reads straight lines and Bézier curves of the first subpath of path data.
func (p *svgPath) read(d string) error {
	var at, handle [2]float64 // the pen's place, and the last curve's second handle
	var command, before byte
	rest := strings.TrimLeft(d, " \t\r\n,")
	for rest != "" {
		if c := rest[0]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			command, rest = c, rest[1:]
		}
		if len(p.points) == 0 && command != 'M' && command != 'm' {
			return fmt.Errorf("path data begins with %.20q, want M", d)
		}
		upper := command &^ 0x20
		n, ok := svgCommands[upper]
		if !ok {
			return fmt.Errorf("path data has the command %q, want M, L, H, V, C, S, Q, T or Z", command)
		}
		if upper == 'M' && len(p.points) > 0 {
			return nil // the next subpath
		}
		var v [6]float64
		for i := range n {
			var err error
			if v[i], rest, err = svgNumber(rest); err != nil {
				return err
			}
		}
		if command != upper { // relative to the pen
			for i := range n {
				switch {
				case upper == 'V':
					v[i] += at[1]
				default:
					v[i] += at[i%2]
				}
			}
		}
		mirrored := [2]float64{2*at[0] - handle[0], 2*at[1] - handle[1]}
		if !strings.ContainsRune("CS", rune(before)) && upper == 'S' || !strings.ContainsRune("QT", rune(before)) && upper == 'T' {
			mirrored = at
		}
		end := [2]float64{v[max(n-2, 0)], v[max(n-1, 0)]}
		switch upper {
		case 'Z':
			if p.closed = true; len(p.points) > 0 {
				p.line(at, p.points[0])
			}
			return nil
		case 'H':
			end = [2]float64{v[0], at[1]}
		case 'V':
			end = [2]float64{at[0], v[0]}
		case 'C':
			handle = [2]float64{v[2], v[3]}
			p.curve(at, [2]float64{v[0], v[1]}, handle, end)
		case 'S':
			handle = [2]float64{v[0], v[1]}
			p.curve(at, mirrored, handle, end)
		case 'Q', 'T':
			if handle = mirrored; upper == 'Q' {
				handle = [2]float64{v[0], v[1]}
			}
			third := func(a, b [2]float64) [2]float64 {
				return [2]float64{a[0] + 2*(b[0]-a[0])/3, a[1] + 2*(b[1]-a[1])/3}
			}
			p.curve(at, third(at, handle), third(end, handle), end)
		}
		switch upper {
		case 'M':
			p.points = append(p.points, end)
			command = command - 'M' + 'L' // further pairs are lines
		case 'L', 'H', 'V':
			p.line(at, end)
		}
		if at, before = end, upper; len(p.points) > MaxPathPoints {
			return fmt.Errorf("path data has more than %d points", MaxPathPoints)
		}
		rest = strings.TrimLeft(rest, " \t\r\n,")
	}
	return nil
}

func svgNumber(s string) (v float64, rest string, err error) {
	s = strings.TrimLeft(s, " \t\r\n,")
	end, dot, exponent := 0, false, false
scan:
	for ; end < len(s); end++ {
		switch c := s[end]; {
		case c >= '0' && c <= '9':
		case (c == '-' || c == '+') && (end == 0 || s[end-1] == 'e' || s[end-1] == 'E'):
		case c == '.' && !dot && !exponent:
			dot = true
		case (c == 'e' || c == 'E') && !exponent && end > 0:
			exponent = true
		default:
			break scan
		}
	}
	v, err = strconv.ParseFloat(s[:end], 64)
	if err != nil || !(math.Abs(v) <= 1e6) {
		return 0, "", fmt.Errorf("path data has %.20q, want a number up to a million", s)
	}
	return v, s[end:], nil
}

func (p *svgPath) line(from, to [2]float64) {
	n := p.pieces(math.Hypot(to[0]-from[0], to[1]-from[1]))
	for i := 1; i <= n; i++ {
		t := float64(i) / float64(n)
		p.points = append(p.points, [2]float64{from[0] + t*(to[0]-from[0]), from[1] + t*(to[1]-from[1])})
	}
}

func (p *svgPath) curve(a, b, c, d [2]float64) {
	long := math.Hypot(b[0]-a[0], b[1]-a[1]) + math.Hypot(c[0]-b[0], c[1]-b[1]) + math.Hypot(d[0]-c[0], d[1]-c[1])
	n := p.pieces(long)
	for i := 1; i <= n; i++ {
		t := float64(i) / float64(n)
		u := 1 - t
		var at [2]float64
		for k := range at {
			at[k] = u*u*u*a[k] + 3*u*u*t*b[k] + 3*u*t*t*c[k] + t*t*t*d[k]
		}
		p.points = append(p.points, at)
	}
}

// pieces returns the number of chords for a stretch of long user units, not more than a path may
// have.
func (p *svgPath) pieces(long float64) int {
	return int(min(max(1, math.Ceil(long*svgScale/svgChord)), MaxPathPoints+1))
}

// ground returns the points on the ground, without repeated ones.
func (p *svgPath) ground() (pts []m3.Vec3, closed bool) {
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, v := range p.points {
		for k := range v {
			lo[k], hi[k] = min(lo[k], v[k]), max(hi[k], v[k])
		}
	}
	for _, v := range p.points {
		at := m3.V(float32(svgScale*((lo[0]+hi[0])/2-v[0])), 0, float32(svgScale*((lo[1]+hi[1])/2-v[1])))
		if n := len(pts); n == 0 || pts[n-1].Dist(at) > 1e-3 {
			pts = append(pts, at)
		}
	}
	closed = p.closed
	for len(pts) > 3 && pts[0].Dist(pts[len(pts)-1]) <= 1e-3 {
		pts, closed = pts[:len(pts)-1], true
	}
	return pts, closed
}
