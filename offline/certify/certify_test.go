package certify

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models/person"
)

// made returns a skin of a body that is grown around a person's skeleton after change, and what adds motions to its
// file.
func made(t *testing.T, sk *skel.Skeleton, change func(name string, offset m3.Vec3) m3.Vec3, spoil func(b *body.Body)) (*skin.Skin, func(skin.Motion) ([]byte, error)) {
	t.Helper()
	own := &skel.Skeleton{Names: sk.Names, Parents: sk.Parents, EndSite: sk.EndSite}
	for j, d := range sk.Offsets {
		own.Offsets = append(own.Offsets, change(sk.Names[j], d))
	}
	b := must.Get(body.New(&body.Rig{Names: own.Names, Parents: own.Parents, Offsets: own.Offsets}))(t)
	if spoil != nil {
		spoil(b)
	}
	var file bytes.Buffer
	must.Do(t, skin.Write(&file, own, b, [3]float32{}, nil))
	return must.Get(skin.Read("made.glb", file.Bytes()))(t), func(m skin.Motion) ([]byte, error) {
		glb, _, err := skin.AppendMotions("made.glb", file.Bytes(), []skin.Motion{m}, skin.AddOptions{})
		return glb, err
	}
}

func size(k float32) func(string, m3.Vec3) m3.Vec3 {
	return func(_ string, d m3.Vec3) m3.Vec3 { return d.Scale(k) }
}

// A toy has thick legs that are short: they stand as far apart as its hips are, and do not go through each other.
func TestCertifyToy(t *testing.T) {
	const file = "../../animsys/skin/testdata/toy-proportions.glb"
	m := must.Get(People(must.Get(person.Open())(t)))(t)
	r := Run(must.Get(skin.Open(file))(t), m, nil, func(m skin.Motion) ([]byte, error) {
		glb, _, err := skin.PackMotions(file, []skin.Motion{m}, skin.AddOptions{})
		return glb, err
	})
	for _, g := range r.Gates {
		if !g.Pass {
			t.Errorf("%s: %s, want %s", g.Name, g.Measure, g.Bar)
		}
	}
}

// A body with a trunk as wide as a barrel holds its arms away from it, in time. Of others the reason is told.
func TestCertifyWide(t *testing.T) {
	m := must.Get(People(must.Get(person.Open())(t)))(t)
	gate := func(change func(string, m3.Vec3) m3.Vec3, spoil func(b *body.Body), name string) Gate {
		s, add := made(t, m.Skel, change, spoil)
		for _, g := range Run(s, m, nil, add).Gates {
			if g.Name == name {
				return g
			}
		}
		t.Fatalf("no gate %q", name)
		return Gate{}
	}
	barrel := func(b *body.Body) {
		mesh := &b.Levels[0]
		for v, joints := range mesh.Joints {
			switch m.Skel.Names[joints[0]] {
			case "Hips", "LowerBack", "Spine", "Spine1":
				mesh.Pos[v].X, mesh.Pos[v].Z = 2.2*mesh.Pos[v].X, 2.2*mesh.Pos[v].Z
			}
		}
	}
	longer := func(name string, d m3.Vec3) m3.Vec3 {
		if name == "Neck1" {
			d = d.Scale(1.3)
		}
		return d
	}
	if g := gate(longer, barrel, "through itself"); !g.Pass {
		t.Errorf("a barrel: %s", g.Measure)
	}
	if g := gate(longer, barrel, "cost"); !g.Pass {
		t.Errorf("a barrel: %s", g.Measure)
	}
	for at, want := range map[string]string{"trunk and LeftForeArm": "wider", "RightLeg and LeftLeg": "wider", "LeftForeArm and LeftLeg": "reach further down", "RightLeg and RightForeArm": "reach further down"} {
		if got := mendThrough(at); !strings.Contains(got, want) {
			t.Errorf("%s: %s", at, got)
		}
	}
}

// Sound characters of any size pass; each fault misses its own gate, and no other.
func TestCertify(t *testing.T) {
	m := must.Get(People(must.Get(person.Open())(t)))(t)
	for _, c := range []struct {
		name   string
		change func(string, m3.Vec3) m3.Vec3
		spoil  func(b *body.Body)
		fails  string
	}{
		{name: "as ours", change: size(1)},
		{name: "a dwarf", change: size(0.4)},
		{name: "a giant", change: size(1.6)},
		{name: "in centimetres", change: size(100), fails: "units"},
		{name: "tiny", change: size(3e-5), fails: "units"},
		{name: "one arm longer", change: func(name string, d m3.Vec3) m3.Vec3 {
			if name == "LeftForeArm" {
				d = d.Scale(1.2)
			}
			return d
		}, fails: "symmetry"},
		{name: "ankles half-way up", change: func(name string, d m3.Vec3) m3.Vec3 {
			if name == "LeftToeBase" || name == "RightToeBase" {
				d.Y -= 0.75
			}
			return d
		}, fails: "reach, feet on the ground"},
		{name: "a leg without weights", change: size(1), spoil: func(b *body.Body) {
			for v := range b.Levels[0].Joints {
				for i, k := range b.Levels[0].Joints[v] {
					if name := m.Skel.Names[k]; strings.HasPrefix(name, "LeftUpLeg") || strings.HasPrefix(name, "LeftLeg") || strings.HasPrefix(name, "LeftFoot") || strings.HasPrefix(name, "LeftToe") {
						b.Levels[0].Joints[v][i] = uint8(m.Skel.Index("Hips"))
					}
				}
			}
		}, fails: "weights"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, add := made(t, m.Skel, c.change, c.spoil)
			r := Run(s, m, nil, add)
			var failed []string
			for _, g := range r.Gates {
				t.Logf("%-20s %v  %s (%s)", g.Name, g.Pass, g.Measure, g.Bar)
				if !g.Pass {
					failed = append(failed, g.Name)
					if g.Mend == "" {
						t.Errorf("%s: nothing says what to mend", g.Name)
					}
				}
			}
			if got := strings.Join(failed, ", "); got != c.fails {
				t.Errorf("fails %q, want %q", got, c.fails)
			}
		})
	}
	s, add := made(t, m.Skel, size(1), nil)
	r := Run(s, m, map[string]string{"Head": ""}, add)
	if r.Pass() || len(r.Gates) != 1 || r.Gates[0].Name != "roles" || !strings.Contains(r.Gates[0].Measure, "Head") {
		t.Errorf("without a head: %+v", r.Gates)
	}
	// What a file does to the motion is seen.
	for want, spoil := range map[string]func(m *skin.Motion){
		"glTF 1.": func(m *skin.Motion) {
			c := *m.Clip
			c.Pos = slices.Clone(c.Pos)
			c.Pos[3*c.Skel.Len()].X += 0.001
			m.Clip = &c
		},
		"glTF: without LeftFoot":     func(*skin.Motion) {},
		"glTF: no room":              nil,
		"glTF: the motion is not in": func(m *skin.Motion) { m.Name = "other" },
	} {
		r := Run(s, m, nil, func(m skin.Motion) ([]byte, error) {
			if spoil == nil {
				return nil, errors.New("no room")
			}
			spoil(&m)
			glb, err := add(m)
			if strings.Contains(want, "LeftFoot") {
				glb = bytes.ReplaceAll(glb, []byte("LeftFoot\""), []byte("LeftF__t\""))
			}
			return glb, err
		})
		i := slices.IndexFunc(r.Gates, func(g Gate) bool { return g.Name == "round trip" })
		if g := r.Gates[i]; g.Pass || !strings.Contains(g.Measure, want) || !strings.Contains(g.Measure, "BVH 0.0") {
			t.Errorf("%+v, want %s", g, want)
		}
	}
}
