package control

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
)

// maxFile bounds path and script files, with room for MaxPathPoints lines.
const maxFile = 1 << 20

// OpenPath reads the path file at path: see ReadPath.
func OpenPath(path string) (*Path, error) {
	data, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return ReadPath(path, data)
}

// ReadPath reads a path from the contents of the file called name. A name that ends in .toml holds
//
//	closed = true
//	points = [[0, 0], [2, 0], [2, 3]]   # x and z, metres
//
// A name that ends in .svg is a drawing. Its first path, polyline or polygon counts, in user units
// of 5 cm, seen from above: +Z up the page, +X to the left, the middle of the curve at the origin.
//
// Any other name holds one control point per line, x and z in metres separated by a comma. Empty
// lines, lines that begin with # and a first line "x,z" are skipped. Such a path is closed if its
// last point repeats the first.
func ReadPath(name string, data []byte) (*Path, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are allowed", name, len(data), maxFile)
	}
	read := readCSV
	switch strings.ToLower(filepath.Ext(name)) {
	case ".toml":
		read = readTOML
	case ".svg":
		read = readSVG
	}
	pts, closed, err := read(name, data)
	if err != nil {
		return nil, err
	}
	p, err := NewPath(pts, closed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func readCSV(name string, data []byte) ([]m3.Vec3, bool, error) {
	var pts []m3.Vec3
	for i, line := range strings.Split(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || len(pts) == 0 && strings.EqualFold(strings.ReplaceAll(line, " ", ""), "x,z") {
			continue
		}
		xs, zs, ok := strings.Cut(line, ",")
		x, errX := strconv.ParseFloat(strings.TrimSpace(xs), 32)
		z, errZ := strconv.ParseFloat(strings.TrimSpace(zs), 32)
		if !ok || errX != nil || errZ != nil {
			return nil, false, fmt.Errorf("%s:%d: want two numbers, x and z, separated by a comma, found %.40q", name, i+1, line)
		}
		if len(pts) == MaxPathPoints+1 {
			return nil, false, fmt.Errorf("%s:%d: more than %d points", name, i+1, MaxPathPoints)
		}
		pts = append(pts, m3.V(float32(x), 0, float32(z)))
	}
	if n := len(pts); n > 3 && pts[0].Dist(pts[n-1]) < 1e-3 {
		return pts[:n-1], true, nil
	}
	return pts, false, nil
}

func readTOML(name string, data []byte) ([]m3.Vec3, bool, error) {
	var f struct {
		Closed bool
		Points [][]float64
	}
	if err := decodeTOML(name, data, &f); err != nil {
		return nil, false, err
	}
	var pts []m3.Vec3
	for i, p := range f.Points {
		if len(p) != 2 {
			return nil, false, fmt.Errorf("%s: point %d has %d numbers, want x and z", name, i+1, len(p))
		}
		pts = append(pts, m3.V(float32(p[0]), 0, float32(p[1])))
	}
	return pts, f.Closed, nil
}

// decodeTOML fills dst from data. It refuses keys that dst does not have. Its errors name the file
// and, if known, the line.
func decodeTOML(name string, data []byte, dst any) error {
	if line := deep(data); line > 0 {
		return fmt.Errorf("%s:%d: nested too deeply", name, line)
	}
	md, err := toml.Decode(string(data), dst)
	var at toml.ParseError
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("%s:%d: %s", name, at.Position.Line, at.Message)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	if extra := md.Undecoded(); len(extra) > 0 {
		return fmt.Errorf("%s: unknown key %q", name, extra[0].String())
	}
	return nil
}

// deep returns the first line that nests too deeply, or 0. Decoding time grows with depth squared.
func deep(data []byte) int {
	line, depth, dots := 1, 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case '.':
			dots++
		}
		if depth > 16 || dots > 32 {
			return line
		}
		switch c {
		case '\n':
			line++
			fallthrough
		case ',', '=', '[', ']', '{', '}':
			dots = 0
		}
	}
	return 0
}
