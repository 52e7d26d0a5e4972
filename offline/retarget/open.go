package retarget

import (
	"fmt"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/offline/mocap"
)

// OpenOptions says how Open reads a recording. The zero value is right for the usual ones.
type OpenOptions struct {
	mocap.OpenOptions                // for AMC files
	Profile           *Profile       // how the recording's skeleton plays Target; nil: as ProfileFor finds it
	Target            *skel.Skeleton // nil: Human()
	FPS               float64        // frames per second of the result; 0: as recorded
	Workers           int            // goroutines; 0: one per processor
}

// Open reads the recording at path, of any format that mocap.Open knows, and returns its
// motion on the target skeleton, in metres, without frames at its start that show the rest
// pose. The report says how well it fits, and in which frames the recording has faults.
func Open(path string, opt OpenOptions) (*skel.Clip, *Report, error) {
	b, err := mocap.Open(path, opt.OpenOptions)
	if err != nil {
		return nil, nil, err
	}
	return OfRecording(path, b, opt)
}

// OfRecording is Open for a recording b that was read from path.
func OfRecording(path string, b *mocap.Recording, opt OpenOptions) (_ *skel.Clip, _ *Report, err error) {
	if opt.Profile, err = opt.Profile.Completed(b.Clip); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	r := Default()
	clip := b.AtRest()
	r.Source, r.Profile, r.Target, r.Workers = clip, opt.Profile, opt.Target, opt.Workers
	var guessed []Pair
	if r.Profile == nil {
		if r.Profile, guessed, err = profileFor(clip, b.Parts); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if opt.FPS > 0 {
		r.Source = clip.Resampled(opt.FPS)
	}
	out, report, err := r.Run()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	report.FileFPS, report.Notes = b.Clip.FPS, b.Notes
	if guessed != nil {
		report.Notes = append(report.Notes, fmt.Sprintf("%s: no built-in profile fits; %d joints guessed from their names, see mannequin import --suggest", path, len(guessed)))
	}
	first := min(report.FileFrame(0), b.Clip.Frames)
	report.Faults = mocap.Faults(b.Clip.Section(first, b.Clip.Frames), report.Scale, mocap.Person)
	for i := range report.Faults {
		report.Faults[i].Frame += first
	}
	return out, report, nil
}

// ProfileFor returns the profile that the file of a recording gives in a table of bones, as VRM files do,
// or the built-in profile that fits its skeleton. If none does, it guesses one as Suggest does, and
// guessed lists what was matched. An incomplete guess is an error. It is for the recording as AtRest has it.
func ProfileFor(b *mocap.Recording) (p *Profile, guessed []Pair, err error) {
	return profileFor(b.AtRest(), b.Parts)
}

func profileFor(c *skel.Clip, parts map[string]string) (p *Profile, guessed []Pair, err error) {
	if s := OfParts("the file's table of bones", c, parts); s.Err == nil {
		return s.Profile, nil, nil
	}
	if p = Detect(c.Skel); p != nil {
		return p, nil, nil
	}
	s := Suggest("guessed", c)
	if s.Err != nil {
		names := c.Skel.Names
		return nil, nil, fmt.Errorf("no profile fits its skeleton of %s, …, and a guess is incomplete: %w: write one with mannequin import --suggest", strings.Join(names[:min(4, len(names))], ", "), s.Err)
	}
	return s.Profile, s.Found, nil
}
