package people

import "mannequin/engine/m3"

// Near says how often two people come nearer to each other than a distance.
type Near struct {
	Than  float64 `json:"than_m"`
	Times float64 `json:"times"` // per person and minute; each time happens to both
}

// nearness are the distances of Near, m. People who pass each other keep 0.5 m and more.
var nearness = [...]float64{0.5, 0.35, 0.25}

// Nearness counts how often people come near each other.
type Nearness struct {
	people int
	times  [len(nearness)]int
	within map[[2]int]int // for each pair how many of the distances it is within
}

// Add takes the places of all people's hips in a frame.
func (n *Nearness) Add(hips []m3.Vec3) {
	if n.within == nil {
		n.within = map[[2]int]int{}
	}
	n.people = len(hips)
	for i := range hips {
		for k := range i {
			d, now := float64(hips[i].Flat().Dist(hips[k].Flat())), 0
			for now < len(nearness) && d < nearness[now] {
				now++
			}
			for was := n.within[[2]int{i, k}]; was < now; was++ {
				n.times[was]++
			}
			n.within[[2]int{i, k}] = now
		}
	}
}

// Report returns how often that was in some seconds.
func (n *Nearness) Report(seconds float64) (out []Near) {
	for i, than := range nearness {
		out = append(out, Near{than, 2 * float64(n.times[i]) * 60 / seconds / float64(max(n.people, 1))})
	}
	return out
}
