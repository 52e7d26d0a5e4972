package motion

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/character"
	"mannequin/offline/fbx"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// intoReport is the report of convert --into.
type intoReport struct {
	From    []string `json:"from"`
	Into    string   `json:"into"`
	Written string   `json:"written"`
	*skin.AddReport
	Motions []intoMotion `json:"motions"`
}

// intoMotion is how a motion came onto the file's joints: as it was, or retargeted.
type intoMotion struct {
	Name       string       `json:"name"`
	Fit        *skin.RigFit `json:"fit,omitempty"`
	Retargeted *skin.Report `json:"retargeted,omitempty"`
	Notes      []string     `json:"notes,omitempty"`
}

// ownFile is the file that gets motions.
type ownFile struct {
	path      string
	character string // path with the name of a character, as character.Open takes it
	rig       *skin.Rig
	glb       []byte   // of an FBX; nil: path is glTF
	told      []string // notes

	skin *skin.Skin        // nil: not opened yet
	as   map[string]string // joints of the skeleton to those of the file
}

// openOwnFile reads the joints of a glTF or FBX file. A # and the name of one of its characters may follow.
func openOwnFile(path string) (*ownFile, error) {
	c := &ownFile{character: path}
	c.path, _ = mocap.SplitName(path)
	head, err := input.Head(c.path)
	if err != nil {
		return nil, err
	}
	if input.KindOf(head, c.path) != input.KindFBX {
		c.rig, err = character.OpenRig(c.path)
		return c, err
	}
	f, err := fbx.OpenCharacter(path)
	if err != nil {
		return nil, err
	}
	var glb bytes.Buffer
	if err := f.Write(&glb); err != nil {
		return nil, err
	}
	c.glb, c.told = glb.Bytes(), f.Notes
	c.rig, err = character.OpenRig(path)
	return c, err
}

// add writes the character with motions as out.
func (c *ownFile) add(motions []skin.Motion, out string, opt skin.AddOptions) (*skin.AddReport, error) {
	if c.glb == nil {
		return skin.AddMotions(c.path, out, motions, opt)
	}
	data, r, err := skin.AppendMotions(c.path, c.glb, motions, opt)
	if err != nil {
		return nil, err
	}
	r.Files, r.Notes = []string{out}, append(slices.Clone(c.told), r.Notes...)
	return r, atomicfile.Write(out, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// convertInto adds the motions of files to the character of opt.into.
func convertInto(cmd *cobra.Command, files []string, out string, opt convertOptions) (*intoReport, error) {
	if err := cli.Unused(cmd, "is not for --into: the file keeps its own body and bones", "character", "scale"); err != nil {
		return nil, err
	}
	if ext := strings.ToLower(filepath.Ext(out)); ext != ".glb" && ext != ".gltf" {
		return nil, command.Usagef("--out %s: name the file .glb, or .gltf beside a .gltf", out)
	}
	c, err := openOwnFile(opt.into)
	if err != nil {
		return nil, err
	}
	if c.glb != nil && !strings.EqualFold(filepath.Ext(out), ".glb") {
		return nil, command.Usagef("--out %s: %s becomes glTF: name the file .glb", out, c.path)
	}
	r := &intoReport{From: files, Into: opt.into, Written: out}
	var all []skin.Motion
	for _, file := range files {
		motions, err := motionsOf(file, opt)
		if err != nil {
			return nil, err
		}
		for _, m := range motions {
			clip, how, err := c.onto(file, m, opt)
			if err != nil {
				return nil, err
			}
			if m.Clip, err = input.Resample(file, clip, opt.fps); err != nil {
				return nil, err
			}
			how.Name, how.Notes = m.Name, append(slices.Clip(m.Notes), how.Notes...)
			all, r.Motions = append(all, m), append(r.Motions, *how)
		}
	}
	if opt.name != "" {
		if len(all) != 1 {
			return nil, command.Usagef("--name is for one motion, and there are %d: choose one with --animation", len(all))
		}
		all[0].Name, r.Motions[0].Name = opt.name, opt.name
	}
	r.AddReport, err = c.add(all, out, skin.AddOptions{Replace: opt.replace})
	return r, err
}

// onto returns a motion on the file's own joints: as it is or turned to their pose at rest if it is of the same
// rig, else retargeted.
func (c *ownFile) onto(file string, m skin.Motion, opt convertOptions) (*skel.Clip, *intoMotion, error) {
	if opt.read.Profile == nil && opt.skinMap == "" {
		clip, fit, err := c.ontoRig(file, m)
		names := "the same names"
		if errors.Is(err, skin.ErrOtherRig) && c.open(opt) == nil {
			if as := c.skin.SameBody(&m); as != nil {
				c.rig.As, names = as, "the same body"
				clip, fit, err = c.ontoRig(file, m)
				c.rig.As = nil
			}
		}
		if err == nil {
			how := &intoMotion{Fit: fit}
			if fit.Turned > 0 {
				how.Notes = []string{fmt.Sprintf("turned to the file's rest pose, %d joints of %s", fit.Turned, names)}
			}
			return clip, how, nil
		}
		if !errors.Is(err, skin.ErrOtherRig) {
			return nil, nil, err
		}
		clip, how, second := c.retarget(file, m, opt)
		if second != nil {
			return nil, nil, fmt.Errorf("%s: it moves another skeleton than that of %s: %w; and it cannot be retargeted: %w", file, c.path, err, second)
		}
		return clip, how, nil
	}
	return c.retarget(file, m, opt)
}

// ontoRig puts a motion of the same rig on the file's joints. The rest pose of a file may not be that of a person:
// then the motion tells.
func (c *ownFile) ontoRig(file string, m skin.Motion) (*skel.Clip, *skin.RigFit, error) {
	clip, fit, err := skin.OntoRig(c.rig, m.Clip, nil)
	if err == nil || !errors.Is(err, skin.ErrOtherRig) {
		return clip, fit, err
	}
	b, stance := retarget.Upright(file, &mocap.Recording{Clip: m.Clip, Rest: m.Rest})
	rest := b.LocalRest()
	if stance != nil {
		rest = stance.Rest
	}
	if rest == nil {
		rest = slices.Repeat([]m3.Quat{m3.Ident}, b.Clip.Skel.Len())
	}
	return skin.OntoRig(c.rig, b.Clip, rest)
}

// retarget puts a motion of a person, of a dog's skeleton, or of an animal on the file's own joints.
func (c *ownFile) retarget(file string, m skin.Motion, opt convertOptions) (*skel.Clip, *intoMotion, error) {
	how := &intoMotion{}
	var as map[string]string
	if opt.read.Profile != nil {
		as = opt.read.Profile.Joints
	}
	clip := m.Clip
	switch _, err := ik.DogRoles(clip.Skel.Names); {
	case opt.read.Profile == nil && (isUniform(clip.Skel) || err == nil && skin.OnFours(clip.Skel)):
	case anatomy.OfClip(m.AtRest(), as).NoPerson() != nil:
		if err := c.open(opt); err != nil {
			return nil, nil, err
		}
		ch, clip, err := c.skin.Animal(&m, as, skin.CharacterOptions{Map: c.as})
		if err != nil {
			return nil, nil, err
		}
		how.Retargeted = ch.Report
		clip, err = ch.InFile(clip)
		return clip, how, err
	default:
		var fit *retarget.Report
		if clip, fit, err = retarget.OfRecording(file, &mocap.Recording{Clip: clip, Format: mocap.FormatGLTF, Rest: m.Rest, Parts: m.Parts}, retarget.OpenOptions{Reading: onlyProfile(opt.read)}); err != nil {
			return nil, nil, err
		}
		how.Notes = fit.Notes
	}
	if err := c.open(opt); err != nil {
		return nil, nil, err
	}
	ch, err := c.skin.Character(clip.Skel, skin.CharacterOptions{Map: c.as})
	if err != nil {
		return nil, nil, err
	}
	how.Retargeted = ch.Report
	clip, err = ch.InFile(clip)
	return clip, how, err
}

// open opens the file's mesh and the map of its joints, once.
func (c *ownFile) open(opt convertOptions) (err error) {
	if c.skin != nil {
		return nil
	}
	if opt.skinMap != "" {
		if c.as, err = skin.OpenMap(opt.skinMap); err != nil {
			return err
		}
	}
	c.skin, err = character.Open(c.character)
	return err
}

// onlyProfile is how a motion that has been read is retargeted.
func onlyProfile(r retarget.Reading) retarget.Reading { return retarget.Reading{Profile: r.Profile} }

// motionsOf reads the motions of a file: the one that opt.read.Animation or the file's name chooses, or all. Those
// without a name get the file's.
func motionsOf(file string, opt convertOptions) (all []skin.Motion, err error) {
	names, found, err := mocap.OpenAll(file, opt.read.OpenOptions)
	if err == nil && len(found) == 0 {
		_, err = mocap.Open(file, opt.read.OpenOptions) // says why
	}
	if errors.Is(err, mocap.ErrNoASF) {
		err = fmt.Errorf("%w with --asf", err)
	}
	if err != nil {
		return nil, err
	}
	path, _ := mocap.SplitName(file)
	for i, b := range found {
		if b.Clip.Frames < 1 {
			return nil, fmt.Errorf("%s: the motion has no frames", file)
		}
		if opt.fps > 0 {
			if err := b.CheckRate(); err != nil {
				return nil, err
			}
		}
		if b.Format != mocap.FormatGLTF && b.Format != mocap.FormatFBX {
			b, _ = retarget.Upright(file, b)
		}
		all = append(all, skin.Motion{Name: cmp.Or(names[i], cli.Stem(filepath.Base(path))), Clip: b.Clip, Rest: b.Rest, Parts: b.Parts, Notes: b.Notes})
	}
	return all, nil
}

func (r *intoReport) Print(w io.Writer) error {
	text := fmt.Sprintf("%s: %s with %s", r.Written, r.Into, strings.Join(r.Animations, ", "))
	text += fmt.Sprintf("; %d joints move", r.Joints)
	last := ""
	for _, m := range r.Motions {
		about := ""
		switch {
		case m.Retargeted != nil:
			about = fmt.Sprintf("retargeted, %d joints matched", len(m.Retargeted.Pairs))
			if len(m.Retargeted.Missing) > 0 {
				about += "; the file lacks " + strings.Join(m.Retargeted.Missing, ", ")
			}
		case m.Fit.Scale != 1:
			about = fmt.Sprintf("lengths × %.6g", m.Fit.Scale)
		}
		if m.Fit != nil && m.Fit.Resized > 0 {
			about = strings.TrimPrefix(fmt.Sprintf("%s; %d of %d bones have another length in the file and keep it", about, m.Fit.Resized, m.Fit.Bones), "; ")
		}
		if about != last && about != "" {
			text += "\n  " + m.Name + ": " + about
		}
		last = about
		for _, n := range m.Notes {
			text += "\n  " + n
		}
	}
	for _, f := range r.Files {
		if f != r.Written {
			text += "\n  keys in " + f
		}
	}
	if len(r.Replaced) > 0 {
		text += "\n  replaced: " + strings.Join(r.Replaced, ", ")
	}
	if len(r.Missing) > 0 {
		text += "\n  joints that the file lacks: " + strings.Join(r.Missing, ", ")
	}
	for _, n := range r.Notes {
		text += "\n  " + n
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
