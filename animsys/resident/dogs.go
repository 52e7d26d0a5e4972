package resident

import (
	"errors"

	"mannequin/animsys/blend"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/kernels"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// New returns a crowd of dogs, or other animals of a mode-adaptive network, without agents. The model's step is one tick.
func New(m *mann.Model, o Options) (*Crowd, error) {
	return newCrowd(o, func() (motion, error) {
		porter, err := m.NewController(mann.ControllerOptions{Capacity: 1, Workers: 1})
		if err != nil {
			return nil, err
		}
		shader, err := porter.NewShader(0, 0)
		if err != nil {
			return nil, errors.Join(err, porter.Close())
		}
		return &dogs{batches: batches{batch: &porter.Batch}, porter: porter, goals: shader, eases: blend.NewInertial(1, m.Skel.Parents)}, nil
	})
}

// dogs is the motion of mode-adaptive networks.
type dogs struct {
	batches
	porter *mann.Controller
	goals  *mann.Shader
	eases  *blend.Inertial // reads what a crowd has left to be eased: a dog here drops it
}

func (d *dogs) skeleton() *skel.Skeleton                   { return d.batch.Model.Skel }
func (d *dogs) rig(roles *ik.Roles) (generator.Rig, error) { return d.porter.Rig(roles) }
func (d *dogs) networks() []*netruntime.Net                { return []*netruntime.Net{d.batch.Model.Net} }
func (d *dogs) goalLen() int                               { return mann.GoalLen }
func (d *dogs) putGoal(words []float32, g *control.Goal)   { d.goals.PutGoal(words, g) }
func (d *dogs) shift(by m3.Vec3)                           { d.porter.Shift(0, by) }
func (d *dogs) leave()                                     { d.porter.Remove(0) }
func (d *dogs) close() error                               { return d.porter.Close() }
func (d *dogs) stages() []stage {
	return []stage{{kernel: "prepare"}, {}, {kernel: "advance"}}
}

func (d *dogs) shader(at []places) (*kernels.Text, int, error) {
	s, err := d.porter.NewShader(at[0].in, at[0].out)
	if err != nil {
		return nil, 0, err
	}
	text := &kernels.Text{Tables: s.Tables}
	text.WriteString(s.Source)
	return text, s.RowLen, nil
}

func (d *dogs) bring(at feature.Place) error {
	_, err := d.porter.Add(at, nil)
	return err
}

func (d *dogs) restore(st *generator.State) (control.Goal, error) {
	if _, err := d.porter.Restore(st); err != nil {
		return control.Goal{}, err
	}
	if err := d.eases.Resume(st, 0); err != nil {
		d.leave()
		return control.Goal{}, err
	}
	return d.porter.Controls()[0], nil
}

func (d *dogs) save(st *generator.State, g *control.Goal) {
	d.porter.Controls()[0] = *g
	d.porter.Save(st, 0)
}

func (d *dogs) processor(n, workers int) (moving, error) {
	m := d.batch.Model
	s, err := m.Net.NewSession(netruntime.SessionOptions{Batch: n, Workers: generator.Workers(workers, n)})
	if err != nil {
		return nil, err
	}
	return &batches{batch: mann.NewBatch(m, n), session: s, x: make([]float32, n*m.Layout.Inputs()), y: make([]float32, n*m.Layout.Outputs()),
		goals: make([]control.Goal, n)}, nil
}

// batches moves dogs on the processor.
type batches struct {
	batch   *mann.Batch
	session netruntime.Session
	x, y    []float32
	goals   []control.Goal
	rows    []int
}

func (p *batches) pack(row []float32, agent int)         { p.batch.Pack(row, agent) }
func (p *batches) unpack(agent int, row []float32) error { return p.batch.Unpack(agent, row) }
func (p *batches) pose(agent int) ([]m3.Vec3, []m3.Quat) { return p.batch.Pose(agent) }
func (p *batches) end() error                            { return p.session.Close() }

func (p *batches) root(agent int) Root {
	pos, _ := p.batch.Pose(agent)
	return Root{At: p.batch.Root(agent), Velocity: p.batch.Velocity(agent), Restored: p.batch.Restored(agent), Hips: pos[0].Y}
}

func (p *batches) step(words []float32, there func(agent int)) error {
	in, out := p.batch.Model.Layout.Inputs(), p.batch.Model.Layout.Outputs()
	p.rows = p.rows[:0]
	for row := range p.goals {
		w := words[row*mann.GoalLen:]
		if w[alive] == 0 {
			continue
		}
		p.goals[row] = control.Goal{Move: m3.V(w[0], 0, w[1]), Turn: w[2], Speed: w[3], Action: control.Action(w[4])}
		p.batch.Plan(p.goals, row, row+1)
		p.batch.GatherRow(p.x[len(p.rows)*in:][:in], row)
		p.rows = append(p.rows, row)
	}
	if err := p.session.Run(p.y, p.x, len(p.rows)); err != nil {
		return err
	}
	for i, row := range p.rows {
		p.batch.ScatterRow(p.y[i*out:][:out], row)
		there(row)
	}
	return nil
}
