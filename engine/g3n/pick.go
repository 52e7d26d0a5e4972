package g3n

import (
	"math"

	"github.com/g3n/engine/math32"

	"mannequin/engine/m3"
)

// Hit is where a ray meets an agent.
type Hit struct {
	Agent    int
	Joint    int // the one that moves the triangle most
	Point    math32.Vector3
	Distance float32 // from the ray's origin, in lengths of its direction
}

// Raycast returns the first agent that a ray in the world meets: the one under the mouse, if a
// collision.Raycaster's SetFromCamera has set the ray. It tests the triangles of the coarsest level
// of detail, of agents that are not hidden, wherever the camera looks.
func (c *Crowd) Raycast(ray *math32.Ray) (hit Hit, ok bool) {
	if c.all == nil {
		return hit, false
	}
	c.UpdateMatrixWorld()
	world := c.MatrixWorld()
	var back math32.Matrix4
	if back.GetInverse(&world) != nil {
		return hit, false
	}
	at := func(v math32.Vector3, w float32) m3.Vec3 {
		u := math32.Vector4{X: v.X, Y: v.Y, Z: v.Z, W: w}
		u.ApplyMatrix4(&back)
		return m3.V(u.X, u.Y, u.Z)
	}
	from, along := at(ray.Origin(), 1), at(ray.Direction(), 0)
	if !from.Finite() || !along.Finite() || along.Len() == 0 {
		return hit, false
	}
	b := c.all.Body
	last := len(b.Levels) - 1
	mesh := &b.Levels[last]
	hit.Distance = float32(math.Inf(1))
	var places []m3.Vec3
	for i, p := range c.all.Centres {
		if c.all.OnGPU() || c.hidden[i] || !p.Finite() || missesBall(from, along, p, b.Size) {
			continue
		}
		places = c.all.Skin(places[:0], i, last)
		for k := 0; k+2 < len(mesh.Index); k += 3 {
			v := mesh.Index[k : k+3]
			if t, met := meets(from, along, places[v[0]], places[v[1]], places[v[2]]); met && t < hit.Distance {
				hit.Agent, hit.Joint, hit.Distance, ok = i, int(mesh.Joints[v[0]][0]), t, true
			}
		}
	}
	if !ok {
		return Hit{}, false
	}
	o, d := ray.Origin(), ray.Direction()
	hit.Point = *o.Add(d.MultiplyScalar(hit.Distance))
	return hit, true
}

// missesBall reports whether a ray misses a ball.
func missesBall(from, along, centre m3.Vec3, radius float32) bool {
	to := centre.Sub(from)
	t := max(to.Dot(along)/along.Dot(along), 0)
	return from.Add(along.Scale(t)).Dist(centre) > radius
}

// meets returns where a ray meets a triangle, in lengths of along (Möller and Trumbore 1997).
func meets(from, along, a, b, c m3.Vec3) (t float32, ok bool) {
	ab, ac := b.Sub(a), c.Sub(a)
	p := along.Cross(ac)
	det := ab.Dot(p)
	if m3.Abs(det) < 1e-12 {
		return 0, false
	}
	s := from.Sub(a)
	u := s.Dot(p) / det
	q := s.Cross(ab)
	v := along.Dot(q) / det
	t = ac.Dot(q) / det
	return t, u >= 0 && v >= 0 && u+v <= 1 && t >= 0
}

// AgentBox returns the box around an agent, in the world. ok is false without such an agent.
func (c *Crowd) AgentBox(agent int) (box math32.Box3, ok bool) {
	box.MakeEmpty()
	if c.all == nil || agent < 0 || agent >= c.Agents() || !c.all.Centres[agent].Finite() {
		return box, false
	}
	c.UpdateMatrixWorld()
	world := c.MatrixWorld()
	var places []m3.Vec3
	if c.all.OnGPU() {
		r, p := c.all.Body.Size, c.all.Centres[agent]
		places = append(places, p.Sub(m3.V(r, r, r)), p.Add(m3.V(r, r, r)))
	} else {
		places = c.all.Skin(nil, agent, len(c.all.Body.Levels)-1)
	}
	for _, p := range places {
		v := math32.Vector3{X: p.X, Y: p.Y, Z: p.Z}
		v.ApplyMatrix4(&world)
		box.ExpandByPoint(&v)
	}
	return box, true
}
