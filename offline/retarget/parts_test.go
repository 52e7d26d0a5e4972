package retarget

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// A table of bones in the file takes the place of names, in VRM animations, too.
func TestOfParts(t *testing.T) {
	want := walk(60, 3)
	b := &mocap.Recording{Clip: disguise(want, nil, 1), Parts: map[string]string{}}
	b.Clip.Skel.Names = slices.Clone(b.Clip.Skel.Names)
	for j, name := range want.Skel.Names {
		b.Clip.Skel.Names[j] = fmt.Sprintf("骨%d", j)
		if !want.Skel.EndSite[j] {
			b.Parts[name] = b.Clip.Skel.Names[j]
		}
	}
	clip, r := must.Get2(OfRecording("a.vrma", b, OpenOptions{Workers: 1}))(t)
	if r.Profile != "the file's table of bones" || len(r.Notes) > 0 || r.MeanCM > 0.1 {
		t.Errorf("profile %q, notes %q, %.2f cm off", r.Profile, r.Notes, r.MeanCM)
	}
	for i, q := range clip.Rot {
		if a := q.Angle(want.Rot[i]); a > 0.02 {
			t.Fatalf("frame %d: %s is %g rad off", i/want.Skel.Len(), want.Skel.Names[i%want.Skel.Len()], a)
		}
	}
	// Without it the shape tells.
	b.Parts = nil
	if _, r = must.Get2(OfRecording("a.vrma", b, OpenOptions{}))(t); r.Profile != "guessed" || len(r.Remarks("a.vrma")) != 1 || r.MeanCM > 2 {
		t.Errorf("profile %q, notes %q, %.2f cm off", r.Profile, r.Notes, r.MeanCM)
	}
}

// Public VRM animations need no profile.
func TestOpenVRMAnimation(t *testing.T) {
	_, r := must.Get2(Open(filepath.Join(mocapdata.Dir(t), "formats", "vrm", "three-vrm_test.vrma"), OpenOptions{}))(t)
	if r.Profile != "the file's table of bones" || r.MeanCM > 9 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "not read: expressions, gaze") {
		t.Errorf("profile %q, notes %q, %.2f cm off", r.Profile, r.Notes, r.MeanCM)
	}
}

// Hips below the legs, as many rigs have them, do not lean: the directions of their bones say nothing.
func TestLowHips(t *testing.T) {
	low := m3.V(0, -0.18, 0) // from our hips to theirs
	want := walk(60, 4)
	n := want.Skel.Len()
	s := *want.Skel
	s.Offsets = slices.Clone(s.Offsets)
	for j, p := range s.Parents {
		if p == 0 {
			s.Offsets[j] = s.Offsets[j].Sub(low)
		}
	}
	c := skel.NewClip(&s, want.FPS, want.Frames)
	copy(c.Rot, want.Rot)
	for f := range c.Frames {
		c.Pos[f*n] = want.Pos[f*n].Add(want.Rot[f*n].Rotate(low))
	}
	clip, r := must.Get2(OfRecording("a.bvh", &mocap.Recording{Clip: c}, OpenOptions{Workers: 1, Reading: Reading{Profile: Suggest("low", c).Profile}}))(t)
	worst := float32(0)
	for f := range clip.Frames {
		worst = max(worst, clip.Rot[f*n].Angle(want.Rot[f*n]))
	}
	if worst > 0.1 || r.MeanCM > 1 {
		t.Errorf("hips lean by up to %.2f rad, joints are %.1f cm off", worst, r.MeanCM)
	}
}
