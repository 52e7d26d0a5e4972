package fbx

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// blenderJob is a file that Blender reads, and the times in ticks at which it tells where joints are.
type blenderJob struct {
	File  string             `json:"file"`
	Times map[string][]int64 `json:"times"`
}

// blenderSays is what it tells of a file, in metres with Z up.
type blenderSays struct {
	Error  string
	Bind   map[string][3]float64
	Rest   map[string][3]float64
	Stacks map[string]struct {
		Layers int
		Names  []string
		At     [][]float64
	}
}

// blender reads all files in one run.
func blender(t *testing.T, jobs []blenderJob) []blenderSays {
	t.Helper()
	program, err := exec.LookPath("blender")
	if err != nil {
		t.Skip("needs Blender")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "jobs.json"), filepath.Join(dir, "out.json")
	must.Do(t, os.WriteFile(in, must.Get(json.Marshal(jobs))(t), 0o644))
	text, err := exec.Command(program, "-b", "--factory-startup", "--python", "testdata/heads.py", "--", in, out).CombinedOutput()
	if err != nil {
		t.Fatalf("blender: %v\n%s", err, text[max(0, len(text)-2000):])
	}
	f := must.Get(os.Open(out))(t)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<30)
	var all []blenderSays
	for lines.Scan() {
		var s blenderSays
		must.Do(t, json.Unmarshal(lines.Bytes(), &s))
		all = append(all, s)
	}
	if len(all) != len(jobs) {
		t.Fatalf("blender read %d of %d files:\n%s", len(all), len(jobs), text[max(0, len(text)-2000):])
	}
	return all
}

type blenderDiffer struct {
	file, name string
	rest       bool // at rest, too
	why        string
}

// blenderDiffers are animations that Blender shows otherwise, by parts of the file's and the animation's name,
// and why. Ours are as Autodesk's SDK has them, or as its documentation says.
var blenderDiffers = []blenderDiffer{
	{"maya_anim_layers", "", false, "Blender makes an animation of each layer, and takes none together"},
	{"maya_anim_layer_anim", "", false, "as above"},
	{"maya_game_sausage_7500", "deform", false, "joints do not inherit their parent's own scale (inherit type 2), in Blender they do"},
	{"maya_mixed_inherit_mode", "", false, "as above"},
	{"maya_anim_no_inherit_scale", "", true, "as above"},
	{"maya_scale_no_inherit", "", true, "as above"},
	{"motionbuilder_sausage_rrss", "", true, "parents' scales come after the joint's rotation (inherit type 0), in Blender before it; bones have other lengths when bound"},
}

// straight makes all curves straight lines between their keys, as Blender takes them. It returns whether any was not.
func straight(k *stack) (bent bool) {
	for _, y := range k.layers {
		for _, tracks := range y.tracks {
			for _, t := range tracks {
				for c := 0; t != nil && c < 3; c++ {
					if v := t.curves[c]; v != nil {
						for i := range len(v.times) - 1 {
							bent = bent || v.values[i] != v.values[i+1] && v.shape[i].kind != 1
						}
						*v = curve{times: v.times, values: v.values, shape: slices.Repeat([]shape{{kind: 1}}, len(v.shape))}
					}
				}
			}
		}
	}
	return bent
}

// keyed returns the frames, by model, at which all curves of the model and of those above it have keys.
func (s *scene) keyed(k *stack, times []int64) [][]bool {
	out := make([][]bool, len(s.models))
	for i, m := range s.models {
		out[i] = slices.Repeat([]bool{true}, len(times))
		for f, at := range times {
			out[i][f] = m.parent == nil || out[m.parent.index][f]
			for _, y := range k.layers {
				if y.tracks[m] == nil {
					continue
				}
				for _, t := range y.tracks[m] {
					for c := 0; t != nil && c < 3; c++ {
						if v := t.curves[c]; v != nil {
							const near = ticks / 100000
							n, _ := slices.BinarySearch(v.times, at-near)
							out[i][f] = out[i][f] && n < len(v.times) && v.times[n] <= at+near
						}
					}
				}
			}
		}
	}
	return out
}

// read is a file as we read it.
type read struct {
	job       blenderJob
	bent      map[string]bool // animations with curves that are not straight
	stands    []m3.Quat
	as, lines []Motion            // as they are, and with straight curves
	keyed     map[string][][]bool // by animation: per joint and frame
}

// forBlender reads a file that Blender can read and that has motions. It returns nil for others.
func forBlender(t *testing.T, file string) *read {
	s, err := newScene(file, must.Get(os.ReadFile(file))(t))
	if err != nil || s.version < 7100 {
		return nil
	}
	path := file
	if s.ascii { // which it does not read
		path = filepath.Join(t.TempDir(), filepath.Base(file))
		must.Do(t, os.WriteFile(path, s.inBinary(t), 0o644))
	}
	out := &read{job: blenderJob{path, map[string][]int64{}}, keyed: map[string][][]bool{}, bent: map[string]bool{}}
	if out.as, err = s.motions(); err != nil {
		return nil
	}
	joints := must.Get(s.joints())(t)
	r := &reader{scene: s, joints: joints, poses: make([]pose, len(s.models)), model: make([]m3.Xform, len(joints))}
	must.Do(t, r.skeleton())
	must.Do(t, r.pose(nil, 0))
	out.stands = make([]m3.Quat, len(joints))
	r.sk.ModelToLocal(make([]m3.Vec3, len(joints)), out.stands, r.model)
	for _, k := range s.stacks {
		first, fps, frames, err := r.span(k, false)
		must.Do(t, err)
		times := make([]int64, frames)
		for f := range times {
			times[f] = frame(first, f, fps)
		}
		keyed := s.keyed(k, times)
		for _, m := range joints {
			out.keyed[k.name] = append(out.keyed[k.name], keyed[m.index])
		}
		out.job.Times[k.name] = times
		out.bent[k.name] = straight(k)
	}
	out.lines = must.Get(s.motions())(t)
	return out
}

// blenderGap is the largest distance of joints from where Blender has them, in metres.
type blenderGap struct {
	apart float64
	joint string
	frame int
}

func (g *blenderGap) add(p m3.Vec3, q []float64, joint string, frame int) {
	if d := math.Sqrt(apart2([3]float64{float64(p.X), float64(p.Y), float64(p.Z)}, [3]float64{q[0], q[2], -q[1]})); d > g.apart {
		*g = blenderGap{d, joint, frame}
	}
}

// limitOf returns a millimetre for a figure of a person's size or larger, and the same share of a smaller one.
func limitOf(size float32) float64 { return 1e-3 * min(max(float64(size)/1.7, 0.01), 1) }

// Joints are within a millimetre of where Blender has them, in all frames of all animations of the files from
// version 7.1 on, which are those that it reads, text files as binary ones; of a figure smaller than a person, within as many thousandths of
// 1.7 m as a millimetre is. Blender takes curves as straight lines between keys. So all frames are compared with ours
// with straight curves, and the joints at the frames at which they and those above have keys with ours as they are.
func TestAsBlender(t *testing.T) {
	dir := mocapdata.Dir(t)
	var jobs []blenderJob
	var all []*read
	for _, pattern := range samples {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			if r := forBlender(t, file); r != nil {
				jobs, all = append(jobs, r.job), append(all, r)
			}
		}
	}
	animations, bent, frames, joints, atKeys, figures, otherRest, worst, person, rests := 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0
	for i, s := range blender(t, jobs) {
		base, r := filepath.Base(jobs[i].File), all[i]
		if s.Error != "" {
			t.Errorf("%s: Blender: …%s", base, s.Error[max(0, len(s.Error)-200):])
			continue
		}
		figures++
		// Bones rest where Blender has them without a pose: where the meshes were bound.
		var rest blenderGap
		sk := r.as[0].Clip.Skel
		stands, posed, size := make([]m3.Xform, sk.Len()), float32(0), float32(0)
		sk.LocalToModel(stands, sk.Offsets, r.stands)
		for j, x := range r.as[0].Rest {
			if q, ok := s.Bind[sk.Names[j]]; ok {
				rest.add(x.Pos, q[:], sk.Names[j], 0)
			}
			posed, size = max(posed, x.Pos.Dist(stands[j].Pos)), max(size, x.Pos.Dist(r.as[0].Rest[0].Pos))
		}
		if posed > 0.01*size {
			otherRest++
		}
		if slices.ContainsFunc(blenderDiffers, func(d blenderDiffer) bool { return d.rest && strings.Contains(base, d.file) }) {
			rest.apart = 0
		}
		if rests = max(rests, rest.apart); rest.apart > limitOf(size) {
			t.Errorf("%s: joint %s rests %.5f m off", base, rest.joint, rest.apart)
		}
		for n, m := range r.lines {
			theirs, ok := s.Stacks[m.Name]
			if !ok {
				t.Errorf("%s: Blender has no animation %q", base, m.Name)
				continue
			}
			index := make([]int, sk.Len())
			for j, name := range sk.Names {
				index[j] = slices.Index(theirs.Names, name)
			}
			model := make([]m3.Xform, sk.Len())
			size = 0
			var whole, keys blenderGap
			for f := range m.Clip.Frames {
				for _, of := range []*Motion{&r.lines[n], &r.as[n]} {
					of.Clip.Model(model, f)
					for j, k := range index {
						if k < 0 {
							continue
						}
						size = max(size, model[j].Pos.Dist(model[0].Pos))
						if q := theirs.At[f][3*k : 3*k+3]; of == &r.lines[n] {
							whole.add(model[j].Pos, q, sk.Names[j], f)
							joints++
						} else if r.bent[m.Name] && r.keyed[m.Name][j][f] {
							keys.add(model[j].Pos, q, sk.Names[j], f)
							atKeys++
						}
					}
				}
			}
			if animations++; r.bent[m.Name] {
				bent++
			}
			frames += m.Clip.Frames
			limit := limitOf(size)
			why := slices.IndexFunc(blenderDiffers, func(d blenderDiffer) bool {
				return strings.Contains(base, d.file) && strings.Contains(m.Name, d.name)
			})
			if (whole.apart > limit) != (why >= 0) {
				t.Errorf("%s, %s: joint %s is %.5f m off in frame %d, size %.3f m; listed as different: %t", base, m.Name, whole.joint, whole.apart, whole.frame, size, why >= 0)
			}
			if why >= 0 {
				continue
			}
			worst = max(worst, whole.apart)
			person = max(person, whole.apart*1.7/max(float64(size), 0.01))
			if keys.apart > limit {
				t.Errorf("%s, %s: joint %s is %.5f m off in frame %d, which has keys", base, m.Name, keys.joint, keys.apart, keys.frame)
			}
		}
	}
	t.Logf("%d files, %d animations, %d frames, %d places of joints; the largest distance is %.2g m, or %.2g m if all figures were 1.7 m large. Of %d animations with curves that are not straight, %d places are at keys", figures, animations, frames, joints, worst, person, bent, atKeys)
	t.Logf("%d files rest otherwise than their models stand; the largest distance at rest is %.2g m", otherRest, rests)
	if figures < 130 || otherRest < 25 || animations < 210 || frames < 10000 || joints < 300000 || bent < 90 || atKeys < 20000 {
		t.Error("fewer were compared than there are")
	}
}
