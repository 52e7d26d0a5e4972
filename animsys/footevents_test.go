package animsys_test

import (
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// stretches returns where v is true for at least that many ticks, [from, to). Gaps of up to two ticks do not count.
func stretches(v []bool, least int) (out [][2]int) {
	for i := 0; i < len(v); {
		if !v[i] {
			i++
			continue
		}
		k := i
		for k < len(v) && slices.Contains(v[k:min(k+3, len(v))], true) {
			k++
		}
		for !v[k-1] {
			k--
		}
		if k-i >= least {
			out = append(out, [2]int{i, k})
		}
		i = k
	}
	return out
}

// Events agree with feet as they are seen. A foot that rests on the ground by its bones alone has one FootDown and one
// FootUp. It comes down when it begins to rest, or up to 0.15 s earlier, since people's heels come down before their toes,
// and goes up within a tick of moving, by all but a few feet.
func TestFootEventsAsSeen(t *testing.T) {
	const begin, ticks, n, rest = 300, 1200, 4, 6
	for _, k := range shipped(t) {
		if k.name == "keypose" || k.name == "latent" {
			continue // they stand
		}
		t.Run(k.name, func(t *testing.T) {
			s := k.scene(t, n, 2, func(o *animsys.Options) { o.Ground = ik.Level(0) })
			all := s.run(begin, numbers(n)...)
			legs := s.people.Ground.Rig.Roles.Legs
			type foot struct {
				was       m3.Vec3
				down      bool   // by events
				rests, on []bool // (ticks) by bones, and by events
			}
			feet := make([]foot, n*len(legs))
			tip := func(i int) m3.Vec3 {
				leg := legs[i%len(legs)]
				return s.people.BonesAt(i / len(legs))[leg[len(leg)-1]].Pos
			}
			for i := range feet {
				feet[i].was, feet[i].down = tip(i), s.people.Ground.Feet[i].Stands()
			}
			s.play(all, numbers(n), begin, begin+ticks, func(int) {
				for _, e := range s.people.Events() {
					if row, _ := s.people.Row(e.Entity); e.Kind == animsys.FootDown || e.Kind == animsys.FootUp {
						feet[row*len(legs)+int(e.Leg)].down = e.Kind == animsys.FootDown
					}
				}
				for i := range feet {
					f, at := &feet[i], tip(i)
					f.rests = append(f.rests, at.Y < 0.06 && at.Dist(f.was)*animsys.TickRate < 0.1)
					f.was, f.on = at, append(f.on, f.down)
				}
			})
			stances, contacts, short, early, off := 0, 0, 0, 0, 0
			for i := range feet {
				seen, said := stretches(feet[i].rests, rest), stretches(feet[i].on, 1)
				stances, contacts = stances+len(seen), contacts+len(said)
				meet := func(a, b [2]int) bool { return a[0] < b[1] && b[0] < a[1] }
				for _, x := range seen {
					var of [][2]int
					for _, y := range said {
						if meet(x, y) {
							of = append(of, y)
						}
					}
					if len(of) != 1 {
						t.Errorf("foot %d rests in ticks %v and has contact in %v", i, x, of)
						continue
					}
					if y := of[0]; x[0] > 0 && y[0] > 0 {
						if early = max(early, x[0]-y[0]); x[0]-y[0] > 9 || y[0] > x[0] {
							t.Errorf("foot %d rests from tick %d on, and is said to be down in tick %d", i, x[0], y[0])
						}
					}
					if y := of[0]; x[1] < ticks && y[1] < ticks {
						if y[1] < x[1]-1 || y[1] > x[1]+1 {
							off++
						}
						if y[1] < x[1]-2 || y[1] > x[1]+7 {
							t.Errorf("foot %d moves from tick %d on, and is said to be up in tick %d", i, x[1], y[1])
						}
					}
				}
				for _, y := range said {
					if !slices.ContainsFunc(seen, func(x [2]int) bool { return meet(x, y) }) {
						short++
					}
				}
			}
			t.Logf("%d times a foot rests, %d contacts, %d of them too short to be seen; down up to %d ticks before the toes rest; up more than a tick off %d times", stances, contacts, short, early, off)
			if stances < 100 || short > contacts/15 || off > stances/50 {
				t.Errorf("of %d contacts %d are too short to be seen, and %d end early or late", contacts, short, off)
			}
		})
	}
}
