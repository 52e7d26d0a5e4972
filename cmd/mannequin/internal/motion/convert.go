package motion

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/body"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/mocap"
)

// convertReport is what convert says.
type convertReport struct {
	From      string       `json:"from"`
	Written   string       `json:"written"`
	Joints    int          `json:"joints"`
	Vertices  int          `json:"vertices"`
	Triangles int          `json:"triangles"`
	Frames    int          `json:"frames"` // 0: no motion
	FPS       float64      `json:"fps,omitempty"`
	Scale     float64      `json:"scale,omitempty"` // that the motion's lengths were multiplied by
	Skin      *skin.Report `json:"skin,omitempty"`
}

// convertOptions are the flags of convert.
type convertOptions struct {
	scale, fps    float64 // 0: as it seems, as in the file
	skin, skinMap string
}

func newConvert() *cobra.Command {
	var asJSON bool
	var opt convertOptions
	c := &cobra.Command{
		Use:   "convert MOTION|MODEL OUT.glb",
		Short: "Write a motion, or a model's skeleton and body, as glTF for other programs",
		Long: `Writes a GLB: a skeleton, a mesh with its skin, and of a motion (BVH, AMC or TXT)
an animation. The mesh is the body that a dog's or a person's skeleton has in the
scenes, capsules on any other; --skin puts one of your own there instead.

Of a model it is a template: model a mesh on its joints, under their names, and
see it in the scenes with demo --skin. docs/skins.md tells how.

glTF is in metres. A motion's unit is guessed from its skeleton's size; --scale
says it.`,
		Example: `  mannequin convert human person.glb
  mannequin convert dog dog.glb
  mannequin convert walk.bvh walk.glb
  mannequin convert walk.bvh walk.glb --scale 0.01 --fps 30
  mannequin convert walk.bvh hero-walks.glb --skin hero.glb`,
		Args: command.Want("a motion or a model, and the file to write", 2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, f := range []struct {
				name     string
				v        float64
				min, max float64
			}{{"scale", opt.scale, 0, 1e6}, {"fps", opt.fps, 1e-3, 1e5}} {
				if cmd.Flags().Changed(f.name) && !(f.v >= f.min && f.v <= f.max && f.v > 0) {
					return command.Usagef("--%s %g: expected a number above %g and up to %g", f.name, f.v, f.min, f.max)
				}
			}
			if !strings.EqualFold(filepath.Ext(args[1]), ".glb") {
				return command.Usagef("%s: the file to write is called something.glb", args[1])
			}
			if opt.skinMap != "" && opt.skin == "" {
				return command.Usagef("--skin-map is for --skin, which is not given")
			}
			for _, in := range []string{args[0], opt.skin} {
				if in != "" && cli.SameFile(in, args[1]) {
					return command.Usagef("%s is read and written: name another file", args[1])
				}
			}
			r, err := convert(args[0], args[1], opt)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), r)
			}
			return printConverted(cmd.OutOrStdout(), r)
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.Float64Var(&opt.scale, "scale", 0, "multiply a motion's lengths (default: what makes metres, by a guess)")
	f.Float64Var(&opt.fps, "fps", 0, "resample a motion to this many frames per second (default: as in the file)")
	f.StringVar(&opt.skin, "skin", "", "glTF `file` whose mesh is put on the skeleton")
	f.StringVar(&opt.skinMap, "skin-map", "", "TOML `file` that says which of its joints is which, where names do not")
	return c
}

// convert writes the motion or the model called from to the GLB out.
func convert(from, out string, opt convertOptions) (*convertReport, error) {
	r := &convertReport{From: from, Written: out}
	var sk *skel.Skeleton
	var clip *skel.Clip
	var err error
	if input.IsModel(from) {
		if opt.scale != 0 || opt.fps != 0 {
			return nil, command.Usagef("--scale and --fps are for motions, and %s is a model", from)
		}
		sk, err = skeletonOf(from)
	} else if clip, err = convertClip(from, opt, r); err == nil {
		sk, r.Frames, r.FPS = clip.Skel, clip.Frames, clip.FPS
	}
	if err != nil {
		return nil, err
	}
	b, err := bodyFor(from, sk, opt, r)
	if err != nil {
		return nil, err
	}
	tint := [3]float32{0.10, 0.22, 0.42} // a shirt's
	if b.Cover == body.Fur {
		tint = [3]float32{0.42, 0.25, 0.11}
	}
	r.Joints, r.Vertices, r.Triangles = sk.Len(), len(b.Levels[0].Pos), b.Levels[0].Triangles()
	return r, atomicfile.Write(out, func(w io.Writer) error { return skin.Write(w, sk, b, tint, clip) })
}

// skeletonOf returns the skeleton that a model moves.
func skeletonOf(model string) (*skel.Skeleton, error) {
	net, err := models.Open(model)
	if err != nil {
		return nil, err
	}
	text := net.Meta().Skeleton
	if text == "" {
		return nil, fmt.Errorf("%s: this model tells of no skeleton", model)
	}
	sk := new(skel.Skeleton)
	if err := json.Unmarshal([]byte(text), sk); err != nil {
		return nil, fmt.Errorf("%s: its skeleton cannot be read: %w", model, err)
	}
	if err := sk.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", model, err)
	}
	return sk, nil
}

// convertClip reads a motion, in metres.
func convertClip(file string, opt convertOptions, r *convertReport) (*skel.Clip, error) {
	if head, err := input.Head(file); err == nil && input.KindOf(head, file) == input.KindSkin {
		return nil, fmt.Errorf("%s: a mesh (glTF), want a motion or a model: --skin puts the mesh on one", file)
	}
	b, _, err := input.OpenMotion(file, "", mocap.AMCRate)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w, nor is it a shipped model %q", err, models.Names())
	}
	if err != nil {
		return nil, err
	}
	clip := b.Clip
	if clip.Frames == 0 {
		return nil, fmt.Errorf("%s: no frames", file)
	}
	if r.Scale = opt.scale; r.Scale == 0 {
		if r.Scale = mocap.Summarize(clip).Unit.Metres; !(r.Scale > 0) {
			return nil, fmt.Errorf("%s: its unit cannot be guessed: --scale says it, 1 for metres", file)
		}
	}
	if r.Scale != 1 {
		clip = clip.Scaled(float32(r.Scale))
	}
	if opt.fps > 0 {
		if n := float64(clip.Frames) * opt.fps / clip.FPS * float64(clip.Skel.Len()); n > input.MaxTransforms {
			return nil, fmt.Errorf("%s: at %g frames per second its %d joints would take %.3g transforms, at most %d fit", file, opt.fps, clip.Skel.Len(), n, input.MaxTransforms)
		}
		clip = clip.Resampled(opt.fps)
	}
	return clip, nil
}

// bodyFor returns the body of a skeleton, or the skin on it.
func bodyFor(from string, sk *skel.Skeleton, opt convertOptions, r *convertReport) (*body.Body, error) {
	if opt.skin == "" {
		b, err := body.New(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		return b, nil
	}
	s, err := skin.Open(opt.skin)
	if err != nil {
		return nil, err
	}
	var as map[string]string
	if opt.skinMap != "" {
		if as, err = skin.OpenMap(opt.skinMap); err != nil {
			return nil, err
		}
	}
	b, report, err := s.Fit(sk, as)
	r.Skin = report
	return b, err
}

// printConverted writes a report for people.
func printConverted(w io.Writer, r *convertReport) error {
	text := fmt.Sprintf("%s: %d joints, %d vertices, %d triangles", r.Written, r.Joints, r.Vertices, r.Triangles)
	if r.Frames > 0 {
		text += fmt.Sprintf(", %d frames at %.6g per second, lengths × %.6g", r.Frames, r.FPS, r.Scale)
	}
	if r.Skin != nil {
		text += "\n" + r.Skin.String()
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
