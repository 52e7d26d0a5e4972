// Package certify judges whether a character works here: gates with a measure, a bar, and what to mend in the
// modelling program where one is missed. Test motions of the shipped networks are put on the character's bones.
package certify

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
)

// Gate is one requirement.
type Gate struct {
	Name    string `json:"gate"`
	Pass    bool   `json:"pass"`
	Measure string `json:"measure"`        // what was found
	Bar     string `json:"bar"`            // what is wanted
	Mend    string `json:"mend,omitempty"` // what to do in the modelling program, if it does not pass
}

// Certificate is the result for a file.
type Certificate struct {
	File  string  `json:"file"`
	Kind  string  `json:"kind"` // person or dog
	Size  float32 `json:"size"` // of its legs over those of the motion's skeleton
	High  float32 `json:"height_m"`
	Gates []Gate  `json:"gates"`

	Character *skin.Character `json:"-"` // nil if its joints are not found
}

// Pass reports whether all gates pass.
func (c *Certificate) Pass() bool {
	return !slices.ContainsFunc(c.Gates, func(g Gate) bool { return !g.Pass })
}

// Bars.
const (
	mostAside      = 0.05        // by which left and right bones differ, as a share
	shortBone      = 0.15        // m, of a person with legs as the motion's: shorter bones differ by a share of this
	mostUnweighted = 0.01        // of the vertices
	mostMissed     = 0.01        // of the feet that stand, that are not at their place
	missedBy       = 0.01        // m that a foot is too high or too low; of a giant in proportion
	mostSlide      = 1.2         // of the source's
	mostStretched  = 0.05        // of the time, by which legs are straight where the source's are bent
	straight, bent = 0.985, 0.96 // distances from hip to ankle, in lengths of thigh and shin
	mostThrough    = 0.05        // of the frames
	mostCost       = 3           // µs for each agent and tick, or times the cost of the motion's own skeleton
	exact          = 1e-4        // m, that a joint may be elsewhere after it was written and read
)

// Run judges a skin with a test motion. as maps the motion's joints to those of the file where names do not
// tell; it may be nil. add returns the skin's file with a motion added, as a GLB: see character.AddMotions.
func Run(s *skin.Skin, m *Motion, as map[string]string, add func(skin.Motion) ([]byte, error)) *Certificate {
	c := &Certificate{File: s.Name, Kind: "person"}
	if skin.OnFours(m.Skel) {
		c.Kind = "dog"
	}
	ch, err := s.Character(m.Skel, skin.CharacterOptions{Map: as})
	if errors.Is(err, retarget.ErrSize) {
		c.add("units", false, strings.TrimPrefix(err.Error(), s.Name+": "), "a size that metres explain", "apply the scale of the armature and export in metres")
		return c
	}
	if err != nil {
		c.add("roles", false, strings.TrimPrefix(err.Error(), s.Name+": "), "hips, spine, head and all limbs are found", mendRoles(s.Roles(as)))
		return c
	}
	c.Character, c.Size = ch, ch.Bones.Scale
	j := &judge{Certificate: c, motion: m, bones: ch.Bones, own: map[string]int{}}
	for _, p := range ch.Report.Pairs {
		j.own[p.Joint] = anatomy.Joint(ch.Bones.Skel.Names, p.Source)
	}
	j.roles(ch.Report)
	j.symmetry()
	j.units()
	j.weights(s)
	j.stance()
	j.play()
	j.through()
	j.roundTrip(add)
	j.cost()
	return c
}

// mendRoles says what to do for a body whose joints are not found, or that is neither a person nor a dog.
func mendRoles(b *anatomy.Body) string {
	if b.Kind == anatomy.Bird || b.Kind > anatomy.FourLegs {
		return "there is no test motion for a body on " + b.Kind.String() + ": play clips of its own skeleton (mannequin make, mannequin convert --into); or, if it is a person, write a map: --profile"
	}
	return "name the joints after their parts, or write a map: --profile; mannequin inspect --picture shows what is found"
}

func (c *Certificate) add(name string, pass bool, measure, bar, mend string) {
	g := Gate{Name: name, Pass: pass, Measure: measure, Bar: bar}
	if !pass {
		g.Mend = mend
	}
	c.Gates = append(c.Gates, g)
}

// judge fills a certificate.
type judge struct {
	*Certificate
	motion *Motion
	bones  *retarget.Character
	own    map[string]int // the character's joint, by the motion's
}

// at returns where the joint that plays a part is at rest, and whether there is one.
func (j *judge) at(part string) (m3.Vec3, bool) {
	k, ok := j.own[part]
	if !ok {
		return m3.Vec3{}, false
	}
	return j.bones.Rest[k].Pos, true
}

func (j *judge) roles(r *skin.Report) {
	measure := fmt.Sprintf("%d of its %d joints matched", len(r.Pairs), j.bones.Len())
	if len(r.Missing) > 0 {
		measure += "; without " + strings.Join(r.Missing, ", ")
	}
	j.add("roles", true, measure, "hips, spine, head and all limbs are found", "")
}

// symmetry compares left and right bones.
func (j *judge) symmetry() {
	worst, at := float32(0), ""
	for _, name := range j.motion.Skel.Names {
		part, ok := strings.CutPrefix(name, "Left")
		p := j.motion.Skel.Parents[j.motion.Skel.Index(name)]
		if !ok || p < 0 {
			continue
		}
		up := j.motion.Skel.Names[p]
		a, ok1 := j.at(name)
		b, ok2 := j.at("Right" + part)
		ua, ok3 := j.at(up)
		ub, ok4 := j.at(strings.Replace(up, "Left", "Right", 1))
		if !ok1 || !ok2 || !ok3 || !ok4 {
			continue
		}
		l, r := a.Dist(ua), b.Dist(ub)
		if d := m3.Abs(l-r) / max(l, r, shortBone*j.bones.Scale); d > worst {
			worst, at = d, part
		}
	}
	measure := fmt.Sprintf("left and right differ by at most %.1f %%", 100*worst)
	if at != "" && worst > 0.001 {
		measure += ", at " + at
	}
	j.add("symmetry", worst <= mostAside, measure, fmt.Sprintf("at most %g %%", 100*mostAside), "mirror one side of the armature onto the other")
}

// units tells whether the character has a size that metres explain.
func (j *judge) units() {
	for _, p := range j.Character.Body.Levels[0].Pos {
		j.High = max(j.High, p.Y)
	}
	least, most := float32(0.3), float32(4)
	if j.Kind == "dog" {
		least, most = 0.1, 3
	}
	j.add("units", j.High >= least && j.High <= most, fmt.Sprintf("%.3g m high", j.High), fmt.Sprintf("%g to %g m", least, most),
		"apply the scale of the armature and export in metres; or set CharacterOptions.Size")
}

func (j *judge) weights(s *skin.Skin) {
	free := 0
	for _, w := range j.Character.Body.Levels[0].Weights {
		if w[0] == 0 {
			free++
		}
	}
	share := float64(free) / float64(max(s.Vertices(), 1))
	empty := j.without()
	measure := fmt.Sprintf("%.1f %% of the vertices without", 100*share)
	if len(empty) > 0 {
		measure += "; none on " + strings.Join(empty, ", ")
	}
	j.add("weights", share <= mostUnweighted && len(empty) == 0, measure, fmt.Sprintf("at most %g %%, and some for each limb", 100*mostUnweighted),
		"assign the vertices to the bones that move them: parent the mesh with automatic weights, and look for limbs without")
}

// without returns the limbs that move no vertex.
func (j *judge) without() (out []string) {
	moves := make([]bool, j.bones.Len())
	mesh := &j.Character.Body.Levels[0]
	for v, joints := range mesh.Joints {
		for i, k := range joints {
			moves[k] = moves[k] || mesh.Weights[v][i] > 0.1
		}
	}
	for _, leg := range j.motion.Roles.Legs {
		name := j.motion.Skel.Names[leg[len(leg)-4]]
		top, some := j.own[name], false
		for k := range moves {
			for a := k; a >= 0; a = int(j.bones.Skel.Parents[a]) {
				if a == top {
					some = some || moves[k]
					break
				}
			}
		}
		if !some {
			out = append(out, name)
		}
	}
	return out
}

// stance looks at how it stands at rest.
func (j *judge) stance() {
	var ends []m3.Vec3
	var high float32
	for _, leg := range j.motion.Roles.Legs {
		end, ok := j.at(j.motion.Skel.Names[leg[len(leg)-2]])
		top, _ := j.at(j.motion.Skel.Names[leg[len(leg)-4]])
		if ok {
			ends, high = append(ends, end), max(high, top.Y)
		}
	}
	var apart float32
	for i := 1; i < len(ends); i += 2 {
		apart = max(apart, m3.Abs(ends[i].Y-ends[i-1].Y)/high)
	}
	hips, _ := j.at("Hips")
	head, _ := j.at("Head")
	upright := j.Kind == "dog" || head.Y > hips.Y+0.2*high
	measure := fmt.Sprintf("ankles of a pair differ by %.1f %% of the legs in height", 100*apart)
	if !upright {
		measure += "; the head is not above the hips"
	}
	j.add("stance", apart <= 0.03 && upright, measure, "at most 3 %, upright", "put the armature into its T-pose or A-pose, both feet flat on the ground, and apply it as the rest pose")
}

// play puts the motion on the character: feet reach their places, stand flat, and slide no more than the motion's.
func (j *judge) play() {
	m, c := j.motion, j.bones
	now, last, feet := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len()), make([]retarget.Foot, c.Legs())
	var stands, missed, frames int
	var slide, slideSource, flat float64
	var stretched, steps int
	level := m.levels()
	for f, pose := range m.Poses {
		copy(last, now)
		c.Pose(now, pose, [2]float32{}, feet, nil)
		for i, leg := range m.Roles.Legs {
			if own, ok := j.stretch(now, leg); ok {
				steps++
				if own > straight && stretchOf(pose, leg[len(leg)-4:]) < bent {
					stretched++
				}
			}
			if f == 0 || !m.Stand[f][i] || !m.Stand[f-1][i] {
				continue
			}
			tip, end := leg[len(leg)-1], leg[len(leg)-2]
			k, ok := j.own[m.Skel.Names[tip]]
			if !ok {
				tip = end
				k = j.own[m.Skel.Names[end]]
			}
			frames++
			slide += float64(now[k].Pos.Sub(last[k].Pos).Flat().Len())
			slideSource += float64(pose[tip].Pos.Sub(m.Poses[f-1][tip].Pos).Flat().Len() * c.Scale)
			if ok && pose[tip].Pos.Y < level[i]+0.005 { // not on its heel
				stands++
				off := m3.Abs(now[k].Pos.Y - c.Rest[k].Pos.Y - (pose[tip].Pos.Y-level[i])*c.Scale)
				flat = math.Max(flat, float64(off))
				if off > missedBy*max(1, c.Scale) {
					missed++
				}
			}
		}
	}
	if steps > 0 {
		share := float64(stretched) / float64(steps)
		j.add("reach", share <= mostStretched, fmt.Sprintf("%.1f %% of the time a leg is stretched where the motion's is bent", 100*share), fmt.Sprintf("at most %g %%", 100*mostStretched),
			"set the joints of hip, knee and ankle where the limb bends, and the hips no higher at rest than the legs are long")
	}
	if stands > 0 {
		share := float64(missed) / float64(stands)
		j.add("feet on the ground", share <= mostMissed, fmt.Sprintf("%.1f %% of the time more than %g cm too high or low; at most %.1f cm", 100*share, 100*missedBy, 100*flat), fmt.Sprintf("at most %g %%", 100*mostMissed),
			"put both feet flat on the ground at rest, toes ahead, with the toe joint where the foot bends")
	}
	if frames > 0 {
		ratio := slide / math.Max(slideSource, 1e-9)
		n := float64(frames) / 100 / 60
		j.add("slide", ratio <= mostSlide || slide/n < 0.5, fmt.Sprintf("%.2f cm/s, %.2f × the motion's", slide/n, ratio), fmt.Sprintf("at most %g ×", mostSlide),
			"look at the legs: knees and ankles where they bend, of equal length")
	}
}

// stretch returns how straight the character's leg is whose joints in the motion's skeleton are given, and whether it has
// all of them.
func (j *judge) stretch(pose []m3.Xform, leg []int) (float32, bool) {
	var own [3]int
	for i := range own {
		k, ok := j.own[j.motion.Skel.Names[leg[len(leg)-4+i]]]
		if !ok {
			return 0, false
		}
		own[i] = k
	}
	return stretchOf(pose, own[:]), true
}

// stretchOf returns the distance from the first joint of a leg to the third, in lengths of the two bones.
func stretchOf(pose []m3.Xform, leg []int) float32 {
	a, b, c := pose[leg[0]].Pos, pose[leg[1]].Pos, pose[leg[2]].Pos
	return a.Dist(c) / max(a.Dist(b)+b.Dist(c), 1e-9)
}

// levels returns the height at which the tip of each leg of the motion stands: the median of its heights while it does.
func (m *Motion) levels() []float32 {
	out := make([]float32, len(m.Roles.Legs))
	for i, leg := range m.Roles.Legs {
		var high []float32
		for f, pose := range m.Poses {
			if m.Stand[f][i] {
				high = append(high, pose[leg[len(leg)-1]].Pos.Y)
			}
		}
		if slices.Sort(high); len(high) > 0 {
			out[i] = high[len(high)/2]
		}
	}
	return out
}

// cost compares a tick's time for the character with that for the skeleton of the motion itself, in turns, so that a
// busy or slow machine slows both. On a fast one the time itself may do.
func (j *judge) cost() {
	c, m := j.bones, j.motion
	best := [2]float64{math.Inf(1), math.Inf(1)} // µs
	for range 20 {
		for i, c := range [2]*retarget.Character{c, m.own} {
			best[i] = min(best[i], m.tick(c))
		}
	}
	j.add("cost", best[0] <= max(mostCost, mostCost*best[1]),
		fmt.Sprintf("%.1f µs for each agent and tick, %d joints; %.1f × the motion's own skeleton", best[0], c.Len(), best[0]/best[1]),
		fmt.Sprintf("at most %d µs or %d ×", mostCost, mostCost), "remove joints that move no vertices, such as those of controls")
}

// tick measures the mean time in which c takes a pose of the motion, in µs.
func (m *Motion) tick(c *retarget.Character) float64 {
	dst, feet := make([]m3.Xform, c.Len()), make([]retarget.Foot, c.Legs())
	const n = 200
	start := time.Now()
	for i := range n {
		c.Pose(dst, m.Poses[i*len(m.Poses)/n], [2]float32{}, feet, nil)
	}
	return float64(time.Since(start).Nanoseconds()) / n / 1000
}
