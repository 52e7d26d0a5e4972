package ik_test

import (
	"math"
	"path/filepath"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testdata"
	"mannequin/offline/mocap"
	"mannequin/terrain"
)

// recorded returns a recording of the dog in metres.
func recorded(t testing.TB, name string) *skel.Clip {
	b, err := mocap.OpenBVH(filepath.Join(testdata.Dir(t), "dog", name+".bvh"))
	if err != nil {
		t.Fatal(err)
	}
	return b.Clip.Scaled(0.01)
}

func hills(t testing.TB, degrees float64, seed uint64) *terrain.Field {
	f, err := terrain.Hills(terrain.Grid{Size: 40, Cell: 0.25}, terrain.HillsOptions{Seed: seed, Wavelength: 6, MaxSlope: float32(degrees * math.Pi / 180)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// solver returns a job of one row for the clip's skeleton.
func solver(t testing.TB, s *skel.Skeleton, g ik.Ground) *ik.Quadruped {
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
	q := ik.DefaultQuadruped()
	q.Rig, q.Ground = rig, g
	q.Model = make([]m3.Xform, s.Len())
	q.Feet = make([]ik.Foot, len(roles.Legs))
	return &q
}

func TestRecordedDogOnHills(t *testing.T) {
	for _, name := range []string{"D1_008_KAN01_001", "D1_053_KAN01_001", "D1_010_KAN01_001", "D1_ex03_KAN02_001"} {
		clip := recorded(t, name)
		field := hills(t, 20, 5)
		q := solver(t, clip.Skel, field)
		flat := make([]m3.Xform, clip.Skel.Len())
		prev := make([]m3.Xform, clip.Skel.Len())
		legs := q.Rig.Roles.Legs
		stance, far, worst := 0, 0, float32(0)
		var stretch, maxTurnFlat, maxTurn float32
		prevM := make([]m3.Xform, clip.Skel.Len())
		hist := make([]int, 30)
		var sumA, sumB float64
		for f := range clip.Frames {
			q.Pos, q.Rot = clip.Frame(f)
			if f == 0 {
				if err := q.Validate(); err != nil {
					t.Fatal(err)
				}
			}
			copy(prev, flat)
			copy(prevM, q.Model)
			clip.Model(flat, f)
			q.Run(0, 1)
			for j, p := range clip.Skel.Parents {
				if p < 0 {
					continue
				}
				want := q.Pos[j].Len()
				if want > 0 {
					stretch = max(stretch, m3.Abs(q.Model[j].Pos.Dist(q.Model[p].Pos)/want-1))
				}
			}
			if f == 0 {
				continue
			}
			for j := range flat {
				a, b := flat[j].Rot.Angle(prev[j].Rot), q.Model[j].Rot.Angle(prevM[j].Rot)
				maxTurnFlat = max(maxTurnFlat, a)
				if b > maxTurn {
					maxTurn = b
				}
				sumA += float64(a)
				sumB += float64(b)
				if b > a+0.2 {
					//t.Logf("%s frame %d %s: turn %.2f vs flat %.2f", name, f, clip.Skel.Names[j], b, a)
				}
			}
			for i, l := range legs {
				tip := l[len(l)-1]
				v := flat[tip].Pos.Sub(prev[tip].Pos).Flat().Len() * 60
				if v > 0.15 || flat[tip].Pos.Y > 0.04 {
					continue
				}
				stance++
				p := q.Model[tip].Pos
				e := m3.Abs(p.Y - field.Height(p.X, p.Z))
				if e > 0.01 {
					far++
					hist[min(int(e*100), 29)]++
				}
				if e > worst {
					worst = e
				}
				_ = i
			}
		}
		t.Logf("%s: %d stances, %d beyond 1 cm, worst %.4f m; stretch %.2g; turn/frame max %.2f (flat %.2f) mean ratio %.3f %v", name, stance, far, worst, stretch, maxTurn, maxTurnFlat, sumB/sumA, hist)
	}
}
