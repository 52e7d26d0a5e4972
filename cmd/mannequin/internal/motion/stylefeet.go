package motion

import (
	"slices"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// feet locks standing feet, on flat ground. Contacts are found in the styled pose: its feet may
// stand at other times than the content's.
type feet struct {
	job ik.Legged
	out transforms
	sk  *skel.Skeleton

	toes         [2]int
	model        []m3.Xform // of the flat pose
	seen         bool
	last         [2]m3.Vec3 // of its toes
	slide, speed m3.Vec3    // eased velocity of standing feet over the ground, m/s, and its change
	moved        m3.Vec3    // the way that the person is moved for them, m
	depth        [2]float32 // how far its feet stand in the ground at most, now or in the last stance, m
	rise, rising float32    // how far the person is raised for that, eased, m, and its change
}

// newFeet returns a lock for motion of db.
func newFeet(db *mar.Database) (*feet, error) {
	sk := db.Skeleton()
	rig, err := ik.NewHumanRig(sk.Names, sk.Parents)
	if err != nil {
		return nil, err
	}
	f := &feet{job: ik.DefaultHuman(), out: newTransforms(sk.Len()), sk: sk, toes: toesOf(sk), model: make([]m3.Xform, sk.Len())}
	f.job.Rig = rig
	f.job.Sole = max(toesOfDatabase(db)-0.004, 0)
	// The style says how high the hips are. They give way a little, slowly, to straight legs.
	f.job.MaxDrop, f.job.Sink = 0.03, 0.2
	// Styled feet slide before they are held, come down and leave at other speeds than recorded ones, and roll.
	f.job.Lock.On, f.job.Lock.Off, f.job.Lock.Roll = 1.2, 1.1, 0.4
	f.job.Lock.Halflife, f.job.Lock.Press = 0.12, 0.07
	n, legs := sk.Len(), len(rig.Roles.Legs)
	f.job.Ground, f.job.DT = ik.Level(0), 1/db.FPS
	f.job.Pos, f.job.Rot, f.job.Model = make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	f.job.Feet, f.job.Body = make([]ik.Foot, legs), make([]ik.Body, 1)
	return f, f.job.Validate()
}

// hold returns the pose with standing feet locked.
func (f *feet) hold(pos []m3.Vec3, rot []m3.Quat) ([]m3.Vec3, []m3.Quat) {
	copy(f.job.Pos, pos)
	copy(f.job.Rot, rot)
	f.follow()
	f.job.Run(0, 1)
	copy(f.out.pos, f.sk.Offsets)
	for j, p := range f.sk.Parents {
		x := f.job.Model[j]
		if p < 0 {
			f.out.pos[j], f.out.rot[j] = x.Pos, x.Rot
			continue
		}
		f.out.rot[j] = f.job.Model[p].Rot.Conj().Mul(x.Rot).Normalize()
	}
	return f.out.pos, f.out.rot
}

// followHalflife is the half-life in which the person takes up the speed of standing feet, s.
const followHalflife = 0.2

// depthHalflife is the half-life in which a standing foot forgets how deep it was, s.
const depthHalflife = 0.5

// follow moves the person as standing feet would have it. The lock then has less to correct.
func (f *feet) follow() {
	f.sk.LocalToModel(f.model, f.job.Pos, f.job.Rot)
	var slide m3.Vec3
	var n float32
	for i, j := range f.toes {
		at := f.model[j].Pos.Flat()
		if f.seen && f.job.Feet[i].Contact() {
			slide = slide.Add(at.Sub(f.last[i]).Scale(1 / f.job.DT))
			f.depth[i] = max(m3.DampTo(f.depth[i], 0, depthHalflife, f.job.DT), f.job.Sole-f.model[j].Pos.Y)
			n++
		}
		f.last[i] = at
	}
	f.seen = true
	if n > 0 {
		f.slide, f.speed = m3.SpringVec(f.slide, f.speed, slide.Scale(1/n), followHalflife, f.job.DT)
	}
	f.rise, f.rising = m3.Spring(f.rise, f.rising, max(f.depth[0], f.depth[1]), followHalflife, f.job.DT)
	f.moved = f.moved.Sub(f.slide.Scale(f.job.DT))
	f.job.Pos[0] = f.job.Pos[0].Add(f.moved).Add(m3.V(0, f.rise, 0))
}

func toesOf(sk *skel.Skeleton) [2]int {
	return [2]int{sk.Index("LeftToeBase"), sk.Index("RightToeBase")}
}

// standingShare is the share of the frames in which the lower toe is below its standing height: the
// toes of runners stand in few frames, and marker noise makes some too low.
const standingShare = 0.1

// standingHeight returns the height of standing toes in a motion, in its unit.
func standingHeight(sk *skel.Skeleton, frames int, pose func(f int) ([]m3.Vec3, []m3.Quat)) float32 {
	toes := toesOf(sk)
	if toes[0] < 0 || toes[1] < 0 || frames == 0 {
		return 0
	}
	low, model := make([]float32, frames), make([]m3.Xform, sk.Len())
	for f := range low {
		pos, rot := pose(f)
		sk.LocalToModel(model, pos, rot)
		low[f] = min(model[toes[0]].Pos.Y, model[toes[1]].Pos.Y)
	}
	slices.Sort(low)
	return low[int(standingShare*float64(frames))]
}

// toesOfDatabase returns the height of standing toes in db, m.
func toesOfDatabase(db *mar.Database) float32 {
	const every = 20 // frames
	x := newTransforms(db.Skeleton().Len())
	return standingHeight(db.Skeleton(), (db.Frames()+every-1)/every, func(f int) ([]m3.Vec3, []m3.Quat) {
		db.Pose(x.pos, x.rot, db.Row(f*every))
		return x.pos, x.rot
	})
}

// levelGround is how far from 0 the height of a recording's ground counts as 0, m.
const levelGround = 0.05

// floorOf returns the height of the ground under a recording in metres per unit scale, m: its toes
// stand as high over it as db's.
func floorOf(clip *skel.Clip, scale float64, db *mar.Database) float32 {
	toes := standingHeight(clip.Skel, clip.Frames, clip.Frame)
	if h := float32(scale)*toes - toesOfDatabase(db); m3.Abs(h) > levelGround {
		return h
	}
	return 0
}
