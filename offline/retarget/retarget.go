package retarget

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
)

const (
	// shortBone is the length below which a bone turns its joint only a little, m.
	shortBone = 0.08
	stiff     = 100
	// rigid is the stiffness of a pelvis that keeps its copied angles: it moves as the source's.
	rigid = 1e4
)

// Retargeter puts one clip onto another skeleton.
type Retargeter struct {
	Source  *skel.Clip     // the motion, in any unit and at any rate; required
	Rest    []m3.Quat      // local rotations of its joints at rest; nil: none is turned
	Profile *Profile       // maps its joints to Target's; required
	Target  *skel.Skeleton // in metres; nil: Human()

	Iterations int     // of the solver, per frame; at least 1
	Damping    float32 // of the solver, m²/rad²: see ik.FullBody

	// Near and Far are mean distances over the clip, from a joint with copied angles to its
	// position in the scaled source, m. Up to Near the joint is pulled all the way there,
	// beyond Far not at all, in between in part. Legs are always pulled all the way.
	Near, Far float32

	Workers int // goroutines; 0: one per processor. The result has the same bits for any number

	formatUp string // the axis that files of the source's format have up, y or empty
}

// Default returns a Retargeter with the usual settings. The caller sets Source and Profile.
func Default() Retargeter {
	return Retargeter{Iterations: 12, Damping: 1e-3, Near: 0.05, Far: 0.08}
}

// Validate reports the first field that makes the job unusable.
func (r *Retargeter) Validate() error {
	switch {
	case r.Source == nil || r.Source.Skel == nil:
		return errors.New("retarget: Source is missing")
	case r.Profile == nil:
		return errors.New("retarget: Profile is missing")
	case r.Iterations < 1:
		return fmt.Errorf("retarget: Iterations is %d, want at least 1", r.Iterations)
	case !(r.Damping > 0) || !m3.Finite(r.Damping):
		return fmt.Errorf("retarget: Damping is %g m²/rad², want a positive number", r.Damping)
	case !(r.Near >= 0 && r.Far > r.Near):
		return fmt.Errorf("retarget: Near is %g m and Far %g m, want 0 or more, and more than that", r.Near, r.Far)
	case r.Workers < 0:
		return fmt.Errorf("retarget: Workers is %d, want 0 or more", r.Workers)
	}
	if err := r.Source.Skel.Validate(); err != nil {
		return fmt.Errorf("retarget: Source: %w", err)
	}
	c := r.Source
	if n := c.Skel.Len() * c.Frames; len(c.Pos) != n || len(c.Rot) != n || !(c.FPS > 0) {
		return fmt.Errorf("retarget: Source has %d translations and %d rotations for %d frames × %d joints, at %g frames per second", len(c.Pos), len(c.Rot), c.Frames, c.Skel.Len(), c.FPS)
	}
	if len(r.Rest) != 0 && len(r.Rest) != c.Skel.Len() {
		return fmt.Errorf("retarget: Rest has %d rotations for %d joints", len(r.Rest), c.Skel.Len())
	}
	if r.Target != nil {
		if err := r.Target.Validate(); err != nil {
			return fmt.Errorf("retarget: Target: %w", err)
		}
	}
	if err := r.Profile.Validate(); err != nil {
		return fmt.Errorf("retarget: Profile: %w", err)
	}
	return nil
}

// work is a run of a Retargeter.
type work struct {
	*binding
	job    *Retargeter
	tree   *ik.Tree
	clip   *skel.Clip // source, without frames that show the rest pose
	out    *skel.Clip
	scale  float32
	world  m3.Quat   // from the source's axes to those with y up
	up     string    // the source's axis that points up
	ahead  string    // the one nearest to where the person faces in the first frame
	mirror bool      // the source is the mirror image of the job's
	basis  string    // of the alignments: framesRest and its like
	joints []int     // of target, with a position in the source
	legs   []int     // indices into joints of those in a leg
	goals  []m3.Vec3 // (frames, joints) their positions in the scaled source
}

// Run returns the motion on the target skeleton, in metres at the source's rate, and a
// report on the fit. It returns an error for a source without frames or with transforms
// that are not finite, and for a profile that does not fit the skeletons.
func (r *Retargeter) Run() (*skel.Clip, *Report, error) {
	if err := r.Validate(); err != nil {
		return nil, nil, err
	}
	target := r.Target
	if target == nil {
		target = Human()
	}
	w := &work{job: r, world: m3.Ident}
	var err error
	if w.tree, err = ik.NewTree(target.Parents); err != nil {
		return nil, nil, fmt.Errorf("retarget: Target: %w", err)
	}
	skip, err := w.prepare(r.Source, r.Rest, target)
	if err != nil {
		return nil, nil, fmt.Errorf("retarget: %w", err)
	}
	if w.scale, err = w.findScale(); err != nil {
		return nil, nil, fmt.Errorf("retarget: %w", err)
	}
	for j := range target.Len() {
		if w.place[j] {
			if w.isLeg(j) {
				w.legs = append(w.legs, len(w.joints))
			}
			w.joints = append(w.joints, j)
		}
	}
	p := netruntime.NewPool(cmp.Or(r.Workers, runtime.GOMAXPROCS(0)))
	defer p.Close()
	w.copyAngles(p)
	copied := w.errors()
	pull := w.pulls(copied)
	if err := w.reach(p, pull); err != nil {
		return nil, nil, fmt.Errorf("retarget: %w", err)
	}
	if err := w.handsDown(p); err != nil {
		return nil, nil, fmt.Errorf("retarget: %w", err)
	}
	w.smoothSigns()
	return w.out, w.report(meanOf(copied), pull, skip), nil
}

// prepare pairs the joints of src and target, chooses the frames, and finds how the source stands.
func (w *work) prepare(src *skel.Clip, rest []m3.Quat, target *skel.Skeleton) (skipped int, err error) {
	p := w.job.Profile
	if w.binding, err = bind(p, src.Skel, target); err != nil {
		return 0, err
	}
	if skipped, err = w.takeFrames(src); err != nil {
		return 0, err
	}
	if rest != nil && len(p.Axes) == 0 {
		w.pose(rest)
	}
	if !w.mirror && len(p.Axes) == 0 && w.isMirrored() {
		w.mirror = true
		return w.prepare(mirrored(src), mirroredAll(rest), target)
	}
	if w.up = p.Up; w.up == "" {
		w.up = w.findUp()
		// A format that has y up is believed if somebody lies, but not against rest pose and motion together.
		if axis, _, _ := mocap.UpAxis(w.up); w.job.formatUp == "y" && !(w.restUp().Dot(axis) > mostUp) {
			w.up = "y"
		}
	}
	w.ahead = w.findAhead()
	_, w.world, _ = mocap.UpAxis(w.up)
	w.basis = w.findFrames()
	return skipped, nil
}

// takeFrames leaves out frames of c at the start that show the rest pose, and checks the others.
func (w *work) takeFrames(c *skel.Clip) (skipped int, err error) {
	n := c.Skel.Len()
	if c.Frames == 0 {
		return 0, errors.New("the clip has no frames")
	}
	hips := w.from[w.target.Index("Hips")]
	still := func(f int) bool { return c.Rot[f*n+hips].Angle(m3.Ident) < 1e-4 }
	for skipped < min(w.job.Profile.RestFrames, c.Frames-1) && still(skipped) {
		skipped++
	}
	if still(skipped) {
		skipped = 0 // hips that do not turn at all are no sign of a rest pose
	}
	w.clip = c.Section(skipped, c.Frames)
	if i := notFinite(w.clip); i >= 0 {
		return 0, fmt.Errorf("frame %d, joint %s: a transform is not finite", skipped+i/n, c.Skel.Names[i%n])
	}
	return skipped, nil
}

// notFinite returns the index of the first transform of c that is not finite, or −1.
func notFinite(c *skel.Clip) int {
	for i := range c.Pos {
		if !c.Pos[i].Finite() || !c.Rot[i].Finite() {
			return i
		}
	}
	return -1
}

func (b *binding) findScale() (float32, error) {
	to, at, none := b.legs()
	if none != "" {
		return 0, fmt.Errorf("the bone to %s has no length: legs give the scale", none)
	}
	return to / at, nil
}

// isLeg reports whether joint j of the target is a hip or below one.
func (b *binding) isLeg(j int) bool { return b.below(j, "UpLeg") }

// isFoot reports whether joint j of the target is an ankle or below one.
func (b *binding) isFoot(j int) bool { return b.below(j, "Foot") }

// below reports whether joint j of the target is the left or right joint name, or below it.
func (b *binding) below(j int, name string) bool {
	left, right := b.target.Index("Left"+name), b.target.Index("Right"+name)
	for ; j >= 0; j = int(b.target.Parents[j]) {
		if j == left || j == right {
			return true
		}
	}
	return false
}

// model writes the source's transforms of frame f, in its unit, with y up.
func (w *work) model(dst []m3.Xform, f int) {
	pos, rot := w.clip.Frame(f)
	for j, p := range w.clip.Skel.Parents {
		x := m3.Xform{Pos: pos[j], Rot: rot[j].Normalize()}
		if p < 0 {
			dst[j] = m3.Xform{Pos: w.world.Rotate(x.Pos), Rot: w.world.Mul(x.Rot)}
			continue
		}
		if w.collapsed[int(p)] {
			x.Pos = m3.Vec3{}
		}
		dst[j] = dst[p].Mul(x)
	}
}

// copyAngles fills out with the source's rotations, and goals with the positions of all
// joints. It moves the roots so that the legs are nearest to their goals.
func (w *work) copyAngles(p *netruntime.Pool) {
	n, k := w.target.Len(), len(w.joints)
	w.out = skel.NewClip(w.target, w.clip.FPS, w.clip.Frames)
	w.goals = make([]m3.Vec3, w.clip.Frames*k)
	type scratch struct{ source, target []m3.Xform }
	mem := make([]scratch, p.Workers())
	for i := range mem {
		mem[i] = scratch{make([]m3.Xform, w.source.Len()), make([]m3.Xform, n)}
	}
	p.Run(w.clip.Frames, func(worker, f int) {
		from, world := mem[worker].source, mem[worker].target
		w.model(from, f)
		_, rot := w.out.Frame(f)
		for j, parent := range w.target.Parents {
			up := m3.Ident
			if parent >= 0 {
				up = world[parent].Rot
			}
			if s := w.from[j]; s >= 0 && !w.target.EndSite[j] {
				rot[j] = up.Conj().Mul(from[s].Rot.Mul(w.align[j])).Normalize()
			}
			world[j].Rot = up.Mul(rot[j])
		}
		for i, j := range w.joints {
			w.goals[f*k+i] = from[w.from[j]].Pos.Scale(w.scale)
		}
	})
	w.underHips()
	w.ontoGround()
	p.Run(w.clip.Frames, func(worker, f int) {
		model, goals := mem[worker].target, w.goals[f*k:(f+1)*k]
		w.out.Model(model, f)
		var off m3.Vec3
		for _, i := range w.legs {
			off = off.Add(goals[i].Sub(model[w.joints[i]].Pos).Scale(1 / float32(len(w.legs))))
		}
		pos, _ := w.out.Frame(f)
		for j, parent := range w.target.Parents {
			if parent < 0 {
				pos[j] = pos[j].Add(off)
			}
		}
	})
}

// reach moves the joints toward their goals, by pull.
func (w *work) reach(p *netruntime.Pool, pull []float32) error {
	k := len(w.joints)
	job := ik.DefaultFullBody()
	job.Tree, job.Joints = w.tree, w.joints
	job.Iterations, job.Damping = w.job.Iterations, w.job.Damping
	job.Tolerance = 1e-5
	job.Pos, job.Rot = w.out.Pos, w.out.Rot
	job.Targets = make([]m3.Vec3, len(w.goals))
	for i, j := range w.joints {
		weight := float32(1)
		switch p := w.target.Parents[j]; {
		case w.isFoot(j):
			weight = 4
		case p >= 0 && w.target.Offsets[j].Len() < shortBone:
			weight = 0.1
		}
		job.Weights = append(job.Weights, weight*pull[i])
	}
	job.Stiffness = w.stiffness()
	if err := job.Validate(); err != nil {
		return err
	}
	mem := newRoom(&job, p.Workers())
	p.Run(w.out.Frames, func(worker, f int) {
		s := mem[worker]
		w.out.Model(s.fk, f)
		goals := w.goals[f*k : (f+1)*k]
		var along m3.Vec3
		if w.otherTrunk() {
			along = w.trunkLine(goals)
		}
		for i, j := range w.joints {
			by := goals[i].Sub(s.fk[j].Pos)
			if w.onTrunk(j) {
				by = by.Sub(along.Scale(by.Dot(along)))
			}
			job.Targets[f*k+i] = s.fk[j].Pos.Add(by.Scale(pull[i]))
		}
		job.Run(s.body, f, f+1)
	})
	return nil
}

// room is memory for a worker.
type room struct {
	fk   []m3.Xform // (joints)
	body *ik.FullBodyScratch
}

func newRoom(job *ik.FullBody, workers int) (out []room) {
	for range workers {
		out = append(out, room{make([]m3.Xform, job.Tree.Len()), job.NewScratch()})
	}
	return out
}

// trunkLine returns the direction from the legs to the highest joint of the trunk in a frame's goals; zero without.
func (w *work) trunkLine(goals []m3.Vec3) m3.Vec3 {
	_, up, ok := w.body(func(source int) m3.Vec3 {
		for i, j := range w.joints {
			if w.from[j] == source {
				return goals[i]
			}
		}
		return m3.Vec3{}
	})
	if !ok {
		return m3.Vec3{}
	}
	return up
}

// onTrunk reports whether joint j of the target is a joint of the trunk, or where arms begin. A trunk of another length
// that is pulled along itself would buckle.
func (w *work) onTrunk(j int) bool {
	return slices.Contains([]string{"Neck1", "Head", "LeftArm", "RightArm"}, w.target.Names[j])
}

// stiffness returns the joints' stiffness. A joint with only short bones, such as a hand,
// would otherwise turn wildly to correct small errors of the joints above it.
func (w *work) stiffness() []float32 {
	out := make([]float32, w.target.Len())
	far := make([]float32, w.target.Len())
	for _, k := range w.joints {
		for j := int(w.target.Parents[k]); j >= 0; j = int(w.target.Parents[j]) {
			far[j] = max(far[j], w.to[k].Dist(w.to[j]))
		}
	}
	for j := range out {
		if out[j] = 1; far[j] < shortBone {
			out[j] = stiff
		}
	}
	if w.otherTrunk() {
		out[w.target.Index("Hips")] = rigid
	}
	return out
}

// pulls returns each joint's share of the way from copied angles to its goal, 0 to 1.
func (w *work) pulls(copied []JointError) []float32 {
	pull := make([]float32, len(w.joints))
	for i, e := range copied {
		pull[i] = m3.Clamp((w.job.Far-float32(e.MeanCM))/(w.job.Far-w.job.Near), 0, 1)
	}
	for i, j := range w.joints {
		if w.otherTrunk() && slices.Contains([]string{"Spine", "Spine1", "LeftArm", "RightArm"}, w.target.Names[j]) {
			pull[i] = 0 // other spines bend elsewhere
		}
	}
	for _, i := range w.legs {
		pull[i] = 1
	}
	return pull
}

// smoothSigns gives each joint's quaternions the signs that change least over time.
func (w *work) smoothSigns() {
	n := w.target.Len()
	for i := n; i < len(w.out.Rot); i++ {
		if w.out.Rot[i].Dot(w.out.Rot[i-n]) < 0 {
			w.out.Rot[i] = w.out.Rot[i].Neg()
		}
	}
}

// metres returns the length of the source's unit: the profile's, or a guess if that makes the
// legs less than half or more than twice as long as the target's.
func (w *work) metres() float64 {
	if m := w.job.Profile.MetresPerUnit; m > 0 && math.Abs(math.Log2(float64(w.scale)/m)) < 1 {
		return m
	}
	return mocap.Summarize(&skel.Clip{Skel: w.source, FPS: 1}).Unit.Metres
}
