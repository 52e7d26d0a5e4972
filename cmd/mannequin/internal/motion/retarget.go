package motion

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/offline/retarget"
)

// retargetReport is the report of --retarget on a file.
type retargetReport struct {
	File string `json:"file"`
	*retarget.Report
	Written string `json:"written,omitempty"`
}

// retargetFiles reports each file: one in full, several as a table.
func retargetFiles(w io.Writer, files, outs []string, asJSON bool, opt importOptions) error {
	if len(files) == 1 || asJSON {
		return cli.ReportFiles(w, files, asJSON, func(i int) (cli.Report, error) { return retargetFile(files[i], outs[i], opt) })
	}
	width := 4
	for _, f := range files {
		width = max(width, len(filepath.Base(f)))
	}
	fmt.Fprintf(w, "%-*s  %-8s %7s %9s %9s  %-14s %s\n", width, "clip", "profile", "frames", "mean cm", "worst cm", "worst joint", "remarks")
	sums, all := map[string]*retargetSum{}, &retargetSum{}
	var errs []error
	for i, file := range files {
		r, err := retargetFile(file, outs[i], opt)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if sums[r.Profile] == nil {
			sums[r.Profile] = &retargetSum{}
		}
		sums[r.Profile].add(r)
		all.add(r)
		line := fmt.Sprintf("%-*s  %-8s %7d %9.2f %9.2f  %-14s %s", width, filepath.Base(file), r.Profile, r.Frames, r.MeanCM, r.WorstCM, r.WorstJoint, r.remarks())
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if len(sums) > 1 {
		for _, profile := range slices.Sorted(maps.Keys(sums)) {
			sums[profile].print(w, profile)
		}
	}
	if all.clips > 0 {
		all.print(w, "all")
	}
	return cli.Failed(errs, len(files))
}

// retargetSum sums up reports, weighted by their frames.
type retargetSum struct {
	clips, frames  int
	mean, copied   float64
	largest, worst *retargetReport // the reports of the largest mean and the largest error
}

func (s *retargetSum) add(r *retargetReport) {
	s.clips++
	s.frames += r.Frames
	s.mean += r.MeanCM * float64(r.Frames)
	s.copied += r.CopiedCM * float64(r.Frames)
	if s.largest == nil || r.MeanCM >= s.largest.MeanCM {
		s.largest = r
	}
	if s.worst == nil || r.WorstCM >= s.worst.WorstCM {
		s.worst = r
	}
}

func (s *retargetSum) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%s: %d clips, %d frames, mean %.2f cm (copied angles alone %.2f), largest clip mean %.2f (%s), worst %.2f (%s)\n", name, s.clips, s.frames,
		s.mean/float64(s.frames), s.copied/float64(s.frames), s.largest.MeanCM, filepath.Base(s.largest.File), s.worst.WorstCM, filepath.Base(s.worst.File))
}

func retargetFile(file, out string, opt importOptions) (*retargetReport, error) {
	b, _, err := input.OpenMotion(file, opt.read.OpenOptions)
	if err != nil {
		return nil, err
	}
	if opt.fps > 0 {
		if err := b.CheckRate(); err != nil {
			return nil, err
		}
	}
	opt.read.Note = nil // the report has them
	clip, rep, err := retarget.OfRecording(file, b, retarget.OpenOptions{Reading: opt.read})
	if err != nil {
		return nil, err
	}
	r := &retargetReport{File: file, Report: rep}
	if clip, err = input.Resample(file, clip, opt.fps); err != nil {
		return nil, err
	}
	if out != "" {
		if err := writeClip(out, clip); err != nil {
			return nil, err
		}
		r.Written = out
	}
	return r, nil
}

func (r *retargetReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	profile := r.Profile
	if r.Guessed != nil {
		profile = fmt.Sprintf("none fits; %d joints guessed from their names, see --suggest", len(r.Guessed))
	}
	row("profile", "%s", profile)
	frames := fmt.Sprintf("%d at %.6g per second", r.Frames, r.FPS)
	if r.Skipped > 0 {
		frames += fmt.Sprintf("; %d at the start show the rest pose and were left out", r.Skipped)
	}
	row("frames", "%s", frames)
	scale := fmt.Sprintf("%.6g metres per unit, by the length of the legs", r.Scale)
	if r.UnitM > 0 {
		scale += fmt.Sprintf(": %.3f of life-size", r.LegRatio)
	}
	row("scale", "%s", scale)
	axes := r.Up + " up"
	if r.Up != "y" {
		axes += ", which is y of the result"
	}
	if r.Ahead != "" {
		axes += "; the person faces " + r.Ahead + " at first"
	}
	if r.Mirrored {
		axes += "; left-handed, by toes and knees: x was turned round"
	}
	row("axes", "%s", axes)
	if r.Basis == "motion" {
		row("frames by", "the motion: the rest pose is not that of a person, or knees and elbows bend otherwise")
	}
	row("ground", "y = %.3f m, the scaled source's %.3f m (lowest joints)", r.Ground, r.SourceGround)
	row("mean error", "%.2f cm; copied angles alone %.2f cm", r.MeanCM, r.CopiedCM)
	row("worst error", "%.2f cm: %s in frame %d", r.WorstCM, r.WorstJoint, r.WorstFrame)
	row("not there", "%s", strings.Join(r.Missing, ", "))
	for _, n := range r.Notes {
		row("note", "%s", n)
	}
	row("written", "%s", r.Written)
	if err := end(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "joint\tfrom\tmean cm\tworst cm\tframe\tpulled\t")
	for _, j := range r.Joints {
		fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f\t%d\t%.0f %%\t\n", j.Joint, j.Source, j.MeanCM, j.WorstCM, j.Frame, 100*j.Pull)
	}
	return t.Flush()
}

// remarks says what is unusual about a file, in few words.
func (r *retargetReport) remarks() string {
	var out []string
	if r.Up != "y" {
		out = append(out, r.Up+" up")
	}
	if r.Mirrored {
		out = append(out, "mirrored")
	}
	if r.Basis == "motion" {
		out = append(out, "frames by motion")
	}
	if n := len(r.Missing); n > 0 {
		out = append(out, fmt.Sprintf("%d not there", n))
	}
	if n := len(r.Notes); n > 0 {
		out = append(out, fmt.Sprintf("notes: %d", n))
	}
	return strings.Join(out, ", ")
}

// suggestFile prints or writes a profile for the skeleton of a file.
func suggestFile(w, notes io.Writer, file string, asJSON bool, opt importOptions) error {
	b, _, err := input.OpenMotion(file, opt.read.OpenOptions)
	if err != nil {
		return err
	}
	name := cli.Stem(filepath.Base(file))
	if p := retarget.Detect(b.Clip.Skel); p != nil {
		fmt.Fprintf(notes, "the built-in profile %s fits this file\n", p.Name)
	}
	clip := b.AtRest()
	s := retarget.Suggest(name, clip)
	if b.Parts != nil {
		s = retarget.OfParts(name, clip, b.Parts)
	}
	if opt.out != "" {
		if err := atomicfile.Write(opt.out, s.Write); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return cli.PrintReport(w, newSuggestReport(file, s), true)
	case opt.out != "":
		_, err := io.WriteString(w, s.String())
		return err
	}
	return s.Write(w)
}

// suggestReport is a suggestion as JSON.
type suggestReport struct {
	File    string            `json:"file"`
	Joints  map[string]string `json:"joints"`
	Axes    map[string]string `json:"axes"`
	Missing []string          `json:"missing"`
	Unused  []string          `json:"unused"`
	Error   string            `json:"error,omitempty"` // why it cannot be used as it is

	*retarget.Suggestion `json:"-"`
}

func newSuggestReport(file string, s *retarget.Suggestion) suggestReport {
	r := suggestReport{File: file, Joints: s.Profile.Joints, Axes: s.Profile.Axes, Missing: s.Missing, Unused: s.Unused, Suggestion: s}
	if s.Err != nil {
		r.Error = s.Err.Error()
	}
	return r
}

// Print writes the suggestion as a profile.
func (r suggestReport) Print(w io.Writer) error { return r.Write(w) }
