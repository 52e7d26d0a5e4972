package animsys_test

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A dog walks up stairs, and down: no joint jerks more than the hour allows, its
// back tilts smoothly as hips and chest cross the edges, held paws are on the
// treads, and none goes through a riser. $MANNEQUIN_PICTURES names a folder that
// gets a picture of it.
func TestStairs(t *testing.T) {
	field, err := terrain.Steps(terrain.Grid{Size: 60, Cell: 0.1}, 0.12, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	net, err := models.Open("dog")
	if err != nil {
		t.Skip("no dog is shipped yet")
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	w := arche.NewWorld()
	dogs, err := m.NewController(mann.ControllerOptions{Capacity: 2})
	if err != nil {
		t.Fatal(err)
	}
	crowd, err := animsys.NewCrowd(&w, dogs, animsys.Options{Ground: field})
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
	var strip []strip
	var jerks [2]jerk
	var tilts [2][3]float64
	spine := crowd.Ground.Rig.Roles.Spine
	for i, yaw := range []float32{0, math.Pi} { // up, and down
		e, err := crowd.Spawn(m3.V(float32(i), 0, 0), yaw)
		if err != nil {
			t.Fatal(err)
		}
		*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: control.PaceSpeed, Action: control.Move}
	}
	for tick := range 8 * mann.Rate {
		if err := schedule.Step(); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			bones := crowd.BonesAt(i)
			if v, j := jerks[i].add(bones, nil); v > 2*recordedJerk {
				t.Errorf("tick %d: %s has a jerk of %.0f m/s³", tick, m.Skel.Names[j], v)
			}
			back := bones[spine[len(spine)-1]].Pos.Sub(bones[spine[0]].Pos)
			pitch := &tilts[i]
			*pitch = [3]float64{pitch[1], pitch[2], math.Atan2(float64(back.Y), float64(back.Flat().Len()))}
			if a := (pitch[2] - 2*pitch[1] + pitch[0]) * mann.Rate * mann.Rate; tick > 2 && math.Abs(a) > 150 {
				t.Errorf("tick %d: the back's tilt is pushed by %.0f rad/s²", tick, a)
			}
			for l, leg := range crowd.Ground.Rig.Roles.Legs {
				tip := bones[leg[len(leg)-1]].Pos
				high := tip.Y - field.Height(tip.X, tip.Z)
				if high < -0.01 {
					t.Errorf("tick %d: paw %d is %g m in the ground", tick, l, -high)
				}
				if crowd.Ground.Feet[4*i+l].Locked() && high > 0.012 {
					t.Errorf("tick %d: held paw %d is %g m above its tread", tick, l, high)
				}
			}
		}
		if tick >= 300 && tick%9 == 0 && len(strip) < 8 {
			strip = append(strip, newStrip(crowd, 0))
		}
	}
	for i := range 2 {
		if n := dogs.Restored(i); n != 0 {
			t.Errorf("restored %d times", n)
		}
		if way := crowd.Roots[i].Pos.Z; math.Abs(float64(way)) < 5 {
			t.Errorf("dog %d went only %g m", i, way)
		}
	}
	if dir := os.Getenv("MANNEQUIN_PICTURES"); dir != "" {
		savePicture(t, filepath.Join(dir, "feet-stairs.png"), strip, m.Skel.Parents, crowd)
	}
}

// strip is one pose of a picture: as it is shown, and as it is on flat ground.
type strip struct{ shown, flat []m3.Vec3 }

func newStrip(c *animsys.Crowd, row int) strip {
	sk := c.Skel
	n := sk.Len()
	flat := make([]m3.Xform, n)
	sk.LocalToModel(flat, c.Pos[row*n:(row+1)*n], c.Rot[row*n:(row+1)*n])
	return strip{draw.Positions(c.BonesAt(row)), draw.Positions(flat)}
}

// savePicture draws poses side by side, seen from the right, with the ground
// under their paws.
func savePicture(t *testing.T, file string, poses []strip, parents []int16, c *animsys.Crowd) {
	t.Helper()
	legs := []color.RGBA{draw.Blue, draw.Red, draw.Green, draw.Orange}
	img := draw.Sheet(4, 300, 240, len(poses), func(i int, tile *image.RGBA) {
		p := poses[i]
		cam := draw.Side(p.shown[0].Add(m3.V(0, -0.15, 0.15)), 1.15)
		for _, leg := range c.Ground.Rig.Roles.Legs {
			tip := p.shown[leg[len(leg)-1]]
			var line []m3.Vec3
			for d := float32(-0.9); d <= 0.9; d += 0.02 {
				q := m3.V(tip.X, 0, p.shown[0].Z+d)
				q.Y = c.Ground.Ground.Height(q.X, q.Z)
				line = append(line, q)
			}
			draw.Path(tile, cam, line, 1, draw.Ink)
		}
		draw.Skeleton(tile, cam, parents, p.flat, draw.Faint)
		draw.Skeleton(tile, cam, parents, p.shown, draw.Ink)
		for l, leg := range c.Ground.Rig.Roles.Legs {
			for k := 1; k < len(leg); k++ {
				draw.Line(tile, cam, p.shown[leg[k-1]], p.shown[leg[k]], 3, legs[l%len(legs)])
			}
		}
	})
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}
