package motion

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// convertBVH writes the motion from on its own skeleton, or the uniform one with a profile, as a BVH.
func convertBVH(from, out string, opt convertOptions) (*convertReport, error) {
	r := &convertReport{From: from, Written: out}
	opt.read.Note = func(n string) { r.Notes = append(r.Notes, n) }
	clip, err := convertClip(from, opt, r)
	if err != nil {
		return nil, err
	}
	clip, renamed := mocap.Portable(clip)
	for _, old := range slices.Sorted(maps.Keys(renamed)) {
		const most = 5
		if len(r.Notes) == most {
			r.Notes = append(r.Notes, fmt.Sprintf("%d joints are renamed in all", len(renamed)))
			break
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%q is called %q, since other programs do not read such names", old, renamed[old]))
	}
	r.Joints, r.Frames, r.FPS = clip.Skel.Len(), clip.Frames, clip.FPS
	return r, atomicfile.Write(out, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
}

// convertVRMA writes a person's motion as a VRM animation.
func convertVRMA(from, out string, opt convertOptions) (*convertReport, error) {
	if opt.scale != 0 {
		return nil, command.Usagef("--scale is not for a VRM animation: the legs give the scale")
	}
	b, _, err := input.OpenMotion(from, opt.read.OpenOptions)
	if err != nil {
		return nil, err
	}
	r := &convertReport{From: from, Written: out, Scale: 1}
	opt.read.Note = nil // the report has them
	clip := b.Clip
	if opt.read.Profile == nil && isUniform(clip.Skel) {
		clip, err = input.Resample(from, clip, opt.fps)
	} else {
		var fit *retarget.Report
		if clip, fit, err = retarget.OfRecording(from, b, retarget.OpenOptions{Reading: opt.read, FPS: opt.fps}); err == nil {
			r.Scale = fit.Scale
			r.Notes = append(fit.Remarks(from), fmt.Sprintf("retargeted: joints are %.1f cm from the recorded ones on average", fit.MeanCM))
		}
	}
	if err != nil {
		return nil, err
	}
	r.Joints, r.Frames, r.FPS = clip.Skel.Len(), clip.Frames, clip.FPS
	name := opt.name
	if name == "" {
		name = cli.Stem(filepath.Base(out))
	}
	return r, atomicfile.Write(out, func(w io.Writer) error { return skin.WriteVRMA(w, name, clip) })
}

// isUniform reports whether a skeleton is the uniform one of people, in metres.
func isUniform(s *skel.Skeleton) bool {
	h := retarget.Human()
	if !slices.Equal(s.Names, h.Names) {
		return false
	}
	for j, o := range h.Offsets {
		if s.Parents[j] >= 0 && s.Offsets[j].Dist(o) > 1e-4 {
			return false
		}
	}
	return true
}
