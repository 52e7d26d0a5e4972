package resident

import (
	"errors"
	"fmt"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/netruntime/webgpu"
)

// VertexLen is the float32s of a skinned vertex: place, 0, normal, 0.
const VertexLen = 8

// Mesh is a mesh on the GPU, with memory for the skinned vertices of agents. Mesh.Close frees it, and so does Crowd.Close.
type Mesh struct {
	crowd    *Crowd
	vertices int
	most     int
	list     []float32
	data     *webgpu.Memory
	agents   *webgpu.Memory
	out      *webgpu.Memory
	bound    *webgpu.Bound
	results  *webgpu.Results
}

// NewMesh puts a level of a body on the GPU, for most agents at once. Options.Bind is to be the body's. It is an error without a GPU:
// renderers then skin by the bones, or by the processor.
func (c *Crowd) NewMesh(m *body.Mesh, most int) (*Mesh, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	switch {
	case c.gpu == nil:
		return nil, fmt.Errorf("resident: NewMesh: agents live on the processor: %w", webgpu.ErrLost)
	case m == nil || len(m.Pos) == 0 || len(m.Normal) != len(m.Pos) || len(m.Joints) != len(m.Pos) || len(m.Weights) != len(m.Pos):
		return nil, errors.New("resident: NewMesh: a mesh without vertices, or whose vertices lack normals, joints or weights")
	case most < 1 || most > c.Capacity():
		return nil, fmt.Errorf("resident: NewMesh: room for %d agents of a crowd of %d", most, c.Capacity())
	}
	data := []float32{float32(len(m.Pos))} // and of each vertex 16: place, normal, two that are not used, joints, weights
	for i, p := range m.Pos {
		n, j, w := m.Normal[i], m.Joints[i], m.Weights[i]
		for _, k := range j {
			if int(k) >= c.motion.skeleton().Len() {
				return nil, fmt.Errorf("resident: NewMesh: vertex %d hangs on joint %d of %d", i, k, c.motion.skeleton().Len())
			}
		}
		data = append(data, p.X, p.Y, p.Z, n.X, n.Y, n.Z, 0, 0, float32(j[0]), float32(j[1]), float32(j[2]), float32(j[3]), w[0], w[1], w[2], w[3])
	}
	var err error
	d, mesh := c.gpu, &Mesh{crowd: c, vertices: len(m.Pos), most: most, list: make([]float32, most)}
	size := int64(4 * most * mesh.vertices * VertexLen)
	mesh.data, err = d.work.Memory("resident mesh", int64(4*len(data)))
	if err == nil {
		err = d.work.Write(mesh.data, 0, webgpu.Bytes(data))
	}
	if err == nil {
		mesh.agents, err = d.work.Memory("resident list", int64(4*most))
	}
	if err == nil {
		mesh.out, err = d.work.Memory("resident vertices", size)
	}
	if err == nil {
		mesh.bound, err = d.work.Bind(d.tables, mesh.agents, d.rows, mesh.out, d.poses, d.matrices, mesh.data)
	}
	if err == nil {
		mesh.results, err = d.work.Results(size)
	}
	if err != nil {
		return nil, errors.Join(err, mesh.Close())
	}
	return mesh, nil
}

// Close frees the mesh, between ticks: Skin no longer takes it, and its memory is of no use. Closing twice is harmless.
func (m *Mesh) Close() error {
	if m == nil || m.crowd == nil {
		return nil
	}
	c := m.crowd
	m.crowd = nil
	if c.closed || c.gpu == nil {
		return nil
	}
	var err error
	if m.results != nil && m.results.Pending() {
		err = c.gpu.work.Read(nil, m.results)
	}
	if err == nil {
		err = c.gpu.work.Free([]*webgpu.Memory{m.data, m.agents, m.out}, []*webgpu.Bound{m.bound}, []*webgpu.Results{m.results})
	}
	if err != nil { // the processor takes over
		return c.lost()
	}
	return nil
}

// Skin writes the vertices of agents as of the last tick into the mesh's memory, (agents, vertices, VertexLen), and returns it: it stays on
// the GPU, for a renderer there. The memory is nil, with an error, once agents live on the processor.
func (c *Crowd) Skin(m *Mesh, agents ...int) (*webgpu.Memory, error) {
	if err := c.submit(m, agents, nil); err != nil {
		return nil, err
	}
	return m.out, nil
}

// SkinTo is Skin for the processor: it reads the places of the vertices into dst, (agents, vertices), growing it if it is too small, and
// returns it.
func (c *Crowd) SkinTo(dst []m3.Vec3, m *Mesh, agents ...int) ([]m3.Vec3, error) {
	if m == nil {
		return dst[:0], c.submit(m, agents, nil)
	}
	n := len(agents) * m.vertices
	if cap(dst) < n {
		dst = make([]m3.Vec3, n)
	}
	dst = dst[:n]
	v := make([]float32, n*VertexLen)
	if err := c.submit(m, agents, v); err != nil {
		return dst, err
	}
	for i := range dst {
		dst[i] = m3.V(v[i*VertexLen], v[i*VertexLen+1], v[i*VertexLen+2])
	}
	return dst, nil
}

// submit skins agents, and reads the vertices if to is not nil.
func (c *Crowd) submit(m *Mesh, agents []int, to []float32) error {
	if m == nil || m.crowd != c || len(agents) > m.most {
		return fmt.Errorf("resident: Skin: %d agents: the mesh is another crowd's, or closed, or has room for %d", len(agents), m.most)
	}
	for i, a := range agents {
		if err := c.has(a); err != nil {
			return err
		}
		m.list[i] = float32(a)
	}
	if err := c.settle(); err != nil {
		return err
	}
	if c.gpu == nil {
		return fmt.Errorf("resident: Skin: agents live on the processor: %w", webgpu.ErrLost)
	}
	if len(agents) == 0 {
		return nil
	}
	w := c.gpu.work
	var err error
	if m.results.Pending() {
		err = w.Read(nil, m.results)
	}
	if err == nil {
		err = w.Write(m.agents, 0, webgpu.Bytes(m.list[:len(agents)]))
	}
	if err == nil {
		launch := webgpu.Launch{Kernel: c.gpu.skin, Bound: m.bound, Groups: (m.vertices + 63) / 64, Layers: len(agents)}
		var copies []webgpu.Copy
		if to != nil {
			copies = []webgpu.Copy{{From: m.out, Bytes: int64(4 * len(to))}}
		}
		err = w.Submit([]webgpu.Launch{launch}, copies, m.results)
	}
	if err == nil && to != nil {
		err = w.Read(webgpu.Bytes(to), m.results)
	}
	if err != nil {
		if err := c.lost(); err != nil {
			return err
		}
	}
	return err
}

// Matrices returns the memory with the matrices of all agents as of the last tick, (capacity, joints, 12): the rows of a 3×4 matrix that
// takes a vertex of the mesh in bind pose to the world; nil once agents live on the processor. An agent has matrices from its first tick
// on. It stays the same memory. See webgpu.Work.Use for renderers.
func (c *Crowd) Matrices() *webgpu.Memory {
	if c.gpu == nil {
		return nil
	}
	return c.gpu.matrices
}
