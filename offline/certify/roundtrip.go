package certify

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

// roundTrip writes the motion into the character's file and into a BVH of its bones, reads both again, and compares
// the joints with those that the character shows in a game.
func (j *judge) roundTrip(add func(skin.Motion) ([]byte, error)) {
	const bar, mend = "within 0.1 mm", "remove scales and shear from the joints: apply them"
	clip, inFile, err := j.written()
	if err != nil {
		j.add("round trip", false, err.Error(), bar, mend)
		return
	}
	// How far from the bones in a game the clip's are, before it is written.
	off := make([]float32, j.bones.Len())
	got, want := make([]m3.Xform, j.bones.Len()), make([]m3.Xform, j.bones.Len())
	feet := make([]retarget.Foot, j.bones.Legs())
	for f, pose := range j.nearby() {
		clip.Model(got, f)
		j.bones.Pose(want, pose, [2]float32{}, feet, nil)
		for k := range off {
			off[k] = max(off[k], got[k].Pos.Dist(want[k].Pos))
		}
	}
	var measures []string
	pass := true
	for _, format := range []struct {
		name string
		read func() (trip, error)
	}{{"glTF", func() (trip, error) { return throughGLB(inFile, add) }}, {"BVH", func() (trip, error) { return throughBVH(clip) }}} {
		var worst float32
		var at string
		t, err := format.read()
		if err == nil {
			worst, at, err = j.differ(t.from, t.to, t.names, off)
		}
		if err != nil {
			pass, measures = false, append(measures, fmt.Sprintf("%s: %v", format.name, err))
			continue
		}
		measures = append(measures, fmt.Sprintf("%s %.3f mm at %s", format.name, 1000*worst, at))
		pass = pass && worst <= exact
	}
	j.add("round trip", pass, "joints off by at most: "+strings.Join(measures, ", "), bar, mend)
}

// written returns the motion on the character's bones, in metres, and the same in the space of its file.
func (j *judge) written() (clip, inFile *skel.Clip, err error) {
	source := skel.NewClip(j.motion.Skel, 60, len(j.motion.Poses))
	for f, pose := range j.nearby() {
		pos, rot := source.Frame(f)
		j.motion.Skel.ModelToLocal(pos, rot, pose)
	}
	if clip, err = j.bones.Clip(source); err == nil {
		inFile, err = j.Character.InFile(source)
	}
	return clip, inFile, err
}

// nearby yields the motion's poses over the origin: a dog runs so far that 32 bits of its places would tell.
func (j *judge) nearby() iter.Seq2[int, []m3.Xform] {
	return func(yield func(int, []m3.Xform) bool) {
		moved := make([]m3.Xform, j.motion.Skel.Len())
		for f, pose := range j.motion.Poses {
			at := pose[0].Pos.Flat()
			for k, x := range pose {
				moved[k] = m3.Xform{Pos: x.Pos.Sub(at), Rot: x.Rot}
			}
			if !yield(f, moved) {
				return
			}
		}
	}
}

// differ returns the largest distance of a joint between two clips, in metres of the character and in proportion to
// its size if that is above a person's. names are those of its bones in both, off what they are off before. It says
// which joint is gone; those that were made up where the file's limbs end are not in it.
func (j *judge) differ(from, to *skel.Clip, names []string, off []float32) (worst float32, at string, err error) {
	if to.Frames != from.Frames {
		return 0, "", fmt.Errorf("%d frames, of %d", to.Frames, from.Frames)
	}
	bones := j.bones.Skel
	pairs := make([][2]int, bones.Len())
	var own, its float32
	for k, name := range names {
		pairs[k] = [2]int{from.Skel.Index(name), to.Skel.Index(name)}
		p := bones.Parents[k]
		if pairs[k][1] < 0 && (p < 0 || bones.Names[k] != bones.Names[p]+"_end") {
			return 0, "", fmt.Errorf("without %s", bones.Names[k])
		}
		if p >= 0 {
			own, its = own+bones.Offsets[k].Len(), its+from.Skel.Offsets[pairs[k][0]].Len()
		}
	}
	size := max(1, j.bones.Scale)
	metres := own / max(its, 1e-9)
	a, b := make([]m3.Xform, from.Skel.Len()), make([]m3.Xform, to.Skel.Len())
	for f := range from.Frames {
		from.Model(a, f)
		to.Model(b, f)
		for k, p := range pairs {
			if p[1] < 0 {
				continue
			}
			if d := (a[p[0]].Pos.Dist(b[p[1]].Pos)*metres + off[k]) / size; !(d <= worst) {
				worst, at = d, bones.Names[k]
			}
		}
	}
	return worst, at, nil
}

// trip is a motion before it was written and after it was read, and the names of the character's bones in both.
type trip struct {
	from, to *skel.Clip
	names    []string
}

// throughGLB adds a clip to the character's file and reads it.
func throughGLB(clip *skel.Clip, add func(skin.Motion) ([]byte, error)) (trip, error) {
	const name = "mannequin certify"
	glb, err := add(skin.Motion{Name: name, Clip: clip})
	if err != nil {
		return trip{}, err
	}
	all, err := skin.ReadMotions("its GLB", glb)
	if err != nil {
		return trip{}, err
	}
	for _, m := range all {
		if m.Name == name {
			return trip{clip, m.Clip, clip.Skel.Names}, nil
		}
	}
	return trip{}, errors.New("the motion is not in its GLB")
}

// throughBVH writes a clip as BVH and reads it.
func throughBVH(clip *skel.Clip) (trip, error) {
	from, renamed := mocap.Portable(clip)
	var names []string
	for _, n := range clip.Skel.Names {
		names = append(names, cmp.Or(renamed[n], n))
	}
	var text bytes.Buffer
	if err := mocap.WriteClip(&text, from); err != nil {
		return trip{}, err
	}
	b, err := mocap.ReadBVH("its BVH", text.Bytes())
	if err != nil {
		return trip{}, err
	}
	return trip{from, b.Clip, names}, nil
}
