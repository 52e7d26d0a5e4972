package steer

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/terrain"
)

// steered returns what becomes of a goal of the first dog, standing at roots[0], with the others at
// the other roots and a player on its way.
func steered(h *Herd, g control.Goal, player *way, roots ...m3.Xform) control.Goal {
	h.begin(roots, -1)
	h.player = player
	h.bend(&g, 0)
	return g
}

func at(x, z float32) m3.Xform { return m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.Ident} }

var walk = control.Goal{Move: m3.V(0, 0, 1), Speed: control.CanterSpeed, Action: control.Move}

func herd(t *testing.T) *Herd {
	return NewHerd(must.Get(terrain.Flat(terrain.Grid{Size: 40, Cell: 1}))(t), 2)
}

func TestHerd(t *testing.T) {
	for name, c := range map[string]struct {
		me, other m3.Xform
		ok        func(g control.Goal) bool
	}{
		"far apart":       {at(0, 0), at(5, 0), func(g control.Goal) bool { return g == walk }},
		"one to the left": {at(0, 0), at(0.6, 2), func(g control.Goal) bool { return g.Turn < -0.2 && g.Move == walk.Move }},
		"to the right":    {at(0, 0), at(-0.6, 2), func(g control.Goal) bool { return g.Turn > 0.2 && g.Move == walk.Move }},
		"one ahead":       {at(0, 0), at(0.1, 1.2), func(g control.Goal) bool { return g.Speed < walk.Speed }},
		"one on the spot": {at(0, 0), at(0, 0), func(g control.Goal) bool { return true }},
		"at the border":   {at(19, 5), at(0, 0), func(g control.Goal) bool { return m3.Abs(g.Turn) > 0.5 }},
		"outside":         {at(50, 5), at(50, 5.5), func(g control.Goal) bool { return m3.Abs(g.Turn) > 0.5 }},
	} {
		if g := steered(herd(t), walk, nil, c.me, c.other); !c.ok(g) || !g.Finite() || m3.Abs(g.Move.Len()-1) > 1e-5 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	sit := control.Goal{Action: control.Sit}
	if g := steered(herd(t), sit, nil, at(0, 0), at(0.2, 0)); g != sit {
		t.Errorf("a sitting dog got %+v", g)
	}
}

// A player's dog that comes is made way for, even by a dog that rests; the dog
// goes off to the side that it is on.
func TestMakesWay(t *testing.T) {
	sit := control.Goal{Action: control.Sit}
	comes := func(x, z, vx, vz float32) *way {
		from := m3.V(x, 0, z)
		return &way{from, from.Add(m3.V(vx, 0, vz).Scale(notice))}
	}
	stroll := control.Goal{Move: m3.V(0, 0, 1), Speed: control.WalkSpeed, Action: control.Move}
	me := at(0, -middle) // its middle is at the origin
	for name, c := range map[string]struct {
		goal   control.Goal
		player *way
		ok     func(g control.Goal) bool
	}{
		"far away":             {sit, comes(0, 5, 0, 0), func(g control.Goal) bool { return g == sit }},
		"stands near":          {sit, comes(1.5, 0, 0, 0), func(g control.Goal) bool { return g == sit }},
		"stands too near":      {sit, comes(0.5, 0, 0, 0), func(g control.Goal) bool { return g.Action == control.Move && g.Move.X < -0.5 }},
		"comes":                {sit, comes(-0.3, 3, 0, -3), func(g control.Goal) bool { return g.Action == control.Move && g.Turn > 0.5 }},
		"comes, other side":    {sit, comes(0.3, 3, 0, -3), func(g control.Goal) bool { return g.Action == control.Move && g.Turn < -0.5 }},
		"comes straight":       {sit, comes(0, 2, 0, -3), func(g control.Goal) bool { return g.Action == control.Move && m3.Abs(g.Move.X) > 0.7 }},
		"goes":                 {sit, comes(0, 2, 0, 3), func(g control.Goal) bool { return g == sit }},
		"walkers turn earlier": {walk, comes(1.5, 1, -0.5, 0), func(g control.Goal) bool { return g.Turn < -0.2 }},
		"chased":               {stroll, comes(0.1, -1, 0, 2), func(g control.Goal) bool { return g.Speed > 2.4 }},
		"met":                  {stroll, comes(0.1, 2, 0, -2), func(g control.Goal) bool { return g.Speed <= stroll.Speed }},
		"inside":               {walk, comes(0, 0, 0, 0), func(g control.Goal) bool { return g.Move.Len() > 0.9 }},
	} {
		if g := steered(herd(t), c.goal, c.player, me); !c.ok(g) || !g.Finite() {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// A player's way begins at its dog's middle and is as long as it is fast.
func TestSeesPlayer(t *testing.T) {
	h := herd(t)
	h.Velocity = func(row int) m3.Vec3 { return m3.V(float32(row), 0, 1) }
	h.begin([]m3.Xform{at(0, 0), at(3, 4)}, 1)
	if from, to := m3.V(3, 0, 4+middle), m3.V(1, 0, 1).Scale(notice); h.player == nil || h.player.from.Dist(from) > 1e-5 || h.player.to.Sub(from).Dist(to) > 1e-5 {
		t.Errorf("its way is %v", h.player)
	}
}
