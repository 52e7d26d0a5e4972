package clipset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/closest"
	"mannequin/offline/label"
)

// Cluster is moments of clips in poses that are alike. Names of the clips say no action, and they neither go nor jump.
type Cluster struct {
	Name    string   // that of the moment in its middle: the clip and the second in it
	Action  string   // that labels give it, or Auto
	Moments []Moment // those nearest to its middle first
}

// Moment is about half a second of a clip.
type Moment struct {
	Clip     int // of Set.Clips
	From, To int // frames
}

// What clusters are made by.
const (
	moment    = FPS / 2 // frames of a moment
	briefest  = 10      // frames of a moment, at least
	clusters  = 12      // at most
	apart     = 0.1     // heights of the hips by which joints of a cluster lie beside its middle, in the root of the mean square
	stirs     = 0.25    // s of a joint's motion that count as much as the same distance
	fewest    = 2       // moments of a cluster
	separator = " @ "   // between clip and second in the name of a moment
)

// untold finds the moments of clips whose actions neither names nor motion tell.
func (s *Set) untold() {
	s.moments = nil
	for i, c := range s.Clips {
		if c.label != Auto && (c.label != "" || label.Named(c.Name) != "") {
			continue
		}
		open := func(f int) bool { return c.Actions[f] != label.Move && c.Actions[f] != label.Jump }
		for from := 0; from < len(c.Actions); from++ {
			to := from
			for to < len(c.Actions) && open(to) {
				to++
			}
			n := max((to-from+moment/2)/moment, 1)
			for k := range n {
				if a, b := from+k*(to-from)/n, from+(k+1)*(to-from)/n; b-a >= briefest {
					s.moments = append(s.moments, Moment{i, a, b})
				}
			}
			from = to
		}
	}
}

// describe returns the pose and the motion of a moment: where the joints are, seen from the root, and how fast they are.
func (s *Set) describe(c *skel.Clip, from, to int) []float32 {
	const samples = 4
	n := s.Skel.Len()
	at, way := make([]m3.Vec3, n), make([]float32, n)
	var last []m3.Vec3
	for i := range samples {
		now := s.seen(c, from+i*(to-1-from)/(samples-1))
		for j, p := range now {
			at[j] = at[j].Add(p.Scale(1.0 / samples))
			if i > 0 {
				way[j] += p.Dist(last[j])
			}
		}
		last = now
	}
	// The square of a distance is the mean of the joints'.
	unit := float32(1 / (s.leg * math.Sqrt(float64(n))))
	var out []float32
	for j, p := range at {
		out = append(out, unit*p.X, unit*p.Y, unit*p.Z, unit*stirs*way[j]*FPS/float32(max(to-1-from, 1)))
	}
	return out
}

// Clusters returns the moments of the recordings whose actions neither names nor motion tell, in groups of poses that are alike: those
// of the labels, or else those that are found. It is for sets without mirror images and curves.
func (s *Set) Clusters() []Cluster {
	points := make([][]float32, len(s.moments))
	for i, m := range s.moments {
		points[i] = s.describe(s.Clips[m.Clip].Motion, m.From, m.To)
	}
	out, middles := s.named, s.middles
	if out == nil {
		for _, i := range label.Group(points, clusters, apart) {
			m := s.moments[i]
			name := s.Clips[m.Clip].Name + separator + fmt.Sprintf("%.2f", float64(m.From)/FPS)
			out, middles = append(out, Cluster{Name: name, Action: Auto}), append(middles, points[i])
		}
	}
	out = s.members(out, middles, points)
	if s.named != nil {
		return out
	}
	var kept []Cluster
	var of [][]float32
	for i, c := range out {
		if len(c.Moments) >= fewest {
			kept, of = append(kept, c), append(of, middles[i])
		}
	}
	return s.members(kept, of, points)
}

// members returns clusters with the moments that are nearest to their middles.
func (s *Set) members(of []Cluster, middles, points [][]float32) []Cluster {
	out := slices.Clone(of)
	if len(out) == 0 {
		return nil
	}
	away := make([][]float32, len(out))
	order := make([][]int, len(out))
	for i, p := range points {
		best, least := 0, float32(math.Inf(1))
		for k, m := range middles {
			var d float32
			for x, v := range p {
				d += (v - m[x]) * (v - m[x])
			}
			if d < least {
				best, least = k, d
			}
		}
		order[best], away[best] = append(order[best], i), append(away[best], least)
	}
	for k := range out {
		index := make([]int, len(order[k]))
		for i := range index {
			index[i] = i
		}
		slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(away[k][a], away[k][b]) })
		out[k].Moments = nil
		for _, i := range index {
			out[k].Moments = append(out[k].Moments, s.moments[order[k][i]])
		}
	}
	return out
}

// Shows returns the actions of a cluster with their seconds, the most frequent first, and the number of clips it is of.
func (s *Set) Shows(c *Cluster) (actions []string, clips int) {
	var all Clip
	of := map[int]bool{}
	for _, m := range c.Moments {
		all.Actions = append(all.Actions, s.Clips[m.Clip].Actions[m.From:m.To]...)
		of[m.Clip] = true
	}
	return all.Shows(), len(of)
}

// name takes over the names of clusters, and gives their moments these actions. all says that no clip was left out by
// patterns.
func (s *Set) name(names map[string]string, all bool) error {
	for _, n := range sortedKeys(names) {
		is := names[n]
		if is == Skip {
			return fmt.Errorf("labels: cluster %q cannot be left out: give the clips that it is of %q", n, Skip)
		}
		if err := sound("cluster", n, is); err != nil {
			return err
		}
		at := strings.LastIndex(n, separator)
		if at < 0 {
			return fmt.Errorf("labels: the cluster %q: want the name of a clip,%sand a second in it", n, separator)
		}
		seconds, err := strconv.ParseFloat(n[at+len(separator):], 64)
		clip := slices.IndexFunc(s.Clips, func(c Clip) bool { return c.Name == n[:at] })
		switch {
		case clip < 0 && (is == Auto || !all):
			continue
		case clip < 0:
			var have []string
			for _, c := range s.Clips {
				have = append(have, c.Name)
			}
			return fmt.Errorf("labels: the cluster %q is of a clip that is not there, or left out%s", n, closest.Hint(n[:at], have))
		}
		m := s.Clips[clip].Motion
		if from := seconds * FPS; err != nil || !(from >= 0 && from <= float64(m.Frames-1)) {
			return fmt.Errorf("labels: the cluster %q: want a second from 0 to %.2f", n, float64(m.Frames-1)/FPS)
		}
		from := int(seconds*FPS + 0.5)
		to := min(from+moment, m.Frames)
		for _, k := range s.moments { // the same frames as when it was found
			if k.Clip == clip && k.From == from {
				to = k.To
			}
		}
		s.named = append(s.named, Cluster{Name: n, Action: is})
		s.middles = append(s.middles, s.describe(m, min(from, to-1), to))
	}
	if s.named == nil {
		return nil
	}
	for _, c := range s.Clusters() {
		if c.Action == Auto {
			continue
		}
		for _, m := range c.Moments {
			for f := m.From; f < m.To; f++ {
				s.Clips[m.Clip].Actions[f] = c.Action
			}
		}
	}
	return nil
}
