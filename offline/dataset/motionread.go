package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// Recordings lists the BVH, AMC, FBX and glTF recordings in dirs and the folders below them by name and path,
// in the order of dirs and then of paths. A name is folder/file without extension, or folder/below/file. An
// FBX or glTF of several animations is as many recordings: # and the animation are at the end of name and
// path, as mocap.Open takes them. One without animations is none.
// Only names that a pattern of only matches, nil: all, and none of skip are listed. It is an error if
// there are none.
func Recordings(dirs, only, skip []string) (names, paths []string, err error) {
	if err := CheckPatterns(slices.Concat(only, skip)); err != nil {
		return nil, nil, err
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			return nil, nil, fmt.Errorf("%w: give a folder of recordings", err)
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, nil, err
		}
		// The dot makes WalkDir follow a link to a folder.
		err = filepath.WalkDir(dir+string(filepath.Separator)+".", func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			ext := filepath.Ext(file)
			animations := []string{""}
			switch strings.ToLower(ext) {
			case ".bvh", ".amc":
			case ".fbx", ".glb", ".gltf":
				all, err := mocap.Animations(file)
				switch {
				case err != nil: // whoever reads it gets the error
				case len(all) == 0:
					return nil
				case len(all) > 1:
					animations = all
				}
			default:
				return nil
			}
			below, err := filepath.Rel(dir, file)
			if err != nil {
				return err
			}
			name := filepath.Base(abs) + "/" + filepath.ToSlash(strings.TrimSuffix(below, ext))
			for _, a := range animations {
				path, full := file, name
				if a != "" {
					path, full = file+"#"+a, name+"#"+strings.ReplaceAll(a, "/", "_")
				}
				if (only == nil || MatchesAny(only, full)) && !MatchesAny(skip, full) {
					names, paths = append(names, full), append(paths, path)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%w: give a folder of recordings", err)
		}
	}
	if len(names) == 0 {
		which := ""
		if only != nil {
			which = " that fits " + strings.Join(only, ", ")
		}
		return nil, nil, fmt.Errorf("no BVH, AMC, FBX or glTF recording in %s%s", strings.Join(dirs, ", "), which)
	}
	return names, paths, nil
}

func stem(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// CheckPatterns reports the first pattern that path.Match cannot read.
func CheckPatterns(patterns []string) error {
	for _, p := range patterns {
		if _, err := filepath.Match(p, ""); err != nil {
			return fmt.Errorf("%q is no pattern of names: %w", p, err)
		}
	}
	return nil
}

// MatchesAny reports whether a pattern matches the name, with or without its folder.
func MatchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		whole, _ := filepath.Match(p, name)
		file, _ := filepath.Match(p, filepath.Base(name))
		return whole || file
	})
}

// OpenPerson reads the recording of a person at path, of any format that retarget.Open
// knows, and returns its frames on the skeleton sk, (frames, layout.Columns()) at Rate,
// and the place of the first one.
func OpenPerson(path string, layout *feature.Motion, sk *skel.Skeleton, read retarget.Reading) (rows []float32, start feature.Place, err error) {
	p, err := openPerson(path, layout, sk, read)
	return p.rows, p.start, err
}

// OpenStanding reads the recording of a person as OpenPerson does, and returns its motion
// at Rate with the ground at height 0, under the soles. Recordings' floors lie up to 10 cm
// high or low; feature.Motion.FromWorld finds them. A recording shorter than half a second
// may be of somebody in the air, and keeps its height.
func OpenStanding(path string, layout *feature.Motion, sk *skel.Skeleton, read retarget.Reading) (*skel.Clip, error) {
	p, err := openPerson(path, layout, sk, read)
	return p.clip, err
}

// sole is the height of the toe joints over the ground when a person stands, m.
var sole = ik.DefaultHuman().Sole

// person is a recording that openPerson reads.
type person struct {
	clip   *skel.Clip
	rows   []float32     // the same motion
	start  feature.Place // of the first row
	report *retarget.Report
}

func openPerson(path string, layout *feature.Motion, sk *skel.Skeleton, read retarget.Reading) (p person, err error) {
	clip, report, err := retarget.Open(path, retarget.OpenOptions{Reading: read, Target: sk, FPS: Rate, Workers: 1})
	if err != nil {
		return p, fmt.Errorf("dataset: %w", err)
	}
	rows, start, err := RowsOf(layout, clip)
	if err != nil {
		return p, fmt.Errorf("dataset: %s: %w", path, err)
	}
	if clip.Frames >= Rate/2 {
		for f := range clip.Frames {
			pos, _ := clip.Frame(f)
			pos[0].Y += sole - start.Pos.Y
		}
	}
	return person{clip, rows, start, report}, nil
}

// RowsOf returns the frames of a clip, (frames, l.Columns()) raw, and the place of the first one. The
// clip's skeleton must have the joints of l.
func RowsOf(l *feature.Motion, clip *skel.Clip) ([]float32, feature.Place, error) {
	sk := clip.Skel
	at := make([]int, len(l.Joints))
	for i, name := range l.Joints {
		if at[i] = sk.Index(name); at[i] < 0 {
			return nil, feature.Place{}, fmt.Errorf("the skeleton has no joint %q", name)
		}
	}
	world := make([]m3.Vec3, clip.Frames*len(at))
	model := make([]m3.Xform, sk.Len())
	for f := range clip.Frames {
		clip.Model(model, f)
		for i, j := range at {
			world[f*len(at)+i] = model[j].Pos
		}
	}
	rows := make([]float32, clip.Frames*l.Columns())
	start, err := l.FromWorld(rows, world, clip.FPS)
	return rows, start, err
}
