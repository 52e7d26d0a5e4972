package motion

import (
	"fmt"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/models"
	evalmanifold "mannequin/offline/eval/manifold"
)

// cleaner removes noise from motions and fills gaps in them.
type cleaner struct {
	m       *manifold.Model
	strnn   *strnn.Denoiser // nil: the manifold does
	threads int
}

// cleanBatch is the number of windows that a network cleans at a time.
const cleanBatch = 32

// openCleaner opens the network of --denoise, for frames of m.
func (o *editFlags) openCleaner(m *manifold.Model) (*cleaner, error) {
	c := &cleaner{m: m, threads: o.threads}
	if o.denoise != "strnn" {
		return c, nil
	}
	s, err := models.OpenAs(o.strnn, strnn.NewModel)
	if err != nil {
		return nil, fmt.Errorf("--strnn: %w", err)
	}
	if s.Layout.Hash() != m.Layout.Hash() || !slices.Equal(s.Skel.Names, m.Skel.Names) || !slices.Equal(s.Skel.Offsets, m.Skel.Offsets) {
		return nil, fmt.Errorf("--strnn %s and --manifold %s do not fit: their joints or bones differ", o.strnn, o.base)
	}
	c.strnn, err = s.NewDenoiser(strnn.DenoiserOptions{FPS: manifold.Rate, Batch: cleanBatch, Workers: o.threads})
	return c, err
}

func (c *cleaner) close() {
	if c.strnn != nil {
		c.strnn.Close()
	}
}

// fill returns rows with gaps filled. The recurrent network fills gaps of the whole body; if some
// joints are known the manifold fills the others.
func (c *cleaner) fill(rows []float32, gaps []manifold.Gap, iterations int) ([]float32, error) {
	rows, err := c.m.Fill(rows, gaps, iterations, c.threads)
	if err != nil || c.strnn == nil {
		return rows, err
	}
	l := c.m.Layout
	cols, missing := l.Columns(), make([]bool, len(rows))
	for _, g := range gaps {
		for f := g.From; f < g.To && len(g.Joints) == 0; f++ {
			for k := range cols { // the body moves from its last known place to the next
				missing[f*cols+k] = k < l.Body() || k >= l.Contact(0)
			}
		}
	}
	if !slices.Contains(missing, true) {
		return rows, nil
	}
	return rows, c.strnn.Fill(rows, rows, missing)
}

// bodySigma is the deviation of the filter for the body's path when noise is removed, in frames.
const bodySigma = 5

// withoutNoise returns rows without noise and with a smoothed path of the body, and the start of
// that path.
func (c *cleaner) withoutNoise(rows []float32, start feature.Place) ([]float32, feature.Place, error) {
	own := c.m.Trajectory(rows, start)
	way := own.Smoothed(bodySigma)
	moved := slices.Clone(rows)
	c.m.Rebase(moved, own, way)
	clean, err := c.project(moved)
	if err != nil {
		return nil, feature.Place{}, err
	}
	body := c.m.Layout.Body()
	for i := range clean { // the body moves along the path itself
		if k := i % c.m.Layout.Columns(); k >= body && k < body+feature.MotionLen {
			clean[i] = moved[i]
		}
	}
	return clean, way[0], nil
}

// project returns rows as the network reconstructs them.
func (c *cleaner) project(rows []float32) ([]float32, error) {
	if c.strnn == nil {
		return c.m.Project(rows, c.threads)
	}
	clean := make([]float32, len(rows))
	return clean, c.strnn.Denoise(clean, rows)
}

// standing detects the contacts of rows from the positions of joints, and moves rows and start to
// the ground that these positions show.
func standing(m *manifold.Model, rows []float32, start *feature.Place) ([]float32, error) {
	l := m.Layout
	frames := len(rows) / l.Columns()
	world, again := make([]m3.Vec3, frames*len(l.Joints)), make([]float32, len(rows))
	l.ToWorld(world, rows, manifold.Rate, *start)
	place, err := l.FromWorld(again, world, manifold.Rate)
	if err != nil {
		return nil, err
	}
	up := place.Pos.Y - start.Pos.Y
	for f := range frames {
		for j := range l.Joints {
			rows[f*l.Columns()+l.Pos(j)+1] -= up
		}
	}
	start.Pos.Y = place.Pos.Y
	return evalmanifold.Contacts(l, again), nil
}
