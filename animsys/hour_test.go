package animsys_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/race"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// recordedJerk is the 99.9th percentile of the recorded joints' jerk in m/s³, as
// recordings tell it where they are at hand.
const recordedJerk = 6750

// jerk holds the last four places of the joints of one character.
type jerk [4][]m3.Xform

// add takes in a pose and returns the largest jerk and whose it is: the third
// difference of a joint's place in the world over four ticks, times 60³.
func (k *jerk) add(pose []m3.Xform, each func(v float64)) (most float64, joint int) {
	k[0], k[1], k[2], k[3] = k[1], k[2], k[3], append(k[0][:0], pose...)
	if len(k[0]) == 0 {
		return 0, 0
	}
	for j := range pose {
		d := k[3][j].Pos.Sub(k[0][j].Pos).Sub(k[2][j].Pos.Sub(k[1][j].Pos).Scale(3))
		v := float64(d.Len()) * mann.Rate * mann.Rate * mann.Rate
		if each != nil {
			each(v)
		}
		if v > most {
			most, joint = v, j
		}
	}
	return most, joint
}

// dataJerk returns the 99.9th percentile of the jerk of all joints in all rows of
// the recordings.
func dataJerk(t *testing.T) float64 {
	dir := filepath.Join(mocapdata.Dir(t), "dog")
	set, _, err := dataset.BuildMANN(dir, dataset.Options{HeldOut: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	for _, run := range set.Runs() {
		if run[0] >= set.Rows/2 {
			continue // the mirrored half
		}
		clip := set.Replay(run[0], run[1])
		var k jerk
		pose := make([]m3.Xform, clip.Skel.Len())
		for f := range clip.Frames {
			clip.Model(pose, f)
			k.add(pose, func(v float64) { all = append(all, v) })
		}
	}
	slices.Sort(all)
	return all[len(all)*999/1000]
}

// The constant that the hour is measured by is the recordings'.
func TestRecordedJerk(t *testing.T) {
	race.Single(t)
	if got := dataJerk(t); math.Abs(got/recordedJerk-1) > 0.01 {
		t.Errorf("99.9 %% of the recorded jerk is below %.0f m/s³, not %d", got, recordedJerk)
	}
}

// commander gives one dog all there is to do, at random times.
type commander struct {
	rng  *rand.Rand
	left int
	goal control.Goal
	next []control.Goal // what follows at once
}

func (c *commander) command(root m3.Xform) control.Goal {
	if c.left--; c.left < 0 {
		c.left = 15 + c.rng.IntN(3*mann.Rate)
		if len(c.next) > 0 {
			c.goal, c.next = c.next[0], c.next[1:]
		} else {
			c.choose()
		}
	}
	g := c.goal
	// Nobody leaves the hills.
	if root.Pos.Flat().Len() > 45 && g.Move != (m3.Vec3{}) {
		yaw := root.Rot.Yaw()
		g.Move, g.Turn = m3.V(0, 0, 1), control.Steer(yaw, m3.YawOf(root.Pos.Neg()))
	}
	return g
}

func (c *commander) choose() {
	r := c.rng
	either := func() float32 { return 2*r.Float32() - 1 }
	ahead := m3.V(0, 0, 1)
	move := func(dir m3.Vec3, speed float32) control.Goal {
		return control.Goal{Move: dir, Speed: speed, Action: control.Move}
	}
	switch r.IntN(10) {
	case 0:
		c.goal = control.Goal{}
	case 1:
		c.goal = control.Goal{Action: []control.Action{control.Sit, control.Lie, control.Stand}[r.IntN(3)]}
	case 2:
		c.goal = control.Goal{Move: ahead, Speed: 4 * r.Float32(), Action: control.Jump}
	case 3:
		c.goal = move(ahead, 4*r.Float32())
		c.goal.Turn = either()
	case 4:
		c.goal = move(m3.V(either(), 0, -1), 2*r.Float32())
	case 5:
		c.goal = move(m3.V(either(), 0, 0.3*either()), 2*r.Float32())
	case 6:
		c.goal = control.Goal{Turn: either(), Action: control.Move}
	case 7: // anything
		c.goal = control.Goal{Move: m3.V(either(), 0, either()), Turn: either(), Speed: 4 * r.Float32(), Action: control.Action(r.IntN(int(control.NumActions)))}
	case 8: // a sprint, and a stop
		c.goal = move(ahead, control.CanterSpeed)
		c.next = append(c.next, c.goal, control.Goal{})
	case 9: // whims
		c.left = 1 + r.IntN(10)
		c.goal = control.Goal{Move: m3.V(either(), 0, either()), Turn: either(), Speed: 4 * r.Float32(), Action: control.Action(r.IntN(int(control.NumActions)))}
	}
}

// toll is what the hour comes to.
type toll struct {
	jerk         float64 // the largest, m/s³
	where        string  // it was
	off          float32 // the farthest held paw from the ground, m
	bone         float64 // the largest change of length, a share
	low          float32 // the lowest joint over the terrain, m
	sunk         int     // ticks in which a joint was more than 3 cm in it
	deepest      string  // which that is
	held         int     // ticks that paws were held
	stands, near int     // ticks that they stood, and that they were within 1 cm of the ground
	restored     int
}

// An hour of random commands on hills: four dogs for a quarter of an hour each
// with $MANNEQUIN_HOUR, else for half a minute. $MANNEQUIN_MODEL names another model than
// the shipped dog.
func TestHourOnHills(t *testing.T) {
	ticks := 30 * mann.Rate
	if os.Getenv("MANNEQUIN_HOUR") != "" {
		ticks = 900 * mann.Rate
	}
	field, err := terrain.Hills(terrain.Grid{Size: 120, Cell: 0.5}, terrain.HillsOptions{Seed: 3, Wavelength: 14, MaxSlope: 0.35})
	if err != nil {
		t.Fatal(err)
	}
	// In other dogs' crouches before a leap a hind paw that must not jerk may come
	// lower.
	deepest := float32(0.03)
	if os.Getenv("MANNEQUIN_MODEL") != "" {
		deepest = 0.1
	}
	sum := hour(t, field, 4, ticks)
	t.Logf("4 dogs for %d s each: %d times restored; jerk up to %.0f m/s³, %.2f times the recordings' 99.9th percentile (%s); held paws up to %.1f mm off the ground; held for %.2f times the ticks that paws stand, which are within 1 cm of the ground in %.2f %% of them; bones change by up to %.4f %%; the lowest joint at %.0f mm (%s), and lower than -30 mm in %.3f %% of the ticks",
		ticks/mann.Rate, sum.restored, sum.jerk, sum.jerk/recordedJerk, sum.where, 1000*sum.off, float64(sum.held)/float64(sum.stands), 100*float64(sum.near)/float64(sum.stands), 100*sum.bone, 1000*sum.low, sum.deepest, 100*float64(sum.sunk)/float64(4*ticks))
	switch {
	case sum.restored > 0:
		t.Errorf("dogs were restored %d times", sum.restored)
	case sum.jerk > 2*recordedJerk:
		t.Errorf("jerk of %.0f m/s³: %s", sum.jerk, sum.where)
	case sum.off > 0.01:
		t.Errorf("a held paw is %g m off the ground", sum.off)
	case sum.near < sum.stands*99/100 || sum.held < sum.stands:
		t.Errorf("paws stand for %d ticks, but are near the ground in %d and held in %d", sum.stands, sum.near, sum.held)
	case sum.low < -deepest || sum.sunk > 4*ticks/500:
		t.Errorf("joints are more than 3 cm in the ground in %d ticks, one %g m: %s", sum.sunk, -sum.low, sum.deepest)
	case sum.bone > 1e-3:
		t.Errorf("a bone changes by %g of its length", sum.bone)
	}
}

func hour(t *testing.T, field *terrain.Field, dogs, ticks int) (sum toll) {
	name := cmp.Or(os.Getenv("MANNEQUIN_MODEL"), "dog")
	if name == "dog" && !slices.Contains(models.Names(), name) {
		t.Skip("no dog is shipped yet")
	}
	net, err := models.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	w := arche.NewWorld()
	controller, err := m.NewController(mann.ControllerOptions{Capacity: dogs})
	if err != nil {
		t.Fatal(err)
	}
	crowd, err := animsys.NewCrowd(&w, controller, animsys.Options{Ground: field})
	if err != nil {
		t.Fatal(err)
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		t.Fatal(err)
	}
	defer schedule.Close()
	goals := generic.NewMap1[control.Goal](&w)
	entities, commanders, jerks := make([]arche.Entity, dogs), make([]commander, dogs), make([]jerk, dogs)
	for i := range entities {
		if entities[i], err = crowd.Spawn(m3.V(float32(i)*6-9, 0, 0), float32(i)); err != nil {
			t.Fatal(err)
		}
		commanders[i].rng = rand.New(rand.NewPCG(2018, uint64(i)))
	}
	legs := len(crowd.Ground.Rig.Roles.Legs)
	flat, before, still := make([]m3.Xform, m.Skel.Len()), make([]m3.Vec3, dogs*legs), make([]int, dogs*legs)
	for tick := range ticks {
		for i, e := range entities {
			*goals.Get(e) = commanders[i].command(crowd.Roots[i]) // rows are in the order of spawning
		}
		if err := schedule.Step(); err != nil {
			t.Fatal(err)
		}
		for i := range entities {
			bones, sunk := crowd.BonesAt(i), 0
			for j, p := range m.Skel.Parents {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: %s of dog %d is not finite", tick, m.Skel.Names[j], i)
				}
				if want := m.Skel.Offsets[j].Len(); p >= 0 && want > 0 {
					sum.bone = max(sum.bone, math.Abs(float64(bones[j].Pos.Dist(bones[p].Pos)/want)-1))
				}
				h := bones[j].Pos.Y - field.Height(bones[j].Pos.X, bones[j].Pos.Z)
				if h < -0.03 {
					sunk = 1
				}
				if h < sum.low {
					sum.low, sum.deepest = h, fmt.Sprintf("%s of dog %d in tick %d under %v", m.Skel.Names[j], i, tick, commanders[i].goal.Action)
				}
			}
			sum.sunk += sunk
			if v, j := jerks[i].add(bones, nil); v > sum.jerk {
				sum.jerk, sum.where = v, fmt.Sprintf("%s of dog %d in tick %d under %v", m.Skel.Names[j], i, tick, commanders[i].goal.Action)
			}
			n := len(bones)
			m.Skel.LocalToModel(flat, crowd.Pos[i*n:(i+1)*n], crowd.Rot[i*n:(i+1)*n])
			for l, leg := range crowd.Ground.Rig.Roles.Legs {
				foot := &crowd.Ground.Feet[i*legs+l]
				p := bones[leg[len(leg)-1]].Pos
				high := m3.Abs(p.Y - field.Height(p.X, p.Z))
				if foot.Locked() {
					sum.held++
					sum.off = max(sum.off, high)
				}
				// A standing paw, told apart from the solver: for three ticks on
				// end the flat pose's is slower than 0.15 m/s and lower than 4 cm.
				tip := flat[leg[len(leg)-1]].Pos
				if d := tip.Dist(before[i*legs+l]); d*mann.Rate > 0.15 || tip.Y > 0.04 {
					still[i*legs+l] = 0
				} else if still[i*legs+l]++; still[i*legs+l] >= 3 {
					sum.stands++
					if high <= 0.01 {
						sum.near++
					}
				}
				before[i*legs+l] = tip
			}
		}
	}
	for i := range entities {
		sum.restored += controller.Restored(i)
	}
	return sum
}
