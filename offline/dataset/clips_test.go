package dataset_test

import (
	"math"
	"math/rand/v2"
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
	// Recorded rows that move are visited four times, the fastest three tenths eleven times. Played ones are visited twice, the fastest
	// tenth eleven times and the fifth after them four times.
	counted := func(m *dataset.MANN) (rows [12]int) {
		visits := map[int32]int{}
		for _, r := range m.Order {
			visits[r]++
		}
		for _, n := range visits {
			rows[n]++
		}
		return rows
	}
	rows := counted(train)
	move := rows[4] + rows[11]
	if rows[1] == 0 || rows[1]+move != train.Rows || rows[11] != 3*move/10 {
		t.Errorf("of %d rows, %v are visited so many times", train.Rows, rows)
	}
	played := c
	played.Played = true
	if train, _, err = dataset.FromClips(layout, c.Motion.Skel, []dataset.Clip{played, held}, 2); err != nil {
		t.Fatal(err)
	}
	if again := counted(train); again[2] != rows[4] || again[11] != move/10 || again[4] != rows[11]-move/10 {
		t.Errorf("of %d played rows, %v are visited so many times; of recorded ones %v", train.Rows, again, rows)
	}
	sameImage(t, layout, mirror, c)
}

// sameImage checks that the rows of a clip's mirror image are those of the mirrored clip.
func sameImage(t *testing.T, layout *feature.MANN, mirror *skel.Mirror, c dataset.Clip) {
	t.Helper()
	held := c
	held.HeldOut = true
	train, _, err := dataset.FromClips(layout, c.Motion.Skel, []dataset.Clip{c, held}, 2)
	must.Do(t, err)
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

// So they are for joints with any axes: along their bones, turned over on the right side, or with another axis to the left. The
// axes that a mirror image needs are found in the motion where offsets leave a choice.
func TestFromClipsOfAnyAxes(t *testing.T) {
	layout, mirror, c := walker(t)
	rng := rand.New(rand.NewPCG(4, 1))
	random := func() m3.Quat {
		return m3.Quat{X: float32(rng.NormFloat64()), Y: float32(rng.NormFloat64()), Z: float32(rng.NormFloat64()), W: float32(rng.NormFloat64())}.Normalize()
	}
	half := [skel.AllAxes + 1]m3.Quat{{X: 1}, {Y: 1}, {Z: 1}, {W: 1}}
	sk := *c.Motion.Skel
	frames, axes := make([]m3.Quat, sk.Len()), make([]uint8, sk.Len()) // from a joint's new axes to those that it had
	for j, k := range mirror.Pair {
		switch {
		case sk.Parents[j] < 0:
			frames[j] = m3.Ident
		case int(k) == j: // another axis to the left
			axes[j] = uint8(rng.IntN(3))
			frames[j] = m3.AxisAngle(m3.V(1, 0, 0), rng.Float32()).Mul([]m3.Quat{m3.Ident, m3.AxisAngle(m3.V(0, 0, 1), -math.Pi/2), m3.YawQuat(math.Pi / 2)}[axes[j]])
		case int(k) > j:
			frames[j], axes[j] = random(), uint8(rng.IntN(len(half)))
			frames[k], axes[k] = half[0].Mul(frames[j]).Mul(half[axes[j]].Conj()), axes[j]
		}
	}
	above := func(j int) m3.Quat {
		if p := sk.Parents[j]; p >= 0 {
			return frames[p].Conj()
		}
		return m3.Ident
	}
	sk.Offsets = slices.Clone(sk.Offsets)
	for j, o := range sk.Offsets {
		sk.Offsets[j] = above(j).Rotate(o)
	}
	was := c.Motion
	c.Motion = skel.NewClip(&sk, was.FPS, was.Frames)
	for f := range was.Frames {
		pos, rot := c.Motion.Frame(f)
		fromPos, fromRot := was.Frame(f)
		for j := range rot {
			pos[j], rot[j] = above(j).Rotate(fromPos[j]), above(j).Mul(fromRot[j]).Mul(frames[j])
		}
	}
	found := must.Get(skel.NewMirror(&sk, c.Motion))(t)
	if !slices.Equal(found.Axis, axes) {
		t.Errorf("the lateral axes are %v, found %v", axes, found.Axis)
	}
	if blind := must.Get(skel.NewMirror(&sk))(t); slices.Equal(blind.Axis, axes) {
		t.Error("they are found without the motion: the test is too easy")
	}
	for _, a := range found.Axis {
		layout.Lateral = append(layout.Lateral, int(a))
	}
	sameImage(t, layout, found, c)
	layout.Lateral[0] = 4
	if err := layout.Validate(); err == nil || !strings.Contains(err.Error(), "lateral axes 4 and") {
		t.Errorf("an axis 4: %v", err)
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
