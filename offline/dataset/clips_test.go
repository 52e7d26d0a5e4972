package dataset_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
)

// walker returns the layout of a person, with the clip of one who walks.
func walker(t *testing.T) (*feature.MANN, *skel.Mirror, dataset.Clip) {
	t.Helper()
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk}, Styles: []string{"neutral"}})
	must.Do(t, err)
	motion := takes[0].Clip.Section(0, 240)
	sk := motion.Skel
	mirror := must.Get(skel.NewMirror(sk))(t)
	layout := &feature.MANN{Joints: sk.Names, Actions: []string{"idle", "move"}, Phases: true}
	for _, p := range mirror.Pair {
		layout.Mirror = append(layout.Mirror, int(p))
	}
	for _, side := range []string{"Left", "Right"} {
		i := slices.IndexFunc(sk.Names, func(n string) bool { return strings.HasPrefix(n, side+"Foot") })
		if i < 0 {
			t.Fatal(sk.Names)
		}
		layout.Tips = append(layout.Tips, sk.Names[i])
	}
	c := dataset.Clip{Name: "walk", Motion: motion}
	for f := range motion.Frames {
		pos, rot := motion.Frame(f)
		c.Roots = append(c.Roots, feature.Place{Pos: pos[0].Flat(), Yaw: rot[0].Yaw()})
		c.Actions = append(c.Actions, layout.Actions[min(f/60, 1)])
	}
	return layout, mirror, c
}

// Rows of mirror images are the rows of the mirrored clip.
func TestFromClips(t *testing.T) {
	layout, mirror, c := walker(t)
	held := c
	held.HeldOut = true
	train, heldOut, err := dataset.FromClips(layout, c.Motion.Skel, []dataset.Clip{c, held}, 2)
	must.Do(t, err)
	if train.Rows != heldOut.Rows || !slices.Equal(train.XMean, heldOut.XMean) {
		t.Errorf("%d and %d rows", train.Rows, heldOut.Rows)
	}
	// Rows that move are visited four times, the fastest eleven times.
	var rows [12]int
	visits := map[int32]int{}
	for _, r := range train.Order {
		visits[r]++
	}
	for _, n := range visits {
		rows[n]++
	}
	if move := rows[4] + rows[11]; len(visits) != train.Rows || rows[1] == 0 || rows[1]+move != train.Rows || rows[11] < move/10 || rows[11] > move/10+4 {
		t.Errorf("of %d rows, %v are visited so many times", train.Rows, rows)
	}
	image := c
	image.Motion = c.Motion.Mirrored(mirror)
	image.Roots = slices.Clone(c.Roots)
	for f, p := range c.Roots {
		image.Roots[f] = feature.Place{Pos: m3.V(-p.Pos.X, 0, p.Pos.Z), Yaw: -p.Yaw}
	}
	other, _, err := dataset.FromClips(layout, image.Motion.Skel, []dataset.Clip{image, held}, 1)
	must.Do(t, err)
	n := train.Rows / 2
	for r := range n {
		for name, rows := range map[string][2][]float32{"input": {train.Input(r + n), other.Input(r)}, "output": {train.Output(r + n), other.Output(r)}} {
			for i, v := range rows[0] {
				if w := rows[1][i]; !(math.Abs(float64(v-w)) < 2e-3*(1+math.Abs(float64(w)))) {
					t.Fatalf("row %d, %s %d: mirrored %g, of the mirrored clip %g", r, name, i, v, w)
				}
			}
		}
	}
}

func TestFromClipsRefuses(t *testing.T) {
	layout, _, c := walker(t)
	sk := c.Motion.Skel
	held := c
	held.HeldOut = true
	for want, change := range map[string]func(c *dataset.Clip){
		"as many of each":  func(c *dataset.Clip) { c.Roots = c.Roots[1:] },
		"\"fly\" in frame": func(c *dataset.Clip) { c.Actions = slices.Repeat([]string{"fly"}, len(c.Actions)) },
		"per second":       func(c *dataset.Clip) { slow := *c.Motion; slow.FPS = 30; c.Motion = &slow },
		"held out":         func(c *dataset.Clip) { c.HeldOut = true },
	} {
		bad := c
		change(&bad)
		if _, _, err := dataset.FromClips(layout, sk, []dataset.Clip{bad, held}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	layout.Mirror[0] = 3
	if _, _, err := dataset.FromClips(layout, sk, []dataset.Clip{c, held}, 1); err == nil || !strings.Contains(err.Error(), "mirror image") {
		t.Errorf("a joint whose mirror image is not its own: %v", err)
	}
}
