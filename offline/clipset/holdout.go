package clipset

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mannequin/offline/label"
)

// Split returns the set with its recordings cut into parts of about a length, s, at most half longer, so that parts of a long
// recording can be held out. Loops stay whole. It comes before Bend and Mirror.
func (s *Set) Split(seconds float64) *Set {
	out := *s
	out.Clips = nil
	for _, c := range s.Clips {
		n := int(c.Motion.Seconds()/seconds + 0.5)
		if c.Loop || n < 2 {
			c.take = len(out.Clips)
			out.Clips = append(out.Clips, c)
			continue
		}
		for k := range n {
			from, to := k*c.Motion.Frames/n, (k+1)*c.Motion.Frames/n
			part := c
			part.Name = fmt.Sprintf("%s, part %d", c.Name, k+1)
			part.Motion, part.Actions, part.take = c.Motion.Section(from, to), c.Actions[from:to], len(out.Clips)
			out.Clips = append(out.Clips, part)
		}
	}
	return &out
}

// What a choice of clips that are held out keeps to.
const (
	enoughHeld = 0.7 // of the share, that is wanted of an action
	mostHeld   = 0.5 // of an action or of a range of speeds, that may be held out
	paces      = 4   // ranges of speeds
)

// HoldOut chooses clips that networks are not trained on, so that they can be measured on them: about a share of the time, of
// each action. Images and curves of one recording are held out together. Half of each action at least remains for training, and
// of the few seconds in which a body runs not much more than the share is held out. Warnings name the actions that cannot be measured.
func (s *Set) HoldOut(share float64) (held []bool, warnings []string) {
	held = make([]bool, len(s.Clips))
	var takes []take
	speeds, top := s.paces()
	for i, c := range s.Clips {
		k := slices.IndexFunc(takes, func(t take) bool { return t.id == c.take })
		if k < 0 {
			k = len(takes)
			takes = append(takes, take{id: c.take, name: c.Name, shows: map[string]float64{}})
		}
		takes[k].clips = append(takes[k].clips, i)
		for f, a := range c.Actions {
			if a != label.Pose {
				takes[k].shows[a] += 1.0 / FPS
			}
			if a == label.Move && top > 0 {
				takes[k].shows[pace(min(int(paces*speeds[i][f]/top), paces-1))] += 1.0 / FPS
			}
		}
	}
	all := totals(takes, false)
	for _, a := range rarest(takes) {
		for {
			out := totals(takes, true)
			if out[a] > 0 && out[a] >= enoughHeld*share*all[a] {
				break
			}
			best, least := -1, math.Inf(1)
			for k, t := range takes {
				if t.held || t.shows[a] == 0 || !spared(&t, out, all) {
					continue
				}
				if miss := misses(a, &t, out, all, share); miss < least {
					best, least = k, miss
				}
			}
			if best < 0 {
				if out[a] == 0 {
					warnings = append(warnings, lacks(a, takes))
				}
				break
			}
			takes[best].held = true
			for _, i := range takes[best].clips {
				held[i] = true
			}
		}
	}
	slices.Sort(warnings)
	return held, warnings
}

// paceName begins the names of ranges of speeds among what takes show.
const paceName = "\x00pace "

func pace(i int) string { return fmt.Sprint(paceName, i) }

// paces returns the speed of each frame of the clips, m/s, and the top speed of those that move, but for a few frames.
func (s *Set) paces() (speeds [][]float64, top float64) {
	const (
		half = FPS / 5 // frames to either side
		few  = 0.002   // of the frames
	)
	var moving []float64
	for _, c := range s.Clips {
		n := c.Motion.Skel.Len()
		v := make([]float64, c.Motion.Frames)
		for f := range v {
			a, b := max(f-half, 0), min(f+half, c.Motion.Frames-1)
			v[f] = float64(c.Motion.Pos[b*n].Flat().Dist(c.Motion.Pos[a*n].Flat())) * FPS / float64(max(b-a, 1))
			if c.Actions[f] == label.Move {
				moving = append(moving, v[f])
			}
		}
		speeds = append(speeds, v)
	}
	if len(moving) > 0 {
		slices.Sort(moving)
		top = moving[int((1-few)*float64(len(moving)-1))]
	}
	return speeds, top
}

// take is a recording with all clips that are made of it.
type take struct {
	id    int
	name  string
	clips []int
	shows map[string]float64 // seconds of each action, and of each range of speeds
	held  bool
}

// totals returns the seconds of each action, of all takes or of those that are held out.
func totals(takes []take, held bool) map[string]float64 {
	sum := map[string]float64{}
	for _, t := range takes {
		for a, v := range t.shows {
			if t.held || !held {
				sum[a] += v
			}
		}
	}
	return sum
}

// rarest returns the actions, those of the fewest takes first: these have the least choice.
func rarest(takes []take) (actions []string) {
	count := map[string]int{}
	for _, t := range takes {
		for a := range t.shows {
			if strings.HasPrefix(a, paceName) {
				continue
			}
			if count[a]++; count[a] == 1 {
				actions = append(actions, a)
			}
		}
	}
	slices.SortFunc(actions, func(a, b string) int { return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(a, b)) })
	return actions
}

// spared reports whether enough of each action remains without a take.
func spared(t *take, out, all map[string]float64) bool {
	for a, v := range t.shows {
		if out[a]+v > mostHeld*all[a]+1e-9 {
			return false
		}
	}
	return true
}

// misses returns how far a choice would be from the share of an action, and over the shares of the others that a take shows: each
// as a part of its action.
func misses(action string, t *take, out, all map[string]float64, share float64) (sum float64) {
	for _, a := range slices.Sorted(maps.Keys(t.shows)) {
		over := (out[a]+t.shows[a])/all[a] - share
		if a == action {
			over = math.Abs(over)
		}
		sum += max(over, 0)
	}
	return sum
}

// lacks says why nothing of an action is held out.
func lacks(action string, takes []take) string {
	var names []string
	for _, t := range takes {
		if t.shows[action] > 0 {
			names = append(names, t.name)
		}
	}
	if len(names) == 1 {
		return fmt.Sprintf("one clip alone shows %s, %s: it is trained on, and nothing of it is held out", action, names[0])
	}
	return fmt.Sprintf("too few clips show %s, %s: with one of them held out, less than half of an action would be trained on", action, few(names))
}
