package resident

import (
	_ "embed"
	"errors"
	"fmt"

	"mannequin/animsys/internal/kernels"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

//go:embed kernels/stand.wgsl
var standSource string

const (
	matrixLen = 12           // float32s of a joint's matrix: three rows
	poseLen   = mann.PoseLen // of a joint, and of a root

	mostGroups = 65535 // workgroups of a launch that every GPU takes; agents have one each
)

// device is a crowd on the GPU.
type device struct {
	work      *webgpu.Work
	joints, n int // n is the capacity
	size      int // float32s of a row
	goal      int // of a goal

	tables, goals, rows, poses, matrices, scene *webgpu.Memory
	networks                                    []*webgpu.Network
	bounds                                      []*webgpu.Bound // of kernels that see the memory of a network
	skin                                        *webgpu.Kernel

	stages              []stage
	launches            []webgpu.Launch // of the stages
	copies              []webgpu.Copy
	late                *webgpu.Results // roots and states
	early               *webgpu.Results // roots, or what is asked for between ticks
	read                []float32
	pending, withStates bool
	statesFrom          int
}

// openDevice puts a crowd on the GPU.
func openDevice(c *Crowd, field *terrain.Field) (d *device, err error) {
	joints, n := c.motion.skeleton().Len(), c.opt.Capacity
	if joints > group {
		return nil, fmt.Errorf("resident: %d joints: a workgroup has %d threads", joints, group)
	}
	if n > mostGroups {
		return nil, fmt.Errorf("resident: room for %d agents: a GPU takes at most %d", n, mostGroups)
	}
	work, err := webgpu.NewWork(webgpu.WorkOptions{Log: c.opt.Log, Timeout: c.opt.Timeout, F16: c.opt.F16, OpenGL: c.opt.OpenGL},
		webgpu.ReadOnly, webgpu.ReadOnly, webgpu.ReadWrite, webgpu.ReadWrite, webgpu.ReadWrite, webgpu.ReadWrite, webgpu.ReadOnly)
	if err != nil {
		return nil, err
	}
	d = &device{work: work, joints: joints, n: n, goal: c.motion.goalLen(), size: len(c.row)}
	defer func() {
		if err != nil {
			work.Close()
		}
	}()
	var at []places
	for _, net := range c.motion.networks() {
		network, err := work.Network(net, n)
		if err != nil {
			return nil, err
		}
		d.networks, at = append(d.networks, network), append(at, places{network.In, network.Out})
	}
	text, err := d.source(c, at)
	if err != nil {
		return nil, err
	}
	tables, scene := text.Tables, d.sceneTables(text, c, field)
	text.WriteString(standSource)
	floats := func(to **webgpu.Memory, label string, n int) {
		if err == nil {
			*to, err = work.Memory("resident "+label, int64(4*n))
		}
	}
	floats(&d.tables, "tables", len(tables))
	floats(&d.goals, "goals", len(c.words))
	floats(&d.rows, "states", n*d.size)
	floats(&d.poses, "poses", n*(joints+1)*poseLen)
	floats(&d.matrices, "matrices", n*joints*matrixLen)
	floats(&d.scene, "scene", len(scene))
	if err == nil {
		err = errors.Join(work.Write(d.tables, 0, webgpu.Bytes(tables)), work.Write(d.scene, 0, webgpu.Bytes(scene)))
	}
	if err != nil {
		return nil, err
	}
	for _, network := range d.networks {
		b, err := work.Bind(d.tables, d.goals, d.rows, network.Values, d.poses, d.matrices, d.scene)
		if err != nil {
			return nil, err
		}
		d.bounds = append(d.bounds, b)
	}
	source := text.String()
	d.stages = append(c.motion.stages(), stage{kernel: "stand_up"})
	for _, s := range d.stages {
		if s.kernel == "" {
			d.launches = append(d.launches, webgpu.Launch{Network: d.networks[s.network]})
			continue
		}
		k, err := work.Kernel(s.kernel, source)
		if err != nil {
			return nil, err
		}
		d.launches = append(d.launches, webgpu.Launch{Kernel: k, Bound: d.bounds[s.network]})
	}
	if d.skin, err = work.Kernel("skin", source); err != nil {
		return nil, err
	}
	pose := int64(4 * joints * poseLen)
	most := max(int64(n)*pose, int64(4*n*poseLen), int64(4*d.size))
	if d.early, err = work.Results(most); err != nil {
		return nil, err
	}
	if d.late, err = work.Results(int64(4*n*poseLen) + int64(4*n*d.size)); err != nil {
		return nil, err
	}
	d.read = make([]float32, max(int(most/4), n*(poseLen+d.size)))
	// No agent is there yet: the kernels end at once.
	if err = work.Write(d.goals, 0, webgpu.Bytes(c.words)); err != nil {
		return nil, err
	}
	d.launch(min(n, 64))
	if err = work.Start(d.launches, d.early); err != nil {
		return nil, err
	}
	return d, nil
}

// source returns the kernels of a crowd's motion with its tables, and the tables of its rig. The kernels of the ground are not in it.
func (d *device) source(c *Crowd, at []places) (*kernels.Text, error) {
	text, _, err := c.motion.shader(at)
	if err != nil {
		return nil, err
	}
	return text, rigTables(text, &c.rig.Ground, c.motion.skeleton().Parents)
}

// rigTables writes the tables and constants of a rig.
func rigTables(text *kernels.Text, s *ik.Legged, parents []int16) error {
	roles := &s.Rig.Roles
	below := func(a, j int) bool {
		for ; j >= 0; j = int(parents[j]) {
			if j == a {
				return true
			}
		}
		return false
	}
	chest := roles.Spine[len(roles.Spine)-1]
	var fores, chains, sides, toes []int
	ends := []int{0}
	for i, l := range roles.Legs {
		for _, o := range roles.Legs[:i] {
			if below(l[0], o[0]) || below(o[0], l[0]) {
				return errors.New("resident: two legs share joints")
			}
		}
		fore := 0
		if below(chest, l[0]) {
			fore, sides = 1, append(sides, l[0])
		}
		fores, chains = append(fores, fore), append(chains, l...)
		tip := l[len(l)-1]
		if tip+1 < len(parents) && int(parents[tip+1]) == tip { // it carries the end of the toes
			toes = append(toes, tip+1)
		} else {
			toes = append(toes, -1)
		}
		ends = append(ends, len(chains))
	}
	upright := len(roles.Legs) == 2 && len(sides) == 0
	hipsLeft, hipsRight := 0, 0
	if upright {
		hipsLeft, hipsRight = roles.Legs[0][0], roles.Legs[1][0]
	}
	for _, chain := range [][]int{roles.Tail, roles.Head} {
		chains = append(chains, chain...)
		ends = append(ends, len(chains))
	}
	unders := []int{roles.Spine[0], chest, roles.Neck, 0, 0}
	left, right := 0, 0
	if len(sides) == 2 {
		left, right = sides[0], sides[1]
		unders[3], unders[4] = left, right
	}
	text.Bool("has_sides", len(sides) == 2)
	text.Bool("upright", upright)
	for _, v := range []struct {
		name string
		v    int
	}{
		{"side_left", left}, {"side_right", right}, {"hips_left", hipsLeft}, {"hips_right", hipsRight}, {"neck_joint", roles.Neck},
		{"spine_count", len(roles.Spine)}, {"legs_count", len(roles.Legs)},
	} {
		text.Whole(v.name, v.v)
	}
	text.Wholes("spine", roles.Spine...)
	text.Wholes("under_joints", unders...)
	text.Wholes("fores", fores...)
	text.Wholes("toes", toes...)
	text.Wholes("chains", chains...)
	text.Wholes("chain_ends", ends...)
	text.Number("sole", s.Sole)
	text.Number("most_drop", s.MaxDrop)
	text.Number("clearance", s.Clearance)
	text.Number("most_slope", s.MaxSlope)
	return nil
}

// sceneTables returns what differs from crowd to crowd: the capacity, the place and size of the ground, the inverse of the bind pose, and the
// heights of the ground; and writes the constants that say where. So all crowds of a model have the same kernels: drivers keep compiled ones by
// their source.
func (d *device) sceneTables(text *kernels.Text, c *Crowd, f *terrain.Field) (scene []float32) {
	text.WriteString("@group(0) @binding(5) var<storage, read_write> matrices: array<f32>;\n@group(0) @binding(6) var<storage, read> scene: array<f32>;\n")
	whole := text.Whole
	for i, name := range []string{"capacity", "field_x", "field_z", "field_cell", "field_nx", "field_nz"} {
		whole(name, i)
	}
	scene = []float32{float32(d.n), f.X0, f.Z0, f.Cell, float32(f.NX), float32(f.NZ)}
	whole("binds", len(scene))
	for j := range d.joints {
		x := m3.Identity
		if c.opt.Bind != nil {
			x = c.opt.Bind[j].Inv()
		}
		scene = append(scene, x.Pos.X, x.Pos.Y, x.Pos.Z, 0, x.Rot.X, x.Rot.Y, x.Rot.Z, x.Rot.W)
	}
	whole("heights", len(scene))
	return append(scene, f.Y...)
}

// put writes the state of an agent.
func (d *device) put(agent int, row []float32) error {
	return d.work.Write(d.rows, int64(4*agent*d.size), webgpu.Bytes(row))
}

// launch sets the sizes of all launches for the first used agents.
func (d *device) launch(used int) {
	for i := range d.launches {
		d.launches[i].Groups, d.launches[i].Rows = used, used
		if d.stages[i].each {
			d.launches[i].Groups = inGroups(used)
		}
	}
}

// step submits a tick of the first used agents, at least one, and with states a copy of these.
func (d *device) step(words []float32, used int, states bool) error {
	if err := d.work.Write(d.goals, 0, webgpu.Bytes(words[:inGroups(used)*group*d.goal])); err != nil {
		return err
	}
	d.launch(used)
	d.copies = append(d.copies[:0], webgpu.Copy{From: d.poses, At: int64(4 * d.n * d.joints * poseLen), Bytes: int64(4 * used * poseLen)})
	to := d.early
	if d.withStates = states; states {
		to = d.late
		d.copies = append(d.copies, webgpu.Copy{From: d.rows, Bytes: int64(4 * used * d.size)})
	}
	d.statesFrom = used * poseLen
	err := d.work.Submit(d.launches, d.copies, to)
	d.pending = err == nil
	return err
}

// collect waits for the tick, and reports whether it copied states.
func (d *device) collect(roots []Root, saved []float32, used int) (states bool, err error) {
	d.pending = false
	from, n := d.early, d.statesFrom
	if d.withStates {
		from = d.late
		n += d.statesFrom / poseLen * d.size
	}
	if err := d.work.Read(webgpu.Bytes(d.read[:n]), from); err != nil {
		return false, err
	}
	for i := range d.statesFrom / poseLen {
		v := d.read[i*poseLen:]
		yaw := m3.Atan2(v[4], v[5])
		roots[i] = Root{At: m3.Xform{Pos: m3.V(v[0], 0, v[2]), Rot: m3.YawQuat(yaw)}, Hips: v[1], Restored: int(v[3]), Velocity: m3.V(v[6], 0, v[7])}
	}
	if d.withStates {
		copy(saved, d.read[d.statesFrom:n])
	}
	return d.withStates, nil
}

// ask copies parts of a memory between ticks, and returns them: they are valid until the next call.
func (d *device) ask(parts ...webgpu.Copy) ([]float32, error) {
	n := 0
	for _, p := range parts {
		n += int(p.Bytes / 4)
	}
	if err := d.work.Submit(nil, parts, d.early); err != nil {
		return nil, err
	}
	return d.read[:n], d.work.Read(webgpu.Bytes(d.read[:n]), d.early)
}

// row reads the state of an agent.
func (d *device) row(dst []float32, agent int) error {
	d.copies = append(d.copies[:0], webgpu.Copy{From: d.rows, At: int64(4 * agent * d.size), Bytes: int64(4 * d.size)})
	v, err := d.ask(d.copies...)
	copy(dst, v)
	return err
}

// bones reads the joints of agents, at most as many at once as there is room for.
func (d *device) bones(dst []m3.Xform, agents []int) error {
	size := d.joints * poseLen
	for len(agents) > 0 {
		n := min(len(agents), d.n)
		d.copies = d.copies[:0]
		for _, a := range agents[:n] {
			d.copies = append(d.copies, webgpu.Copy{From: d.poses, At: int64(4 * a * size), Bytes: int64(4 * size)})
		}
		v, err := d.ask(d.copies...)
		if err != nil {
			return err
		}
		for i := range n * d.joints {
			p := v[i*poseLen:]
			dst[i] = m3.Xform{Pos: m3.V(p[0], p[1], p[2]), Rot: m3.Quat{X: p[4], Y: p[5], Z: p[6], W: p[7]}}
		}
		dst, agents = dst[n*d.joints:], agents[n:]
	}
	return nil
}
