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
	"mannequin/internal/closest"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/fbx"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// convertReport is the report of convert.
type convertReport struct {
	From      string   `json:"from"`
	Written   string   `json:"written"`
	Joints    int      `json:"joints"`
	Vertices  int      `json:"vertices"`
	Triangles int      `json:"triangles"`
	Frames    int      `json:"frames"` // 0: no motion
	FPS       float64  `json:"fps,omitempty"`
	Scale     float64  `json:"scale,omitempty"` // factor of the motion's lengths
	Up        string   `json:"up,omitempty"`    // the motion's axis that points up, if it was turned
	Clips     []string `json:"clips,omitempty"` // of a character
	Notes     []string `json:"notes,omitempty"`
}

// convertOptions are the flags of convert.
type convertOptions struct {
	scale, fps float64 // 0: a guess; as in the file
	skinMap    string
	read       retarget.Reading
	character  bool

	into    string // the file that gets motions
	name    string // of the motion in the file written
	replace bool
}

func newConvert() *cobra.Command {
	var opt convertOptions
	c := &cobra.Command{
		Use:   "convert MOTION|MODEL|CHARACTER... --out OUT.glb|OUT.bvh|OUT.vrma",
		Short: "Write a motion for other programs: into your own glTF file, as a new one, as BVH or VRMA; and models and FBX characters as glTF",
		Long: `Write a GLB: a skeleton, a mesh with its skin, and the animation of a motion (BVH, FBX, glTF, AMC or
TXT). The mesh is the body that a dog's or a person's skeleton has in the scenes, or capsules
on other skeletons.

The GLB of a model is a template: model a mesh on its joints and names, and see it in the
scenes with demo --skin (docs/skins.md).

glTF is in metres. A motion's unit is guessed from its skeleton's size; --scale sets it.
--profile retargets the motion to the human skeleton first, in metres, and needs no --scale.
glTF has y up: the motion of a person with z up is turned, and that of any other with --up z.

--into adds motions to a glTF or FBX file of your own and writes the result as another: its nodes, skins,
materials and animations stay as they are, and the motions are new animations of its joints. Motion of
the same kind of skeleton, with the same names and directions of bones, goes in as it is. If only the names
are the same, as of a Mixamo motion and a Mixamo character, the motion's rest pose is turned to the file's.
Other motion of people is retargeted to the file's own bones; so is motion of animals, onto those on as many legs. --profile and --skin-map
say which joint is which where names do not, and retarget in any case. A file with several animations gives
all, or the one that --animation names.

A name that ends in .bvh or .vrma chooses that format. BVH has the motion on its own skeleton, in metres
(--scale 100 for centimetres). VRMA is the VRM animation of a person.

--character writes what an FBX file shows, as it is: its own bones, meshes, weights, materials,
pictures and animations, in metres with +Y up.`,
		Example: `  mannequin convert human --out person.glb
  mannequin convert dog --out dog.glb
  mannequin convert walk.bvh --scale 0.01 --fps 30 --out walk.glb
  mannequin convert takes/*.bvh --profile cmu --out glb
  mannequin convert hero.fbx --character --out hero.glb
  mannequin convert hero-walk.bvh --into hero.glb --name Walk --out hero-walks.glb
  mannequin convert mixamo-walk.fbx --into mixamo-hero.glb --out hero-walks.glb
  mannequin convert moves.glb --into hero.gltf --out hero-moves.gltf
  mannequin convert hero.glb --animation Walk --out hero-walk.bvh
  mannequin convert walk.bvh --fps 30 --out walk.vrma`,
	}
	cli.Converts(c, "a motion or a model", ".glb", func(cmd *cobra.Command, in, out string) (cli.Report, error) {
		switch ext := strings.ToLower(filepath.Ext(out)); ext {
		case ".glb":
		case ".bvh", ".vrma":
			if err := cli.Unused(cmd, "is for --out .glb", "character"); err != nil {
				return nil, err
			}
		default:
			return nil, command.Usagef("--out %s: name the file .glb, .bvh or .vrma", out)
		}
		if err := cli.Unused(cmd, "is for --into", "replace", "skin-map"); err != nil {
			return nil, err
		}
		if ext := filepath.Ext(out); !strings.EqualFold(ext, ".vrma") {
			if err := cli.Unused(cmd, "is for --into and --out .vrma", "name"); err != nil {
				return nil, err
			}
		}
		if opt.read.Profile != nil && opt.scale != 0 {
			return nil, command.Usagef("--scale is not for --profile: the legs give the scale")
		}
		if opt.character {
			if opt.read.Profile != nil || opt.scale != 0 || opt.fps != 0 {
				return nil, command.Usagef("--character takes no other flag of a motion: it writes a file as it is")
			}
			return convertCharacter(in, out)
		}
		switch strings.ToLower(filepath.Ext(out)) {
		case ".bvh":
			return convertBVH(in, out, opt)
		case ".vrma":
			return convertVRMA(in, out, opt)
		}
		return convert(in, out, opt)
	})
	each := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if opt.into == "" {
			return each(cmd, args)
		}
		asJSON, err := cmd.Flags().GetBool("json")
		if err != nil {
			return err
		}
		r, err := convertInto(cmd, args, cmd.Flag("out").Value.String(), opt)
		if err != nil {
			return err
		}
		return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
	}
	command.Path(c, &opt.into, "into", "glTF or FBX `file` that gets the motions as animations of its own joints")
	c.Flags().StringVar(&opt.name, "name", "", "`name` of the motion in the file written (default: its own)")
	c.Flags().BoolVar(&opt.replace, "replace", false, "with --into: take the place of an animation with the same name")
	c.Flags().BoolVar(&opt.character, "character", false, "write an FBX file as it is, with its own bones, meshes, materials and animations")
	command.Number(c, &opt.scale, "scale", 0, command.Positive, 1e6, "factor for a motion's lengths (default: a guess that makes metres)")
	command.Number(c, &opt.fps, "fps", 0, 1e-3, 1e5, "frames per second to resample a motion to (default: as in the file)")
	input.Reading(c, &opt.read)
	c.Flags().StringVar(&opt.skinMap, "skin-map", "", "TOML `file` that maps our joint names to those of --into, where their roles are not right (docs/rigs.md)")
	return c
}

// convert writes the motion or model from as the GLB out.
func convert(from, out string, opt convertOptions) (*convertReport, error) {
	r := &convertReport{From: from, Written: out}
	var sk *skel.Skeleton
	var clip *skel.Clip
	var err error
	if input.IsModel(from) {
		if opt.scale != 0 || opt.fps != 0 || opt.read.Profile != nil {
			return nil, command.Usagef("--scale, --fps and --profile are for motions, and %s is a model", from)
		}
		sk, err = skeletonOf(from)
	} else {
		opt.read.Note = func(n string) { r.Notes = append(r.Notes, n) }
		if clip, err = convertClip(from, opt, r); err == nil {
			sk, r.Frames, r.FPS = clip.Skel, clip.Frames, clip.FPS
		}
	}
	if err != nil {
		return nil, err
	}
	b, err := body.New(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	tint := [3]float32{0.10, 0.22, 0.42} // of a shirt
	if b.Cover == body.Fur {
		tint = [3]float32{0.42, 0.25, 0.11}
	}
	r.Joints, r.Vertices, r.Triangles = sk.Len(), len(b.Levels[0].Pos), b.Levels[0].Triangles()
	return r, atomicfile.Write(out, func(w io.Writer) error { return skin.Write(w, sk, b, tint, clip) })
}

// convertCharacter writes the character of an FBX file as the GLB out.
func convertCharacter(from, out string) (*convertReport, error) {
	c, err := fbx.OpenCharacter(from)
	if err != nil {
		return nil, err
	}
	s, err := c.Skin()
	if err != nil {
		return nil, err
	}
	r := &convertReport{From: from, Written: out, Joints: len(s.Joints()), Vertices: s.Vertices(), Triangles: s.Triangles(), Notes: s.Notes}
	for _, a := range c.Doc.Animations {
		r.Clips = append(r.Clips, a.Name)
	}
	return r, atomicfile.Write(out, c.Write)
}

// skeletonOf returns the skeleton that a model moves.
func skeletonOf(model string) (*skel.Skeleton, error) {
	net, err := models.Open(model)
	if err != nil {
		return nil, err
	}
	text := net.Meta().Skeleton
	if text == "" {
		return nil, fmt.Errorf("%s: this model has no skeleton", model)
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

// convertRetargeted reads a motion of people and puts it onto the human skeleton.
func convertRetargeted(file string, opt convertOptions, r *convertReport) (*skel.Clip, error) {
	clip, _, err := retarget.Open(file, retarget.OpenOptions{Reading: opt.read, FPS: opt.fps})
	r.Scale = 1
	return clip, err
}

// convertClip reads a motion, in metres.
func convertClip(file string, opt convertOptions, r *convertReport) (*skel.Clip, error) {
	if opt.read.Profile != nil {
		return convertRetargeted(file, opt, r)
	}
	b, _, err := input.OpenMotion(file, opt.read.OpenOptions)
	var bad *skin.Error
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w, nor is it a shipped model %q%s", err, models.Names(), closest.Hint(file, models.Names()))
	case errors.As(err, &bad) && bad.Where == "animations":
		return nil, fmt.Errorf("%s: a mesh (glTF) without animations, want a motion or a model: --into puts motions on it", file)
	case err != nil:
		return nil, err
	}
	if opt.fps > 0 {
		if err := b.CheckRate(); err != nil {
			return nil, err
		}
	}
	b, stance := retarget.Upright(file, b)
	r.Notes = append(r.Notes, b.Notes...)
	if stance != nil {
		if stance.Up != "y" {
			r.Up = stance.Up
			r.Notes = append(r.Notes, file+": "+stance.Up+" is up, and was turned to y")
		}
		if stance.Mirrored {
			r.Notes = append(r.Notes, file+": its axes are left-handed, and x was turned round")
		}
	}
	clip := b.Clip
	if clip.Frames == 0 {
		return nil, fmt.Errorf("%s: no frames", file)
	}
	if r.Scale = opt.scale; r.Scale == 0 && (b.Format == mocap.FormatGLTF || b.Format == mocap.FormatFBX) {
		r.Scale = 1 // both are read in metres
	}
	if r.Scale == 0 {
		if r.Scale = mocap.Summarize(clip).Unit.Metres; !(r.Scale > 0) {
			return nil, fmt.Errorf("%s: its unit cannot be guessed: give --scale, 1 for metres", file)
		}
	}
	if r.Scale != 1 {
		clip = clip.Scaled(float32(r.Scale))
	}
	return input.Resample(file, clip, opt.fps)
}

func (r *convertReport) Print(w io.Writer) error {
	text := fmt.Sprintf("%s: %d joints", r.Written, r.Joints)
	if r.Triangles > 0 {
		text += fmt.Sprintf(", %d vertices, %d triangles", r.Vertices, r.Triangles)
	}
	if r.Frames > 0 {
		text += fmt.Sprintf(", %d frames at %.6g per second, lengths × %.6g", r.Frames, r.FPS, r.Scale)
	}
	if len(r.Clips) > 0 {
		text += "; animations: " + strings.Join(r.Clips, ", ")
	}
	for _, n := range r.Notes {
		text += "\n  " + n
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
