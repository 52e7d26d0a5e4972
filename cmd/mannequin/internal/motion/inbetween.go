package motion

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	evalkeypose "mannequin/offline/eval/keypose"
	"mannequin/offline/mocap"
)

// inbetweenReport is what the command prints.
type inbetweenReport struct {
	Out     string  `json:"out"`
	Keys    int     `json:"keys"`
	Seconds float64 `json:"seconds"`
	Took    float64 `json:"took_s"`
	Missed  float64 `json:"keys_missed_cm"`  // farthest joint from a key of weight 1 of the whole pose; −1 where there is none
	Slide   float64 `json:"slide_cm"`        // of standing feet, per frame; −1 without the network, which tells which stand
	SlideBy float64 `json:"slide_before_cm"` // before they are held
}

func newInbetween() *cobra.Command {
	var keys, out, model string
	var hold, linear, asJSON bool
	var threads int
	c := &cobra.Command{
		Use:   "inbetween --keys KEYS.toml --out OUT.bvh",
		Short: "Make the motion between a few poses",
		Long: `Make the motion of a person between keys and write it as BVH on the human skeleton:
metres, 60 frames per second, from the first key to the last. KEYS is a TOML file of
tables [[key]], in the order of time:

  time     second at which the pose is
  file     recording (BVH or AMC, any skeleton that a profile fits) that shows it,
           relative to KEYS; of half a second or more, it is put on the ground
  at       second of the recording (0)
  place    x and z in metres of the hips over the ground (as recorded)
  heading  degrees to the left from +Z (as recorded)
  joints   names of those that are keyed, "root" for the height and tilt of the hips
           and "path" for where they are and face (all)
  weight   0 to 1: how closely it is followed; 1 is met exactly (1)
  weights  the same by joint: { LeftArm = 0.5 }

Tables [[path]], with time, place and heading (as it goes, if missing), say where the
hips go over the ground, smoothly through these points; the keys' places do not count
then.

Feet that the network has on the ground are held there.`,
		Example: `  mannequin inbetween --keys keys.toml --out between.bvh
  mannequin inbetween --keys keys.toml --model mine.safetensors --feet=false --out between.bvh --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if threads < 1 || threads > 1024 {
				return command.Usagef("--threads is %d, want 1 to 1024", threads)
			}
			net, err := models.Open(model)
			if err != nil {
				return err
			}
			m, err := keypose.NewModel(net)
			if err != nil {
				return err
			}
			k, track, err := openKeys(keys, m.Layout)
			if err != nil {
				return err
			}
			rep, err := makeBetween(m, k, track, linear, hold && !linear, threads, out)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), rep)
			}
			rep.Print(cmd.OutOrStdout())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&keys, "keys", "", "TOML `file` of keys")
	f.StringVarP(&out, "out", "o", "", "the BVH `file` to write")
	f.StringVar(&model, "model", "human-keypose", "a shipped model's `name`, or a model file")
	f.BoolVar(&linear, "interpolate", false, "leave the network out: what interpolation makes, to compare")
	f.BoolVar(&hold, "feet", true, "hold standing feet")
	f.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	cli.Must(c.MarkFlagRequired("keys"))
	cli.Must(c.MarkFlagRequired("out"))
	return c
}

func makeBetween(m *keypose.Model, k keypose.Keys, t *keypose.Track, linear, hold bool, threads int, out string) (*inbetweenReport, error) {
	maker, err := m.NewInbetweener(keypose.InbetweenerOptions{Workers: threads})
	if err != nil {
		return nil, err
	}
	defer maker.Close()
	begin := time.Now()
	stand := make([]float32, t.Frames*keypose.Feet)
	if linear {
		t.Interpolate()
	} else if err := maker.Fill(t, stand); err != nil {
		return nil, err
	}
	rep := &inbetweenReport{Out: out, Keys: len(k.Keys), Seconds: float64(t.Frames) / betweenRate}
	rep.SlideBy = slideOf(t.Clip(), stand)
	if hold {
		if err := evalkeypose.HoldFeet(t, stand); err != nil {
			return nil, err
		}
	}
	rep.Took = time.Since(begin).Seconds()
	clip := t.Clip()
	rep.Slide, rep.Missed = slideOf(clip, stand), missed(clip, k)
	if linear {
		rep.Slide, rep.SlideBy = -1, -1
	}
	return rep, atomicfile.Write(out, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
}

// standBits returns the feet that stand in a frame, as [feet] wants them.
func standBits(stand []float32, f int) (bits uint8) {
	for i, v := range stand[f*keypose.Feet:][:keypose.Feet] {
		if v > 0.5 {
			bits |= 1 << i
		}
	}
	return bits
}

func slideOf(c *skel.Clip, stand []float32) float64 {
	var s slide
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		s.add(c.Skel, pos, rot, standBits(stand, f))
	}
	return s.mean()
}

// missed returns the largest distance of a joint from a key, cm.
func missed(c *skel.Clip, k keypose.Keys) float64 {
	most := -1.0
	want, have := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
	for _, key := range k.Keys {
		if key.Weight != nil || k.Path != nil {
			continue
		}
		f := int((key.Time-k.Keys[0].Time)*c.FPS + 0.5)
		c.Skel.LocalToModel(want, key.Pos, key.Rot)
		c.Model(have, f)
		for j := range want {
			most = max(most, 100*float64(want[j].Pos.Dist(have[j].Pos)))
		}
	}
	return most
}

func (r *inbetweenReport) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %.1f s of motion between %d keys, in %.0f ms\n", r.Out, r.Seconds, r.Keys, 1e3*r.Took)
	if r.Missed >= 0 {
		fmt.Fprintf(w, "whole poses are met to %.3f cm\n", r.Missed)
	}
	if r.Slide >= 0 {
		fmt.Fprintf(w, "standing feet slide %.3f cm/frame, before they are held %.3f\n", r.Slide, r.SlideBy)
	}
}
