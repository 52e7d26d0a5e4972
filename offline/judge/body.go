package judge

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// Rate is the rate of all motions, frames per second.
const Rate = 60

// Motion is the motion of one person on the uniform skeleton, at Rate, in world space.
type Motion struct {
	Name string
	Clip *skel.Clip
}

// Shortest is the least number of frames of a motion: the kinds of frames need a second around them.
const Shortest = Rate

// Open reads a motion of any format. One on the uniform skeleton is taken as it is. Others are put
// onto it.
func Open(path string, read retarget.Reading) (*Motion, error) {
	clip, err := open(path, read)
	if err != nil {
		return nil, err
	}
	m := &Motion{Name: path, Clip: clip.Resampled(Rate)}
	if m.Clip.Frames < Shortest {
		return nil, fmt.Errorf("%s: %.2f s are too short, want at least 1 s", path, m.Clip.Seconds())
	}
	return m, nil
}

// The joints that the measures use by name.
var (
	human   = retarget.Human()
	hips    = human.Index("Hips")
	chest   = human.Index("Spine1")
	neck    = human.Index("Neck1")
	thigh   = sides("UpLeg")
	knee    = sides("Leg")
	ankle   = sides("Foot")
	toe     = sides("ToeBase")
	arm     = sides("Arm")
	elbow   = sides("ForeArm")
	hand    = sides("Hand")
	members = map[string][]int{
		"trunk": indices("Hips", "Spine", "Spine1"), "head": indices("Neck1", "Head"),
		"arms": append(append(arm[:], elbow[:]...), hand[:]...), "legs": append(thigh[:], knee[:]...),
		"feet": append(ankle[:], toe[:]...), "hands": hand[:], "hips": {hips},
	}
	// joints are those with places of their own.
	joints = slices.Concat(members["trunk"], members["head"], members["arms"], members["legs"], members["feet"])
)

func sides(name string) [2]int {
	return [2]int{human.Index("Left" + name), human.Index("Right" + name)}
}

func indices(names ...string) (out []int) {
	for _, n := range names {
		out = append(out, human.Index(n))
	}
	return out
}

// body is a motion with what the measures are made of. Slices have an entry per frame. Aside is to
// the body's left.
type body struct {
	n     int
	at    [][]m3.Vec3 // (joints, frames) places in the world, m
	speed []float64   // of the hips over the ground, over the second around, m/s
	away  []float64   // angle between the way of the hips and the facing, degrees in [0, 180]
	turn  []float64   // turn of the way over the second around, degrees per second, either way
	yaw   []float32   // where the hips face, over the second around, radians
	kinds []kinds
	steps []step     // in order
	floor [2]float64 // height at which each toe stands, m
	heel  [2]float64 // height at which each ankle does, m
	bones float64    // largest change of a bone's length, as a share
}

// places returns a body with the places of its joints alone.
func places(m *Motion) *body {
	c := m.Clip
	b := &body{n: c.Frames, at: make([][]m3.Vec3, c.Skel.Len())}
	for j := range b.at {
		b.at[j] = make([]m3.Vec3, b.n)
	}
	model := make([]m3.Xform, c.Skel.Len())
	for f := range b.n {
		c.Model(model, f)
		for j, x := range model {
			b.at[j][f] = x.Pos
		}
	}
	return b
}

func newBody(m *Motion) *body {
	b := places(m)
	b.travel()
	b.findFloor()
	b.measureBones()
	b.sort()
	b.findSteps()
	return b
}

// half is half a second.
const half = Rate / 2

// around returns the frames half a second before and after f, within the motion.
func (b *body) around(f int) (from, to int) { return max(f-half, 0), min(f+half, b.n-1) }

// travel finds speed, way, turn and facing.
func (b *body) travel() {
	b.speed, b.away, b.turn = make([]float64, b.n), make([]float64, b.n), make([]float64, b.n)
	b.yaw = make([]float32, b.n)
	across := make([]m3.Vec3, b.n+1) // sums of the hips' axes to the left
	for f := range b.n {
		left := b.at[thigh[0]][f].Sub(b.at[thigh[1]][f]).Flat()
		across[f+1] = across[f].Add(left.Normalize(m3.V(1, 0, 0)))
	}
	way := make([]m3.Vec3, b.n)
	for f := range b.n {
		from, to := b.around(f)
		way[f] = b.at[hips][to].Sub(b.at[hips][from]).Flat().Scale(Rate / float32(to-from))
		left := across[to+1].Sub(across[from])
		b.yaw[f] = m3.YawOf(m3.V(-left.Z, 0, left.X))
	}
	for f := range b.n {
		from, to := b.around(f)
		b.speed[f] = float64(way[f].Len())
		b.away[f] = degrees(math.Abs(float64(m3.WrapAngle(m3.YawOf(way[f]) - b.yaw[f]))))
		b.turn[f] = degrees(math.Abs(float64(m3.WrapAngle(m3.YawOf(way[to])-m3.YawOf(way[from]))))) * Rate / float64(to-from)
	}
}

func degrees(radians float64) float64 { return radians * 180 / math.Pi }

// standing is the share of the lowest frames that give the height of a standing toe.
const standing = 0.05

func (b *body) findFloor() {
	height := func(j int) float64 {
		heights := make([]float64, b.n)
		for f, p := range b.at[j] {
			heights[f] = float64(p.Y)
		}
		return quantile(standing, heights)
	}
	for i := range 2 {
		b.floor[i], b.heel[i] = height(toe[i]), height(ankle[i])
	}
}

// stands calls do with the places of the slower toe where it stands: moves by less than 0.2 m/s.
func (b *body) stands(do func(side int, at m3.Vec3)) {
	for f := range b.n {
		side, v := 0, b.velocity(toe[0], f)
		if w := b.velocity(toe[1], f); w < v {
			side, v = 1, w
		}
		if v < 0.2 {
			do(side, b.at[toe[side]][f])
		}
	}
}

// Level takes the tilt of the floor off the height of the hips. Floors of recordings are tilted by up to
// 1.5°, as the heights of standing toes show.
func (m *Motion) Level() {
	b := places(m)
	// Least squares of height against place, about the mean. The small weight on the tilt itself keeps it
	// near 0 across a straight walk, where nothing shows it.
	var mean m3.Vec3
	n := float32(0)
	b.stands(func(_ int, p m3.Vec3) { mean, n = mean.Add(p), n+1 })
	if n == 0 {
		return
	}
	mean = mean.Scale(1 / n)
	normal, right := mat.NewSymDense(2, nil), mat.NewVecDense(2, nil)
	b.stands(func(_ int, p m3.Vec3) {
		d := p.Sub(mean)
		v := mat.NewVecDense(2, []float64{float64(d.X), float64(d.Z)})
		normal.SymRankOne(normal, 1, v)
		right.AddScaledVec(right, float64(d.Y), v)
	})
	for i := range 2 {
		normal.SetSym(i, i, normal.At(i, i)+0.01*float64(n))
	}
	var tilt mat.VecDense
	if err := tilt.SolveVec(normal, right); err != nil {
		return
	}
	level := *m.Clip
	level.Pos = slices.Clone(level.Pos)
	for f := range level.Frames {
		d := b.at[hips][f].Sub(mean)
		level.Pos[f*level.Skel.Len()].Y -= float32(tilt.AtVec(0)*float64(d.X) + tilt.AtVec(1)*float64(d.Z))
	}
	m.Clip = &level
}

// levels returns the range of the heights at which toes stand, without the outer twentieths, m.
func (b *body) levels() float64 {
	var heights []float64
	b.stands(func(side int, p m3.Vec3) { heights = append(heights, float64(p.Y)-b.floor[side]) })
	return quantile(0.95, heights) - quantile(0.05, heights)
}

// inAir reports whether toes and ankles of both feet are over their standing heights by more than low.
func (b *body) inAir(f int) bool {
	for i := range 2 {
		if float64(b.at[toe[i]][f].Y) < b.floor[i]+low || float64(b.at[ankle[i]][f].Y) < b.heel[i]+low {
			return false
		}
	}
	return true
}

func (b *body) measureBones() {
	for j, p := range human.Parents {
		if p < 0 || human.Offsets[j].Len() == 0 {
			continue
		}
		shortest, longest := math.Inf(1), 0.0
		for f := range b.n {
			d := float64(b.at[j][f].Dist(b.at[p][f]))
			shortest, longest = min(shortest, d), max(longest, d)
		}
		b.bones = max(b.bones, 1-shortest/longest)
	}
}

// local returns a joint's place from the body: the axes are those of the smoothed facing, aside, up
// and ahead, and the hips are over the origin.
func (b *body) local(j, f int) m3.Vec3 {
	p := b.at[j][f].Sub(b.at[hips][f].Flat())
	return m3.YawQuat(-b.yaw[f]).Rotate(p)
}

// velocity returns a joint's speed over the ground, m/s, from the frames before and after.
func (b *body) velocity(j, f int) float64 {
	from, to := max(f-1, 0), min(f+1, b.n-1)
	return float64(b.at[j][to].Sub(b.at[j][from]).Flat().Len()) * Rate / float64(to-from)
}

// jerk returns a joint's third difference over frames 1/30 s apart, m/s³, the mean of those around f and
// f+1. f is in [3, n−5]. Over single frames of a recording it would be noise of markers, and corners of
// frames that were interpolated.
func (b *body) jerk(j, f int) m3.Vec3 {
	p := b.at[j]
	third := func(f int) m3.Vec3 { return p[f+3].Sub(p[f-3]).Sub(p[f+1].Sub(p[f-1]).Scale(3)) }
	return third(f).Add(third(f + 1)).Scale(Rate * Rate * Rate / 16)
}

// bend returns the angle between the bones before and after joint j, degrees: 0 is straight.
func (b *body) bend(before, j, after, f int) float64 {
	u := b.at[j][f].Sub(b.at[before][f])
	v := b.at[after][f].Sub(b.at[j][f])
	return degrees(math.Atan2(float64(u.Cross(v).Len()), float64(u.Dot(v))))
}

// low is the height above its standing height up to which a toe counts as low, m.
const low = 0.03

// planted returns the speed of the slower low toe, m/s; ok is false if neither is low.
func (b *body) planted(f int) (speed float64, ok bool) {
	speed = math.Inf(1)
	for i, j := range toe {
		if float64(b.at[j][f].Y) < b.floor[i]+low {
			speed, ok = min(speed, b.velocity(j, f)), true
		}
	}
	return speed, ok
}

// nearSpine returns the distance of joint j from the line from hips to neck, m.
func (b *body) nearSpine(j, f int) float64 {
	p := b.at[j][f]
	return float64(p.Dist(p.OnSegment(b.at[hips][f], b.at[neck][f])))
}

// feetApart returns the distance of the lines from ankles to toes, m, as the least from nine points of the left one.
func (b *body) feetApart(f int) float64 {
	apart := float32(math.Inf(1))
	for i := range 9 {
		p := b.at[ankle[0]][f].Lerp(b.at[toe[0]][f], float32(i)/8)
		apart = min(apart, p.Dist(p.OnSegment(b.at[ankle[1]][f], b.at[toe[1]][f])))
	}
	return float64(apart)
}

func open(path string, read retarget.Reading) (*skel.Clip, error) {
	rec, err := mocap.Open(path, read.OpenOptions)
	if err != nil {
		return nil, err
	}
	if uniform(rec.Clip.Skel) {
		return rec.Clip, nil
	}
	clip, _, err := retarget.OfRecording(path, rec, retarget.OpenOptions{Reading: read, Workers: 1})
	return clip, err
}

// uniform reports whether s is the uniform skeleton: its joints, in its proportions within 1 mm.
func uniform(s *skel.Skeleton) bool {
	if !slices.Equal(s.Names, human.Names) || !slices.Equal(s.Parents, human.Parents) {
		return false
	}
	for j, p := range human.Parents {
		if p >= 0 && s.Offsets[j].Dist(human.Offsets[j]) > 1e-3 {
			return false
		}
	}
	return true
}
