package label

import (
	"testing"

	"mannequin/animsys/skel"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen/human"
)

// Made people who walk walk, and those who run do not, nor do those who walk in steps that are as quick as a jog's.
func TestWalks(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Run}, Styles: []string{"neutral"}})
	must.Do(t, err)
	var clips []*skel.Clip
	for _, k := range takes {
		clips = append(clips, k.Clip)
	}
	s := must.Get(NewStance(clips, must.Get(ik.HumanRoles(clips[0].Skel.Names))(t)))(t)
	walks := func(c *skel.Clip) float64 {
		n, all := 0, s.Walks(c)
		for _, w := range all {
			if w {
				n++
			}
		}
		return float64(n) / float64(len(all))
	}
	for _, k := range takes {
		quick := *k.Clip
		quick.FPS *= 1.5
		share, quickly := walks(k.Clip), walks(&quick)
		if k.Action == human.Walk && (share < 0.85 || quickly > 0.5) || k.Action == human.Run && share > 0.15 {
			t.Errorf("%s walks in %.2f of its frames, and %.2f if it is half as quick again", k.Name, share, quickly)
		}
	}
}
