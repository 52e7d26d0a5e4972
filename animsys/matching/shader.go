package matching

import (
	_ "embed" // the source
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/kernels"
	"mannequin/engine/m3"
)

//go:embed kernels/learned.wgsl
var learnedSource string

// Shader holds the kernels, in WGSL for WebGPU, that do what a LearnedStream does with its rows. Each thread works on one row; in feed_stepper,
// feed_decompressor and show a workgroup of 64 threads does. A tick runs the kernels and the networks in this order. Binding 3 is the memory of the
// network in the second column:
//
//	plan                 projector        writes the queries
//	the projector
//	choose               projector        reads its results
//	feed_stepper         stepper          writes the states
//	the stepper
//	advance              stepper          reads their changes
//	feed_decompressor    decompressor     writes the states
//	the decompressor
//	show                 decompressor     reads the poses
//
// Walls and paths are left out. Package animsys/resident runs it, with inertialization and the ground behind it.
//
// The kernels read and write group 0:
//
//	0  tables  read        Tables
//	1  goals   read        (rows, GoalLen): see PutGoal
//	2  rows    read, write (rows, row_size), of which the first RowLen are a row of Pack; who runs the kernels declares row_size
//	3  net     read, write the inputs and outputs of a network
//	4  poses   read, write (rows, joints, PoseLen): 0 to 2 the place of joint 0, 4 to 7 each joint's rotation, in the space of the root
type Shader struct {
	Source string
	Tables []float32
	RowLen int // float32s of a row

	character *Character
}

// The float32s of a goal, and of a joint's pose, in a Shader's memory.
const (
	GoalLen = 12
	PoseLen = 8
)

// ShaderPlaces are where the inputs and the outputs of the networks begin in their memory, in float32s: projector, stepper, decompressor.
type ShaderPlaces [3]struct{ In, Out int }

// The places of the numbers of an agent in a row. learned.wgsl has the same.
const (
	rowAt, rowBody, rowVel, rowAcc, rowSpin, rowHeading, rowFaced = 0, 3, 6, 8, 10, 11, 12
	rowAsked, rowFacing, rowSince, rowWait, rowRestart, rowWent   = 13, 15, 16, 17, 18, 19
	rowMust, rowAct, rowLeft, rowAgo                              = 21, 25, 26, 27
	rowRest, rowRestAt, rowSeed, rowWas, rowSoon                  = 28, 29, 30, 32, 33
	rowUpper, rowState                                            = 44, 46 // 34 to 43 are of one tick
)

// rowLen returns the float32s of a row of Pack.
func (s *LearnedStream) rowLen() int { return rowState + s.size + s.of.Columns() }

// NewShader returns the kernels for rows of s.
func (s *LearnedStream) NewShader(at ShaderPlaces) (*Shader, error) {
	if s.of == nil {
		return nil, errZero
	}
	l, n, t := s.of, &s.of.net, &s.tuning
	joints := l.Skel.Len()
	if joints > 64 {
		return nil, fmt.Errorf("matching: a skeleton of %d joints: kernels know 64", joints)
	}
	var text kernels.Text
	text.Bind()
	acts, actSize, uppers := []float32{}, 7+s.size, []float32{}
	for i, a := range n.Acts {
		acts = appendTags(acts, a.Tags)
		acts = append(acts, float32(a.Ticks), 0, -1) // and where the turns of its upper body begin
		if a.Holds {
			acts[len(acts)-2] = 1
		}
		if turns := l.uppers()[i]; turns != nil {
			acts[len(acts)-1] = float32(len(uppers))
			for _, q := range turns {
				uppers = append(uppers, q.X, q.Y, q.Z, q.W)
			}
		}
		acts = append(acts, a.State...)
	}
	above := slices.Repeat([]int{-1}, joints)
	for i, j := range l.above {
		above[j] = i
	}
	idles, idleSize := []float32{}, 4+IdleKeys*(s.size+3)
	for _, i := range n.Idles {
		idles = append(appendTags(idles, i.Tags), i.States...)
	}
	far := float32(horizon[0]/futureSteps) * dt // seconds of a step into the future
	for _, c := range []struct {
		name string
		v    int
	}{
		{"goal_size", GoalLen}, {"joints", joints}, {"state_size", s.size}, {"feature_count", l.Columns()}, {"query_size", n.Projector.Inputs()},
		{"pose_size", n.Decompressor.Outputs()}, {"tag_count", len(l.Tags)}, {"feet_count", l.legs}, {"act_count", len(n.Acts)}, {"act_size", actSize},
		{"idle_count", len(n.Idles)}, {"idle_size", idleSize}, {"idle_ticks", IdleTicks}, {"rest_ticks", restTicks}, {"rest_fades", restFades},
		{"search_every", t.Every}, {"above_count", len(l.above)},
	} {
		text.Whole(c.name, c.v)
	}
	for _, c := range []struct {
		name string
		v    Tags
	}{{"idle", l.idle}, {"walk", l.walk}, {"acts", l.acts}, {"jump", l.actions[control.Jump]}} {
		text.Whole(c.name+"_low", int(uint32(c.v)))
		text.Whole(c.name+"_high", int(c.v>>32))
	}
	decay := func(half, dt float32) float32 { return m3.Exp(-2 * math.Ln2 / half * dt) }
	for _, c := range []struct {
		name string
		v    float32
	}{
		{"tick", dt}, {"far_seconds", far}, {"leash", leash}, {"max_turn", control.MaxTurn},
		{"damp_velocity", 2 * math.Ln2 / t.Velocity}, {"damp_facing", 2 * math.Ln2 / t.Facing},
		{"decay_velocity", decay(t.Velocity, dt)}, {"decay_facing", decay(t.Facing, dt)},
		{"decay_velocity_far", decay(t.Velocity, far)}, {"decay_facing_far", decay(t.Facing, far)},
		{"spin_most", t.Spin}, {"spot_most", t.Spot}, {"asked_velocity", t.WishVelocity}, {"asked_facing", t.WishFacing}, {"lead", t.Lead}, {"accel_most", t.Accel}, {"jerk_most", t.Jerk}, {"stay_cost", t.Stay},
		{"follow_share", 1 - m3.Exp(-math.Ln2*dt/t.Follow)}, {"share_most", t.Share}, {"away_most", t.Away}, {"turned_most", t.Turned},
		{"walk_ahead", l.walks[0]}, {"walk_back", l.walks[1]},
		{"rest_share", restShare}, {"rest_eases", restEases}, {"rest_soon", restSoon}, {"rest_near", restNear}, {"rest_out", restOut}, {"rest_sits", restSits}, {"rest_behind", l.restBehind()},
		{"rest_waits", restWaits}, {"again", again}, {"calm", calm}, {"beginning", beginning}, {"fastest_any", l.fastest[maxTags]},
		{"upper_speed", upperSpeed}, {"upper_out", upperOut}, {"upper_turn", upperShare},
	} {
		text.Number(c.name, c.v)
	}
	for i, name := range []string{"projector", "stepper", "decompressor"} {
		text.Place(name+"_in", at[i].In)
		text.Place(name+"_out", at[i].Out)
	}
	text.Table("means", l.mean...)
	text.Table("scales", l.scale...)
	text.Table("stands_state", n.Rest...)
	text.Table("leasts", n.Least...)
	text.Table("mosts", n.Most...)
	text.Table("acts", acts...)
	text.Table("idles", idles...)
	text.Table("uppers", uppers...)
	text.Table("slowests", l.slowest[:]...)
	text.Table("fastests", l.fastest[:]...)
	text.Wholes("aboves", above...)
	var turns, parents, ends []int
	var still, offsets []float32
	for j, p := range l.Skel.Parents {
		turns, parents, ends = append(turns, int(l.turns[j])), append(parents, int(p)), append(ends, j+1)
		for a := int(p); a >= 0; a = int(l.Skel.Parents[a]) {
			ends[a] = j + 1
		}
		q, o := n.Still[j], l.Skel.Offsets[j]
		still, offsets = append(still, q.X, q.Y, q.Z, q.W), append(offsets, o.X, o.Y, o.Z)
	}
	text.Wholes("turns", turns...)
	text.Wholes("parents", parents...)
	text.Wholes("ends", ends...)
	text.Table("stills", still...)
	text.Table("offsets", offsets...)
	return &Shader{Source: text.String() + kernels.Math + learnedSource, Tables: text.Tables, RowLen: s.rowLen(), character: &l.Character}, nil
}

// appendTags appends tags as four numbers of 16 bits.
func appendTags(to []float32, t Tags) []float32 {
	for i := range 4 {
		to = append(to, float32(t>>(16*i)&0xffff))
	}
	return to
}

func readTags(from []float32) (t Tags) {
	for i, v := range from[:4] {
		t |= Tags(uint16(v)) << (16 * i)
	}
	return t
}

// PutGoal writes a goal into dst, GoalLen float32s. The shader knows no paths: their goals are to stand.
func (s *Shader) PutGoal(dst []float32, g *control.Goal) {
	if s.character == nil || len(dst) < GoalLen {
		panic("matching: PutGoal of a Shader that NewShader has not made, or into too few numbers")
	}
	c, action := s.character, g.Action
	must, _ := c.wants(action)
	if !g.Finite() || g.Path != nil {
		g = &control.Goal{}
	}
	move := m3.V(m3.Clamp(g.Move.X, -1, 1), 0, m3.Clamp(g.Move.Z, -1, 1))
	if l := move.Len(); l > 1 {
		move = move.Scale(1 / l)
	}
	dst[0], dst[1], dst[2], dst[3], dst[4], dst[5], dst[6] = move.X, move.Z, g.Face.X, g.Face.Z, g.Turning(), 1, g.Speed
	appendTags(dst[:7], must)
	dst[11] = float32(action)
}

// Goal returns the goal that PutGoal wrote.
func (s *Shader) Goal(src []float32) control.Goal {
	if len(src) < GoalLen {
		panic("matching: Goal of too few numbers")
	}
	return control.Goal{Move: m3.V(src[0], 0, src[1]), Face: m3.V(src[2], 0, src[3]), Turn: src[4], Speed: src[6], Action: control.Action(src[11])}
}

// Pack writes the state of a row as a Shader's kernels have it into dst, Shader.RowLen float32s. A path is left out.
func (s *LearnedStream) Pack(dst []float32, row int) {
	if s.of == nil || len(dst) < s.rowLen() {
		panic(fmt.Sprintf("matching: Pack of a row into %d numbers", len(dst)))
	}
	a, b, act, rest := &s.agents[row], &s.agents[row].Body, s.acts[row], s.rest[row]
	clear(dst[:rowState])
	put := func(at int, v ...float32) { copy(dst[at:], v) }
	put(rowAt, a.At.Pos.X, a.At.Pos.Z, a.At.Yaw, b.At.Pos.X, b.At.Pos.Z, b.At.Yaw, b.Vel.X, b.Vel.Z, b.Acc.X, b.Acc.Z, b.Spin, b.Heading, b.Faced,
		a.Velocity.X, a.Velocity.Z, a.Facing, float32(a.Since), float32(a.Wait), float32(a.Restart), a.Went.X, a.Went.Z)
	appendTags(dst[:rowMust], s.must[row])
	put(rowAct, float32(act.of), float32(act.left), float32(s.ago[row]), float32(rest.of), float32(rest.at), float32(rest.seed&0xffff), float32(rest.seed>>16), float32(rest.was), float32(rest.soon))
	put(rowUpper, float32(s.upper[row].Of), float32(s.upper[row].At))
	put(rowState, s.row(row)...)
	put(rowState+s.size, s.jumped(row)...)
}

// Unpack reads what Pack, or the kernels of a Shader of such a stream, wrote into a row. After an error the row stands at the origin.
func (s *LearnedStream) Unpack(row int, src []float32) error {
	if s.of == nil {
		return errZero
	}
	if len(src) >= s.rowLen() && feature.Finite(src[:s.rowLen()]) {
		v := func(at int) m3.Vec3 { return m3.V(src[at], 0, src[at+1]) }
		whole := func(at int) int32 { return int32(m3.Clamp(src[at], -1, 1<<24)) }
		s.agents[row] = agent{
			At: feature.Place{Pos: v(rowAt), Yaw: src[rowAt+2]},
			Body: body{At: feature.Place{Pos: v(rowBody), Yaw: src[rowBody+2]}, Vel: v(rowVel), Acc: v(rowAcc), Spin: src[rowSpin], Along: -1, Heading: src[rowHeading],
				Faced: src[rowFaced]},
			Velocity: v(rowAsked), Facing: src[rowFacing], Since: whole(rowSince), Wait: whole(rowWait), Restart: whole(rowRestart), Went: v(rowWent),
		}
		s.must[row], s.acts[row], s.ago[row] = readTags(src[rowMust:]), act{whole(rowAct), whole(rowLeft)}, whole(rowAgo)
		seed := uint32(uint16(src[rowSeed])) | uint32(uint16(src[rowSeed+1]))<<16
		s.rest[row] = resting{of: whole(rowRest), at: whole(rowRestAt), seed: seed, was: whole(rowWas), soon: whole(rowSoon)}
		s.upper[row] = upper{whole(rowUpper), whole(rowUpper + 1)}
		copy(s.row(row), src[rowState:])
		copy(s.jumped(row), src[rowState+s.size:])
		s.posed[row] = false
		if s.sound(row) {
			return nil
		}
	}
	s.reset(row)
	s.agents[row] = agent{}
	s.Place(row, feature.Place{})
	return errors.New("matching: the state of a row that is to be unpacked is none of this character, or not whole")
}

// Velocity returns how fast the root of a row went over the ground in the last tick, m/s.
func (s *steering) Velocity(row int) m3.Vec3 { return s.agents[row].Went.Scale(generator.TickRate) }
