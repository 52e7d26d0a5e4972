package overlay

import (
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// line appends a line to f, if it is finite.
func line(f *scenes.Frame, from, to m3.Vec3, colour [3]float32) {
	if from.Finite() && to.Finite() {
		f.Lines = append(f.Lines, hud.Line{From: from, To: to, Colour: colour})
	}
}

// arrow appends an arrow to f. Its head lies in the plane that is nearest to horizontal.
func arrow(f *scenes.Frame, from, to m3.Vec3, colour [3]float32) {
	const tip = 0.09 // of the head, m
	line(f, from, to, colour)
	d := to.Sub(from)
	l := d.Len()
	if !(l > 1e-3) {
		return
	}
	d = d.Scale(min(tip, l/2) / l)
	side := d.Cross(m3.Up)
	if side.Len() < 0.1*d.Len() { // it points up or down
		side = d.Cross(m3.V(1, 0, 0))
	}
	side = side.Normalize(m3.V(1, 0, 0)).Scale(d.Len() / 2)
	line(f, to, to.Sub(d).Add(side), colour)
	line(f, to, to.Sub(d).Sub(side), colour)
}

// The numbers of corners of rings.
const corners, selectedCorners = 10, 24

// ring appends a ring of n corners with the half axes x and z. put moves each corner to its place.
func ring(f *scenes.Frame, x, z m3.Vec3, n int, colour [3]float32, put func(m3.Vec3) m3.Vec3) {
	at := func(i int) m3.Vec3 {
		a := 2 * 3.14159265 * float32(i) / float32(n)
		return put(x.Scale(m3.Cos(a)).Add(z.Scale(m3.Sin(a))))
	}
	from := at(0)
	for i := 1; i <= n; i++ {
		to := at(i)
		line(f, from, to, colour)
		from = to
	}
}

// disc appends a ring around p, perpendicular to normal, with a cross in it.
func disc(f *scenes.Frame, p, normal m3.Vec3, radius float32, colour [3]float32) {
	x := normal.Cross(m3.V(0, 0, 1)).Normalize(m3.V(1, 0, 0)).Scale(radius)
	z := x.Cross(normal)
	ring(f, x, z, corners, colour, p.Add)
	line(f, p.Sub(x), p.Add(x), colour)
	line(f, p.Sub(z), p.Add(z), colour)
}

// star appends three lines through p along the world's axes.
func star(f *scenes.Frame, p m3.Vec3, arm float32, colour [3]float32) {
	for _, d := range [...]m3.Vec3{{X: arm}, {Y: arm}, {Z: arm}} {
		line(f, p.Sub(d), p.Add(d), colour)
	}
}
