package retarget

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

// Reading says what recordings do not say, or say wrongly. The zero value is right for the usual ones.
type Reading struct {
	mocap.OpenOptions
	Profile *Profile          // how the recordings' skeletons play the target; nil: for each as ProfileFor finds it
	Note    func(note string) // called with each of Report.Remarks of a recording that is opened alone; may be nil
}

// OpenOptions says how Open reads a recording. The zero value is right for the usual ones.
type OpenOptions struct {
	Reading
	Target  *skel.Skeleton // nil: Human()
	FPS     float64        // frames per second of the result; 0: as recorded
	Workers int            // goroutines; 0: one per processor
}

// Open reads the recording at path, of any format that mocap.Open knows, and returns its
// motion on the target skeleton, in metres, without frames at its start that show the rest
// pose. The report says how well it fits, and in which frames the recording has faults. With FPS, a
// recording whose own rate is improbable is an error (see mocap.Recording.CheckRate).
func Open(path string, opt OpenOptions) (*skel.Clip, *Report, error) {
	b, err := mocap.Open(path, opt.OpenOptions)
	if err != nil {
		return nil, nil, err
	}
	return OfRecording(path, b, opt)
}

// OfRecording is Open for a recording b that was read from path. Of several characters it takes the first
// person, and Report.Notes has the others' names.
func OfRecording(path string, b *mocap.Recording, opt OpenOptions) (_ *skel.Clip, _ *Report, err error) {
	if opt.FPS > 0 {
		if err := b.CheckRate(); err != nil {
			return nil, nil, err
		}
	}
	b, p, guessed, err := character(path, b, opt.Profile)
	if err != nil {
		return nil, nil, err
	}
	r := Default()
	p, r.formatUp = withUp(p, b), formatUp(b)
	r.Source, r.Rest, r.Profile, r.Target, r.Workers = b.Clip, b.LocalRest(), p, opt.Target, opt.Workers
	if opt.FPS > 0 {
		r.Source = b.Clip.Resampled(opt.FPS)
	}
	out, report, err := r.Run()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	report.FileFPS, report.Notes, report.Guessed = b.Clip.FPS, slices.Clip(b.Notes), guessed
	note := func(format string, args ...any) {
		report.Notes = append(report.Notes, path+": "+fmt.Sprintf(format, args...))
	}
	if guessed == nil && opt.Profile == nil && len(report.Missing) > 0 {
		note("profile %s fits, but the file lacks %s", p.Name, strings.Join(report.Missing, ", "))
	}
	if opt.Note != nil {
		for _, n := range report.Remarks(path) {
			opt.Note(n)
		}
	}
	first := min(report.FileFrame(0), b.Clip.Frames)
	report.Faults = mocap.Faults(b.Clip.Section(first, b.Clip.Frames), report.Scale, mocap.Person)
	for i := range report.Faults {
		report.Faults[i].Frame += first
	}
	return out, report, nil
}

// leastJoints is the least number of joints of a person: those that every profile needs.
var leastJoints = len(required) + 1

// character returns the first person of a recording, and its profile: the one given or, if that is nil, as
// ProfileFor finds it.
func character(path string, b *mocap.Recording, given *Profile) (_ *mocap.Recording, p *Profile, guessed []Pair, err error) {
	find := func(b *mocap.Recording) error {
		if p, guessed = given, nil; p != nil {
			if p, err = given.Completed(b.Clip); err == nil {
				_, err = bind(p, b.Clip.Skel, Human())
			}
			return err
		}
		p, guessed, err = ProfileFor(b)
		return err
	}
	var people []*mocap.Recording
	var names []string
	if roots := b.Roots(); len(roots) > 1 {
		for _, root := range roots {
			if b.Size(root) < leastJoints {
				continue
			}
			if one := b.Only(root); find(one) == nil {
				people, names = append(people, one), append(names, b.Clip.Skel.Names[root])
			}
		}
	}
	if len(people) > 0 {
		notes := b.Notes
		if b = people[0]; len(people) > 1 {
			b.Notes = append(slices.Clip(notes), fmt.Sprintf("%s: it has %d people, %s: took %s; --root takes another", path, len(people), strings.Join(names, ", "), names[0]))
		}
	}
	if err = find(b); err != nil && (given == nil || p == nil) {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, p, guessed, nil
}

// withUp returns a profile with the axis that points up in a recording, if that is known.
func withUp(p *Profile, b *mocap.Recording) *Profile {
	if b.Up == "" {
		return p
	}
	up := *p
	up.Up = b.Up
	return &up
}

// formatUp returns the axis that points up in all files of a recording's format, or "".
func formatUp(b *mocap.Recording) string {
	if b.Format == mocap.FormatGLTF || b.Format == mocap.FormatFBX {
		return "y"
	}
	return ""
}

// Stance is how the person of a recording stands in its file.
type Stance struct {
	Up       string    // axis that points up, one of mocap.Ups
	Mirrored bool      // the file's axes are left-handed
	Rest     []m3.Quat // local rotations of the joints in a rest pose, of the recording that Upright returns; nil: none is turned
}

// Upright returns a recording of a person with y up and right-handed axes, and how it stands in its file. If
// the file's rest pose is not that of a person, Stance.Rest is a T-pose. Of several people it takes the
// first. It returns b itself and nil if b does not show a person.
func Upright(path string, b *mocap.Recording) (*mocap.Recording, *Stance) {
	one, p, _, err := character(path, b, nil)
	if err != nil {
		return b, nil
	}
	r := Default()
	r.Source, r.Rest, r.Profile, r.formatUp = one.Clip, one.LocalRest(), withUp(p, b), formatUp(b)
	if r.Validate() != nil {
		return b, nil
	}
	w := &work{job: &r, world: m3.Ident}
	if _, err := w.prepare(one.Clip, r.Rest, Human()); err != nil {
		return b, nil
	}
	out := *one
	s := &Stance{Up: w.up, Mirrored: w.mirror}
	if s.Mirrored {
		out.Clip, out.Rest = mirrored(out.Clip), mirroredRest(out.Rest)
	}
	out.Up = s.Up
	out.TurnUp()
	if s.Rest = out.LocalRest(); w.basis == framesMotion {
		s.Rest = w.tPose()
	}
	return &out, s
}

// tPose returns the local rotations of the source's joints in a T-pose, with y up. Joints that the profile
// does not name keep their mean rotations.
func (w *work) tPose() []m3.Quat {
	world := append([]m3.Quat(nil), w.frames...)
	local := make([]m3.Quat, len(world))
	of := map[int]int{}
	for j, s := range w.from {
		if _, ok := of[s]; !ok && s >= 0 && !w.target.EndSite[j] {
			of[s] = j
		}
	}
	for s, p := range w.source.Parents {
		up, was := m3.Ident, m3.Ident
		if p >= 0 {
			up, was = world[p], w.frames[p]
		}
		if j, ok := of[s]; ok {
			world[s] = w.align[j].Conj()
		} else {
			world[s] = up.Mul(was.Conj().Mul(w.frames[s]))
		}
		local[s] = up.Conj().Mul(world[s]).Normalize()
	}
	return local
}

// ProfileFor returns the profile that the file of a recording gives in a table of bones, as VRM files do, or
// the built-in profile that fits its skeleton. If none does, if one lacks joints and a guess explains more of
// the body, or if the names alone fit and the pelvis is another one, it guesses one as Suggest does, and guessed lists
// what was matched. An incomplete guess is an error, and so is an animal.
func ProfileFor(b *mocap.Recording) (p *Profile, guessed []Pair, err error) {
	c := b.Clip
	if s := OfParts("the file's table of bones", c, b.Parts); s.Err == nil {
		return s.Profile, nil, nil
	}
	var most fit
	if p = Detect(c.Skel); p != nil {
		if most, _ = p.fits(c.Skel); most.lacks == 0 && p.suits(c.Skel) {
			return p, nil, nil
		}
	}
	s := Suggest("guessed", c)
	var guess fit
	if s.Err == nil {
		guess, _ = s.Profile.fits(c.Skel)
	}
	names := strings.Join(c.Skel.Names[:min(4, c.Skel.Len())], ", ")
	var animal *noPersonError
	switch {
	case errors.As(s.Err, &animal):
		return nil, nil, fmt.Errorf("its skeleton of %s, …: %w; a profile that names its Hips puts it on a person's skeleton all the same (docs/rigs.md)", names, animal)
	case p != nil && (s.Err != nil || guess.placed <= most.placed && p.suits(c.Skel)):
		return p, nil, nil
	case s.Err != nil:
		return nil, nil, fmt.Errorf("no profile fits its skeleton of %s, …, and a guess is incomplete: %w: write one with mannequin import --suggest", names, s.Err)
	}
	return s.Profile, s.Found, nil
}
