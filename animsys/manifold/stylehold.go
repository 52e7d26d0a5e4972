package manifold

import (
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// A style is a change of a motion's frames. On motion unlike that which it was found from, the
// change may be wrong. A holder keeps what must hold on any motion: standing feet stay where they
// are, feet keep their place along the way, legs reach them, knees do not cross, and hands stay out
// of the body. So a style that does not suit a motion shows less, and tears nothing.

const (
	footEase  = 8    // frames before and after a stance in which a foot comes to its place
	dropReach = 12   // frames over which the hips go down to let a leg reach its foot
	kneesGap  = 0.07 // m between knees, aside; less only if the content has less
	handsGap  = 0.16 // m between a hand and the spine; less only if the content has less
	straight  = 0.99 // longest distance from hip to ankle, as a share of the leg
	farthest  = 0.18 // root mean square distance of joints from the content, m, that a style may have
	sinking   = 0.7  // share of its height over a stance by which a style may lower a swinging foot
)

// holder has the columns of a layout that it needs. Its work space is for one goroutine.
type holder struct {
	layout *feature.Motion
	legs   []holdLeg
	sinks  []float32 // by joint: how much of the hips' drop it shares
	hands  [][2]int
	spine  [2]int    // columns of hips and neck
	ease   []float32 // (legs, frames) how much each foot stands, 0 to 1
	drop   []float32 // (frames) what above reads
	most   []float32 // (frames) of it
	smooth []float32 // (frames) and its result
}

// holdLeg is a leg: columns of its joints, the contacts of its foot, and the lengths of its bones.
type holdLeg struct {
	hip, knee, heel, toe int
	contacts             []int
	upper, lower         float32
}

// above returns the joint of the layout above joint j in the skeleton, or −1.
func above(of *feature.Person, j int) int {
	l, sk := of.Layout, of.Skel
	for k := sk.Parents[sk.Index(l.Joints[j])]; k >= 0; k = sk.Parents[k] {
		if i := l.Joint(sk.Names[k]); i >= 0 {
			return i
		}
	}
	return -1
}

// newHolder returns a holder of a person for up to frames frames. Legs are the joints above contacts; a layout
// without such legs, or without hands, keeps the rest.
func newHolder(of *feature.Person, frames int) *holder {
	l := of.Layout
	h := &holder{layout: l, sinks: make([]float32, len(l.Joints)), drop: make([]float32, frames), most: make([]float32, frames), smooth: make([]float32, frames)}
	length := func(from, to int) float32 {
		for _, b := range of.Bones() {
			if b.From == from && b.To == to || b.From == to && b.To == from {
				return b.Length
			}
		}
		return 0
	}
	for j := range h.sinks {
		h.sinks[j] = 1
	}
	for i, c := range l.Contacts {
		heel := l.Joint(c.Joint)
		knee := above(of, heel)
		if knee < 0 || l.ContactOf(l.Joints[knee]) >= 0 { // a toe
			continue
		}
		hip := above(of, knee)
		leg := holdLeg{knee: l.Pos(knee), heel: l.Pos(heel), toe: l.Pos(heel), contacts: []int{i}}
		if hip < 0 {
			continue
		}
		leg.hip, leg.upper, leg.lower = l.Pos(hip), length(hip, knee), length(knee, heel)
		if leg.upper == 0 || leg.lower == 0 {
			continue
		}
		h.sinks[knee], h.sinks[heel] = 0.5, 0
		for k, t := range l.Contacts {
			if toe := l.Joint(t.Joint); above(of, toe) == heel {
				leg.toe, leg.contacts, h.sinks[toe] = l.Pos(toe), append(leg.contacts, k), 0
			}
		}
		h.legs = append(h.legs, leg)
	}
	h.ease = make([]float32, len(h.legs)*frames)
	if neck := l.Joint("Neck1"); neck >= 0 {
		h.spine = [2]int{0, l.Pos(neck)}
		for _, name := range []string{"LeftHand", "RightHand"} {
			if j := l.Joint(name); j >= 0 {
				hand := [2]int{l.Pos(j), l.Pos(j)}
				if k := l.Joint(name + "Index1"); k >= 0 {
					hand[1] = l.Pos(k)
				}
				h.hands = append(h.hands, hand)
			}
		}
	}
	return h
}

func put(row []float32, c int, p m3.Vec3) { row[c], row[c+1], row[c+2] = p.X, p.Y, p.Z }

// run corrects rows, the content in a style, (frames, columns). stand, (frames, contacts), are the
// content's contacts.
func (h *holder) run(rows, content, stand []float32) {
	cols := h.layout.Columns()
	frames := len(rows) / cols
	h.limit(rows, content, frames)
	clear(h.drop[:frames])
	for i := range h.legs {
		h.placeFoot(i, rows, content, stand)
	}
	h.lower(rows, frames)
	for f := range frames {
		row, was := rows[f*cols:][:cols], content[f*cols:][:cols]
		h.partKnees(row, was)
		for _, hand := range h.hands {
			h.keepOut(row, was, hand)
		}
	}
}

// placeFoot moves the foot of leg i to its place in the content as far as it stands. While it
// swings, the style may lift it and move it aside, but not along the way.
func (h *holder) placeFoot(i int, rows, content, stand []float32) {
	leg, cols, contacts := &h.legs[i], h.layout.Columns(), len(h.layout.Contacts)
	frames := len(rows) / cols
	ease := h.ease[i*len(h.drop):][:frames]
	clear(ease)
	lowest := [2]float32{}
	for f := range frames {
		heel, toe := vec(content[f*cols:], leg.heel).Y, vec(content[f*cols:], leg.toe).Y
		if f == 0 {
			lowest = [2]float32{heel, toe}
		}
		lowest = [2]float32{min(lowest[0], heel), min(lowest[1], toe)}
		s := float32(0)
		for _, c := range leg.contacts {
			s = max(s, m3.Clamp(stand[f*contacts+c], 0, 1))
		}
		if s == 0 {
			continue
		}
		for k := -footEase; k <= footEase; k++ {
			if g := f + k; g >= 0 && g < frames {
				u := 1 - m3.Abs(float32(k))/(footEase+1)
				ease[g] = max(ease[g], s*u*u*(3-2*u))
			}
		}
	}
	for f := range frames {
		row, was := rows[f*cols:][:cols], content[f*cols:][:cols]
		heel, toe := vec(row, leg.heel).Sub(vec(was, leg.heel)), vec(row, leg.toe).Sub(vec(was, leg.toe))
		toe.Z -= heel.Z
		heel.Z = 0
		for k, c := range [2]int{leg.heel, leg.toe} {
			by := [2]m3.Vec3{heel, toe}[k].Scale(1 - ease[f])
			by.Y = max(by.Y, sinking*(lowest[k]-was[c+1]))
			if p := vec(was, c).Add(by); k == 0 { // half of the way for the knee
				put(row, leg.knee, vec(row, leg.knee).Add(p.Sub(vec(row, c)).Scale(0.5)))
				put(row, c, p)
			} else {
				put(row, c, p)
			}
		}
		// How far the hips are too high for this leg.
		hip, foot := vec(row, leg.hip), vec(row, leg.heel)
		reach := max(straight*(leg.upper+leg.lower), vec(was, leg.hip).Dist(vec(was, leg.heel)))
		aside := hip.Sub(foot).Flat().Len()
		if high := hip.Y - foot.Y - m3.Sqrt(max(0, reach*reach-aside*aside)); high > 0 {
			h.drop[f] = max(h.drop[f], ease[f]*high)
		}
	}
}

// limit brings rows nearer to the content where they are too far from it.
func (h *holder) limit(rows, content []float32, frames int) {
	cols, joints := h.layout.Columns(), 3*len(h.layout.Joints)
	far := h.drop[:frames]
	for f := range far {
		sum := float32(0)
		for c := f * cols; c < f*cols+joints; c++ {
			d := rows[c] - content[c]
			sum += d * d
		}
		far[f] = max(0, m3.Sqrt(3*sum/float32(joints))-farthest)
	}
	for f, over := range h.above(frames) {
		if over > 0 {
			a := farthest / (farthest + over)
			for c := f * cols; c < f*cols+joints; c++ {
				rows[c] = content[c] + a*(rows[c]-content[c])
			}
		}
	}
}

// lower moves all but the feet down, so that the legs reach.
func (h *holder) lower(rows []float32, frames int) {
	cols := h.layout.Columns()
	for f, drop := range h.above(frames) {
		for j := range h.layout.Joints {
			rows[f*cols+h.layout.Pos(j)+1] -= h.sinks[j] * drop
		}
	}
}

// above returns a smooth curve that is not below h.drop: means of the largest values around.
func (h *holder) above(frames int) []float32 {
	drop, most, smooth := h.drop[:frames], h.most[:frames], h.smooth[:frames]
	for f := range most {
		most[f] = slices.Max(drop[max(f-dropReach, 0):min(f+dropReach+1, frames)])
	}
	for f := range smooth {
		sum, weight := float32(0), float32(0)
		for g := max(f-dropReach, 0); g < min(f+dropReach+1, frames); g++ {
			u := 1 - m3.Abs(float32(g-f))/(dropReach+1)
			w := u * u * (3 - 2*u)
			sum, weight = sum+w*most[g], weight+w
		}
		smooth[f] = sum / weight
	}
	return smooth
}

// partKnees moves knees apart that are nearer to each other than in the content.
func (h *holder) partKnees(row, was []float32) {
	if len(h.legs) != 2 {
		return
	}
	left, right := h.legs[0].knee, h.legs[1].knee
	if short := min(was[left]-was[right], kneesGap) - (row[left] - row[right]); short > 0 {
		row[left] += short / 2
		row[right] -= short / 2
	}
}

// keepOut moves a hand out of the body, unless it is there in the content.
func (h *holder) keepOut(row, was []float32, hand [2]int) {
	away := func(row []float32) m3.Vec3 {
		p := vec(row, hand[0])
		return p.Sub(p.OnSegment(vec(row, h.spine[0]), vec(row, h.spine[1])))
	}
	now, then := away(row), away(was)
	least := min(handsGap, then.Len())
	d := now.Len()
	if d >= least {
		return
	}
	by := now.Normalize(then.Normalize(m3.V(0, 0, 1))).Scale(least - d)
	for i, c := range hand {
		if i == 0 || c != hand[0] {
			put(row, c, vec(row, c).Add(by))
		}
	}
}
