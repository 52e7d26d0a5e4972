package ik_test

import (
	"math"
	"path/filepath"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/mocapdata"
	"mannequin/offline/mocap"
	"mannequin/terrain"
)

// recorded returns a recording of the dog in metres.
func recorded(t testing.TB, name string) *skel.Clip {
	b, err := mocap.OpenBVH(filepath.Join(mocapdata.Dir(t), "dog", name+".bvh"))
	if err != nil {
		t.Fatal(err)
	}
	return b.Clip.Scaled(0.01)
}

func hills(t testing.TB, degrees float64, seed uint64) *terrain.Field {
	f, err := terrain.Hills(terrain.Grid{Size: 40, Cell: 0.5}, terrain.HillsOptions{Seed: seed, Wavelength: 6, MaxSlope: float32(degrees * math.Pi / 180)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// solver returns a job of one row for the clip's skeleton.
func solver(t testing.TB, s *skel.Skeleton, g ik.Ground) *ik.Legged {
	tree, err := ik.NewTree(s.Parents)
	if err != nil {
		t.Fatal(err)
	}
	roles, err := ik.DogRoles(s.Names)
	if err != nil {
		t.Fatal(err)
	}
	rig, err := ik.NewRig(tree, roles)
	if err != nil {
		t.Fatal(err)
	}
	q := ik.DefaultDog()
	q.Rig, q.Ground = rig, g
	q.Model = make([]m3.Xform, s.Len())
	q.Feet, q.Body = make([]ik.Foot, len(roles.Legs)), make([]ik.Body, 1)
	return &q
}

// Recordings of a real dog, made on flat ground, played over hills of up to 20°: held paws stay
// within 1 cm of the ground, and so do nearly all that stand (slower than 0.15 m/s in space and
// lower than 4 cm for three frames on end); bones keep their lengths to 0.1 %; standing paws skate
// a quarter of what they do in the recording at most; and the motion stays as smooth as it was.
func TestRecordedDogOnHills(t *testing.T) {
	for _, name := range []string{"D1_008_KAN01_001", "D1_053_KAN01_001", "D1_010_KAN01_001", "D1_ex03_KAN02_001"} {
		clip := recorded(t, name)
		field := hills(t, 20, 5)
		q := solver(t, clip.Skel, field)
		n := clip.Skel.Len()
		flat, prev, before := make([]m3.Xform, n), make([]m3.Xform, n), make([]m3.Xform, n)
		still := make([]int, len(q.Feet))
		var stances, off, held int
		var worst, slidFlat, slid, snap float32
		var turnedFlat, turned float64
		for f := range clip.Frames {
			q.Pos, q.Rot = clip.Frame(f)
			copy(prev, flat)
			copy(before, q.Model)
			clip.Model(flat, f)
			q.Run(0, 1)
			checkBones(t, q, clip.Skel, 0)
			if f == 0 {
				continue
			}
			for j := range n {
				a, b := flat[j].Rot.Angle(prev[j].Rot), q.Model[j].Rot.Angle(before[j].Rot)
				snap = max(snap, b-a)
				turnedFlat, turned = turnedFlat+float64(a), turned+float64(b)
			}
			for i, l := range q.Rig.Roles.Legs {
				tip := l[len(l)-1]
				p := q.Model[tip].Pos
				high := m3.Abs(p.Y - field.Height(p.X, p.Z))
				if q.Feet[i].Locked() {
					held++
					worst = max(worst, high)
				}
				if d := flat[tip].Pos.Dist(prev[tip].Pos); d*60 > 0.15 || flat[tip].Pos.Y > 0.04 {
					still[i] = 0
				} else if still[i]++; still[i] >= 3 {
					stances++
					if high > 0.01 {
						off++
					}
					slidFlat += flat[tip].Pos.Sub(prev[tip].Pos).Flat().Len()
					slid += p.Sub(before[tip].Pos).Flat().Len()
				}
			}
		}
		t.Logf("%s: %d paws held, at most %.4f m off the ground; %d standing, %.2f %% of them more than 1 cm off, sliding %.4f cm/frame (flat %.4f); turning %.3f times the flat pose's, at most %.2f rad more in a tick",
			name, held, worst, stances, 100*float64(off)/float64(stances), 100*slid/float32(stances), 100*slidFlat/float32(stances), turned/turnedFlat, snap)
		if held < stances || stances < 1000 || worst > 0.01 || off > stances/200 || slid > slidFlat/4 || turned > 1.1*turnedFlat || snap > 0.35 {
			t.Errorf("%s is worse than it should be", name)
		}
	}
}

// Recorded dogs that lie have knees and elbows up to 9 cm in the ground. On hills and slopes of 20°
// to any side nothing of what is shown is in the ground: not the limbs, nor the joints that they
// hang on, nor the head.
func TestLyingDogStaysAbove(t *testing.T) {
	clip := recorded(t, "D1_006_KAN01_001")
	grounds := []*terrain.Field{hills(t, 15, 5)}
	for i := range 4 {
		slope, err := terrain.Slope(terrain.Grid{Size: 100, Cell: 1}, 20*math.Pi/180, float32(i)*math.Pi/2)
		if err != nil {
			t.Fatal(err)
		}
		grounds = append(grounds, slope)
	}
	flat := make([]m3.Xform, clip.Skel.Len())
	for i, field := range grounds {
		q := solver(t, clip.Skel, field)
		var under int
		var least float32
		deepest := ""
		for f := range clip.Frames {
			q.Pos, q.Rot = clip.Frame(f)
			clip.Model(flat, f)
			q.Run(0, 1)
			for j, x := range q.Model {
				if flat[j].Pos.Y < -0.03 {
					under++
				}
				if h := x.Pos.Y - field.Height(x.Pos.X, x.Pos.Z); h < least {
					least, deepest = h, clip.Skel.Names[j]
				}
			}
		}
		if under < 500 || least < -0.005 {
			t.Errorf("ground %d: joints are %d times 3 cm in the ground as recorded; as shown, %s is at %g m", i, under, deepest, least)
		}
	}
}
