package retarget

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// people are sets of recordings of people, and how far the pelvis may lean on average while they stand and
// walk, degrees.
var people = []struct {
	name, glob  string
	every, thin int // of the files, of the frames
	only        string
}{
	{"CMU", "cmu-locomotion/[0-9][0-9]_*.bvh", 6, 8, ""},
	{"CMU, 21 joints", "cmu-actions/h21_*.bvh", 1, 4, ""},
	{"CMU for DAZ figures", "cmu-locomotion/daz43_*.bvh", 1, 8, ""},
	{"CMU on Mesh2Motion's rig", "mesh2motion/cmu-fbx/*.fbx", 1, 8, ""},
	{"HDM05", "hdm05/*.amc", 12, 8, ""},
	{"Human3.6M", "h36m/S*.txt*", 1, 8, ""},
	{"Bandai-Namco 1", "bandai1/*.bvh", 12, 2, ""},
	{"O3DE", "human-o3de/bvh/*.bvh", 2, 8, ""},
	{"ReActIdle", "reactidle/*/*.bvh", 2, 8, ""},
	{"LAFAN1", "lafan1/*.bvh", 8, 2, ""},
	{"Mesh2Motion", "mesh2motion/human/*base*.glb", 1, 1, "Idle Idle_Loop Walk Walk_Loop Walk_Formal_Loop"},
	{"Quaternius", "quaternius-*/*/*.glb", 1, 1, "Idle Idle_Neutral Walk Walking"},
	{"Quaternius, FBX", "quaternius-fbx/*.fbx", 1, 1, "Idle Walk"},
	{"KayKit", "kaykit/Med_*.glb", 1, 1, "Idle_A Idle_B Walking_A Walking_B Walking_C Waving"},
	{"KayKit's knight", "kaykit/Adventurers-Knight.glb", 1, 1, "Idle Walking_A Walking_B Walking_C"},
	{"Mixamo", "local-only/*[mM]ixamo*", 1, 1, "Idle Walk walk_Armature"},
	{"VRM animations", "local-only/*.vrma", 1, 4, "animation"},
}

// lean is how a trunk leans on average, degrees, ahead positive.
type lean struct {
	frames                          int
	hips, back, chest, trunk, there float64 // of the pelvis, of the lower back on it, of the chest, of the line from hips to neck, of the source's
	sway, errors                    float64
}

func (l *lean) of(n int) (hips, back, chest, trunk, there float64) {
	k := 180 / math.Pi / float64(max(l.frames, 1))
	return l.hips * k, l.back * k, l.chest * k, l.trunk * k, l.there * k
}

// TestPelvis prints how the pelvis of people stands.
func TestPelvis(t *testing.T) {
	dir := mocapdata.Dir(t)
	t.Logf("%-26s %6s %6s %6s %6s %6s | %6s %6s %6s | %6s %6s %6s", "", "stand", "back", "chest", "trunk", "there", "walk", "back", "chest", "pelvis", "mean", "copied")
	for _, set := range people {
		var stand, walk lean
		var off, mean, copied float64
		clips, frames := 0, 0
		files := must.Get(filepath.Glob(filepath.Join(dir, set.glob)))(t)
		for i := 0; i < len(files); i += set.every {
			names := []string{""}
			if set.only != "" {
				names = nil
				all, err := mocap.Animations(files[i])
				if err != nil {
					continue
				}
				for _, n := range all {
					if short := n[strings.LastIndexByte(n, '|')+1:]; strings.Contains(" "+set.only+" ", " "+short+" ") {
						names = append(names, n)
					}
				}
			}
			for _, name := range names {
				b, err := mocap.Open(files[i], mocap.OpenOptions{Animation: name})
				if err != nil {
					t.Logf("%s: %v", files[i], err)
					continue
				}
				b.Clip = thin(b.Clip, set.thin)
				b, p, _, err := character(files[i], b, nil)
				if err != nil {
					continue
				}
				out, rep, err := OfRecording(files[i], b, OpenOptions{})
				if err != nil {
					continue
				}
				clips, frames = clips+1, frames+out.Frames
				mean, copied = mean+rep.MeanCM*float64(out.Frames), copied+rep.CopiedCM*float64(out.Frames)
				s, w := leans(t, b, p, out, rep, name)
				for _, l := range [][2]*lean{{&stand, &s}, {&walk, &w}} {
					l[0].add(l[1])
				}
				off += swing(t, b, p, out, rep) * float64(out.Frames)
			}
		}
		if clips == 0 {
			t.Logf("%s: no files", set.name)
			continue
		}
		row := fmt.Sprintf("%-26s", set.name)
		h, bk, c, tr, th := stand.of(0)
		row += fmt.Sprintf(" %6.1f %6.1f %6.1f %6.1f %6.1f |", h, bk, c, tr, th)
		h, bk, c, _, _ = walk.of(0)
		row += fmt.Sprintf(" %6.1f %6.1f %6.1f | %6.1f %6.2f %6.2f", h, bk, c, off/float64(frames), mean/float64(frames), copied/float64(frames))
		t.Log(row, stand.frames, walk.frames)
	}
}

func (l *lean) add(m *lean) {
	l.frames += m.frames
	l.hips, l.back, l.chest, l.trunk, l.there = l.hips+m.hips, l.back+m.back, l.chest+m.chest, l.trunk+m.trunk, l.there+m.there
}

// leanOf returns how far a direction leans ahead of the vertical, for a body whose left is left.
func leanOf(v, left m3.Vec3) float64 {
	left.Y = 0
	return math.Atan2(float64(v.Dot(left.Normalize(m3.V(1, 0, 0)).Cross(m3.Up))), float64(v.Y))
}

func leans(t *testing.T, b *mocap.Recording, p *Profile, out *skel.Clip, rep *Report, name string) (stand, walk lean) {
	w := aligned(t, b, p)
	n := out.Skel.Len()
	at := func(name string) int { return out.Skel.Index(name) }
	m, before, src := make([]m3.Xform, n), make([]m3.Xform, n), make([]m3.Xform, w.source.Len())
	for f := range out.Frames {
		copy(before, m)
		out.Model(m, f)
		w.model(src, f)
		speed := m[0].Pos.Sub(before[0].Pos)
		speed.Y = 0
		v := float64(speed.Len()) * out.FPS
		if f == 0 {
			continue
		}
		to := &walk
		switch {
		case strings.Contains(strings.ToLower(name), "walk"):
		case name != "":
			to = &stand
		case v < 0.15:
			to = &stand
		case v < 0.6 || v > 2:
			continue
		}
		if m[0].Pos.Y-min(m[at("LeftFoot")].Pos.Y, m[at("RightFoot")].Pos.Y) < 0.8 {
			continue // sits, crouches
		}
		rot := func(name string) m3.Quat { return m[at(name)].Rot }
		left := rot("Hips").Rotate(m3.V(1, 0, 0))
		to.frames++
		to.hips += leanOf(rot("Hips").Rotate(m3.Up), left)
		back := rot("Hips").Conj().Mul(rot("LowerBack")).Rotate(m3.Up)
		to.back += math.Atan2(float64(back.Z), float64(back.Y))
		to.chest += leanOf(rot("Spine1").Rotate(m3.Up), left)
		line := func(at func(string) m3.Vec3) m3.Vec3 {
			return at("Neck1").Sub(at("LeftUpLeg").Lerp(at("RightUpLeg"), 0.5))
		}
		to.trunk += leanOf(line(func(n string) m3.Vec3 { return m[at(n)].Pos }), left)
		to.there += leanOf(line(func(n string) m3.Vec3 {
			if j := w.from[at(n)]; j >= 0 {
				return src[j].Pos
			}
			return src[w.from[at("Head")]].Pos
		}), left)
	}
	return stand, walk
}

// aligned returns the work of a retargeter that has found how b stands.
func aligned(t *testing.T, b *mocap.Recording, p *Profile) *work {
	r := Default()
	up := *p
	if b.Up != "" && up.Up == "" {
		up.Up = b.Up
	}
	r.Source, r.Rest, r.Profile = b.Clip, b.LocalRest(), &up
	w := &work{job: &r, world: m3.Ident}
	must.Get(w.prepare(b.Clip, r.Rest, Human()))(t)
	return w
}

// swing returns the mean angle, degrees, by which the pelvis turns otherwise than the source's.
func swing(t *testing.T, b *mocap.Recording, p *Profile, out *skel.Clip, rep *Report) float64 {
	w := aligned(t, b, p)
	hips := w.from[0]
	src := make([]m3.Xform, w.source.Len())
	m := make([]m3.Xform, out.Skel.Len())
	rel := make([]m3.Quat, out.Frames)
	var mean m3.Quat
	for f := range rel {
		w.model(src, f)
		out.Model(m, f)
		rel[f] = src[hips].Rot.Conj().Mul(m[0].Rot)
		q := rel[f]
		if q.Dot(rel[0]) < 0 {
			q = q.Neg()
		}
		mean = m3.Quat{X: mean.X + q.X, Y: mean.Y + q.Y, Z: mean.Z + q.Z, W: mean.W + q.W}
	}
	mean = mean.Normalize()
	sum := 0.0
	for _, q := range rel {
		sum += float64(q.Angle(mean))
	}
	return sum / float64(len(rel)) * 180 / math.Pi
}
