package certify

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// tube is a bone with flesh around it.
type tube struct {
	name   string
	a, b   int // joints
	radius float32
}

// through estimates how often limbs go through each other and through the trunk.
func (j *judge) through() {
	tubes := j.tubes()
	type pair struct{ a, b int }
	var pairs []pair
	limb := func(name string) string {
		for _, part := range []string{"Leg", "Foot", "Arm", "Hand"} {
			if strings.Contains(name, part) {
				side := "Right"
				if strings.HasPrefix(name, "Left") {
					side = "Left"
				}
				if part == "Foot" {
					part = "Leg"
				}
				if part == "Hand" {
					part = "Arm"
				}
				return side + part
			}
		}
		return ""
	}
	for a := range tubes {
		for b := range a {
			la, lb := limb(tubes[a].name), limb(tubes[b].name)
			// Neighbours always touch: only ends of limbs are compared with the trunk.
			outer := func(name string) bool {
				return strings.HasSuffix(name, "ForeArm") || strings.HasSuffix(name, "LeftLeg") || strings.HasSuffix(name, "RightLeg")
			}
			if la != lb && (la != "" && lb != "" && outer(tubes[a].name) && outer(tubes[b].name) || la == "" && outer(tubes[b].name) || lb == "" && outer(tubes[a].name)) {
				pairs = append(pairs, pair{a, b})
			}
		}
	}
	dst := make([]m3.Xform, j.bones.Len())
	deep := func(m []m3.Xform, p pair) float32 {
		a, b := &tubes[p.a], &tubes[p.b]
		least := float32(1e9)
		const parts = 4
		for i := range parts + 1 {
			q := m[a.a].Pos.Lerp(m[a.b].Pos, float32(i)/parts)
			least = min(least, q.Dist(q.OnSegment(m[b.a].Pos, m[b.b].Pos)))
		}
		return (a.radius + b.radius) - least
	}
	rest := make([]float32, len(pairs))
	for i, p := range pairs {
		rest[i] = max(deep(j.bones.Rest, p), 0)
	}
	frames, bad := 0, 0
	worst, at := float32(0), ""
	for f := 0; f < len(j.motion.Poses); f += 5 {
		j.bones.Pose(dst, j.motion.Poses[f], [2]float32{}, nil, nil)
		frames++
		hit := false
		for i, p := range pairs {
			thin := min(tubes[p.a].radius, tubes[p.b].radius)
			if d := deep(dst, p) - rest[i]; d > 0.6*thin {
				hit = true
				if d > worst {
					worst, at = d, tubes[p.a].name+" and "+tubes[p.b].name
				}
			}
		}
		if hit {
			bad++
		}
	}
	share := float64(bad) / float64(max(frames, 1))
	measure := fmt.Sprintf("%.1f %% of the frames", 100*share)
	if at != "" {
		measure += fmt.Sprintf("; deepest %.1f cm, %s", 100*worst, at)
	}
	j.add("through itself", share <= mostThrough, measure, fmt.Sprintf("at most %g %%, estimated by tubes around bones", 100*mostThrough), mendThrough(at))
}

// mendThrough says what to do about two parts that go through each other.
func mendThrough(at string) string {
	if strings.Contains(at, "ForeArm") && strings.Contains(at, "Leg") {
		return "the arms reach further down beside the legs than a person's: shorten them, hold them away in an additive clip, or play clips of its own"
	}
	return "the body is wider than its motion's: narrow it, hold the arms away in an additive clip, or play clips of its own"
}

// tubes returns the bones with flesh, whose radius is the median distance of their vertices.
func (j *judge) tubes() (out []tube) {
	mesh := &j.Character.Body.Levels[0]
	of := make(map[int][]float32)
	ends := map[int]int{}
	var bones []struct {
		name string
		a, b int
	}
	add := func(name, from, to string) {
		a, ok1 := j.own[from]
		b, ok2 := j.own[to]
		if ok1 && ok2 && a != b {
			bones = append(bones, struct {
				name string
				a, b int
			}{name, a, b})
			ends[a] = b
		}
	}
	for _, side := range []string{"Left", "Right"} {
		add(side+"UpLeg", side+"UpLeg", side+"Leg")
		add(side+"Leg", side+"Leg", side+"Foot")
		add(side+"Arm", side+"Arm", side+"ForeArm")
		add(side+"ForeArm", side+"ForeArm", side+"Hand")
	}
	add("trunk", "Spine1", "Head")
	if _, ok := j.own["Spine1"]; !ok {
		add("trunk", "Spine", "Head")
	}
	for v, joints := range mesh.Joints {
		a := int(joints[0])
		if b, ok := ends[a]; ok {
			p := mesh.Pos[v]
			of[a] = append(of[a], p.Dist(p.OnSegment(j.bones.Rest[a].Pos, j.bones.Rest[b].Pos)))
		}
	}
	for _, b := range bones {
		if d := of[b.a]; len(d) > 3 {
			slices.Sort(d)
			out = append(out, tube{b.name, b.a, b.b, d[len(d)/2]})
		}
	}
	return out
}
