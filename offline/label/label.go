// Package label finds out what the frames of clips show: by the clips' names, and by posture and motion.
//
//   - [NewStance] learns from clips how their body stands
//   - [Stance.Actions] returns the action of each frame: idle, move, jump, sit, lie, stand or crouch
//   - [Named] returns what a clip's name says: Walk_Fwd moves, Sit.fbx sits, Attack2 is another action
package label

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Actions that frames show. Those of control.Action have its names.
const (
	Idle   = "idle"
	Move   = "move"
	Jump   = "jump"
	Sit    = "sit"
	Lie    = "lie"
	Stand  = "stand"  // on the hind legs, of four or more
	Crouch = "crouch" // of two legs: the hips low over the feet
)

// Pose is the action of clips that show no motion, such as the pose at rest.
const Pose = "pose"

// OneThing is the time of clips up to which they show what their names say, s.
const OneThing = 10

// Stance is how a body stands in its clips.
type Stance struct {
	roles ik.Roles
	fore  []int     // legs that the chest carries, as indices of roles.Legs
	hips  float64   // height of joint 0, m
	neck  float64   // of the neck
	pitch float64   // of the line from joint 0 to the neck, rad
	feet  []float64 // heights of the feet, m
}

// NewStance finds how the body of clips stands on the floor at height 0: how high it is in most frames.
func NewStance(clips []*skel.Clip, roles ik.Roles) (*Stance, error) {
	for _, c := range clips {
		tree, err := ik.NewTree(c.Skel.Parents)
		if err != nil {
			return nil, fmt.Errorf("label: %w", err)
		}
		if _, err := ik.NewRig(tree, roles); err != nil {
			return nil, fmt.Errorf("label: %w", err)
		}
	}
	s := &Stance{roles: roles}
	var hips, neck, pitch []float64
	feet := make([][]float64, len(roles.Legs))
	for i, c := range clips {
		if i == 0 {
			s.fore = forelegs(c.Skel, &roles)
		} else if !slices.Equal(c.Skel.Names, clips[0].Skel.Names) {
			return nil, fmt.Errorf("label: clip %d has other joints than the first", i)
		}
		for _, p := range s.postures(c) {
			hips, neck, pitch = append(hips, p.hips), append(neck, p.neck), append(pitch, p.pitch)
			for k, v := range p.feet {
				feet[k] = append(feet[k], float64(v.Y))
			}
		}
	}
	if len(hips) == 0 {
		return nil, errors.New("label: no frames")
	}
	// Most frames stand or walk; of these hips move up and down a little.
	s.hips, s.neck, s.pitch = quantile(hips, 0.6), quantile(neck, 0.6), quantile(pitch, 0.5)
	for k := range feet {
		s.feet = append(s.feet, quantile(feet[k], 0.2))
	}
	if !(s.hips > 0) {
		return nil, fmt.Errorf("label: the hips are at a height of %.3g m: want a floor at height 0", s.hips)
	}
	return s, nil
}

// forelegs returns the legs that hang on the last joint of the spine.
func forelegs(sk *skel.Skeleton, roles *ik.Roles) (fore []int) {
	chest := roles.Spine[len(roles.Spine)-1]
	for i, l := range roles.Legs {
		for j := l[0]; j >= 0; j = int(sk.Parents[j]) {
			if j == chest {
				fore = append(fore, i)
				break
			}
		}
	}
	if len(fore) == len(roles.Legs) { // a trunk of one part
		return nil
	}
	return fore
}

func quantile(v []float64, q float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[int(q*float64(len(v)-1))]
}

// posture is a frame.
type posture struct {
	hips, neck, pitch float64
	at                m3.Vec3   // joint 0 over the ground
	feet              []m3.Vec3 // tips of the legs
}

func (s *Stance) postures(c *skel.Clip) []posture {
	model, out := make([]m3.Xform, c.Skel.Len()), make([]posture, c.Frames)
	for f := range out {
		c.Model(model, f)
		hips, neck := model[0].Pos, model[s.roles.Neck].Pos
		trunk := neck.Sub(hips)
		p := posture{hips: float64(hips.Y), neck: float64(neck.Y), pitch: math.Atan2(float64(trunk.Y), float64(trunk.Flat().Len())), at: hips.Flat()}
		for _, l := range s.roles.Legs {
			p.feet = append(p.feet, model[l[len(l)-1]].Pos)
		}
		out[f] = p
	}
	return out
}

// LeapWindow is the time before and after the air that belongs to a jump, s.
const LeapWindow = 0.3

// What actions are told by. Heights are shares of the standing hips', speeds are such heights a second. The dog set's
// own labels agree with those of these numbers in 91 % of frames.
const (
	moveSpeed  = 0.6  // of the hips, in moving
	stepSpeed  = 0.22 // of the feet, in moving
	moveWindow = 0.2  // s to either side over which both are averaged
	lowHips    = 0.65 // below it a body sits or lies
	lowNeck    = 0.75 // below it, it lies
	crouched   = 0.9  // height of the neck, of its own in standing, below which people crouch with a bent trunk
	bent       = 0.3  // rad by which it is bent
	named      = 0.95 // height of the neck below which they crouch in a clip that says so
	rear       = 0.5  // rad by which the trunk is steeper, in rearing
	raised     = 0.25 // height of the lower fore foot, in rearing
	stays      = 2    // s of a crouch in a clip that does not say so: a shorter one is a hard stop, a landing, or the way into a jump
	flight     = 0.22 // time of free fall in a jump, s, of hips a metre high; it grows as the root of the height
	aloft      = 0.05 // height of all feet over that of standing: in a jump of four legs or more, which lasts as long as the fall of the hips, and in runs
	settle     = 0.15 // s to either side of which the most frequent action counts
	stride     = 0.35 // s to either side of a flight that belong to a run
	stepFlight = 0.03 // s of a flight of steps
	passes     = 0.1  // by how much a foot is ahead that has passed the other
	quick      = 0.44 // s that a step of a jog takes at most, of hips a metre high; it grows as the root of the height
)

// Actions returns the action that each frame of a clip shows. name is the action of the clip's name, see Named, or "".
// Names of actions that posture and motion do not tell, such as attack, hold for all frames. So do those of clips of
// a few seconds, which show one thing; but one that walks may stand, too, and the other way around.
func (s *Stance) Actions(c *skel.Clip, name string) []string {
	brief, goes := c.Seconds() < OneThing, name == Idle || name == Move
	if name != "" && (!slices.Contains(told, name) || brief && !goes) {
		return slices.Repeat([]string{name}, c.Frames)
	}
	p := s.postures(c)
	out := make([]string, len(p))
	for f := range p {
		switch {
		case !brief || !goes:
			out[f] = s.action(p, f, c.FPS, name)
		case s.moves(p, f, c.FPS):
			out[f] = Move
		default:
			out[f] = Idle
		}
	}
	out = majority(out, int(settle*c.FPS))
	if !brief || !goes {
		s.jumps(out, p, c.FPS)
	}
	if name != Crouch {
		s.stoops(out, p, c.FPS)
	}
	return out
}

// stoops finds crouches that do not stay, and makes them what the body does but for its height.
func (s *Stance) stoops(out []string, p []posture, fps float64) {
	for f, end := 0, 0; f < len(out); f = end {
		for end = f + 1; end < len(out) && out[end] == out[f]; {
			end++
		}
		if out[f] != Crouch || float64(end-f) >= stays*fps || end-f == len(out) {
			continue
		}
		for k := f; k < end; k++ {
			if out[k] = Idle; s.moves(p, k, fps) {
				out[k] = Move
			}
		}
	}
}

// told are the actions that posture and motion tell.
var told = []string{Idle, Move, Jump, Sit, Lie, Stand, Crouch}

func (s *Stance) action(p []posture, f int, fps float64, name string) string {
	hips, neck, up := p[f].hips/s.hips, p[f].neck/s.neck, p[f].pitch-s.pitch
	if len(s.fore) > 0 {
		fore := math.Inf(1)
		for _, i := range s.fore {
			fore = min(fore, float64(p[f].feet[i].Y)-s.feet[i])
		}
		if up > rear && fore > raised*s.hips {
			return Stand
		}
	}
	moves := s.moves(p, f, fps)
	if len(s.feet) == 2 {
		if neck, up := s.around(p, f, fps); neck < crouched && up < -bent && up > -1 || name == Crouch && neck < named {
			return Crouch
		}
	}
	switch {
	case hips < lowHips && neck < lowNeck && (len(s.feet) > 2 || up < -0.7):
		return Lie
	case hips < lowHips && len(s.feet) == 2 && (moves || s.overFeet(&p[f])):
		return Crouch
	case hips < lowHips:
		return Sit
	case moves:
		return Move
	}
	return Idle
}

// around returns the height of the neck, as a share of standing, and the steepness of the trunk, rad more than in
// standing, averaged over half a second: over the up and down of steps.
func (s *Stance) around(p []posture, f int, fps float64) (neck, up float64) {
	span := int(0.25 * fps)
	a, b := max(f-span, 0), min(f+span+1, len(p))
	for _, q := range p[a:b] {
		neck, up = neck+q.neck/s.neck/float64(b-a), up+(q.pitch-s.pitch)/float64(b-a)
	}
	return neck, up
}

// overFeet reports whether the hips are over the feet, and not behind them as on a seat.
func (s *Stance) overFeet(p *posture) bool {
	var middle m3.Vec3
	for _, v := range p.feet {
		middle = middle.Add(v.Flat().Scale(1 / float32(len(p.feet))))
	}
	return float64(p.at.Dist(middle)) < 0.35*s.hips
}

// moves reports whether the body goes or steps in frame f.
func (s *Stance) moves(p []posture, f int, fps float64) bool {
	span := int(moveWindow * fps)
	a, b := max(f-span, 0), min(f+span, len(p)-1)
	seconds := float64(max(b-a, 1)) / fps
	if float64(p[b].at.Dist(p[a].at)) > moveSpeed*s.hips*seconds {
		return true
	}
	var way float64
	for i := a; i < b; i++ {
		for k, v := range p[i].feet {
			way += float64(p[i+1].feet[k].Dist(v))
		}
	}
	return way > stepSpeed*s.hips*seconds*float64(len(s.feet))
}

// jumps marks the flights, and what is around them.
func (s *Stance) jumps(out []string, p []posture, fps float64) {
	more := int(LeapWindow * fps)
	for _, f := range s.flights(p, fps) {
		for k := max(f[0]-more, 0); k < min(f[1]+more, len(p)); k++ {
			out[k] = Jump
		}
	}
}

// Flights returns the first frame of each flight of a clip, and the one after its last: the hips fall freely for longer than in any
// step, be it from a box. On four legs or more hips do so in each stride of a gallop, too, so there all feet must leave the floor for as long.
func (s *Stance) Flights(c *skel.Clip) [][2]int { return s.flights(s.postures(c), c.FPS) }

func (s *Stance) flights(p []posture, fps float64) (all [][2]int) {
	const g, least = 9.81, 0.5 // the share of g below which nothing carries the body
	span := max(int(0.05*fps+0.5), 1)
	free := func(f int) bool {
		if f < span || f+span >= len(p) {
			return false
		}
		t := float64(span) / fps
		return (p[f+span].hips-2*p[f].hips+p[f-span].hips)/(t*t) < -least*g
	}
	for f := 0; f < len(p); f++ {
		end := f
		for end < len(p) && free(end) {
			end++
		}
		if least := flight * math.Sqrt(s.hips); float64(end-f)/fps > least && (len(s.feet) == 2 || float64(s.airborne(p, f, end, fps))/fps > least) {
			all = append(all, [2]int{f, end})
		}
		f = end
	}
	return all
}

// airborne returns the number of frames about a flight in which no foot is near the floor.
func (s *Stance) airborne(p []posture, first, end int, fps float64) (n int) {
	around := int(0.15 * fps)
	for f := max(first-around, 0); f < min(end+around, len(p)); f++ {
		if s.floats(&p[f]) {
			n++
		}
	}
	return n
}

// Walks reports for each frame of a clip on two legs whether the body walks if it moves: no foot flies, and no step is as quick as those of a
// jog.
func (s *Stance) Walks(c *skel.Clip) []bool {
	p := s.postures(c)
	walks := slices.Repeat([]bool{true}, len(p))
	runs := func(from, to int) {
		for k := max(from, 0); k < min(to, len(p)); k++ {
			walks[k] = false
		}
	}
	around, span, least := int(stride*c.FPS), int(moveWindow*c.FPS), float32(passes*s.hips)
	ahead, passed := 0, -len(p) // which foot is; when it passed the other
	for f := 0; f < len(p); f++ {
		end := f
		for end < len(p) && s.floats(&p[end]) {
			end++
		}
		if float64(end-f) > stepFlight*c.FPS {
			runs(f-around, end+around)
		}
		way := p[min(f+span, len(p)-1)].at.Sub(p[max(f-span, 0)].at).Normalize(m3.Vec3{})
		now, apart := ahead, p[f].feet[0].Sub(p[f].feet[1]).Dot(way)
		if m3.Abs(apart) > least {
			now = int(math.Copysign(1, float64(apart)))
		}
		if now != ahead {
			if float64(f-passed)/c.FPS < quick*math.Sqrt(s.hips) {
				runs(passed, f)
			}
			ahead, passed = now, f
		}
	}
	return walks
}

// floats reports whether no foot is near the floor.
func (s *Stance) floats(p *posture) bool {
	lowest := math.Inf(1)
	for k, v := range p.feet {
		lowest = min(lowest, float64(v.Y)-s.feet[k])
	}
	return lowest > aloft*s.hips
}

// majority returns the action that most of the frames up to span away have; the present one among equals.
func majority(in []string, span int) []string {
	out := make([]string, len(in))
	count := map[string]int{}
	for f := -span; f < len(in); f++ {
		if k := f + span; k < len(in) {
			count[in[k]]++
		}
		if k := f - span - 1; k >= 0 {
			count[in[k]]--
		}
		if f < 0 {
			continue
		}
		out[f] = in[f]
		for _, a := range told {
			if count[a] > count[out[f]] {
				out[f] = a
			}
		}
	}
	return out
}
