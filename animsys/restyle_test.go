package animsys_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"

	arche "github.com/mlange-42/arche/ecs"
)

// styles is a database of three styles of walks and of standing.
var styles = sync.OnceValues(func() (*mar.Database, error) {
	takes, lines, err := human.Generate(human.Options{Seed: 1, Minutes: 1, Actions: []string{human.Walk, human.Stand}, Styles: []string{"neutral", "old", "proud"}})
	if err != nil {
		return nil, err
	}
	return registration.Database(takes, lines)
})

func withStyles(t testing.TB) func(*animsys.Options) {
	t.Helper()
	db, err := styles()
	if err != nil {
		t.Fatal(err)
	}
	return func(o *animsys.Options) { o.Styles = db }
}

func indexOf(t testing.TB, style string) int {
	db, err := styles()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Index(db.Styles, style)
}

// The old stoop and the proud do not, wherever their curve leads them, and who loses
// the style walks as before; ways and contacts stay as they are.
func TestRestyle(t *testing.T) {
	lean := func(s *street, e arche.Entity) float32 { // of the trunk, ahead, rad
		b := s.bones(e)
		row, _ := s.people.Row(e)
		up := b[s.people.Skel.Index("Neck1")].Pos.Sub(b[0].Pos)
		return m3.Atan2(s.people.Roots[row].Rot.Conj().Rotate(up).Z, up.Y)
	}
	s := newStreet(t, 3, 2, manifold.StreamOptions{}, withStyles(t))
	plain := newStreet(t, 3, 2, manifold.StreamOptions{})
	var who, same []arche.Entity
	for i := range 3 {
		who, same = append(who, s.person(4*i)), append(same, plain.person(4*i))
	}
	both := func(n int) {
		s.step(n)
		plain.step(n)
	}
	both(200)
	for i := range who {
		if a, b := s.bones(who[i]), plain.bones(same[i]); !slices.Equal(a, b) {
			t.Fatalf("person %d moves otherwise where there are styles, without one", i)
		}
	}
	s.style(who[0], "mar", indexOf(t, "old"), 1)
	s.style(who[1], "mar", indexOf(t, "proud"), 1)
	both(60)
	var old, proud, none float32
	for range 120 {
		both(1)
		old += lean(s, who[0]) / 120
		proud += lean(s, who[1]) / 120
		none += lean(plain, same[0]) / 120
		for i := range who {
			// They step more or less often, and their ways are planned anew for it.
			a, b := s.people.Roots[i], plain.people.Roots[i]
			if a.Pos.Dist(b.Pos) > 0.02 || a.Rot.Dot(b.Rot) < 0.9999 {
				t.Fatalf("with a style person %d is at %v, without at %v", i, a, b)
			}
		}
	}
	t.Logf("trunks lean by %.2f, old %.2f, proud %.2f", none, old, proud)
	if old < none+0.1 || proud > old-0.1 {
		t.Errorf("trunks lean by %.2f, old %.2f, proud %.2f", none, old, proud)
	}
	if a, b := s.bones(who[2]), plain.bones(same[2]); !slices.Equal(a, b) {
		t.Error("who has no style moves otherwise beside those who have")
	}
	s.style(who[0], "mar", 0, 0)
	both(240)
	old, none = 0, 0
	for range 120 {
		both(1)
		old += lean(s, who[0]) / 120
		none += lean(plain, same[0]) / 120
	}
	if m3.Abs(old-none) > 0.03 {
		t.Errorf("who has lost a style leans by %.2f, who had none by %.2f", old, none)
	}
}

// Who is styled steps as often as the style's strides ask for: before Ground holds
// them, feet that stand hardly slide.
func TestRestyleSteps(t *testing.T) {
	s := newStreet(t, 3, 2, manifold.StreamOptions{}, withStyles(t), func(o *animsys.Options) {
		o.Known = mar.Label{Styles: 1 << indexOf(t, "neutral")}
	})
	for i := range 3 {
		e := s.person(2 + 4*i) // at 1 m/s
		if i > 0 {
			s.style(e, "mar", indexOf(t, [...]string{"", "old", "proud"}[i]), 1)
		}
	}
	sk := s.people.Skel
	toes := [2]int{sk.Index("LeftToeBase"), sk.Index("RightToeBase")}
	model := make([]m3.Xform, sk.Len())
	type foot struct {
		pos   m3.Vec3
		stood bool
	}
	last, slid, gone := make([][2]foot, 3), make([]float32, 3), make([]float32, 3)
	hips := make([]m3.Vec3, 3)
	measuring := false
	s.peek = func() {
		for r := range 3 {
			sk.LocalToModel(model, s.people.Pos[r*sk.Len():][:sk.Len()], s.people.Rot[r*sk.Len():][:sk.Len()])
			way := model[0].Pos.Sub(hips[r]).Flat()
			for i, j := range toes {
				now := foot{model[j].Pos, s.people.Ground.Contacts[2*r+i]}
				if measuring && now.stood && last[r][i].stood {
					slid[r] += now.pos.Sub(last[r][i].pos).Dot(way) / way.Len()
					gone[r] += way.Len()
				}
				last[r][i] = now
			}
			hips[r] = model[0].Pos
		}
	}
	s.step(120) // they have set out, and step as they would without a style
	measuring = true
	s.step(60)
	first := slid[1] / gone[1]
	measuring = false
	s.step(600)
	measuring = true
	clear(slid)
	clear(gone)
	s.step(300)
	t.Logf("standing toes slide by %.2f of the way, old %.2f (at first %.2f), proud %.2f", slid[0]/gone[0], slid[1]/gone[1], first, slid[2]/gone[2])
	if v := slid[1] / gone[1]; v > 0.8*first || v > 0.4 {
		t.Errorf("the old's standing toes slide by %.2f of their way, at first %.2f", v, first)
	}
	if v := slid[2] / gone[2]; m3.Abs(v) > 0.15 {
		t.Errorf("the proud's standing toes slide by %.2f of their way", v)
	}
}

func apartMost(a, b []m3.Xform) (most float32) {
	for j := range a {
		most = max(most, a[j].Pos.Dist(b[j].Pos))
	}
	return most
}

// Who is styled has the same bits for any number of workers, whoever comes and goes
// beside them, and bones do not leap when a style comes or goes.
func TestRestyleAloneOrAmongOthers(t *testing.T) {
	track := func(workers int, among bool) [][]m3.Xform {
		s := newStreet(t, 5, workers, manifold.StreamOptions{Batch: 5}, withStyles(t))
		first := s.person(1)
		e := s.person(2)
		if !among {
			if err := s.people.Despawn(first); err != nil {
				t.Fatal(err)
			}
		}
		var out [][]m3.Xform
		for tick := range 240 {
			switch {
			case tick == 60:
				s.style(e, "mar", indexOf(t, "old"), 1)
			case tick == 150:
				s.style(e, "mar", indexOf(t, "proud"), 0.5)
			case among && tick == 20:
				s.style(s.person(3), "mar", indexOf(t, "proud"), 1)
			case among && tick == 100: // e moves to the first row
				if err := s.people.Despawn(first); err != nil {
					t.Fatal(err)
				}
			}
			s.step(1)
			out = append(out, slices.Clone(s.bones(e)))
		}
		return out
	}
	alone := track(1, false)
	for f := 61; f < len(alone); f++ {
		if d := apartMost(alone[f], alone[f-1]); d > 0.12 {
			t.Errorf("tick %d: a bone goes %.2f m", f, d)
		}
	}
	for _, workers := range []int{1, 3} {
		same(t, fmt.Sprintf("%d workers, among others", workers), alone, track(workers, true))
	}
}

func TestRestyleRefuses(t *testing.T) {
	m, steps, locomotion := humans(t)
	street := newStreet(t, 1, 1, manifold.StreamOptions{})
	db, err := styles()
	if err != nil {
		t.Fatal(err)
	}
	many := *db
	many.Styles = make([]string, ecs.MaxStyles+1)
	sk := *m.Skel
	sk.Offsets = slices.Clone(sk.Offsets)
	sk.Offsets[2].Y -= 0.1
	other := *m
	other.Skel = &sk
	for want, c := range map[string]struct {
		m *manifold.Model
		o animsys.Options
	}{
		"fit an ecs.MARStyle": {m, animsys.Options{Styles: &many}},
		"its bone to":         {&other, animsys.Options{Styles: db}},
	} {
		w := arche.NewWorld()
		stream, err := c.m.With(steps, locomotion).NewStream(manifold.StreamOptions{Capacity: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		c.o.Ground = street.field
		if _, err := animsys.NewCrowd(&w, stream, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
