package retarget

import (
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// thin returns every nth frame of c and the first, which may be a rest pose.
func thin(c *skel.Clip, n int) *skel.Clip {
	j := c.Skel.Len()
	out := &skel.Clip{Skel: c.Skel, FPS: c.FPS / float64(n)}
	for f := 0; f < c.Frames; f += n {
		out.Pos, out.Rot = append(out.Pos, c.Pos[f*j:(f+1)*j]...), append(out.Rot, c.Rot[f*j:(f+1)*j]...)
		out.Frames++
	}
	return out
}

func openAny(t *testing.T, path string) *skel.Clip {
	t.Helper()
	b := must.Get(mocap.Open(path, mocap.OpenOptions{}))(t)
	return b.Clip
}

// Recordings find their profiles and stay under the errors that the
// documentation gives; every CMU clip under 2 cm.
func TestRecordings(t *testing.T) {
	dir := mocapdata.Dir(t)
	for _, c := range []struct {
		glob, profile string
		every         int     // of the files one in every is read
		mean          float64 // cm, of each clip
	}{
		{"cmu-locomotion/[0-9][0-9]_*.bvh", "cmu", 1, 2},
		{"cmu-locomotion/exp_*.bvh", "cmu", 1, 2},
		{"cmu-locomotion/131_*.bvh", "cmu-131", 1, 2},
		{"cmu-actions/[0-9][0-9]_*.bvh", "cmu", 1, 2},
		{"cmu-actions/exp_*.bvh", "cmu", 1, 2},
		{"cmu-actions/h21_*.bvh", "h21", 1, 2},
		{"cmu-amc/*.amc", "asf", 1, 2},
		{"*/daz43_*.bvh", "daz", 4, 8.5},
		{"hdm05/*.amc", "asf", 10, 7},
		{"lafan1/*.bvh", "lafan1", 8, 7.5},
		{"bandai1/*.bvh", "bandai", 12, 7.5},
		{"bandai2/*.bvh", "bandai", 50, 7.5},
		{"xia/*.bvh", "cmu", 4, 2},
		{"h21-styles/*.bvh", "h21", 4, 2},
		{"human-o3de/bvh/*.bvh", "o3de", 6, 5.5},
		{"reactidle/*/*.bvh", "reactidle", 4, 12},
	} {
		files := must.Get(filepath.Glob(filepath.Join(dir, c.glob)))(t)
		if len(files) == 0 {
			t.Logf("%s: no files", c.glob)
		}
		for i := 0; i < len(files); i += c.every {
			name := filepath.Base(files[i])
			src := thin(openAny(t, files[i]), 12)
			p := Detect(src.Skel)
			if p == nil || p.Name != c.profile {
				t.Errorf("%s: detected as %v, want %s", name, p, c.profile)
				continue
			}
			if c.profile == "cmu" {
				// Thinned, the second frame may still be far from the first.
				p.RestFrames = 1
			}
			_, rep := run(t, job(src, p))
			if !(rep.MeanCM < c.mean) {
				t.Errorf("%s: mean error %.2f cm, want less than %g", name, rep.MeanCM, c.mean)
			}
			if rep.LegRatio < 0.8 || rep.LegRatio > 1.3 {
				t.Errorf("%s: scaled by %.3f", name, rep.LegRatio)
			}
			if d := rep.Ground - rep.SourceGround; d < -0.03 || d > 0.03 {
				t.Errorf("%s: the ground went from %.3f m to %.3f m", name, rep.SourceGround, rep.Ground)
			}
		}
	}
}

// At the full rate no joint jerks that did not before, knees do not bend the
// wrong way, and the left of hips, chest, head, knees and feet is the body's.
func TestRecordedMotion(t *testing.T) {
	dir := mocapdata.Dir(t)
	for _, name := range []string{"cmu-locomotion/02_01.bvh", "cmu-locomotion/09_10.bvh", "cmu-actions/05_14.bvh", "cmu-locomotion/131_01.bvh", "cmu-actions/h21_walk.bvh",
		"lafan1/aiming1_subject1_walk.bvh", "bandai1/dataset-1_walk_normal_001.bvh", "cmu-amc/35_01.amc"} {
		path := filepath.Join(dir, name)
		src := openAny(t, path)
		r := job(src, Detect(src.Skel))
		out, rep := run(t, r)
		b := must.Get(bind(r.Profile, src.Skel, Human()))(t)
		sided := []string{"Hips", "Spine1", "Head", "LeftUpLeg", "RightUpLeg", "LeftLeg", "RightLeg", "LeftFoot", "RightFoot"}
		lefts := make([]float32, len(sided))
		n := out.Skel.Len()
		now, then := make([]m3.Xform, n), make([]m3.Xform, n)
		was, before := make([]m3.Xform, src.Skel.Len()), make([]m3.Xform, src.Skel.Len())
		for f := range out.Frames {
			out.Model(now, f)
			src.Model(was, f+rep.Skipped)
			for j, joint := range out.Skel.Names {
				if s := b.from[j]; f > 0 && s >= 0 && !out.Skel.EndSite[j] {
					if a, o := now[j].Rot.Angle(then[j].Rot), was[s].Rot.Angle(before[s].Rot); a > o+0.1 {
						t.Errorf("%s, frame %d: %s turns by %.2f rad, the source by %.2f", name, f, joint, a, o)
					}
				}
			}
			for _, side := range []string{"Left", "Right"} {
				hip, knee, foot := now[out.Skel.Index(side+"UpLeg")], now[out.Skel.Index(side+"Leg")], now[out.Skel.Index(side+"Foot")]
				bend := knee.Pos.Sub(hip.Pos).Cross(foot.Pos.Sub(knee.Pos)).Dot(hip.Rot.Rotate(m3.V(1, 0, 0)))
				if !strings.Contains(name, "actions") && bend < -0.07*0.4*0.4 {
					t.Errorf("%s, frame %d: the %s knee bends ahead", name, f, side)
				}
			}
			at := func(joint string) m3.Vec3 { return now[out.Skel.Index(joint)].Pos }
			across := at("LeftUpLeg").Sub(at("RightUpLeg")).Add(at("LeftArm").Sub(at("RightArm")))
			across = across.Normalize(m3.Vec3{})
			for i, joint := range sided {
				lefts[i] += now[out.Skel.Index(joint)].Rot.Rotate(m3.V(1, 0, 0)).Dot(across) / float32(out.Frames)
			}
			copy(then, now)
			copy(before, was)
		}
		for i, joint := range sided {
			if lefts[i] < 0.6 {
				t.Errorf("%s: the left of %s points left by %.2f only", name, joint, lefts[i])
			}
		}
	}
}
