package animsys

import (
	"fmt"

	"mannequin/animsys/blend"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Bodies are the bodies of agents that share a skeleton, one row each: the poses
// that a controller makes, and what the tick's later stages make of them. Crowd,
// People, Strollers, Wanderers and Performers have them.
type Bodies struct {
	Rows    *ecs.Rows
	Skel    *skel.Skeleton
	Terrain *terrain.Field
	Roots   []m3.Xform // (rows) where each agent stands on flat ground, +Z ahead

	Pos      []m3.Vec3 // (rows, joints) the blended pose's local translations, the root's in the world
	Rot      []m3.Quat // (rows, joints) its local rotations, likewise
	Inertial *blend.Inertial
	Ground   ik.Legged

	last, now []m3.Xform // (rows, joints) published poses, world space
	aims      *aims      // nil where the skeleton has no head that is known
	fresh     []bool     // (rows) the agent was placed elsewhere: last is no pose to come from
	pacing
	joints int
	world  *arche.World
	pool   *netruntime.Pool
	closed bool
}

// cast is the resource that lists all bodies of a world.
type cast struct{ all []*Bodies }

// open makes room for n agents, with the ground solver as it is but for its
// buffers.
func (b *Bodies) open(w *arche.World, sk *skel.Skeleton, field *terrain.Field, ground ik.Legged, roles ik.Roles, n, workers int) error {
	tree, err := ik.NewTree(sk.Parents)
	if err != nil {
		return err
	}
	rig, err := ik.NewRig(tree, roles)
	if err != nil {
		return err
	}
	joints := sk.Len()
	*b = Bodies{
		Rows: ecs.NewRows(w, n), Skel: sk, Terrain: field, Roots: make([]m3.Xform, n),
		Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints), Inertial: blend.NewInertial(n, sk.Parents), Ground: ground,
		pacing: pacing{rates: make([]rated, n)},
		last:   make([]m3.Xform, n*joints), now: make([]m3.Xform, n*joints), fresh: make([]bool, n), joints: joints, world: w,
	}
	b.Ground.Rig, b.Ground.Ground, b.Ground.DT = rig, field, 1.0/mann.Rate
	b.Ground.Pos, b.Ground.Rot, b.Ground.Model = b.Pos, b.Rot, make([]m3.Xform, n*joints)
	b.Ground.Feet, b.Ground.Body = make([]ik.Foot, n*len(roles.Legs)), make([]ik.Body, n)
	if err := b.Ground.Validate(); err != nil {
		return err
	}
	b.aims = newAims(sk, tree, n)
	b.pool = netruntime.NewPool(min(workers, n/grain+1))
	return nil
}

// enlist has the systems find b.
func (b *Bodies) enlist() {
	res := generic.NewResource[cast](b.world)
	if !res.Has() {
		res.Add(&cast{})
	}
	list := res.Get()
	list.all = append(list.all, b)
}

// stage checks what all bodies need, and that the systems will find them.
func stage(w *arche.World, capacity int, field *terrain.Field) error {
	if schedule := generic.NewResource[ecs.Clock](w); schedule.Has() {
		return fmt.Errorf("animsys: the world has a schedule already, whose systems look for agents when they start: make crowd, people, strollers, wanderers and performers before ecs.NewSchedule")
	}
	if capacity < 1 {
		return fmt.Errorf("animsys: a capacity of %d agents: want at least 1", capacity)
	}
	if field == nil {
		return fmt.Errorf("animsys: Options.Terrain is missing")
	}
	return field.Validate()
}

// close ends the workers, once. The systems pass closed bodies by.
func (b *Bodies) close() (first bool) {
	if b.closed {
		return false
	}
	b.closed = true
	b.pool.Close()
	return true
}

// add gives e, a new entity, a row and has begin put it there. Its bones stand
// there at once.
func (b *Bodies) add(e arche.Entity, begin func(row int)) error {
	row, err := b.Rows.Add(e)
	if err != nil {
		b.world.RemoveEntity(e)
		return err
	}
	b.start(row)
	begin(row)
	b.Inertial.Reset(row)
	b.forget(row)
	b.aims.forget(row)
	b.Ground.Run(row, row+1)
	b.forget(row)
	b.fresh[row] = false
	copy(b.Bones(row), b.Ground.Model[row*b.joints:])
	copy(b.last[row*b.joints:(row+1)*b.joints], b.Bones(row))
	return nil
}

// remove takes e and its row away, and moves the last row there.
func (b *Bodies) remove(e arche.Entity) (row, last int, err error) {
	if row, last, err = b.Rows.Remove(e); err != nil {
		return 0, 0, err
	}
	b.world.RemoveEntity(e)
	if row == last {
		return row, last, nil
	}
	b.Inertial.Copy(row, last)
	b.aims.copy(row, last)
	n, legs := b.joints, b.legs()
	copy(b.Ground.Feet[row*legs:(row+1)*legs], b.Ground.Feet[last*legs:])
	b.Ground.Body[row] = b.Ground.Body[last]
	copy(b.last[row*n:(row+1)*n], b.last[last*n:])
	copy(b.now[row*n:(row+1)*n], b.now[last*n:])
	copy(b.Ground.Model[row*n:(row+1)*n], b.Ground.Model[last*n:(last+1)*n])
	b.Roots[row], b.fresh[row], b.rates[row] = b.Roots[last], b.fresh[last], b.rates[last]
	return row, last, nil
}

// moved tells that row stands elsewhere now. It keeps its posture, which eases
// into the new one.
func (b *Bodies) moved(row int) {
	b.Inertial.Jump(row)
	b.forget(row)
	b.fresh[row], b.rates[row].left = true, 0
	b.rates[row].rate = min(b.rates[row].rate, Full) // a lower one waits for its turn
}

// canSpawn says why nobody can come into the world at pos.
func (b *Bodies) canSpawn(pos m3.Vec3, yaw float32) error {
	if b.world.IsLocked() {
		return fmt.Errorf("animsys: cannot spawn within a query: do it between ticks")
	}
	return placeable(pos, yaw)
}

// row returns the row of e, who is to be placed at pos.
func (b *Bodies) row(e arche.Entity, pos m3.Vec3, yaw float32) (int, error) {
	row, ok := b.Rows.Row(e)
	if !ok {
		return 0, fmt.Errorf("animsys: entity %v is not among these agents", e)
	}
	return row, placeable(pos, yaw)
}

// rolesOf returns the roles that are given, or those that find tells from joints.
func rolesOf(given *ik.Roles, sk *skel.Skeleton, find func(names []string) (ik.Roles, error)) (ik.Roles, error) {
	if given != nil {
		return *given, nil
	}
	return find(sk.Names)
}

// contactsOf returns the joints in which legs end, and the contact of each among the
// layout's.
func contactsOf(l *feature.Motion, sk *skel.Skeleton, roles ik.Roles) (tips []int, contacts []uint8, err error) {
	for _, leg := range roles.Legs {
		tip := int(leg[len(leg)-1])
		c := l.ContactOf(sk.Names[tip])
		if c < 0 {
			return nil, nil, fmt.Errorf("animsys: a leg ends in %q, of which the model has no contact", sk.Names[tip])
		}
		tips, contacts = append(tips, tip), append(contacts, uint8(c))
	}
	return tips, contacts, nil
}

// stand tells where row is on flat ground, and which legs stand: those whose contact,
// of contacts, stands has a bit for.
func (b *Bodies) stand(row int, at feature.Place, stands uint8, contacts []uint8) {
	b.Roots[row] = m3.Xform{Pos: at.Pos, Rot: m3.YawQuat(at.Yaw)}
	for i, c := range contacts {
		b.Ground.Contacts[row*len(contacts)+i] = stands>>c&1 == 1
	}
}

func placeable(pos m3.Vec3, yaw float32) error {
	if !pos.Finite() || !m3.Finite(yaw) || max(m3.Abs(pos.X), m3.Abs(pos.Z)) >= mann.Farthest {
		return fmt.Errorf("animsys: nobody can stand at %v with heading %g: want finite numbers, at most %g m from the origin", pos, yaw, mann.Farthest)
	}
	return nil
}

func (b *Bodies) legs() int { return len(b.Ground.Rig.Roles.Legs) }

// forget clears what the ground solver remembers of row's feet.
func (b *Bodies) forget(row int) {
	clear(b.Ground.Feet[row*b.legs() : (row+1)*b.legs()])
	b.Ground.Body[row] = ik.Body{}
}

// Agents returns the number of agents.
func (b *Bodies) Agents() int { return b.Rows.Len() }

// Bones returns the world transforms of all joints of row as of the last tick or
// its spawning, grounded; they alias the bodies and change with the next tick.
func (b *Bodies) Bones(row int) []m3.Xform { return b.now[row*b.joints : (row+1)*b.joints] }

// Published returns the poses of the tick before the last and of the last, (capacity,
// joints) each, world space. They alias the bodies, for good. For who was placed
// elsewhere in the last tick both are the same.
func (b *Bodies) Published() (last, now []m3.Xform) { return b.last, b.now }

// Interpolate writes all agents' joints a fraction alpha in [0, 1] of the way
// from the tick before the last to the last into dst, (agents, joints), growing
// it where it is too small, and returns it. Joints turn on the way and hips go
// straight; bones keep their lengths.
func (b *Bodies) Interpolate(dst []m3.Xform, alpha float32) []m3.Xform {
	n := b.Rows.Len() * b.joints
	if cap(dst) < n {
		dst = make([]m3.Xform, n)
	}
	dst = dst[:n]
	for o := 0; o < n; o += b.joints {
		b.Skel.Interpolate(dst[o:o+b.joints], b.last[o:o+b.joints], b.now[o:o+b.joints], alpha)
	}
	return dst
}
